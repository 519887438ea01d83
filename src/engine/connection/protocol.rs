//! The protocol's revisions, and the parameters that our requests carry in each era.
//!
//! Used by [`super::handshake`], [`super::tools`] and [`super::call`]; pure. Revisions, error codes and what we say of
//! ourselves are the protocol crate's own; requests and results are text, because its types would change them.

use rmcp::model::{ClientCapabilities, ErrorCode, Implementation, InitializeRequestParams, ProtocolVersion};
use serde_json::json;

use super::message::quoted;
use crate::engine::status::Era;

/// JSON-RPC: the method is not known.
pub(super) const METHOD_NOT_FOUND: i64 = ErrorCode::METHOD_NOT_FOUND.0 as i64;
/// None of the revisions that the request names is spoken.
pub(super) const UNSUPPORTED_VERSION: i64 = ErrorCode::UNSUPPORTED_PROTOCOL_VERSION.0 as i64;
/// Errors of a modern server that are no reason to take it for a legacy one.
pub(super) const MODERN_REFUSALS: [i64; 2] =
    [ErrorCode::HEADER_MISMATCH.0 as i64, ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY.0 as i64];

/// The revisions of an era that we speak, newest first.
pub(super) fn revisions(era: Era) -> impl Iterator<Item = &'static str> {
    let of_era = move |version: &&ProtocolVersion| version.has_initialize() == (era == Era::Legacy);
    ProtocolVersion::KNOWN_VERSIONS.iter().rev().filter(of_era).map(ProtocolVersion::as_str)
}

/// Whether a revision is one of that era that we speak.
pub(super) fn speaks(era: Era, revision: &str) -> bool {
    revisions(era).any(|ours| ours == revision)
}

/// All revisions that we speak, for people.
pub(super) fn all_revisions() -> String {
    revisions(Era::Modern).chain(revisions(Era::Legacy)).collect::<Vec<_>>().join(", ")
}

/// The `_meta` of a request: what the modern era demands, and a progress token where one is given.
fn meta(era: Era, progress: Option<u64>) -> Option<String> {
    let mut meta = serde_json::Map::new();
    if era == Era::Modern {
        meta.insert("io.modelcontextprotocol/protocolVersion".into(), revisions(Era::Modern).next().into());
        meta.insert("io.modelcontextprotocol/clientCapabilities".into(), json!({}));
        meta.insert("io.modelcontextprotocol/clientInfo".into(), client_info());
    }
    if let Some(token) = progress {
        meta.insert("progressToken".into(), token.into());
    }
    (!meta.is_empty()).then(|| serde_json::Value::Object(meta).to_string())
}

fn implementation() -> Implementation {
    Implementation::new("crewlet", env!("CARGO_PKG_VERSION"))
}

fn client_info() -> serde_json::Value {
    json!(implementation())
}

/// Parameters of `server/discover`.
pub(super) fn discover() -> String {
    format!(r#"{{"_meta":{}}}"#, meta(Era::Modern, None).unwrap_or_default())
}

/// Parameters of `initialize`.
pub(super) fn initialize() -> String {
    let params = InitializeRequestParams::new(ClientCapabilities::default(), implementation());
    json!(params.with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)).to_string()
}

/// Parameters of `tools/list` and of the other lists.
pub(super) fn list(era: Era, cursor: Option<&str>) -> String {
    let cursor = cursor.map(|cursor| format!(r#""cursor":{}"#, quoted(cursor)));
    let meta = meta(era, None).map(|meta| format!(r#""_meta":{meta}"#));
    format!("{{{}}}", cursor.into_iter().chain(meta).collect::<Vec<_>>().join(","))
}

/// Parameters of `subscriptions/listen`, for changes of lists; `filter` is the JSON text of what to hear of.
pub(super) fn listen(filter: &str) -> String {
    let meta = meta(Era::Modern, None).unwrap_or_default();
    format!(r#"{{"_meta":{meta},"notifications":{filter}}}"#)
}

/// Parameters that are `fields`, JSON text of members, and what the era demands beside them.
pub(super) fn with_meta(era: Era, fields: &str) -> String {
    let meta = meta(era, None).map(|meta| format!(r#","_meta":{meta}"#)).unwrap_or_default();
    format!("{{{fields}{meta}}}")
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
    fn revisions_and_the_first_words_are_as_servers_know_them() {
        assert_eq!(all_revisions(), "2026-07-28, 2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05");
        assert!(speaks(Era::Modern, "2026-07-28") && !speaks(Era::Legacy, "2026-07-28"));
        let version = env!("CARGO_PKG_VERSION");
        let words = format!(
            r#"{{"protocolVersion":"2025-11-25","capabilities":{{}},"clientInfo":{{"name":"crewlet","version":"{version}"}}}}"#
        );
        assert_eq!(initialize(), words);
        assert_eq!((METHOD_NOT_FOUND, UNSUPPORTED_VERSION, MODERN_REFUSALS), (-32601, -32022, [-32020, -32021]));
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
