//! An engine with a listener, and agents that talk to it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use crewlet_tui::config::expand::{Environment, ProcessEnvironment};
use crewlet_tui::config::model::{Config, Source};
use crewlet_tui::engine::audit::{Audit, Decision, Kind, MemoryTrail};
use crewlet_tui::engine::command::{Command, Verdict};
use crewlet_tui::engine::connection::Connector;
use crewlet_tui::engine::first_party::FirstParty;
use crewlet_tui::engine::gate::Attendance;
use crewlet_tui::engine::handle::Handle;
use crewlet_tui::engine::snapshot::{ApprovalView, Snapshot};
use crewlet_tui::engine::start::{self, Options};
use crewlet_tui::engine::state_dir::StateDir;
use crewlet_tui::engine::state_dir::{OwnerLock, RunInfo};
use crewlet_tui::ids::{SeatHandle, ServerName};
use crewlet_tui::native::Native;
use crewlet_tui::secret::Redactor;
use crewlet_tui::store::Store;
use crewlet_tui::surface::{self, Surfaces, tokens};
use reqwest::header::HeaderMap;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::scripted::Scripted;

pub const CONFIG: &str = "
name: Acme
roles:
  - { name: Release Manager, handle: release, kind: agent }
  - { name: Reviewer, handle: review, kind: agent }
mcp_servers:
  - { name: notes, command: in-memory }
";

pub const MODERN: &str = "2026-07-28";
pub const LEGACY: &str = "2025-11-25";

struct NoVariables;

impl Environment for NoVariables {
    fn get(&self, _: &str) -> Option<String> {
        None
    }
}

/// Variables for the tokens of operators: `${FOUNDER}` is `founder-token-0123456789`.
struct Operators;

impl Environment for Operators {
    fn get(&self, name: &str) -> Option<String> {
        Some(operator_token(&name.to_lowercase()))
    }
}

pub fn operator_token(id: &str) -> String {
    format!("{id}-token-0123456789")
}

pub struct Bench {
    pub handle: Handle,
    pub engine: JoinHandle<()>,
    pub surfaces: Surfaces,
    pub server: Scripted,
    pub trail: MemoryTrail,
    pub state: StateDir,
    pub config: Config,
    pub http: reqwest::Client,
    _owned: OwnerLock,
    _folder: tempfile::TempDir,
}

pub fn tools() -> Vec<Value> {
    vec![
        json!({"name": "get", "title": "Read a note", "description": "reads a note",
            "inputSchema": {"type": "object", "properties": {"id": {"type": "string", "x-own": [1.50]}}},
            "outputSchema": {"type": "object"},
            "annotations": {"readOnlyHint": true, "openWorldHint": false}}),
        json!({"name": "mystery", "inputSchema": {"type": "object"}}),
        json!({"name": "odd/name here", "inputSchema": {"type": "string"}, "annotations": {"openWorldHint": false}}),
        json!({"name": "delete", "description": "removes a note", "inputSchema": {"type": "object"},
            "annotations": {"readOnlyHint": false, "destructiveHint": true}}),
    ]
}

pub async fn bench() -> Bench {
    bench_with(CONFIG).await
}

pub async fn bench_with(text: &str) -> Bench {
    bench_of(text, &[("notes", &Scripted::new(tools()))]).await
}

/// A bench with these servers; the first is its `server`.
pub async fn bench_of(text: &str, servers: &[(&str, &Scripted)]) -> Bench {
    // TLS is not used, but the client asks for a provider.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let server = servers[0].1.clone();
    let config = crewlet_tui::config::load(text, &Source::File("config.yaml".into())).expect("a valid config").config;
    let folder = tempfile::tempdir().unwrap();
    let state = StateDir::open(folder.path().join("state")).unwrap();
    let owned = state.own("test").unwrap();
    let (audit, trail) = Audit::memory();
    let native = Native::open(&config, Store::new(state.path()));
    // Tests of what servers bring count their tools; tests of the program's own ask for them.
    let own = Some(native.clone()).filter(|_| !config.operators.is_empty());
    let redactor = Redactor::default();
    let connector = |server: &Scripted| -> Arc<dyn Connector> { Arc::new(server.clone()) };
    let connectors = servers.iter().map(|(name, server)| (ServerName::new(*name), connector(server)));
    let options = Options {
        environment: Arc::new(NoVariables),
        attendance: Attendance::Person,
        person: "person:ada".into(),
        audit,
        names: crewlet_tui::tool::names::Names::default(),
        names_changed: Box::new(|_| {}),
        pins: crewlet_tui::engine::gate::pins::Pins::default(),
        pins_changed: Box::new(|_| {}),
        redactor: redactor.clone(),
        log: mpsc::channel(1).1,
        log_dropped: Arc::new(|| 0),
        only: None,
        own_children: Vec::new(),
        connectors: connectors.collect::<HashMap<_, _>>(),
        first_notices: Vec::new(),
        kept: start::Kept { tools: own.map(|own| own as Arc<dyn FirstParty>), ..start::Kept::default() },
    };
    let (handle, engine) = start::start(&config, options);
    let options = surface::Options {
        address: ([127, 0, 0, 1], 0).into(),
        state: &state,
        environment: Arc::new(Operators),
        redactor: &redactor,
        operators: &config.operators,
        native,
    };
    let surfaces = surface::start(handle.clone(), options).await.expect("a free port");
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let bench = Bench { handle, engine, surfaces, server, trail, state, config, http, _owned: owned, _folder: folder };
    bench
        .until(|s| {
            s.revision > 0
                && s.servers.iter().all(|server| server.status.is_ready() || server.status.word() == "disabled")
        })
        .await;
    bench
}

impl Bench {
    pub async fn until(&self, mut what: impl FnMut(&Snapshot) -> bool) -> Arc<Snapshot> {
        let mut snapshots = self.handle.snapshots();
        let found = tokio::time::timeout(Duration::from_secs(20), snapshots.wait_for(|s| what(s))).await;
        found.expect("in time").expect("a running engine").clone()
    }

    pub async fn question(&self) -> Arc<ApprovalView> {
        self.until(|snapshot| !snapshot.approvals.is_empty()).await.approvals[0].clone()
    }

    /// Decides, and waits until the question is gone from the snapshot.
    pub async fn decide(&self, question: &Arc<ApprovalView>, verdict: Verdict) {
        self.handle.send(Command::Decide(question.shown(), verdict)).expect("taken");
        self.until(|snapshot| !snapshot.approvals.iter().any(|waiting| waiting.id == question.id)).await;
    }

    pub fn token(&self, seat: &str) -> String {
        let seat = self.config.org.seat(&SeatHandle::new(seat)).expect("a seat");
        tokens::show(&self.state, seat, &ProcessEnvironment).expect("a token").expose().to_owned()
    }

    /// Lets others find the listener, as a running instance does.
    pub fn announce(&self) {
        let info = RunInfo { pid: std::process::id(), address: Some(self.surfaces.address.to_string()) };
        self.state.write_run(&info).unwrap();
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.surfaces.address)
    }

    /// An agent of the era without sessions.
    pub fn modern(&self, seat: &str) -> Agent {
        self.agent(seat, None)
    }

    /// An agent that has opened a session.
    pub async fn legacy(&self, seat: &str) -> Agent {
        let mut agent = self.agent(seat, Some(String::new()));
        let answer = agent.initialize(LEGACY).await;
        assert_eq!(answer.status, StatusCode::OK, "{answer:?}");
        agent.session = Some(answer.headers["mcp-session-id"].to_str().unwrap().to_owned());
        agent.notify("notifications/initialized", json!({})).await;
        agent
    }

    pub async fn both(&self, seat: &str) -> [Agent; 2] {
        [self.legacy(seat).await, self.modern(seat)]
    }

    pub fn agent(&self, seat: &str, session: Option<String>) -> Agent {
        Agent {
            http: self.http.clone(),
            url: self.url(&format!("/seats/{seat}/mcp")),
            token: self.token(seat),
            accept: "application/json, text/event-stream",
            progress: None,
            capabilities: json!({}),
            name: "modern-agent",
            session,
        }
    }

    /// An operator's client on one of the operators' surfaces; with a session, or without.
    pub async fn operator(&self, id: &str, path: &str, legacy: bool) -> Agent {
        let agent = Agent {
            http: self.http.clone(),
            url: self.url(path),
            token: operator_token(id),
            accept: "application/json, text/event-stream",
            progress: None,
            capabilities: json!({}),
            name: "modern-agent",
            session: legacy.then(String::new),
        };
        if !legacy {
            return agent;
        }
        let answer = agent.initialize(LEGACY).await;
        let session = answer.headers.get("mcp-session-id").unwrap_or_else(|| panic!("{answer:?}"));
        Agent { session: Some(session.to_str().unwrap().to_owned()), ..agent }
    }

    /// A plain call of the connector.
    pub async fn plain(&self, token: &str, tool: &str, body: &str) -> (StatusCode, Value) {
        let request = self.http.post(self.url(&format!("/tools/{tool}"))).bearer_auth(token);
        let answer = request.header("content-type", "application/json").body(body.to_owned()).send().await.unwrap();
        let (status, text) = (answer.status(), answer.text().await.unwrap());
        (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
    }

    pub async fn get(&self, token: &str, path: &str) -> (StatusCode, String) {
        let answer = self.http.get(self.url(path)).bearer_auth(token).send().await.unwrap();
        (answer.status(), answer.text().await.unwrap())
    }

    /// How each decided call was decided.
    pub fn decisions(&self) -> Vec<Decision> {
        self.trail.records().iter().filter_map(|record| record.decision).collect()
    }

    /// The reasons of the records of one kind.
    pub fn reasons(&self, kind: Kind) -> Vec<String> {
        let of_kind = self.trail.records().into_iter().filter(|record| record.kind == kind);
        of_kind.filter_map(|record| record.reason.map(|reason| reason.to_string())).collect()
    }

    pub async fn stop(self) {
        self.surfaces.end().await;
        self.handle.send(Command::Shutdown).expect("taken");
        self.engine.await.expect("the engine ends in order");
    }
}

#[derive(Clone)]
pub struct Agent {
    pub http: reqwest::Client,
    pub url: String,
    pub token: String,
    pub accept: &'static str,
    pub progress: Option<Value>,
    /// Declared with each request of the era without sessions.
    pub capabilities: Value,
    /// What it calls itself there.
    pub name: &'static str,
    /// `None`: the era without sessions.
    pub session: Option<String>,
}

#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: String,
}

impl Answer {
    pub fn is_stream(&self) -> bool {
        self.headers.get("content-type").is_some_and(|kind| kind == "text/event-stream")
    }

    /// The messages, in order.
    pub fn messages(&self) -> Vec<Value> {
        if !self.is_stream() {
            return vec![serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {}", self.body))];
        }
        let data = self.body.lines().filter_map(|line| line.strip_prefix("data: "));
        data.map(|data| serde_json::from_str(data).expect("JSON")).collect()
    }

    /// The last message.
    pub fn message(&self) -> Value {
        self.messages().pop().expect("a message")
    }

    /// `error: text` or `ok: text` of a call's result.
    pub fn outcome(&self) -> String {
        let message = self.message();
        let result = &message["result"];
        let word = if result["isError"] == json!(true) { "error" } else { "ok" };
        format!("{word}: {}", result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{message}")))
    }
}

impl Agent {
    pub fn post(&self, method: &str, params: &str, id: Option<Value>) -> reqwest::RequestBuilder {
        let id = id.map(|id| format!(r#""id":{id},"#)).unwrap_or_default();
        let body = format!(r#"{{"jsonrpc":"2.0",{id}"method":"{method}","params":{params}}}"#);
        let mut request = self
            .http
            .post(&self.url)
            .bearer_auth(&self.token)
            .header("content-type", "application/json")
            .header("accept", self.accept);
        match &self.session {
            Some(session) if !session.is_empty() => request = request.header("mcp-session-id", session),
            Some(_) => {}
            None => {
                request = request.header("mcp-protocol-version", MODERN).header("mcp-method", method);
                let params: Value = serde_json::from_str(params).unwrap();
                let name = match method {
                    "tools/call" | "prompts/get" => &params["name"],
                    "resources/read" => &params["uri"],
                    _ => &params["taskId"],
                };
                if let Some(name) = name.as_str() {
                    request = request.header("mcp-name", name);
                }
            }
        }
        request.body(body)
    }

    pub async fn send(&self, method: &str, params: &str, id: Option<Value>) -> Answer {
        let response = self.post(method, params, id).send().await.expect("an answer");
        Answer {
            status: response.status(),
            headers: response.headers().clone(),
            body: response.text().await.expect("a body"),
        }
    }

    fn meta(&self) -> Value {
        let mut meta = match self.session {
            Some(_) => json!({}),
            None => json!({
                "io.modelcontextprotocol/protocolVersion": MODERN,
                "io.modelcontextprotocol/clientCapabilities": self.capabilities,
                "io.modelcontextprotocol/clientInfo": {"name": self.name, "version": "2"},
            }),
        };
        if let Some(token) = &self.progress {
            meta["progressToken"] = token.clone();
        }
        meta
    }

    /// Parameters with what each request carries.
    pub fn asking(&self, params: &Value) -> String {
        let mut params = params.clone();
        params["_meta"] = self.meta();
        params.to_string()
    }

    pub async fn request(&self, method: &str, params: Value) -> Answer {
        self.send(method, &self.asking(&params), Some(json!(7))).await
    }

    pub async fn notify(&self, method: &str, params: Value) -> Answer {
        self.send(method, &params.to_string(), None).await
    }

    pub async fn initialize(&self, version: &str) -> Answer {
        let params = json!({"protocolVersion": version, "capabilities": {},
            "clientInfo": {"name": "legacy-agent", "version": "1"}});
        self.send("initialize", &params.to_string(), Some(json!("i"))).await
    }

    pub async fn list(&self) -> Value {
        self.request("tools/list", json!({})).await.message()
    }

    pub async fn list_status(&self) -> StatusCode {
        self.request("tools/list", json!({})).await.status
    }

    /// The parameters of a call, arguments as raw text.
    pub fn calling(&self, tool: &str, arguments: &str) -> String {
        format!(r#"{{"name":{},"arguments":{arguments},"_meta":{}}}"#, json!(tool), self.meta())
    }

    pub async fn call(&self, tool: &str, arguments: &str) -> Answer {
        self.call_as(json!(7), tool, arguments).await
    }

    pub async fn call_as(&self, id: Value, tool: &str, arguments: &str) -> Answer {
        self.send("tools/call", &self.calling(tool, arguments), Some(id)).await
    }

    pub fn start_call(&self, tool: &str, arguments: &str) -> JoinHandle<Answer> {
        let (agent, tool, arguments) = (self.clone(), tool.to_owned(), arguments.to_owned());
        tokio::spawn(async move { agent.call(&tool, &arguments).await })
    }

    pub async fn with(&self, method: Method, headers: &[(&str, &str)]) -> Answer {
        let mut request = self.http.request(method, &self.url).bearer_auth(&self.token).header("accept", self.accept);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = request.send().await.expect("an answer");
        Answer {
            status: response.status(),
            headers: response.headers().clone(),
            body: response.text().await.unwrap_or_default(),
        }
    }

    /// Opens a stream that stays open.
    pub async fn open(&self, method: Method) -> reqwest::Response {
        let session = self.session.clone().unwrap_or_default();
        let request = self.http.request(method, &self.url).bearer_auth(&self.token);
        request.header("accept", "text/event-stream").header("mcp-session-id", session).send().await.expect("a stream")
    }
}

/// Reads a stream until it holds `text`.
pub async fn read_until(response: &mut reqwest::Response, text: &str) -> String {
    let mut seen = String::new();
    let reading = async {
        while !seen.contains(text) {
            let chunk = response.chunk().await.expect("readable");
            seen.push_str(std::str::from_utf8(&chunk.unwrap_or_else(|| panic!("ended after {seen}"))).unwrap());
        }
    };
    tokio::time::timeout(Duration::from_secs(10), reading).await.expect("in time");
    seen
}
