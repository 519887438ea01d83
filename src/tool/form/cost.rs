//! Whether checking a value against a schema is affordable, estimated before the validator sees either.
//!
//! A schema can refer to itself. Through a member of the value that is harmless with one such reference (a list), but
//! several of them multiply with each level of the value; and a reference that comes back without going deeper into
//! the value never ends. The estimate errs on the side of not checking.

use std::collections::HashMap;

use serde_json::Value;

/// Deeper schemas are not checked: the validator's compiler is recursive.
const MAX_DEPTH: usize = 64;
/// Schemas with more values than this are not checked.
const MAX_NODES: usize = 50_000;
/// Schemas with more patterns than this are not checked: each one is compiled.
const MAX_PATTERNS: usize = 64;
/// Steps of a check that are affordable on the screen's thread.
const MAX_STEPS: u64 = 2_000_000;

/// Keywords whose schemas are about members or items.
const ENTERS: [&str; 10] = [
    "properties",
    "patternProperties",
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "items",
    "prefixItems",
    "additionalItems",
    "unevaluatedItems",
    "contains",
];

/// How deep a value is nested; a scalar is 0.
pub(super) fn depth(value: &Value) -> usize {
    measure(value).0
}

/// Depth and number of values.
fn measure(value: &Value) -> (usize, usize) {
    let (mut deepest, mut count) = (0, 0);
    let mut open = vec![(value, 0)];
    while let Some((value, level)) = open.pop() {
        count += 1;
        deepest = deepest.max(level);
        match value {
            Value::Array(items) => open.extend(items.iter().map(|item| (item, level + 1))),
            Value::Object(members) => open.extend(members.values().map(|member| (member, level + 1))),
            _ => {}
        }
    }
    (deepest, count)
}

/// True when every reference is a plain pointer into the same document and nothing renames the document's parts: only
/// then can the cost be estimated, and only then would a check need nothing from elsewhere.
pub(super) fn stays_inside(schema: &Value) -> bool {
    let old = schema.get("$schema").and_then(Value::as_str).is_some_and(|draft| draft.contains("draft-04"));
    let plain = |reference: &str| reference == "#" || (reference.starts_with("#/") && !reference.contains('%'));
    let mut open = vec![(schema, true)];
    while let Some((part, outermost)) = open.pop() {
        match part {
            Value::Array(items) => open.extend(items.iter().map(|item| (item, false))),
            Value::Object(members) => {
                for (key, member) in members {
                    match (key.as_str(), member) {
                        ("$ref", Value::String(reference)) if !plain(reference) => return false,
                        ("$dynamicRef" | "$recursiveRef", Value::String(_)) => return false,
                        ("$id", Value::String(_)) if !outermost => return false,
                        ("id", Value::String(_)) if !outermost && old => return false,
                        ("default" | "examples" | "const" | "enum", _) => {}
                        _ => open.push((member, false)),
                    }
                }
            }
            _ => {}
        }
    }
    true
}

/// True when a check of `value` against `schema` takes a bounded, short time.
pub(super) fn is_bearable(schema: &Value, value: &Value) -> bool {
    let (deep, nodes) = measure(schema);
    let (value_depth, value_nodes) = measure(value);
    if deep > MAX_DEPTH || nodes > MAX_NODES || patterns(schema) > MAX_PATTERNS {
        return false;
    }
    let mut weighing = Weighing { root: schema, known: HashMap::new(), cycles: 0, path: Vec::new() };
    let Some(weight) = weighing.weigh(schema, Where::Here) else { return false };
    let rounds = if weighing.cycles > 1 {
        weighing.cycles.saturating_pow(u32::try_from(value_depth).unwrap_or(u32::MAX))
    } else {
        1
    };
    weight.saturating_mul(rounds).saturating_mul(value_nodes as u64) <= MAX_STEPS
}

/// Number of patterns in a schema.
fn patterns(schema: &Value) -> usize {
    let mut count = 0;
    let mut open = vec![schema];
    while let Some(part) = open.pop() {
        match part {
            Value::Array(items) => open.extend(items),
            Value::Object(members) => {
                count += usize::from(members.get("pattern").is_some_and(Value::is_string));
                count += members.get("patternProperties").and_then(Value::as_object).map_or(0, serde_json::Map::len);
                open.extend(members.values());
            }
            _ => {}
        }
    }
    count
}

/// Which value a part of a schema is about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Where {
    /// The same value as the part around it.
    Here,
    /// A member or an item of it.
    Deeper,
}

struct Weighing<'s> {
    root: &'s Value,
    known: HashMap<String, u64>,
    /// References that come back to a schema on the way to them.
    cycles: u64,
    /// References that are being followed, and whether the value has been entered since.
    path: Vec<(String, bool)>,
}

impl Weighing<'_> {
    /// Steps for one value; `None` when it does not end or is beyond measure.
    fn weigh(&mut self, schema: &Value, place: Where) -> Option<u64> {
        let entered = self.path.last().map(|(_, entered)| *entered);
        if place == Where::Deeper {
            self.enter(true);
        }
        let weight = self.parts(schema);
        if let Some(entered) = entered {
            self.enter(entered);
        }
        weight
    }

    fn enter(&mut self, entered: bool) {
        if let Some(last) = self.path.last_mut() {
            last.1 = entered;
        }
    }

    fn parts(&mut self, schema: &Value) -> Option<u64> {
        let mut weight = 1_u64;
        match schema {
            Value::Array(items) => {
                for item in items {
                    weight = weight.checked_add(self.weigh(item, Where::Here)?)?;
                }
            }
            Value::Object(members) => {
                for (key, member) in members {
                    let part = match (key.as_str(), member) {
                        ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(reference)) => {
                            self.follow(reference)?
                        }
                        ("$defs" | "definitions" | "default" | "examples" | "const" | "enum", _) => 1,
                        (key, _) if ENTERS.contains(&key) => self.weigh(member, Where::Deeper)?,
                        _ => self.weigh(member, Where::Here)?,
                    };
                    weight = weight.checked_add(part)?;
                }
            }
            _ => {}
        }
        (weight <= MAX_STEPS).then_some(weight)
    }

    fn follow(&mut self, reference: &str) -> Option<u64> {
        if let Some(at) = self.path.iter().position(|(known, _)| known == reference) {
            let ends = self.path.iter().skip(at).any(|(_, entered)| *entered);
            self.cycles += 1;
            return ends.then_some(1);
        }
        if let Some(weight) = self.known.get(reference) {
            return Some(*weight);
        }
        if self.path.len() >= MAX_DEPTH {
            return None;
        }
        // A pointer to nothing is refused by the validator.
        let Some(target) = reference.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer)) else {
            return Some(1);
        };
        self.path.push((reference.to_owned(), false));
        let weight = self.weigh(target, Where::Here);
        self.path.pop();
        let weight = weight?;
        self.known.insert(reference.to_owned(), weight);
        Some(weight)
    }
}
