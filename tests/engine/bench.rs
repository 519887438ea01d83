//! The bench: an engine over one scripted server in memory, and what tests do with it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::scripted::Scripted;
use crewlet_tui::config::expand::Environment;
use crewlet_tui::config::model::Source;
use crewlet_tui::engine::audit::{Audit, Kind, MemoryTrail};
use crewlet_tui::engine::command::{Command, Verdict};
use crewlet_tui::engine::connection::Connector;
use crewlet_tui::engine::gate::Attendance;
use crewlet_tui::engine::gate::pins::Pins;
use crewlet_tui::engine::handle::{CallReport, CallRequest, Consent, Handle};
use crewlet_tui::engine::snapshot::{ApprovalView, Caller, Snapshot};
use crewlet_tui::engine::start::{self, Options};
use crewlet_tui::ids::ServerName;
use crewlet_tui::secret::Redactor;
use crewlet_tui::tool::Arguments;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub const CONFIG: &str = r"
name: Acme
mcp_servers:
  - name: notes
    command: in-memory
";

pub struct NoVariables;

impl Environment for NoVariables {
    fn get(&self, _: &str) -> Option<String> {
        None
    }
}

pub struct Bench {
    pub handle: Handle,
    pub engine: JoinHandle<()>,
    pub server: Scripted,
    pub trail: MemoryTrail,
    pub redactor: Redactor,
    pub pins: Arc<Mutex<Pins>>,
}

#[expect(clippy::needless_pass_by_value, reason = "reads better with json! in place")]
pub fn tool(name: &str, annotations: Value) -> Value {
    json!({"name": name, "description": "a tool", "inputSchema": {"type": "object"}, "annotations": annotations})
}

pub fn delete() -> Value {
    json!({
        "name": "delete", "description": "removes a note",
        "inputSchema": {"type": "object", "properties": {"id": {"type": "string"}, "confirm": {"type": "boolean"}}},
        "annotations": {"readOnlyHint": false, "destructiveHint": true},
    })
}

pub fn tools() -> Vec<Value> {
    vec![
        tool("get", json!({"readOnlyHint": true})),
        tool("append", json!({"readOnlyHint": false, "destructiveHint": false})),
        tool("put", json!({"readOnlyHint": false, "destructiveHint": false, "idempotentHint": true})),
        tool("mystery", json!({})),
        delete(),
    ]
}

pub async fn bench() -> Bench {
    bench_with(CONFIG, Attendance::Person).await
}

pub async fn bench_with(config: &str, attendance: Attendance) -> Bench {
    Setup { config: config.to_owned(), attendance, ..Setup::default() }.start().await
}

/// What a bench starts from.
pub struct Setup {
    pub config: String,
    pub attendance: Attendance,
    pub tools: Vec<Value>,
    pub pins: Pins,
    /// Further in-memory servers, by the names of their connections.
    pub others: HashMap<ServerName, Arc<dyn Connector>>,
    /// Whether the server speaks the era without sessions.
    pub modern: bool,
}

impl Default for Setup {
    fn default() -> Self {
        let config = CONFIG.to_owned();
        let (tools, pins, others) = (tools(), Pins::default(), HashMap::new());
        Self { config, attendance: Attendance::Person, tools, pins, others, modern: false }
    }
}

impl Setup {
    pub async fn start(self) -> Bench {
        let server = Scripted::new(self.tools);
        if self.modern {
            server.be_modern();
        }
        let loaded = crewlet_tui::config::load(&self.config, &Source::File("config.yaml".into()));
        let config = loaded.expect("a valid config").config;
        let (audit, trail) = Audit::memory();
        let redactor = Redactor::default();
        let connector: Arc<dyn Connector> = Arc::new(server.clone());
        let pins = Arc::new(Mutex::new(self.pins.clone()));
        let saved = pins.clone();
        let options = Options {
            environment: Arc::new(NoVariables),
            attendance: self.attendance,
            person: "person:ada".into(),
            audit,
            names: crewlet_tui::tool::names::Names::default(),
            names_changed: Box::new(|_| {}),
            pins: self.pins,
            pins_changed: Box::new(move |pins| *saved.lock().expect("pins") = pins.clone()),
            redactor: redactor.clone(),
            log: mpsc::channel(1).1,
            log_dropped: Arc::new(|| 0),
            only: None,
            own_children: Vec::new(),
            connectors: HashMap::from([(ServerName::new("notes"), connector)]).into_iter().chain(self.others).collect(),
            first_notices: Vec::new(),
            kept: start::Kept::default(),
        };
        let (handle, engine) = start::start(&config, options);
        let bench = Bench { handle, engine, server, trail, redactor, pins };
        let ready = |s: &Arc<Snapshot>| s.revision > 0 && s.servers.iter().all(|server| server.status.is_ready());
        bench.until(ready).await;
        bench
    }
}

pub fn request(tool: &str, arguments: &str) -> CallRequest {
    CallRequest {
        caller: Caller::Seat { seat: "release".into(), session: "s1".into(), client: "test 1".into() },
        tool: tool.into(),
        arguments: Arguments::parse(arguments).expect("arguments"),
        consent: Consent::None,
        cancel: CancellationToken::new(),
    }
}

/// The same by another seat, or by the person at the screen.
pub fn request_by(seat: Option<&str>, tool: &str, arguments: &str) -> CallRequest {
    let caller = seat.map_or(Caller::Console, |seat| Caller::Seat {
        seat: seat.into(),
        session: "s1".into(),
        client: "test 1".into(),
    });
    CallRequest { caller, ..request(tool, arguments) }
}

impl Bench {
    pub async fn until(&self, what: impl FnMut(&Arc<Snapshot>) -> bool) -> Arc<Snapshot> {
        let mut snapshots = self.handle.snapshots();
        let found = tokio::time::timeout(Duration::from_secs(120), snapshots.wait_for(what)).await;
        found.expect("in time").expect("a running engine").clone()
    }

    pub async fn call(&self, tool: &str, arguments: &str) -> CallReport {
        self.handle.call(request(tool, arguments)).await.expect("a report")
    }

    pub fn start_call(&self, request: CallRequest) -> JoinHandle<CallReport> {
        let handle = self.handle.clone();
        tokio::spawn(async move { handle.call(request).await.expect("a report") })
    }

    pub async fn question(&self) -> Arc<ApprovalView> {
        self.until(|snapshot| !snapshot.approvals.is_empty()).await.approvals[0].clone()
    }

    pub async fn question_after(&self, earlier: &ApprovalView) -> Arc<ApprovalView> {
        let newer = |snapshot: &Arc<Snapshot>| snapshot.approvals.first().is_some_and(|now| now.id != earlier.id);
        self.until(newer).await.approvals[0].clone()
    }

    pub fn decide(&self, question: &ApprovalView, verdict: Verdict) {
        let command = Command::Decide(question.shown(), verdict);
        self.handle.send(command).expect("taken");
    }

    /// `received asked decided(approved) …` of all calls, in order.
    pub fn story(&self) -> Vec<String> {
        let records = self.trail.records();
        let word = |record: &crewlet_tui::engine::audit::Record| match (record.kind, record.decision, record.outcome) {
            (Kind::Decided, Some(decision), _) => decision.as_str().to_owned(),
            (Kind::Finished, _, Some(outcome)) => format!("finished {}", outcome.as_str()),
            (kind, ..) => kind.as_str().to_owned(),
        };
        records.iter().map(word).collect()
    }

    /// Decides everything that waits like this, until the call is over.
    pub async fn answered(&self, call: JoinHandle<CallReport>, verdict: Verdict) -> CallReport {
        let question = self.question().await;
        self.decide(&question, verdict);
        call.await.expect("a report")
    }

    /// Waits for a notice with these words.
    pub async fn told(&self, words: &str) -> Arc<Snapshot> {
        self.until(|snapshot| snapshot.notices.iter().any(|notice| notice.text.contains(words))).await
    }

    /// The questions, once there are this many.
    pub async fn questions(&self, count: usize) -> Vec<Arc<ApprovalView>> {
        self.until(|snapshot| snapshot.approvals.len() == count).await.approvals.clone()
    }

    /// Runs a call and says whether a person was asked; a question is answered with no.
    pub async fn asks(&self, seat: Option<&str>, tool: &str, arguments: &str) -> bool {
        self.questions(0).await;
        let before = self.handle.snapshot().calls.len();
        let call = self.start_call(request_by(seat, tool, arguments));
        let over = |s: &Arc<Snapshot>| !s.approvals.is_empty() || s.calls.iter().all(|call| call.phase.is_over());
        // The call has to be known before its end means anything.
        let snapshot = self.until(|s| s.calls.len() > before && over(s)).await;
        if let Some(question) = snapshot.approvals.first() {
            self.decide(question, Verdict::Deny { reason: String::new() });
        }
        call.await.expect("a report");
        self.questions(0).await;
        !snapshot.approvals.is_empty()
    }

    /// Ends the engine; the remembered definitions as a state file would hold them.
    pub async fn stop(self) -> String {
        self.handle.send(Command::Shutdown).expect("taken");
        self.engine.await.expect("the engine ends in order");
        serde_json::to_string(&*self.pins.lock().expect("pins")).expect("JSON")
    }
}
