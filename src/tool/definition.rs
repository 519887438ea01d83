//! A tool's definition as lines of text: what a person reads, and what two states of a tool are compared by.
//!
//! Everything that consent is bound to is in it. The lines are sanitised; who shows them redacts them.

use serde_json::Value;

use super::annotations::HintName;
use super::entry::Entry;
use crate::text;

/// Lines that are kept; what is beyond them is counted in the last one.
const MAX_LINES: usize = 2_000;

/// The definition, part after part, each under its name.
pub fn definition(entry: &Entry) -> Vec<String> {
    let mut lines = vec![format!("name: {}", text::visible(&entry.raw_name))];
    if !entry.title.is_empty() {
        lines.push(format!("title: {}", text::visible(&entry.title)));
    }
    lines.push("description:".to_owned());
    lines.extend(entry.description.lines().map(|line| format!("  {}", text::visible(line))));
    for name in HintName::ALL {
        let stated = entry.hints.effective.get(name);
        let malformed =
            if entry.hints.malformed.contains(&name) { " (sent as something else than true or false)" } else { "" };
        lines.push(format!("{}: {}{malformed}", name.snake(), stated.as_str()));
    }
    schema("input schema", &entry.input_schema, &mut lines);
    if let Some(output) = &entry.output_schema {
        schema("output schema", output, &mut lines);
    }
    if lines.len() > MAX_LINES {
        let more = lines.len() - MAX_LINES + 1;
        lines.truncate(MAX_LINES - 1);
        lines.push(format!("… {more} more lines"));
    }
    lines
}

fn schema(name: &str, schema: &Value, lines: &mut Vec<String>) {
    lines.push(format!("{name}:"));
    let pretty = serde_json::to_string_pretty(&sorted(schema)).unwrap_or_default();
    lines.extend(pretty.lines().map(|line| format!("  {}", text::visible(line))));
}

/// The same value with its keys in order: their order says nothing.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(object) => {
            let mut members: Vec<_> = object.iter().collect();
            members.sort_by_key(|(key, _)| *key);
            Value::Object(members.into_iter().map(|(key, value)| (key.clone(), sorted(value))).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
        other => other.clone(),
    }
}
