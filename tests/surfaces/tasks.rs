//! Calls as tasks: for clients that declare the extension, a question to a person is no reason to be held.

use std::time::Duration;

use crewlet_tui::engine::audit::Decision;
use crewlet_tui::engine::command::Verdict;
use crewlet_tui::engine::snapshot::{CallPhase, Withdrawal};
use crewlet_tui::surface::tokens;
use reqwest::StatusCode;
use rmcp::model::{CreateTaskResult, GetTaskResult, TaskAckResult, TaskStatus};
use serde_json::{Value, json};

use crate::bench::{Agent, Answer, Bench, bench, bench_with};
use crate::scripted::Reaction;

const EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// A client of the era without sessions that can follow tasks.
fn follower(bench: &Bench, seat: &str) -> Agent {
    let mut agent = bench.modern(seat);
    agent.capabilities = json!({"extensions": {EXTENSION: {}}});
    agent
}

/// Calls, and reads the task that comes back, as the protocol's own types do.
async fn begin(agent: &Agent, tool: &str, arguments: &str) -> String {
    let answer = agent.call(tool, arguments).await;
    assert_eq!(answer.status, StatusCode::OK);
    let task: CreateTaskResult = serde_json::from_value(answer.message()["result"].clone()).expect("a task");
    assert_eq!(task.task.status, TaskStatus::Working);
    assert!(task.task.ttl_ms.is_some() && task.task.poll_interval_ms.is_some());
    task.task.task_id
}

async fn about(agent: &Agent, method: &str, id: &str) -> Answer {
    agent.request(method, json!({"taskId": id})).await
}

async fn get(agent: &Agent, id: &str) -> Value {
    let result = about(agent, "tasks/get", id).await.message()["result"].clone();
    serde_json::from_value::<GetTaskResult>(result.clone()).unwrap_or_else(|error| panic!("{error}: {result}"));
    result
}

/// Asks until the task is over.
async fn finish(agent: &Agent, id: &str) -> Value {
    let asking = async {
        loop {
            let task = get(agent, id).await;
            if task["status"] != json!("working") {
                return task;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(10), asking).await.expect("in time")
}

fn text(task: &Value) -> &str {
    task["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{task}"))
}

#[tokio::test]
async fn a_call_that_waits_is_a_task_at_once_and_its_result_is_fetched() {
    let bench = bench().await;
    for accept in ["application/json, text/event-stream", "application/json", "text/event-stream"] {
        let agent = Agent { accept, progress: Some(json!("p")), ..follower(&bench, "release") };
        let before = bench.server.ledger().len();
        let id = begin(&agent, "delete", r#"{"id":"a"}"#).await;
        let question = bench.question().await;
        let waiting = get(&agent, &id).await;
        assert_eq!((&waiting["status"], &waiting["resultType"]), (&json!("working"), &json!("complete")));
        assert!(waiting["statusMessage"].as_str().unwrap().contains("person"), "{waiting}");
        assert_eq!(bench.server.ledger().len(), before);
        bench.decide(&question, Verdict::Approve).await;
        let over = finish(&agent, &id).await;
        assert_eq!((&over["status"], text(&over)), (&json!("completed"), "ok"));
        assert_eq!(over["result"]["isError"], json!(false));
        assert_eq!(bench.server.ledger().len(), before + 1);
        assert_eq!(get(&agent, &id).await, over, "it can be fetched again");
        assert_eq!(bench.server.ledger().len(), before + 1, "and is not run again");
    }
    let discovered = bench.modern("release").request("server/discover", json!({})).await.message();
    assert_eq!(discovered["result"]["capabilities"]["extensions"][EXTENSION], json!({}));
    bench.stop().await;
}

#[tokio::test]
async fn what_runs_unasked_and_who_did_not_declare_it_get_no_task() {
    let bench = bench().await;
    let agent = follower(&bench, "release");
    assert_eq!(agent.call("get", "{}").await.outcome(), "ok: ok");
    for capabilities in
        [json!({}), json!({"extensions": {}}), json!({"extensions": {EXTENSION: null}}), json!({EXTENSION: {}})]
    {
        let plain = Agent { capabilities, ..bench.modern("release") };
        let call = plain.start_call("delete", "{}");
        bench.decide(&bench.question().await, Verdict::Approve).await;
        assert_eq!(call.await.unwrap().outcome(), "ok: ok");
        for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
            let refused = about(&plain, method, "x").await;
            assert_eq!(refused.status, StatusCode::BAD_REQUEST);
            let error = refused.message()["error"].clone();
            assert_eq!(error["code"], json!(-32021));
            assert_eq!(error["data"], json!({"requiredCapabilities": {"extensions": {EXTENSION: {}}}}));
        }
        let listen = json!({"notifications": {"toolsListChanged": true, "taskIds": ["x"]}});
        assert_eq!(plain.request("subscriptions/listen", listen).await.message()["error"]["code"], json!(-32021));
    }
    let legacy = bench.legacy("release").await;
    assert_eq!(about(&legacy, "tasks/get", "x").await.message()["error"]["code"], json!(-32601));
    bench.stop().await;
}

#[tokio::test]
async fn denial_and_expiry_complete_a_task_with_the_tools_error() {
    let bench = bench_with(&format!("{}engine: {{ approvals: {{ wait_seconds: 1 }} }}\n", crate::bench::CONFIG)).await;
    let agent = follower(&bench, "release");
    let id = begin(&agent, "delete", "{}").await;
    bench.decide(&bench.question().await, Verdict::Deny { reason: "not today".into() }).await;
    let denied = finish(&agent, &id).await;
    assert_eq!((&denied["status"], &denied["result"]["isError"]), (&json!("completed"), &json!(true)));
    assert!(text(&denied).contains("denied by a person: not today"), "{denied}");
    let id = begin(&agent, "delete", "{}").await;
    let expired = finish(&agent, &id).await;
    assert_eq!((&expired["status"], &expired["result"]["isError"]), (&json!("completed"), &json!(true)));
    assert!(text(&expired).contains("nobody decided in time"), "{expired}");
    assert_eq!(bench.server.ledger(), []);
    bench.stop().await;
}

#[tokio::test]
async fn a_cancelled_task_is_withdrawn_within_a_second() {
    let bench = bench().await;
    let agent = follower(&bench, "release");
    let id = begin(&agent, "delete", "{}").await;
    let question = bench.question().await;
    let answer = about(&agent, "tasks/cancel", &id).await.message()["result"].clone();
    serde_json::from_value::<TaskAckResult>(answer).expect("an acknowledgement");
    let ended = |phase: &CallPhase| *phase == CallPhase::Withdrawn(Withdrawal::Cancelled);
    let withdrawn = bench.until(|s| s.approvals.is_empty() && s.calls.iter().any(|call| ended(&call.phase)));
    tokio::time::timeout(Duration::from_secs(1), withdrawn).await.expect("within a second");
    assert_eq!(bench.decisions(), [Decision::Withdrawn]);
    let over = finish(&agent, &id).await;
    assert_eq!((&over["status"], over.get("result")), (&json!("cancelled"), None));
    bench.decide(&question, Verdict::Approve).await;
    bench.until(|s| s.notices.iter().any(|notice| notice.text.contains("too late"))).await;
    assert_eq!(finish(&agent, &id).await["status"], json!("cancelled"), "an end is an end");
    assert_eq!(bench.server.ledger(), []);
    bench.stop().await;
}

#[tokio::test]
async fn a_task_that_runs_says_how_far_it_is_and_is_cancelled_upstream() {
    let bench = bench().await;
    let agent = follower(&bench, "release");
    bench.server.react([Reaction::Silence]);
    let id = begin(&agent, "delete", "{}").await;
    bench.decide(&bench.question().await, Verdict::Approve).await;
    let told = |text: &'static str| {
        let (agent, id) = (agent.clone(), id.clone());
        async move { while get(&agent, &id).await["statusMessage"] != json!(text) {} }
    };
    tokio::time::timeout(Duration::from_secs(10), told("running")).await.expect("it runs");
    while bench.server.ledger().is_empty() {
        tokio::task::yield_now().await;
    }
    let token = bench.server.received().pop().unwrap()["params"]["_meta"]["progressToken"].clone();
    let params = json!({"progressToken": token, "progress": 1, "message": "half way"});
    bench.server.say([json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})]).await;
    tokio::time::timeout(Duration::from_secs(10), told("half way")).await.expect("it says so");
    about(&agent, "tasks/cancel", &id).await;
    let heard = async {
        while !bench.server.methods().iter().any(|method| method == "notifications/cancelled") {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(1), heard).await.expect("the server is told within a second");
    let over = finish(&agent, &id).await;
    assert_eq!(over["status"], json!("cancelled"));
    assert!(over["statusMessage"].as_str().unwrap().contains("outcome is unknown"), "{over}");
    bench.stop().await;
}

#[tokio::test]
async fn what_is_approved_while_nobody_asks_waits_for_the_client() {
    // No client of this company counts as there longer than the moment in which it asks.
    let bench = bench_with(&format!("{}engine: {{ approvals: {{ hold_seconds: 0 }} }}\n", crate::bench::CONFIG)).await;
    let agent = follower(&bench, "release");
    let id = begin(&agent, "delete", "{}").await;
    bench.decide(&bench.question().await, Verdict::Approve).await;
    bench.until(|s| s.approvals.is_empty() && s.calls.iter().any(|call| call.decider.is_some())).await;
    assert_eq!(bench.server.ledger(), [], "nothing runs without a live caller");
    assert_eq!(text(&finish(&agent, &id).await), "ok");
    assert_eq!(bench.server.ledger().len(), 1);
    bench.stop().await;
}

#[tokio::test]
async fn another_seats_or_clients_task_is_as_unknown_as_none() {
    let bench = bench().await;
    let agent = follower(&bench, "release");
    let id = begin(&agent, "delete", "{}").await;
    bench.question().await;
    assert_eq!(id.len(), 32, "128 bits: {id}");
    let other = follower(&bench, "review");
    let mut stranger = follower(&bench, "release");
    stranger.name = "another-agent";
    let none = about(&agent, "tasks/get", &"0".repeat(32)).await.message()["error"].clone();
    assert_eq!(none["code"], json!(-32602));
    for thief in [&other, &stranger] {
        for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
            assert_eq!(about(thief, method, &id).await.message()["error"], none, "{method}");
        }
    }
    assert_eq!(agent.request("tasks/get", json!({})).await.message()["error"]["code"], json!(-32602));
    assert_eq!(bench.handle.snapshot().approvals.len(), 1, "nobody else cancels it");
    let update = json!({"taskId": id, "inputResponses": {"x": {}}});
    let ignored = agent.request("tasks/update", update).await.message()["result"].clone();
    serde_json::from_value::<TaskAckResult>(ignored).expect("an acknowledgement");
    let mut unlike = agent.post("tasks/get", &agent.asking(&json!({"taskId": id})), Some(json!(1))).build().unwrap();
    unlike.headers_mut().insert("mcp-name", "0".repeat(32).parse().unwrap());
    let unlike = bench.http.execute(unlike).await.unwrap();
    assert_eq!(unlike.status(), StatusCode::BAD_REQUEST);
    assert_eq!(unlike.json::<Value>().await.unwrap()["error"]["code"], json!(-32020));
    bench.decide(&bench.question().await, Verdict::Approve).await;
    assert_eq!(text(&finish(&agent, &id).await), "ok");
    bench.stop().await;
}

#[tokio::test]
async fn a_rotated_token_gives_the_seats_tasks_up() {
    let bench = bench().await;
    let agent = follower(&bench, "release");
    begin(&agent, "delete", "{}").await;
    bench.question().await;
    tokens::rotate(&bench.state, bench.config.org.seat(&"release".into()).unwrap()).unwrap();
    let ended = |phase: &CallPhase| *phase == CallPhase::Withdrawn(Withdrawal::CallerGone);
    bench.until(|s| s.approvals.is_empty() && s.calls.iter().any(|call| ended(&call.phase))).await;
    assert_eq!(bench.server.ledger(), []);
    bench.stop().await;
}

#[tokio::test]
async fn there_are_only_so_many_tasks_and_the_next_call_is_held_instead() {
    let bench = bench().await;
    let agent = follower(&bench, "release");
    for n in 0..128 {
        begin(&agent, "delete", &format!(r#"{{"n":{n}}}"#)).await;
    }
    let held = agent.start_call("delete", r#"{"n":128}"#);
    let all = bench.until(|s| s.approvals.len() == 129).await;
    let other = begin(&follower(&bench, "review"), "delete", "{}").await;
    assert!(!other.is_empty(), "another seat has its own");
    let question = all.approvals.iter().find(|one| one.arguments.canonical().contains("128")).unwrap();
    bench.decide(question, Verdict::Approve).await;
    assert_eq!(held.await.unwrap().outcome(), "ok: ok");
    bench.stop().await;
}
