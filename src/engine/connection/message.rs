//! JSON-RPC messages as text: reading one off the wire without losing a byte of it, and writing ours.
//!
//! [`super::wire`] and [`super::http`] read with it, [`super::client`] writes with it. Nothing here keeps state or
//! knows which request a response belongs to.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// A message from the other side.
#[derive(Debug)]
pub(super) enum Incoming {
    /// An answer to one of our requests; `id` is `None` where it was null, absent or none of ours.
    Response {
        /// Our request.
        id: Option<u64>,
        /// What it says.
        outcome: Result<Box<RawValue>, RpcError>,
    },
    /// A request of the server.
    Request {
        /// Its identifier, to be handed back as it is.
        id: Box<RawValue>,
        /// What it asks for.
        method: String,
        /// Its parameters.
        params: Option<Box<RawValue>>,
        /// Our request in whose answer it came, where it came in one.
        during: Option<u64>,
    },
    /// A notice of the server.
    Notification {
        /// What it is about.
        method: String,
        /// Its parameters.
        params: Option<Box<RawValue>>,
    },
    /// The link got no answer to one of our requests; the link itself lives on.
    Undelivered {
        /// Our request.
        id: u64,
        /// Why, and what that means.
        lack: Lack,
    },
    /// Something broke off that should not: the other side may be gone.
    Suspect,
    /// The link is over; nothing follows.
    End(LinkEnd),
}

/// Whether a request that got no answer can have reached the other side.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reached {
    /// No byte of it left.
    No,
    /// It may have run.
    Perhaps,
}

/// Why a request has no answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Lack {
    /// Whether the other side can have acted on it.
    pub reached: Reached,
    /// What happened.
    pub fault: Fault,
    /// The same for people, neither cleaned nor redacted.
    pub reason: String,
}

/// What happened to a request that has no answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    /// The other side does not know our session (any more), and refused it for that.
    Session,
    /// No connection could be made.
    Unreachable,
    /// It was answered with this HTTP status and nothing better.
    Status(u16),
    /// Anything else: the connection broke off, the answer is unusable.
    Broken,
}

/// Why a link is over.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum LinkEnd {
    /// The other side closed its output.
    Closed,
    /// Reading or writing failed.
    Broken(String),
    /// One message was longer than the limit, in bytes.
    TooLarge(usize),
    /// The other side wants other credentials.
    Unauthorized(String),
    /// A task of ours ended without a word.
    Internal,
}

/// The `error` member of a response. The message is as sent, neither cleaned nor redacted.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct RpcError {
    /// JSON-RPC code; 0 when it has none that can be read.
    pub code: i64,
    /// The server's words.
    pub message: String,
    /// Its `data`.
    pub data: Value,
}

/// Reads one line. `None` when it is no JSON-RPC message (or a batch without a single one).
pub(super) fn read(line: &str) -> Option<Vec<Incoming>> {
    let line = line.trim();
    if line.starts_with('[') {
        let items: Vec<&RawValue> = serde_json::from_str(line).ok()?;
        let messages: Vec<_> = items.iter().filter_map(|item| read_one(item.get())).collect();
        return (!messages.is_empty()).then_some(messages);
    }
    read_one(line).map(|message| vec![message])
}

fn read_one(text: &str) -> Option<Incoming> {
    let envelope: Envelope<'_> = serde_json::from_str(text).ok()?;
    if envelope.jsonrpc != "2.0" {
        return None;
    }
    match (envelope.method, envelope.id, envelope.result, envelope.error) {
        (Some(method), Some(id), ..) if id.get() != "null" => {
            let params = envelope.params.map(ToOwned::to_owned);
            Some(Incoming::Request { id: id.to_owned(), method: method.into_owned(), params, during: None })
        }
        (Some(method), ..) => {
            Some(Incoming::Notification { method: method.into_owned(), params: envelope.params.map(ToOwned::to_owned) })
        }
        (None, id, _, Some(error)) if error.get() != "null" => {
            Some(Incoming::Response { id: our_id(id), outcome: Err(read_error(error)) })
        }
        (None, id, Some(result), _) => Some(Incoming::Response { id: our_id(id), outcome: Ok(result.to_owned()) }),
        _ => None,
    }
}

/// Our identifiers are integers; some servers hand them back as strings.
fn our_id(id: Option<&RawValue>) -> Option<u64> {
    id?.get().trim_matches('"').parse().ok()
}

fn read_error(error: &RawValue) -> RpcError {
    let value: Value = serde_json::from_str(error.get()).unwrap_or(Value::Null);
    let message = match value.get("message") {
        Some(Value::String(message)) if !message.trim().is_empty() => message.clone(),
        _ => "no message".to_owned(),
    };
    RpcError {
        code: value.get("code").and_then(Value::as_i64).unwrap_or(0),
        message,
        data: value.get("data").cloned().unwrap_or(Value::Null),
    }
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    jsonrpc: Cow<'a, str>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

/// A member that is there counts, also as `null`: `"result": null` is an answer.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// A request; `params` is JSON text and goes out unchanged.
pub(super) fn request(id: u64, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{},"params":{params}}}"#, quoted(method))
}

/// A notification; `params` is JSON text, absent when empty.
pub(super) fn notification(method: &str, params: &str) -> String {
    let params = if params.is_empty() { String::new() } else { format!(r#","params":{params}"#) };
    format!(r#"{{"jsonrpc":"2.0","method":{}{params}}}"#, quoted(method))
}

/// The answer to a server's request.
pub(super) fn answer(id: &RawValue, method: &str) -> String {
    match method {
        "ping" => success(id, "{}"),
        _ => failure(id, -32601, "method not found"),
    }
}

/// A result for a server's request; `result` is JSON text.
pub(super) fn success(id: &RawValue, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, id.get())
}

/// An error for a server's request.
pub(super) fn failure(id: &RawValue, code: i64, text: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{},"error":{{"code":{code},"message":{}}}}}"#, id.get(), quoted(text))
}

/// Notice that we do not wait for a request any more.
pub(super) fn cancelled(id: u64, reason: &str) -> String {
    notification("notifications/cancelled", &format!(r#"{{"requestId":{id},"reason":{}}}"#, quoted(reason)))
}

/// `text` as a JSON string.
pub(super) fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_of_message_is_told_apart() {
        let read = |line: &str| read(line).map(|all| all.iter().map(shape).collect::<Vec<_>>().join(" "));
        let cases = [
            (r#"{"jsonrpc":"2.0","id":7,"result":{"a":1.00}}"#, Some(r#"7={"a":1.00}"#)),
            (r#"{"jsonrpc":"2.0","id":"7","result":null}"#, Some("7=null")),
            (r#"{"result":{"big":true},"jsonrpc":"2.0","id":0}"#, Some(r#"0={"big":true}"#)),
            (r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"m"}}"#, Some("none!-32600 m")),
            (r#"{"jsonrpc":"2.0","error":{"code":0}}"#, Some("none!0 no message")),
            (r#"{"jsonrpc":"2.0","id":7,"error":"odd"}"#, Some("7!0 no message")),
            (r#"{"jsonrpc":"2.0","id":7,"result":{},"error":null}"#, Some("7={}")),
            (r#"{"jsonrpc":"2.0","id":"server-error","error":{"code":-1,"message":"x"}}"#, Some("none!-1 x")),
            (r#"{"jsonrpc":"2.0","id":0,"method":"roots/list"}"#, Some("?0 roots/list")),
            (r#"{"jsonrpc":"2.0","id":"e","method":"m","params":{"a":1}}"#, Some(r#"?"e" m {"a":1}"#)),
            (r#"{"jsonrpc":"2.0","id":null,"method":"n"}"#, Some("n")),
            (r#"{"jsonrpc":"2.0","method":"n","params":[1]}"#, Some("n [1]")),
            (r#"[{"jsonrpc":"2.0","method":"a"},3,{"jsonrpc":"2.0","id":1,"result":1}]"#, Some("a 1=1")),
            ("42", None),
            ("[]", None),
            ("[1]", None),
            (r#"{"hello":1}"#, None),
            (r#"{"jsonrpc":"2.0"}"#, None),
            (r#"{"jsonrpc":"1.0","id":1,"result":{}}"#, None),
            (r#"{"jsonrpc":"2.0","id":1,"id":2,"result":{}}"#, None),
            ("Starting server...", None),
        ];
        for (line, expected) in cases {
            assert_eq!(read(line).as_deref(), expected, "{line}");
        }
    }

    fn shape(message: &Incoming) -> String {
        let id = |id: &Option<u64>| id.map_or("none".to_owned(), |id| id.to_string());
        match message {
            Incoming::Response { id: of, outcome: Ok(result) } => format!("{}={}", id(of), result.get()),
            Incoming::Response { id: of, outcome: Err(error) } => {
                format!("{}!{} {}", id(of), error.code, error.message)
            }
            Incoming::Request { id, method, params: None, .. } => format!("?{id} {method}"),
            Incoming::Request { id, method, params: Some(params), .. } => format!("?{id} {method} {params}"),
            Incoming::Notification { method, params: None } => method.clone(),
            Incoming::Notification { method, params: Some(params) } => format!("{method} {params}"),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn what_we_write_is_one_line_of_json() {
        let id = RawValue::from_string("\"s-1\"".to_owned()).unwrap();
        for text in [
            request(3, "tools/call", r#"{"name":"a","arguments":{"n":1.10}}"#),
            notification("notifications/initialized", ""),
            cancelled(3, "two\nlines"),
            answer(&id, "ping"),
            answer(&id, "sampling/createMessage"),
        ] {
            assert!(!text.contains('\n'), "{text}");
            assert!(super::read(&text).is_some(), "{text}");
        }
        assert!(request(3, "m", r#"{"n":1.10}"#).contains("1.10"), "parameters keep their bytes");
    }
}
