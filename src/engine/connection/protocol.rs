//! The protocol's revisions, and the parameters that our requests carry in each era.
//!
//! Used by [`super::handshake`], [`super::tools`] and [`super::call`]; pure.

use serde_json::json;

use super::message::quoted;
use crate::engine::status::Era;

/// The modern revisions that we speak, newest first.
pub(super) const MODERN: [&str; 1] = ["2026-07-28"];
/// The legacy revisions that we speak, newest first. The first one is offered.
pub(super) const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// All revisions that we speak, for people.
pub(super) fn all_revisions() -> String {
    MODERN.iter().chain(&LEGACY).copied().collect::<Vec<_>>().join(", ")
}

/// The `_meta` of a request: what the modern era demands, and a progress token where one is given.
fn meta(era: Era, progress: Option<u64>) -> Option<String> {
    let mut meta = serde_json::Map::new();
    if era == Era::Modern {
        meta.insert("io.modelcontextprotocol/protocolVersion".into(), MODERN.first().copied().into());
        meta.insert("io.modelcontextprotocol/clientCapabilities".into(), json!({}));
        meta.insert("io.modelcontextprotocol/clientInfo".into(), client_info());
    }
    if let Some(token) = progress {
        meta.insert("progressToken".into(), token.into());
    }
    (!meta.is_empty()).then(|| serde_json::Value::Object(meta).to_string())
}

fn client_info() -> serde_json::Value {
    json!({"name": "crewlet", "version": env!("CARGO_PKG_VERSION")})
}

/// Parameters of `server/discover`.
pub(super) fn discover() -> String {
    format!(r#"{{"_meta":{}}}"#, meta(Era::Modern, None).unwrap_or_default())
}

/// Parameters of `initialize`.
pub(super) fn initialize() -> String {
    json!({"protocolVersion": LEGACY.first().copied(), "capabilities": {}, "clientInfo": client_info()}).to_string()
}

/// Parameters of `tools/list`.
pub(super) fn list(era: Era, cursor: Option<&str>) -> String {
    let cursor = cursor.map(|cursor| format!(r#""cursor":{}"#, quoted(cursor)));
    let meta = meta(era, None).map(|meta| format!(r#""_meta":{meta}"#));
    format!("{{{}}}", cursor.into_iter().chain(meta).collect::<Vec<_>>().join(","))
}

/// Parameters of `subscriptions/listen`, for changes of the tool list.
pub(super) fn listen() -> String {
    let meta = meta(Era::Modern, None).unwrap_or_default();
    format!(r#"{{"_meta":{meta},"notifications":{{"toolsListChanged":true}}}}"#)
}

/// Parameters of `tools/call`; `arguments` is JSON text and is put in byte for byte.
pub(super) fn call(era: Era, name: &str, arguments: &str, progress: u64) -> String {
    let meta = meta(era, Some(progress)).unwrap_or_default();
    format!(r#"{{"name":{},"arguments":{arguments},"_meta":{meta}}}"#, quoted(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn we_speak_every_revision_that_the_protocol_crate_knows() {
        let ours: Vec<&str> = LEGACY.iter().rev().chain(&MODERN).copied().collect();
        let theirs: Vec<&str> =
            rmcp::model::ProtocolVersion::KNOWN_VERSIONS.iter().map(rmcp::model::ProtocolVersion::as_str).collect();
        assert_eq!(ours, theirs);
    }

    #[test]
    fn arguments_keep_their_bytes_and_meta_follows_the_era() {
        let odd = r#"{"n":1.10,"big":12345678901234567890,"e":"\u00e9"}"#;
        let legacy = call(Era::Legacy, "a\"b", odd, 9);
        assert_eq!(legacy, format!(r#"{{"name":"a\"b","arguments":{odd},"_meta":{{"progressToken":9}}}}"#));
        let modern = call(Era::Modern, "t", odd, 9);
        assert!(modern.contains(odd), "{modern}");
        let modern: serde_json::Value = serde_json::from_str(&modern).unwrap();
        assert_eq!(modern["_meta"]["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
        assert_eq!(modern["_meta"]["io.modelcontextprotocol/clientInfo"]["name"], "crewlet");
        assert_eq!(list(Era::Legacy, None), "{}");
        assert_eq!(list(Era::Legacy, Some("p\n2")), r#"{"cursor":"p\n2"}"#);
        let list: serde_json::Value = serde_json::from_str(&list(Era::Modern, Some("c"))).unwrap();
        assert_eq!(list["cursor"], "c");
        assert!(list["_meta"]["io.modelcontextprotocol/clientCapabilities"].is_object());
    }
}
