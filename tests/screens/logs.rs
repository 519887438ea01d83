//! Reading logs: following and pausing, searches, levels, all servers at once, copies, files; the command line.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crewlet_tui::engine::command::{Command, Export};
use crewlet_tui::engine::ring::Ring;
use crewlet_tui::engine::snapshot::{LineKind, Snapshot, StderrLine};
use crewlet_tui::ids::ConnectionName;
use crewlet_tui::tui::intent::Effect;
use crewlet_tui::tui::msg::Msg;
use crewlet_tui::tui::panes::View;
use crewlet_tui::tui::terminal::clipboard::Copied;

use super::support::sample;
use super::support::screen::Screen;

const SIZE: (u16, u16) = (120, 40);

/// Two servers; the first one has this many lines, the second one a line for each ten of them.
fn talkative(lines: usize) -> Snapshot {
    let mut snapshot = sample::calm();
    snapshot.servers.truncate(2);
    let line = |n: usize, text: String| StderrLine {
        at: sample::ago(i64::try_from(lines - n).unwrap()),
        kind: LineKind::Stderr,
        text: text.into(),
    };
    let (mut first, mut second) = (Ring::new(lines), Ring::new(lines));
    for n in 0..lines {
        let text = if n == 7 { "ERROR the needle".to_owned() } else { format!("request {n} answered") };
        first.push(line(n, text));
        if n % 10 == 0 {
            second.push(line(n, format!("tick {n}")));
        }
    }
    Arc::make_mut(&mut snapshot.servers[0]).stderr = first;
    Arc::make_mut(&mut snapshot.servers[1]).stderr = second;
    snapshot
}

fn say(snapshot: &mut Snapshot, server: usize, text: &str) {
    let line = StderrLine { at: sample::NOW, kind: LineKind::Stderr, text: text.into() };
    Arc::make_mut(&mut snapshot.servers[server]).stderr.push(line);
}

fn foot(screen: &Screen) -> String {
    screen.text().lines().last().unwrap_or_default().trim().to_owned()
}

#[test]
fn a_paused_view_stays_on_its_lines_and_all_servers_stand_in_order() {
    let mut screen = Screen::new(SIZE, talkative(500));
    screen.press(&["v"]);
    let text = screen.text();
    assert!(text.contains("stderr · all servers") && text.contains("following"), "{text}");
    let (tick, request) = (text.find("tick 490").unwrap(), text.find("request 491 ").unwrap());
    assert!(tick < request && text.find("request 489 ").unwrap() < tick, "{text}");
    screen.press(&["pageup"]);
    let paused = screen.text();
    screen.publish(|snapshot| (0..300).for_each(|n| say(snapshot, n % 2, "late")));
    let after = screen.text();
    let lines = |text: &str| -> Vec<String> {
        text.lines()
            .filter_map(|line| line.split("││").nth(1))
            .filter(|line| line.contains("answered"))
            .map(|line| line.trim_end_matches(['│', '┃']).to_owned())
            .collect()
    };
    assert_eq!(lines(&paused), lines(&after));
    assert!(after.contains("below") && !after.contains("late"), "{after}");
    screen.press(&["f"]);
    assert!(screen.text().contains("late"));
}

#[test]
fn a_filter_by_level_keeps_the_moment_that_is_read() {
    let mut screen = Screen::new(SIZE, talkative(500));
    screen.press(&["tab", "home"]);
    assert!(screen.text().contains("request 0 answered"));
    screen.press(&["l"]);
    let text = screen.text();
    assert!(text.contains("warnings and errors") && text.contains("the needle") && !text.contains("request"), "{text}");
    screen.press(&["l", "l"]);
    let text = screen.text();
    // All lines again, from the one on that was read.
    assert!(text.contains("stderr · filesystem ") && text.contains("ERROR the needle"), "{text}");
    assert!(text.contains("request 8 answered") && !text.contains("request 6 "), "{text}");
}

#[test]
fn next_error_jumps_and_says_when_there_is_none() {
    let mut screen = Screen::new(SIZE, talkative(500));
    screen.press(&["X"]);
    assert!(screen.text().contains("the needle"));
    screen.press(&["X"]);
    assert_eq!(foot(&screen), "no error is above");
    screen.press(&["x"]);
    assert_eq!(foot(&screen), "no error is below");
}

#[test]
fn a_long_search_goes_on_in_steps_and_keys_stay_quick() {
    let mut screen = Screen::new(SIZE, talkative(200_000));
    screen.press(&["/"]);
    screen.type_text("needle");
    let begun = Instant::now();
    screen.press(&["enter"]);
    assert!(begun.elapsed() < Duration::from_secs(2), "one step took {:?}", begun.elapsed());
    let mut steps = 0;
    while screen.wake_in() == Some(0) {
        assert!(screen.text().contains("lines to go"), "{}", screen.text());
        screen.send(Msg::Wake);
        steps += 1;
        assert!(steps < 100, "the search never ends");
    }
    assert!(steps > 3, "{steps}");
    assert!(screen.text().contains("ERROR the needle"), "{}", screen.text());
}

#[test]
fn a_search_on_its_way_is_dropped_by_another_key() {
    let mut screen = Screen::new(SIZE, talkative(200_000));
    screen.press(&["/"]);
    screen.type_text("needle");
    screen.press(&["enter"]);
    assert_eq!(screen.wake_in(), Some(0));
    screen.press(&["G"]);
    assert_ne!(screen.wake_in(), Some(0));
    assert!(screen.text().contains("following"));
}

#[test]
fn a_frame_of_many_lines_costs_what_one_of_few_costs() {
    let cost = |lines: usize| {
        let mut screen = Screen::new(SIZE, talkative(lines));
        screen.press(&["v"]);
        let begun = Instant::now();
        for _ in 0..50 {
            screen.publish(|snapshot| say(snapshot, 0, "more"));
            screen.text();
        }
        begun.elapsed()
    };
    let (few, many) = (cost(1_000), cost(200_000));
    assert!(many < few * 10 + Duration::from_millis(200), "{few:?} for 1,000 lines, {many:?} for 200,000");
}

#[test]
fn what_is_kept_is_saved_and_what_is_seen_is_copied() {
    let mut screen = Screen::new(SIZE, talkative(500));
    let name = ConnectionName::from("filesystem");
    assert_eq!(screen.press(&["S"]), [Effect::Send(Command::Export(Export::Stderr(name)))]);
    assert_eq!(screen.press(&["D"]), [Effect::Send(Command::Export(Export::Diagnostics))]);
    let copied = screen.press(&["c"]);
    let [Effect::Copy(text)] = &copied[..] else { panic!("{copied:?}") };
    assert!(text.ends_with("request 499 answered\n") && text.lines().count() > 20, "{text}");
    screen.send(Msg::Copied(Copied::Unsupported));
    assert_eq!(foot(&screen), "✕ this terminal has no clipboard: S saves to a file");
    assert_eq!(screen.press(&["6", "S"]), [Effect::Send(Command::Export(Export::Log))]);
}

#[test]
fn the_command_line_goes_to_views_and_never_decides() {
    let mut screen = Screen::new(SIZE, sample::busy());
    screen.press(&[":"]);
    screen.type_text("tools");
    screen.press(&["enter"]);
    assert_eq!(screen.ui.view(), View::Tools);
    screen.press(&[":"]);
    screen.type_text("y");
    assert_eq!(screen.press(&["enter"]), []);
    assert!(screen.text().contains("there is no command \"y\""), "{}", screen.text());
    // No card opens over somebody who types.
    screen.press(&[":"]);
    screen.wait(60_000);
    screen.send(Msg::Wake);
    assert_eq!(screen.ui.open_card(), None);
    screen.press(&["esc"]);
    screen.press(&[":"]);
    screen.type_text("connect release");
    screen.press(&["enter"]);
    let text = screen.text();
    assert!(text.contains("http://127.0.0.1:7420/seats/release/mcp") && text.contains("CREWLET_TOKEN"), "{text}");
    assert!(matches!(&screen.press(&["c"])[..], [Effect::Copy(lines)] if lines.contains("claude mcp add")));
    screen.press(&["esc"]);
    assert!(!screen.text().contains("CREWLET_TOKEN"));
}
