//! What is written and what is looked at: never lost, never taken for something else.

use std::sync::Arc;
use std::time::Duration;

use crewlet_tui::engine::command::Command;
use crewlet_tui::engine::handle::SendError;
use crewlet_tui::engine::snapshot::{CallPhase, CallView, Caller, ResultView};
use crewlet_tui::ids::CallId;
use crewlet_tui::tui::intent::Effect;
use crewlet_tui::tui::msg::Msg;
use serde_json::{Value, json};

use super::support::rows::with_tools;
use super::support::sample;
use super::support::screen::Screen;

const SIZE: (u16, u16) = (120, 40);

fn screen(size: (u16, u16), keys: &[&str]) -> Screen {
    let mut screen = Screen::new(size, with_tools(sample::calm()));
    screen.press(keys);
    screen
}

fn foot(screen: &Screen) -> String {
    screen.text().lines().last().unwrap_or_default().trim().to_owned()
}

/// The call that goes out, and its arguments.
fn sent(effects: &[Effect]) -> (CallId, Value) {
    let [Effect::Send(Command::Call { call, arguments, .. })] = effects else { panic!("{effects:?}") };
    (call.clone(), serde_json::from_str(arguments.canonical()).unwrap())
}

/// The call ends with an error of the tool's.
fn refuse(screen: &mut Screen, id: CallId, why: &str) {
    let result = ResultView { text: why.into(), is_error: true, redacted: false };
    let call = CallView {
        id,
        caller: Caller::Console,
        phase: CallPhase::Done { is_error: true },
        elapsed: Some(Duration::from_millis(3)),
        result: Some(Arc::new(result)),
        ..CallView::clone(&sample::calls()[0])
    };
    screen.publish(|snapshot| snapshot.calls.push(Arc::new(call)));
}

#[test]
fn leaving_asks_first_where_something_written_would_be_lost() {
    let order = ["7", "down", "down", "down", "down", "m", "space"];
    for keys in [&["8", "c", "w"][..], &["8", "n", "w"], &["2", "enter", "w"], &order] {
        let mut screen = screen(SIZE, keys);
        let before = screen.text();
        assert_eq!(screen.press(&["ctrl-c"]), [Effect::DropInput], "{keys:?}");
        let asked = screen.text();
        assert!(asked.contains("1 text of yours is not sent and will be lost."), "{keys:?}: {asked}");
        screen.wait(400);
        assert_eq!(screen.press(&["n"]), []);
        assert_eq!(screen.text(), before, "{keys:?}: everything is as it was");
        screen.press(&["ctrl-c"]);
        screen.wait(400);
        assert_eq!(screen.press(&["y"]), [Effect::Leave]);
    }
    assert_eq!(screen(SIZE, &["8", "n"]).press(&["ctrl-c"]), [Effect::Leave], "nothing was written");
}

#[test]
fn texts_that_come_back_come_one_after_the_other() {
    let mut screen = screen(SIZE, &["8", "c"]);
    screen.type_text("first");
    let (first, _) = sent(&screen.press(&["ctrl-s"]));
    screen.press(&["c"]);
    screen.type_text("second");
    let (second, _) = sent(&screen.press(&["ctrl-s"]));
    screen.press(&["/"]);
    refuse(&mut screen, first, "unavailable: locked");
    refuse(&mut screen, second, "unavailable: locked");
    screen.type_text("w");
    assert!(screen.text().contains("/w") && !screen.text().contains("first"), "a field with the keys keeps them");
    screen.press(&["esc"]);
    for text in ["first", "second"] {
        assert!(screen.text().contains(text), "{}", screen.text());
        screen.wait(500);
        screen.press(&["esc", "y"]);
    }
    assert!(!screen.text().contains("Ctrl-S"), "{}", screen.text());
}

#[test]
fn what_comes_back_is_dead_for_a_moment_and_goes_on_where_it_was_left() {
    let mut screen = screen(SIZE, &["8", "n"]);
    screen.type_text("Title");
    screen.press(&["tab"]);
    screen.type_text("Text");
    let (call, _) = sent(&screen.press(&["ctrl-s"]));
    refuse(&mut screen, call, "unavailable: locked");
    screen.type_text("jjx");
    screen.wait(500);
    screen.type_text(" more");
    let (_, arguments) = sent(&screen.press(&["ctrl-s"]));
    assert_eq!(arguments, json!({"project": "WEB", "title": "Title", "body": "Text more"}));
}

#[test]
fn a_text_begun_from_an_older_version_can_be_sent_once_that_was_said() {
    let mut screen = screen(SIZE, &["8", "e", "tab"]);
    screen.type_text("New ");
    let (call, arguments) = sent(&screen.press(&["ctrl-s"]));
    assert!(arguments.get("if_match").is_some(), "{arguments}");
    refuse(&mut screen, call, "stale_version: WEB-12 is at version 2, not 1; read it again. Nothing was changed");
    let text = screen.text();
    assert!(text.contains("stale_version") && text.contains("puts yours in the place of"), "{text}");
    screen.wait(500);
    let (_, again) = sent(&screen.press(&["ctrl-s"]));
    assert_eq!((again.get("if_match"), &again["body"]), (None, &arguments["body"]));
}

#[test]
fn what_a_busy_engine_did_not_take_is_not_lost() {
    let mut screen = screen(SIZE, &["8", "c"]);
    screen.type_text("precious");
    let (call, _) = sent(&screen.press(&["ctrl-s"]));
    screen.send(Msg::NotSent(None, SendError::Busy));
    assert!(!screen.text().contains("precious"), "that was something else");
    screen.send(Msg::NotSent(Some(call), SendError::Busy));
    let text = screen.text();
    assert!(text.contains("precious") && text.contains("the engine is busy"), "{text}");
}

#[test]
fn what_is_read_stays_when_its_row_goes() {
    for keys in [&["8", "enter"][..], &["9", "enter"]] {
        let mut screen = screen((80, 24), keys);
        screen.change(|rows| {
            rows.items.remove(0);
            rows.pages.remove(0);
        });
        screen.wait(6_000);
        assert!(screen.text().contains("It is not there any more."), "not another one: {}", screen.text());
        assert_eq!(screen.press(&["c"]), []);
        assert!(!screen.text().contains("Ctrl-S"), "nothing is begun about another row: {}", screen.text());
        screen.press(&["esc"]);
        assert!(screen.text().contains("▌"), "the list has a selection: {}", screen.text());
    }
}

#[test]
fn a_key_for_a_row_that_has_just_gone_is_for_no_other() {
    let mut screen = screen(SIZE, &["8"]);
    screen.change(|rows| _ = rows.items.remove(0));
    for key in ["x", "c"] {
        assert_eq!(screen.press(&[key]), [], "{key}");
        assert!(foot(&screen).contains("another row has just come"), "{key}: {}", foot(&screen));
        screen.change(|rows| _ = rows.items.remove(0));
    }
    screen.wait(800);
    let (_, arguments) = sent(&screen.press(&["x"]));
    assert!(arguments["item"].as_str().is_some());
    // Rows that come and go elsewhere hold nothing up.
    screen.change(|rows| _ = rows.items.pop());
    sent(&screen.press(&["x"]));
}

#[test]
fn help_shows_no_keys_that_do_nothing() {
    for (view, sideways) in [("8", false), ("9", false), ("0", false), ("7", false), ("5", false), ("6", true)] {
        let mut screen = screen((120, 80), &[view, "?"]);
        assert_eq!(screen.text().contains("scroll left"), sideways, "{view}");
        screen.press(&["esc"]);
    }
}
