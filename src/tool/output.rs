//! What comes back from a tool, made safe for agents, screens and the audit: validated, stripped of control
//! characters, redacted, and *never truncated*.
//!
//! The order matters: NUL characters are looked for before anything is removed, and controls are removed before
//! secrets are looked for, because one control character inside a token would hide it.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use crate::secret::{Redactor, edit_strings};

/// A finished call's result.
#[derive(Clone, PartialEq, Debug)]
pub struct CallOutput {
    /// The MCP content blocks, their text leaves cleaned.
    pub content: Vec<Value>,
    /// `structuredContent`, its text leaves cleaned.
    pub structured: Option<Value>,
    /// The tool's own `isError`, or our refusal of its result.
    pub is_error: bool,
    /// What was done to it, for the log: redactions, a refusal as binary.
    pub notes: Vec<OutputNote>,
}

/// What the output pipeline did to a result.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum OutputNote {
    /// At least one secret was replaced by a marker.
    SecretsRedacted,
    /// The result was refused: it holds NUL characters.
    BinaryRefused,
    /// The result was refused: it is not valid text.
    InvalidUtf8,
    /// The result was refused: it is nested deeper than can be read.
    TooDeep,
    /// The server asked for interactive input, which is not offered.
    InputRequired,
}

/// Reads a result as it came off the wire, as text.
pub fn read_text(result: &str, redactor: &Redactor) -> CallOutput {
    match serde_json::from_str(result) {
        Ok(value) => read_result(value, redactor),
        Err(error) if error.to_string().starts_with("recursion limit") => refused(OutputNote::TooDeep),
        Err(_) => refused(OutputNote::InvalidUtf8),
    }
}

/// Cleans a `tools/call` result as it came off the wire. Only shapes that are no result at all become an error
/// output; unknown block types and fields pass through unchanged.
///
/// A `Value` cannot hold invalid UTF-8 or lone surrogates. A caller that could not decode a result because of them
/// answers with [`refused`].
pub fn read_result(result: Value, redactor: &Redactor) -> CallOutput {
    let Value::Object(mut result) = result else {
        return error("the server's answer to the call is not a result: it is not an object");
    };
    if result.get("resultType").and_then(Value::as_str) == Some("input_required") {
        return refused(OutputNote::InputRequired);
    }
    let mut content = match result.get_mut("content").map(Value::take) {
        Some(Value::Array(blocks)) => blocks,
        None | Some(Value::Null) => Vec::new(),
        Some(_) => return error("the server's answer to the call is not a result: its content is not a list"),
    };
    let mut structured = result.get_mut("structuredContent").map(Value::take).filter(|value| !value.is_null());
    let mut notes = Vec::new();
    for value in content.iter_mut().chain(structured.as_mut()) {
        match cleaned(value, redactor) {
            Ok(note) => notes.extend(note),
            Err(note) => return refused(note),
        }
    }
    notes.dedup();
    let is_error = result.get("isError").and_then(Value::as_bool).unwrap_or(false);
    CallOutput { content, structured, is_error, notes }
}

/// The output that stands in for a result that cannot be passed on.
pub fn refused(note: OutputNote) -> CallOutput {
    let text = match note {
        OutputNote::BinaryRefused => "the tool's result was refused: it is binary data (it holds NUL characters)",
        OutputNote::InvalidUtf8 => "the tool's result was refused: it is invalid data (not valid UTF-8 text)",
        OutputNote::TooDeep => "the tool's result was refused: it is nested deeper than 127 levels",
        OutputNote::InputRequired => {
            "the server asked for interactive input, which is not offered here; \
             call the tool again with everything it needs in its arguments"
        }
        OutputNote::SecretsRedacted => "the tool's result was refused: it holds secrets",
    };
    CallOutput { notes: vec![note], ..error(text) }
}

/// The result as plain text, one block after another: what a person reads and what a text-only model is given.
/// Blocks without text become a short description in brackets; nothing is cut.
pub fn as_text(output: &CallOutput) -> String {
    let texts = output.content.iter().map(block_text).filter(|text| !text.is_empty());
    let text = texts.collect::<Vec<_>>().join("\n");
    match &output.structured {
        _ if !text.is_empty() => text,
        Some(structured) => structured.to_string(),
        None => "(the tool gave no output)".to_owned(),
    }
}

fn error(text: &str) -> CallOutput {
    let content = vec![json!({"type": "text", "text": text})];
    CallOutput { content, structured: None, is_error: true, notes: Vec::new() }
}

/// Cleans a content block, or anything else that a server sent, in place; says what was done.
///
/// # Errors
/// When it holds NUL characters.
pub(super) fn cleaned(value: &mut Value, redactor: &Redactor) -> Result<Option<OutputNote>, OutputNote> {
    let opaque = take_opaque(value);
    let note = clean(value, redactor)?;
    put_back(value, opaque);
    Ok(note)
}

fn clean(value: &mut Value, redactor: &Redactor) -> Result<Option<OutputNote>, OutputNote> {
    let (mut binary, mut secrets) = (false, false);
    edit_strings(value, &mut |key, text| {
        // Before anything is removed.
        binary |= text.as_bytes().contains(&0);
        let stripped = strip(text);
        match (redactor.redact_member(key, &stripped), &stripped) {
            (Cow::Owned(redacted), _) => {
                secrets = true;
                Some(redacted)
            }
            (Cow::Borrowed(_), Cow::Owned(stripped)) => Some(stripped.clone()),
            (Cow::Borrowed(_), Cow::Borrowed(_)) => None,
        }
    });
    if binary { Err(OutputNote::BinaryRefused) } else { Ok(secrets.then_some(OutputNote::SecretsRedacted)) }
}

/// `text` without control characters; newline, tab and carriage return stay.
pub(crate) fn strip(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return Cow::Borrowed(text);
    }
    let control = |c: char| c.is_control() && !matches!(c, '\n' | '\t' | '\r');
    if text.contains(control) { Cow::Owned(text.replace(control, "")) } else { Cow::Borrowed(text) }
}

/// Where a content block carries base64 instead of text: the object's path and the field.
fn opaque_field(block: &mut Value) -> Option<(&mut Map<String, Value>, &'static str)> {
    let block = block.as_object_mut()?;
    match block.get("type").and_then(Value::as_str)? {
        "image" | "audio" => Some((block, "data")),
        "resource" => Some((block.get_mut("resource")?.as_object_mut()?, "blob")),
        _ => None,
    }
}

/// Takes the base64 of a block out, so that it is neither searched nor changed. What is not base64 stays: it is
/// text under a false name.
fn take_opaque(block: &mut Value) -> Option<Value> {
    let (object, field) = opaque_field(block)?;
    let value = object.get_mut(field)?;
    let encoded = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_' | b'=');
    value.as_str()?.bytes().all(encoded).then(|| value.take())
}

fn put_back(block: &mut Value, opaque: Option<Value>) {
    if let Some(opaque) = opaque
        && let Some((object, field)) = opaque_field(block)
        && let Some(place) = object.get_mut(field)
    {
        *place = opaque;
    }
}

fn block_text(block: &Value) -> Cow<'_, str> {
    let text = |value: &'_ Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let mime = |value: &Value| text(value, "mimeType").unwrap_or_else(|| "unknown".to_owned());
    match block.get("type").and_then(Value::as_str) {
        Some("text") => block.get("text").and_then(Value::as_str).unwrap_or_default().into(),
        Some("resource") => {
            let resource = block.get("resource").unwrap_or(&Value::Null);
            match resource.get("text").and_then(Value::as_str) {
                Some(body) => body.into(),
                None => described("resource", [text(resource, "uri"), None], &mime(resource)).into(),
            }
        }
        Some("resource_link") => {
            described("resource_link", [text(block, "uri"), text(block, "name")], &mime(block)).into()
        }
        Some(kind @ ("image" | "audio")) => format!("[{kind}: {}]", mime(block)).into(),
        other => format!("[unsupported content: {}]", other.unwrap_or("unknown")).into(),
    }
}

fn described(kind: &str, names: [Option<String>; 2], mime: &str) -> String {
    let mut out = format!("[{kind}:");
    for name in names.into_iter().flatten().filter(|name| !name.is_empty()) {
        out.push(' ');
        out.push_str(&name);
    }
    format!("{out} ({mime})]")
}
