//! Headers that follow from a message: revision, method, name, marked arguments. Pure.
//!
//! [`super::endpoint`] adds them to the configured ones.

use http::{HeaderName, HeaderValue};
use serde_json::Value;

use crate::tool::mirror::{self, Mirrored};

/// The revision that a request is made in.
pub(super) const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// The session that a request belongs to.
pub(super) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
/// Where a broken stream goes on from.
pub(super) const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// Whether the configuration has to leave this header to us.
pub(super) fn is_ours(name: &HeaderName) -> bool {
    name.as_str().starts_with(mirror::PREFIX)
        || matches!(
            name.as_str(),
            "accept"
                | "content-type"
                | "content-length"
                | "connection"
                | "transfer-encoding"
                | "host"
                | "mcp-session-id"
                | "mcp-protocol-version"
                | "last-event-id"
                | "mcp-method"
                | "mcp-name"
        )
}

/// The headers of one message. `session` is the revision that a legacy handshake settled.
pub(super) fn of_message(message: &Value, session: Option<HeaderValue>) -> Vec<(HeaderName, HeaderValue)> {
    let text = |pointer: &str| message.pointer(pointer).and_then(Value::as_str);
    let Some(revision) = text("/params/_meta/io.modelcontextprotocol~1protocolVersion") else {
        return session.map(|revision| (VERSION, revision)).into_iter().collect();
    };
    let mut headers = Vec::new();
    let mut add = |name: HeaderName, value: Option<&str>| {
        let value = value.and_then(|value| HeaderValue::from_str(&mirror::encoded(value)).ok());
        headers.extend(value.map(|value| (name, value)));
    };
    add(VERSION, Some(revision));
    add(METHOD, text("/method"));
    match text("/method") {
        Some("tools/call" | "prompts/get") => add(NAME, text("/params/name")),
        Some("resources/read") => add(NAME, text("/params/uri")),
        _ => {}
    }
    headers
}

/// The headers that repeat marked arguments (JSON text).
pub(in crate::engine::connection) fn of_arguments(
    marked: &[Mirrored],
    arguments: &str,
) -> Vec<(HeaderName, HeaderValue)> {
    let header = |marked: &Mirrored| {
        let value = HeaderValue::from_str(&mirror::encoded(&marked.text(arguments)?)).ok()?;
        Some((marked.header.parse().ok()?, value))
    };
    marked.iter().filter_map(header).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn marked_arguments_become_headers() {
        let schema = json!({"properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "n": {"type": "integer", "x-mcp-header": "N"},
        }});
        let marked = mirror::markings(&schema).unwrap();
        let show = |arguments: &str| {
            let headers = of_arguments(&marked, arguments);
            headers.iter().map(|(n, v)| format!("{n}={}", v.to_str().unwrap())).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(show(r#"{"region":" x","n":7}"#), "mcp-param-region==?base64?IHg=?= mcp-param-n=7");
        assert_eq!(show(r#"{"region":null}"#), "");
    }

    #[test]
    fn modern_messages_name_what_they_are_and_legacy_ones_their_session() {
        let show = |message: &Value, session: Option<&'static str>| {
            let headers = of_message(message, session.map(HeaderValue::from_static));
            headers.iter().map(|(n, v)| format!("{n}={}", v.to_str().unwrap())).collect::<Vec<_>>().join(" ")
        };
        let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
        let call = json!({"method": "tools/call", "params": {"name": "t", "_meta": meta}});
        assert_eq!(show(&call, None), "mcp-protocol-version=2026-07-28 mcp-method=tools/call mcp-name=t");
        let get = json!({"method": "prompts/get", "params": {"name": "p", "_meta": meta}});
        assert_eq!(show(&get, None), "mcp-protocol-version=2026-07-28 mcp-method=prompts/get mcp-name=p");
        let read = json!({"method": "resources/read", "params": {"uri": "a:é", "_meta": meta}});
        let shown = "mcp-protocol-version=2026-07-28 mcp-method=resources/read mcp-name==?base64?YTrDqQ==?=";
        assert_eq!(show(&read, None), shown);
        let list = json!({"method": "tools/list", "params": {"_meta": meta}});
        assert_eq!(show(&list, None), "mcp-protocol-version=2026-07-28 mcp-method=tools/list");
        let legacy = json!({"method": "tools/list", "params": {}});
        assert_eq!(show(&legacy, Some("2025-11-25")), "mcp-protocol-version=2025-11-25");
        assert_eq!(show(&legacy, None), "");
    }
}
