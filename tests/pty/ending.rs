//! Every way out: the terminal is as it was and no process is left.

use rustix::process::Signal;

use crate::home::{Home, USUAL, signal};
use crate::pty::{End, Pty, Size};

const BIN: &str = env!("CARGO_BIN_EXE_crewlet-tui");

/// Everything that was switched on is off again, and nothing is drawn after it.
fn assert_given_back(end: &End, before: &str, home: &Home) {
    let raw = String::from_utf8_lossy(&end.raw).into_owned();
    for (on, off) in [("\x1b[?1049h", "\x1b[?1049l"), ("\x1b[?2004h", "\x1b[?2004l"), ("\x1b[?25l", "\x1b[?25h")] {
        let (last_on, last_off) = (raw.rfind(on), raw.rfind(off));
        assert!(last_on.is_some() && last_off > last_on, "{on:?} is not undone");
    }
    let after = raw.rsplit("\x1b[?1049l").next().unwrap_or_default();
    assert!(!after.contains("\x1b[?2026h") && !after.contains('╭'), "drawn after the end: {after:?}");
    assert_eq!(end.modes, before, "the terminal's modes");
    assert_eq!(home.processes(), [], "processes are left");
}

#[test]
fn q_leaves() {
    let home = Home::new();
    let pty = home.dashboard(USUAL);
    pty.shows("[1 Servers");
    pty.until("the demo servers", |screen| screen.contains("● 7 ready"));
    assert!(home.server("notes").is_some() && home.server("chatty").is_some());
    pty.keys("q");
    let end = pty.end();
    assert_eq!(end.status.code(), Some(0));
    assert_eq!(home.processes(), []);
}

#[test]
fn signals_end_it_in_order() {
    for (number, code) in [(Signal::TERM, 143), (Signal::INT, 130), (Signal::HUP, 129)] {
        let home = Home::new();
        let pty = home.dashboard(USUAL);
        pty.until("the demo servers", |screen| screen.contains("● 7 ready"));
        signal(pty.pid(), number);
        let end = pty.end();
        assert_eq!(end.status.code(), Some(code), "{number:?}");
        assert!(end.modes.contains("ICANON") && end.modes.contains("ECHO"), "{}", end.modes);
        assert_given_back(&end, &end.modes, &home);
    }
}

#[test]
fn the_modes_are_those_from_before() {
    let home = Home::new();
    let script = "stty -ixon tostop; read go; exec \"$0\"";
    let pty = Pty::run(USUAL, &["sh", "-c", script, BIN], |command| home.furnish(command));
    let before = pty.until_true("the shell's own modes", || Some(pty.modes()).filter(|modes| modes.contains("TOSTOP")));
    pty.keys("go\n");
    pty.until("the demo servers", |screen| screen.contains("● 7 ready"));
    assert_ne!(pty.modes(), before, "raw mode");
    pty.keys("q");
    let end = pty.end();
    assert_eq!(end.status.code(), Some(0));
    assert_given_back(&end, &before, &home);
}

#[test]
fn ctrl_z_gives_the_terminal_to_the_shell_and_fg_takes_it_back() {
    let home = Home::new();
    let script = "set -m; \"$0\"; echo STOPPED-$?; read go; fg; echo BACK-$?";
    let pty = Pty::run(USUAL, &["bash", "-c", script, BIN], |command| home.furnish(command));
    pty.until("the demo servers", |screen| screen.contains("● 7 ready"));
    pty.keys("\x1a");
    pty.shows("STOPPED-148");
    assert!(pty.modes().contains("ICANON"), "{}", pty.modes());
    pty.keys("\n");
    pty.until("the whole screen again", |screen| screen.contains("[1 Servers") && screen.contains("● 7 ready"));
    pty.keys("2");
    pty.shows("[2 Tools");
    pty.keys("q");
    pty.shows("BACK-0");
    assert_eq!(pty.end().status.code(), Some(0));
    assert_eq!(home.processes(), []);
}

#[test]
fn a_panic_of_the_screen_gives_the_terminal_back_and_says_so() {
    let home = Home::new();
    let pty = Pty::start(USUAL, |command| {
        home.furnish(command);
        command.env("CREWLET_PANIC", "screen");
    });
    let end = pty.end();
    assert_eq!(end.status.code(), Some(1));
    assert_given_back(&end, &end.modes, &home);
    let raw = String::from_utf8_lossy(&end.raw).into_owned();
    let after = raw.rsplit("\x1b[?1049l").next().unwrap_or_default();
    assert!(after.contains("asked for by CREWLET_PANIC=screen"), "{after:?}");
    assert!(end.modes.contains("ICANON") && end.modes.contains("ECHO"), "{}", end.modes);
}

#[test]
fn a_panic_behind_the_screen_leaves_the_screen_alone_and_is_said_at_the_end() {
    let home = Home::new();
    let pty = Pty::start(USUAL, |command| {
        home.furnish(command);
        command.env("CREWLET_PANIC", "task");
    });
    pty.until("the demo servers", |screen| screen.contains("● 7 ready"));
    pty.keys("6");
    pty.until("the panic in the log", |screen| screen.contains("panic  thread="));
    pty.keys("q");
    let end = pty.end();
    assert_eq!(end.status.code(), Some(0));
    assert_given_back(&end, &end.modes, &home);
    let raw = String::from_utf8_lossy(&end.raw).into_owned();
    let (during, after) = raw.rsplit_once("\x1b[?1049l").unwrap_or_default();
    assert!(!during.contains("panicked at"), "the panic was printed into the screen");
    assert!(after.contains("behind the screen failed"), "{after:?}");
}

#[test]
fn a_killed_server_comes_back() {
    let home = Home::new();
    let pty = home.ready(USUAL);
    let first = home.server("notes").expect("the notes server");
    pty.shows(&format!("pid {first}"));
    signal(first, Signal::KILL);
    let second = pty.until_true("another notes server", || home.server("notes").filter(|pid| *pid != first));
    pty.until("it is up again", |screen| screen.contains(&format!("pid {second}")) && screen.contains("● 7 ready"));
    pty.keys("q");
    assert_eq!(pty.end().status.code(), Some(0));
    assert_eq!(home.processes(), []);
}

#[test]
fn no_size_is_too_small_to_leave() {
    for (size, mark) in [
        (Size(1, 1), None),
        (Size(39, 11), Some("needs 40 x 12")),
        (Size(40, 12), Some("notes")),
        (Size(80, 24), Some("notes")),
    ] {
        let home = Home::new();
        let pty = home.dashboard(size);
        pty.until_raw("the first frame", |raw| raw.windows(8).any(|part| part == b"\x1b[?2026l"));
        if let Some(mark) = mark {
            pty.shows(mark);
        }
        pty.keys("q");
        assert_eq!(pty.end().status.code(), Some(0), "{}x{}", size.0, size.1);
        assert_eq!(home.processes(), []);
    }
}
