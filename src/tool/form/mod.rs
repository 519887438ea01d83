//! Filling in a call by hand: a first draft of the arguments from a tool's input schema, and what is wrong with a
//! draft by that schema.
//!
//! Schemas come from servers and are hostile until proven otherwise: drafts are bounded, nothing is fetched, patterns
//! run on a linear-time engine, and a schema whose check could take long is not checked at all, which is said. Pure.

mod cost;
#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::collections::HashSet;

use serde_json::{Map, Value};

use super::arguments::Arguments;

/// Objects in a draft are filled to this depth.
const MAX_DEPTH: usize = 6;
/// Members of one object in a draft.
const MAX_MEMBERS: usize = 64;
/// Values in a draft.
const MAX_VALUES: usize = 512;
/// The longest default that is taken over, in bytes of JSON.
const MAX_DEFAULT: usize = 4 << 10;
/// The longest draft, in bytes of JSON.
const MAX_DRAFT: usize = 32 << 10;
/// References followed one after another.
const MAX_REFS: usize = 16;
/// The most problems that are reported.
const MAX_PROBLEMS: usize = 20;
/// The longest text of a problem, in characters.
const MAX_TEXT: usize = 240;

/// One thing that is wrong with the arguments.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// Where: a JSON pointer, `/repo`; empty for the whole.
    pub path: String,
    /// What is wrong.
    pub text: String,
}

/// Why arguments cannot be checked against a schema here. The server checks them in any case.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Unchecked {
    /// The schema is too large or refers to itself in a way that makes a check costly.
    #[error("the schema is too large or too tangled to be checked here")]
    TooCostly,
    /// The arguments are nested too deeply to be checked.
    #[error("the arguments are nested too deeply to be checked here")]
    TooDeep,
    /// The schema is no schema, refers elsewhere, or has a pattern that cannot run in linear time.
    #[error("the schema cannot be used here: {0}")]
    Unusable(String),
}

/// A draft of the arguments: required members and members with a default, as indented JSON.
pub fn draft(schema: &Value) -> String {
    let drafting = Drafting { root: schema, left: Cell::new(MAX_VALUES) };
    let value = drafting.value(schema, MAX_DEPTH);
    let value = if value.is_object() { value } else { Value::Object(Map::new()) };
    match serde_json::to_string_pretty(&value) {
        Ok(text) if text.len() <= MAX_DRAFT => text,
        _ => "{}".to_owned(),
    }
}

/// What is wrong with `arguments` by `schema`; empty when nothing is.
///
/// # Errors
/// When they cannot be checked here; see [`Unchecked`].
pub fn check(schema: &Value, arguments: &Arguments) -> Result<Vec<Problem>, Unchecked> {
    let value: Value = serde_json::from_str(arguments.canonical()).map_err(|_| Unchecked::TooDeep)?;
    if !cost::stays_inside(schema) {
        let why = "it refers to other documents, or to parts of itself by name";
        return Err(Unchecked::Unusable(why.to_owned()));
    }
    if !cost::is_bearable(schema, &value) {
        return Err(Unchecked::TooCostly);
    }
    let patterns = jsonschema::PatternOptions::regex().size_limit(256 << 10).dfa_size_limit(1 << 20);
    let validator = jsonschema::options()
        .offline()
        .with_pattern_options(patterns)
        .build(schema)
        .map_err(|error| Unchecked::Unusable(shortened(&error.to_string())))?;
    let problems = validator.iter_errors(&value).take(MAX_PROBLEMS);
    Ok(problems
        .map(|error| Problem { path: error.instance_path().to_string(), text: shortened(&error.to_string()) })
        .collect())
}

fn shortened(text: &str) -> String {
    if text.chars().count() <= MAX_TEXT {
        return text.to_owned();
    }
    text.chars().take(MAX_TEXT).chain(['…']).collect()
}

struct Drafting<'s> {
    root: &'s Value,
    /// Values that may still be made.
    left: Cell<usize>,
}

impl Drafting<'_> {
    /// The value to begin with for something that `schema` describes.
    fn value(&self, schema: &Value, depth: usize) -> Value {
        let schema = self.resolved(schema);
        let Some(left) = self.left.get().checked_sub(1) else { return Value::Null };
        self.left.set(left);
        for key in ["default", "const"] {
            if let Some(value) = schema.get(key).filter(|value| is_small(value)) {
                return value.clone();
            }
        }
        if let Some(first) = schema.get("enum").and_then(Value::as_array).and_then(|all| all.first()) {
            return if is_small(first) { first.clone() } else { Value::Null };
        }
        match kind(schema) {
            Some("object") => self.object(schema, depth),
            Some("array") => Value::Array(Vec::new()),
            Some("string") => Value::String(String::new()),
            Some("boolean") => Value::Bool(false),
            Some("integer" | "number") => schema.get("minimum").filter(|n| n.is_number()).cloned().unwrap_or(0.into()),
            _ => self.alternative(schema, depth),
        }
    }

    fn object(&self, schema: &Value, depth: usize) -> Value {
        let mut object = Map::new();
        let (Some(properties), true) = (schema.get("properties").and_then(Value::as_object), depth > 0) else {
            return Value::Object(object);
        };
        let required: HashSet<&str> =
            schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
        for (name, property) in properties {
            let wanted = required.contains(name.as_str()) || self.resolved(property).get("default").is_some();
            if wanted && object.len() < MAX_MEMBERS && self.left.get() > 0 {
                object.insert(name.clone(), self.value(property, depth - 1));
            }
        }
        Value::Object(object)
    }

    /// The first alternative that is more than null.
    fn alternative(&self, schema: &Value, depth: usize) -> Value {
        let all = ["anyOf", "oneOf", "allOf"].iter().filter_map(|key| schema.get(*key)?.as_array()).flatten();
        let mut all = all.map(|schema| self.resolved(schema));
        let chosen = all.find(|schema| kind(schema) != Some("null")).filter(|_| depth > 0);
        chosen.map_or(Value::Null, |schema| self.value(schema, depth - 1))
    }

    /// The schema behind references within the document.
    fn resolved<'v>(&'v self, schema: &'v Value) -> &'v Value {
        let mut schema = schema;
        for _ in 0..MAX_REFS {
            let Some(reference) = schema.get("$ref").and_then(Value::as_str) else { return schema };
            let Some(target) = reference.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer)) else {
                return schema;
            };
            schema = target;
        }
        schema
    }
}

/// The type of a value; of several the first that is not null; an object when it has properties.
fn kind(schema: &Value) -> Option<&str> {
    match schema.get("type") {
        Some(Value::String(name)) => Some(name),
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).find(|name| *name != "null"),
        _ => schema.get("properties").map(|_| "object"),
    }
}

fn is_small(value: &Value) -> bool {
    cost::depth(value) <= MAX_DEPTH && value.to_string().len() <= MAX_DEFAULT
}
