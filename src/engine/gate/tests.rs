//! Tables of the gate: policy precedence, the verdict for every combination, and the desk's one end.

#![expect(clippy::needless_pass_by_value, reason = "tables read better with values in place")]

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::desk::{Approval, Decided, Desk, Ending, Question, Surroundings};
use super::policy::{glob, policy, unmatched};
use super::*;
use crate::clock::Timestamp;
use crate::config::model::{ApprovalRule, ApprovalSettings};
use crate::engine::command::{self, Shown};
use crate::engine::snapshot::{Caller, Withdrawal};
use crate::ids::{ConnectionName, SeatHandle, ServerName};
use crate::tool::catalog::Source;
use crate::tool::names::Names;
use crate::tool::{Catalog, ConfigRef, Listing};

fn catalog(tools: &[Value]) -> Catalog {
    let mut listing = Listing::default();
    for tool in tools {
        listing.push(tool);
    }
    let server = ServerName::new("notes");
    let source = Source {
        connection: ConnectionName::shared(&server),
        seat: None,
        server,
        identity: "notes".into(),
        prefix: "".into(),
        overrides: Arc::new([]),
        first_party: None,
        listing: Some(Arc::new(listing)),
    };
    Catalog::place(&[source], &Names::default()).0
}

fn tool(name: &str, annotations: &Value) -> Value {
    json!({"name": name, "inputSchema": {"type": "object"}, "annotations": annotations})
}

fn entry(annotations: Value) -> Arc<Entry> {
    catalog(&[tool("t", &annotations)]).entries()[0].clone()
}

fn destructive() -> Arc<Entry> {
    entry(json!({"destructiveHint": true}))
}

fn rule(tool: &str, seat: Option<&str>, decision: PolicyDecision, line: u32) -> ApprovalRule {
    let place = ConfigRef { file: "config.yaml".into(), line };
    ApprovalRule { tool: tool.into(), seat: seat.map(Into::into), decision, place }
}

#[test]
fn class_defaults_hold_where_no_rule_matches() {
    let settings = ApprovalSettings::default();
    for (annotations, decision, by) in [
        (json!({"readOnlyHint": true}), PolicyDecision::Allow, "class read -> allow (default)"),
        (json!({"destructiveHint": false}), PolicyDecision::Allow, "class write -> allow (default)"),
        (json!({"destructiveHint": true}), PolicyDecision::Ask, "class destructive -> ask (default)"),
        (json!({}), PolicyDecision::Ask, "class unknown -> ask (default)"),
        (json!({"readOnlyHint": false}), PolicyDecision::Ask, "class unknown -> ask (default)"),
        (json!({"readOnlyHint": "true"}), PolicyDecision::Ask, "class unknown -> ask (default)"),
    ] {
        let answer = policy(&settings, &entry(annotations), None);
        assert_eq!((answer.decision, &*answer.by), (decision, by));
    }
}

#[test]
fn the_strictest_matching_rule_counts_and_beats_the_class() {
    use PolicyDecision::{Allow, Ask, Deny, Type};
    let all = [Allow, Ask, Type, Deny];
    for first in all {
        for second in all {
            let settings = ApprovalSettings {
                rules: vec![rule("notes/*", None, first, 3), rule("notes/t", None, second, 4)],
                ..ApprovalSettings::default()
            };
            let answer = policy(&settings, &destructive(), None);
            assert_eq!(answer.decision, first.max(second), "{first:?} and {second:?}");
        }
    }
    let settings = ApprovalSettings { rules: vec![rule("notes/t", None, Allow, 9)], ..ApprovalSettings::default() };
    assert_eq!(&*policy(&settings, &destructive(), None).by, "rule notes/t -> allow (config.yaml:9)");
}

#[test]
fn a_rule_for_a_seat_is_for_no_other_caller() {
    let settings = ApprovalSettings {
        rules: vec![rule("notes/t", Some("rel*"), PolicyDecision::Deny, 1)],
        ..ApprovalSettings::default()
    };
    let decision = |seat: Option<&str>| policy(&settings, &destructive(), seat.map(SeatHandle::from).as_ref()).decision;
    assert_eq!(decision(Some("release")), PolicyDecision::Deny);
    assert_eq!(decision(Some("other")), PolicyDecision::Ask);
    assert_eq!(decision(None), PolicyDecision::Ask);
}

#[test]
fn a_rule_that_matches_no_tool_is_reported() {
    let settings = ApprovalSettings {
        rules: vec![rule("notes/t", None, PolicyDecision::Ask, 1), rule("notse/t", None, PolicyDecision::Deny, 2)],
        ..ApprovalSettings::default()
    };
    let idle = unmatched(&settings, &catalog(&[tool("t", &json!({}))]));
    assert_eq!(idle.iter().map(|rule| rule.place.line).collect::<Vec<_>>(), [2]);
}

#[test]
fn globs() {
    for (pattern, text, matches) in [
        ("*", "", true),
        ("a/*", "a/b/c", true),
        ("a/*c", "a/bcbc", true),
        ("a/?", "a/", false),
        ("a/?", "a/é", true),
        ("*del*", "notes/delete", true),
        ("a", "ab", false),
        ("", "a", false),
        ("a**b", "ab", true),
        ("A", "a", false),
    ] {
        assert_eq!(glob(pattern, text), matches, "{pattern} on {text}");
    }
    assert!(!glob(&"*a".repeat(30), &"b".repeat(10_000)), "no blow-up");
}

fn verdict(
    entry: &Entry,
    decision: PolicyDecision,
    consent: Consent,
    attendance: Attendance,
    audit: AuditState,
) -> String {
    let answer = PolicyAnswer { decision, by: "test".into() };
    let case = Case {
        call: &CallId::new("c1"),
        entry,
        arguments: &Arguments::empty(),
        answer: &answer,
        decider: &"policy".into(),
        class: entry.class(),
        consent: &consent,
        attendance,
        audit,
        changed: Changed::No,
    };
    match judge(&case) {
        Verdict::Allow { decider, .. } => format!("allow by {decider}"),
        Verdict::Ask(tier) => format!("ask {tier:?}"),
        Verdict::Refuse { .. } => "refuse".to_owned(),
    }
}

#[test]
fn verdicts_for_every_combination_of_decision_consent_and_attendance() {
    use PolicyDecision::{Allow, Ask, Deny, Type};
    let none = || Consent::None;
    let shell = || Consent::Shell("root".into());
    let rows = [
        (Allow, none(), ["allow by policy", "allow by policy", "allow by policy"]),
        (Allow, shell(), ["allow by policy", "allow by policy", "allow by policy"]),
        (Ask, none(), ["ask Arm", "refuse", "refuse"]),
        (Ask, shell(), ["allow by shell:root", "refuse", "allow by shell:root"]),
        (Type, none(), ["ask Type", "refuse", "refuse"]),
        (Type, shell(), ["ask Type", "refuse", "refuse"]),
        (Deny, none(), ["refuse", "refuse", "refuse"]),
        (Deny, shell(), ["refuse", "refuse", "refuse"]),
    ];
    for (decision, consent, expected) in rows {
        let attendances = [Attendance::Person, Attendance::ReadOnly, Attendance::Nobody];
        for (attendance, expected) in attendances.into_iter().zip(expected) {
            let got = verdict(&destructive(), decision, consent.clone(), attendance, AuditState::Good);
            assert_eq!(got, expected, "{decision:?} {consent:?} {attendance:?}");
        }
    }
}

#[test]
fn a_write_is_pressed_everything_worse_is_armed() {
    for (annotations, expected) in [
        (json!({"readOnlyHint": true}), "ask Press"),
        (json!({"destructiveHint": false}), "ask Press"),
        (json!({"destructiveHint": true}), "ask Arm"),
        (json!({}), "ask Arm"),
    ] {
        let got =
            verdict(&entry(annotations), PolicyDecision::Ask, Consent::None, Attendance::Person, AuditState::Good);
        assert_eq!(got, expected);
    }
}

#[test]
fn without_an_audit_only_proven_reads_run() {
    let broken = |annotations: Value| {
        let entry = entry(annotations);
        verdict(&entry, PolicyDecision::Allow, Consent::None, Attendance::Person, AuditState::Broken)
    };
    assert_eq!(broken(json!({"readOnlyHint": true})), "allow by policy");
    assert_eq!(broken(json!({"destructiveHint": false})), "refuse");
    assert_eq!(broken(json!({})), "refuse");
}

#[test]
fn a_definition_that_changed_under_a_question_is_looked_at_again() {
    let answer = PolicyAnswer { decision: PolicyDecision::Allow, by: "test".into() };
    let read = entry(json!({"readOnlyHint": true}));
    let case = Case {
        call: &CallId::new("c1"),
        entry: &read,
        arguments: &Arguments::empty(),
        answer: &answer,
        decider: &"policy".into(),
        class: read.class(),
        consent: &Consent::None,
        attendance: Attendance::Person,
        audit: AuditState::Good,
        changed: Changed::SinceAsked,
    };
    assert!(matches!(judge(&case), Verdict::Ask(Tier::Press)));
}

fn ask(
    desk: &mut Desk,
    call: &str,
    entry: &Arc<Entry>,
    arguments: &Arguments,
) -> (crate::ids::ApprovalId, oneshot::Receiver<Ending>) {
    let (end, ending) = oneshot::channel();
    let question = Question {
        call: CallId::new(call),
        caller: Caller::Console,
        entry: entry.clone(),
        arguments: arguments.clone(),
        confirm_set: false,
        tier: Tier::Arm,
        policy_by: "test".into(),
        wait: Duration::from_secs(300),
        end,
    };
    let id = desk.ask(question, Surroundings::default(), arguments.clone().into(), Timestamp::from_millis(0));
    (id, ending)
}

#[tokio::test(start_paused = true)]
async fn an_approval_is_for_exactly_what_was_shown_and_works_once() {
    let mut desk = Desk::default();
    let entry = destructive();
    let arguments = Arguments::parse(r#"{"id":"a"}"#).unwrap();
    let other = Arguments::parse(r#"{"id":"b"}"#).unwrap();
    let (id, ending) = ask(&mut desk, "c1", &entry, &arguments);
    let (_, mut waits) = ask(&mut desk, "c2", &entry, &arguments);
    let approve = || command::Verdict::Approve;
    let milder = self::entry(json!({"readOnlyHint": true})).fingerprint;
    assert_eq!(
        desk.decide(Shown { approval: id, arguments: other.digest(), fingerprint: entry.fingerprint }, approve(), None),
        Decided::Differs
    );
    assert_eq!(
        desk.decide(Shown { approval: id, arguments: arguments.digest(), fingerprint: milder }, approve(), None),
        Decided::Differs
    );
    assert_eq!(
        desk.decide(
            Shown { approval: id, arguments: arguments.digest(), fingerprint: entry.fingerprint },
            approve(),
            None
        ),
        Decided::Done
    );
    assert_eq!(
        desk.decide(
            Shown { approval: id, arguments: arguments.digest(), fingerprint: entry.fingerprint },
            approve(),
            None
        ),
        Decided::TooLate
    );
    let Ok(Ending::Approved(Approval { permit, .. })) = ending.await else { panic!("approved") };
    assert!(permit.redeem(&entry, &arguments).is_some());
    assert!(waits.try_recv().is_err(), "the other question still waits");
}

#[tokio::test(start_paused = true)]
async fn a_permit_is_worth_nothing_for_other_arguments_or_another_definition() {
    let mut desk = Desk::default();
    let entry = destructive();
    let arguments = Arguments::parse(r#"{"id":"a"}"#).unwrap();
    let other = Arguments::parse(r#"{"id":"b"}"#).unwrap();
    for (definition, sent, redeems) in [
        (self::entry(json!({"destructiveHint": true, "title": "x"})), &arguments, false),
        (entry.clone(), &other, false),
        (entry.clone(), &arguments, true),
    ] {
        let (id, ending) = ask(&mut desk, "c1", &entry, &arguments);
        desk.decide(
            Shown { approval: id, arguments: arguments.digest(), fingerprint: entry.fingerprint },
            command::Verdict::Approve,
            None,
        );
        let Ok(Ending::Approved(Approval { permit, .. })) = ending.await else { panic!("approved") };
        assert_eq!(permit.redeem(&definition, sent).is_some(), redeems);
    }
}

#[tokio::test(start_paused = true)]
async fn questions_expire_and_follow_the_catalog() {
    let mut desk = Desk::default();
    let before = catalog(&[tool("stays", &json!({})), tool("turns", &json!({})), tool("goes", &json!({}))]);
    let after = catalog(&[tool("stays", &json!({})), tool("turns", &json!({"readOnlyHint": true}))]);
    let mut endings = Vec::new();
    for entry in before.entries() {
        endings.push(ask(&mut desk, "c", entry, &Arguments::empty()).1);
    }
    desk.follow(&before);
    assert_eq!(desk.views().len(), 3);
    desk.follow(&after);
    let mut ends = endings.into_iter();
    let (mut stays, turns, goes) = (ends.next().unwrap(), ends.next().unwrap(), ends.next().unwrap());
    assert!(matches!(turns.await, Ok(Ending::Withdrawn(Withdrawal::DefinitionChanged))));
    assert!(matches!(goes.await, Ok(Ending::Withdrawn(Withdrawal::ServerGone))));
    assert!(stays.try_recv().is_err());
    assert!(!desk.expire(Instant::now() + Duration::from_secs(299)));
    assert!(desk.expire(Instant::now() + Duration::from_secs(300)));
    assert!(matches!(stays.await, Ok(Ending::Expired)));
    assert!(desk.next_expiry().is_none());
}

#[test]
fn without_an_audit_no_tool_that_may_destroy_runs_whatever_else_it_says() {
    use serde_json::Value as Json;
    let values = [Json::Null, json!(true), json!(false), json!("true")];
    for read_only in &values {
        for destructive in &values {
            let entry = entry(json!({"readOnlyHint": read_only, "destructiveHint": destructive}));
            let got = verdict(&entry, PolicyDecision::Allow, Consent::None, Attendance::Person, AuditState::Broken);
            let is_read = read_only == &json!(true) && matches!(destructive, Json::Null | Json::Bool(false));
            assert_eq!(got == "allow by policy", is_read, "{read_only} {destructive}: {got}");
        }
    }
}
