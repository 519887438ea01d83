//! JSON-RPC on the wire: one message taken apart without decoding what is inside, and answers put together from
//! bytes that are already JSON. Pure.

use std::borrow::Cow;

use hyper::body::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::secret::Redactor;

/// The stateless revision that is served.
pub(super) const MODERN: &str = "2026-07-28";
/// The revisions with sessions that are served, newest first.
pub(super) const LEGACY: [&str; 3] = ["2025-11-25", "2025-06-18", "2025-03-26"];

/// One message as it came. Parameters stay text.
#[derive(Deserialize, Debug)]
pub(super) struct Message<'b> {
    #[serde(borrow)]
    jsonrpc: Cow<'b, str>,
    #[serde(borrow, default)]
    id: Option<&'b RawValue>,
    #[serde(borrow, default)]
    pub(super) method: Option<Cow<'b, str>>,
    #[serde(borrow, default)]
    pub(super) params: Option<&'b RawValue>,
}

/// A request's identifier: the text of a JSON string or number, sent back as it came.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Id(Box<str>);

impl Id {
    /// The JSON text.
    pub(super) fn as_json(&self) -> &str {
        &self.0
    }

    /// A number of ours.
    pub(super) fn ours(number: u64) -> Self {
        Self(number.to_string().into())
    }

    /// From the JSON text of a string or number.
    pub(super) fn of(raw: &RawValue) -> Option<Self> {
        let fits = matches!(raw.get().as_bytes().first(), Some(b'"' | b'-' | b'0'..=b'9'));
        (fits && raw.get().len() <= 1024).then(|| Self(raw.get().into()))
    }
}

/// What a message is.
#[derive(Debug)]
pub(super) enum Kind<'m> {
    /// Wants an answer.
    Request(Id, &'m str),
    /// Wants none.
    Notification(&'m str),
    /// An answer to something: we ask clients for nothing.
    Answer,
}

/// Why something that came is no message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Malformed(pub(super) ErrorCode, pub(super) &'static str);

impl<'b> Message<'b> {
    /// Takes a body apart.
    pub(super) fn parse(body: &'b [u8]) -> Result<Self, Malformed> {
        let text = std::str::from_utf8(body).map_err(|_| Malformed(ErrorCode::PARSE, "the body is not UTF-8"))?;
        if text.trim_start().starts_with('[') {
            return Err(Malformed(ErrorCode::INVALID_REQUEST, "batches are not taken; send one message at a time"));
        }
        let message: Self = serde_json::from_str(text).map_err(|error| {
            if error.is_data() {
                Malformed(ErrorCode::INVALID_REQUEST, "the body is no JSON-RPC message")
            } else {
                Malformed(ErrorCode::PARSE, "the body is not JSON")
            }
        })?;
        if message.jsonrpc != "2.0" {
            return Err(Malformed(ErrorCode::INVALID_REQUEST, "the body is no JSON-RPC 2.0 message"));
        }
        Ok(message)
    }

    /// What it is.
    pub(super) fn kind(&self) -> Result<Kind<'_>, Malformed> {
        match (&self.method, self.id) {
            (None, _) => Ok(Kind::Answer),
            (Some(method), None) => Ok(Kind::Notification(method)),
            (Some(method), Some(id)) => match Id::of(id) {
                Some(id) => Ok(Kind::Request(id, method)),
                None => Err(Malformed(ErrorCode::INVALID_REQUEST, "the id is neither a string nor a number")),
            },
        }
    }

    /// The parameters read as `P`; absent ones are an empty object.
    pub(super) fn params<P: Deserialize<'b>>(&self) -> Result<P, serde_json::Error> {
        serde_json::from_str(self.params.map_or("{}", RawValue::get))
    }
}

/// What every request's parameters may hold.
#[derive(Deserialize, Default, Debug)]
pub(super) struct Common<'b> {
    /// `_meta`.
    #[serde(borrow, default, rename = "_meta")]
    pub(super) meta: Option<Meta<'b>>,
}

/// `_meta` of a request.
#[derive(Deserialize, Default, Debug)]
pub(super) struct Meta<'b> {
    /// The stateless era's revision.
    #[serde(borrow, default, rename = "io.modelcontextprotocol/protocolVersion")]
    pub(super) version: Option<Cow<'b, str>>,
    /// What the client can do.
    #[serde(borrow, default, rename = "io.modelcontextprotocol/clientCapabilities")]
    pub(super) capabilities: Option<&'b RawValue>,
    /// Who the client is.
    #[serde(default, rename = "io.modelcontextprotocol/clientInfo")]
    pub(super) client: Option<Client>,
    /// Where progress goes.
    #[serde(borrow, default, rename = "progressToken")]
    pub(super) progress: Option<&'b RawValue>,
}

/// Who a client says it is.
#[derive(Deserialize, Default, Debug)]
pub(super) struct Client {
    /// Its name.
    #[serde(default)]
    pub(super) name: String,
    /// Its version.
    #[serde(default)]
    pub(super) version: String,
}

impl Client {
    /// The same without secrets. Names are cut later, so that no part of one is left over at the cut.
    pub(super) fn redacted(self, redactor: &Redactor) -> Self {
        let clean = |text: &str| redactor.redact(text).into_owned();
        Self { name: clean(&self.name), version: clean(&self.version) }
    }

    /// `inspector 0.9`, made fit to be shown; bounded.
    pub(super) fn shown(&self) -> String {
        let name = if self.name.trim().is_empty() { "unnamed client" } else { self.name.trim() };
        let text = format!("{name} {}", self.version.trim());
        crate::text::fit(&crate::text::visible(text.trim()), 60).into_owned()
    }
}

/// A JSON-RPC error code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ErrorCode(i32);

impl ErrorCode {
    pub(super) const PARSE: Self = Self(-32700);
    pub(super) const INVALID_REQUEST: Self = Self(-32600);
    pub(super) const NO_METHOD: Self = Self(-32601);
    pub(super) const INVALID_PARAMS: Self = Self(-32602);
    pub(super) const INTERNAL: Self = Self(-32603);
    /// No such resource; in the era without sessions that is [`Self::INVALID_PARAMS`].
    pub(super) const NO_RESOURCE: Self = Self(-32002);
    /// No session, or none any more.
    pub(super) const SESSION: Self = Self(-32000);
    pub(super) const HEADER_MISMATCH: Self = Self(-32020);
    /// The client did not declare what the request needs.
    pub(super) const MISSING_CAPABILITY: Self = Self(-32021);
    pub(super) const UNSUPPORTED_VERSION: Self = Self(-32022);
}

/// An error answer as JSON text.
pub(super) fn error(id: Option<&Id>, code: ErrorCode, message: &str) -> Vec<u8> {
    error_with(id, code, message, None)
}

/// An error answer with data.
pub(super) fn error_with(id: Option<&Id>, code: ErrorCode, message: &str, data: Option<&str>) -> Vec<u8> {
    let id = id.map_or("null", Id::as_json);
    let data = data.map(|data| format!(",\"data\":{data}")).unwrap_or_default();
    let message = quoted(message);
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{},"message":{message}{data}}}}}"#, code.0).into_bytes()
}

/// The `error` member alone, as JSON text.
pub(super) fn error_object(code: ErrorCode, message: &str) -> String {
    format!(r#"{{"code":{},"message":{}}}"#, code.0, quoted(message))
}

/// An answer around a result that is JSON text already, given in parts.
pub(super) fn result(id: &Id, parts: &[&[u8]]) -> Vec<u8> {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    let mut out = Vec::with_capacity(length + id.as_json().len() + 40);
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    out.extend_from_slice(id.as_json().as_bytes());
    out.extend_from_slice(br#","result":"#);
    for part in parts {
        out.extend_from_slice(part);
    }
    out.push(b'}');
    out
}

/// The same around one big part that is kept elsewhere, and is not copied.
pub(super) fn around(id: &Id, before: &str, big: Bytes, after: &str) -> [Bytes; 3] {
    let head = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{before}"#, id.as_json());
    [head.into(), big, format!("{after}}}").into()]
}

/// A notification as JSON text; `params` is JSON text.
pub(super) fn notification(method: &str, params: Option<&str>) -> Vec<u8> {
    let params = params.map(|params| format!(",\"params\":{params}")).unwrap_or_default();
    format!(r#"{{"jsonrpc":"2.0","method":"{method}"{params}}}"#).into_bytes()
}

/// Text as a JSON string.
pub(super) fn quoted(text: &str) -> String {
    json_text(&text)
}

/// A value as JSON text. Values of ours can always be written.
pub(super) fn json_text<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_told_apart() {
        let kind = |text: &str| match Message::parse(text.as_bytes()) {
            Ok(message) => match message.kind() {
                Ok(Kind::Request(id, method)) => format!("request {} {method}", id.as_json()),
                Ok(Kind::Notification(method)) => format!("notification {method}"),
                Ok(Kind::Answer) => "answer".to_owned(),
                Err(Malformed(code, _)) => code.0.to_string(),
            },
            Err(Malformed(code, _)) => code.0.to_string(),
        };
        let table = [
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, "request 1 ping"),
            (r#"{"jsonrpc":"2.0","id":"a\"b","method":"ping","params":{}}"#, r#"request "a\"b" ping"#),
            (r#"{"jsonrpc":"2.0","method":"n"}"#, "notification n"),
            (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, "answer"),
            (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, "-32600"),
            (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, "-32600"),
            (r#"{"id":1,"method":"ping"}"#, "-32600"),
            (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, "-32600"),
            (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, "-32600"),
            ("{", "-32700"),
            ("", "-32700"),
        ];
        for (text, expected) in table {
            assert_eq!(kind(text), expected, "{text}");
        }
    }

    #[test]
    fn answers_are_json_and_keep_the_id_as_it_came() {
        let raw: Box<RawValue> = serde_json::from_str(r#""x""#).unwrap();
        let id = Id::of(&raw).unwrap();
        assert_eq!(result(&id, &[b"{", b"}"]), br#"{"jsonrpc":"2.0","id":"x","result":{}}"#);
        let error: serde_json::Value =
            serde_json::from_slice(&error_with(Some(&id), ErrorCode::SESSION, "no \"x\"", Some("[1]"))).unwrap();
        assert_eq!(error["error"], serde_json::json!({"code": -32000, "message": "no \"x\"", "data": [1]}));
    }
}
