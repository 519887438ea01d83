//! The company's rows on the screen: what keys ask for, what comes of it, what is never lost or done by mistake.

use std::sync::Arc;
use std::time::Duration;

use crewlet_tui::engine::command::Command;
use crewlet_tui::engine::handle::SendError;
use crewlet_tui::engine::snapshot::{CallPhase, CallView, Caller, ResultView};
use crewlet_tui::ids::CallId;
use crewlet_tui::rows::{Ask, pages, work};
use crewlet_tui::tui::intent::Effect;
use crewlet_tui::tui::msg::Msg;
use crewlet_tui::tui::panes::View;
use serde_json::{Value, json};

use super::support::rows::with_tools;
use super::support::sample;
use super::support::screen::Screen;

fn screen(keys: &[&str]) -> Screen {
    let mut screen = Screen::new((120, 40), with_tools(sample::calm()));
    screen.press(keys);
    screen
}

/// The one call among effects: its id, tool and arguments.
fn sent(effects: &[Effect]) -> (CallId, String, Value) {
    let calls: Vec<_> = effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::Send(Command::Call { call, tool, arguments }) => Some((call.clone(), tool.to_string(), arguments)),
            _ => None,
        })
        .collect();
    let [(call, tool, arguments)] = calls.as_slice() else { panic!("{effects:?}") };
    (call.clone(), tool.clone(), serde_json::from_str(arguments.canonical()).unwrap())
}

/// The call as it has ended.
fn over(id: CallId, phase: CallPhase, result: &str) -> Arc<CallView> {
    let is_error = phase == CallPhase::Done { is_error: true };
    Arc::new(CallView {
        id,
        caller: Caller::Console,
        phase,
        elapsed: Some(Duration::from_millis(3)),
        result: Some(Arc::new(ResultView { text: result.into(), is_error, redacted: false })),
        ..CallView::clone(&sample::calls()[0])
    })
}

#[test]
fn a_new_item_is_written_sent_and_selected() {
    let mut screen = screen(&["8", "n"]);
    screen.type_text("Fix it");
    screen.press(&["tab"]);
    screen.type_text("Now.");
    let (call, tool, arguments) = sent(&screen.press(&["ctrl-s"]));
    assert_eq!(tool, "crewlet/create_work_item");
    assert_eq!(arguments, json!({"project": "WEB", "title": "Fix it", "body": "Now."}));
    // The engine says that it is done; the store that it is there.
    let done = over(call, CallPhase::Done { is_error: false }, r#"{"item":{"item":"WEB-14","title":"Fix it"}}"#);
    screen.publish(|snapshot| snapshot.calls.push(done));
    assert!(screen.text().contains("WEB-14 is made"), "{}", screen.text());
    assert!(screen.text().contains("╭ WEB-12 "), "not there yet: {}", screen.text());
    screen.change(|rows| {
        let mut made = rows.items[2].clone();
        (made.head.key, made.head.title) = ("WEB-14".into(), "Fix it".into());
        rows.items.insert(4, made);
    });
    screen.wait(6_000);
    screen.send(Msg::Wake);
    assert!(screen.text().contains("╭ WEB-14 "), "{}", screen.text());
}

#[test]
fn what_was_written_comes_back_when_it_was_not_done() {
    let mut screen = screen(&["8", "c"]);
    screen.type_text("A long thought");
    let (call, tool, arguments) = sent(&screen.press(&["ctrl-s"]));
    assert_eq!((tool.as_str(), arguments["item"].as_str()), ("crewlet/comment_on_work_item", Some("WEB-12")));
    assert!(!screen.text().contains("A long thought"));
    // Whatever has the keys meanwhile keeps them.
    screen.press(&[":"]);
    let refused = over(call, CallPhase::Done { is_error: true }, "unavailable: the store is full. Nothing was changed");
    screen.publish(|snapshot| snapshot.calls.push(refused));
    assert!(!screen.text().contains("A long thought"));
    screen.press(&["esc"]);
    let picture = screen.text();
    assert!(picture.contains("A long thought") && picture.contains("the store is full"), "{picture}");
    screen.wait(500);
    let (_, _, again) = sent(&screen.press(&["ctrl-s"]));
    assert_eq!(again["body"], "A long thought");
}

#[test]
fn an_answer_that_was_lost_brings_nothing_back() {
    let mut screen = screen(&["8", "c"]);
    screen.type_text("once");
    let (call, ..) = sent(&screen.press(&["ctrl-s"]));
    let lost = over(call, CallPhase::Unknown { reason: "the answer was lost".into() }, "");
    screen.publish(|snapshot| snapshot.calls.push(lost));
    let picture = screen.text();
    assert!(picture.contains("the answer was lost") && !picture.contains("once"), "it may have been done: {picture}");
}

#[test]
fn keys_become_calls_of_the_trackers_tools() {
    for (keys, tool, arguments) in [
        (&["8", "s", "d", "enter"][..], "crewlet/update_work_item", json!({"item": "WEB-12", "status": "done"})),
        (&["8", "p", "home", "enter"], "crewlet/update_work_item", json!({"item": "WEB-12", "priority": "none"})),
        (&["8", "o", "home", "enter"], "crewlet/update_work_item", json!({"item": "WEB-12", "assignee": null})),
        (
            &["8", "down", "o", "r", "enter"],
            "crewlet/update_work_item",
            json!({"item": "WEB-9", "assignee": "release"}),
        ),
        (&["8", "down", "x"], "crewlet (operators)/remove_work_item", json!({"item": "WEB-9"})),
    ] {
        let mut screen = screen(&[]);
        let (_, name, sent) = sent(&screen.press(keys));
        assert_eq!((name.as_str(), sent), (tool, arguments), "{keys:?}");
    }
}

#[test]
fn leaving_a_list_or_a_sheet_does_nothing() {
    for keys in [&["8", "s", "esc"][..], &["8", "o", "down", "esc"], &["8", "c", "esc"], &["8", "c", "x", "esc", "y"]] {
        let mut screen = screen(&[]);
        let effects = screen.press(keys);
        assert!(effects.is_empty(), "{keys:?}: {effects:?}");
        assert!(screen.text().contains("╭ Work ─"), "{keys:?}");
    }
}

#[test]
fn a_text_is_changed_only_as_it_was_read() {
    let mut screen = screen(&["8", "e"]);
    screen.press(&["end"]);
    screen.type_text("!");
    let (_, _, arguments) = sent(&screen.press(&["ctrl-s"]));
    let title = "Release notes for 2.4 say nothing of the new login!";
    assert_eq!(arguments, json!({"item": "WEB-12", "if_match": 4, "title": title}));
}

#[test]
fn read_only_refuses_and_says_so() {
    for key in ["n", "c", "s", "p", "o", "e", "m", "x", "R"] {
        let mut screen = screen(&[]);
        screen.snapshot.read_only = true;
        let effects = screen.press(&["8", key]);
        assert!(effects.is_empty(), "{key}: {effects:?}");
        assert!(screen.text().contains("started with --read-only"), "{key}: {}", screen.text());
    }
    let mut screen = screen(&["8"]);
    screen.snapshot.read_only = true;
    let foot = |screen: &Screen| screen.text().lines().last().unwrap().to_owned();
    assert!(!foot(&screen).contains("status") && foot(&screen).contains("filter"), "{}", foot(&screen));
}

#[test]
fn the_trash_is_shown_and_left_and_holds_nothing_back() {
    let mut screen = screen(&["8", "R"]);
    assert!(screen.text().contains("WEB-12 is not in the trash"), "{}", screen.text());
    screen.change(|rows| rows.items[0].head.removed = Some(sample::ago(60)));
    assert!(!screen.text().contains("WEB-12  Release"), "{}", screen.text());
    screen.press(&["t"]);
    assert!(
        screen.text().contains("Work · trash") && screen.text().contains("in the trash since"),
        "{}",
        screen.text()
    );
    screen.press(&["s"]);
    assert!(screen.text().contains("WEB-12 is in the trash; R takes it out"), "{}", screen.text());
    let (_, tool, arguments) = sent(&screen.press(&["R"]));
    assert_eq!((tool.as_str(), arguments), ("crewlet (operators)/restore_work_item", json!({"item": "WEB-12"})));
    screen.press(&["esc"]);
    assert!(screen.text().contains("╭ Work ─"), "{}", screen.text());
}

#[test]
fn the_filter_is_asked_for_and_not_searched_here() {
    let mut screen = screen(&["8", "/"]);
    screen.type_text("Login status:in assignee:Rel project:web label:docs x:y");
    screen.press(&["enter"]);
    let some = |text: &str| Some(text.to_owned());
    let wanted = work::Wanted {
        text: "login x:y".into(),
        status: some("in"),
        assignee: some("rel"),
        project: some("web"),
        label: some("docs"),
        trash: false,
        most: 200,
    };
    assert_eq!(screen.ui.wants()[0], Ask::Work(wanted));
    screen.press(&["esc"]);
    assert_eq!(screen.ui.wants()[0], Ask::Work(work::Wanted { most: 200, ..work::Wanted::default() }));
}

#[test]
fn only_what_is_in_front_is_read() {
    let mut screen = Screen::new((80, 24), with_tools(sample::calm()));
    assert_eq!(screen.ui.wants(), []);
    screen.press(&["8"]);
    assert_eq!(screen.ui.wants().len(), 1, "the detail is not on the screen");
    screen.press(&["enter"]);
    assert_eq!(screen.ui.wants().len(), 2);
    screen.press(&["9"]);
    assert_eq!(screen.ui.wants(), [Ask::Pages(pages::Wanted { most: 200, ..pages::Wanted::default() })]);
    screen.press(&["1"]);
    assert_eq!(screen.ui.wants(), []);
}

#[test]
fn a_long_list_is_read_in_portions() {
    let mut screen = screen(&[]);
    screen.change(|rows| {
        let one = rows.items[2].clone();
        rows.items = (0..450)
            .map(|n| {
                let mut item = one.clone();
                item.head.key = format!("WEB-{n}").into();
                item
            })
            .collect();
    });
    screen.press(&["8"]);
    let most = |screen: &Screen| match &screen.ui.wants()[0] {
        Ask::Work(wanted) => wanted.most,
        other => panic!("{other:?}"),
    };
    assert_eq!(most(&screen), 200);
    assert!(screen.text().contains(" 450 "), "{}", screen.text());
    screen.press(&["end"]);
    assert_eq!(most(&screen), 400);
    screen.press(&["end", "end"]);
    assert!(screen.text().contains("╭ WEB-449 "), "{}", screen.text());
}

#[test]
fn the_selection_stays_on_the_item_while_rows_come_and_go() {
    let mut screen = screen(&["8", "down", "down"]);
    assert!(screen.text().contains("╭ WEB-13 "));
    screen.change(|rows| {
        let mut first = rows.items[5].clone();
        first.head.key = "OPS-7".into();
        rows.items.insert(0, first);
    });
    assert!(screen.text().contains("╭ WEB-13 "), "{}", screen.text());
    screen.change(|rows| rows.items.retain(|item| &*item.head.key != "WEB-13"));
    assert!(screen.text().contains("╭ OPS-2 "), "the next one: {}", screen.text());
}

#[test]
fn what_is_closed_says_by_which_setting_and_nothing_is_begun() {
    for view in ["8", "9"] {
        let mut screen = Screen::new((80, 24), with_tools(sample::calm()));
        screen.change(|rows| rows.closed = Some("this part is closed by engine.native.tracker: false".into()));
        screen.press(&[view]);
        assert!(screen.text().contains("closed by engine.native.tracker: false"), "{}", screen.text());
        assert!(screen.press(&["n", "c"]).is_empty());
        assert!(!screen.text().contains("Ctrl-S"), "{}", screen.text());
    }
}

#[test]
fn a_page_is_read_searched_and_looked_at_as_it_was() {
    let mut screen = screen(&["9", "enter"]);
    let id = |screen: &Screen| screen.ui.wants().last().cloned();
    assert_eq!(id(&screen), Some(Ask::Page("a".into(), None)));
    screen.press(&["["]);
    assert_eq!(id(&screen), Some(Ask::Page("a".into(), Some(2))));
    assert!(screen.text().contains("version 2 of 3"), "{}", screen.text());
    screen.press(&["[", "["]);
    assert_eq!(id(&screen), Some(Ask::Page("a".into(), Some(1))));
    assert!(screen.text().contains("the first version"), "{}", screen.text());
    screen.press(&["]"]);
    assert_eq!(id(&screen), Some(Ask::Page("a".into(), Some(2))));
    screen.press(&["]"]);
    assert_eq!(id(&screen), Some(Ask::Page("a".into(), None)), "the newest is asked for as the newest");
    screen.press(&["/"]);
    screen.type_text("good");
    screen.press(&["enter"]);
    assert!(screen.text().contains("/good · 1 of 1"), "{}", screen.text());
    let (_, tool, arguments) = {
        screen.press(&["esc", "c"]);
        screen.type_text("Yes");
        sent(&screen.press(&["ctrl-s"]))
    };
    assert_eq!((tool.as_str(), arguments), ("crewlet/comment_on_page", json!({"page": "a", "body": "Yes"})));
    screen.press(&["esc"]);
    assert!(screen.text().contains("╭ Pages ─"));
}

#[test]
fn the_connectors_audit_follows_and_can_be_searched() {
    let mut screen = screen(&["8", "L"]);
    assert_eq!(screen.ui.view(), View::Connector);
    let picture = screen.text();
    assert!(picture.contains("delete_issue") && picture.contains("destructive_flag_missing"), "{picture}");
    assert!(picture.lines().nth(1).unwrap().contains("[Connector]"), "{picture}");
    screen.change(|rows| {
        let mut next = (*rows.trail[0]).clone();
        next.tool = "get_issue".into();
        rows.trail.push(Arc::new(next));
    });
    assert!(screen.text().contains("get_issue"), "{}", screen.text());
    screen.press(&["/"]);
    screen.type_text("scope_m");
    screen.press(&["enter"]);
    assert!(screen.text().contains("/scope_m"), "{}", screen.text());
    screen.change(|rows| rows.trail.clear());
    assert!(screen.text().contains("Nobody has used the connector yet."), "{}", screen.text());
}

#[test]
fn an_engine_that_is_busy_did_nothing_and_later_calls_are_not_mixed_up() {
    let mut screen = screen(&["8"]);
    let (first, ..) = sent(&screen.press(&["x"]));
    screen.send(Msg::NotSent(Some(first), SendError::Busy));
    assert!(screen.text().contains("nothing was done"), "{}", screen.text());
    let (call, ..) = sent(&screen.press(&["x"]));
    let done = over(call, CallPhase::Done { is_error: false }, r#"{"removed":"WEB-12","outcome":"removed"}"#);
    screen.publish(|snapshot| snapshot.calls.push(done));
    assert!(screen.text().contains("WEB-12 is in the trash; t shows it"), "{}", screen.text());
}
