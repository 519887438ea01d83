//! Calls of agents: through, held, decided, given up, picked up again.

use std::time::Duration;

use crewlet_tui::engine::audit::{Decision, Kind};
use crewlet_tui::engine::command::Verdict;
use crewlet_tui::engine::snapshot::{CallPhase, CallView, Caller, Withdrawal};
use crewlet_tui::tool::arguments::Arguments;
use reqwest::{Method, StatusCode};
use serde_json::json;

use crate::bench::{Agent, Bench, CONFIG, bench, bench_of, bench_with, read_until};
use crate::scripted::{Reaction, Scripted};

fn deny(reason: &str) -> Verdict {
    Verdict::Deny { reason: reason.to_owned() }
}

/// A company whose held calls are answered soon.
fn short_hold(seconds: f64) -> String {
    format!("{CONFIG}engine: {{ approvals: {{ hold_seconds: {seconds} }} }}\n")
}

async fn withdrawn(bench: &Bench, why: Withdrawal) {
    let ended = |phase: &CallPhase| *phase == CallPhase::Withdrawn(why);
    let seen = bench.until(|s| s.approvals.is_empty() && s.calls.iter().any(|call| ended(&call.phase)));
    tokio::time::timeout(Duration::from_secs(1), seen).await.expect("within a second");
    assert_eq!(bench.server.ledger(), [], "nothing ran");
    assert_eq!(bench.decisions(), [Decision::Withdrawn]);
}

#[tokio::test]
async fn reads_pass_with_their_arguments_and_blocks_kept() {
    let bench = bench().await;
    for agent in bench.both("release").await {
        bench.server.react([Reaction::Result(json!({
            "content": [{"type": "text", "text": "hello"}, {"type": "x-new", "n": 1.50}],
            "structuredContent": {"a": [1]},
        }))]);
        let answer = agent.call("get", r#"{"z":1.10,"big":9007199254740993,"a":"ü"}"#).await;
        assert!(!answer.is_stream());
        let result = &answer.message()["result"];
        assert_eq!(result["content"][1], json!({"type": "x-new", "n": 1.50}));
        assert_eq!(result["structuredContent"], json!({"a": [1]}));
        assert_eq!(answer.message()["id"], json!(7));
        let sent = bench.server.ledger().pop().unwrap();
        assert_eq!(sent, ("get".to_owned(), r#"{"a":"ü","big":9007199254740993,"z":1.10}"#.to_owned()));
    }
    bench.stop().await;
}

#[tokio::test]
async fn a_destructive_call_is_held_and_runs_once_approved() {
    let bench = bench().await;
    for mut agent in bench.both("release").await {
        agent.progress = Some(json!("mine"));
        let before = bench.server.ledger().len();
        let call = agent.start_call("delete", r#"{"id":"a"}"#);
        let question = bench.question().await;
        assert_eq!(bench.server.ledger().len(), before, "nothing is sent before the decision");
        bench.decide(&question, Verdict::Approve).await;
        let answer = call.await.unwrap();
        assert!(answer.is_stream());
        assert_eq!(answer.outcome(), "ok: ok");
        let first = &answer.messages()[0];
        assert_eq!(first["method"], json!("notifications/progress"));
        assert_eq!(
            (&first["params"]["progressToken"], &first["params"]["message"]),
            (&json!("mine"), &json!("waiting for a person"))
        );
        assert_eq!(bench.server.ledger().len(), before + 1);
    }
    bench.stop().await;
}

#[tokio::test]
async fn a_client_that_takes_json_only_gets_json_for_a_held_call() {
    let bench = bench().await;
    let agent = Agent { accept: "application/json", ..bench.legacy("release").await };
    let call = agent.start_call("mystery", "{}");
    bench.decide(&bench.question().await, Verdict::Approve).await;
    let answer = call.await.unwrap();
    assert!(!answer.is_stream());
    assert_eq!(answer.outcome(), "ok: ok");
    bench.stop().await;
}

#[tokio::test]
async fn an_agent_hears_that_a_person_edited_its_arguments() {
    let bench = bench().await;
    for agent in bench.both("release").await {
        let call = agent.start_call("mystery", r#"{"path": "all"}"#);
        let edited = Arguments::parse(r#"{"path": "one"}"#).unwrap();
        bench.decide(&bench.question().await, Verdict::ApproveEdited(edited)).await;
        let answer = call.await.unwrap().message();
        let content = answer["result"]["content"].as_array().unwrap();
        assert_eq!(content.len(), 2, "{answer}");
        assert!(content[0]["text"].as_str().unwrap().contains("changed the arguments"), "{answer}");
        assert_eq!(content[1]["text"], json!("ok"));
    }
    bench.stop().await;
}

#[tokio::test]
async fn denial_and_expiry_are_tool_errors_that_say_what_to_do() {
    let bench = bench_with(&format!("{CONFIG}engine: {{ approvals: {{ wait_seconds: 1 }} }}\n")).await;
    for agent in bench.both("release").await {
        let call = agent.start_call("delete", "{}");
        bench.decide(&bench.question().await, deny("use the archive")).await;
        let denied = call.await.unwrap().outcome();
        assert!(denied.starts_with("error: denied by a person: use the archive"), "{denied}");
        let expired = agent.call("delete", r#"{"n":1}"#).await.outcome();
        assert!(expired.starts_with("error: "), "{expired}");
        assert!(expired.contains("person"), "{expired}");
        bench.until(|snapshot| snapshot.approvals.is_empty()).await;
    }
    assert_eq!(bench.server.ledger(), []);
    bench.stop().await;
}

#[tokio::test]
async fn a_closed_connection_withdraws_the_question() {
    for legacy in [true, false] {
        for accept in ["application/json", "application/json, text/event-stream"] {
            let bench = bench().await;
            let agent = if legacy { bench.legacy("release").await } else { bench.modern("release") };
            let agent = Agent { accept, ..agent };
            let call = agent.start_call("delete", "{}");
            let question = bench.question().await;
            call.abort();
            withdrawn(&bench, Withdrawal::CallerGone).await;
            bench.decide(&question, Verdict::Approve).await;
            bench.until(|s| s.notices.iter().any(|notice| notice.text.contains("too late"))).await;
            assert_eq!(bench.server.ledger(), []);
            bench.stop().await;
        }
    }
}

#[tokio::test]
async fn a_cancelled_call_is_withdrawn_and_not_answered() {
    let bench = bench().await;
    let agent = bench.legacy("release").await;
    let call = agent.start_call("delete", "{}");
    bench.question().await;
    let other = bench.legacy("release").await;
    other.notify("notifications/cancelled", json!({"requestId": 7})).await;
    agent.notify("notifications/cancelled", json!({"requestId": "7"})).await;
    assert_eq!(bench.handle.snapshot().approvals.len(), 1, "nobody else's id, and not another type's");
    agent.notify("notifications/cancelled", json!({"requestId": 7})).await;
    withdrawn(&bench, Withdrawal::Cancelled).await;
    let answer = call.await.unwrap();
    assert_eq!(answer.messages(), Vec::<serde_json::Value>::new(), "no late answer");
    bench.stop().await;
}

#[tokio::test]
async fn a_deleted_session_withdraws_what_it_asked() {
    let bench = bench().await;
    let agent = bench.legacy("release").await;
    let call = agent.start_call("delete", "{}");
    bench.question().await;
    let session = agent.session.clone().unwrap();
    assert_eq!(agent.with(Method::DELETE, &[("mcp-session-id", &session)]).await.status, StatusCode::OK);
    withdrawn(&bench, Withdrawal::CallerGone).await;
    call.await.unwrap();
    assert_eq!(agent.request("tools/list", json!({})).await.status, StatusCode::NOT_FOUND);
    bench.stop().await;
}

#[tokio::test]
async fn a_running_call_that_is_cancelled_is_cancelled_upstream() {
    // By closing the connection in both eras, in a session also by a notice.
    for (legacy, notice) in [(true, true), (true, false), (false, false)] {
        let bench = bench().await;
        let agent = if legacy { bench.legacy("release").await } else { bench.modern("release") };
        bench.server.react([Reaction::Silence]);
        let call = agent.start_call("get", "{}");
        while bench.server.ledger().is_empty() {
            tokio::task::yield_now().await;
        }
        if notice {
            agent.notify("notifications/cancelled", json!({"requestId": 7, "reason": "enough"})).await;
            assert!(call.await.unwrap().body.is_empty(), "no late answer");
        } else {
            call.abort();
        }
        let told = async {
            while !bench.server.methods().iter().any(|method| method == "notifications/cancelled") {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(1), told).await.expect("the server is told within a second");
        let received = bench.server.received();
        let of = |method: &str| received.iter().find(|message| message["method"] == json!(method)).unwrap().clone();
        assert_eq!(of("notifications/cancelled")["params"]["requestId"], of("tools/call")["id"], "the id it knows");
        let unknown = bench.until(|s| s.calls.iter().any(|call| matches!(call.phase, CallPhase::Unknown { .. })));
        tokio::time::timeout(Duration::from_secs(1), unknown).await.expect("and the dashboard");
        bench.stop().await;
    }
}

#[tokio::test]
async fn a_long_wait_is_answered_and_picked_up_by_repeating_the_call() {
    let bench = bench_with(&short_hold(0.2)).await;
    for agent in bench.both("release").await {
        let before = bench.server.ledger().len();
        let first = agent.call("delete", r#"{"b":1,"a":2}"#).await.outcome();
        assert!(first.starts_with("error: waiting for a person; repeat the same call"), "{first}");
        let question = bench.question().await;
        bench.decide(&question, Verdict::Approve).await;
        let waits = |phase: &CallPhase| matches!(phase, CallPhase::Waiting(_));
        let seen = |call: &CallView| call.decider.is_some() && waits(&call.phase);
        bench.until(|s| s.approvals.is_empty() && s.calls.iter().any(|call| seen(call))).await;
        assert_eq!(bench.server.ledger().len(), before, "nothing runs without a live caller");
        let other = agent.call("delete", r#"{"a":3}"#).await.outcome();
        assert!(other.contains("waiting for a person"), "other arguments are another call: {other}");
        assert_eq!(agent.call("delete", r#"{"a":2,"b":1}"#).await.outcome(), "ok: ok");
        assert_eq!(bench.server.ledger().len(), before + 1);
        bench.decide(&bench.question().await, deny("no")).await;
        bench.until(|snapshot| snapshot.approvals.is_empty()).await;
        let denied = agent.call("delete", r#"{"a":3}"#).await.outcome();
        assert!(denied.starts_with("error: denied by a person: no"), "{denied}");
    }
    bench.stop().await;
}

#[tokio::test]
async fn a_seat_does_not_pick_up_what_another_seat_left() {
    let bench = bench_with(&short_hold(0.2)).await;
    bench.modern("release").call("delete", "{}").await;
    bench.question().await;
    bench.modern("review").call("delete", "{}").await;
    let waiting = bench.until(|snapshot| snapshot.approvals.len() == 2).await;
    let seats: Vec<_> = waiting.approvals.iter().map(|question| question.caller.seat().unwrap().to_string()).collect();
    assert_eq!(seats, ["release", "review"]);
    bench.stop().await;
}

#[tokio::test]
async fn a_parked_call_ends_with_its_session() {
    let bench = bench_with(&short_hold(0.2)).await;
    let agent = bench.legacy("release").await;
    agent.call("delete", "{}").await;
    bench.question().await;
    let session = agent.session.clone().unwrap();
    agent.with(Method::DELETE, &[("mcp-session-id", &session)]).await;
    withdrawn(&bench, Withdrawal::CallerGone).await;
    bench.stop().await;
}

#[tokio::test]
async fn two_clients_with_the_same_ids_and_tokens_are_kept_apart() {
    let bench = bench().await;
    for pair in [bench.both("release").await, [bench.modern("release"), bench.modern("release")]] {
        let [a, b] = pair.map(|agent| Agent { progress: Some(json!(1)), ..agent });
        let first = a.start_call("delete", r#"{"who":"a"}"#);
        let one = bench.question().await;
        let second = b.start_call("delete", r#"{"who":"b"}"#);
        let both = bench.until(|snapshot| snapshot.approvals.len() == 2).await;
        bench.decide(&both.approvals[1], deny("b may not")).await;
        assert!(second.await.unwrap().outcome().contains("b may not"));
        bench.decide(&one, Verdict::Approve).await;
        assert_eq!(first.await.unwrap().outcome(), "ok: ok");
        assert!(bench.server.ledger().pop().unwrap().1.contains(r#""who":"a""#));
    }
    bench.stop().await;
}

#[tokio::test]
async fn one_session_does_not_use_an_id_twice_at_once() {
    let bench = bench().await;
    let agent = bench.legacy("release").await;
    let call = agent.start_call("delete", "{}");
    let question = bench.question().await;
    assert_eq!(agent.call("get", "{}").await.message()["error"]["code"], json!(-32600));
    bench.decide(&question, Verdict::Approve).await;
    assert_eq!(call.await.unwrap().outcome(), "ok: ok");
    assert_eq!(agent.call("get", "{}").await.outcome(), "ok: ok", "an id that is free again");
    bench.stop().await;
}

#[tokio::test]
async fn arguments_that_cannot_be_kept_are_tool_errors_that_name_the_problem() {
    let bench = bench().await;
    for agent in bench.both("release").await {
        for (arguments, problem) in [
            (r#"{"a":1,"a":2}"#, r#"the key "a" stands twice"#),
            (r#"{"n":123456789012345678901234567890}"#, "cannot be kept exactly"),
            ("[1]", "not a JSON object"),
            (r#""text""#, "not a JSON object"),
        ] {
            let outcome = agent.call("get", arguments).await.outcome();
            assert!(outcome.starts_with("error: ") && outcome.contains(problem), "{arguments}: {outcome}");
        }
    }
    assert_eq!(bench.server.ledger(), []);
    bench.stop().await;
}

#[tokio::test]
async fn a_tool_whose_name_reads_like_another_servers_is_the_one_that_is_called() {
    let read = |name: &str| json!({"name": name, "annotations": {"readOnlyHint": true}});
    let (notes, wiki) = (Scripted::new([read("get")]), Scripted::new([read("notes/get")]));
    let config = format!("{CONFIG}  - {{ name: wiki, command: in-memory }}\n");
    let bench = bench_of(&config, &[("notes", &notes), ("wiki", &wiki)]).await;
    for agent in bench.both("release").await {
        assert_eq!(agent.call("notes_get", "{}").await.outcome(), "ok: ok");
    }
    assert_eq!((notes.ledger().len(), wiki.ledger().len()), (0, 2));
    assert!(wiki.ledger().iter().all(|(name, _)| name == "notes/get"));
    bench.stop().await;
}

#[tokio::test]
async fn absent_and_foreign_names_look_alike() {
    let bench = bench().await;
    let mut answers = Vec::new();
    for agent in bench.both("release").await {
        for name in ["nothing", "odd/name here", "notes/get", "GET"] {
            answers.push(agent.call(name, "{}").await.message()["error"].clone());
        }
    }
    assert_eq!(answers[0]["code"], json!(-32602));
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
    assert_eq!(bench.server.ledger(), []);
    assert!(bench.reasons(Kind::Refused).iter().any(|reason| reason.contains("nothing")), "the trail says so");
    bench.stop().await;
}

#[tokio::test]
async fn secrets_in_names_that_callers_make_up_are_recorded_nowhere() {
    let bench = bench().await;
    let secret = bench.token("review");
    for agent in bench.both("release").await {
        // Long enough for a cut to go through it.
        agent.call(&format!("{}{secret}", "x".repeat(60)), "{}").await;
    }
    let named = bench.agent("release", Some(String::new()));
    let client = json!({"name": format!("{}{secret}", "y".repeat(40)), "version": secret});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    let opened = named.send("initialize", &params.to_string(), Some(json!(1))).await;
    let session = opened.headers["mcp-session-id"].to_str().unwrap().to_owned();
    Agent { session: Some(session), ..named }.call("get", "{}").await;
    let seen = bench.until(|snapshot| snapshot.sessions.iter().any(|session| session.client.starts_with("yyy"))).await;
    for part in [&*secret, &secret[..16]] {
        let records = format!("{:?}", bench.trail.records());
        assert!(!records.contains(part), "{records}");
        assert!(!format!("{:?} {:?}", seen.sessions, seen.calls).contains(part), "{:?}", seen.sessions);
    }
    bench.stop().await;
}

#[tokio::test]
async fn the_screen_sees_who_is_connected_and_what_waits() {
    let bench = bench().await;
    let agent = bench.legacy("release").await;
    let call = agent.start_call("delete", "{}");
    let seen = bench.until(|s| s.approvals.len() == 1 && s.sessions.first().is_some_and(|one| one.calls == 1)).await;
    let session = &seen.sessions[0];
    assert_eq!((session.seat.as_str(), &*session.client), ("release", "legacy-agent 1"));
    // By this the screen finds the calls of a session.
    let by = &seen.approvals[0].caller;
    assert!(
        matches!(by, Caller::Seat { seat, session: id, .. } if *seat == session.seat && *id == session.id),
        "{by:?}"
    );
    assert!(!agent.session.clone().unwrap().eq(&*session.id), "the screen never shows the whole id");
    bench.decide(&bench.question().await, Verdict::Approve).await;
    call.await.unwrap();
    bench.until(|s| s.approvals.is_empty()).await;
    bench.stop().await;
}

#[tokio::test]
async fn two_hundred_idle_sessions_disturb_nobody() {
    let bench = bench().await;
    let mut streams = Vec::new();
    for _ in 0..200 {
        let agent = bench.legacy("review").await;
        streams.push(agent.open(Method::GET).await);
    }
    let seen = bench.until(|snapshot| snapshot.sessions.len() == 200).await;
    assert!(seen.sessions.iter().all(|session| session.seat.as_str() == "review"));
    assert_eq!(bench.modern("release").call("get", "{}").await.outcome(), "ok: ok");
    bench.server.change_tools([]).await;
    for stream in &mut streams {
        read_until(stream, "list_changed").await;
    }
    bench.stop().await;
}
