//! HTTP endpoints, played by a small scripted server on the loopback interface.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Mutex;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::broadcast;

use super::scripted::{discovered, error, initialized, result};
use super::*;

/// One request as it came in.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub verb: String,
    pub path: String,
    pub headers: BTreeMap<String, String>,
    pub body: Value,
    /// The body as it came.
    pub raw: String,
}

impl Request {
    pub fn method(&self) -> &str {
        self.body["method"].as_str().unwrap_or_default()
    }
}

/// Status, further header lines, body.
pub(super) type Response = (u16, String, String);

/// A header line that keeps the response open: what is pushed is written to it until the other side closes it, which
/// is noted as a request `CLOSED`.
pub(super) const HELD: &str = "X-Held: yes\r\n";

/// The endpoint's log and address.
pub(super) struct Endpoint {
    pub address: SocketAddr,
    pub heard: Arc<Mutex<Vec<Request>>>,
    /// Written to every held response.
    pub push: broadcast::Sender<String>,
    alive: tokio::task::JoinHandle<()>,
}

impl Endpoint {
    pub async fn start(answer: impl Fn(&Request) -> Option<Response> + Send + Sync + 'static) -> Self {
        let (push, _) = broadcast::channel(256);
        Self::at("127.0.0.1:0", push, answer).await
    }

    pub async fn at(
        address: impl tokio::net::ToSocketAddrs,
        push: broadcast::Sender<String>,
        answer: impl Fn(&Request) -> Option<Response> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let answer = Arc::new(answer);
        let (log, pushed) = (heard.clone(), push.clone());
        let alive = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                connections.spawn(serve(stream, answer.clone(), log.clone(), pushed.subscribe()));
            }
        });
        Self { address, heard, push, alive }
    }

    /// Nothing listens here.
    pub async fn nobody() -> Self {
        let endpoint = Self::start(|_| None).await;
        endpoint.kill().await
    }

    /// Ends the server and every connection to it.
    pub async fn kill(mut self) -> Self {
        self.alive.abort();
        let _ = (&mut self.alive).await;
        self
    }

    /// Waits until `enough` holds of what was heard.
    pub async fn until(&self, enough: impl Fn(&[String]) -> bool) {
        let wait = async {
            while !enough(&self.seen()) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let waited = tokio::time::timeout(Duration::from_secs(60), wait).await;
        waited.unwrap_or_else(|_| panic!("never: {:?}", self.seen()));
    }

    pub fn spec(&self) -> ConnectionSpec {
        let url = format!("http://{}/mcp?key=canary-in-the-url", self.address);
        let headers = vec![(Arc::from("X-Key"), Secret::new("k-123"))];
        let display = format!("http://{}/mcp", self.address).into();
        let mut spec = spec(TransportSpec::Http(HttpSpec { url: Secret::new(url), display, headers }));
        spec.restart = RestartPolicy::Never;
        spec
    }

    pub fn seen(&self) -> Vec<String> {
        let heard = self.heard.lock().unwrap();
        heard.iter().map(|request| format!("{} {}", request.verb, request.method()).trim().to_owned()).collect()
    }

    pub fn requests(&self, method: &str) -> Vec<Request> {
        self.heard.lock().unwrap().iter().filter(|request| request.method() == method).cloned().collect()
    }
}

async fn serve<F: Fn(&Request) -> Option<Response>>(
    stream: TcpStream,
    answer: Arc<F>,
    log: Arc<Mutex<Vec<Request>>>,
    mut pushed: broadcast::Receiver<String>,
) {
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    stream.read_line(&mut line).await.unwrap();
    let mut words = line.split(' ').map(str::to_owned);
    let (verb, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.unwrap();
        match line.trim().split_once(": ") {
            Some((name, value)) => headers.insert(name.to_lowercase(), value.to_owned()),
            None => break,
        };
    }
    let length = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.unwrap();
    let request = Request {
        verb,
        path,
        headers,
        body: serde_json::from_slice(&body).unwrap_or_default(),
        raw: String::from_utf8(body).unwrap(),
    };
    log.lock().unwrap().push(request.clone());
    if let Some((status, more, body)) = answer(&request) {
        if more.contains(HELD) {
            let head = format!("HTTP/1.1 {status} X\r\nConnection: close\r\n{more}\r\n{body}");
            let _ = stream.write_all(head.as_bytes()).await;
            let mut rest = [0; 1];
            loop {
                tokio::select! {
                    Ok(text) = pushed.recv() => drop(stream.write_all(text.as_bytes()).await),
                    _ = stream.read(&mut rest) => break,
                }
            }
            return log.lock().unwrap().push(Request { verb: "CLOSED".to_owned(), ..request });
        }
        let head = format!("HTTP/1.1 {status} X\r\nConnection: close\r\nContent-Length: {}\r\n{more}\r\n", body.len());
        let _ = stream.write_all((head + &body).as_bytes()).await;
    }
    let _ = stream.shutdown().await;
}

pub(super) fn json_answer(body: &Value) -> Response {
    (200, "Content-Type: application/json\r\n".to_owned(), body.to_string())
}

pub(super) fn sse_answer(bodies: &[Value]) -> Response {
    let event = |body: &Value| format!(": hello\r\nevent: message\r\ndata: {body}\r\n\r\n");
    let events = bodies.iter().map(event).collect::<Vec<_>>().concat();
    (200, "Content-Type: text/event-stream; charset=utf-8\r\n".to_owned(), events)
}

/// An event stream that begins with `text` and stays open.
pub(super) fn held(text: &str) -> Response {
    (200, format!("Content-Type: text/event-stream\r\n{HELD}"), text.to_owned())
}

pub(super) fn event(body: &Value) -> String {
    format!("data: {body}\n\n")
}

pub(super) fn refusal(status: u16) -> Response {
    (status, "Content-Type: text/plain\r\n".to_owned(), "no".to_owned())
}

pub(super) fn list(message: &Value) -> Value {
    result(message, json!({"tools": [{"name": "t"}, {"name": "odd", "annotations": {"readOnlyHint": "yes"}}, 7]}))
}

pub(super) fn done(message: &Value) -> Value {
    result(message, json!({"content": [{"type": "text", "text": "done"}]}))
}

pub(super) fn legacy(request: &Request) -> Response {
    let body = &request.body;
    match (request.verb.as_str(), request.method()) {
        ("POST", "server/discover") => refusal(400),
        ("POST", "initialize") => {
            let (status, more, body) = json_answer(&initialized(body));
            (status, more + "Mcp-Session-Id: s-1\r\n", body)
        }
        ("POST", "tools/list") => json_answer(&list(body)),
        ("POST", "tools/call") => {
            sse_answer(&[json!({"jsonrpc": "2.0", "method": "notifications/message"}), done(body)])
        }
        ("GET", _) => refusal(405),
        _ => (202, String::new(), String::new()),
    }
}

#[tokio::test]
async fn a_legacy_endpoint_connects_lists_and_answers_in_a_session() {
    let endpoint = Endpoint::start(|request| Some(legacy(request))).await;
    let mut bench = Bench::start(endpoint.spec());
    bench.ready().await;
    assert_eq!((bench.peer().era, &*bench.peer().protocol_version), (Era::Legacy, "2025-11-25"));
    assert_eq!((bench.listing().tools.len(), bench.listing().rejected.len()), (2, 1), "one bad tool costs itself");
    assert_eq!(text(bench.call("t", r#"{"a":1}"#).await), "done");
    for method in ["notifications/initialized", "tools/list", "tools/call"] {
        let request = &endpoint.requests(method)[0];
        assert_eq!(request.headers.get("mcp-session-id").map(String::as_str), Some("s-1"), "{method}");
        assert_eq!(request.headers.get("mcp-protocol-version").map(String::as_str), Some("2025-11-25"), "{method}");
    }
    assert_eq!(endpoint.requests("tools/call")[0].body["params"]["arguments"], json!({"a": 1}));
    bench.stop().await;
    let seen = endpoint.seen();
    assert_eq!(seen.last().map(String::as_str), Some("DELETE"), "{seen:?}");
    assert_eq!(seen.iter().filter(|seen| *seen == "GET").count(), 1, "405 means never again: {seen:?}");
    for request in endpoint.heard.lock().unwrap().iter() {
        assert_eq!(request.headers.get("x-key").map(String::as_str), Some("k-123"), "{request:?}");
    }
}

#[tokio::test]
async fn a_modern_endpoint_is_posted_to_and_nothing_else() {
    let endpoint = Endpoint::start(|request| {
        let body = &request.body;
        Some(match request.method() {
            "server/discover" => json_answer(&discovered(body)),
            "tools/list" => sse_answer(&[list(body)]),
            "tools/call" => json_answer(&done(body)),
            _ => refusal(404),
        })
    })
    .await;
    let mut bench = Bench::start(endpoint.spec());
    bench.ready().await;
    assert_eq!(bench.peer().era, Era::Modern);
    assert_eq!(text(bench.call("t é", "{}").await), "done");
    bench.stop().await;
    assert_eq!(endpoint.seen(), ["POST server/discover", "POST tools/list", "POST tools/call"]);
    let call = endpoint.requests("tools/call").remove(0);
    let header = |name: &str| call.headers.get(name).map(String::as_str);
    assert_eq!(header("mcp-protocol-version"), Some("2026-07-28"));
    assert_eq!((header("mcp-method"), header("mcp-name")), (Some("tools/call"), Some("=?base64?dCDDqQ==?=")));
}

#[tokio::test]
async fn whatever_an_old_endpoint_says_to_the_probe_it_is_initialized() {
    type Probe = fn(&Value) -> Response;
    let probes: [Probe; 8] = [
        |_| refusal(400),
        |_| refusal(404),
        |_| refusal(405),
        |_| refusal(406),
        |_| refusal(415),
        |_| (400, "Content-Type: application/json\r\n".to_owned(), r#"{"detail":"what?"}"#.to_owned()),
        |body| json_answer(&error(body, -32601)),
        |_| refusal(500),
    ];
    for (number, probe) in probes.into_iter().enumerate() {
        let endpoint = Endpoint::start(move |request| {
            Some(if request.method() == "server/discover" { probe(&request.body) } else { legacy(request) })
        })
        .await;
        let mut bench = Bench::start(endpoint.spec());
        bench.ready().await;
        assert_eq!(bench.peer().era, Era::Legacy, "probe {number}");
        bench.stop().await;
    }
}

#[tokio::test]
async fn refused_credentials_are_named_with_and_without_a_challenge() {
    for (status, more) in [(401, ""), (401, "WWW-Authenticate: Bearer\r\n"), (403, "")] {
        let endpoint = Endpoint::start(move |_| Some((status, more.to_owned(), String::new()))).await;
        let mut bench = Bench::start(ConnectionSpec { restart: RestartPolicy::OnFailure, ..endpoint.spec() });
        let failure = bench.failed().await;
        assert_eq!(failure.kind, FailureKind::Unauthorized, "{failure:?}");
        assert!(failure.headline.contains(&status.to_string()), "{failure:?}");
        assert_eq!(endpoint.seen(), ["POST server/discover"], "no second try with the same credentials");
        bench.stop().await;
    }
}

#[tokio::test]
async fn an_endpoint_that_is_not_there_is_a_transport_failure_without_secrets() {
    let endpoint = Endpoint::nobody().await;
    let mut bench = Bench::start(endpoint.spec());
    let failure = bench.failed().await;
    assert_eq!(failure.kind, FailureKind::Transport);
    assert!(failure.headline.contains("cannot connect to http://127.0.0.1"), "{failure:?}");
    assert!(!failure.headline.contains("canary"), "{failure:?}");
    bench.stop().await;
}

#[tokio::test]
async fn an_endpoint_that_says_nothing_names_the_setting() {
    let endpoint = Endpoint::start(|_| Some(held(""))).await;
    let mut bench = Bench::start(ConnectionSpec { startup_timeout: Duration::from_secs(1), ..endpoint.spec() });
    let failure = bench.failed().await;
    assert_eq!(&*failure.headline, "did not connect within 1 s (startup_timeout_seconds)");
    bench.stop().await;
}

#[tokio::test]
async fn an_answer_that_breaks_off_leaves_the_outcome_unknown_and_is_not_sent_again() {
    let cut: [fn() -> Option<Response>; 3] = [|| None, || Some(sse_answer(&[])), || Some(refusal(502))];
    for cut in cut {
        let endpoint = Endpoint::start(
            move |request| if request.method() == "tools/call" { cut() } else { Some(legacy(request)) },
        )
        .await;
        let mut bench = Bench::start(endpoint.spec());
        bench.ready().await;
        let lost = bench.call("t", "{}").await;
        assert!(matches!(lost, Err(CallFailure::Lost(_))), "{lost:?}");
        assert_eq!(endpoint.requests("tools/call").len(), 1);
        bench.stop().await;
    }
}

#[tokio::test]
async fn what_cannot_be_sent_is_a_configuration_failure() {
    let cases =
        [("ftp://h/", "X", "v"), ("not a url", "X", "v"), ("http://h/", "Accept", "v"), ("http://h/", "X", "a\nb")];
    for (url, name, value) in cases {
        let headers = vec![(Arc::from(name), Secret::new(value))];
        let http = HttpSpec { url: Secret::new(url), display: "h".into(), headers };
        let mut bench = Bench::start(spec(TransportSpec::Http(http)));
        let failure = bench.failed().await;
        assert_eq!(failure.kind, FailureKind::Config, "{failure:?}");
        assert!(!failure.headline.contains('\n'), "{failure:?}");
        bench.stop().await;
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = Endpoint::start(|request| Some(legacy(request))).await;
    let target = format!("Location: http://{}/mcp\r\n", elsewhere.address);
    let endpoint = Endpoint::start(move |_| Some((307, target.clone(), String::new()))).await;
    let mut bench = Bench::start(endpoint.spec());
    bench.failed().await;
    assert!(elsewhere.seen().is_empty(), "headers would have gone along");
    bench.stop().await;
}
