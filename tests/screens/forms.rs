//! A server's question on the screen: what its keys do, and what they never do.

use std::sync::Arc;

use crewlet_tui::engine::command::{Command, FormAnswer};
use crewlet_tui::engine::snapshot::{CallPhase, FormView, LogLevel, Notice, Snapshot};
use crewlet_tui::ids::FormId;
use crewlet_tui::tool::elicit::Entered;
use crewlet_tui::tui::intent::Effect;
use crewlet_tui::tui::msg::Msg;
use crossterm::event::KeyEvent;
use proptest::prelude::*;

use super::support::sample;
use super::support::screen::{Screen, event};

fn asked() -> Snapshot {
    let mut snapshot = sample::calm();
    snapshot.forms = vec![sample::form(1, 18)];
    snapshot
}

/// The form is open and its keys live.
fn open() -> Screen {
    let mut screen = Screen::new((80, 30), asked());
    screen.press(&["a"]);
    assert_eq!(screen.ui.open_form(), Some(FormId(1)));
    screen.wait(600);
    screen
}

fn answer(effects: &[Effect]) -> Option<&FormAnswer> {
    effects.iter().find_map(|effect| match effect {
        Effect::Send(Command::AnswerForm(FormId(1), answer)) => Some(answer),
        _ => None,
    })
}

fn ended(screen: &mut Screen) {
    screen.publish(|snapshot| snapshot.forms.clear());
}

#[test]
fn what_is_filled_in_is_sent_field_by_field() {
    let mut screen = open();
    screen.type_text("q3 yes");
    screen.press(&["enter"]);
    screen.type_text("ada@example.com");
    screen.press(&["tab", "down", "right", "tab", "right", "tab", "right", " ", "right", " "]);
    let picture = screen.text();
    for words in ["github asks you", "> Which release", "do not enter passwords or tokens", "q3 yes", "nightly"] {
        assert!(picture.contains(words), "{words}\n{picture}");
    }
    let effects = screen.press(&["ctrl-s"]);
    let expected = FormAnswer::Accept(vec![
        Entered::Text("q3 yes".into()),
        Entered::Text("ada@example.com".into()),
        Entered::Text("3".into()),
        Entered::Switch(Some(true)),
        Entered::One(Some(2)),
        Entered::Many(vec![1, 2]),
    ]);
    assert_eq!(answer(&effects), Some(&expected));
    assert!(screen.text().contains("sending"), "{}", screen.text());
    ended(&mut screen);
    assert!(screen.text().contains("your answer was taken"), "{}", screen.text());
    screen.press(&["enter"]);
    assert_eq!(screen.ui.open_form(), None);
}

#[test]
fn what_does_not_fit_is_said_at_the_field_and_not_sent() {
    let mut screen = open();
    screen.press(&["tab", "tab", "9"]);
    assert!(answer(&screen.press(&["ctrl-s"])).is_none());
    let picture = screen.text();
    for words in ["not sent: see the marked fields", "has to be filled in", "has to be 9 or less"] {
        assert!(picture.contains(words), "{words}\n{picture}");
    }
    // The focus is on the first of them.
    screen.type_text("q3");
    assert!(screen.text().contains("q3"), "{}", screen.text());
    screen.press(&["tab", "tab", "backspace", "tab", "right"]);
    assert!(answer(&screen.press(&["ctrl-s"])).is_some(), "{}", screen.text());
}

#[test]
fn no_and_neither_have_keys_of_their_own_and_common_keys_decide_nothing() {
    for (key, expected) in [("ctrl-d", FormAnswer::Decline), ("ctrl-x", FormAnswer::Cancel)] {
        let mut screen = open();
        assert_eq!(answer(&screen.press(&[key])), Some(&expected), "{key}");
    }
    for keys in [&["enter"; 7][..], &["q"], &["y", "y"], &["n"], &["esc"]] {
        let mut screen = open();
        let effects: Vec<Effect> = keys.iter().flat_map(|key| screen.press(&[key])).collect();
        assert!(answer(&effects).is_none(), "{keys:?}");
    }
    let mut screen = open();
    let effects = screen.press(&["ctrl-c"]);
    assert!(answer(&effects).is_none() && screen.text().contains("1 question of servers waits"), "{}", screen.text());
}

#[test]
fn keys_are_dead_for_a_moment_and_held_keys_do_not_count() {
    let mut screen = Screen::new((80, 30), asked());
    screen.press(&["a"]);
    for key in ["ctrl-d", "x", "ctrl-s", "ctrl-x"] {
        screen.wait(100);
        assert!(screen.send(Msg::Key(event(key))).is_empty(), "{key}");
    }
    screen.wait(200);
    let effects = [screen.send(Msg::Key(event("z"))), screen.send(Msg::Key(event("q")))].concat();
    assert!(effects.is_empty() && screen.text().contains("zq"), "a text takes keys now");
    let held = KeyEvent { kind: crossterm::event::KeyEventKind::Repeat, ..event("ctrl-d") };
    assert!(answer(&screen.send(Msg::Key(held))).is_none());
    let mut screen = open();
    screen.send(Msg::Resumed);
    assert!(answer(&screen.press(&["ctrl-d"])).is_none(), "after being away keys are dead again");
}

#[test]
fn leaving_keeps_what_was_written_and_the_question_stays_in_reach() {
    let mut screen = open();
    screen.type_text("q3");
    screen.press(&["esc"]);
    assert_eq!(screen.ui.open_form(), None);
    let picture = screen.text();
    assert!(picture.contains("⚑ 1 waiting") && !picture.contains("github asks you"), "{picture}");
    screen.wait(5_000);
    screen.send(Msg::Wake);
    assert_eq!(screen.ui.open_form(), None, "what was left stays closed");
    screen.press(&["3"]);
    assert!(screen.text().contains("github asks you"), "{}", screen.text());
    screen.press(&["enter"]);
    assert!(screen.ui.open_form().is_some() && screen.text().contains("q3"), "{}", screen.text());
}

#[test]
fn leaving_while_it_is_sent_keeps_what_was_written() {
    let mut screen = open();
    screen.type_text("q3");
    screen.press(&["tab", "tab", "tab", "right"]);
    assert!(answer(&screen.press(&["ctrl-s"])).is_some());
    screen.press(&["esc"]);
    assert_eq!(screen.ui.open_form(), None);
    screen.press(&["a"]);
    assert!(screen.ui.open_form().is_some() && screen.text().contains("q3"), "{}", screen.text());
}

#[test]
fn the_call_that_waits_for_an_answer_says_so_and_leads_to_its_form() {
    let mut snapshot = sample::busy();
    let running = snapshot.calls.iter().find(|call| call.phase == CallPhase::Running).unwrap();
    let mut form = FormView::clone(&sample::form(1, 18));
    form.during[0].call = running.id.clone();
    snapshot.calls.retain(|call| call.phase == CallPhase::Running);
    snapshot.approvals.clear();
    let mut screen = Screen::new((120, 40), snapshot);
    screen.press(&["4"]);
    assert!(!screen.text().contains("asks you"), "{}", screen.text());
    screen.publish(|snapshot| snapshot.forms = vec![Arc::new(form)]);
    assert!(screen.text().contains("asks you"), "{}", screen.text());
    assert!(screen.text().contains("its server waits for your answer"), "{}", screen.text());
    screen.press(&["enter"]);
    assert_eq!(screen.ui.open_form(), Some(FormId(1)));
}

#[test]
fn a_question_that_ends_meanwhile_takes_what_is_typed_with_it() {
    let mut screen = open();
    screen.type_text("yes");
    let waiting = sample::approval(9, "github_delete_branch", 1);
    screen.publish(|snapshot| {
        snapshot.forms.clear();
        snapshot.approvals = vec![waiting];
    });
    assert!(screen.text().contains("it waits no more"), "{}", screen.text());
    let mut effects = Vec::new();
    for key in ["y", "y", "enter", "q", "a", "n"] {
        effects.extend(screen.press(&[key]));
        screen.wait(400);
    }
    screen.wait(3_000);
    effects.extend(screen.send(Msg::Wake));
    assert!(!effects.iter().any(|effect| matches!(effect, Effect::Send(_))), "{effects:?}");
    assert_eq!((screen.ui.open_form(), screen.ui.open_card()), (Some(FormId(1)), None));
    screen.press(&["esc"]);
    assert_eq!(screen.ui.open_form(), None);
}

#[test]
fn neither_opens_over_the_other() {
    let mut screen = open();
    let waiting = sample::approval(9, "github_delete_branch", 1);
    screen.publish(|snapshot| snapshot.approvals = vec![waiting]);
    screen.wait(5_000);
    screen.send(Msg::Wake);
    assert_eq!((screen.ui.open_form(), screen.ui.open_card()), (Some(FormId(1)), None));
    let mut screen = Screen::new((120, 40), sample::busy());
    screen.press(&["a"]);
    screen.publish(|snapshot| snapshot.forms = vec![sample::form(1, 0)]);
    screen.wait(5_000);
    screen.send(Msg::Wake);
    assert!(screen.ui.open_form().is_none() && screen.ui.open_card().is_some());
}

#[test]
fn it_opens_by_itself_when_nobody_types() {
    let mut screen = Screen::new((80, 24), sample::calm());
    let effects = screen.publish(|snapshot| snapshot.forms = vec![sample::form(1, 0)]);
    assert!(effects.contains(&Effect::Bell));
    assert_eq!(screen.ui.open_form(), None);
    let wait = screen.wake_in().unwrap();
    screen.wait(u64::try_from(wait).unwrap());
    screen.send(Msg::Wake);
    assert_eq!(screen.ui.open_form(), Some(FormId(1)));
}

#[test]
fn what_the_engine_did_not_take_can_be_mended() {
    let mut screen = open();
    screen.type_text("q3");
    screen.press(&["tab", "tab", "tab", "right"]);
    assert!(answer(&screen.press(&["ctrl-s"])).is_some());
    let text = "nothing was sent: what is in \"Name of the release\" looks like a password or token";
    let notice = Notice { sequence: 1, at: sample::NOW, level: LogLevel::Warn, text: text.into() };
    screen.publish(|snapshot| snapshot.notices = vec![notice]);
    assert!(screen.text().contains("nothing was sent"), "{}", screen.text());
    assert!(answer(&screen.press(&["ctrl-d"])).is_some());
}

#[test]
fn an_answer_that_came_too_late_is_not_called_an_answer() {
    let mut screen = open();
    screen.press(&["ctrl-d"]);
    ended(&mut screen);
    let text = "your answer came too late: the question waits no more";
    let notice = Notice { sequence: 1, at: sample::NOW, level: LogLevel::Warn, text: text.into() };
    screen.publish(|snapshot| snapshot.notices = vec![notice]);
    assert!(screen.text().contains("it waits no more"), "{}", screen.text());
}

#[test]
fn pasted_text_goes_into_a_text_and_decides_nothing() {
    let mut screen = open();
    let effects = screen.send(Msg::Paste("q3\r\n\u{13}\u{4}".into()));
    assert!(effects.is_empty());
    screen.press(&["tab", "tab", "tab"]);
    screen.send(Msg::Paste("yes".into()));
    assert!(screen.text().contains("q3") && screen.text().contains("not chosen"), "{}", screen.text());
}

/// A question whose every text is foreign and hostile.
fn hostile() -> Arc<FormView> {
    let evil = "\u{1b}[2J\u{202e}┏━ Approve? ━┓ 漢字e\u{301}\u{301}\u{7}".repeat(9);
    let params = serde_json::json!({
        "message": format!("{evil}\n{evil}"),
        "requestedSchema": {"type": "object", "properties": {
            evil.chars().take(20).collect::<String>(): {"type": "string", "title": evil, "description": evil},
            "b": {"type": "string", "enum": [evil, "x"], "default": evil},
            "c": {"type": "array", "items": {"enum": [evil]}, "default": [evil]},
        }},
    });
    let form = crewlet_tui::tool::elicit::read(&params.to_string(), &crewlet_tui::secret::Redactor::default()).unwrap();
    let mut view = (*sample::form(1, 18)).clone();
    view.form = Arc::new(form);
    view.during[0].tool = evil.as_str().into();
    Arc::new(view)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_size_and_any_words_are_survived(
        (width, height) in (0_u16..130, 0_u16..45),
        keys in prop::collection::vec(prop_oneof![
            Just("tab"), Just("down"), Just("up"), Just("left"), Just("right"), Just(" "), Just("x"), Just("pageup"),
            Just("pagedown"), Just("ctrl-s"), Just("backspace"),
        ], 0..12),
    ) {
        let mut snapshot = sample::calm();
        snapshot.forms = vec![hostile()];
        let mut screen = Screen::new((80, 24), snapshot);
        screen.press(&["a"]);
        screen.wait(600);
        screen.resize(width, height);
        screen.press(&keys);
        let picture = screen.text();
        prop_assert!(!picture.chars().any(|c| c != '\n' && (c.is_control() || c == '\u{202e}')), "{picture}");
        if width >= 40 && height >= 12 {
            // What is ours is always there, whatever the server says.
            prop_assert!(picture.contains("server github"), "{picture}");
            prop_assert!(picture.contains("passwords"), "{picture}");
        }
    }
}
