//! The company's own tools over HTTP: the operator surface through the gate, and the connector in its two forms.

use std::time::Duration;

use crewlet_tui::engine::audit::{Decision, Kind};
use crewlet_tui::engine::command::{Command, GrantScope, Remember, Verdict};
use crewlet_tui::engine::snapshot::Caller;
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::bench::{Bench, CONFIG, bench, bench_with, operator_token};

const OPERATORS: &str = "
operators:
  - { id: founder, token: '${FOUNDER}', seat: release }
  - { id: partner, token: '${PARTNER}' }
  - { id: bridge, token: '${BRIDGE}', scopes: ['issues:read', 'issues:write', 'comments:read', 'comments:write'] }
  - { id: reader, token: '${READER}', scopes: ['issues:read'] }
";

async fn company() -> Bench {
    bench_with(&format!("{CONFIG}{OPERATORS}")).await
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| panic!("no JSON: {text}"))
}

fn names(tools: &Value) -> Vec<String> {
    tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

/// The whole of a call's result over MCP: its error flag and the body in its text.
fn body(message: &Value) -> (bool, Value) {
    let result = &message["result"];
    (
        result["isError"] == json!(true),
        json(result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{message}"))),
    )
}

#[tokio::test]
async fn an_operator_works_the_tracker_in_both_eras_as_itself() {
    let bench = company().await;
    for legacy in [true, false] {
        let founder = bench.operator("founder", "/operator/mcp", legacy).await;
        let made = founder.call("create_work_item", r#"{"project":"WORK","title":"ship it"}"#).await.message();
        let item = &made["result"]["structuredContent"]["item"];
        assert_eq!((&item["reporter"], &item["title"]), (&json!("operator:founder"), &json!("ship it")), "{made}");
        let forged = founder.call("create_work_item", r#"{"project":"WORK","title":"x","reporter":"partner"}"#).await;
        assert!(forged.outcome().starts_with("error: invalid: create_work_item takes no \"reporter\""), "{forged:?}");
        let missing = founder.call("get_work_item", r#"{"item":"WORK-999"}"#).await.message();
        assert_eq!(missing["result"]["structuredContent"], json!({"refusal": "not_found"}));
        assert_eq!(founder.call("get_work_item", "[1]").await.message()["result"]["isError"], json!(true));
        for name in ["list_issues", "notes_get", "get", "nothing"] {
            assert_eq!(founder.call(name, "{}").await.message()["error"]["code"], json!(-32602), "{name}");
        }
    }
    let records = bench.trail.records();
    let callers: Vec<_> = records.iter().filter(|record| record.kind == Kind::Dispatched).collect();
    assert_eq!(callers.len(), 6, "reads are in the trail as well");
    for record in callers {
        let Some(Caller::Operator { holder, client, .. }) = &record.caller else { panic!("{record:?}") };
        assert!(holder.operator() == Some("founder") && client.contains("agent"), "{record:?}");
        assert_eq!(record.server.as_ref().unwrap().as_str(), "crewlet");
    }
    let own: Vec<_> = records.iter().filter(|record| record.kind == Kind::Finished).map(|record| &record.own).collect();
    let refusals: Vec<_> = own.iter().map(|own| own.refusal.as_deref()).collect();
    let invalid = [None, Some("invalid"), Some("not_found")];
    assert_eq!(refusals, [invalid, invalid].concat(), "what a refusal was is in the trail");
    assert!(own[0].position.is_some() && own[0].position < own[3].position, "{own:?}");
    assert!(own.iter().all(|own| own.actor_seat.as_deref() == Some("release")), "{own:?}");
    bench.stop().await;
}

#[tokio::test]
async fn what_destroys_asks_the_person_who_sees_the_operator() {
    let bench = company().await;
    for legacy in [true, false] {
        let founder = bench.operator("founder", "/operator/mcp", legacy).await;
        let made = founder.call("create_work_item", r#"{"project":"WORK","title":"old"}"#).await.message();
        let key = made["result"]["structuredContent"]["item"]["item"].as_str().unwrap().to_owned();
        let arguments = json!({"item": key}).to_string();
        let call = founder.start_call("remove_work_item", &arguments);
        let question = bench.question().await;
        assert_eq!(question.caller.seat().unwrap().operator(), Some("founder"));
        assert_eq!(question.entry.server.as_str(), "crewlet");
        let there = founder.call_as(json!(8), "get_work_item", &arguments).await.message();
        assert_eq!(there["result"]["structuredContent"]["item"]["removed"], json!(null), "nothing before the decision");
        bench.decide(&question, Verdict::Deny { reason: "keep it".to_owned() }).await;
        assert!(call.await.unwrap().outcome().starts_with("error: denied by a person: keep it"));

        let call = founder.start_call("remove_work_item", &arguments);
        bench.decide(&bench.question().await, Verdict::Approve).await;
        let removed = call.await.unwrap().message();
        assert_eq!(removed["result"]["structuredContent"]["outcome"], json!("removed"), "{removed}");
    }
    assert_eq!(bench.decisions(), [Decision::Denied, Decision::Approved, Decision::Denied, Decision::Approved]);
    bench.stop().await;
}

#[tokio::test]
async fn operators_are_told_what_they_have_and_can_follow_a_question_as_a_task() {
    const TASKS: &str = "io.modelcontextprotocol/tasks";
    let bench = company().await;
    for (id, path, has_tasks) in [("founder", "/operator/mcp", true), ("bridge", "/connector/mcp", false)] {
        let mut agent = bench.operator(id, path, false).await;
        agent.capabilities = json!({"extensions": {TASKS: {}}});
        let found = agent.request("server/discover", json!({})).await.message()["result"]["capabilities"].clone();
        assert_eq!((found["tools"].is_object(), found["extensions"][TASKS].is_object()), (true, has_tasks), "{found}");
        assert!(found["resources"].is_null() && found["prompts"].is_null(), "{found}");
        for method in ["resources/list", "prompts/list", "resources/templates/list"] {
            let answer = agent.request(method, json!({})).await;
            assert_eq!(answer.message()["error"]["code"], json!(-32601), "{method}");
        }
        let asked = agent.request("tasks/get", json!({"taskId": "none"})).await.message()["error"]["code"].clone();
        assert_eq!(asked, if has_tasks { json!(-32602) } else { json!(-32601) });
    }
    let mut founder = bench.operator("founder", "/operator/mcp", false).await;
    founder.capabilities = json!({"extensions": {TASKS: {}}});
    founder.call("create_work_item", r#"{"project":"WORK","title":"a"}"#).await;
    let task = founder.call("remove_work_item", r#"{"item":"WORK-1"}"#).await.message()["result"].clone();
    assert_eq!(task["status"], json!("working"), "{task}");
    let question = bench.question().await;
    // It is this operator's and nobody else's.
    let mut partner = bench.operator("partner", "/operator/mcp", false).await;
    partner.capabilities = founder.capabilities.clone();
    let id = json!({"taskId": task["taskId"]});
    assert_eq!(partner.request("tasks/get", id.clone()).await.message()["error"]["code"], json!(-32602));
    bench.decide(&question, Verdict::Approve).await;
    let over = async {
        loop {
            let task = founder.request("tasks/get", id.clone()).await.message()["result"].clone();
            if task["status"] != json!("working") {
                return task;
            }
        }
    };
    let over = tokio::time::timeout(Duration::from_secs(10), over).await.expect("in time");
    assert_eq!(over["result"]["structuredContent"]["outcome"], json!("removed"), "{over}");
    bench.stop().await;
}

#[tokio::test]
async fn what_is_remembered_for_one_operator_lets_no_other_and_no_seat_through() {
    let bench = company().await;
    let founder = bench.operator("founder", "/operator/mcp", false).await;
    founder.call("create_work_item", r#"{"project":"WORK","title":"a"}"#).await;
    let arguments = r#"{"item":"WORK-1"}"#;
    let call = founder.start_call("update_work_item", r#"{"item":"WORK-1","title":"b"}"#);
    let remember = Remember { scope: GrantScope::ThisTool, span: Some(Duration::from_secs(600)) };
    bench.decide(&bench.question().await, Verdict::ApproveAndRemember(remember)).await;
    call.await.unwrap();
    let again = founder.call("update_work_item", r#"{"item":"WORK-1","title":"c"}"#).await.message();
    assert_eq!(again["result"]["structuredContent"]["item"]["title"], json!("c"), "remembered");

    let partner = bench.operator("partner", "/operator/mcp", false).await;
    let call = partner.start_call("update_work_item", r#"{"item":"WORK-1","title":"d"}"#);
    let question = bench.question().await;
    assert_eq!(question.caller.seat().unwrap().operator(), Some("partner"));
    bench.handle.send(Command::StopSeat(question.caller.seat().unwrap().clone())).unwrap();
    assert!(call.await.unwrap().outcome().starts_with("error: "), "a person can stop an operator");
    assert!(partner.call("list_projects", "{}").await.outcome().contains("was stopped"));
    assert!(founder.call("get_work_item", arguments).await.outcome().starts_with("ok: "), "and stops nobody else");

    bench.until(|snapshot| snapshot.approvals.is_empty()).await;
    let seat = bench.modern("release");
    let call = seat.start_call("update_work_item", r#"{"item":"WORK-1","title":"e"}"#);
    assert_eq!(bench.question().await.caller.seat().unwrap().as_str(), "release");
    call.abort();
    bench.stop().await;
}

#[tokio::test]
async fn seats_hold_their_part_of_it_and_cannot_reach_the_rest() {
    let bench = company().await;
    let listed = names(&bench.modern("release").list().await["result"]["tools"]);
    assert!(
        listed.iter().any(|name| name == "create_work_item") && listed.iter().any(|name| name == "get"),
        "{listed:?}"
    );
    for hidden in ["remove_work_item", "restore_work_item", "work_inbox", "mark_inbox", "delete_issue"] {
        assert!(!listed.iter().any(|name| name == hidden), "{hidden}");
        let answer = bench.modern("release").call(hidden, "{}").await.message();
        assert_eq!(answer["error"]["code"], json!(-32602), "{hidden}");
    }
    let made = bench.modern("release").call("create_work_item", r#"{"project":"WORK","title":"mine"}"#).await.message();
    assert_eq!(made["result"]["structuredContent"]["item"]["reporter"], json!("seat:release"));
    bench.stop().await;
}

#[tokio::test]
async fn introspection_and_the_listings_are_one_table() {
    let bench = company().await;
    let listing = async |id: &str, path: &str, legacy: bool| {
        bench.operator(id, path, legacy).await.list().await["result"]["tools"].clone()
    };
    let own = listing("founder", "/operator/mcp", true).await;
    let connector = listing("bridge", "/connector/mcp", true).await;
    assert_eq!(own, listing("founder", "/operator/mcp", false).await);
    assert_eq!(connector, listing("reader", "/connector/mcp", false).await);
    let both: Vec<Value> = own.as_array().unwrap().iter().chain(connector.as_array().unwrap()).cloned().collect();
    assert_eq!(json(&bench.get(&operator_token("founder"), "/tools").await.1), json!(both));
    assert_eq!(json(&bench.get(&operator_token("bridge"), "/tools").await.1), connector);
    assert!(!names(&own).iter().any(|name| name.starts_with("notes")), "servers' tools are the seats'");

    let of = |name: &str| both.iter().find(|tool| tool["name"] == json!(name)).unwrap()["annotations"].clone();
    assert_eq!(of("search_work_items"), json!({"readOnlyHint": true, "idempotentHint": true}));
    assert_eq!(of("remove_work_item"), json!({"destructiveHint": true, "idempotentHint": true, "openWorldHint": true}));
    assert_eq!(of("mark_inbox"), json!({"idempotentHint": true}));
    assert_eq!(of("delete_issue"), json!({"destructiveHint": true, "idempotentHint": true}));
    assert_eq!(of("create_issue"), json!(null));
    for tool in &both {
        let hints = tool["annotations"].as_object().into_iter().flatten();
        assert!(hints.into_iter().all(|(_, hint)| *hint == json!(true)), "only what is positively so: {tool}");
    }
    bench.stop().await;
}

#[tokio::test]
async fn tokens_open_what_is_theirs_and_nothing_else() {
    let bench = company().await;
    let (founder, bridge, seat) = (operator_token("founder"), operator_token("bridge"), bench.token("release"));
    let unauthorised = StatusCode::UNAUTHORIZED;
    for (token, path, status) in [
        (founder.as_str(), "/tools", StatusCode::OK),
        (bridge.as_str(), "/tools", StatusCode::OK),
        (founder.as_str(), "/metrics", StatusCode::OK),
        (founder.as_str(), "/nothing", StatusCode::NOT_FOUND),
        (founder.as_str(), "/seats/release/mcp", unauthorised),
        (bridge.as_str(), "/operator/mcp", unauthorised),
        (seat.as_str(), "/operator/mcp", unauthorised),
        (seat.as_str(), "/connector/mcp", unauthorised),
        ("founder-token-012345678", "/operator/mcp", unauthorised),
        ("", "/operator/mcp", unauthorised),
        ("x", "/connector/mcp", unauthorised),
        ("x", "/tools", unauthorised),
    ] {
        let (got, text) = bench.get(token, path).await;
        assert_eq!(got, status, "{path} by {token}");
        assert!(got != unauthorised || text.is_empty(), "no detail: {text}");
    }
    assert_eq!(bench.plain(&seat, "list_issues", "{}").await.0, unauthorised);
    assert_eq!(bench.plain("wrong", "list_issues", "{}").await.0, unauthorised);
    // A session of one surface is none of the other, whoever holds the token.
    let session = bench.operator("founder", "/operator/mcp", true).await;
    let mut other = session.clone();
    other.url = bench.url("/connector/mcp");
    assert_eq!(other.request("tools/list", json!({})).await.status, StatusCode::NOT_FOUND);
    let mut partner = session.clone();
    partner.token = operator_token("partner");
    assert_eq!(partner.request("tools/list", json!({})).await.status, StatusCode::NOT_FOUND);
    bench.stop().await;
}

#[tokio::test]
async fn without_tracker_and_pages_the_surfaces_do_not_exist() {
    let closed = "engine: { native: { tracker: false, pages: false } }\n";
    let bench = bench_with(&format!("{CONFIG}{OPERATORS}{closed}")).await;
    let founder = operator_token("founder");
    for path in ["/operator/mcp", "/connector/mcp", "/tools"] {
        assert_eq!(bench.get(&founder, path).await.0, StatusCode::NOT_FOUND, "{path}");
    }
    assert_eq!(bench.plain(&founder, "list_issues", "{}").await.0, StatusCode::NOT_FOUND);
    assert_eq!(bench.get("", "/operator/mcp").await.0, StatusCode::UNAUTHORIZED);
    bench.stop().await;
}

#[tokio::test]
async fn without_operators_nobody_gets_in() {
    let bench = bench().await;
    for path in ["/operator/mcp", "/connector/mcp"] {
        assert_eq!(bench.get(&bench.token("release"), path).await.0, StatusCode::UNAUTHORIZED);
        assert_eq!(bench.get("", path).await.0, StatusCode::UNAUTHORIZED);
    }
    bench.stop().await;
}

#[tokio::test]
async fn two_operators_with_one_token_are_nobody() {
    let twice =
        "operators: [ { id: a, token: '${SAME}' }, { id: b, token: '${SAME}' }, { id: c, token: '${OTHER}' } ]\n";
    let bench = bench_with(&format!("{CONFIG}{twice}")).await;
    assert_eq!(bench.get(&operator_token("same"), "/tools").await.0, StatusCode::UNAUTHORIZED);
    assert_eq!(bench.get(&operator_token("other"), "/tools").await.0, StatusCode::OK);
    bench.until(|s| s.notices.iter().any(|notice| notice.text.contains("another operator has the same token"))).await;
    bench.stop().await;
}

#[tokio::test]
async fn the_connectors_two_forms_say_the_same() {
    let bench = company().await;
    let bridge = operator_token("bridge");
    let (status, made) =
        bench.plain(&bridge, "create_issue", r#"{"title":"one","description":"key AKIAABCDEFGHIJKLMNOP"}"#).await;
    assert_eq!(status, StatusCode::OK, "{made}");
    assert_eq!(made["result"]["issue"]["description"], json!("key [REDACTED:aws-key]"), "as every tool's result");
    let id = made["result"]["issue"]["id"].as_str().unwrap().to_owned();
    let missing = "00000000-0000-4000-8000-000000000000";
    let cases = [
        ("get_issue", json!({"issue_id": id}), 200),
        ("list_issues", json!({}), 200),
        ("dashboard_usage_daily", json!({}), 403),
        ("delete_issue", json!({"issue_id": id}), 400),
        ("delete_issue", json!({"issue_id": missing, "confirm": true}), 403),
        ("create_issue", json!({"title": ""}), 400),
        ("get_issue", json!({"issue_id": id, "extra": 1}), 400),
    ];
    let clients = [
        bench.operator("bridge", "/connector/mcp", true).await,
        bench.operator("bridge", "/connector/mcp", false).await,
    ];
    for (tool, arguments, expected) in cases {
        let (status, plain) = bench.plain(&bridge, tool, &arguments.to_string()).await;
        assert_eq!(status.as_u16(), expected, "{tool} {arguments}: {plain}");
        for client in &clients {
            let message = client.call(tool, &arguments.to_string()).await.message();
            let (is_error, text) = body(&message);
            assert_eq!(is_error, expected != 200, "{message}");
            let same = if is_error { &plain } else { &plain["result"] };
            assert_eq!(text, *same, "{tool}");
            let structured = &message["result"]["structuredContent"];
            assert_eq!(structured["status"], if is_error { json!(expected) } else { json!(null) });
        }
    }
    let (status, unknown) = bench.plain(&bridge, "create_work_item", "{}").await;
    assert_eq!((status, unknown), (StatusCode::NOT_FOUND, json!({"error": "there is no such tool"})));
    for client in &clients {
        assert_eq!(client.call("create_work_item", "{}").await.message()["error"]["code"], json!(-32602));
    }
    let (status, deleted) =
        bench.plain(&bridge, "delete_issue", &json!({"issue_id": id, "confirm": true}).to_string()).await;
    assert_eq!((status, deleted), (StatusCode::OK, json!({"result": {"issue_id": id, "deleted": true}})));
    assert_eq!(bench.plain(&bridge, "list_issues", "[]").await.0, StatusCode::BAD_REQUEST);
    assert_eq!(bench.plain(&bridge, "list_issues", "").await.0, StatusCode::OK, "no body is no arguments");
    assert!(bench.trail.records().is_empty(), "the connector's trail is its own");
    let lines = std::fs::read_to_string(bench.state.file("connector.jsonl")).unwrap();
    assert_eq!(lines.lines().count(), 1 + 7 * 3 + 1 + 2 + 1 + 2);
    bench.stop().await;
}

#[tokio::test]
async fn an_issue_and_a_work_item_are_one_row() {
    let bench = company().await;
    let (_, made) =
        bench.plain(&operator_token("bridge"), "create_issue", r#"{"title":"outside","priority":"medium"}"#).await;
    let key = made["result"]["issue"]["key"].as_str().unwrap();
    let founder = bench.operator("founder", "/operator/mcp", false).await;
    let item = founder.call("get_work_item", &json!({"item": key}).to_string()).await.message();
    let item = &item["result"]["structuredContent"]["item"];
    assert_eq!((&item["priority"], &item["reporter"]), (&json!("normal"), &json!("operator:bridge")));
    founder.call("comment_on_work_item", &json!({"item": key, "body": "seen"}).to_string()).await;
    let (_, comments) =
        bench.plain(&operator_token("bridge"), "list_comments", &json!({"issue_id": key}).to_string()).await;
    assert_eq!(comments["result"]["comments"][0]["author"], json!("operator:founder"));
    bench.stop().await;
}
