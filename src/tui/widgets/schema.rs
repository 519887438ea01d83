//! The arguments that a tool takes, as a short list: name, type, whether it is required, what it is for.
//!
//! Reads a JSON Schema one level deep; the whole schema is shown with the JSON view. Used by the tools pane and the
//! call editor.

use std::collections::HashSet;

use serde_json::Value;

use super::paint::{Row, Span};
use crate::tui::theme::Role;

/// Members that are listed; more are counted.
const MAX: usize = 64;

/// One row for each argument: required ones first, with a `*`.
pub fn arguments(schema: &Value) -> Vec<Row> {
    let Some(properties) = schema.get("properties").and_then(Value::as_object).filter(|all| !all.is_empty()) else {
        return vec![vec![Span::new(Role::Dim, "none declared")]];
    };
    let required: HashSet<&str> =
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let is_required = |name: &str| required.contains(name);
    let first = properties.iter().filter(|(name, _)| is_required(name));
    let then = properties.iter().filter(|(name, _)| !is_required(name));
    let mut rows: Vec<Row> = first
        .chain(then)
        .take(MAX)
        .map(|(name, property)| {
            let mark = if is_required(name) { "* " } else { " " };
            let mut row = vec![
                Span::new(Role::Text, name),
                Span::new(Role::Warning, mark),
                Span::new(Role::Dim, &type_name(property)),
            ];
            let about = property.get("description").and_then(Value::as_str).unwrap_or_default();
            if let Some(line) = about.lines().find(|line| !line.trim().is_empty()) {
                row.push(Span::new(Role::Dim, &format!(" – {}", line.trim())));
            }
            row
        })
        .collect();
    if properties.len() > MAX {
        rows.push(vec![Span::new(Role::Dim, &format!("and {} more: see the schema", properties.len() - MAX))]);
    }
    rows
}

/// The type of a member in a word: `string`, `integer|null`, `one of "a", "b"`, `any`.
fn type_name(property: &Value) -> String {
    if let Some(values) = property.get("enum").and_then(Value::as_array) {
        let shown: Vec<String> = values.iter().take(6).map(brief).collect();
        let more = if values.len() > 6 { ", …" } else { "" };
        return format!("one of {}{more}", shown.join(", "));
    }
    match property.get("type") {
        Some(Value::String(name)) => name.clone(),
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("|"),
        _ if property.get("$ref").is_some() => "see the schema".to_owned(),
        _ => "any".to_owned(),
    }
}

fn brief(value: &Value) -> String {
    match value {
        Value::Array(_) => "[…]".to_owned(),
        Value::Object(_) => "{…}".to_owned(),
        scalar => scalar.to_string().chars().take(40).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::widgets::paint::row_text;
    use serde_json::json;

    #[test]
    fn arguments_are_listed_with_what_matters() {
        let schema = json!({"required": ["repo"], "properties": {
            "limit": {"type": ["integer", "null"]},
            "repo": {"type": "string", "description": "\nWhich one\nmore"},
            "state": {"enum": ["open", "closed"]},
            "any\u{1b}thing": {},
        }});
        let rows: Vec<String> = arguments(&schema).iter().map(|row| row_text(row)).collect();
        assert_eq!(
            rows,
            [
                "repo* string – Which one",
                "limit integer|null",
                "state one of \"open\", \"closed\"",
                &*crate::text::visible("any\u{1b}thing any"),
            ]
        );
        for odd in [json!({}), json!(7), json!({"properties": []}), json!({"properties": {}, "required": 1})] {
            assert_eq!(row_text(&arguments(&odd)[0]), "none declared", "{odd}");
        }
    }
}
