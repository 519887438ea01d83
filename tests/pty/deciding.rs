//! Calls of the person's own to a destructive tool, and the keys that decide them.

use std::time::Duration;

use crate::home::{Home, USUAL};
use crate::pty::{Pty, Size, look};

/// Selects `delete_note` among the tools. A filter from before is kept.
fn select(pty: &Pty) {
    pty.keys("2");
    if !pty.shows("[2 Tools").contains(" delete_note  1/") {
        pty.keys("/delete_note\r");
        pty.shows(" delete_note  1/");
    }
    // The same key again at once would count as held down.
    pty.keys("j");
}

/// Opens the editor for `delete_note` and writes the note's name into it.
fn edit(pty: &Pty, note: &str) {
    select(pty);
    pty.keys("\r");
    pty.until("the editor", |screen| screen.contains("Call ") && screen.contains("Ctrl-S"));
    pty.keys(note);
    pty.shows(&format!("\"{note}\""));
}

/// Sends what the editor holds and waits for the card.
fn send(pty: &Pty) {
    pty.keys("\x13");
    pty.until("the card", |screen| screen.contains("Approve?") && screen.contains("Esc leave pending"));
}

/// Waits until the card's keys are lit: the dead time is over.
fn lit(pty: &Pty) {
    pty.until_screen("the keys are lit", |screen| {
        let key = look(screen, "y arm");
        key.is_some() && key == look(screen, "Esc leave")
    });
}

fn approve(pty: &Pty) {
    lit(pty);
    pty.keys("y");
    pty.until_screen("a second y counts", |screen| {
        let armed = look(screen, " ARMED");
        armed.is_some() && armed == look(screen, " ⚑ 1 waiting")
    });
    pty.keys("y");
    pty.shows("executed");
}

/// The call's id in the card's title.
fn call_ids(screen: &str) -> Vec<String> {
    let title = screen.lines().find(|line| line.contains("┏")).unwrap_or_default();
    let words = title.split(|c: char| !c.is_ascii_alphanumeric());
    words.filter(|word| word.len() == 11 && word.starts_with('c')).map(str::to_owned).collect()
}

#[test]
fn a_call_is_denied_with_a_reason_and_another_one_approved() {
    let home = Home::new();
    let pty = home.ready(USUAL);
    edit(&pty, "shopping");
    send(&pty);
    let first = pty.shows("DESTRUCTIVE");
    let first = call_ids(&first).into_iter().next().expect("the call's id on the card");
    lit(&pty);
    pty.keys("n");
    pty.shows("Deny?");
    pty.keys("still needed");
    pty.shows("still needed");
    pty.keys("\r");
    pty.until("the denial", |screen| screen.contains("denied: \"still needed\""));
    assert!(home.notes().contains(&"shopping.md".to_owned()));
    pty.keys("\x1b");
    pty.until("the card is gone", |screen| !screen.contains("q close") && screen.contains("denied"));

    edit(&pty, "shopping");
    send(&pty);
    let second = pty.shows("DESTRUCTIVE");
    let second = call_ids(&second).into_iter().find(|id| *id != first).expect("another id");
    approve(&pty);
    pty.until_true("the note is gone", || (!home.notes().contains(&"shopping.md".to_owned())).then_some(()));
    pty.keys("\x1b");
    pty.until("both calls", |screen| {
        !screen.contains("q close") && screen.contains("denied") && screen.contains("done")
    });
    pty.keys("q");
    assert_eq!(pty.end().status.code(), Some(0));

    for (call, words) in
        [(&first, &["delete_note", "still needed", "denied"][..]), (&second, &["delete_note", "person:tester"])]
    {
        let output = home.command(&["audit", "why", call]);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(0), "{said}{}", String::from_utf8_lossy(&output.stderr));
        assert!(words.iter().all(|word| said.contains(word)), "{said}");
    }
    assert_eq!(home.command(&["audit", "verify"]).status.code(), Some(0));
}

#[test]
fn keys_typed_while_a_card_opens_decide_nothing() {
    let home = Home::new();
    let pty = home.ready(USUAL);
    edit(&pty, "shopping");
    pty.keys("\x13");
    let every = Duration::from_millis(20);
    // The stream begins before the card is there and goes on until its keys have been lit for a while.
    let lit = std::cell::Cell::new(0);
    pty.keep_typing(&["y", "\r", " ", "1", "a"], every, |screen| {
        let key = look(screen, "y arm");
        if key.is_some() && key == look(screen, "Esc leave") {
            lit.set(lit.get() + 1);
        }
        lit.get() > 20
    });
    pty.until("the card still asks", |screen| screen.contains("Approve?") && screen.contains("y arm"));
    assert!(home.notes().contains(&"shopping.md".to_owned()));
    // One key held down.
    let mut turns = std::cell::Cell::new(0);
    pty.keep_typing(&["y"], every, |_| {
        turns.set(turns.get() + 1);
        turns.get() > 100
    });
    assert!(*turns.get_mut() > 100 && home.notes().contains(&"shopping.md".to_owned()));
    pty.until("it still waits", |screen| screen.contains("1 waiting"));
    quit_with_waiting(&home, pty);
}

#[test]
fn pasted_text_decides_nothing() {
    let home = Home::new();
    let pty = home.ready(USUAL);
    edit(&pty, "shopping");
    send(&pty);
    lit(&pty);
    pty.keys("\x1b[200~yyyy\ry\r\x1b[201~");
    // Without the marks of a paste, as a terminal that does not know them sends it.
    pty.keys("yyyyyyyy");
    // Answers come in order: when help is there, all before it has been dealt with.
    pty.keys("?");
    pty.shows("PgUp");
    pty.keys("\x1b");
    pty.until("help is closed", |screen| !screen.contains("PgUp"));
    pty.until("the card still asks", |screen| screen.contains("Approve?") && screen.contains("1 waiting"));
    assert!(home.notes().contains(&"shopping.md".to_owned()));
    quit_with_waiting(&home, pty);
}

#[test]
fn a_card_lives_through_every_size() {
    let home = Home::new();
    let pty = home.ready(USUAL);
    edit(&pty, "shopping");
    send(&pty);
    let mut random: u32 = 2_463_534_242;
    for _ in 0..200 {
        random ^= random << 13;
        random ^= random >> 17;
        random ^= random << 5;
        let size = Size(u16::try_from(random % 200).unwrap() + 1, u16::try_from(random / 200 % 60).unwrap() + 1);
        pty.resize(size);
        if random.is_multiple_of(7) {
            pty.keys("y");
        }
    }
    // Too small to read: too small to approve.
    pty.resize(Size(44, 13));
    pty.shows("too small to approve");
    pty.keys("y");
    pty.resize(USUAL);
    pty.until("the whole card", |screen| {
        ["Approve?", "shopping", "DESTRUCTIVE", "all shown", "1 waiting"].iter().all(|mark| screen.contains(mark))
    });
    assert!(home.notes().contains(&"shopping.md".to_owned()));
    quit_with_waiting(&home, pty);
}

#[test]
fn read_only_decides_and_calls_nothing() {
    let home = Home::new();
    let pty = Pty::start(USUAL, |command| {
        home.furnish(command);
        command.arg("--read-only");
    });
    pty.until("the demo servers", |screen| screen.contains("● 7 ready") && screen.contains("read-only"));
    select(&pty);
    pty.keys("\r");
    pty.shows("read-only: nobody can call anything here");
    assert!(home.notes().contains(&"shopping.md".to_owned()));
    pty.keys("q");
    assert_eq!(pty.end().status.code(), Some(0));
}

/// Leaving while a call waits is asked about first, and withdraws it.
fn quit_with_waiting(home: &Home, pty: Pty) {
    // Another key in between: the same one again at once would count as held down.
    pty.keys("j");
    pty.keys("\x1b");
    pty.until("the card is closed", |screen| !screen.contains("Approve?"));
    pty.keys("q");
    pty.shows("Leave");
    // Living keys are bold.
    pty.until_screen("the keys of the question are lit", |screen| {
        look(screen, "y yes").is_some_and(|key| key.ends_with("true false false"))
    });
    pty.keys("y");
    let end = pty.end();
    assert_eq!(end.status.code(), Some(0));
    assert_eq!(home.processes(), []);
    let output = home.command(&["audit", "tail"]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("withdrawn"), "{:?}", output.stdout);
}

#[test]
fn what_a_server_asks_is_filled_in_and_sent() {
    let home = Home::new();
    let pty = home.ready(USUAL);
    pty.keys("2");
    pty.shows("[2 Tools");
    pty.keys("/dictate_note\r");
    pty.shows("dictate_note  1/");
    // The same key again at once would count as held down.
    pty.keys("j");
    pty.keys("\r");
    pty.until("the editor", |screen| screen.contains("Call ") && screen.contains("Ctrl-S"));
    pty.keys("\x13");
    pty.until("the form", |screen| screen.contains("notes asks you") && screen.contains("> What should the new note"));
    pty.until_screen("the keys are lit", |screen| {
        let key = look(screen, "Ctrl-D");
        key.is_some() && key == look(screen, "Esc leave")
    });
    pty.keys("idea");
    pty.shows("idea");
    pty.keys("\r");
    pty.keys("tea at five");
    pty.shows("tea at five");
    pty.keys("\x13");
    pty.shows("your answer was taken");
    pty.until_true("the note is there", || home.notes().contains(&"idea.md".to_owned()).then_some(()));
    pty.keys("\x1b");
    pty.until("the call", |screen| !screen.contains("notes asked you") && screen.contains("done"));
    pty.keys("q");
    assert_eq!(pty.end().status.code(), Some(0));
    let output = home.command(&["audit", "tail"]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        said.contains("asks for name, text, kind, urgent") && said.contains("accepted: name, text, kind"),
        "{said}"
    );
    assert!(!said.contains("tea at five"), "never what was written: {said}");
}
