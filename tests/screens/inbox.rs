//! The inbox view and the sheet for answers: pictures, and what keys and news do.

use std::sync::Arc;

use crewlet_tui::engine::command::Command;
use crewlet_tui::engine::snapshot::{AnswerView, CallPhase, CallView, Caller, QuestionView, ResultView, Snapshot};
use crewlet_tui::ids::{CallId, ConnectionName, ServerName};
use crewlet_tui::tool::{Catalog, Entry, Hint};
use crewlet_tui::tui::frames::Motion;
use crewlet_tui::tui::intent::Effect;
use crewlet_tui::tui::msg::Msg;
use crewlet_tui::tui::panes::View;

use super::pictures::check;
use super::support::sample;
use super::support::screen::Screen;

const SIZE: (u16, u16) = (120, 40);

fn asked() -> Snapshot {
    let reply = sample::entry("x", "a2a_reply", "Answer a question", [Hint::No, Hint::No, Hint::Unknown, Hint::Yes]);
    let (server, connection) = (ServerName::ours(), ConnectionName::shared(&ServerName::ours()));
    let reply = Entry { name: "a2a_reply".into(), exposed: "a2a_reply".into(), server, connection, ..reply };
    let mut entries = sample::entries();
    entries.push(Arc::new(reply));
    Snapshot { questions: sample::questions(), catalog: Arc::new(Catalog::new(entries, Vec::new())), ..sample::calm() }
}

fn foot(screen: &Screen) -> String {
    screen.text().lines().last().unwrap_or_default().trim().to_owned()
}

/// Writes an answer to the first question and says yes; the call that goes out.
fn answer(screen: &mut Screen, text: &str) -> (CallId, String) {
    screen.press(&["0", "enter"]);
    screen.type_text(text);
    assert_eq!(screen.press(&["ctrl-s"]), [Effect::DropInput]);
    assert!(screen.text().contains("Answer release?"), "{}", screen.text());
    screen.wait(400);
    let effects = screen.press(&["y"]);
    let [Effect::Send(Command::Call { call, tool, arguments })] = effects.as_slice() else { panic!("{effects:?}") };
    assert_eq!(&**tool, "crewlet/a2a_reply");
    (call.clone(), arguments.canonical().to_string())
}

fn over(snapshot: &mut Snapshot, call: &CallId, (is_error, text): (bool, &str)) {
    let known = snapshot.calls[0].clone();
    snapshot.calls.push(Arc::new(CallView {
        id: call.clone(),
        caller: Caller::Console,
        phase: CallPhase::Done { is_error },
        result: Some(Arc::new(ResultView { text: text.into(), is_error, redacted: false })),
        ..(*known).clone()
    }));
}

/// Somebody answers a question.
fn settle(snapshot: &mut Snapshot, row: usize, by: &str) {
    let mut rows = snapshot.questions.to_vec();
    let answer = AnswerView { by: by.into(), at: sample::NOW, body: "main".into() };
    rows[row] = Arc::new(QuestionView { answer: Some(answer), waits_until: None, ..(*rows[row]).clone() });
    snapshot.questions = rows.into();
}

#[test]
fn pictures() {
    check("inbox", &asked(), &["0"]);
    check("inbox-answered", &asked(), &["0", "end", "tab"]);
    check("inbox-empty", &sample::calm(), &["0"]);
    check("inbox-sheet", &asked(), &["0", "r", "m", "a", "i", "n"]);
}

#[test]
fn an_answer_asks_first_and_goes_out_as_a_call_of_the_persons_own() {
    let mut screen = Screen::new(SIZE, asked());
    let (call, arguments) = answer(&mut screen, "main, at noon");
    assert_eq!(arguments, r#"{"body":"main, at noon","channel":"a2a-5d0e21b7c944"}"#);
    assert!(!screen.text().contains("Ctrl-S"), "the sheet has made room");
    screen.publish(|snapshot| {
        settle(snapshot, 0, "you");
        over(snapshot, &call, (false, "{}"));
    });
    assert!(foot(&screen).contains("answered release"), "{}", foot(&screen));
    assert_eq!(screen.press(&["enter"]), []);
    assert!(!screen.text().contains("Ctrl-S"), "what is answered is read, not answered again");
}

#[test]
fn what_was_written_is_kept_until_it_is_answered() {
    let mut screen = Screen::new(SIZE, asked());
    screen.press(&["0", "enter"]);
    screen.type_text("keep this");
    screen.press(&["esc"]);
    assert!(!screen.text().contains("Ctrl-S"));
    screen.press(&["enter"]);
    assert!(screen.text().contains("keep this"), "{}", screen.text());
    screen.press(&["ctrl-s"]);
    screen.wait(400);
    assert_eq!(screen.press(&["n"]), []);
    assert!(screen.text().contains("keep this") && screen.text().contains("Ctrl-S"), "no is no");
    screen.press(&["ctrl-s"]);
    screen.wait(400);
    let effects = screen.press(&["y"]);
    let [Effect::Send(Command::Call { call, .. })] = effects.as_slice() else { panic!("{effects:?}") };
    screen.press(&["enter", "ctrl-s"]);
    assert!(screen.text().contains("on its way"), "not sent twice: {}", screen.text());
    screen.press(&["esc"]);
    screen.publish(|snapshot| over(snapshot, call, (true, "unavailable: the store is full")));
    let words = foot(&screen);
    assert!(words.contains("not answered: unavailable") && words.contains("is kept"), "{words}");
    screen.press(&["enter"]);
    assert!(screen.text().contains("keep this"));
}

#[test]
fn somebody_who_answers_first_is_said_and_nothing_is_sent() {
    let mut screen = Screen::new(SIZE, asked());
    screen.press(&["0", "enter"]);
    screen.type_text("x");
    screen.publish(|snapshot| settle(snapshot, 0, "ops"));
    assert!(screen.text().contains("ops has answered meanwhile"), "{}", screen.text());
    assert_eq!(screen.press(&["ctrl-s"]), []);
    assert!(!screen.text().contains("Answer release?"));
}

#[test]
fn what_cannot_be_sent_any_more_is_not_said_to_be_kept() {
    let mut screen = Screen::new(SIZE, asked());
    screen.press(&["0", "enter"]);
    screen.type_text("x");
    screen.send(Msg::Paste("\u{200b}".to_owned()));
    screen.publish(|snapshot| settle(snapshot, 0, "ops"));
    let text = screen.text();
    assert!(text.contains("ops has answered meanwhile") && !text.contains("keeping it"), "{text}");
    screen.press(&["esc"]);
    assert_eq!(foot(&screen), "ops has answered meanwhile: what you wrote was not sent");
}

#[test]
fn answers_that_are_kept_keep_the_program_from_leaving() {
    let mut screen = Screen::new(SIZE, asked());
    screen.press(&["0", "enter"]);
    screen.type_text("x");
    screen.press(&["esc", "q"]);
    assert!(screen.text().contains("1 text of yours is not sent"), "{}", screen.text());
}

#[test]
fn nothing_is_sent_empty_or_under_read_only_and_nothing_hidden_is_written() {
    let mut screen = Screen::new(SIZE, asked());
    screen.press(&["0", "enter", " "]);
    assert_eq!(screen.press(&["ctrl-s"]), []);
    assert!(screen.text().contains("nothing to send yet"));
    screen.send(Msg::Paste("a\u{202e}b\u{1b}[2J\r\nc\u{200b}".to_owned()));
    assert!(screen.text().contains("left out"), "{}", screen.text());
    screen.press(&["ctrl-s"]);
    screen.wait(400);
    let effects = screen.press(&["y"]);
    let [Effect::Send(Command::Call { arguments, .. })] = effects.as_slice() else { panic!("{effects:?}") };
    assert!(arguments.canonical().contains(r#"" ab[2J\nc""#), "{}", arguments.canonical());

    let mut fixed = Screen::new(SIZE, Snapshot { read_only: true, ..asked() });
    fixed.press(&["0", "enter"]);
    assert!(foot(&fixed).contains("--read-only"), "{}", foot(&fixed));
    assert!(!fixed.text().contains("Ctrl-S"));
}

#[test]
fn the_badge_counts_what_is_open_and_rings_for_nothing() {
    let mut screen = Screen::new(SIZE, sample::calm());
    let views = |screen: &Screen| screen.text().lines().nth(1).unwrap().to_owned();
    assert!(views(&screen).contains("0 Inbox") && !views(&screen).contains("0 Inbox ("), "{}", views(&screen));
    assert_eq!(screen.publish(|snapshot| snapshot.questions = sample::questions()), []);
    assert!(views(&screen).contains("0 Inbox (4)"), "{}", views(&screen));
    screen.press(&["0"]);
    assert_eq!(screen.ui.view(), View::Inbox);
    assert_eq!(screen.ui.motion(&screen.snapshot), Motion::Seconds, "somebody waits");
    screen.publish(|snapshot| {
        settle(snapshot, 0, "ops");
        settle(snapshot, 1, "alice");
    });
    assert_eq!(screen.ui.motion(&screen.snapshot), Motion::Minutes, "nobody does");
}
