//! Reading one server's tool list off the wire, item by item: a malformed tool costs only itself.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Value, json};

use super::annotations::{Annotations, Parsed};

/// One tool as a server lists it.
#[derive(Clone, PartialEq, Debug)]
pub struct ListedTool {
    /// The name on the wire, 1 to 128 characters.
    pub raw_name: Arc<str>,
    /// A name for people (the tool's own, else the one in its annotations); empty when there is none.
    pub title: Arc<str>,
    /// The description; `None` when absent, blank or not a string.
    pub description: Option<Arc<str>>,
    /// The input schema as sent; an object schema when absent or null.
    pub input_schema: Arc<Value>,
    /// False when the input schema's top-level `type` is not `object`.
    pub schema_is_object: bool,
    /// The output schema, where it is an object.
    pub output_schema: Option<Arc<Value>>,
    /// The hints, and which were malformed.
    pub hints: Parsed,
}

/// One thing in the list that is not usable as a tool.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RejectedTool {
    /// Place in the list over all pages, from 0.
    pub index: usize,
    /// Its name, where it has one that can be read.
    pub name: Option<Arc<str>>,
    /// Why it cannot be used.
    pub reason: Arc<str>,
}

/// A server's tools, all pages together.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Listing {
    /// The usable tools, in the server's order, each raw name once.
    pub tools: Vec<Arc<ListedTool>>,
    /// The rest.
    pub rejected: Vec<RejectedTool>,
    /// Why the list was cut (a repeated cursor, a cap), when it was.
    pub cut: Option<Arc<str>>,
    /// The raw names of `tools`, because a list can have tens of thousands.
    names: HashSet<Arc<str>>,
}

impl Listing {
    /// The longest raw name that is accepted, in characters.
    pub const MAX_NAME_CHARS: usize = 128;

    /// Adds one item of a list, as JSON text. What cannot be decoded (a lone surrogate, too many levels) is one
    /// rejected item and costs the others nothing.
    pub fn push_text(&mut self, item: &str) {
        match serde_json::from_str(item) {
            Ok(item) => self.push(&item),
            Err(error) => {
                let index = self.tools.len() + self.rejected.len();
                let reason = format!("it cannot be decoded: {error}").into();
                self.rejected.push(RejectedTool { index, name: None, reason });
            }
        }
    }

    /// Adds one item of a list as it came off the wire.
    pub fn push(&mut self, item: &Value) {
        let index = self.tools.len() + self.rejected.len();
        match read_tool(item) {
            Ok(tool) if self.names.insert(tool.raw_name.clone()) => self.tools.push(Arc::new(tool)),
            Ok(tool) => self.rejected.push(RejectedTool {
                index,
                name: Some(tool.raw_name),
                reason: "the server lists this name more than once; the first one counts".into(),
            }),
            Err((name, reason)) => self.rejected.push(RejectedTool { index, name, reason }),
        }
    }
}

type Rejection = (Option<Arc<str>>, Arc<str>);

fn read_tool(item: &Value) -> Result<ListedTool, Rejection> {
    let Value::Object(object) = item else { return Err((None, "not an object".into())) };
    let name = match object.get("name") {
        Some(Value::String(name)) if !name.trim().is_empty() => name,
        Some(Value::String(_)) => return Err((None, "its name is blank".into())),
        Some(_) => return Err((None, "its name is not a string".into())),
        None => return Err((None, "it has no name".into())),
    };
    let length = name.chars().count();
    if length > Listing::MAX_NAME_CHARS {
        let start: String = name.chars().take(Listing::MAX_NAME_CHARS).collect();
        let reason = format!("its name has {length} characters, more than {}", Listing::MAX_NAME_CHARS);
        return Err((Some(start.into()), reason.into()));
    }
    let raw_name: Arc<str> = name.as_str().into();
    let input_schema = match object.get("inputSchema") {
        None | Some(Value::Null) => json!({"type": "object", "properties": {}}),
        Some(schema @ Value::Object(_)) => schema.clone(),
        Some(_) => return Err((Some(raw_name), "its input schema is not an object".into())),
    };
    let hints = Annotations::parse(object.get("annotations"));
    let text = |key: &str| object.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    Ok(ListedTool {
        title: text("title").unwrap_or(&hints.annotations.title).into(),
        description: text("description").map(Arc::from),
        schema_is_object: input_schema.get("type").and_then(Value::as_str) == Some("object"),
        input_schema: Arc::new(input_schema),
        output_schema: object.get("outputSchema").filter(|schema| schema.is_object()).cloned().map(Arc::new),
        raw_name,
        hints,
    })
}
