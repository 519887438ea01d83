//! The calls pane.

use std::sync::Arc;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use proptest::prelude::*;

use super::*;
use crate::engine::snapshot::{ResultView, Tier, Withdrawal};
use crate::ids::ApprovalId;
use crate::tui::card::fixtures::{
    approval, assert_clean, call_of, delete_branch, drawing, hostile, screen, screen_text, snapshot,
};

/// Calls in different phases, oldest first.
fn calls() -> Snapshot {
    let arguments = r#"{"branch":"main","repo":"acme/api"}"#;
    let phases = [
        CallPhase::Done { is_error: false },
        CallPhase::Denied { reason: "wrong repo".into() },
        CallPhase::Unknown { reason: "the server ended".into() },
        CallPhase::Withdrawn(Withdrawal::CallerGone),
        CallPhase::Running,
        CallPhase::Waiting(ApprovalId(6)),
    ];
    let mut all = snapshot(vec![approval(6, delete_branch(), arguments, Tier::Arm)]);
    all.calls = phases
        .into_iter()
        .zip(1..)
        .map(|(phase, id)| {
            let mut call = call_of(&approval(id, delete_branch(), arguments, Tier::Arm), phase);
            call.caller = if id % 2 == 1 { Caller::Console } else { call.caller };
            call.result = (id == 1).then(|| {
                Arc::new(ResultView { text: "deleted\nmain was at 9f2c".into(), is_error: false, redacted: true })
            });
            Arc::new(call)
        })
        .collect();
    all
}

fn shown(pane: &mut CallsPane, snapshot: &Snapshot, (width, height): (u16, u16)) -> String {
    let area = screen(width, height);
    pane.layout(area, snapshot);
    let mut buf = Buffer::empty(area);
    drawing(snapshot, |draw| pane.render(&mut buf, draw));
    assert_clean(&buf);
    screen_text(&buf)
}

fn id(number: u64) -> CallId {
    CallId::from(format!("c{number:010}").as_str())
}

#[test]
fn the_newest_is_followed_until_the_selection_moves() {
    let mut pane = CallsPane::default();
    let mut all = calls();
    let newest = all.calls.pop().unwrap();
    pane.layout(screen(120, 40), &all);
    assert_eq!(pane.two.pick.id(), Some(&id(5)));
    all.calls.push(newest.clone());
    pane.layout(screen(120, 40), &all);
    assert_eq!(pane.two.pick.id(), Some(&id(6)), "followed");
    pane.apply(Intent::Down, &all);
    all.calls.push(Arc::new(CallView { id: id(7), ..(*newest).clone() }));
    pane.layout(screen(120, 40), &all);
    assert_eq!(pane.two.pick.id(), Some(&id(5)), "it stays on the same call");
    pane.apply(Intent::Follow, &all);
    assert_eq!(pane.two.pick.id(), Some(&id(7)));
}

#[test]
fn an_approved_call_whose_caller_is_away_is_not_said_to_be_sent() {
    let mut all = calls();
    let waiting = all.calls.pop().unwrap();
    all.approvals.clear();
    all.calls.push(Arc::new(CallView { decider: Some("person:ada".into()), ..(*waiting).clone() }));
    let text = shown(&mut CallsPane::default(), &all, (120, 40));
    assert!(text.contains("approved, for its caller to come"), "{text}");
    assert!(!text.contains("Enter opens the card"), "{text}");
}

#[test]
fn a_call_that_is_not_there_yet_is_shown_when_it_comes() {
    let mut pane = CallsPane::default();
    let mut all = calls();
    let newest = all.calls.pop().unwrap();
    pane.layout(screen(120, 40), &all);
    pane.apply(Intent::Down, &all);
    pane.apply(Intent::Next, &all);
    pane.show_call(&newest.id);
    pane.layout(screen(120, 40), &all);
    let other = Arc::new(CallView { id: id(9), ..(*newest).clone() });
    all.calls.extend([newest, other]);
    let text = shown(&mut pane, &all, (120, 40));
    assert_eq!(pane.two.pick.id(), Some(&id(6)), "{text}");
    assert!(text.contains("audit why          │\n") && text.contains("c0000000006)"), "with its detail: {text}");
    pane.apply(Intent::Down, &all);
    assert_eq!(pane.two.pick.id(), Some(&id(5)), "the list has the keys");

    pane.show_call(&id(77));
    pane.layout(screen(120, 40), &all);
    pane.apply(Intent::Bottom, &all);
    all.calls.push(Arc::new(CallView { id: id(77), ..(*all.calls[0]).clone() }));
    pane.layout(screen(120, 40), &all);
    assert_eq!(pane.two.pick.id(), Some(&id(1)), "somebody who has gone elsewhere stays there");
}

#[test]
fn only_own_calls_that_are_not_over_are_given_up() {
    let all = calls();
    let mut pane = CallsPane::default();
    let mut cancel = |number| {
        pane.show_call(&id(number));
        pane.layout(screen(120, 40), &all);
        pane.apply(Intent::CancelCall, &all)
    };
    assert_eq!(cancel(5), [Effect::Send(Command::Cancel(id(5)))]);
    for (number, words) in [(6, "of your own"), (1, "is over"), (2, "is over")] {
        let effects = cancel(number);
        assert!(matches!(&effects[..], [Effect::Complain(text)] if text.contains(words)), "{number}: {effects:?}");
    }
}

#[test]
fn opening_a_waiting_call_opens_its_card_and_any_other_its_detail() {
    let all = calls();
    let mut pane = CallsPane::default();
    pane.layout(screen(80, 24), &all);
    assert_eq!(pane.apply(Intent::Open, &all), [Effect::OpenCard(ApprovalId(6))]);
    pane.apply(Intent::Bottom, &all);
    assert_eq!(pane.apply(Intent::Open, &all), []);
    let text = shown(&mut pane, &all, (80, 24));
    for words in ["audit why c0000000001", "main was at 9f2c", "secrets replaced", "by you (person)", "config.yaml:7"] {
        assert!(text.contains(words), "{words}\n{text}");
    }
    pane.apply(Intent::Back, &all);
    assert!(shown(&mut pane, &all, (80, 24)).contains("phase"));
}

#[test]
fn the_filter_takes_words_and_pairs() {
    let all = calls();
    let table = [
        ("", 6),
        ("wrong", 0),
        ("phase:den", 1),
        ("release", 3),
        ("class:destr branch", 6),
        ("class:read", 0),
        ("server:git", 6),
    ];
    for (filter, count) in table {
        let mut pane = CallsPane::default();
        pane.layout(screen(120, 40), &all);
        pane.apply(Intent::Search, &all);
        assert!(pane.typing());
        for c in filter.chars() {
            pane.field().unwrap().key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE));
        }
        pane.field().unwrap().key(KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE));
        pane.layout(screen(120, 40), &all);
        assert!(!pane.typing());
        assert_eq!(pane.rows.len(), count, "{filter}");
    }
}

#[test]
fn golden_screens() {
    for size in [(120, 40), (80, 24), (40, 12)] {
        let mut pane = CallsPane::default();
        let all = calls();
        insta::assert_snapshot!(format!("calls_{}x{}", size.0, size.1), shown(&mut pane, &all, size));
    }
    let (mut pane, all) = (CallsPane::default(), calls());
    pane.show_call(&id(1));
    pane.apply(Intent::Next, &all);
    insta::assert_snapshot!("calls_detail_80x24", shown(&mut pane, &all, (80, 24)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_size_and_any_text_is_survived(
        (width, height) in (0_u16..130, 0_u16..40),
        text in "[\\PC\u{9b}\u{1b}\n\u{202e}]{0,300}",
        steps in prop::collection::vec(0_usize..8, 0..12),
    ) {
        let mut all = calls();
        let mut call = (*all.calls[5]).clone();
        call.name = text.as_str().into();
        call.phase = CallPhase::Failed { reason: text.as_str().into() };
        call.arguments = Some(crate::tool::Arguments::parse(&hostile().to_string()).unwrap().into());
        call.result = Some(Arc::new(ResultView { text: text.as_str().into(), is_error: true, redacted: false }));
        all.calls.push(Arc::new(call));
        let mut pane = CallsPane::default();
        let moves = [Intent::Next, Intent::Down, Intent::Bottom, Intent::PageUp, Intent::Open, Intent::Back, Intent::CycleClass, Intent::Search];
        for step in steps {
            shown(&mut pane, &all, (width, height));
            pane.apply(moves[step], &all);
        }
        shown(&mut pane, &all, (width, height));
        shown(&mut pane, &all, (height, width));
    }
}
