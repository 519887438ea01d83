//! Arguments that a tool wants repeated among the headers: both have to say the same, or nothing runs.

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::bench::{Agent, Bench, bench};

/// Calls with further headers; how it went: `ok`, or the status and the error's code.
async fn call(bench: &Bench, agent: &Agent, arguments: &str, headers: &[(&str, &str)]) -> String {
    let mut request = agent.post("tools/call", &agent.calling("query", arguments), Some(json!(1)));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let before = bench.server.ledger().len();
    let response = request.send().await.unwrap();
    let (status, message) = (response.status(), response.json::<Value>().await.unwrap());
    let ran = bench.server.ledger().len() - before;
    match message["error"]["code"].as_i64() {
        None => {
            assert_eq!((status, ran), (StatusCode::OK, 1), "{message}");
            "ok".to_owned()
        }
        Some(code) => {
            assert_eq!(ran, 0, "{message}");
            format!("{} {code}", status.as_u16())
        }
    }
}

/// Arguments, headers, and how it goes.
type Row<'r> = (&'r str, &'r [(&'r str, &'r str)], &'r str);

async fn marked() -> Bench {
    let bench = bench().await;
    let schema = json!({"type": "object", "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "n": {"type": "integer", "x-mcp-header": "N"},
        "deep": {"type": "object", "properties": {"on": {"type": "boolean", "x-mcp-header": "Deep-On"}}},
    }});
    let odd = json!({"type": "object", "properties": {"a": {"type": "number", "x-mcp-header": "A"}}});
    bench
        .server
        .change_tools([
            json!({"name": "query", "inputSchema": schema, "annotations": {"readOnlyHint": true}}),
            json!({"name": "odd", "inputSchema": odd, "annotations": {"readOnlyHint": true}}),
        ])
        .await;
    bench.until(|snapshot| snapshot.catalog.entries().len() == 2).await;
    bench
}

#[tokio::test]
async fn headers_and_marked_arguments_have_to_agree() {
    let bench = marked().await;
    let agent = bench.modern("release");
    let all = r#"{"region":"é","n":42,"deep":{"on":true},"plain":1}"#;
    let (region, n, on) =
        (("mcp-param-region", "=?base64?w6k=?="), ("Mcp-Param-N", "42"), ("mcp-param-deep-on", "true"));
    let wrong = "400 -32020";
    let table: [Row<'_>; 14] = [
        (all, &[region, n, on], "ok"),
        (all, &[region, ("mcp-param-n", "42.0"), on], "ok"),
        (all, &[region, n, on, ("mcp-param-unknown", "x")], "ok"),
        ("{}", &[], "ok"),
        (r#"{"region":null}"#, &[], "ok"),
        (r#"{"region":"eu"}"#, &[("mcp-param-region", "eu")], "ok"),
        (all, &[region, n], wrong),
        (all, &[region, ("mcp-param-n", "43"), on], wrong),
        (all, &[("mcp-param-region", "e"), n, on], wrong),
        (all, &[("mcp-param-region", "=?base64?*?="), n, on], wrong),
        (all, &[region, region, n, on], wrong),
        (all, &[region, n, ("mcp-param-deep-on", "True")], wrong),
        ("{}", &[("mcp-param-region", "eu")], wrong),
        (r#"{"region":null}"#, &[("mcp-param-region", "null")], wrong),
    ];
    for (arguments, headers, expected) in table {
        assert_eq!(call(&bench, &agent, arguments, headers).await, expected, "{arguments} {headers:?}");
    }
    let mut raw =
        agent.post("tools/call", &agent.calling("query", r#"{"region":"é"}"#), Some(json!(1))).build().unwrap();
    raw.headers_mut().insert("mcp-param-region", reqwest::header::HeaderValue::from_bytes("é".as_bytes()).unwrap());
    assert_eq!(bench.http.execute(raw).await.unwrap().status(), StatusCode::BAD_REQUEST, "not wrapped");
    bench.stop().await;
}

#[tokio::test]
async fn members_that_a_call_does_not_know_are_no_way_around_the_headers() {
    let bench = marked().await;
    let agent = bench.modern("release");
    let calling = agent.calling("query", r#"{"region":"eu"}"#);
    let inside = calling.strip_prefix('{').unwrap();
    for more in [r#""uri":5,"#, r#""taskId":[],"#, r#""uri":"a","uri":"b","#] {
        let request = agent.post("tools/call", &format!("{{{more}{inside}"), Some(json!(1)));
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), StatusCode::BAD_REQUEST, "{more}");
        assert_eq!(response.json::<Value>().await.unwrap()["error"]["code"], json!(-32020), "{more}");
    }
    assert_eq!(bench.server.ledger(), []);
    bench.stop().await;
}

#[tokio::test]
async fn sessions_and_tools_whose_markings_cannot_be_obeyed_repeat_nothing() {
    let bench = marked().await;
    let [legacy, modern] = bench.both("release").await;
    assert_eq!(call(&bench, &legacy, r#"{"region":"eu"}"#, &[]).await, "ok");
    assert_eq!(modern.call("odd", r#"{"a":1}"#).await.outcome(), "ok: ok");
    bench.stop().await;
}
