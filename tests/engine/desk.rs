//! The desk through the handle: edited arguments, remembered decisions, several at once, stopped seats, repetitions.

use std::time::Duration;

use crewlet_tui::engine::audit::{Decision, Kind};
use crewlet_tui::engine::command::{Command, GrantScope, Remember, Shown, Verdict};
use crewlet_tui::engine::gate::Attendance;
use crewlet_tui::engine::snapshot::{ApprovalView, CallPhase, Withdrawal};
use crewlet_tui::secret::Secret;
use crewlet_tui::tool::{Arguments, Digest};
use serde_json::json;

use crate::bench::{CONFIG, bench, bench_with, delete, request, request_by, tools};
use crate::scripted::Reaction;

const DONE: CallPhase = CallPhase::Done { is_error: false };

fn edited(text: &str) -> Verdict {
    Verdict::ApproveEdited(Arguments::parse(text).expect("arguments"))
}

fn remember(scope: GrantScope, minutes: Option<u64>) -> Verdict {
    Verdict::ApproveAndRemember(Remember { scope, span: minutes.map(|minutes| Duration::from_secs(60 * minutes)) })
}

fn deny(reason: &str) -> Verdict {
    Verdict::Deny { reason: reason.into() }
}

fn all(questions: &[std::sync::Arc<ApprovalView>]) -> Vec<Shown> {
    questions.iter().map(|question| question.shown()).collect()
}

#[tokio::test(start_paused = true)]
async fn edited_arguments_are_what_is_hashed_recorded_sent_and_told() {
    let bench = bench().await;
    bench.redactor.learn([Secret::new("canary-3f9a1c77")]);
    let call = bench.start_call(request("delete", r#"{"id":"a","confirm":true}"#));
    let report = bench.answered(call, edited(r#"{"id":"b","token":"canary-3f9a1c77","confirm":false}"#)).await;
    assert_eq!(report.phase, DONE);
    let sent = r#"{"confirm":true,"id":"b","token":"canary-3f9a1c77"}"#;
    assert_eq!(bench.server.ledger(), [("delete".to_owned(), sent.to_owned())]);
    assert!(report.message.contains("a person changed the arguments"), "{}", report.message);
    assert!(report.message.contains(r#"{"confirm":true,"id":"b","token":"[REDACTED:secret]"}"#), "{}", report.message);
    assert!(report.message.ends_with("ok"), "{}", report.message);
    let (before, after) = (Digest::of(br#"{"confirm":true,"id":"a"}"#), Digest::of(sent.as_bytes()));
    let digests: Vec<_> = bench.trail.records().iter().map(|record| (record.kind, record.args_sha256)).collect();
    assert_eq!(digests[..2], [(Kind::Received, Some(before)), (Kind::Asked, Some(before))]);
    assert_eq!(digests[2..], [Kind::Decided, Kind::Dispatched, Kind::Finished].map(|kind| (kind, Some(after))));
    let decided = bench.trail.records().into_iter().find(|record| record.kind == Kind::Decided).unwrap();
    let reason = decided.reason.unwrap();
    assert!(reason.contains("edited") && reason.contains(&before.to_string()), "{reason}");
    assert!(decided.args.unwrap().contains(r#""id":"b""#));
    let snapshot = bench.until(|s| s.calls.iter().all(|call| call.phase.is_over())).await;
    assert_eq!(snapshot.calls[0].arguments.as_ref().unwrap().digest(), after);
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_edit_that_changes_nothing_is_a_plain_approval() {
    let bench = bench().await;
    let call = bench.start_call(request("delete", r#"{"id":"a"}"#));
    let report = bench.answered(call, edited(r#"{ "id": "a" }"#)).await;
    assert_eq!((&*report.message, report.note), ("ok", None));
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_grant_is_for_one_seat_one_tool_and_its_time() {
    let bench = bench().await;
    let call = bench.start_call(request("mystery", r#"{"n":1}"#));
    bench.answered(call, remember(GrantScope::ThisTool, Some(10))).await;
    let grant = bench.until(|s| s.grants.len() == 1).await.grants[0].clone();
    assert_eq!((grant.seat.as_ref().unwrap().as_str(), &*grant.tool, grant.uses), ("release", "mystery", 0));
    assert!(!bench.asks(Some("release"), "mystery", r#"{"n":2}"#).await);
    assert!(bench.asks(Some("other"), "mystery", r#"{"n":2}"#).await);
    assert!(bench.asks(None, "mystery", r#"{"n":2}"#).await);
    assert!(bench.asks(Some("release"), "delete", r#"{"n":2}"#).await);
    let record = bench.trail.records().into_iter().filter(|record| record.kind == Kind::Dispatched).last().unwrap();
    assert_eq!(record.decider.as_deref(), Some("grant:1 by person:ada"));
    assert!(record.policy.unwrap().1.starts_with("grant 1 by person:ada: this tool, seat release; else class unknown"));
    let decided = bench.trail.records().into_iter().find(|record| record.kind == Kind::Decided).unwrap();
    assert_eq!(decided.reason.as_deref(), Some("remembered as grant 1 for this tool, 10 min"));
    assert_eq!(bench.until(|s| s.grants.iter().all(|grant| grant.uses == 1)).await.grants[0].uses, 1);
    // What a grant let through nobody looked at.
    let call = bench.start_call(request_by(Some("other"), "mystery", "{}"));
    assert_eq!(bench.question().await.history.approved, 1);
    bench.answered(call, deny("")).await;
    tokio::time::advance(Duration::from_secs(601)).await;
    bench.until(|s| s.grants.is_empty()).await;
    assert!(bench.asks(Some("release"), "mystery", r#"{"n":2}"#).await);
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_grant_for_exactly_one_call_covers_no_other_arguments() {
    let bench = bench().await;
    let call = bench.start_call(request("delete", r#"{"id":"a"}"#));
    bench.answered(call, remember(GrantScope::ThisCall, None)).await;
    assert!(!bench.asks(Some("release"), "delete", r#"{"id":"a"}"#).await);
    assert!(bench.asks(Some("release"), "delete", r#"{"id":"b"}"#).await);
    assert_eq!(bench.server.ledger().len(), 2);
    let grant = bench.until(|s| s.grants.iter().any(|grant| grant.uses == 1)).await.grants[0].clone();
    assert_eq!(grant.arguments.as_ref().unwrap().canonical(), r#"{"confirm":true,"id":"a"}"#);
    bench.handle.send(Command::Revoke(grant.id)).unwrap();
    bench.until(|s| s.grants.is_empty()).await;
    assert!(bench.asks(Some("release"), "delete", r#"{"id":"a"}"#).await);
    bench.handle.send(Command::Revoke(grant.id)).unwrap();
    bench.told("grant 1 had already ended").await;
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_changed_definition_suspends_a_grant_for_good() {
    let bench = bench().await;
    let call = bench.start_call(request("delete", r#"{"id":"a"}"#));
    bench.answered(call, remember(GrantScope::ThisTool, None)).await;
    let mut changed = delete();
    changed["description"] = json!("removes a note and its copies");
    bench.server.change_tools([changed]).await;
    let suspended = bench.until(|s| s.grants.iter().any(|grant| grant.suspended.is_some())).await;
    assert!(suspended.grants[0].suspended.as_ref().unwrap().contains("definition changed"));
    assert!(bench.asks(Some("release"), "delete", r#"{"id":"a"}"#).await);
    bench.server.change_tools(tools()).await;
    bench.until(|s| s.catalog.entries().len() == 5).await;
    assert!(bench.asks(Some("release"), "delete", r#"{"id":"a"}"#).await, "it does not come back by itself");
    // A new decision replaces it.
    let call = bench.start_call(request("delete", r#"{"id":"a"}"#));
    bench.answered(call, remember(GrantScope::ThisTool, None)).await;
    let grants = bench.until(|s| s.grants.iter().all(|grant| grant.suspended.is_none())).await.grants.clone();
    assert_eq!(grants.len(), 1);
    assert!(!bench.asks(Some("release"), "delete", r#"{"id":"b"}"#).await);
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_has_to_be_typed_is_never_remembered_and_a_span_is_at_most_a_day() {
    let typed = format!("{CONFIG}engine: {{ approvals: {{ unknown: type }} }}\n");
    let bench = bench_with(&typed, Attendance::Person).await;
    let call = bench.start_call(request("mystery", "{}"));
    let question = bench.question().await;
    bench.decide(&question, remember(GrantScope::ThisCall, Some(10)));
    bench.told("never remembered").await;
    assert_eq!(bench.handle.snapshot().approvals.len(), 1, "it still waits");
    bench.decide(&question, Verdict::Approve);
    assert_eq!(call.await.unwrap().phase, DONE);
    bench.questions(0).await;
    let call = bench.start_call(request("delete", "{}"));
    bench.answered(call, remember(GrantScope::ThisTool, Some(60 * 24 * 30))).await;
    let grant = bench.until(|s| s.grants.len() == 1).await.grants[0].clone();
    assert_eq!(grant.expires_at.unwrap().since(grant.given_at), Duration::from_secs(24 * 60 * 60));
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_call_that_a_grant_let_through_is_sent_once() {
    let config = format!("{CONFIG}engine: {{ approvals: {{ rules: [ {{ tool: notes/put, decision: ask }} ] }} }}\n");
    let bench = bench_with(&config, Attendance::Person).await;
    let call = bench.start_call(request("put", "{}"));
    bench.answered(call, remember(GrantScope::ThisTool, None)).await;
    bench.server.react([Reaction::HangUp]);
    let report = bench.call("put", "{}").await;
    assert!(matches!(report.phase, CallPhase::Unknown { .. }), "{:?}", report.phase);
    assert_eq!(bench.server.ledger().len(), 2, "idempotent, and yet a person's consent is for one sending");
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn calls_of_one_tool_are_approved_together_each_with_its_own_records() {
    let bench = bench().await;
    let calls = ["a", "b", "c"].map(|id| bench.start_call(request("delete", &json!({"id": id}).to_string())));
    let questions = bench.questions(3).await;
    bench.handle.send(Command::DecideAll(all(&questions), Verdict::Approve)).unwrap();
    for call in calls {
        assert_eq!(call.await.unwrap().phase, DONE);
    }
    assert_eq!(bench.server.ledger().len(), 3);
    let approved = |record: &crewlet_tui::engine::audit::Record| record.decision == Some(Decision::Approved);
    let ids: std::collections::HashSet<_> =
        bench.trail.records().into_iter().filter(approved).map(|record| record.call).collect();
    assert_eq!(ids.len(), 3);
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_batch_that_is_not_one_is_refused_whole() {
    let typed = format!("{CONFIG}engine: {{ approvals: {{ unknown: type }} }}\n");
    let bench = bench_with(&typed, Attendance::Person).await;
    for name in ["delete", "delete", "mystery", "mystery"] {
        bench.start_call(request(name, "{}"));
    }
    let waiting = bench.questions(4).await;
    let of = |name: &str| -> Vec<Shown> {
        waiting.iter().filter(|question| &*question.entry.name == name).map(|question| question.shown()).collect()
    };
    let (deletes, mysteries) = (of("delete"), of("mystery"));
    let mut changed = deletes.clone();
    changed[1].arguments = Digest::of(b"{}");
    for (batch, verdict, words) in [
        (all(&waiting), Verdict::Approve, "not about one tool"),
        (mysteries, Verdict::Approve, "has to be typed"),
        (changed.clone(), Verdict::Approve, "look again"),
        (changed, deny(""), "look again"),
        (vec![deletes[0], deletes[0]], Verdict::Approve, "named twice"),
        (deletes.clone(), edited("{}"), "approved or denied as they are"),
        (deletes.clone(), remember(GrantScope::ThisTool, None), "approved or denied as they are"),
        (Vec::new(), Verdict::Approve, "too late"),
    ] {
        bench.handle.send(Command::DecideAll(batch, verdict)).unwrap();
        let snapshot = bench.until(|s| s.notices.last().is_some_and(|notice| notice.text.contains(words))).await;
        assert_eq!(snapshot.approvals.len(), 4, "{words}");
    }
    bench.decide(&waiting[0], deny("one"));
    bench.questions(3).await;
    bench.handle.send(Command::DecideAll(deletes, Verdict::Approve)).unwrap();
    bench.told("too late").await;
    assert_eq!(bench.handle.snapshot().approvals.len(), 3);
    bench.handle.send(Command::DecideAll(all(&waiting), deny("all"))).unwrap();
    bench.questions(0).await;
    bench.told("3 of 4 were decided").await;
    assert_eq!(bench.server.ledger(), []);
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_stopped_seat_loses_its_queue_and_its_calls_until_it_is_released() {
    let bench = bench().await;
    let waits = [bench.start_call(request("delete", "{}")), bench.start_call(request("mystery", "{}"))];
    let other = bench.start_call(request_by(Some("other"), "mystery", "{}"));
    bench.questions(3).await;
    bench.handle.send(Command::StopSeat("release".into())).unwrap();
    for call in waits {
        let report = call.await.unwrap();
        assert_eq!(report.phase, CallPhase::Withdrawn(Withdrawal::SeatStopped));
        assert!(report.message.contains("stopped by a person"), "{}", report.message);
    }
    let withdrawn: Vec<_> = bench.trail.records().into_iter().filter(|r| r.kind == Kind::Decided).collect();
    assert_eq!(withdrawn.len(), 2);
    for record in withdrawn {
        assert_eq!((record.decision, record.decider.as_deref()), (Some(Decision::Withdrawn), Some("person:ada")));
    }
    let report = bench.call("get", "{}").await;
    assert!(
        matches!(&report.phase, CallPhase::Refused { reason } if reason.contains("\"release\" was stopped by person:ada")),
        "{:?}",
        report.phase
    );
    assert_eq!(bench.trail.records().last().unwrap().kind, Kind::Refused);
    let snapshot = bench.until(|s| s.stopped_seats.iter().any(|stopped| stopped.refused == 1)).await;
    assert_eq!(snapshot.approvals.len(), 1, "the other seat still waits");
    bench.answered(other, Verdict::Approve).await;
    bench.handle.send(Command::ReleaseSeat("release".into())).unwrap();
    bench.until(|s| s.stopped_seats.is_empty()).await;
    assert_eq!(bench.call("get", "{}").await.phase, DONE);
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_likely_repetition_names_the_earlier_call_and_its_end() {
    let bench = bench().await;
    let call = bench.start_call(request("delete", r#"{"id":"a"}"#));
    let first = bench.question().await;
    assert_eq!(first.repeat, None);
    bench.answered(call, edited(r#"{"id":"b"}"#)).await;
    for id in ["a", "b"] {
        let call = bench.start_call(request("delete", &json!({"id": id}).to_string()));
        let repeat = bench.question_after(&first).await.repeat.clone().unwrap();
        assert_eq!((&repeat.call, &*repeat.outcome), (&first.call, "done"));
        bench.answered(call, deny("")).await;
        bench.questions(0).await;
    }
    let call = bench.start_call(request_by(Some("other"), "delete", r#"{"id":"a"}"#));
    assert_eq!(bench.question().await.repeat, None, "another seat's call is no repetition");
    bench.answered(call, deny("")).await;
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn repeating_an_idempotent_call_is_no_repetition() {
    let config = format!("{CONFIG}engine: {{ approvals: {{ rules: [ {{ tool: notes/put, decision: ask }} ] }} }}\n");
    let bench = bench_with(&config, Attendance::Person).await;
    for _ in 0..2 {
        let call = bench.start_call(request("put", "{}"));
        assert_eq!(bench.question().await.repeat, None);
        bench.answered(call, Verdict::Approve).await;
        bench.questions(0).await;
    }
    bench.stop().await;
}
