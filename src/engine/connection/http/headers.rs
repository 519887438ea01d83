//! Headers that follow from a message: revision, method, name. Pure.
//!
//! [`super::endpoint`] adds them to the configured ones.

use http::{HeaderName, HeaderValue};
use serde_json::Value;

/// The revision that a request is made in.
pub(super) const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// The session that a request belongs to.
pub(super) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
/// Where a broken stream goes on from.
pub(super) const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
const OPENING: &str = "=?base64?";
const CLOSING: &str = "?=";

/// Whether the configuration has to leave this header to us.
pub(super) fn is_ours(name: &HeaderName) -> bool {
    name.as_str().starts_with("mcp-param-")
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
        let value = value.and_then(|value| HeaderValue::from_str(&encoded(value)).ok());
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

/// A value as it may stand in a header: as it is, or in the protocol's base64 form.
pub(super) fn encoded(value: &str) -> String {
    let plain = value.bytes().all(|byte| (0x20..0x7f).contains(&byte)) && value.trim() == value;
    if plain && !(value.starts_with(OPENING) && value.ends_with(CLOSING)) {
        return value.to_owned();
    }
    format!("{OPENING}{}{CLOSING}", base64(value.as_bytes()))
}

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let mut bits = [0_u8; 4];
        for (slot, byte) in bits.iter_mut().skip(1).zip(group) {
            *slot = *byte;
        }
        let bits = u32::from_be_bytes(bits);
        for at in 0..4_usize {
            let digit = usize::try_from((bits >> (18 - 6 * at)) & 63).unwrap_or(0);
            let digit = if at <= group.len() { ALPHABET.get(digit).copied().unwrap_or(b'=') } else { b'=' };
            text.push(char::from(digit));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_that_a_header_cannot_hold_are_encoded() {
        for (value, expected) in [
            ("plain name", "plain name"),
            ("", ""),
            ("é", "=?base64?w6k=?="),
            (" edge", "=?base64?IGVkZ2U=?="),
            ("a\nb", "=?base64?YQpi?="),
            ("=?base64?x?=", "=?base64?PT9iYXNlNjQ/eD89?="),
        ] {
            assert_eq!(encoded(value), expected);
        }
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
