//! Tests of [`super::Feed`]: order, levels, what falls off.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::engine::ring::Ring;
use crate::tui::card::fixtures;

fn line(at: i64, text: &str) -> StderrLine {
    StderrLine { at: Timestamp::from_millis(at), kind: LineKind::Stderr, text: text.into() }
}

fn snapshot(servers: &[&str]) -> Snapshot {
    let mut snapshot = fixtures::snapshot(Vec::new());
    snapshot.servers =
        servers.iter().map(|name| Arc::new(ServerView { stderr: Ring::new(512), ..fixtures::server(name) })).collect();
    snapshot
}

fn push(snapshot: &mut Snapshot, server: usize, line: StderrLine) {
    Arc::make_mut(&mut snapshot.servers[server]).stderr.push(line);
}

const STYLE: Style<'static> = Style { times: Times::Hidden, now: Timestamp::from_millis(0), zone: &TimeZone::UTC };

fn texts(feed: &Feed, snapshot: &Snapshot) -> Vec<String> {
    let lines = FeedLines { feed, snapshot, style: STYLE };
    (lines.first()..lines.end()).filter_map(|number| Some(lines.text(number)?.into_owned())).collect()
}

const ALL: Pick = Pick { only: None, least: LogLevel::Debug };

#[test]
fn lines_of_all_servers_stand_in_the_order_of_time() {
    let mut snapshot = snapshot(&["a", "b"]);
    let mut feed = Feed::new(ALL);
    push(&mut snapshot, 0, line(10, "a1"));
    push(&mut snapshot, 1, line(20, "b1"));
    feed.look(&snapshot);
    // Comes late, and is older than what is there.
    push(&mut snapshot, 0, line(15, "a2"));
    push(&mut snapshot, 1, line(30, "b2"));
    feed.look(&snapshot);
    feed.look(&snapshot);
    assert_eq!(texts(&feed, &snapshot), ["a1", "a2", "b1", "b2"]);
    assert_eq!(feed.at(Timestamp::from_millis(20)), 2);
}

#[test]
fn every_line_says_whose_it_is() {
    let mut snapshot = snapshot(&["a", "a-rather-long-name-of-a-server"]);
    let mut feed = Feed::new(ALL);
    push(&mut snapshot, 0, line(1, "x"));
    push(&mut snapshot, 1, line(2, "y"));
    feed.look(&snapshot);
    let lines = FeedLines { feed: &feed, snapshot: &snapshot, style: STYLE };
    let leads: Vec<String> = (0..2).map(|n| lines.line(n).unwrap().lead[0].0.to_string()).collect();
    assert_eq!(leads, ["a               ", "a-rather-long…  "]);
}

#[test]
fn words_make_the_level() {
    for (text, level) in [
        ("2026 ERROR cannot connect", LogLevel::Error),
        ("Traceback (most recent call last):", LogLevel::Error),
        ("ModuleNotFoundError: No module named 'mcp'", LogLevel::Error),
        ("thread 'main' panicked at src/main.rs", LogLevel::Error),
        ("npm WARN deprecated", LogLevel::Warn),
        ("0 errors, 0 warnings", LogLevel::Info),
        ("terrorize the mirror", LogLevel::Info),
    ] {
        assert_eq!(level_of(&line(0, text)), level, "{text}");
    }
}

#[test]
fn only_the_wanted_level_and_server_are_picked() {
    let mut snapshot = snapshot(&["a", "b"]);
    let mut feed = Feed::new(Pick { only: Some("b".into()), least: LogLevel::Error });
    push(&mut snapshot, 0, line(1, "error a"));
    push(&mut snapshot, 1, line(2, "fine"));
    push(&mut snapshot, 1, line(3, "error b"));
    feed.look(&snapshot);
    assert_eq!(texts(&feed, &snapshot), ["error b"]);
}

proptest! {
    #[test]
    fn nothing_is_lost_doubled_or_kept_for_ever(steps in prop::collection::vec((0..2_usize, 0..40_i64, 1..400_usize), 1..60)) {
        let mut snapshot = snapshot(&["a", "b"]);
        let mut feed = Feed::new(ALL);
        let mut clock = 0;
        for (server, back, count) in steps {
            clock += 20;
            for n in 0..count {
                push(&mut snapshot, server, line(clock - back + i64::try_from(n).unwrap() / 100, "x"));
            }
            let before = feed.first;
            feed.look(&snapshot);
            prop_assert!(feed.first >= before);
            let kept: usize = snapshot.servers.iter().map(|server| server.stderr.len()).sum();
            prop_assert_eq!(texts(&feed, &snapshot).len(), kept);
            prop_assert!(feed.lines.len() <= kept + GONE);
            prop_assert!(feed.lines.iter().is_sorted_by_key(|line| line.at));
        }
    }
}
