//! The approvals view: waiting calls, stopped seats, grants.

use super::*;
use std::sync::Arc;
use std::time::Duration;

use crate::engine::command::{Command, GrantScope, Verdict};
use crate::engine::snapshot::{CallPhase, GrantView, Tier};
use crate::ids::{GrantId, ServerName};
use crate::tui::card::fixtures::{
    NOON, approval, assert_clean, delete_branch, drawing, ended, screen, screen_text, snapshot,
};

fn queue(count: u64) -> Snapshot {
    let arguments = r#"{"branch":"main","repo":"acme/api"}"#;
    snapshot((1..=count).map(|id| approval(id, delete_branch(), arguments, Tier::Arm)).collect())
}

fn shown(pane: &mut ApprovalsPane, snapshot: &Snapshot, (width, height): (u16, u16)) -> String {
    let area = screen(width, height);
    pane.layout(area, snapshot);
    let mut buf = Buffer::empty(area);
    drawing(snapshot, |draw| pane.render(&mut buf, draw));
    assert_clean(&buf);
    screen_text(&buf)
}

#[test]
fn opening_is_about_the_selected_question_whatever_arrives() {
    let mut pane = ApprovalsPane::default();
    let three = queue(3);
    pane.layout(screen(80, 24), &three);
    pane.apply(Intent::Down, &three);
    let many = queue(50);
    pane.layout(screen(80, 24), &many);
    assert_eq!(pane.apply(Intent::Open, &many), [Effect::OpenCard(ApprovalId(2))]);
    let gone = ended(&many, 1, CallPhase::Expired);
    assert_eq!(pane.apply(Intent::Open, &gone), [], "what has gone cannot be opened");
    pane.layout(screen(80, 24), &gone);
    assert_eq!(pane.apply(Intent::Open, &gone), [Effect::OpenCard(ApprovalId(3))]);
}

#[test]
fn an_empty_queue_explains_itself() {
    let mut pane = ApprovalsPane::default();
    let mut none = queue(0);
    assert!(shown(&mut pane, &none, (80, 24)).contains("Nothing waits for you."));
    assert_eq!(pane.apply(Intent::Open, &none), []);
    none.read_only = true;
    assert!(shown(&mut pane, &none, (80, 24)).contains("--read-only"));
}

#[test]
fn golden_screens() {
    for size in [(120, 40), (80, 24), (40, 12)] {
        let text = shown(&mut ApprovalsPane::default(), &queue(3), size);
        insta::assert_snapshot!(format!("approvals_{}x{}", size.0, size.1), text);
    }
}

#[test]
fn every_size_is_survived() {
    let many = queue(40);
    let mut pane = ApprovalsPane::default();
    for width in 0..60 {
        for height in 0..14 {
            shown(&mut pane, &many, (width, height));
            pane.apply(Intent::PageDown, &many);
        }
    }
}

/// A seat that is stopped, and two grants, one of them suspended.
fn desk() -> Snapshot {
    let mut all = queue(2);
    all.stopped_seats = vec![StoppedSeat { seat: SeatHandle::from("intern"), since: NOON, refused: 3 }];
    let grant = |id, scope, suspended: Option<&str>| {
        Arc::new(GrantView {
            id: GrantId(id),
            seat: Some(SeatHandle::from("release")),
            server: ServerName::from("github"),
            connection: "github::release".into(),
            tool: "github_delete_branch".into(),
            scope,
            arguments: (scope == GrantScope::ThisCall).then(|| all.approvals[0].arguments.clone()),
            given_at: NOON,
            expires_at: (scope == GrantScope::ThisCall).then(|| NOON.plus(Duration::from_secs(600))),
            uses: 4,
            suspended: suspended.map(Into::into),
        })
    };
    all.grants = vec![
        grant(1, GrantScope::ThisCall, None),
        grant(2, GrantScope::ThisTool, Some("the definition changed at 14:02")),
    ];
    all
}

fn asked(effects: &[Effect]) -> Effect {
    let [Effect::Ask(question)] = effects else { panic!("{effects:?}") };
    (*question.yes).clone()
}

#[test]
fn grants_are_listed_and_revoking_asks_first() {
    let (mut pane, all) = (ApprovalsPane::default(), desk());
    shown(&mut pane, &all, (80, 24));
    assert_eq!(pane.apply(Intent::Grants, &all), []);
    let text = shown(&mut pane, &all, (80, 24));
    assert!(text.contains("SUSPENDED") && text.contains("only with the arguments sha256"), "{text}");
    pane.apply(Intent::Down, &all);
    let text = shown(&mut pane, &all, (80, 24));
    assert!(text.contains("does not count: the definition changed at 14:02"), "{text}");
    assert_eq!(asked(&pane.apply(Intent::Revoke, &all)), Effect::Send(Command::Revoke(GrantId(2))));
    pane.apply(Intent::Back, &all);
    assert_eq!(pane.page(), Page::Waiting);
    assert!(pane.apply(Intent::Revoke, &all).is_empty(), "nothing is revoked that is not shown");
}

#[test]
fn stopped_seats_are_listed_and_released() {
    let (mut pane, all) = (ApprovalsPane::default(), desk());
    let text = shown(&mut pane, &all, (120, 24));
    assert!(text.contains("every call of seat intern") && text.contains("3 calls refused"), "{text}");
    assert_eq!(
        asked(&pane.apply(Intent::StopSeat, &all)),
        Effect::Send(Command::StopSeat(SeatHandle::from("release")))
    );
    pane.apply(Intent::Bottom, &all);
    let release = Effect::Send(Command::ReleaseSeat(SeatHandle::from("intern")));
    assert_eq!(asked(&pane.apply(Intent::ReleaseSeat, &all)), release);
    assert_eq!(asked(&pane.apply(Intent::Open, &all)), release);
}

#[test]
fn everything_is_denied_in_one_step() {
    let mut pane = ApprovalsPane::default();
    let arguments = r#"{"branch":"main"}"#;
    let other = crate::tui::card::fixtures::entry("git", "push", [crate::tool::Hint::No; 4]);
    let all = snapshot(vec![
        approval(1, delete_branch(), arguments, Tier::Arm),
        approval(2, other, arguments, Tier::Press),
        approval(3, delete_branch(), arguments, Tier::Arm),
        approval(4, delete_branch(), arguments, Tier::Type),
    ]);
    shown(&mut pane, &all, (80, 24));
    let sent = asked(&pane.apply(Intent::DenyAll, &all));
    let shown = all.approvals.iter().map(|approval| approval.shown()).collect();
    let deny = Verdict::Deny { reason: String::new() };
    assert_eq!(sent, Effect::Send(Command::DecideAll(shown, deny)));
    assert!(pane.apply(Intent::DenyAll, &queue(0)).is_empty());
}

#[test]
fn nothing_is_changed_under_read_only() {
    let (mut pane, mut all) = (ApprovalsPane::default(), desk());
    all.read_only = true;
    for grants in [false, true] {
        for intent in [Intent::StopSeat, Intent::ReleaseSeat, Intent::DenyAll, Intent::Revoke] {
            assert!(matches!(pane.apply(intent, &all).as_slice(), [Effect::Complain(_)]), "{grants} {intent:?}");
        }
        pane.apply(Intent::Grants, &all);
    }
}

#[test]
fn golden_desks() {
    for size in [(120, 40), (80, 24), (40, 12)] {
        let mut pane = ApprovalsPane::default();
        insta::assert_snapshot!(format!("stopped_{}x{}", size.0, size.1), shown(&mut pane, &desk(), size));
        pane.apply(Intent::Grants, &desk());
        insta::assert_snapshot!(format!("grants_{}x{}", size.0, size.1), shown(&mut pane, &desk(), size));
    }
}
