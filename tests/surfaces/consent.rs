//! `engine.approvals.connector: ask`: calls of the connector that passed its checks wait for a person, and leave one line
//! of their own however they end.

use std::sync::Arc;
use std::time::Duration;

use crewlet_tui::engine::audit::{Decision, Kind};
use crewlet_tui::engine::command::{Command, Verdict};
use crewlet_tui::engine::snapshot::ApprovalView;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::bench::{Bench, CONFIG, bench_with, operator_token};
use crate::program::Serving;

const TOKENS: &str = "
operators:
  - { id: founder, token: '${FOUNDER}' }
  - { id: bridge, token: '${BRIDGE}', scopes: ['issues:read', 'issues:write', 'comments:read', 'comments:write'] }
  - { id: viewer, token: '${VIEWER}', scopes: ['issues:write'], permission: viewer }
";

async fn asking(more: &str) -> Arc<Bench> {
    Arc::new(bench_with(&format!("{CONFIG}{TOKENS}engine: {{ approvals: {{ connector: ask{more} }} }}\n")).await)
}

fn plain(bench: &Arc<Bench>, tool: &'static str, body: Value) -> JoinHandle<(StatusCode, Value)> {
    let bench = bench.clone();
    tokio::spawn(async move { bench.plain(&operator_token("bridge"), tool, &body.to_string()).await })
}

async fn end(bench: Arc<Bench>) {
    Arc::try_unwrap(bench).unwrap_or_else(|_| panic!("somebody still uses the bench")).stop().await;
}

/// Outcome and reason of every line of the connector's audit.
fn lines(bench: &Bench) -> Vec<String> {
    let text = std::fs::read_to_string(bench.state.path().join("connector.jsonl")).unwrap_or_default();
    let line = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        assert_eq!(line.as_object().unwrap().len(), 5, "{line}");
        format!("{} {} {}", line["tool"], line["outcome"], line["reason"]).replace('"', "").trim().to_owned()
    };
    text.lines().map(line).collect()
}

async fn approve(bench: &Bench) -> Arc<ApprovalView> {
    let question = bench.question().await;
    bench.decide(&question, Verdict::Approve).await;
    question
}

#[tokio::test]
async fn a_person_decides_about_plain_calls_and_reads_are_not_asked_about() {
    let bench = asking("").await;
    assert_eq!(bench.plain(&operator_token("bridge"), "list_issues", "{}").await.0, StatusCode::OK);
    let call = plain(&bench, "create_issue", json!({"title": "one"}));
    let question = bench.question().await;
    assert_eq!(question.caller.seat().unwrap().connector(), Some("bridge"));
    assert_eq!((question.caller.kind(), &*question.entry.raw_name), ("connector", "create_issue"));
    assert!(question.policy_by.starts_with("connector -> ask (config.yaml:"), "{}", question.policy_by);
    bench.decide(&question, Verdict::Deny { reason: "not today".to_owned() }).await;
    let (status, body) = call.await.unwrap();
    let text = body["error"].as_str().unwrap();
    assert!(status == StatusCode::FORBIDDEN && text.starts_with("denied by a person: not today"), "{status} {body}");

    let call = plain(&bench, "create_issue", json!({"title": "two"}));
    approve(&bench).await;
    let (status, body) = call.await.unwrap();
    assert_eq!((status, &body["result"]["issue"]["key"]), (StatusCode::OK, &json!("WORK-1")), "{body}");

    let call = plain(&bench, "delete_issue", json!({"issue_id": "WORK-1", "confirm": true}));
    let question = approve(&bench).await;
    assert!(!question.confirm_set && question.arguments.canonical().contains("\"confirm\":true"), "the caller's own");
    assert_eq!(call.await.unwrap().0, StatusCode::OK);
    assert_eq!(
        lines(&bench),
        ["list_issues success", "create_issue denied approval_denied", "create_issue success", "delete_issue success"]
    );
    assert_eq!(bench.decisions(), [Decision::Denied, Decision::Approved, Decision::Approved]);
    let received = bench.trail.records().into_iter().filter(|record| record.kind == Kind::Received).count();
    assert_eq!(received, 3, "what is not asked about is in the connector's audit only");
    end(bench).await;
}

#[tokio::test]
async fn what_the_connector_refuses_is_asked_about_by_nobody() {
    let bench = asking("").await;
    for (id, tool, body, status) in [
        ("bridge", "delete_issue", json!({"issue_id": "WORK-9", "confirm": true}), StatusCode::FORBIDDEN),
        ("bridge", "delete_issue", json!({"issue_id": "WORK-9"}), StatusCode::BAD_REQUEST),
        ("bridge", "assign_issue_to_agent", json!({"issue_id": "WORK-9", "agent_id": "x"}), StatusCode::FORBIDDEN),
        ("viewer", "create_issue", json!({"title": "x"}), StatusCode::FORBIDDEN),
        ("bridge", "create_issue", json!({}), StatusCode::BAD_REQUEST),
    ] {
        assert_eq!(bench.plain(&operator_token(id), tool, &body.to_string()).await.0, status, "{tool} {body}");
    }
    assert_eq!(lines(&bench).len(), 5);
    assert!(bench.trail.records().is_empty(), "{:?}", bench.trail.records());
    end(bench).await;
}

#[tokio::test]
async fn over_mcp_the_answers_are_the_same_in_both_eras() {
    let bench = asking("").await;
    for legacy in [true, false] {
        let bridge = bench.operator("bridge", "/connector/mcp", legacy).await;
        let call = bridge.start_call("create_issue", r#"{"title":"one"}"#);
        let question = bench.question().await;
        bench.decide(&question, Verdict::Deny { reason: String::new() }).await;
        let denied = call.await.unwrap().message()["result"].clone();
        assert_eq!(
            (&denied["isError"], &denied["structuredContent"]["status"]),
            (&json!(true), &json!(403)),
            "{denied}"
        );
        let call = bridge.start_call("create_issue", r#"{"title":"one"}"#);
        approve(&bench).await;
        let made = call.await.unwrap().message()["result"].clone();
        assert_eq!(made["structuredContent"]["issue"]["title"], json!("one"), "{made}");
    }
    // Nobody else has these tools, by whatever name.
    let founder = bench.operator("founder", "/operator/mcp", false).await;
    for agent in [founder, bench.modern("release")] {
        for name in ["create_issue", "connector_create_issue", "crewlet (connector)/create_issue"] {
            assert_eq!(agent.call(name, r#"{"title":"x"}"#).await.message()["error"]["code"], json!(-32602), "{name}");
        }
    }
    end(bench).await;
}

#[tokio::test]
async fn over_mcp_a_call_that_is_cancelled_or_whose_session_ends_is_withdrawn() {
    let bench = asking("").await;
    for ends_session in [false, true] {
        let bridge = bench.operator("bridge", "/connector/mcp", true).await;
        let call = bridge.start_call("create_issue", r#"{"title":"one"}"#);
        bench.question().await;
        let busy = bridge.call_as(json!(7), "create_issue", r#"{"title":"two"}"#).await.message();
        assert_eq!(busy["error"]["code"], json!(-32600), "one call of an id at a time: {busy}");
        if ends_session {
            let session = bridge.session.clone().unwrap();
            assert_eq!(bridge.with(Method::DELETE, &[("mcp-session-id", &session)]).await.status, StatusCode::OK);
        } else {
            bridge.notify("notifications/cancelled", json!({"requestId": 7})).await;
        }
        assert_eq!(call.await.unwrap().status, StatusCode::ACCEPTED, "its client wants no answer any more");
        bench.until(|snapshot| snapshot.approvals.is_empty()).await;
    }
    assert_eq!(bench.plain(&operator_token("bridge"), "list_issues", "{}").await.1["result"]["issues"], json!([]));
    end(bench).await;
}

#[tokio::test]
async fn a_secret_in_the_place_of_a_tools_name_is_not_recorded() {
    let bench = asking("").await;
    let secret = operator_token("bridge");
    assert_eq!(bench.plain(&secret, &secret, "{}").await.0, StatusCode::NOT_FOUND);
    let bridge = bench.operator("bridge", "/connector/mcp", false).await;
    let answer = bridge.call("sk-proj-abcdefghijklmnopqrstuvwxyz012345", "{}").await;
    assert_eq!(answer.message()["error"]["code"], json!(-32602));
    let lines = lines(&bench);
    assert!(lines.len() == 2 && lines.iter().all(|line| line.ends_with("denied unknown_tool")), "{lines:?}");
    assert!(lines.iter().all(|line| !line.contains(&secret) && !line.contains("abcdefgh")), "{lines:?}");
    end(bench).await;
}

#[tokio::test]
async fn who_is_held_long_enough_repeats_the_call_and_picks_the_decision_up() {
    let bench = asking(", hold_seconds: 0").await;
    let body = json!({"title": "one"});
    let (status, waits) = plain(&bench, "create_issue", body.clone()).await.unwrap();
    let text = waits["error"].as_str().unwrap();
    assert!(status == StatusCode::ACCEPTED && text.contains("repeat the same call"), "{status} {waits}");
    let question = approve(&bench).await;
    let (status, made) = plain(&bench, "create_issue", body.clone()).await.unwrap();
    assert_eq!((status, &made["result"]["issue"]["key"]), (StatusCode::OK, &json!("WORK-1")), "{made}");
    assert_eq!(lines(&bench), ["create_issue denied approval_pending", "create_issue success"]);
    let (status, _) = plain(&bench, "create_issue", body).await.unwrap();
    assert_eq!(status, StatusCode::ACCEPTED, "the next one is another question");
    assert_ne!(bench.question().await.id, question.id);
    end(bench).await;
}

#[tokio::test]
async fn a_caller_that_goes_away_withdraws_its_question_and_leaves_its_line() {
    let bench = asking("").await;
    let call = plain(&bench, "create_issue", json!({"title": "one"}));
    bench.question().await;
    call.abort();
    let _ = call.await;
    bench.until(|snapshot| snapshot.approvals.is_empty()).await;
    let written = async {
        while lines(&bench).is_empty() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), written).await.expect("a line in time");
    assert_eq!(lines(&bench), ["create_issue denied approval_withdrawn"]);
    // A stopped token's calls are refused by the same desk.
    let call = plain(&bench, "create_issue", json!({"title": "two"}));
    let holder = bench.question().await.caller.seat().unwrap().clone();
    bench.handle.send(Command::StopSeat(holder)).unwrap();
    let (status, body) = call.await.unwrap();
    assert_eq!(status, StatusCode::FORBIDDEN, "{body}");
    assert_eq!(bench.decisions(), [Decision::Withdrawn, Decision::Withdrawn]);
    end(bench).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_dashboard_it_is_refused_in_clear_words() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let folder = tempfile::tempdir().unwrap();
    let token = operator_token("bridge");
    let config = format!(
        "name: Acme\nmcp_servers: []\nengine: {{ state_dir: '{}', approvals: {{ connector: ask }} }}\n\
         operators: [ {{ id: bridge, token: '${{BRIDGE:-{token}}}', scopes: ['issues:read', 'issues:write'] }} ]\n",
        folder.path().join("kept").display()
    );
    std::fs::write(folder.path().join("config.yaml"), config).unwrap();
    let serving = Serving::start(folder.path(), &[]);
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let call = async |tool: &str, body: &str| {
        let request = http.post(format!("http://{}/tools/{tool}", serving.address)).bearer_auth(&token);
        let answer = request.header("content-type", "application/json").body(body.to_owned()).send().await.unwrap();
        (answer.status(), answer.text().await.unwrap())
    };
    let (status, body) = call("create_issue", r#"{"title":"x"}"#).await;
    assert_eq!(status, StatusCode::FORBIDDEN, "{body}");
    assert!(
        body.contains("a person has to decide (connector -> ask") && body.contains("nobody is at a terminal"),
        "{body}"
    );
    assert_eq!(call("list_issues", "{}").await.0, StatusCode::OK);
    let trail = std::fs::read_to_string(folder.path().join("kept/connector.jsonl")).unwrap();
    assert!(trail.lines().next().unwrap().contains(r#""outcome":"denied","reason":"policy""#), "{trail}");
}
