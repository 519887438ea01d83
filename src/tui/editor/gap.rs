//! What is still missing in the draft of a call: where the cursor begins, and which required values are empty.
//!
//! Reads the draft line by line as [`form::draft`](crate::tool::form::draft) writes it; decides nothing.

use serde_json::Value;
use tui_textarea::{CursorMove, TextArea};

use crate::tool::Arguments;

/// How a placeholder is taken up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Take {
    /// The cursor goes between its first and its last character.
    Inside,
    /// It is selected, so that typing replaces it.
    Whole,
}

/// Puts the cursor on the first value that nobody has chosen: into an empty text or list, or over a number or a
/// truth value, which typing then replaces.
pub(super) fn go_to_first(area: &mut TextArea<'_>, schema: &Value) {
    let found = area.lines().iter().enumerate().find_map(|(row, line)| Some((row, placeholder(line, schema)?)));
    let Some((row, (column, length, take))) = found else { return };
    let to = |row: usize, column: usize| Some(CursorMove::Jump(u16::try_from(row).ok()?, u16::try_from(column).ok()?));
    let (Some(start), Some(inside), Some(end)) = (to(row, column), to(row, column + 1), to(row, column + length))
    else {
        return;
    };
    match take {
        Take::Inside => area.move_cursor(inside),
        Take::Whole => {
            area.move_cursor(start);
            area.start_selection();
            area.move_cursor(end);
        }
    }
}

/// The place of a line's value in characters, and its length, when it is one that the draft made up.
fn placeholder(line: &str, schema: &Value) -> Option<(usize, usize, Take)> {
    let (name, value) = line.split_once("\": ")?;
    let value = value.trim_end_matches(',');
    let take = match value {
        "\"\"" | "[]" | "{}" => Take::Inside,
        "true" | "false" | "null" => Take::Whole,
        number if number.parse::<f64>().is_ok() => Take::Whole,
        _ => return None,
    };
    let name = name.trim_start().trim_start_matches('"');
    let property = schema.get("properties").and_then(|all| all.get(name));
    let chosen = |key: &str| property.is_some_and(|property| property.get(key).is_some());
    if ["default", "const", "enum"].into_iter().any(chosen) {
        return None;
    }
    let column = line.chars().count() - line.split_once("\": ")?.1.chars().count();
    Some((column, value.chars().count(), take))
}

/// The required arguments that are empty texts, by name; those that the schema wants empty aside.
pub(super) fn empty_required(schema: &Value, arguments: &Arguments) -> Vec<String> {
    let Ok(Value::Object(written)) = serde_json::from_str(arguments.canonical()) else { return Vec::new() };
    let wanted_empty = |name: &str| {
        let property = schema.get("properties").and_then(|all| all.get(name));
        ["default", "const"].into_iter().any(|key| property.and_then(|of| of.get(key)) == Some(&Value::from("")))
    };
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    required
        .filter(|name| written.get(*name).and_then(Value::as_str) == Some("") && !wanted_empty(name))
        .map(str::to_owned)
        .collect()
}
