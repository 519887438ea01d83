//! Before and at the first frame.

use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::home::{Home, USUAL};
use crate::pty::{Pty, Size};

#[test]
fn the_first_frame_waits_for_no_server() {
    // Takes connections and never answers.
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = silent.local_addr().expect("its address");
    let home = Home::configured(&format!(
        "name: Slow Company\nmcp_servers:\n  - name: silent\n    transport: http\n    url: http://{address}/mcp\n  \
         - name: sleeper\n    command: sleep\n    args: [\"1000\"]\n"
    ));
    let begun = Instant::now();
    let pty = home.dashboard(USUAL);
    pty.until("the first frame", |screen| screen.contains("Slow Company") && screen.contains("sleeper"));
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(1), "the first frame took {took:?}");
    pty.shows("starting");
    pty.keys("q");
    assert_eq!(pty.end().status.code(), Some(0));
    assert_eq!(home.processes(), []);
}

#[test]
fn every_view_has_its_number_and_help() {
    let home = Home::new();
    let pty = home.ready(USUAL);
    for (key, marks) in [
        ("2", &["[2 Tools", "update_work_item", "DESTRUCTIVE"][..]),
        ("3", &["[3 Approvals"]),
        ("4", &["[4 Calls"]),
        ("?", &["PgUp", "leave; asks first"]),
        ("\x1b", &["/ filter"]),
        ("1", &["[1 Servers", "notes", "chatty"]),
    ] {
        pty.keys(key);
        pty.until(key, |screen| marks.iter().all(|mark| screen.contains(mark)));
    }
    pty.keys("\t");
    pty.shows("stderr · notes");
    pty.keys("q");
    assert_eq!(pty.end().status.code(), Some(0));
}

#[test]
fn colours_are_left_out_where_they_are_not_wanted() {
    for (name, value) in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        let home = Home::new();
        let pty = Pty::start(USUAL, |command| {
            home.furnish(command);
            command.env(name, value);
        });
        pty.until("the demo servers", |screen| screen.contains("7 ready"));
        pty.keys("2");
        pty.shows("list_work_items");
        pty.keys("q");
        let raw = pty.end().raw;
        let colours: Vec<String> =
            sgr(&raw).into_iter().filter(|one| is_colour(*one)).map(|one| one.to_string()).collect();
        assert_eq!(colours, Vec::<String>::new(), "{name}={value}");
    }
}

#[test]
fn colours_are_used_where_nothing_speaks_against_them() {
    let home = Home::new();
    let pty = home.ready(USUAL);
    pty.keys("q");
    assert!(sgr(&pty.end().raw).into_iter().any(is_colour));
}

#[test]
fn a_copy_goes_to_the_terminals_clipboard_where_there_is_one() {
    for (term, sent) in [("xterm-256color", true), ("dumb", false)] {
        let home = Home::new();
        let pty = Pty::start(USUAL, |command| {
            home.furnish(command);
            command.env("TERM", term);
        });
        pty.until("the demo servers", |screen| screen.contains("7 ready"));
        pty.keys("6");
        pty.shows("server_starting");
        pty.keys("c");
        pty.shows(if sent { "sent to the clipboard" } else { "has no clipboard" });
        pty.keys("q");
        let raw = String::from_utf8_lossy(&pty.end().raw).into_owned();
        assert_eq!(raw.contains("\x1b]52;c;"), sent, "{term}");
    }
}

#[test]
fn the_mouse_is_left_to_the_terminal() {
    let home = Home::new();
    let pty = home.ready(USUAL);
    pty.keys("q");
    let raw = String::from_utf8_lossy(&pty.end().raw).into_owned();
    for mode in ["?1000", "?1002", "?1003", "?1005", "?1006", "?1015"] {
        assert!(!raw.contains(&format!("\x1b[{mode}h")), "{mode}");
    }
}

#[test]
fn without_a_terminal_one_line_says_so_and_nothing_is_started() {
    let home = Home::new();
    let output = home.command(&[]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(output.stdout, b"");
    let said = String::from_utf8(output.stderr).expect("text");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.contains("terminal") && !said.contains('\x1b'), "{said}");
    assert!(!home.path().join("state").exists(), "a state folder was made");
}

#[test]
fn a_piped_output_is_no_terminal_either() {
    let home = Home::new();
    // The shell's own terminal is real; only the output is a pipe.
    let pty = Pty::run(USUAL, &["sh", "-c", "\"$0\" | cat; exit 0", env!("CARGO_BIN_EXE_crewlet-tui")], |command| {
        home.furnish(command);
    });
    let raw = String::from_utf8_lossy(&pty.end().raw).into_owned();
    assert!(raw.contains("terminal") && !raw.contains('\x1b'), "{raw:?}");
    assert_eq!(raw.lines().count(), 1, "{raw:?}");
}

#[test]
fn a_second_dashboard_says_who_has_the_state_folder() {
    let home = Home::new();
    let first = home.ready(USUAL);
    let second = home.dashboard(Size(80, 24));
    let end = second.end();
    assert_eq!(end.status.code(), Some(1));
    let said = String::from_utf8_lossy(&end.raw).into_owned();
    assert!(said.contains(&first.pid().to_string()) && !said.contains('\x1b'), "{said:?}");
    first.keys("2");
    first.shows("[2 Tools");
    first.keys("q");
    assert_eq!(first.end().status.code(), Some(0));
}

#[test]
fn a_mistake_in_the_configuration_is_said_before_anything_is_drawn() {
    let home = Home::configured("name: Acme\nmcp_servers:\n  - nam: notes\n");
    let end = home.dashboard(USUAL).end();
    assert_eq!(end.status.code(), Some(4));
    let said = String::from_utf8_lossy(&end.raw).into_owned();
    assert!(said.contains("config.yaml:3") && !said.contains("\x1b[?1049h"), "{said:?}");
}

#[test]
fn a_closed_input_ends_it() {
    let home = Home::new();
    let mut command = Command::new("setsid");
    command.args(["--wait", env!("CARGO_BIN_EXE_crewlet-tui")]);
    home.furnish(&mut command);
    let output = command.stdin(Stdio::null()).stdout(Stdio::piped()).output().expect("it runs");
    assert_eq!(output.status.code(), Some(2));
}

/// The parameters of every SGR sequence.
fn sgr(raw: &[u8]) -> Vec<u16> {
    let text = String::from_utf8_lossy(raw);
    let mut found = Vec::new();
    for after in text.split("\x1b[").skip(1) {
        let end = after.find(|c: char| !c.is_ascii_digit() && c != ';' && c != ':').unwrap_or(after.len());
        if after[end..].starts_with('m') {
            found.extend(after[..end].split([';', ':']).filter_map(|number| number.parse::<u16>().ok()));
        }
    }
    found
}

fn is_colour(number: u16) -> bool {
    matches!(number, 30..=38 | 40..=48 | 90..=97 | 100..=107)
}
