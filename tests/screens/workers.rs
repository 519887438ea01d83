//! The layer of a seat's workers: what there are, making one, its token, ending one.

use std::sync::Arc;
use std::time::Duration;

use crewlet_tui::engine::command::{Command, WorkerOrder};
use crewlet_tui::engine::snapshot::{LogLevel, Notice, Snapshot, StoppedSeat, WorkerView};
use crewlet_tui::ids::WorkerId;
use crewlet_tui::secret::Secret;
use crewlet_tui::tool::worker::Barred;
use crewlet_tui::tui::intent::Effect;
use crewlet_tui::tui::msg::Msg;
use crewlet_tui::tui::theme::Theme;

use super::support::screen::{Screen, styles, text};
use super::support::{golden, sample};

const TO_RELEASE: [&str; 5] = ["7", "down", "down", "down", "down"];
const TOKEN: &str = "crewlet_00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

fn worker(id: &str, minutes: u64) -> Arc<WorkerView> {
    let since = sample::ago(180);
    Arc::new(WorkerView {
        id: id.into(),
        seat: "release".into(),
        task: "find out which branches are stale,\nand list them".into(),
        by: "claude-code 2.1 · session 7c1e".into(),
        url: format!("http://127.0.0.1:7420/workers/{id}/mcp").into(),
        tools: vec!["github_list_branches".into(), "tavily_search".into()],
        barred: vec![
            ("github_delete_branch".into(), Barred::SharedSurface("destructive")),
            ("delegate".into(), Barred::Control),
        ],
        since,
        ends: since.plus(Duration::from_secs(60 * minutes)),
    })
}

fn with_workers() -> Snapshot {
    let other = WorkerView { seat: "alice".into(), ..(*worker("wzzzzzzzz", 15)).clone() };
    let workers = vec![worker("w7f3a2c9d", 15), worker("w19b0e4kk", 60), Arc::new(other)];
    Snapshot { workers, ..sample::calm() }
}

/// At the release seat, after these keys.
fn at(size: (u16, u16), snapshot: Snapshot, keys: &[&str]) -> Screen {
    let mut screen = Screen::new(size, snapshot);
    screen.press(&TO_RELEASE);
    screen.press(keys);
    screen
}

/// The worker that was asked for.
fn order(effects: &[Effect]) -> WorkerOrder {
    let [Effect::Send(Command::MintWorker(order))] = effects else { panic!("{effects:?}") };
    order.clone()
}

/// A worker made on the screen; what the engine publishes of it is `given`.
fn made(size: (u16, u16), given: &WorkerView) -> (Screen, WorkerId) {
    let mut screen = at(size, sample::calm(), &["m", "space"]);
    let order = order(&screen.press(&["ctrl-s"]));
    let view = WorkerView { id: order.worker.clone(), ..given.clone() };
    screen.publish(|snapshot| snapshot.workers.push(Arc::new(view)));
    (screen, order.worker)
}

#[test]
fn what_was_chosen_is_not_dropped_unasked_and_a_refusal_is_said_in_the_sheet() {
    let mut screen = at((120, 40), sample::calm(), &["m", "space", "esc"]);
    assert!(screen.text().contains("close without making it"), "{}", screen.text());
    screen.press(&["n"]);
    assert!(screen.text().contains("1 chosen"), "{}", screen.text());
    order(&screen.press(&["ctrl-s"]));
    let text: std::sync::Arc<str> = "nothing was done: release is stopped; release it first".into();
    let notice = Notice { sequence: 900, at: sample::NOW, level: LogLevel::Warn, text };
    screen.publish(|snapshot| snapshot.notices.push(notice));
    let text = screen.text();
    assert!(!text.contains("waiting for it"), "{text}");
    assert!(text.matches("release is stopped").count() >= 1, "{text}");
    order(&screen.press(&["ctrl-s"]));
    screen.press(&["esc", "y"]);
    assert!(!screen.text().contains("Ctrl-S"), "{}", screen.text());
    assert!(!at((120, 40), sample::calm(), &["m", "esc"]).text().contains("Ctrl-S"), "nothing to lose");
}

fn check(name: &str, size: (u16, u16), screen: &Screen, id: Option<&WorkerId>) {
    let (width, height) = size;
    let plain = text(&screen.draw(&Theme::plain()));
    // Random, of always the same length.
    let plain = id.map_or(plain.clone(), |id| plain.replace(id.as_str(), "w00000000"));
    golden::check(&format!("{name}-{width}x{height}.txt"), &plain);
    if id.is_none() {
        let coloured = screen.draw(&Theme::builtin("midnight").unwrap());
        golden::check(&format!("{name}-{width}x{height}.colour.txt"), &styles(&coloured));
    }
}

#[test]
fn pictures() {
    for size in [(120, 40), (80, 24), (40, 12)] {
        check("workers", size, &at(size, with_workers(), &["W"]), None);
        check("workers-none", size, &at(size, sample::calm(), &["W"]), None);
        check("worker-order", size, &at(size, sample::calm(), &["m", "down", "space", "down"]), None);
        let (mut screen, id) = made(size, &worker("w00000000", 15));
        check("worker-made", size, &screen, Some(&id));
        screen.send(Msg::Revealed(id.clone(), Some(Secret::new(TOKEN))));
        check("worker-token", size, &screen, Some(&id));
    }
}

#[test]
fn only_what_a_worker_may_hold_is_chosen_and_only_its_own_key_makes_it() {
    let mut screen = at((120, 40), sample::calm(), &["m"]);
    assert!(screen.text().contains("github_delete_branch  writes to a shared surface: it is destructive"));
    assert_eq!(screen.press(&["ctrl-s"]), [], "nothing is chosen");
    assert!(screen.text().contains("choose at least one tool"));
    screen.type_text("delete_branch");
    screen.press(&["space"]);
    assert!(screen.text().contains("0 chosen"), "{}", screen.text());
    screen.press(&["backspace"; 20]);
    screen.press(&["pageup", "space", "tab"]);
    assert!(screen.text().contains("1 chosen"), "{}", screen.text());
    for wrong in ["0", "61", "x", "", "-1", "1.5"] {
        screen.press(&["backspace"; 20]);
        screen.type_text(wrong);
        assert_eq!(screen.press(&["ctrl-s"]), [], "{wrong}");
        assert!(screen.text().contains("from 1 to 60"), "{wrong}");
    }
    screen.press(&["backspace"; 20]);
    screen.type_text("20");
    screen.press(&["enter", "enter", "tab", "enter"]);
    screen.press(&["tab"]);
    screen.type_text("look it up");
    assert_eq!(screen.press(&["enter"]), [], "Enter goes on");
    let order = order(&screen.press(&["ctrl-s"]));
    assert_eq!((order.seat.as_str(), order.minutes), ("release", 20));
    let [tool] = &order.tools[..] else { panic!("{order:?}") };
    assert!(tool.contains('/') && !tool.contains("delete"), "{tool}");
    assert!(screen.text().contains("waiting for it"), "nothing is claimed before the engine says so");
    assert_eq!(screen.press(&["ctrl-s", "ctrl-s"]), [], "one worker, however often the key is pressed");
    assert!(screen.text().contains("waiting for it"), "{}", screen.text());
}

#[test]
fn a_token_is_shown_only_when_asked_for_and_goes_with_the_layer() {
    let (mut screen, id) = made((120, 40), &worker("w00000000", 15));
    let picture = screen.text();
    assert!(picture.contains("/workers/") && picture.contains("delegate  denied by name"), "{picture}");
    assert!(!picture.contains("crewlet_0") && picture.contains("t shows it"), "{picture}");
    let copied = |effects: &[Effect]| {
        let [Effect::Copy(text)] = effects else { panic!("{effects:?}") };
        text.to_string()
    };
    assert!(!copied(&screen.press(&["c"])).contains(TOKEN));
    assert_eq!(screen.press(&["t"]), [Effect::Reveal(id.clone())]);
    screen.send(Msg::Revealed(WorkerId::fresh(), Some(Secret::new(TOKEN))));
    assert!(!screen.text().contains(TOKEN), "another worker's is not shown here");
    screen.send(Msg::Revealed(id.clone(), Some(Secret::new(TOKEN))));
    assert!(screen.text().contains(TOKEN));
    let lines = copied(&screen.press(&["c"]));
    assert!(lines.contains(&format!("export CREWLET_TOKEN='{TOKEN}'")) && lines.contains("claude mcp add"), "{lines}");
    assert_eq!(lines.matches(TOKEN).count(), 1, "once: the programs read the variable");
    assert_eq!(screen.press(&["t"]), [], "there is nothing more to show");
    // The layer that shows it is the only one that does.
    screen.press(&["esc", "W"]);
    screen.send(Msg::Revealed(id, Some(Secret::new(TOKEN))));
    assert!(!screen.text().contains(TOKEN));
}

#[test]
fn a_worker_that_ended_says_so_and_its_token_is_gone() {
    let (mut screen, id) = made((120, 40), &worker("w00000000", 15));
    screen.send(Msg::Revealed(id, Some(Secret::new(TOKEN))));
    screen.publish(|snapshot| snapshot.workers.clear());
    let picture = screen.text();
    assert!(picture.contains("it has ended") && !picture.contains(TOKEN), "{picture}");
    assert_eq!(screen.press(&["t"]), []);
    let (mut screen, id) = made((80, 24), &worker("w00000000", 15));
    screen.send(Msg::Revealed(id, None));
    assert!(screen.text().contains("not to be had any more"));
}

#[test]
fn ending_one_asks_first() {
    let mut screen = at((120, 40), with_workers(), &["W", "down", "x"]);
    assert!(screen.text().contains("End worker w19b0e4kk?"), "{}", screen.text());
    screen.wait(1_000);
    let effects = screen.press(&["y"]);
    assert_eq!(effects, [Effect::Send(Command::EndWorker("w19b0e4kk".into()))]);
    // Back on the list, which shows it until the engine says otherwise.
    assert!(screen.text().contains("w19b0e4kk"));
    screen.publish(|snapshot| _ = snapshot.workers.remove(1));
    assert!(!screen.text().contains("w19b0e4kk") && screen.text().contains("w7f3a2c9d"));
}

#[test]
fn none_is_made_or_ended_where_nothing_can_be() {
    let told = |change: fn(&mut Snapshot), keys: &[&str], words: &str| {
        let mut snapshot = with_workers();
        change(&mut snapshot);
        let mut screen = at((120, 40), snapshot, keys);
        assert!(screen.text().contains(words), "{words}: {}", screen.text());
        assert_eq!(screen.press(&["ctrl-s"]), []);
    };
    told(|s| s.read_only = true, &["m"], "--read-only");
    told(|s| s.read_only = true, &["W", "m"], "--read-only");
    told(|s| s.read_only = true, &["W", "x"], "--read-only");
    told(|s| s.listener = None, &["m"], "there is no listener");
    let stop = |s: &mut Snapshot| {
        s.stopped_seats = vec![StoppedSeat { seat: "release".into(), since: sample::ago(60), refused: 0 }];
    };
    told(stop, &["m"], "release is stopped");
    told(|_| (), &["up", "m"], "is a unit");
}

#[test]
fn hostile_texts_are_drawn_as_texts() {
    let hostile = WorkerView {
        task: "\u{1b}[31mred\u{202e}".into(),
        by: "\u{7}evil\u{200b}".into(),
        tools: vec!["x".repeat(64).into(); 64],
        barred: vec![("\u{1b}]0;t\u{7}".into(), Barred::Unknown); 64],
        ..(*worker("w7f3a2c9d", 15)).clone()
    };
    for size in [(120, 40), (80, 24), (40, 12)] {
        let mut snapshot = sample::calm();
        snapshot.workers = vec![Arc::new(hostile.clone())];
        for screen in [at(size, snapshot, &["W"]), made(size, &hostile).0] {
            let picture = screen.text();
            assert!(!picture.contains(['\u{1b}', '\u{7}', '\u{202e}', '\u{200b}']), "{picture:?}");
        }
    }
}
