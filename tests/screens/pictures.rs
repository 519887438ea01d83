//! Golden pictures.

use crewlet_tui::engine::snapshot::{AuditHealth, Snapshot, StoppedSeat};
use crewlet_tui::tui::msg::Msg;
use crewlet_tui::tui::theme::Theme;

use super::support::rows::with_tools;
use super::support::screen::{Screen, styles, text};
use super::support::{golden, sample, svg};

const SIZES: [(u16, u16); 3] = [(120, 40), (80, 24), (40, 12)];

/// Each case at three sizes: the text, and how the colours of the dark theme lie on it.
pub fn check(name: &str, snapshot: &Snapshot, keys: &[&str]) {
    for (width, height) in SIZES {
        let mut screen = Screen::new((width, height), snapshot.clone());
        screen.press(keys);
        let plain = screen.draw(&Theme::plain());
        golden::check(&format!("{name}-{width}x{height}.txt"), &text(&plain));
        let coloured = screen.draw(&Theme::builtin("midnight").unwrap());
        assert_eq!(text(&plain), text(&coloured), "colours change no text");
        golden::check(&format!("{name}-{width}x{height}.colour.txt"), &styles(&coloured));
    }
}

#[test]
fn servers() {
    check("servers", &sample::busy(), &["down", "down"]);
}

#[test]
fn a_failed_server() {
    check("failed", &sample::calm(), &["down", "down", "down", "down", "down", "enter"]);
}

#[test]
fn log() {
    check("log", &sample::calm(), &["6"]);
}

#[test]
fn a_search_in_the_log() {
    check("log-search", &sample::calm(), &["6", "/", "s", "e", "r", "v", "enter"]);
}

#[test]
fn the_stderr_of_all_servers() {
    check("stderr-all", &sample::calm(), &["v", "T"]);
}

#[test]
fn errors_only() {
    check("stderr-errors", &sample::calm(), &["v", "l", "l"]);
}

#[test]
fn lines_to_connect_with() {
    check("connect", &sample::calm(), &[":", "c", "o", "n", "enter"]);
}

#[test]
fn a_stopped_seat_is_in_the_header() {
    let mut snapshot = sample::busy();
    snapshot.listener = None;
    snapshot.stopped_seats = vec![StoppedSeat { seat: "release".into(), since: sample::ago(60), refused: 2 }];
    check("stopped-seat", &snapshot, &[]);
}

#[test]
fn help() {
    check("help", &sample::calm(), &["?"]);
}

#[test]
fn a_question_before_disabling() {
    check("disable", &sample::calm(), &["e"]);
}

#[test]
fn nothing_yet() {
    check("empty", &sample::empty(), &[]);
}

#[test]
fn a_broken_audit_is_loud() {
    let mut snapshot = sample::calm();
    snapshot.read_only = true;
    snapshot.audit = AuditHealth::Broken { reason: "no space left on device".into() };
    check("audit-broken", &snapshot, &[]);
}

#[test]
fn plain_ascii() {
    let mut screen = Screen::new((120, 40), sample::busy());
    screen.press(&["down"]);
    let mut theme = Theme::plain();
    theme.ascii = true;
    let picture = text(&screen.draw(&theme));
    assert!(picture.is_ascii(), "{picture}");
    golden::check("ascii-120x40.txt", &picture);
}

/// Pictures for people, kept up to date.
#[test]
fn svg_pictures() {
    for (view, keys) in [("servers", &["down", "down"][..]), ("tools", &["2", "down"]), ("card", &["a"])] {
        for (suffix, theme, terminal) in [("dark", "midnight", svg::DARK), ("light", "daylight", svg::LIGHT)] {
            let mut screen = Screen::new((120, 30), sample::busy());
            screen.press(keys);
            // Past the time in which a card's keys are dead.
            screen.wait(1_000);
            screen.send(Msg::Wake);
            let picture = svg::of(&screen.draw(&Theme::builtin(theme).unwrap()), terminal);
            golden::check(&format!("{view}-{suffix}.svg"), &picture);
        }
    }
}

#[test]
fn tools() {
    check("tools", &sample::calm(), &["2", "down"]);
}

#[test]
fn approvals() {
    check("approvals", &sample::busy(), &["3"]);
}

#[test]
fn calls() {
    check("calls", &sample::busy(), &["4"]);
}

#[test]
fn sessions() {
    check("sessions", &sample::busy(), &["5"]);
}

#[test]
fn a_session_whole() {
    let mut snapshot = sample::busy();
    snapshot.stopped_seats = vec![StoppedSeat { seat: "release".into(), since: sample::ago(60), refused: 2 }];
    check("session", &snapshot, &["5", "enter"]);
}

#[test]
fn seats() {
    check("seats", &sample::busy(), &["7", "down", "down", "down", "down"]);
}

#[test]
fn a_seat_whole() {
    let mut snapshot = sample::busy();
    snapshot.stopped_seats = vec![StoppedSeat { seat: "release".into(), since: sample::ago(60), refused: 2 }];
    check("seat", &snapshot, &["7", "down", "down", "down", "down", "enter"]);
}

#[test]
fn what_a_seat_remembers() {
    let keys = ["7", "down", "down", "down", "down", "d", "d", "d"];
    check("seat-diary", &sample::calm(), &keys[..6]);
    check("seat-skills", &sample::calm(), &keys[..7]);
    check("seat-turns", &sample::calm(), &keys);
}

#[test]
fn a_unit() {
    check("unit", &sample::calm(), &["7", "down", "down", "down", "enter"]);
}

#[test]
fn what_a_worker_may_hold() {
    check("tools-worker", &sample::calm(), &["7", "down", "down", "down", "down", "w"]);
}

#[test]
fn as_whom_the_tools_are_looked_at() {
    check("tools-view-as", &sample::calm(), &["2", "/", "g", "i", "t", "enter", "v", "down"]);
    check("tools-as-seat", &sample::calm(), &["2", "/", "g", "i", "t", "enter", "v", "down", "enter"]);
}

#[test]
fn work() {
    check("work", &with_tools(sample::calm()), &["8"]);
    check("work-item", &with_tools(sample::calm()), &["8", "enter"]);
}

#[test]
fn writing_an_item_and_choosing_a_status() {
    check("work-new", &with_tools(sample::calm()), &["8", "n", "F", "i", "x"]);
    check("work-status", &with_tools(sample::calm()), &["8", "down", "s"]);
}

#[test]
fn pages() {
    check("pages", &sample::calm(), &["9"]);
    check("page", &sample::calm(), &["9", "enter", "[", "/", "w", "h", "o", "enter"]);
}

#[test]
fn the_connectors_audit() {
    check("connector", &sample::calm(), &[":", "c", "o", "n", "n", "e", "c", "t", "o", "enter"]);
}

#[test]
fn no_sessions() {
    let mut snapshot = sample::calm();
    snapshot.sessions.clear();
    check("sessions-none", &snapshot, &["5"]);
}

#[test]
fn a_listener_that_could_not_start() {
    let mut snapshot = sample::calm();
    (snapshot.listener, snapshot.sessions) = (None, Vec::new());
    let problem = "cannot listen on 127.0.0.1:7420: Address already in use (os error 98); end what uses it, or pass \
                   --listen with another address";
    snapshot.listener_problem = Some(problem.into());
    check("no-listener", &snapshot, &["5"]);
}

#[test]
fn a_configuration_that_was_refused() {
    let mut snapshot = sample::calm();
    let problem = "nothing was changed: config.yaml:4:12: unknown transport \"htp\": write stdio or http";
    snapshot.config_problem = Some(problem.into());
    check("config-refused", &snapshot, &[]);
}

#[test]
fn the_approval_card() {
    check("card", &sample::busy(), &["a"]);
}

#[test]
fn a_servers_question() {
    let mut snapshot = sample::busy();
    snapshot.approvals.clear();
    snapshot.forms = vec![sample::form(1, 18)];
    check("form", &snapshot, &["a"]);
}

#[test]
fn a_servers_question_among_the_calls() {
    let mut snapshot = sample::busy();
    snapshot.forms = vec![sample::form(1, 18)];
    check("approvals-form", &snapshot, &["3", "down", "down"]);
}

#[test]
fn the_call_editor() {
    check("editor", &sample::calm(), &["2", "down", "enter"]);
}
