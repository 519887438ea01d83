//! What real remote servers do: bytes, streams, odd bodies, refusals, both transports, changes of the tool list.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::json;

use super::endpoints::{Endpoint, Request, Response, done, event, held, json_answer, legacy, list, refusal};
use super::scripted::{discovered, initialized, result};
use super::*;
use crate::engine::forms::{Answer, Asking, Inbox};

fn raw(reply: Result<Reply, CallFailure>) -> String {
    match reply {
        Ok(Reply::Result(result)) => result.get().to_owned(),
        other => panic!("{other:?}"),
    }
}

/// A legacy server whose calls are answered by `call`.
async fn calls(call: impl Fn(&Request) -> Option<Response> + Send + Sync + 'static) -> (Endpoint, Bench) {
    let endpoint =
        Endpoint::start(
            move |request| if request.method() == "tools/call" { call(request) } else { Some(legacy(request)) },
        )
        .await;
    let mut bench = Bench::start(ConnectionSpec { restart: RestartPolicy::OnFailure, ..endpoint.spec() });
    bench.ready().await;
    (endpoint, bench)
}

fn modern(request: &Request) -> Response {
    let body = &request.body;
    match request.method() {
        "server/discover" => json_answer(&discovered(body)),
        "tools/list" => json_answer(&list(body)),
        "tools/call" => json_answer(&done(body)),
        _ => refusal(404),
    }
}

#[tokio::test]
async fn arguments_and_results_travel_byte_for_byte() {
    let odd = r#"{"n":1.10,"big":123456789012345678901,"e":"\u00e9","z":1,"a":-0.0}"#;
    let answer = format!(r#"{{"content":[],"structuredContent":{odd},"unknown":{{"z":1.50,"a":"\/"}}}}"#);
    let shapes: [fn(&str, &str) -> Response; 3] = [
        |id, answer| {
            let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{answer}}}"#);
            (200, "Content-Type: application/json; charset=utf-8\r\n".to_owned(), body)
        },
        |id, answer| {
            let body = format!(
                "\u{feff}: x\r\nevent: message\r\ndata: {{\"jsonrpc\":\"2.0\",\r\ndata: \"id\":{id},\"result\":{answer}}}\r\n\r\n"
            );
            (200, "Content-Type: text/event-stream; charset=utf-8\r\n".to_owned(), body)
        },
        |id, answer| {
            let body = format!("data:{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{answer}}}\n");
            (200, "Content-Type: TEXT/Event-Stream\r\n".to_owned(), body)
        },
    ];
    for shape in shapes {
        let wanted = answer.clone();
        let (endpoint, bench) = calls(move |request| Some(shape(&request.body["id"].to_string(), &wanted))).await;
        assert_eq!(raw(bench.call("t", odd).await), answer);
        let sent = endpoint.requests("tools/call").remove(0).raw;
        assert!(sent.contains(&format!(r#""arguments":{odd}"#)), "{sent}");
        bench.stop().await;
    }
}

#[tokio::test]
async fn big_results_come_whole_and_endless_ones_cost_only_their_call() {
    let (endpoint, mut bench) = calls(|request| {
        let size = usize::try_from(request.body["params"]["arguments"]["mib"].as_u64()?).ok()? << 20;
        Some(json_answer(&result(&request.body, json!({"content": [{"type": "text", "text": "x".repeat(size)}]}))))
    })
    .await;
    assert_eq!(text(bench.call("t", r#"{"mib":1}"#).await).len(), 1 << 20);
    let lost = bench.call("t", r#"{"mib":17}"#).await;
    assert!(matches!(&lost, Err(CallFailure::Lost(reason)) if reason.contains("message over limit")), "{lost:?}");
    assert_eq!(text(bench.call("t", r#"{"mib":0}"#).await), "", "the connection lives on");
    bench.seen.clear();
    assert_eq!(endpoint.requests("initialize").len(), 1);
    bench.stop().await;
}

#[tokio::test]
async fn bodies_that_are_no_answer_are_named_and_a_result_without_an_answer_is_unknown() {
    let html = || (200, "Content-Type: text/html\r\n".to_owned(), "<h1>hello</h1>".to_owned());
    let bad =
        || (502, "Content-Type: text/html\r\n".to_owned(), "<h1>bad</h1> token=k-canary-123 \u{1b}[2J".to_owned());
    for (answer, expected) in [(html(), "text/html"), (bad(), "HTTP 502: <h1>bad</h1>")] {
        let endpoint = Endpoint::start(move |request| {
            Some(if request.method() == "tools/call" { answer.clone() } else { legacy(request) })
        })
        .await;
        let redactor = Redactor::default();
        redactor.learn([Secret::new("k-canary-123")]);
        let mut bench = Bench::start(ConnectionSpec { redactor, ..endpoint.spec() });
        bench.ready().await;
        match bench.call("t", "{}").await {
            Err(CallFailure::Lost(reason)) => {
                assert!(reason.contains(expected), "{reason}");
                assert!(!reason.contains("canary") && !reason.contains('\u{1b}'), "{reason}");
            }
            other => panic!("{other:?}"),
        }
        bench.stop().await;
    }
}

#[tokio::test]
async fn refusals_of_a_call_say_that_nothing_ran() {
    let challenge = "WWW-Authenticate: Bearer scope=\"issues:write\"\r\n";
    let cases = [
        (403, challenge, "unauthorized", "issues:write"),
        (403, "", "unauthorized", "HTTP 403"),
        (429, "Retry-After: 5\r\n", "takes no more requests", "HTTP 429"),
        (
            307,
            "Location: http://user:canary@127.0.0.1:9/x?key=canary\r\n",
            "redirects to http://127.0.0.1:9,",
            "HTTP 307",
        ),
    ];
    for (status, more, first, second) in cases {
        let (endpoint, bench) = calls(move |_| Some((status, more.to_owned(), String::new()))).await;
        match bench.call("t", "{}").await {
            Err(CallFailure::NotSent(reason)) => {
                assert!(reason.contains(first) && reason.contains(second), "{reason}");
                assert!(!reason.contains("canary"), "{reason}");
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(endpoint.requests("tools/call").len(), 1);
        bench.stop().await;
    }
    let (_endpoint, mut bench) = calls(|_| Some(refusal(401))).await;
    let refused = bench.call("t", "{}").await;
    assert!(matches!(&refused, Err(CallFailure::NotSent(reason)) if reason.contains("unauthorized")), "{refused:?}");
    let failure = bench.failed_after_ready().await;
    assert_eq!(failure.kind, FailureKind::Unauthorized, "other calls would fare the same");
    bench.stop().await;
}

#[tokio::test]
async fn a_redirected_start_names_where_it_leads_without_secrets() {
    let more = "Location: https://elsewhere.example/mcp?key=canary\r\n".to_owned();
    let endpoint = Endpoint::start(move |_| Some((308, more.clone(), String::new()))).await;
    let mut bench = Bench::start(endpoint.spec());
    let failure = bench.failed().await;
    assert_eq!(failure.kind, FailureKind::Transport);
    assert_eq!(
        &*failure.headline,
        "HTTP 308: the server redirects to https://elsewhere.example, which is not followed"
    );
    assert_eq!(endpoint.seen(), ["POST server/discover"]);
    bench.stop().await;
}

#[tokio::test]
async fn no_answer_to_get_or_delete_disturbs_a_session() {
    let answers: [fn() -> Option<Response>; 5] = [
        || Some((200, "Content-Type: text/event-stream\r\n".to_owned(), String::new())),
        || Some(json_answer(&json!({"ok": true}))),
        || Some((200, "Content-Type: text/html\r\n".to_owned(), "<h1>hi</h1>".to_owned())),
        || Some(refusal(404)),
        || None,
    ];
    for answer in answers {
        let endpoint = Endpoint::start(move |request| match request.verb.as_str() {
            "GET" => answer(),
            "DELETE" => Some(refusal(404)),
            _ => Some(legacy(request)),
        })
        .await;
        let mut bench = Bench::start(endpoint.spec());
        bench.ready().await;
        // The second one comes two seconds after the first; how it goes on has its own test.
        endpoint.until(|seen| seen.iter().filter(|seen| *seen == "GET").count() == 2).await;
        assert_eq!(text(bench.call("t", "{}").await), "done");
        assert_eq!(bench.stop().await, ["starting", "ready", "stopping", "stopped"]);
        assert!(endpoint.seen().iter().filter(|seen| *seen == "GET").count() <= 3, "{:?}", endpoint.seen());
    }
}

#[tokio::test]
async fn a_server_without_sessions_is_posted_to_and_nothing_else() {
    let endpoint = Endpoint::start(|request| {
        Some(if request.method() == "initialize" { json_answer(&initialized(&request.body)) } else { legacy(request) })
    })
    .await;
    let mut bench = Bench::start(endpoint.spec());
    bench.ready().await;
    assert_eq!(text(bench.call("t", "{}").await), "done");
    bench.stop().await;
    assert!(endpoint.seen().iter().all(|seen| seen.starts_with("POST")), "{:?}", endpoint.seen());
}

#[tokio::test]
async fn a_burst_of_changes_on_the_servers_stream_is_at_most_three_listings() {
    let listed = Arc::new(AtomicU64::new(0));
    let endpoint = Endpoint::start({
        let listed = listed.clone();
        move |request| match (request.verb.as_str(), request.method()) {
            ("GET", _) => Some(held("")),
            ("POST", "tools/list") => {
                let name = format!("t{}", listed.fetch_add(1, Ordering::SeqCst));
                Some(json_answer(&result(&request.body, json!({"tools": [{"name": name}]}))))
            }
            _ => Some(legacy(request)),
        }
    })
    .await;
    let mut bench = Bench::start(endpoint.spec());
    bench.ready().await;
    endpoint.until(|seen| seen.iter().any(|seen| seen == "GET")).await;
    let notice = event(&json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}));
    for _ in 0..50 {
        endpoint.push.send(notice.clone()).unwrap();
    }
    let changed = bench.until(|event| match event {
        ConnectionEvent::Listed(listing) => Some(listing.tools[0].raw_name.to_string()),
        _ => None,
    });
    assert_eq!(changed.await, "t1");
    bench.stop().await;
    assert!(listed.load(Ordering::SeqCst) <= 3, "{:?}", endpoint.seen());
}

#[tokio::test]
async fn a_modern_server_is_asked_for_its_changes_and_again_when_the_stream_ends() {
    let subscriptions = Arc::new(AtomicU64::new(0));
    let endpoint = Endpoint::start({
        let subscriptions = subscriptions.clone();
        move |request| match request.method() {
            "server/discover" => {
                let mut answer = discovered(&request.body);
                answer["result"]["capabilities"] = json!({"tools": {"listChanged": true}});
                Some(json_answer(&answer))
            }
            // The first one breaks off at once.
            "subscriptions/listen" if subscriptions.fetch_add(1, Ordering::SeqCst) == 0 => {
                Some((200, "Content-Type: text/event-stream\r\n".to_owned(), ": soon over\n\n".to_owned()))
            }
            "subscriptions/listen" => Some(held(": listening\n\n")),
            _ => Some(modern(request)),
        }
    })
    .await;
    let mut bench = Bench::start(endpoint.spec());
    bench.ready().await;
    let listed = |event: &ConnectionEvent| matches!(event, ConnectionEvent::Listed(_)).then_some(());
    // What changed while there was no stream is found out by the second one.
    bench.until(listed).await;
    assert_eq!(subscriptions.load(Ordering::SeqCst), 2);
    let notice = event(&json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}));
    endpoint.push.send(notice).unwrap();
    bench.until(listed).await;
    let request = &endpoint.requests("subscriptions/listen")[0];
    assert_eq!(request.body["params"]["notifications"]["toolsListChanged"], true);
    assert_eq!(request.headers.get("mcp-method").map(String::as_str), Some("subscriptions/listen"));
    bench.stop().await;
}

#[tokio::test]
async fn marked_arguments_are_sent_as_headers_and_bad_markings_cost_their_tool() {
    let endpoint = Endpoint::start(|request| {
        let marked = |kind: &str, header: &str| json!({"type": "object", "properties": {"region": {"type": kind, "x-mcp-header": header}}});
        let tools = json!({"tools": [
            {"name": "good", "inputSchema": marked("string", "Region")},
            {"name": "bad", "inputSchema": marked("number", "Region")},
        ]});
        Some(match request.method() {
            "tools/list" => json_answer(&result(&request.body, tools)),
            _ => modern(request),
        })
    })
    .await;
    let mut bench = Bench::start(endpoint.spec());
    bench.ready().await;
    let listing = bench.listing();
    assert_eq!((listing.tools.len(), listing.rejected.len()), (1, 1));
    assert!(listing.rejected[0].reason.contains("x-mcp-header"), "{:?}", listing.rejected);
    assert_eq!(text(bench.call("good", r#"{"region":"münchen"}"#).await), "done");
    assert_eq!(text(bench.call("good", r#"{"region":null}"#).await), "done");
    let calls = endpoint.requests("tools/call");
    let header = |at: usize| calls[at].headers.get("mcp-param-region").map(String::as_str);
    assert_eq!((header(0), header(1)), (Some("=?base64?bcO8bmNoZW4=?="), None));
    bench.stop().await;
}

#[tokio::test]
async fn giving_up_closes_a_modern_response_and_tells_a_legacy_server() {
    for era in [Era::Modern, Era::Legacy] {
        let endpoint = Endpoint::start(move |request| match request.method() {
            "tools/call" => Some(held(": working\n\n")),
            _ if era == Era::Modern => Some(modern(request)),
            _ => Some(legacy(request)),
        })
        .await;
        let mut bench = Bench::start(endpoint.spec());
        bench.ready().await;
        let cancel = CancellationToken::new();
        let call = bench.connection.call(Dispatch::for_test("t", "{}"), cancel.clone());
        let (ended, ()) = tokio::join!(call, async {
            endpoint.until(|seen| seen.iter().any(|seen| seen == "POST tools/call")).await;
            cancel.cancel();
        });
        assert!(matches!(ended, Err(CallFailure::Cancelled)), "{ended:?}");
        endpoint.until(|seen| seen.iter().any(|seen| seen == "CLOSED tools/call")).await;
        if era == Era::Legacy {
            endpoint.until(|seen| seen.iter().any(|seen| seen == "POST notifications/cancelled")).await;
            let told = endpoint.requests("notifications/cancelled").remove(0);
            assert_eq!(told.body["params"]["requestId"], endpoint.requests("tools/call")[0].body["id"]);
        } else {
            assert!(endpoint.requests("notifications/cancelled").is_empty());
        }
        bench.stop().await;
    }
}

#[tokio::test]
async fn progress_extends_a_call_over_http_too() {
    let endpoint = Endpoint::start(|request| match request.method() {
        "tools/call" => Some(held(": working\n\n")),
        _ => Some(legacy(request)),
    })
    .await;
    let limit = Duration::from_millis(400);
    let mut bench = Bench::start(ConnectionSpec { request_timeout: limit, ..endpoint.spec() });
    bench.ready().await;
    let call = bench.call("t", "{}");
    let steps = async {
        endpoint.until(|seen| seen.iter().any(|seen| seen == "POST tools/call")).await;
        let request = endpoint.requests("tools/call").remove(0).body;
        let token = &request["params"]["_meta"]["progressToken"];
        let progress = json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": token, "progress": 1}});
        let mut pace = tokio::time::interval(Duration::from_millis(100));
        for _ in 0..8 {
            pace.tick().await;
            endpoint.push.send(event(&progress)).unwrap();
        }
        endpoint.push.send(event(&done(&request))).unwrap();
    };
    let (answer, ()) = tokio::join!(call, steps);
    assert_eq!(text(answer), "done");
    match bench.call("t", "{}").await {
        Err(failure @ CallFailure::TimedOut { .. }) => assert_eq!(failure.to_string(), "did not answer within 0.4 s"),
        other => panic!("{other:?}"),
    }
    bench.stop().await;
}

#[tokio::test]
async fn progress_is_heard_from_every_stream_of_a_server() {
    // In its answer's stream in both eras, and in a session's own stream.
    for (era, own) in [(Era::Modern, false), (Era::Legacy, false), (Era::Legacy, true)] {
        let endpoint = Endpoint::start(move |request| match (request.verb.as_str(), request.method()) {
            ("GET", _) if own => Some(held(": hello\n\n")),
            (_, "tools/call") => Some(held(": working\n\n")),
            _ if era == Era::Modern => Some(modern(request)),
            _ => Some(legacy(request)),
        })
        .await;
        let mut bench = Bench::start(endpoint.spec());
        bench.ready().await;
        if own {
            endpoint.until(|seen| seen.iter().any(|seen| seen == "GET")).await;
        }
        let (hearing, mut heard) = tokio::sync::watch::channel(None);
        let waiter = Waiter { cancel: CancellationToken::new(), hearing: Some(hearing) };
        let call = bench.connection.call(Dispatch::for_test("t", "{}"), waiter);
        let steps = async {
            endpoint.until(|seen| seen.iter().any(|seen| seen == "POST tools/call")).await;
            let request = endpoint.requests("tools/call").remove(0).body;
            let params = json!({"progressToken": request["params"]["_meta"]["progressToken"], "progress": 1,
                "total": 2, "message": "half"});
            let notice = json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params});
            // Pushed to both streams where there are two: it is the same notice.
            for _ in 0..500 {
                if heard.borrow().is_some() {
                    break;
                }
                endpoint.push.send(event(&notice)).unwrap();
                let _ = tokio::time::timeout(Duration::from_millis(20), heard.changed()).await;
            }
            endpoint.push.send(event(&done(&request))).unwrap();
        };
        let (answer, ()) = tokio::join!(call, steps);
        assert_eq!(text(answer), "done");
        let last = heard.borrow().clone().unwrap();
        assert_eq!((last.progress, last.total), (1.into(), Some(2.into())), "{era:?} {own}");
        assert_eq!(last.message.as_deref(), Some("half"));
        bench.stop().await;
    }
}

#[tokio::test]
async fn the_rest_of_a_broken_answer_is_asked_for_and_the_call_is_not_sent_again() {
    let endpoint = Endpoint::start(|request| {
        let resumed = request.headers.get("last-event-id").is_some_and(|id| id == "7");
        match (request.verb.as_str(), request.method()) {
            ("POST", "tools/call") => {
                Some((200, "Content-Type: text/event-stream\r\n".to_owned(), "id: 7\nretry: 1\ndata:\n\n".to_owned()))
            }
            ("GET", _) if resumed => {
                let answer =
                    json!({"jsonrpc": "2.0", "id": 4, "result": {"content": [{"type": "text", "text": "rest"}]}});
                Some((200, "Content-Type: text/event-stream\r\n".to_owned(), event(&answer)))
            }
            _ => Some(legacy(request)),
        }
    })
    .await;
    let mut bench = Bench::start(endpoint.spec());
    bench.ready().await;
    assert_eq!(text(bench.call("t", "{}").await), "rest");
    assert_eq!(endpoint.requests("tools/call")[0].body["id"], 4);
    assert_eq!(endpoint.requests("tools/call").len(), 1);
    bench.stop().await;
}

#[tokio::test]
async fn a_question_in_a_calls_stream_is_about_that_call_and_answered_by_a_post() {
    let push = Arc::new(std::sync::OnceLock::<tokio::sync::broadcast::Sender<String>>::new());
    let (out, call) = (push.clone(), std::sync::Mutex::new(serde_json::Value::Null));
    let endpoint = Endpoint::start(move |request| match (request.verb.as_str(), request.method()) {
        ("POST", "tools/call") => {
            let params = json!({"message": "Who?", "requestedSchema": {"type": "object", "properties": {}}});
            let ask = json!({"jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": params});
            *call.lock().unwrap() = request.body["id"].clone();
            Some(held(&event(&ask)))
        }
        // Our answer; with it the call's stream ends.
        ("POST", "") => {
            let said = request.body["result"]["action"].clone();
            let result = json!({"content": [{"type": "text", "text": said}]});
            let answer = json!({"jsonrpc": "2.0", "id": *call.lock().unwrap(), "result": result});
            let _ = out.get().unwrap().send(event(&answer));
            Some((202, String::new(), String::new()))
        }
        _ => Some(legacy(request)),
    })
    .await;
    push.set(endpoint.push.clone()).unwrap();
    let (inbox, mut asking) = Inbox::new();
    let mut bench = Bench::start(ConnectionSpec { forms: Some(inbox), ..endpoint.spec() });
    bench.ready().await;
    let offered = &endpoint.requests("initialize")[0].body["params"]["capabilities"];
    assert_eq!(*offered, json!({"elicitation": {"form": {}}}));
    let core = async {
        let Some(Asking::Ask(asked)) = asking.recv().await else { panic!("no question") };
        assert_eq!(asked.origin.during, [crate::ids::CallId::new("ctest")]);
        asked.reply.send(Answer::Declined(None)).unwrap();
    };
    let (reply, ()) = tokio::join!(bench.call("t", "{}"), core);
    assert_eq!(text(reply), "decline");
    bench.stop().await;
}
