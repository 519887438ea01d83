//! The card around a decision: after a stop of the program, where there is no room, and when nothing is decided any
//! more.

use std::sync::Arc;

use crossterm::event::KeyCode;

use super::Outcome;
use super::fixtures::{approval, delete_branch, ended};
use super::tests::{Bench, SHORT, approves, verdict};
use crate::engine::snapshot::{CallPhase, Caller, ResultView, Tier};
use crate::tui::intent::Intent;

#[test]
fn after_a_stop_nothing_that_was_begun_counts_and_keys_are_dead() {
    let mut bench = Bench::destructive();
    bench.press(600, 'y');
    bench.card.interrupt(bench.at(700));
    assert!(!bench.text(1_250).contains("ARMED"));
    assert!(!approves(&bench.press(1_100, 'y')), "disarmed and dead");
    bench.press(1_300, 'y');
    assert!(approves(&bench.press(1_700, 'y')), "two new presses");

    let mut bench = Bench::new(vec![approval(1, delete_branch(), SHORT, Tier::Press)]);
    bench.card.tick(bench.at(500), &bench.snapshot);
    bench.press(600, 'y');
    bench.card.interrupt(bench.at(650));
    assert_eq!(bench.card.tick(bench.at(800), &bench.snapshot), Outcome::default(), "a held-back press is forgotten");

    let mut bench = Bench::destructive();
    bench.press(600, 'n');
    bench.write(800, "no");
    bench.card.interrupt(bench.at(1_200));
    assert_eq!(bench.code(1_300, None, KeyCode::Enter), Outcome::default(), "dead");
    assert!(verdict(&bench.code(1_800, None, KeyCode::Enter)).is_some(), "the reason stayed");
}

#[test]
fn a_decided_card_is_closed_by_any_of_three_keys_and_shows_the_result() {
    for (intent, code) in [(None, KeyCode::Enter), (None, KeyCode::Char('q')), (Some(Intent::Back), KeyCode::Esc)] {
        let mut bench = Bench::destructive();
        bench.press(600, 'y');
        bench.press(1_000, 'y');
        assert!(!bench.code(1_200, None, KeyCode::Enter).close, "not while it is being sent");
        bench.end(0, CallPhase::Done { is_error: false });
        assert_eq!(bench.code(2_000, intent, code), Outcome { close: true, effects: Vec::new() }, "{code:?}");
    }
    let lines: Vec<String> = (1..=12).map(|line| format!("result line {line}")).collect();
    for (size, is_error) in [((80, 24), false), ((80, 24), true), ((120, 40), false)] {
        let mut bench = Bench::sized(vec![approval(1, delete_branch(), SHORT, Tier::Press)], size);
        bench.press(600, 'y');
        bench.snapshot = ended(&bench.snapshot, 0, CallPhase::Done { is_error });
        let mut call = (*bench.snapshot.calls[0]).clone();
        let text = lines.join("\n").into();
        call.result = Some(Arc::new(ResultView { text, is_error, redacted: false }));
        bench.snapshot.calls[0] = Arc::new(call);
        bench.layout();
        let text = bench.text(1_100);
        assert!(lines.iter().all(|line| text.contains(line)), "{size:?}\n{text}");
        assert!(text.contains(if is_error { "Tool error" } else { "Executed" }), "{text}");
        assert_eq!(text.contains("Executed"), !is_error, "{text}");
    }
}

#[test]
fn a_card_that_is_too_small_offers_only_what_works() {
    let mut own = approval(1, delete_branch(), SHORT, Tier::Arm);
    own.caller = Caller::Console;
    let bench = Bench::sized(vec![own], (40, 12));
    let text = bench.text(700);
    assert!(text.contains("n deny…") && text.contains("d all arguments"), "{text}");
    for words in ["y ", "Tab", "x stop", "e edit", "r remember"] {
        assert!(!text.contains(words), "{words}\n{text}");
    }
}

#[test]
fn the_title_and_the_first_sentences_say_what_the_tool_does() {
    let mut tool = delete_branch();
    tool.title = "Branch remover".into();
    tool.description = "\nDeletes a branch.\nIt cannot be undone.\n\nSecond paragraph.".into();
    let text = Bench::new(vec![approval(1, tool, SHORT, Tier::Arm)]).text(700);
    assert!(text.contains("\"Branch remover: Deletes a branch. It cannot be undone.\""), "{text}");
    assert!(!text.contains("Second paragraph"), "{text}");
}
