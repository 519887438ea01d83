//! The engine through its handle: scripted servers in memory, paused time, and the trail that calls leave.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stderr,
    reason = "a test that cannot go on says why"
)]

#[path = "engine/bench.rs"]
mod bench;
#[path = "engine/desk.rs"]
mod desk;
#[path = "engine/forms.rs"]
mod forms;
#[path = "engine/pins.rs"]
mod pins;
#[path = "engine/races.rs"]
mod races;
#[path = "support/scripted.rs"]
#[allow(dead_code, reason = "this crate needs a part of it")]
mod scripted;
#[path = "engine/seats.rs"]
mod seats;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bench::{CONFIG, NoVariables, bench, bench_with, delete, request, tool, tools};
use crewlet_tui::config::model::Source;
use crewlet_tui::engine::audit::{Audit, Decision, Kind, Outcome};
use crewlet_tui::engine::command::{Command, Verdict};
use crewlet_tui::engine::connection::Connector;
use crewlet_tui::engine::gate::Attendance;
use crewlet_tui::engine::handle::{CallRequest, Consent, Hold};
use crewlet_tui::engine::snapshot::{CallPhase, Caller, DiffLine, Tier, ToolChangeKind, Withdrawal};
use crewlet_tui::engine::start::{self, Options};
use crewlet_tui::ids::{CallId, ConnectionName, ServerName};
use crewlet_tui::secret::Redactor;
use crewlet_tui::tool::{Arguments, Digest};
use scripted::{Reaction, Scripted};
use serde_json::json;
use tokio::sync::mpsc;

#[tokio::test(start_paused = true)]
async fn a_read_runs_unasked_and_leaves_intent_before_the_outcome() {
    let bench = bench().await;
    let report = bench.call("get", r#"{"id":"a"}"#).await;
    assert_eq!(report.phase, CallPhase::Done { is_error: false });
    assert_eq!(&*report.message, "ok");
    assert_eq!(bench.server.ledger(), [("get".to_owned(), r#"{"id":"a"}"#.to_owned())]);
    assert_eq!(bench.story(), ["received", "dispatched", "finished done"]);
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_was_shown_is_what_is_sent_hashed_and_recorded() {
    let bench = bench().await;
    let sent = r#"{"z":1.10,"id":"aé","big":9007199254740993,"confirm":false,"a":{"y":-0,"b":[]}}"#;
    let call = bench.start_call(request("delete", sent));
    let question = bench.question().await;
    let expected = r#"{"a":{"b":[],"y":-0},"big":9007199254740993,"confirm":true,"id":"aé","z":1.10}"#;
    assert_eq!(question.arguments.canonical(), expected);
    assert!(question.confirm_set);
    assert_eq!(bench.server.ledger(), [], "nothing is sent before the decision");
    bench.decide(&question, Verdict::Approve);
    let report = call.await.unwrap();
    assert_eq!(report.phase, CallPhase::Done { is_error: false });
    assert_eq!(bench.server.ledger(), [("delete".to_owned(), expected.to_owned())]);
    assert_eq!(bench.story(), ["received", "asked", "approved", "dispatched", "finished done"]);
    let digest = Digest::of(expected.as_bytes());
    assert_eq!(question.arguments.digest(), digest);
    assert!(bench.trail.records().iter().all(|record| record.args_sha256 == Some(digest)));
    let decided = bench.trail.records().into_iter().find(|record| record.kind == Kind::Decided).unwrap();
    assert_eq!(decided.decider.as_deref(), Some("person:ada"));
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_its_caller_lets_go_of_is_finished_and_recorded_all_the_same() {
    let bench = bench().await;
    for lets_go_first in [true, false] {
        let mut call = bench.handle.start_call(request("delete", r#"{"id":"a"}"#), Hold::default()).unwrap();
        if lets_go_first {
            call.let_go();
            assert!(call.settled().is_none(), "it has not even been asked about");
        }
        let question = tokio::select! {
            question = bench.question() => question,
            ended = &mut call => panic!("nobody decided: {ended:?}"),
        };
        drop(call);
        bench.decide(&question, Verdict::Approve);
        bench.until(|snapshot| snapshot.calls.iter().all(|call| call.phase.is_over())).await;
        bench.questions(0).await;
    }
    let whole = ["received", "asked", "approved", "dispatched", "finished done"];
    assert_eq!(bench.story(), [whole, whole].concat());
    assert_eq!(bench.server.ledger().len(), 2, "each once");
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_denied_call_never_runs_and_says_who_and_why() {
    let bench = bench().await;
    let call = bench.start_call(request("delete", r#"{"id":"a"}"#));
    let question = bench.question().await;
    bench.decide(&question, Verdict::Deny { reason: "wrong note".into() });
    let report = call.await.unwrap();
    assert_eq!(report.phase, CallPhase::Denied { reason: "wrong note".into() });
    assert!(report.message.contains("denied by a person: wrong note"), "{}", report.message);
    assert_eq!(bench.server.ledger(), []);
    assert_eq!(bench.story(), ["received", "asked", "denied"]);
    // The next question about the same tool knows.
    let call = bench.start_call(request("delete", r#"{"id":"a"}"#));
    let question = bench.question_after(&question).await;
    assert_eq!((question.history.approved, question.history.denied), (0, 1));
    assert_eq!(question.history.last_denial.as_deref(), Some("wrong note"));
    assert_eq!(question.history.same_arguments, Some((1, "denied".into())));
    bench.decide(&question, Verdict::Approve);
    call.await.unwrap();
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_unclassified_tool_asks_and_an_explicit_write_does_not() {
    let bench = bench().await;
    assert_eq!(bench.call("append", "{}").await.phase, CallPhase::Done { is_error: false });
    let call = bench.start_call(request("mystery", "{}"));
    let question = bench.question().await;
    assert_eq!(&*question.policy_by, "class unknown -> ask (default)");
    bench.decide(&question, Verdict::Deny { reason: String::new() });
    call.await.unwrap();
    assert_eq!(bench.server.ledger().len(), 1);
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn each_of_three_waiting_calls_is_decided_for_itself() {
    for position in 0..3 {
        let bench = bench().await;
        let calls: Vec<_> =
            ["a", "b", "c"].map(|id| bench.start_call(request("delete", &json!({"id": id}).to_string()))).into();
        let snapshot = bench.until(|snapshot| snapshot.approvals.len() == 3).await;
        let chosen = snapshot.approvals[position].clone();
        bench.decide(&chosen, Verdict::Approve);
        let after = bench.until(|snapshot| snapshot.approvals.len() == 2).await;
        assert!(after.approvals.iter().all(|waiting| waiting.id != chosen.id));
        bench
            .until(|snapshot| snapshot.calls.iter().any(|call| call.phase == CallPhase::Done { is_error: false }))
            .await;
        let ledger = bench.server.ledger();
        assert_eq!(ledger.len(), 1);
        assert_eq!(Digest::of(ledger[0].1.as_bytes()), chosen.arguments.digest());
        bench.stop().await;
        for call in calls {
            call.await.unwrap();
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_expires_and_a_late_decision_does_nothing_and_says_so() {
    let bench = bench().await;
    let call = bench.start_call(request("delete", r#"{"id":"a"}"#));
    let question = bench.question().await;
    let report = call.await.unwrap();
    assert_eq!(report.phase, CallPhase::Expired);
    assert!(report.elapsed >= Duration::from_secs(300) && report.elapsed < Duration::from_secs(301));
    bench.decide(&question, Verdict::Approve);
    let snapshot = bench.until(|snapshot| snapshot.notices.iter().any(|notice| notice.text.contains("too late"))).await;
    assert!(snapshot.approvals.is_empty());
    assert_eq!(bench.server.ledger(), []);
    assert_eq!(bench.story(), ["received", "asked", "expired"]);
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_gives_up_takes_its_question_along() {
    let bench = bench().await;
    let request = request("delete", r#"{"id":"a"}"#);
    let cancel = request.cancel.clone();
    let call = bench.start_call(request);
    let question = bench.question().await;
    cancel.cancel();
    let report = call.await.unwrap();
    assert_eq!(report.phase, CallPhase::Withdrawn(Withdrawal::Cancelled));
    bench.decide(&question, Verdict::Approve);
    bench.until(|snapshot| snapshot.notices.iter().any(|notice| notice.text.contains("too late"))).await;
    assert_eq!(bench.server.ledger(), []);
    assert_eq!(bench.story(), ["received", "asked", "withdrawn"]);
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_turns_milder_while_a_call_waits_is_asked_about_anew() {
    let bench = bench().await;
    let call = bench.start_call(request("delete", r#"{"id":"a"}"#));
    let first = bench.question().await;
    let mut milder = delete();
    milder["annotations"] = json!({"readOnlyHint": true});
    bench.server.change_tools([milder]).await;
    let second = bench.question_after(&first).await;
    assert_ne!(first.entry.fingerprint, second.entry.fingerprint);
    assert!(second.change.as_ref().is_some_and(|change| change.lines.len() > 5), "the difference is on the card");
    assert_eq!(second.tier, Tier::Arm, "as severe as it was");
    assert_eq!(second.arguments.canonical(), r#"{"id":"a"}"#, "confirm is set for destructive tools only");
    bench.decide(&first, Verdict::Approve);
    bench.until(|snapshot| snapshot.notices.iter().any(|notice| notice.text.contains("too late"))).await;
    assert_eq!(bench.server.ledger(), []);
    bench.decide(&second, Verdict::Approve);
    assert_eq!(call.await.unwrap().phase, CallPhase::Done { is_error: false });
    assert_eq!(bench.story(), ["received", "asked", "withdrawn", "asked", "approved", "dispatched", "finished done"]);
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_lost_answer_is_unknown_and_nothing_is_sent_twice() {
    for (name, asks) in [("append", false), ("delete", true), ("mystery", true)] {
        let bench = bench().await;
        bench.server.react([Reaction::HangUp]);
        let call = bench.start_call(request(name, r#"{"id":"a"}"#));
        if asks {
            let question = bench.question().await;
            bench.decide(&question, Verdict::Approve);
        }
        let report = call.await.unwrap();
        assert!(matches!(report.phase, CallPhase::Unknown { .. }), "{name}: {:?}", report.phase);
        assert!(report.message.contains("may have run"), "{}", report.message);
        assert_eq!(bench.server.ledger().len(), 1, "{name}");
        assert_eq!(bench.trail.records().last().and_then(|record| record.outcome), Some(Outcome::Unknown));
        bench.until(|snapshot| snapshot.servers[0].restarts > 0 && snapshot.servers[0].status.is_ready()).await;
        assert_eq!(bench.server.ledger().len(), 1, "{name} is not replayed after the restart");
        bench.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_not_answered_in_time_is_unknown_and_cancelled_upstream() {
    let bench = bench().await;
    bench.server.react([Reaction::Silence]);
    let report = bench.call("append", "{}").await;
    assert!(matches!(report.phase, CallPhase::Unknown { .. }), "{:?}", report.phase);
    assert!(report.message.contains("300 s"), "{}", report.message);
    assert_eq!(bench.call("append", "{}").await.phase, CallPhase::Done { is_error: false }, "the connection stays up");
    assert!(bench.server.methods().contains(&"notifications/cancelled".to_owned()));
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn without_an_audit_only_proven_reads_run() {
    let bench = bench().await;
    bench.trail.set_broken(Some("no space left on device"));
    bench.until(|snapshot| snapshot.notices.iter().any(|notice| notice.text.contains("no space left"))).await;
    for name in ["append", "mystery", "delete"] {
        let report = bench.call(name, "{}").await;
        assert!(matches!(report.phase, CallPhase::Refused { .. }), "{name}: {:?}", report.phase);
    }
    assert_eq!(bench.server.ledger(), []);
    assert_eq!(bench.call("get", "{}").await.phase, CallPhase::Done { is_error: false });
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn where_nobody_can_decide_nothing_is_asked() {
    for attendance in [Attendance::Nobody, Attendance::ReadOnly] {
        let bench = bench_with(CONFIG, attendance).await;
        let report = bench.call("delete", r#"{"id":"a"}"#).await;
        assert!(matches!(report.phase, CallPhase::Refused { .. }), "{:?}", report.phase);
        assert_eq!(bench.call("get", "{}").await.phase, CallPhase::Done { is_error: false });
        assert_eq!(bench.server.ledger().len(), 1);
        assert_eq!(bench.story()[..2], ["received", "refused"]);
        bench.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn consent_at_the_shell_satisfies_ask_and_never_type() {
    let typed = format!("{CONFIG}engine: {{ approvals: {{ unknown: type }} }}\n");
    let bench = bench_with(&typed, Attendance::Nobody).await;
    let shell = |tool: &str| CallRequest { consent: Consent::Shell("ada".into()), ..request(tool, "{}") };
    let report = bench.handle.call(shell("delete")).await.unwrap();
    assert_eq!(report.phase, CallPhase::Done { is_error: false });
    let record = bench.trail.records().into_iter().find(|record| record.kind == Kind::Dispatched).unwrap();
    assert_eq!(record.decider.as_deref(), Some("shell:ada"));
    let report = bench.handle.call(shell("mystery")).await.unwrap();
    assert!(matches!(report.phase, CallPhase::Refused { .. }), "{:?}", report.phase);
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn unknown_names_are_refused_and_recorded() {
    let bench = bench().await;
    for name in ["nothing", "notes/nothing", "", "\u{1b}[2J"] {
        let report = bench.call(name, "{}").await;
        assert!(matches!(report.phase, CallPhase::Refused { .. }), "{:?}", report.phase);
        assert!(!report.message.contains('\u{1b}'));
    }
    assert_eq!(bench.story(), ["refused"; 4]);
    assert_eq!(bench.call("notes/get", "{}").await.phase, CallPhase::Done { is_error: false });
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn results_are_redacted_and_never_cut() {
    let bench = bench().await;
    bench.redactor.learn([crewlet_tui::secret::Secret::new("canary-3f9a1c77")]);
    let long = "x".repeat(300_000);
    let text = format!("{long}canary-3f9a1c77\u{1b}[31m end");
    bench.server.react([Reaction::Result(json!({"content": [{"type": "text", "text": text}]}))]);
    let report = bench.call("get", r#"{"token":"canary-3f9a1c77"}"#).await;
    assert!(report.message.len() > long.len());
    assert!(report.message.ends_with("[REDACTED:secret][31m end"));
    let snapshot = bench.until(|snapshot| !snapshot.calls.is_empty()).await;
    let seen = format!("{:?} {:?}", snapshot.calls, bench.trail.records());
    assert!(!seen.contains("canary-3f9a1c77"));
    let shown = snapshot.calls[0].arguments.as_ref().unwrap();
    assert_eq!(shown.canonical(), r#"{"token":"[REDACTED:secret]"}"#);
    assert_eq!(bench.server.ledger()[0].1, r#"{"token":"canary-3f9a1c77"}"#, "the server gets the real value");
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_protocol_error_is_a_failure_and_a_tool_error_is_an_answer() {
    let bench = bench().await;
    bench.server.react([
        Reaction::Error(-32602, "no such note"),
        Reaction::Result(json!({"content": [{"type": "text", "text": "not found"}], "isError": true})),
    ]);
    let report = bench.call("get", "{}").await;
    assert!(
        matches!(&report.phase, CallPhase::Failed { reason } if reason.contains("no such note")),
        "{:?}",
        report.phase
    );
    let report = bench.call("get", "{}").await;
    assert_eq!(report.phase, CallPhase::Done { is_error: true });
    assert_eq!(bench.server.ledger().len(), 2, "an answer is no reason to send again");
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn ending_withdraws_what_waits_and_records_it() {
    let bench = bench().await;
    let call = bench.start_call(request("delete", r#"{"id":"a"}"#));
    bench.question().await;
    let (trail, server) = (bench.trail.clone(), bench.server.clone());
    bench.stop().await;
    assert_eq!(call.await.unwrap().phase, CallPhase::Withdrawn(Withdrawal::Shutdown));
    assert_eq!(server.ledger(), []);
    let last = trail.records().last().cloned().unwrap();
    assert_eq!((last.kind, last.decision), (Kind::Decided, Some(Decision::Withdrawn)));
}

#[tokio::test(start_paused = true)]
async fn a_disabled_server_withdraws_its_questions_and_takes_no_calls() {
    let bench = bench().await;
    let notes = ConnectionName::new("notes");
    let call = bench.start_call(request("delete", r#"{"id":"a"}"#));
    bench.question().await;
    bench.handle.send(Command::Disable(notes.clone())).unwrap();
    assert_eq!(call.await.unwrap().phase, CallPhase::Withdrawn(Withdrawal::ServerGone));
    bench.until(|snapshot| snapshot.servers[0].status.word() == "disabled").await;
    let report = bench.call("get", "{}").await;
    assert!(matches!(&report.phase, CallPhase::Failed { reason } if reason.contains("disabled")), "{:?}", report.phase);
    bench.handle.send(Command::Enable(notes)).unwrap();
    bench.until(|snapshot| snapshot.servers[0].status.is_ready()).await;
    assert_eq!(bench.call("get", "{}").await.phase, CallPhase::Done { is_error: false });
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn the_persons_own_call_passes_the_same_gate() {
    let bench = bench().await;
    let id = CallId::fresh();
    let command = Command::Call { call: id.clone(), tool: "delete".into(), arguments: Arguments::empty() };
    bench.handle.send(command).unwrap();
    let question = bench.question().await;
    assert_eq!((&question.call, &question.caller), (&id, &Caller::Console));
    bench.handle.send(Command::Cancel(id.clone())).unwrap();
    bench.until(|s| s.calls.iter().any(|c| c.id == id && matches!(c.phase, CallPhase::Withdrawn(_)))).await;
    assert_eq!(bench.server.ledger(), []);
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_variable_without_a_value_fails_that_server_by_name_and_no_other() {
    let config = format!("{CONFIG}  - name: other\n    command: other\n    env: {{ TOKEN: \"${{MISSING_TOKEN}}\" }}\n");
    let server = Scripted::new(tools());
    let config = crewlet_tui::config::load(&config, &Source::File("config.yaml".into())).expect("valid").config;
    let (audit, _) = Audit::memory();
    let connector: Arc<dyn Connector> = Arc::new(server);
    let options = Options {
        environment: Arc::new(NoVariables),
        attendance: Attendance::Person,
        person: "person:ada".into(),
        audit,
        names: crewlet_tui::tool::names::Names::default(),
        names_changed: Box::new(|_| {}),
        pins: crewlet_tui::engine::gate::pins::Pins::default(),
        pins_changed: Box::new(|_| {}),
        redactor: Redactor::default(),
        log: mpsc::channel(1).1,
        log_dropped: Arc::new(|| 0),
        only: None,
        own_children: Vec::new(),
        connectors: HashMap::from([(ServerName::new("notes"), connector)]),
        first_notices: Vec::new(),
        kept: start::Kept::default(),
    };
    let (handle, engine) = start::start(&config, options);
    let mut snapshots = handle.snapshots();
    let snapshot =
        snapshots.wait_for(|s| s.servers.iter().any(|server| server.status.is_ready())).await.unwrap().clone();
    let failed = snapshot.servers.iter().find(|server| server.server.as_str() == "other").unwrap();
    let headline = failed.status.failure().expect("failed").headline.to_string();
    assert!(headline.contains("MISSING_TOKEN is not set (mcp_servers[1].env.TOKEN"), "{headline}");
    handle.send(Command::Shutdown).unwrap();
    engine.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_changed_definition_is_shown_line_by_line() {
    let bench = bench().await;
    let changed = json!({
        "name": "get", "description": "a tool\nthat says more", "inputSchema": {"type": "object"},
        "annotations": {"readOnlyHint": false},
    });
    bench.server.change_tools([changed, tool("fresh", json!({})), delete()]).await;
    let snapshot = bench.until(|snapshot| !snapshot.tool_changes.is_empty()).await;
    let kinds: Vec<(&str, &str)> = snapshot
        .tool_changes
        .iter()
        .map(|change| {
            let kind = match &change.kind {
                ToolChangeKind::Added => "added",
                ToolChangeKind::Removed => "removed",
                ToolChangeKind::Changed(_) => "changed",
            };
            (&*change.tool, kind)
        })
        .collect();
    let expected =
        [("append", "removed"), ("mystery", "removed"), ("put", "removed"), ("fresh", "added"), ("get", "changed")];
    assert_eq!(kinds, expected);
    let Some(ToolChangeKind::Changed(lines)) = snapshot.tool_changes.last().map(|change| &change.kind) else {
        panic!("no difference")
    };
    let marked: Vec<String> = lines
        .iter()
        .filter_map(|line| match line {
            DiffLine::Same(_) => None,
            DiffLine::Removed(text) => Some(format!("-{text}")),
            DiffLine::Added(text) => Some(format!("+{text}")),
        })
        .collect();
    assert_eq!(marked, ["+  that says more", "-  read only: yes", "+  read only: no"]);
    let told = snapshot.notices.last().map(|notice| notice.text.to_string());
    assert_eq!(told.as_deref(), Some("notes: tools changed: 1 changed, 1 new, 3 gone"));
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_contradictory_tool_is_sent_once_and_never_without_a_record() {
    let config =
        format!("{CONFIG}engine: {{ approvals: {{ rules: [{{ tool: \"notes/wipe\", decision: allow }}] }} }}\n");
    let bench = bench_with(&config, Attendance::Person).await;
    let wipe = json!({"name": "wipe", "annotations": {"readOnlyHint": true, "destructiveHint": true}});
    bench.server.change_tools([wipe]).await;
    bench.until(|snapshot| snapshot.catalog.find(None, "wipe").is_some()).await;
    bench.server.react([Reaction::HangUp]);
    let report = bench.call("wipe", "{}").await;
    assert!(matches!(report.phase, CallPhase::Unknown { .. }), "{:?}", report.phase);
    assert_eq!(bench.server.ledger().len(), 1, "it says that it reads, and that it destroys: no second try");
    bench.until(|snapshot| snapshot.servers[0].restarts > 0 && snapshot.servers[0].status.is_ready()).await;
    bench.trail.set_broken(Some("no space left on device"));
    bench.until(|snapshot| snapshot.notices.iter().any(|notice| notice.text.contains("no space left"))).await;
    let report = bench.call("wipe", "{}").await;
    assert!(matches!(report.phase, CallPhase::Refused { .. }), "{:?}", report.phase);
    assert_eq!(bench.server.ledger().len(), 1);
    bench.stop().await;
}
