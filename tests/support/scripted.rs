//! A scripted MCP server in memory: it answers what the test tells it to and keeps a ledger of executed calls.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use crewlet_tui::engine::connection::Connector;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, DuplexStream};

/// What the server does with one `tools/call`, after it wrote the ledger.
#[derive(Clone, Debug)]
pub enum Reaction {
    /// Answers with this result.
    Result(Value),
    /// Answers with a JSON-RPC error.
    Error(i64, &'static str),
    /// Says these things of its progress (parameters without a token), then answers with the text `ok`.
    #[allow(dead_code, reason = "not every test crate looks at it")]
    Progress(Vec<Value>),
    /// Never answers.
    Silence,
    /// Closes the connection before it answers.
    HangUp,
    /// Answers with what this makes of the parameters.
    With(fn(&Value) -> Value),
    /// Sends these messages; the call is answered with the text of our answer to the request `until`.
    #[allow(dead_code, reason = "not every test crate uses it")]
    Ask {
        /// What is sent.
        messages: Vec<Value>,
        /// The request whose answer ends the call.
        until: Value,
    },
}

#[derive(Default)]
struct State {
    tools: Vec<Value>,
    reactions: VecDeque<Reaction>,
    ledger: Vec<(String, String)>,
    received: Vec<Value>,
    /// Calls that wait for an answer of ours: the call's id, and the request's.
    asking: Vec<(Value, Value)>,
    modern: bool,
    notify: Vec<tokio::sync::mpsc::Sender<Vec<Value>>>,
    capabilities: Option<Value>,
    others: HashMap<&'static str, Reaction>,
}

/// The server; clones share one state.
#[derive(Clone, Default)]
pub struct Scripted {
    state: Arc<Mutex<State>>,
}

impl Scripted {
    /// A server with these tools; every call is answered with the text `ok` unless told otherwise.
    pub fn new(tools: impl IntoIterator<Item = Value>) -> Self {
        let server = Self::default();
        server.state.lock().expect("state").tools = tools.into_iter().collect();
        server
    }

    /// A server that declares resources and prompts beside its tools.
    pub fn offering(tools: impl IntoIterator<Item = Value>) -> Self {
        let server = Self::new(tools);
        let told = json!({"listChanged": true});
        let capabilities = json!({"tools": told, "resources": told, "prompts": told});
        server.state.lock().expect("state").capabilities = Some(capabilities);
        server
    }

    /// From now on requests of this method, which is not `tools/call`, are treated like this.
    pub fn answer_to(&self, method: &'static str, reaction: Reaction) {
        self.state.lock().expect("state").others.insert(method, reaction);
    }

    /// From now on it speaks the era without sessions.
    #[allow(dead_code, reason = "not every test crate uses it")]
    pub fn be_modern(&self) {
        self.state.lock().expect("state").modern = true;
    }

    /// Sends a notification to every open connection.
    pub async fn tell(&self, method: &'static str) {
        self.say([json!({"jsonrpc": "2.0", "method": method})]).await;
    }

    /// Sends these messages on every open connection.
    #[allow(dead_code, reason = "not every test crate uses it")]
    pub async fn say(&self, messages: impl IntoIterator<Item = Value>) {
        let messages: Vec<Value> = messages.into_iter().collect();
        let open = self.state.lock().expect("state").notify.clone();
        for connection in open {
            let _ = connection.send(messages.clone()).await;
        }
    }

    /// The next calls are treated like this, in order.
    pub fn react(&self, reactions: impl IntoIterator<Item = Reaction>) {
        self.state.lock().expect("state").reactions.extend(reactions);
    }

    /// Replaces the tools and says so to every open connection.
    pub async fn change_tools(&self, tools: impl IntoIterator<Item = Value>) {
        self.state.lock().expect("state").tools = tools.into_iter().collect();
        self.tell("notifications/tools/list_changed").await;
    }

    /// Executed calls: raw name and the arguments exactly as received.
    pub fn ledger(&self) -> Vec<(String, String)> {
        self.state.lock().expect("state").ledger.clone()
    }

    /// Everything that was received, whole.
    #[allow(dead_code, reason = "not every test crate looks at it")]
    pub fn received(&self) -> Vec<Value> {
        self.state.lock().expect("state").received.clone()
    }

    /// Everything that was received, methods first.
    pub fn methods(&self) -> Vec<String> {
        let state = self.state.lock().expect("state");
        state.received.iter().filter_map(|message| Some(message.get("method")?.as_str()?.to_owned())).collect()
    }

    async fn serve(self, input: DuplexStream, mut output: DuplexStream) {
        let mut lines = BufReader::new(input).lines();
        let (notify, mut said) = tokio::sync::mpsc::channel(8);
        self.state.lock().expect("state").notify.push(notify);
        loop {
            let answer = tokio::select! {
                line = lines.next_line() => match line {
                    Ok(Some(line)) => match self.answer(&line) {
                        Some(answer) => answer,
                        None => return,
                    },
                    _ => return,
                },
                Some(messages) = said.recv() => messages,
            };
            for message in answer {
                if output.write_all(format!("{message}\n").as_bytes()).await.is_err() {
                    return;
                }
            }
        }
    }

    /// Messages to send, or `None` to hang up.
    fn answer(&self, line: &str) -> Option<Vec<Value>> {
        let message: Value = serde_json::from_str(line).expect("a JSON message");
        let id = message.get("id").cloned();
        let mut state = self.state.lock().expect("state");
        state.received.push(message.clone());
        let Some(id) = id else { return Some(Vec::new()) };
        if message.get("method").is_none() {
            let Some(at) = state.asking.iter().position(|(_, until)| *until == id) else { return Some(Vec::new()) };
            let (call, _) = state.asking.remove(at);
            let said = message.get("result").or_else(|| message.get("error")).cloned().unwrap_or_default();
            let result = json!({"content": [{"type": "text", "text": said.to_string()}]});
            return Some(vec![json!({"jsonrpc": "2.0", "id": call, "result": result})]);
        }
        let result = |result: Value| Some(vec![json!({"jsonrpc": "2.0", "id": id, "result": result})]);
        let error = |code: i64, text: &str| {
            Some(vec![json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": text}})])
        };
        match message.get("method").and_then(Value::as_str) {
            Some("server/discover") if state.modern => result(json!({
                "supportedVersions": ["2026-07-28"],
                "capabilities": {"tools": {}},
            })),
            Some("initialize") => result(json!({
                "protocolVersion": "2025-11-25",
                "capabilities": state.capabilities.clone().unwrap_or(json!({"tools": {"listChanged": true}})),
                "serverInfo": {"name": "scripted", "version": "1"},
            })),
            Some("tools/list") => result(json!({"tools": state.tools})),
            Some("tools/call") => {
                state.ledger.push(called(line));
                match state.reactions.pop_front() {
                    None => result(json!({"content": [{"type": "text", "text": "ok"}]})),
                    Some(Reaction::Result(value)) => result(value),
                    Some(Reaction::Error(code, text)) => error(code, text),
                    Some(Reaction::Progress(said)) => {
                        let token = &message["params"]["_meta"]["progressToken"];
                        let notice = |mut params: Value| {
                            params["progressToken"] = token.clone();
                            json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
                        };
                        let answer = result(json!({"content": [{"type": "text", "text": "ok"}]}));
                        Some(said.into_iter().map(notice).chain(answer.into_iter().flatten()).collect())
                    }
                    Some(Reaction::Silence) => Some(Vec::new()),
                    Some(Reaction::HangUp) => None,
                    Some(Reaction::With(made)) => result(made(&message["params"])),
                    Some(Reaction::Ask { messages, until }) => {
                        state.asking.push((id, until));
                        Some(messages)
                    }
                }
            }
            Some(method) if state.others.contains_key(method) => other(&state.others[method], &message),
            _ => error(-32601, "Method not found"),
        }
    }
}

/// Name and arguments of a `tools/call`, the arguments byte for byte.
fn called(line: &str) -> (String, String) {
    #[derive(serde::Deserialize)]
    struct Frame<'a> {
        #[serde(borrow)]
        params: Params<'a>,
    }
    #[derive(serde::Deserialize)]
    struct Params<'a> {
        name: String,
        #[serde(borrow)]
        arguments: &'a RawValue,
    }
    let frame: Frame<'_> = serde_json::from_str(line).expect("a tools/call");
    (frame.params.name, frame.params.arguments.get().to_owned())
}

impl Connector for Scripted {
    fn connect(&self) -> (Box<dyn AsyncWrite + Send + Unpin>, Box<dyn AsyncRead + Send + Unpin>) {
        let (to_server, input) = tokio::io::duplex(1 << 20);
        let (output, from_server) = tokio::io::duplex(1 << 20);
        tokio::spawn(self.clone().serve(input, output));
        (Box::new(to_server), Box::new(from_server))
    }
}

/// The answer to a request that is no call.
fn other(reaction: &Reaction, request: &Value) -> Option<Vec<Value>> {
    let outcome = match reaction {
        Reaction::Result(value) => ("result", value.clone()),
        Reaction::Error(code, text) => ("error", json!({"code": code, "message": text})),
        Reaction::With(made) => ("result", made(&request["params"])),
        Reaction::Silence => return Some(Vec::new()),
        Reaction::HangUp => return None,
        Reaction::Ask { .. } | Reaction::Progress(_) => panic!("only calls do that"),
    };
    Some(vec![json!({"jsonrpc": "2.0", "id": request["id"], outcome.0: outcome.1})])
}
