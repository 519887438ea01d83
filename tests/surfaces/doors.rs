//! Who gets in: names, origins, tokens, sessions, sizes.

use std::time::Duration;

use crewlet_tui::surface::tokens;
use reqwest::{Method, StatusCode};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::bench::{Agent, Bench, bench};

/// Sends bytes as they are and gives the status and the head of the answer.
async fn raw(bench: &Bench, request: &str) -> (u16, String) {
    let mut socket = TcpStream::connect(bench.surfaces.address).await.unwrap();
    socket.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    let _ = tokio::time::timeout(Duration::from_secs(5), socket.read_to_end(&mut answer)).await;
    let answer = String::from_utf8(answer).unwrap();
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
    (status.unwrap_or_else(|| panic!("no answer: {answer:?}")), answer)
}

#[tokio::test]
async fn foreign_hosts_and_origins_are_refused_on_every_method_and_path() {
    let bench = bench().await;
    let port = bench.surfaces.address.port();
    let token = bench.token("release");
    let own = format!("Host: localhost:{port}\r\n");
    let mut refused: Vec<String> = ["evil.test", "localhost.evil.test", "127.0.0.1.nip.io", "0.0.0.0", ""]
        .iter()
        .map(|host| format!("Host: {host}\r\n"))
        .collect();
    refused.push(format!("{own}Host: evil.test\r\n"));
    refused.push(format!("{own}{own}"));
    for origin in ["https://evil.test", "null", "http://localhost.evil.test", "http://localhost:1"] {
        refused.push(format!("{own}Origin: {origin}\r\n"));
    }
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get","arguments":{}}}"#;
    for method in ["POST", "GET", "DELETE", "OPTIONS"] {
        for path in ["/seats/release/mcp", "/tools", "/metrics", "/healthz"] {
            for lines in &refused {
                let request = format!(
                    "{method} {path} HTTP/1.1\r\n{lines}Authorization: Bearer {token}\r\nContent-Type: application/json\r\n\
                     Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
                    body.len()
                );
                let (status, answer) = raw(&bench, &request).await;
                assert_eq!(status, 403, "{method} {path} {lines}");
                assert!(!answer.to_ascii_lowercase().contains("access-control"), "{answer}");
            }
        }
    }
    for host in [format!("localhost:{port}"), format!("127.0.0.1:{port}"), format!("[::1]:{port}")] {
        let request = format!(
            "GET /tools HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nAuthorization: Bearer {token}\r\n\
             Connection: close\r\n\r\n"
        );
        assert_eq!(raw(&bench, &request).await.0, 200, "{host}");
    }
    assert_eq!(bench.server.ledger(), []);
    bench.stop().await;
}

#[tokio::test]
async fn only_the_seats_own_token_opens_its_door() {
    let bench = bench().await;
    let release = bench.token("release");
    let review = bench.token("review");
    let wrong = [
        String::new(),
        "Bearer".to_owned(),
        "Bearer ".to_owned(),
        "Bearer wrong".to_owned(),
        format!("Bearer {review}"),
        format!("Basic {release}"),
        format!("Bearer {}", &release[..release.len() - 1]),
        format!("Bearer {release}x"),
    ];
    let paths =
        ["/seats/release/mcp", "/seats/nobody/mcp", "/metrics", "/tools", "/seats/release/mcp?token=TOKEN", "/"];
    let mut bodies = Vec::new();
    for method in [Method::POST, Method::GET, Method::DELETE, Method::OPTIONS] {
        for path in paths {
            for token in &wrong {
                // Any seat's token opens the paths that are no seat's.
                if !path.starts_with("/seats") && token.contains(&review) {
                    continue;
                }
                let url = bench.url(&path.replace("TOKEN", &release));
                let mut request = bench.http.request(method.clone(), url).header("content-type", "application/json");
                if !token.is_empty() {
                    request = request.header("authorization", token);
                }
                let response = request.body("{}").send().await.unwrap();
                assert_eq!(response.status(), StatusCode::UNAUTHORIZED, "{method} {path} {token}");
                bodies.push(response.text().await.unwrap());
            }
        }
    }
    assert!(bodies.iter().all(String::is_empty), "no detail");
    let health = bench.http.get(bench.url("/healthz")).send().await.unwrap();
    assert_eq!((health.status(), health.text().await.unwrap().as_str()), (StatusCode::OK, "ok\n"));
    let metrics = Agent { url: bench.url("/metrics"), ..bench.modern("review") };
    let text = metrics.with(Method::GET, &[]).await.body;
    assert!(text.contains("\ncrewlet_tools 4\n") && text.contains("# TYPE crewlet_sessions gauge"), "{text}");
    bench.stop().await;
}

#[tokio::test]
async fn a_session_belongs_to_the_seat_that_opened_it() {
    let bench = bench().await;
    let mine = bench.legacy("release").await;
    let thief = Agent { session: mine.session.clone(), ..bench.legacy("review").await };
    assert_eq!(thief.request("tools/list", json!({})).await.status, StatusCode::NOT_FOUND);
    let id = mine.session.clone().unwrap();
    assert_eq!(thief.with(Method::DELETE, &[("mcp-session-id", &id)]).await.status, StatusCode::NOT_FOUND);
    let none = Agent { session: Some(String::new()), ..mine.clone() };
    assert_eq!(none.request("tools/call", json!({"name": "get"})).await.status, StatusCode::BAD_REQUEST);
    let unknown = Agent { session: Some("f".repeat(32)), ..mine.clone() };
    assert_eq!(unknown.request("tools/list", json!({})).await.status, StatusCode::NOT_FOUND);
    assert_eq!(mine.request("tools/list", json!({})).await.status, StatusCode::OK);
    assert_eq!(bench.server.ledger(), []);
    bench.stop().await;
}

#[tokio::test]
async fn a_rotated_token_counts_at_once_and_ends_the_seats_sessions() {
    let bench = bench().await;
    let agent = bench.legacy("release").await;
    let other = bench.legacy("review").await;
    let call = agent.start_call("delete", "{}");
    bench.question().await;
    let seat = bench.config.org.seat(&"release".into()).unwrap();
    tokens::rotate(&bench.state, seat).unwrap();
    assert_eq!(agent.request("tools/list", json!({})).await.status, StatusCode::UNAUTHORIZED);
    bench.until(|snapshot| snapshot.approvals.is_empty()).await;
    call.await.unwrap();
    let renewed = Agent { token: bench.token("release"), ..agent };
    assert_eq!(renewed.request("tools/list", json!({})).await.status, StatusCode::NOT_FOUND, "its session is over");
    assert_eq!(other.request("tools/list", json!({})).await.status, StatusCode::OK);
    assert_eq!(bench.server.ledger(), []);
    bench.stop().await;
}

#[tokio::test]
async fn bodies_that_are_no_messages_are_refused() {
    let bench = bench().await;
    let agent = bench.modern("release");
    let send = async |kind: &str, body: Vec<u8>| {
        let request = bench.http.post(&agent.url).bearer_auth(&agent.token).header("content-type", kind);
        request.header("accept", agent.accept).body(body).send().await.unwrap().status().as_u16()
    };
    assert_eq!(send("text/plain", b"{}".to_vec()).await, 415);
    assert_eq!(send("application/json", b"{".to_vec()).await, 400);
    assert_eq!(send("application/json", b"\xff".to_vec()).await, 400);
    assert_eq!(send("application/json", b"[]".to_vec()).await, 400);
    assert_eq!(send("application/json", vec![b' '; (4 << 20) + 1]).await, 413);
    assert_eq!(bench.server.ledger(), []);
    bench.stop().await;
}

#[tokio::test]
async fn answers_leave_at_once() {
    // With Nagle's algorithm a streamed answer waits some 40 ms for the client's acknowledgement.
    let bench = bench().await;
    let agent = Agent { accept: "text/event-stream", ..bench.legacy("release").await };
    let mut times = Vec::new();
    for _ in 0..15 {
        let began = std::time::Instant::now();
        let answer = agent.call("get", "{}").await;
        assert!(answer.is_stream());
        times.push(began.elapsed());
    }
    times.sort_unstable();
    assert!(times[7] < Duration::from_millis(30), "{times:?}");
    bench.stop().await;
}

#[tokio::test]
async fn nothing_of_a_callers_headers_or_meta_goes_upstream() {
    let bench = bench().await;
    for agent in bench.both("release").await {
        let meta = agent.calling("get", "{}").replace(r#""_meta":{"#, r#""_meta":{"x-marked":"marked-meta","#);
        let meta = meta.replace(",}", "}");
        let mut request = agent.post("tools/call", &meta, Some(json!(1)));
        for name in ["cookie", "x-api-key", "x-forwarded-for", "baggage"] {
            request = request.header(name, "marked-header");
        }
        assert_eq!(request.send().await.unwrap().status(), StatusCode::OK);
    }
    assert_eq!(bench.server.ledger().len(), 2);
    let upstream = format!("{:?}", bench.server.received());
    for foreign in ["marked-header", "marked-meta", &bench.token("release"), "legacy-agent", "modern-agent"] {
        assert!(!upstream.contains(foreign), "{foreign} went upstream: {upstream}");
    }
    bench.stop().await;
}
