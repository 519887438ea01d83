//! What comes back from `resources/read` and `prompts/get`, made safe like a tool's result, and the addresses in it
//! made ours, so that agents can read further by them.
//!
//! Addresses are rewritten where a block points at a resource: embedded resources and links. Those that anybody can
//! fetch from the web stay what they are: the protocol has servers use them only where the client needs no server
//! to read them. Nothing is cut; what is too large is refused whole.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::address;
use super::output::{OutputNote, cleaned};
use crate::secret::Redactor;

/// The longest answer that is passed on, in bytes of JSON text.
pub const MAX_BYTES: usize = 8 << 20;

/// Why an answer is not passed on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Unusable {
    /// It is longer than [`MAX_BYTES`].
    #[error("the answer is larger than {} MiB", MAX_BYTES >> 20)]
    TooLarge,
    /// It cannot be decoded.
    #[error("the answer is no readable JSON")]
    Unreadable,
    /// It holds NUL characters.
    #[error("the answer is binary data (it holds NUL characters)")]
    Binary,
    /// The server asks for something first.
    #[error("the server asked for interactive input, which is not offered here")]
    InputRequired,
    /// It has another shape than it should; in a few words, which.
    #[error("the answer is not what was asked for: {0}")]
    Shape(&'static str),
}

/// An answer that can be passed on.
#[derive(Clone, PartialEq, Debug)]
pub struct Passed {
    /// The members of the result.
    pub result: Map<String, Value>,
    /// What was done to it, for the log.
    pub notes: Vec<OutputNote>,
}

/// Reads a `resources/read` result. `asked` is the agent's own address for `uri`.
///
/// # Errors
/// See [`Unusable`].
pub fn read_resource(text: &str, from: (&str, &str), asked: &str, redactor: &Redactor) -> Result<Passed, Unusable> {
    let (server, uri) = from;
    let Some(Value::Array(items)) = members(text)?.remove("contents") else {
        return Err(Unusable::Shape("it holds no list of contents"));
    };
    let (mut contents, mut notes) = (Vec::with_capacity(items.len()), Vec::new());
    for item in items {
        let has_body = ["text", "blob"].iter().any(|body| item.get(body).is_some_and(Value::is_string));
        if !has_body {
            return Err(Unusable::Shape("contents without text or data"));
        }
        let is_itself = item.get("uri").and_then(Value::as_str) == Some(uri);
        // As an embedded resource it is cleaned like one: its data is left alone.
        let mut block = json!({"type": "resource", "resource": item});
        notes.extend(cleaned(&mut block, redactor).map_err(|_| Unusable::Binary)?);
        let Some(Value::Object(mut item)) = block.get_mut("resource").map(Value::take) else { continue };
        let exposed = match item.get("uri").and_then(Value::as_str) {
            Some(other) if !is_itself => address::expose(server, other),
            _ => asked.to_owned(),
        };
        item.insert("uri".into(), exposed.into());
        contents.push(Value::Object(item));
    }
    notes.dedup();
    Ok(Passed { result: Map::from_iter([("contents".to_owned(), Value::Array(contents))]), notes })
}

/// Reads a `prompts/get` result.
///
/// # Errors
/// See [`Unusable`].
pub fn read_prompt(text: &str, server: &str, redactor: &Redactor) -> Result<Passed, Unusable> {
    let mut members = members(text)?;
    let Some(Value::Array(items)) = members.remove("messages") else {
        return Err(Unusable::Shape("it holds no list of messages"));
    };
    let mut notes = Vec::new();
    let mut result = Map::new();
    if let Some(mut description @ Value::String(_)) = members.remove("description") {
        notes.extend(cleaned(&mut description, redactor).map_err(|_| Unusable::Binary)?);
        result.insert("description".into(), description);
    }
    let mut messages = Vec::with_capacity(items.len());
    for mut item in items {
        let role = match item.get("role").and_then(Value::as_str) {
            Some(role @ ("user" | "assistant")) => role.to_owned(),
            _ => return Err(Unusable::Shape("a message of nobody")),
        };
        let mut content = item.get_mut("content").map(Value::take).unwrap_or_default();
        match &mut content {
            Value::Array(blocks) => {
                blocks.iter_mut().try_for_each(|block| pass_block(block, server, redactor, &mut notes))
            }
            block @ Value::Object(_) => pass_block(block, server, redactor, &mut notes),
            _ => Err(Unusable::Shape("a message without content")),
        }?;
        messages.push(json!({"role": role, "content": content}));
    }
    result.insert("messages".into(), Value::Array(messages));
    notes.dedup();
    Ok(Passed { result, notes })
}

fn pass_block(
    block: &mut Value,
    server: &str,
    redactor: &Redactor,
    notes: &mut Vec<OutputNote>,
) -> Result<(), Unusable> {
    notes.extend(cleaned(block, redactor).map_err(|_| Unusable::Binary)?);
    readdress(block, server);
    Ok(())
}

/// Content blocks of a server with the addresses in them made ours; borrowed where there are none.
pub fn readdressed<'b>(blocks: &'b [Value], server: &str) -> Cow<'b, [Value]> {
    if !blocks.iter().any(|block| foreign(block).is_some()) {
        return Cow::Borrowed(blocks);
    }
    let mut blocks = blocks.to_vec();
    for block in &mut blocks {
        readdress(block, server);
    }
    Cow::Owned(blocks)
}

fn readdress(block: &mut Value, server: &str) {
    let Some(exposed) = foreign(block).map(|uri| address::expose(server, uri)) else { return };
    let holder = if block.get("resource").is_some() { block.get_mut("resource") } else { Some(block) };
    if let Some(uri) = holder.and_then(|holder| holder.get_mut("uri")) {
        *uri = exposed.into();
    }
}

/// The URI in a cleaned block that only its server can read.
fn foreign(block: &Value) -> Option<&str> {
    let holder = match block.get("type").and_then(Value::as_str)? {
        "resource" => block.get("resource")?,
        "resource_link" if block.get("resource").is_none() => block,
        _ => return None,
    };
    let uri = holder.get("uri").and_then(Value::as_str)?;
    let scheme = uri.split_once(':').map_or("", |(scheme, _)| scheme);
    let public = ["http", "https", "data"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
    // One that a secret was taken out of names nothing any more.
    (!public && !uri.is_empty() && !uri.contains("[REDACTED:")).then_some(uri)
}

/// The members of a result that is complete.
fn members(text: &str) -> Result<Map<String, Value>, Unusable> {
    if text.len() > MAX_BYTES {
        return Err(Unusable::TooLarge);
    }
    let Value::Object(members) = serde_json::from_str(text).map_err(|_| Unusable::Unreadable)? else {
        return Err(Unusable::Shape("it is not an object"));
    };
    match members.get("resultType") {
        None | Some(Value::Null) => Ok(members),
        Some(kind) if kind == "complete" => Ok(members),
        Some(kind) if kind == "input_required" => Err(Unusable::InputRequired),
        Some(_) => Err(Unusable::Shape("its type is not known")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redactor() -> Redactor {
        let redactor = Redactor::default();
        redactor.learn([crate::secret::Secret::new("hunter-22-hunter")]);
        redactor
    }

    fn resource(result: &Value) -> Result<Value, Unusable> {
        let asked = "crewlet://notes/~note:a";
        let passed = read_resource(&result.to_string(), ("notes", "note:a"), asked, &redactor())?;
        Ok(passed.result["contents"].clone())
    }

    #[test]
    fn contents_are_cleaned_and_their_addresses_ours() {
        let answer = json!({"contents": [
            {"uri": "note:a", "mimeType": "text/plain", "text": "a\u{1b}[31m hunter-22-hunter\n"},
            {"uri": "note:b", "blob": "aHVudGVyLTIyLWh1bnRlcg=="},
            {"text": "x"},
        ]});
        let expected = json!([
            {"uri": "crewlet://notes/~note:a", "mimeType": "text/plain", "text": "a[31m [REDACTED:secret]\n"},
            {"uri": "crewlet://notes/note%3Ab", "blob": "aHVudGVyLTIyLWh1bnRlcg=="},
            {"uri": "crewlet://notes/~note:a", "text": "x"},
        ]);
        assert_eq!(resource(&answer), Ok(expected));
        assert_eq!(resource(&json!({"contents": []})), Ok(json!([])));
    }

    #[test]
    fn what_is_no_resource_says_why() {
        let shape = |reason| Err(Unusable::Shape(reason));
        let cases = [
            (json!(7), shape("it is not an object")),
            (json!({}), shape("it holds no list of contents")),
            (json!({"contents": {}}), shape("it holds no list of contents")),
            (json!({"contents": [7]}), shape("contents without text or data")),
            (json!({"contents": [{"uri": "note:a", "text": 7}]}), shape("contents without text or data")),
            (json!({"contents": [{"uri": "note:a", "text": "\u{0}"}]}), Err(Unusable::Binary)),
            (json!({"resultType": "input_required", "contents": []}), Err(Unusable::InputRequired)),
            (json!({"resultType": "odd", "contents": []}), shape("its type is not known")),
            (json!({"contents": [{"uri": "note:a", "text": "x".repeat(MAX_BYTES)}]}), Err(Unusable::TooLarge)),
        ];
        for (answer, expected) in cases {
            assert_eq!(resource(&answer), expected);
        }
        let cut = read_resource("{\"contents\":[", ("notes", "a"), "a", &redactor());
        assert_eq!(cut, Err(Unusable::Unreadable));
    }

    #[test]
    fn prompts_keep_their_messages_and_point_at_us() {
        let answer = json!({"description": "d\u{7}", "odd": 1, "messages": [
            {"role": "user", "odd": 1, "content": {"type": "text", "text": "hunter-22-hunter"}},
            {"role": "assistant", "content": {"type": "resource", "resource": {"uri": "note:b", "text": "b"}}},
            {"role": "user", "content": [{"type": "resource_link", "uri": "https://a.test/x", "name": "x"}]},
        ]});
        let passed = read_prompt(&answer.to_string(), "notes", &redactor()).unwrap();
        let expected = json!({"description": "d", "messages": [
            {"role": "user", "content": {"type": "text", "text": "[REDACTED:secret]"}},
            {"role": "assistant",
                "content": {"type": "resource", "resource": {"uri": "crewlet://notes/note%3Ab", "text": "b"}}},
            {"role": "user", "content": [{"type": "resource_link", "uri": "https://a.test/x", "name": "x"}]},
        ]});
        assert_eq!((Value::Object(passed.result), passed.notes), (expected, vec![OutputNote::SecretsRedacted]));
        for (answer, reason) in [
            (json!({"messages": 1}), "it holds no list of messages"),
            (json!({"messages": [{"role": "root", "content": {}}]}), "a message of nobody"),
            (json!({"messages": [{"role": "user", "content": "x"}]}), "a message without content"),
        ] {
            let read = read_prompt(&answer.to_string(), "notes", &redactor());
            assert_eq!(read, Err(Unusable::Shape(reason)), "{answer}");
        }
    }

    #[test]
    fn only_links_that_a_server_is_needed_for_are_rewritten() {
        let link = |uri: &str| json!({"type": "resource_link", "uri": uri, "name": "x"});
        let plain =
            [json!({"type": "text", "text": "note:a"}), link("HTTPS://a.test"), link("a[REDACTED:x]"), json!(7)];
        assert!(matches!(readdressed(&plain, "notes"), Cow::Borrowed(_)));
        let blocks = [link("note:a"), link("crewlet://other/a")];
        let expected = [link("crewlet://notes/note%3Aa"), link("crewlet://notes/crewlet%3A%2F%2Fother%2Fa")];
        assert_eq!(readdressed(&blocks, "notes").into_owned(), expected);
    }
}
