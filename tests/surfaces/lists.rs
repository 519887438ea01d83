//! What agents are offered, and how they hear that it changed.

use crewlet_tui::engine::audit::Kind;
use crewlet_tui::engine::command::Verdict;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::bench::{Agent, LEGACY, MODERN, bench, bench_with, read_until, tools};

fn expected() -> Value {
    json!([
        {"name": "get", "title": "Read a note", "description": "reads a note",
            "inputSchema": {"type": "object", "properties": {"id": {"type": "string", "x-own": [1.50]}}},
            "outputSchema": {"type": "object"},
            "annotations": {"readOnlyHint": true}},
        {"name": "mystery", "description": "MCP tool: mystery", "inputSchema": {"type": "object"}},
        {"name": "odd_name_here", "description": "MCP tool: odd/name here", "inputSchema": {"type": "object"}},
        {"name": "delete", "description": "removes a note", "inputSchema": {"type": "object"},
            "annotations": {"destructiveHint": true}},
    ])
}

fn names(listing: &Value) -> Vec<&str> {
    let tools = listing["result"]["tools"].as_array().unwrap_or_else(|| panic!("{listing}"));
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn both_eras_and_the_introspection_show_one_table() {
    let bench = bench().await;
    let [legacy, modern] = bench.both("release").await;
    let expected = expected();
    assert_eq!(legacy.list().await["result"], json!({"tools": expected}));
    assert_eq!(
        modern.list().await["result"],
        json!({"tools": expected, "resultType": "complete", "ttlMs": 0, "cacheScope": "private"})
    );
    let tools = Agent { url: bench.url("/tools"), ..modern };
    let answer = tools.with(Method::GET, &[]).await;
    assert_eq!(serde_json::from_str::<Value>(&answer.body).unwrap(), expected);
    bench.stop().await;
}

#[tokio::test]
async fn a_client_opens_as_its_era_does() {
    let bench = bench().await;
    let agent = bench.agent("release", Some(String::new()));
    for (asked, given) in [(LEGACY, LEGACY), ("2025-03-26", "2025-03-26"), ("1999-01-01", LEGACY)] {
        let answer = agent.initialize(asked).await;
        let result = &answer.message()["result"];
        let list = json!({"listChanged": true});
        assert_eq!(result["protocolVersion"], json!(given));
        assert_eq!(result["serverInfo"]["title"], json!("Release Manager (release)"));
        assert_eq!(result["capabilities"], json!({"tools": list, "resources": list, "prompts": list}));
    }
    let modern = bench.modern("release");
    let result = modern.request("server/discover", json!({})).await.message()["result"].clone();
    assert_eq!(result["supportedVersions"], json!([MODERN]));
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], json!("crewlet"));
    let legacy = bench.legacy("release").await;
    assert_eq!(legacy.request("ping", json!({})).await.message()["result"], json!({}));
    assert_eq!(legacy.request("x/y", json!({})).await.message()["error"]["code"], json!(-32601));
    let unknown = modern.request("x/y", json!({})).await;
    assert_eq!((unknown.status, unknown.message()["error"]["code"].clone()), (StatusCode::NOT_FOUND, json!(-32601)));
    bench.stop().await;
}

#[tokio::test]
async fn the_stateless_era_needs_head_and_body_to_agree() {
    let bench = bench().await;
    let modern = bench.modern("release");
    let params = modern.calling("get", "{}");
    let cases: [(&[(&str, &str)], i64); 4] = [
        (&[("mcp-protocol-version", LEGACY)], -32020),
        (&[("mcp-method", "tools/list")], -32020),
        (&[("mcp-name", "delete")], -32020),
        (&[], 0),
    ];
    for (headers, code) in cases {
        let mut request = modern.post("tools/call", &params, Some(json!(1))).build().unwrap();
        for (name, value) in headers {
            let name = reqwest::header::HeaderName::from_bytes(name.as_bytes()).unwrap();
            request.headers_mut().insert(name, value.parse().unwrap());
        }
        let response = bench.http.execute(request).await.unwrap();
        let status = response.status();
        let message: Value = response.json().await.unwrap();
        if code == 0 {
            assert_eq!((status, &message["result"]["isError"]), (StatusCode::OK, &json!(false)), "{message}");
        } else {
            assert_eq!((status, &message["error"]["code"]), (StatusCode::BAD_REQUEST, &json!(code)), "{message}");
        }
    }
    // Members that the method does not know say nothing about the one that it does.
    for extra in [r#""uri":1"#, r#""taskId":[]"#, r#""uri":"a","uri":"b""#] {
        let params = params.replacen('{', &format!("{{{extra},"), 1);
        let mut request = modern.post("tools/call", &params, Some(json!(1))).build().unwrap();
        request.headers_mut().insert("mcp-name", "delete".parse().unwrap());
        let message: Value = bench.http.execute(request).await.unwrap().json().await.unwrap();
        assert_eq!(message["error"]["code"], json!(-32020), "{extra}: {message}");
    }
    let other = params.replace(MODERN, "2030-01-01");
    let request = modern.post("tools/call", &other, Some(json!(1)));
    let mut request = request.build().unwrap();
    request.headers_mut().insert("mcp-protocol-version", "2030-01-01".parse().unwrap());
    let message: Value = bench.http.execute(request).await.unwrap().json().await.unwrap();
    assert_eq!(message["error"]["data"], json!({"supported": [MODERN], "requested": "2030-01-01"}));
    assert_eq!(bench.server.ledger().len(), 1, "only what agreed was run");
    bench.stop().await;
}

#[tokio::test]
async fn a_session_hears_of_changed_tools_and_is_refused_what_is_gone() {
    let bench = bench().await;
    let agent = bench.legacy("release").await;
    let mut stream = agent.open(Method::GET).await;
    read_until(&mut stream, "listening").await;
    let mut fewer = tools();
    fewer.remove(0);
    bench.server.change_tools(fewer).await;
    read_until(&mut stream, "notifications/tools/list_changed").await;
    assert_eq!(names(&agent.list().await), ["mystery", "odd_name_here", "delete"]);
    assert_eq!(agent.call("get", "{}").await.message()["error"]["code"], json!(-32602));
    assert_eq!(bench.server.ledger(), []);
    bench.stop().await;
}

#[tokio::test]
async fn a_client_without_session_hears_of_changed_tools() {
    let bench = bench().await;
    let agent = bench.modern("release");
    let meta: Value = serde_json::from_str(&agent.calling("x", "{}")).unwrap();
    let params =
        json!({"notifications": {"toolsListChanged": true, "promptsListChanged": true}, "_meta": meta["_meta"]});
    let request = agent.post("subscriptions/listen", &params.to_string(), Some(json!("sub")));
    let mut stream = request.send().await.unwrap();
    let first = read_until(&mut stream, "\n\n").await;
    assert!(first.contains(r#""notifications":{"toolsListChanged":true,"promptsListChanged":true}"#), "{first}");
    bench.server.change_tools([]).await;
    let changed = read_until(&mut stream, "list_changed").await;
    assert!(changed.contains(r#""io.modelcontextprotocol/subscriptionId":"sub""#), "{changed}");
    let ending = tokio::spawn(async move { read_until(&mut stream, r#""resultType":"complete""#).await });
    bench.stop().await;
    ending.await.unwrap();
}

#[tokio::test]
async fn names_are_the_same_after_a_restart_and_for_every_seat() {
    let bench = bench().await;
    let first = bench.modern("release").list().await;
    let other = bench.modern("review").list().await;
    assert_eq!(first["result"], other["result"]);
    for name in names(&first) {
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        assert!((1..=64).contains(&name.len()) && name.chars().all(fits), "{name}");
    }
    bench.stop().await;
    let again = crate::bench::bench().await;
    assert_eq!(again.modern("release").list().await["result"], first["result"]);
    again.stop().await;
}

#[tokio::test]
async fn what_one_seat_has_of_its_own_is_not_there_for_another_in_any_way() {
    let bench = bench_with(
        "
name: Acme
roles:
  - { name: Release Manager, handle: release, mcp_env: { notes: { TOKEN: of-release } } }
  - { name: Reviewer, handle: review }
mcp_servers:
  - { name: notes, shared: false, command: in-memory }
",
    )
    .await;
    let [legacy, modern] = bench.both("release").await;
    for agent in [legacy, modern] {
        assert_eq!(agent.list().await["result"]["tools"], expected());
        assert_eq!(agent.call("get", "{}").await.message()["result"]["isError"], json!(false));
    }
    let ran = bench.server.ledger().len();
    let call = bench.modern("release").start_call("delete", "{}");
    let question = bench.question().await;
    assert_eq!(question.entry.connection.as_str(), "notes::Release_Manager");
    bench.decide(&question, Verdict::Approve).await;
    call.await.unwrap();
    let [legacy, modern] = bench.both("review").await;
    for agent in [legacy, modern] {
        assert_eq!(agent.list().await["result"]["tools"], json!([]));
        let nowhere = agent.call("no_such_tool", "{}").await.message()["error"].clone();
        assert_eq!(nowhere["code"], json!(-32602));
        for name in ["get", "GET", "delete", "notes/get", "notes::Release_Manager/get", "odd/name here"] {
            assert_eq!(agent.call(name, "{}").await.message()["error"], nowhere, "{name}");
        }
    }
    assert_eq!(bench.server.ledger().len(), ran + 1);
    let refused = bench.reasons(Kind::Refused);
    let told = "seat \"review\" has no tool \"get\": only other seats do";
    assert!(refused.iter().any(|reason| reason.contains(told)), "{refused:?}");
    bench.stop().await;
}
