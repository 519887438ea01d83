//! Endpoints that forget, die and come back: what becomes of calls, and how often anything is asked.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

use super::endpoints::{Endpoint, Request, Response, done, event, held, json_answer, legacy, refusal};
use super::scripted::{initialized, result};
use super::*;

/// A legacy server with numbered sessions. What is listed in a session is `tools(number)`.
struct Forgetful {
    session: AtomicU64,
    tools: fn(u64) -> Value,
}

impl Forgetful {
    fn new(tools: fn(u64) -> Value) -> Arc<Self> {
        Arc::new(Self { session: AtomicU64::new(1), tools })
    }

    fn forget(&self) {
        self.session.fetch_add(1, Ordering::SeqCst);
    }

    fn answer(&self, request: &Request) -> Response {
        let session = self.session.load(Ordering::SeqCst);
        let ours = format!("s-{session}");
        match (request.verb.as_str(), request.method()) {
            ("POST", "server/discover") => refusal(400),
            ("POST", "initialize") => {
                let (status, more, body) = json_answer(&initialized(&request.body));
                (status, format!("{more}Mcp-Session-Id: {ours}\r\n"), body)
            }
            _ if request.headers.get("mcp-session-id") != Some(&ours) => refusal(404),
            ("POST", "tools/list") => json_answer(&result(&request.body, json!({"tools": (self.tools)(session)}))),
            _ => legacy(request),
        }
    }
}

fn one_tool(_: u64) -> Value {
    json!([{"name": "t", "description": "same"}])
}

fn patient(endpoint: &Endpoint) -> ConnectionSpec {
    ConnectionSpec { restart: RestartPolicy::OnFailure, ..endpoint.spec() }
}

fn count(endpoint: &Endpoint, method: &str) -> usize {
    endpoint.requests(method).len()
}

#[tokio::test]
async fn many_refused_calls_share_one_handshake_and_each_runs_once() {
    let server = Forgetful::new(one_tool);
    let endpoint = Endpoint::start({
        let server = server.clone();
        move |request| Some(server.answer(request))
    })
    .await;
    let mut bench = Bench::start(patient(&endpoint));
    bench.ready().await;
    server.forget();
    let calls = (0..5).map(|n| {
        let arguments = format!(r#"{{"n":{n}}}"#);
        let bench = &bench;
        async move { text(bench.call("t", &arguments).await) }
    });
    let ended = futures_util::future::join_all(calls).await;
    assert_eq!(ended, ["done"; 5]);
    assert_eq!((count(&endpoint, "initialize"), count(&endpoint, "tools/list")), (2, 2));
    let ran: Vec<_> = endpoint.requests("tools/call");
    let ran = ran.iter().filter(|call| call.headers.get("mcp-session-id").is_some_and(|id| id == "s-2"));
    let mut arguments: Vec<_> = ran.map(|call| call.body["params"]["arguments"]["n"].as_u64()).collect();
    arguments.sort_unstable();
    assert_eq!(arguments, [Some(0), Some(1), Some(2), Some(3), Some(4)], "each once on the new session");
    bench.stop().await;
}

#[tokio::test]
async fn a_refused_call_is_not_sent_again_to_a_tool_that_changed_or_went() {
    let changed: fn(u64) -> Value = |session| json!([{"name": "t", "description": format!("since {session}")}]);
    let gone: fn(u64) -> Value = |session| if session == 1 { one_tool(1) } else { json!([]) };
    for (tools, expected) in [(changed, "another one now"), (gone, "lists this tool no longer")] {
        let server = Forgetful::new(tools);
        let endpoint = Endpoint::start({
            let server = server.clone();
            move |request| Some(server.answer(request))
        })
        .await;
        let mut bench = Bench::start(patient(&endpoint));
        bench.ready().await;
        server.forget();
        match bench.call("t", "{}").await {
            Err(CallFailure::NotSent(reason)) => assert!(reason.contains(expected), "{reason}"),
            other => panic!("{other:?}"),
        }
        assert_eq!(count(&endpoint, "tools/call"), 1, "the refused one");
        bench.ready().await;
        bench.stop().await;
    }
}

#[tokio::test]
async fn a_call_on_its_way_survives_the_renewal_that_another_call_needs() {
    let server = Forgetful::new(|_| json!([{"name": "t"}, {"name": "slow"}]));
    let endpoint = Endpoint::start({
        let server = server.clone();
        move |request| {
            let slow = request.body["params"]["name"] == "slow";
            if slow { Some(held(": working\n\n")) } else { Some(server.answer(request)) }
        }
    })
    .await;
    let mut bench = Bench::start(patient(&endpoint));
    bench.ready().await;
    let connection = bench.connection.clone();
    let slow =
        tokio::spawn(async move { connection.call(Dispatch::for_test("slow", "{}"), CancellationToken::new()).await });
    endpoint.until(|seen| seen.iter().any(|seen| seen == "POST tools/call")).await;
    server.forget();
    assert_eq!(text(bench.call("t", "{}").await), "done");
    let request = &endpoint.requests("tools/call")[0].body;
    endpoint.push.send(event(&done(request))).unwrap();
    assert_eq!(text(slow.await.unwrap()), "done");
    bench.stop().await;
}

#[tokio::test]
async fn a_server_that_refuses_every_session_fails_the_call_and_makes_no_storm() {
    let refuse = |request: &Request| match request.method() {
        "tools/call" => Some(refusal(404)),
        _ => Some(legacy(request)),
    };
    let endpoint = Endpoint::start(refuse).await;
    let mut bench = Bench::start(patient(&endpoint));
    bench.ready().await;
    let refused = bench.call("t", "{}").await;
    assert!(matches!(&refused, Err(CallFailure::NotSent(reason)) if reason.contains("session")), "{refused:?}");
    assert_eq!(count(&endpoint, "tools/call"), 2);
    assert!(count(&endpoint, "initialize") <= 3, "{:?}", endpoint.seen());
    bench.stop().await;
}

#[tokio::test]
async fn a_dead_endpoint_is_noticed_by_a_call_and_the_next_call_after_its_return_works() {
    let endpoint = Endpoint::start(|request| Some(legacy(request))).await;
    let mut bench = Bench::start(patient(&endpoint));
    bench.ready().await;
    let endpoint = endpoint.kill().await;
    let refused = bench.call("t", "{}").await;
    assert!(matches!(&refused, Err(CallFailure::NotSent(reason)) if reason.contains("cannot connect")), "{refused:?}");
    let (_, reason) = bench.backing_off().await;
    assert!(reason.headline.contains("cannot connect"), "{reason:?}");
    // Backing off or not: this call has its own attempt, or shares the one that is under way.
    let refused = bench.call("t", "{}").await;
    assert!(
        matches!(&refused, Err(CallFailure::NotRunning(reason)) if reason.contains("cannot connect")),
        "{refused:?}"
    );

    let back = Endpoint::at(endpoint.address, endpoint.push.clone(), |request| Some(legacy(request))).await;
    let answer = loop {
        // At most one attempt each second is made for calls.
        match bench.call("t", "{}").await {
            Err(CallFailure::NotRunning(_)) => tokio::time::sleep(Duration::from_millis(100)).await,
            answer => break answer,
        }
    };
    assert_eq!(text(answer), "done");
    let seen: Vec<_> = back.seen().into_iter().filter(|seen| seen != "GET").collect();
    let expected = ["POST initialize", "POST notifications/initialized", "POST tools/list", "POST tools/call"];
    assert_eq!(seen, expected, "the era was remembered");
    bench.stop().await;
}

#[tokio::test]
async fn a_stream_that_breaks_with_its_server_is_enough_to_notice() {
    let endpoint =
        Endpoint::start(
            |request| if request.verb == "GET" { Some(held(": hello\n\n")) } else { Some(legacy(request)) },
        )
        .await;
    let mut bench = Bench::start(patient(&endpoint));
    bench.ready().await;
    endpoint.until(|seen| seen.iter().any(|seen| seen == "GET")).await;
    let _endpoint = endpoint.kill().await;
    let (_, reason) = bench.backing_off().await;
    assert!(reason.headline.contains("cannot connect"), "{reason:?}");
    bench.stop().await;
}

#[tokio::test]
async fn a_session_that_the_server_forgot_is_made_anew() {
    let unknown = |id: Value, code: i64, message: &str| {
        let body = json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}});
        (400, "Content-Type: application/json\r\n".to_owned(), body.to_string())
    };
    let text = (400, "Content-Type: text/plain\r\n".to_owned(), "Bad Request: No valid session ID provided".to_owned());
    let refusals = [
        refusal(404),
        unknown(Value::Null, -32000, "no"),
        unknown(json!(4), -32000, "Bad Request: No valid session ID provided"),
        unknown(json!("server-error"), -32600, "Bad Request: No valid session ID provided"),
        text,
    ];
    for refusal in refusals {
        forget_the_session(refusal).await;
    }
}

async fn forget_the_session(refusal: Response) {
    let forgotten = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let endpoint = Endpoint::start({
        let forgotten = forgotten.clone();
        move |request| {
            let refuse = request.method() == "tools/call" && forgotten.swap(false, std::sync::atomic::Ordering::SeqCst);
            Some(if refuse { refusal.clone() } else { legacy(request) })
        }
    })
    .await;
    let mut bench = Bench::start(ConnectionSpec { restart: RestartPolicy::OnFailure, ..endpoint.spec() });
    bench.ready().await;
    forgotten.store(true, std::sync::atomic::Ordering::SeqCst);
    assert_eq!(text(bench.call("t", "{}").await), "done", "it did not run, and is sent once more");
    bench.ready().await;
    assert_eq!(bench.words(), ["starting", "ready", "starting", "ready"], "without a pause");
    let since: Vec<_> = endpoint.seen().into_iter().skip_while(|seen| seen != "POST tools/call").collect();
    let expected =
        ["POST tools/call", "POST initialize", "POST notifications/initialized", "POST tools/list", "POST tools/call"];
    assert_eq!(since.iter().filter(|seen| *seen != "GET").collect::<Vec<_>>(), expected);
    let initialize = endpoint.requests("initialize");
    assert!(initialize.iter().all(|request| !request.headers.contains_key("mcp-session-id")), "{initialize:?}");
    bench.stop().await;
}
