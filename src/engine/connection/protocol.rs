//! The protocol's revisions, and the parameters that our requests carry in each era.
//!
//! Used by [`super::handshake`], [`super::tools`] and [`super::call`]; pure. Revisions, error codes and what we say of
//! ourselves are the protocol crate's own; requests and results are text, because its types would change them.

use rmcp::model::{ClientCapabilities, ErrorCode, Implementation, InitializeRequestParams, ProtocolVersion};
use serde_json::json;

use super::message::quoted;
use crate::engine::gate::Dispatch;
use crate::engine::status::Era;

/// JSON-RPC: the method is not known.
pub(super) const METHOD_NOT_FOUND: i64 = ErrorCode::METHOD_NOT_FOUND.0 as i64;
/// JSON-RPC: the parameters cannot be used.
pub(super) const INVALID_PARAMS: i64 = ErrorCode::INVALID_PARAMS.0 as i64;
/// None of the revisions that the request names is spoken.
pub(super) const UNSUPPORTED_VERSION: i64 = ErrorCode::UNSUPPORTED_PROTOCOL_VERSION.0 as i64;
/// Errors of a modern server that are no reason to take it for a legacy one.
pub(super) const MODERN_REFUSALS: [i64; 2] =
    [ErrorCode::HEADER_MISMATCH.0 as i64, ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY.0 as i64];

/// What we say that we can do for a server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Offer {
    /// Nothing.
    Nothing,
    /// Put a form before a person.
    Forms,
}

impl Offer {
    /// As the protocol writes it. Forms only: no address is opened for anybody.
    fn capabilities(self) -> serde_json::Value {
        match self {
            Self::Nothing => json!({}),
            Self::Forms => json!({"elicitation": {"form": {}}}),
        }
    }
}

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
fn meta(era: Era, progress: Option<u64>, offer: Offer) -> Option<String> {
    let mut meta = serde_json::Map::new();
    if era == Era::Modern {
        meta.insert("io.modelcontextprotocol/protocolVersion".into(), revisions(Era::Modern).next().into());
        meta.insert("io.modelcontextprotocol/clientCapabilities".into(), offer.capabilities());
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
    format!(r#"{{"_meta":{}}}"#, meta(Era::Modern, None, Offer::Nothing).unwrap_or_default())
}

/// Parameters of `initialize`.
pub(super) fn initialize(offer: Offer) -> String {
    let params = InitializeRequestParams::new(ClientCapabilities::default(), implementation());
    let mut params = json!(params.with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE));
    if let Some(capabilities) = params.get_mut("capabilities") {
        *capabilities = offer.capabilities();
    }
    params.to_string()
}

/// Parameters of `tools/list` and of the other lists.
pub(super) fn list(era: Era, cursor: Option<&str>) -> String {
    let cursor = cursor.map(|cursor| format!(r#""cursor":{}"#, quoted(cursor)));
    let meta = meta(era, None, Offer::Nothing).map(|meta| format!(r#""_meta":{meta}"#));
    format!("{{{}}}", cursor.into_iter().chain(meta).collect::<Vec<_>>().join(","))
}

/// Parameters of `subscriptions/listen`, for changes of lists; `filter` is the JSON text of what to hear of.
pub(super) fn listen(filter: &str) -> String {
    let meta = meta(Era::Modern, None, Offer::Nothing).unwrap_or_default();
    format!(r#"{{"_meta":{meta},"notifications":{filter}}}"#)
}

/// Parameters that are `fields`, JSON text of members, and what the era demands beside them.
pub(super) fn with_meta(era: Era, fields: &str) -> String {
    let meta = meta(era, None, Offer::Nothing).map(|meta| format!(r#","_meta":{meta}"#)).unwrap_or_default();
    format!("{{{fields}{meta}}}")
}

/// Parameters of `tools/call`: the arguments byte for byte, and what the server asked for beside them. Of all our
/// requests only this one may be answered with a question.
pub(super) fn call(era: Era, dispatch: &Dispatch, (progress, offer): (u64, Offer)) -> String {
    let meta = meta(era, Some(progress), offer).unwrap_or_default();
    let input = dispatch.input().map(|input| format!(",{input}")).unwrap_or_default();
    let (name, arguments) = (quoted(dispatch.raw_name()), dispatch.arguments());
    format!(r#"{{"name":{name},"arguments":{arguments}{input},"_meta":{meta}}}"#)
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
        assert_eq!(initialize(Offer::Nothing), words);
        let offered = words.replace(r#""capabilities":{}"#, r#""capabilities":{"elicitation":{"form":{}}}"#);
        assert_eq!(initialize(Offer::Forms), offered);
        assert_eq!((METHOD_NOT_FOUND, UNSUPPORTED_VERSION, MODERN_REFUSALS), (-32601, -32022, [-32020, -32021]));
    }

    #[test]
    fn arguments_keep_their_bytes_and_meta_follows_the_era() {
        let odd = r#"{"n":1.10,"big":12345678901234567890,"e":"\u00e9"}"#;
        let dispatch = Dispatch::for_test("a\"b", odd);
        let legacy = call(Era::Legacy, &dispatch, (9, Offer::Forms));
        assert_eq!(legacy, format!(r#"{{"name":"a\"b","arguments":{odd},"_meta":{{"progressToken":9}}}}"#));
        let continued = dispatch.continued(r#""requestState":"s""#.to_owned());
        let modern = call(Era::Modern, &continued, (9, Offer::Forms));
        assert!(modern.contains(&format!(r#""arguments":{odd},"requestState":"s","_meta""#)), "{modern}");
        let modern: serde_json::Value = serde_json::from_str(&modern).unwrap();
        assert_eq!(modern["_meta"]["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
        assert_eq!(modern["_meta"]["io.modelcontextprotocol/clientInfo"]["name"], "crewlet");
        let offered = &modern["_meta"]["io.modelcontextprotocol/clientCapabilities"];
        assert_eq!(offered, &serde_json::json!({"elicitation": {"form": {}}}));
        assert_eq!(list(Era::Legacy, None), "{}");
        assert_eq!(list(Era::Legacy, Some("p\n2")), r#"{"cursor":"p\n2"}"#);
        let list: serde_json::Value = serde_json::from_str(&list(Era::Modern, Some("c"))).unwrap();
        assert_eq!(list["cursor"], "c");
        assert!(list["_meta"]["io.modelcontextprotocol/clientCapabilities"].is_object());
    }
}
