//! As much of MCP as a server with tools needs: one JSON-RPC message a line, in both eras of the protocol.
//!
//! The stateless era opens with `server/discover`, the older one with `initialize`. A server that is told to be
//! [`Era::Older`] answers the former like the servers of its time: method not found.

use std::io::{self, BufRead, Write};

use serde_json::{Map, Value, json};

const STATELESS: &str = "2026-07-28";
const OLDER: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";

/// Which eras a server speaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Era {
    /// Sessions only.
    Older,
    /// Stateless requests too.
    Both,
}

/// What a tool answered.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Answer {
    /// Text.
    Text(String),
    /// Text and the same as data.
    Data(String, Value),
    /// The tool's own error.
    Failed(String),
    /// A question to the person first: the parameters of an `elicitation/create` request.
    Ask(Value),
}

/// A demo server.
pub(super) trait Demo {
    /// Its name.
    fn name(&self) -> &'static str;

    /// Which eras it speaks.
    fn era(&self) -> Era;

    /// What it is for.
    fn instructions(&self) -> &'static str;

    /// Its tools, as listed.
    fn tools(&self) -> Vec<Value>;

    /// Runs a tool; `None` when there is none of that name.
    fn call(&mut self, tool: &str, arguments: &Map<String, Value>) -> Option<Answer>;

    /// Runs a tool that asks the person something first. `said` is what came back, once it was asked. `None` when this
    /// tool asks nothing.
    fn ask(&mut self, _tool: &str, _said: Option<&Value>) -> Option<Answer> {
        None
    }
}

/// Answers requests until the input ends.
pub(super) fn serve(demo: &mut dyn Demo, mut input: impl BufRead, mut output: impl Write) -> io::Result<()> {
    let mut line = Vec::new();
    loop {
        line.clear();
        if input.read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        if let Some(reply) = answer(demo, &line) {
            let sent = writeln!(output, "{reply}").and_then(|()| output.flush());
            match sent {
                // The client went away.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
                sent => sent?,
            }
        }
    }
}

/// The reply to one message; notifications and responses have none.
fn answer(demo: &mut dyn Demo, line: &[u8]) -> Option<Value> {
    let Ok(message) = serde_json::from_slice::<Value>(line) else {
        return Some(failure(&Value::Null, &Fault::new(-32700, "this is not JSON")));
    };
    let method = message.get("method").and_then(Value::as_str);
    match (message.get("id"), method) {
        (Some(id), Some(method)) => {
            let params = message.get("params").cloned().unwrap_or_else(|| json!({}));
            Some(match request(demo, method, &params) {
                Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
                Err(fault) => failure(id, &fault),
            })
        }
        (None, Some(_)) => None,
        // A response to a request that we never made.
        _ if message.get("result").is_some() || message.get("error").is_some() => None,
        _ => Some(failure(&Value::Null, &Fault::new(-32600, "this is not a request"))),
    }
}

struct Fault {
    code: i64,
    message: String,
    data: Option<Value>,
}

impl Fault {
    fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }
}

fn failure(id: &Value, fault: &Fault) -> Value {
    let mut error = json!({"code": fault.code, "message": fault.message});
    if let (Some(error), Some(data)) = (error.as_object_mut(), &fault.data) {
        error.insert("data".to_owned(), data.clone());
    }
    json!({"jsonrpc": "2.0", "id": id, "error": error})
}

fn request(demo: &mut dyn Demo, method: &str, params: &Value) -> Result<Value, Fault> {
    let version = params.get("_meta").and_then(|meta| meta.get(VERSION_KEY)).and_then(Value::as_str);
    let stateless = demo.era() == Era::Both && version.is_some();
    if let Some(version) = version.filter(|version| stateless && *version != STATELESS) {
        let data = Some(json!({"supported": [STATELESS], "requested": version}));
        return Err(Fault { code: -32022, message: "unsupported protocol version".to_owned(), data });
    }
    let mut result = match method {
        "server/discover" if demo.era() == Era::Both && !stateless => {
            return Err(Fault::new(-32602, format!("_meta.{VERSION_KEY} is missing")));
        }
        "server/discover" if stateless => discover(demo),
        "initialize" => initialize(demo, params),
        "ping" if !stateless => json!({}),
        "tools/list" => json!({"tools": demo.tools()}),
        "tools/call" => call(demo, params)?,
        _ => return Err(Fault::new(-32601, format!("method not found: {}", method.escape_debug()))),
    };
    if stateless && let Some(result) = result.as_object_mut() {
        result.entry("resultType").or_insert_with(|| "complete".into());
        if method != "tools/call" {
            result.insert("ttlMs".to_owned(), 0.into());
            result.insert("cacheScope".to_owned(), "private".into());
        }
    }
    Ok(result)
}

fn discover(demo: &dyn Demo) -> Value {
    json!({
        "supportedVersions": [STATELESS],
        "capabilities": {"tools": {}},
        "instructions": demo.instructions(),
        "_meta": {"io.modelcontextprotocol/serverInfo": identity(demo)},
    })
}

fn initialize(demo: &dyn Demo, params: &Value) -> Value {
    let wanted = params.get("protocolVersion").and_then(Value::as_str);
    let version = OLDER.into_iter().find(|version| Some(*version) == wanted).unwrap_or("2025-11-25");
    json!({
        "protocolVersion": version,
        "capabilities": {"tools": {}},
        "serverInfo": identity(demo),
        "instructions": demo.instructions(),
    })
}

fn identity(demo: &dyn Demo) -> Value {
    json!({"name": format!("crewlet-demo-{}", demo.name()), "version": env!("CARGO_PKG_VERSION")})
}

fn call(demo: &mut dyn Demo, params: &Value) -> Result<Value, Fault> {
    let name = params.get("name").and_then(Value::as_str).ok_or_else(|| Fault::new(-32602, "name is missing"))?;
    let nothing = Map::new();
    let arguments = match params.get("arguments") {
        None | Some(Value::Null) => &nothing,
        Some(Value::Object(arguments)) => arguments,
        Some(_) => return Err(Fault::new(-32602, "arguments is not an object")),
    };
    let unknown = || Fault::new(-32602, format!("unknown tool: {}", name.escape_debug()));
    let said = params.pointer("/inputResponses/form");
    let answer = demo.ask(name, said).or_else(|| demo.call(name, arguments)).ok_or_else(unknown)?;
    let offered = params.pointer("/_meta/io.modelcontextprotocol~1clientCapabilities/elicitation").is_some();
    let content = |text: String| json!([{"type": "text", "text": text}]);
    Ok(match answer {
        Answer::Text(text) => json!({"content": content(text), "isError": false}),
        Answer::Data(text, data) => json!({"content": content(text), "structuredContent": data, "isError": false}),
        Answer::Ask(question) if offered => json!({
            "resultType": "input_required",
            "inputRequests": {"form": {"method": "elicitation/create", "params": question}},
        }),
        Answer::Ask(_) => {
            let text = "this tool asks the person at the dashboard, and there is nobody to ask";
            json!({"content": content(text.to_owned()), "isError": true})
        }
        Answer::Failed(text) => json!({"content": content(text), "isError": true}),
    })
}

/// A tool with its schema; `properties` lists what is required, too.
pub(super) fn tool(name: &str, description: &str, properties: &[(&str, Value)], annotations: Option<Value>) -> Value {
    let required: Vec<&str> = properties
        .iter()
        .filter(|(_, schema)| schema.get("default").is_none() && schema.get("type") != Some(&json!("boolean")))
        .map(|(name, _)| *name)
        .collect();
    let fields: Map<String, Value> =
        properties.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
    let mut tool = json!({
        "name": name,
        "description": description,
        "inputSchema": {"type": "object", "properties": fields, "required": required},
    });
    if let (Some(tool), Some(annotations)) = (tool.as_object_mut(), annotations) {
        tool.insert("annotations".to_owned(), annotations);
    }
    tool
}

/// A required text argument.
pub(super) fn text<'a>(arguments: &'a Map<String, Value>, name: &str) -> Result<&'a str, String> {
    let value = arguments.get(name).ok_or_else(|| format!("{name} is missing"))?;
    value.as_str().ok_or_else(|| format!("{name} is not a text"))
}

/// Both kinds of results of a tool as its answer.
pub(super) fn settle(result: Result<Answer, String>) -> Answer {
    result.unwrap_or_else(Answer::Failed)
}
