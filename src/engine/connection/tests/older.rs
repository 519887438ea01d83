//! The transport of 2024-11-05, played by a scripted endpoint with two addresses.

use serde_json::Value;

use super::endpoints::{Endpoint, done, held, list, refusal};
use super::scripted::initialized;
use super::*;

/// The transport of 2024-11-05: `GET /mcp` is the stream, messages go to `address`.
async fn two_addresses(address: &'static str) -> Endpoint {
    let (push, _) = tokio::sync::broadcast::channel(256);
    let answers = push.clone();
    Endpoint::at("127.0.0.1:0", push, move |request| {
        let accepted = || Some((202, "Content-Type: text/plain\r\n".to_owned(), "Accepted".to_owned()));
        let say = |answer: &Value| drop(answers.send(format!("event: message\r\ndata: {answer}\r\n\r\n")));
        match (request.verb.as_str(), request.path.split('?').next().unwrap_or_default(), request.method()) {
            ("GET", "/mcp", _) => Some(held(&format!("event: endpoint\r\ndata: {address}\r\n\r\n"))),
            ("POST", "/messages", method) => {
                match method {
                    "initialize" => say(&initialized(&request.body)),
                    "tools/list" => say(&list(&request.body)),
                    "tools/call" => {
                        let token = &request.body["params"]["_meta"]["progressToken"];
                        let params = serde_json::json!({"progressToken": token, "progress": 1});
                        say(&serde_json::json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}));
                        say(&done(&request.body));
                    }
                    _ => {}
                }
                accepted()
            }
            _ => Some(refusal(405)),
        }
    })
    .await
}

#[tokio::test]
async fn the_older_transport_is_spoken_where_the_newer_one_is_not() {
    let endpoint = two_addresses("/messages?session=abc").await;
    let mut bench = Bench::start(ConnectionSpec { restart: RestartPolicy::OnFailure, ..endpoint.spec() });
    bench.ready().await;
    assert_eq!(bench.listing().tools.len(), 2);
    assert_eq!(text(bench.call("t", r#"{"n":1.10}"#).await), "done");
    let call = endpoint.requests("tools/call").remove(0);
    assert_eq!(call.path, "/messages?session=abc");
    assert!(call.raw.contains(r#"{"n":1.10}"#));
    for request in endpoint.heard.lock().unwrap().iter() {
        assert_eq!(request.headers.get("x-key").map(String::as_str), Some("k-123"), "{request:?}");
    }
    let (hearing, heard) = tokio::sync::watch::channel(None);
    let waiter = Waiter { cancel: CancellationToken::new(), hearing: Some(hearing) };
    assert_eq!(text(bench.connection.call(Dispatch::for_test("t", "{}"), waiter).await), "done");
    assert_eq!(heard.borrow().as_ref().map(|said| said.progress.clone()), Some(1.into()));
    // The stream is the session: its end is the connection's.
    let seen: Vec<_> = endpoint.seen().into_iter().filter(|seen| seen == "GET").collect();
    assert_eq!(seen.len(), 1);
    let _endpoint = endpoint.kill().await;
    bench.backing_off().await;
    bench.stop().await;
}

#[tokio::test]
async fn the_older_transport_sends_nothing_to_another_origin() {
    let endpoint = two_addresses("http://user:canary@127.0.0.1:9/messages?key=canary").await;
    let mut bench = Bench::start(endpoint.spec());
    let failure = bench.failed().await;
    assert!(failure.headline.contains("another origin, http://127.0.0.1:9"), "{failure:?}");
    assert!(!failure.headline.contains("canary"), "{failure:?}");
    assert!(endpoint.requests("initialize").len() == 1, "the refused one: {:?}", endpoint.seen());
    bench.stop().await;
}
