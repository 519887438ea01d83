//! Arguments that a modern endpoint wants to see among the headers: `x-mcp-header` in a tool's input schema. Pure.
//!
//! [`super::super::tools`] reads the markings when it lists, [`super::super::call`] makes the headers of a call. Pipes
//! and the legacy era know nothing of it.

use std::collections::{HashMap, HashSet};

use http::{HeaderName, HeaderValue};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::headers;

const MARKING: &str = "x-mcp-header";
/// Keywords whose values are data, not schemas.
const DATA: [&str; 4] = ["default", "const", "enum", "examples"];

/// One argument that is sent as a header too.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::engine::connection) struct Mirrored {
    header: HeaderName,
    /// Property names from the top.
    path: Vec<String>,
}

/// The markings of an input schema.
///
/// # Errors
/// Why the tool cannot be used: a marking that could not be obeyed.
pub(in crate::engine::connection) fn markings(schema: &Value) -> Result<Vec<Mirrored>, String> {
    let mut found = Vec::new();
    walk(schema, Some(&[]), &mut found)?;
    let mut names = HashSet::new();
    match found.iter().find(|mirrored| !names.insert(mirrored.header.clone())) {
        Some(twice) => Err(format!("its schema uses the {MARKING} of \"{}\" twice", twice.header)),
        None => Ok(found),
    }
}

/// `path` is `None` where only `properties` no longer lead to.
fn walk(schema: &Value, path: Option<&[String]>, found: &mut Vec<Mirrored>) -> Result<(), String> {
    match schema {
        Value::Array(items) => items.iter().try_for_each(|item| walk(item, None, found)),
        Value::Object(object) => {
            if let Some(name) = object.get(MARKING) {
                found.push(marking(name, object, path)?);
            }
            for (key, value) in object {
                match (key.as_str(), value) {
                    (
                        "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas",
                        Value::Object(of),
                    ) => {
                        for (name, schema) in of {
                            let below = path
                                .filter(|_| key == "properties")
                                .map(|path| [path, std::slice::from_ref(name)].concat());
                            walk(schema, below.as_deref(), found)?;
                        }
                    }
                    (key, _) if DATA.contains(&key) || key == MARKING => {}
                    (_, value) => walk(value, None, found)?,
                }
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn marking(name: &Value, schema: &Map<String, Value>, path: Option<&[String]>) -> Result<Mirrored, String> {
    let Some(name) = name.as_str() else { return Err(format!("an {MARKING} in its schema is not a string")) };
    let shown: String = name.chars().take(64).collect();
    let wrong = |why: &str| format!("the {MARKING} \"{shown}\" in its schema {why}");
    let header = format!("mcp-param-{name}").parse::<HeaderName>();
    let header = header.ok().filter(|_| !name.is_empty()).ok_or_else(|| wrong("is no name of a header"))?;
    let Some(path) = path.filter(|path| !path.is_empty()) else {
        return Err(wrong("marks something that is not reached through properties alone"));
    };
    if !matches!(schema.get("type").and_then(Value::as_str), Some("string" | "integer" | "boolean")) {
        return Err(wrong("marks something that is no string, integer or boolean"));
    }
    Ok(Mirrored { header, path: path.to_vec() })
}

/// The headers for these arguments (JSON text). What is absent, null or of another kind has none.
pub(in crate::engine::connection) fn of_arguments(
    mirrored: &[Mirrored],
    arguments: &str,
) -> Vec<(HeaderName, HeaderValue)> {
    let header = |mirrored: &Mirrored| {
        let mut text = arguments.to_owned();
        for name in &mirrored.path {
            let mut object: HashMap<String, Box<RawValue>> = serde_json::from_str(&text).ok()?;
            object.remove(name)?.get().clone_into(&mut text);
        }
        let value = match serde_json::from_str(&text).ok()? {
            Value::String(value) => value,
            // As written: a number must not lose digits on the way.
            Value::Bool(_) | Value::Number(_) => text.trim().to_owned(),
            _ => return None,
        };
        let value = HeaderValue::from_str(&headers::encoded(&value)).ok()?;
        Some((mirrored.header.clone(), value))
    };
    mirrored.iter().filter_map(header).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn marked_arguments_become_headers_and_odd_ones_are_left_out() {
        let schema = json!({"type": "object", "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "n": {"type": "integer", "x-mcp-header": "N"},
            "deep": {"type": "object", "properties": {"on": {"type": "boolean", "x-mcp-header": "Deep-On"}}},
            "x-mcp-header": {"type": "string", "default": {"x-mcp-header": 3}},
        }});
        let mirrored = markings(&schema).unwrap();
        let show = |arguments: &str| {
            let headers = of_arguments(&mirrored, arguments);
            headers.iter().map(|(n, v)| format!("{n}={}", v.to_str().unwrap())).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(
            show(r#"{"region":"eu é","n":12345678901234567890123,"deep":{"on":true}}"#),
            "mcp-param-region==?base64?ZXUgw6k=?= mcp-param-n=12345678901234567890123 mcp-param-deep-on=true"
        );
        assert_eq!(show(r#"{"region":null,"n":[1],"deep":{}}"#), "");
        assert_eq!(show(r#"{"region":" x"}"#), "mcp-param-region==?base64?IHg=?=");
        assert_eq!(show("{}"), "");
    }

    #[test]
    fn markings_that_cannot_be_obeyed_are_named() {
        let property = |schema: Value| json!({"type": "object", "properties": {"a": schema}});
        let cases = [
            (property(json!({"type": "string", "x-mcp-header": ""})), "no name of a header"),
            (property(json!({"type": "string", "x-mcp-header": "a b"})), "no name of a header"),
            (property(json!({"type": "string", "x-mcp-header": 1})), "not a string"),
            (property(json!({"type": "number", "x-mcp-header": "A"})), "no string, integer or boolean"),
            (property(json!({"type": ["string", "null"], "x-mcp-header": "A"})), "no string, integer or boolean"),
            (property(json!({"type": "object", "x-mcp-header": "A"})), "no string, integer or boolean"),
            (property(json!({"type": "array", "items": {"type": "string", "x-mcp-header": "A"}})), "properties alone"),
            (json!({"$defs": {"d": {"type": "string", "x-mcp-header": "A"}}}), "properties alone"),
            (json!({"anyOf": [{"properties": {"a": {"type": "string", "x-mcp-header": "A"}}}]}), "properties alone"),
            (json!({"type": "string", "x-mcp-header": "A"}), "properties alone"),
            (
                json!({"properties": {"a": {"type": "string", "x-mcp-header": "A"},
                    "b": {"type": "string", "x-mcp-header": "a"}}}),
                "twice",
            ),
        ];
        for (schema, expected) in cases {
            let reason = markings(&schema).unwrap_err();
            assert!(reason.contains(expected), "{schema}: {reason}");
        }
        assert_eq!(markings(&json!(true)), Ok(Vec::new()));
    }
}
