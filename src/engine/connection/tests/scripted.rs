//! An in-memory server whose every reaction a test writes down.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};

use super::*;

/// What the server does about one message.
pub enum Reaction {
    /// Nothing.
    Silence,
    /// Says something at once.
    Say(Vec<Value>),
    /// Says something after a while; the messages that come meanwhile wait.
    Late(Duration, Value),
    /// Ends the connection.
    HangUp,
}

type Script = Box<dyn Fn(usize, &Value) -> Reaction + Send + Sync>;

/// A connector whose server reacts by a script, which is told the number of the connection, from 0.
pub struct Scripted {
    script: Script,
    connections: AtomicUsize,
    pub heard: Mutex<Vec<Value>>,
}

impl Scripted {
    pub fn new(script: impl Fn(usize, &Value) -> Reaction + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self { script: Box::new(script), connections: AtomicUsize::new(0), heard: Mutex::default() })
    }

    /// The methods it was sent, over all connections.
    pub fn methods(&self) -> Vec<String> {
        let heard = self.heard.lock().unwrap();
        heard.iter().map(|message| message["method"].as_str().unwrap_or("answer").to_owned()).collect()
    }

    /// The messages with this method.
    pub fn heard(&self, method: &str) -> Vec<Value> {
        self.heard.lock().unwrap().iter().filter(|message| message["method"] == method).cloned().collect()
    }

    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

/// A spec for a scripted server.
pub fn scripted(server: &Arc<Scripted>) -> ConnectionSpec {
    spec(TransportSpec::Custom(Arc::new(Shared(server.clone()))))
}

struct Shared(Arc<Scripted>);

impl Connector for Shared {
    fn connect(&self) -> (Box<dyn AsyncWrite + Send + Unpin>, Box<dyn AsyncRead + Send + Unpin>) {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let number = self.0.connections.fetch_add(1, Ordering::SeqCst);
        let server = self.0.clone();
        tokio::spawn(async move {
            let (reader, mut writer) = tokio::io::split(theirs);
            let mut lines = BufReader::new(reader).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                let message: Value = serde_json::from_str(&line).unwrap();
                server.heard.lock().unwrap().push(message.clone());
                let say = match (server.script)(number, &message) {
                    Reaction::Silence => Vec::new(),
                    Reaction::Say(messages) => messages,
                    Reaction::Late(delay, message) => {
                        tokio::time::sleep(delay).await;
                        vec![message]
                    }
                    Reaction::HangUp => return,
                };
                for message in say {
                    if writer.write_all(format!("{message}\n").as_bytes()).await.is_err() {
                        return;
                    }
                }
            }
        });
        let (reader, writer) = tokio::io::split(ours);
        (Box::new(writer), Box::new(reader))
    }
}

pub fn result(message: &Value, result: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": message["id"], "result": result})
}

pub fn error(message: &Value, code: i64) -> Value {
    json!({"jsonrpc": "2.0", "id": message["id"], "error": {"code": code, "message": "no"}})
}

pub fn initialized(message: &Value) -> Value {
    result(
        message,
        json!({"protocolVersion": message["params"]["protocolVersion"],
        "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}),
    )
}

pub fn discovered(message: &Value) -> Value {
    result(
        message,
        json!({"resultType": "complete", "supportedVersions": ["2026-07-28"],
        "capabilities": {"tools": {}}, "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "m"}}}),
    )
}

/// What a plain legacy server does.
pub fn legacy(message: &Value) -> Reaction {
    match message["method"].as_str() {
        Some("server/discover") => Reaction::Say(vec![error(message, -32601)]),
        Some("initialize") => Reaction::Say(vec![initialized(message)]),
        Some("tools/list") => Reaction::Say(vec![result(message, json!({"tools": [{"name": "t"}]}))]),
        Some("tools/call") => {
            Reaction::Say(vec![result(message, json!({"content": [{"type": "text", "text": "done"}]}))])
        }
        _ => Reaction::Silence,
    }
}
