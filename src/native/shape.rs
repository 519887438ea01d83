//! Checking arguments that are more than a word: moments, cursors, objects and lists of them.

use serde_json::Value;

use super::request::Refusal;
use super::tool::{Field, Kind, LONGEST_ITEM, MOST_ITEMS, MOST_OBJECTS, check as check_fields};

/// Longest text of an item's own field, in characters.
const LONGEST_VALUE: usize = 2_000;

/// Checks one value of the argument `name`.
pub(super) fn check(name: &str, kind: Kind, value: &Value) -> Result<(), Refusal> {
    let wrong = |what: &str| Err(Refusal::invalid(format!("{name} {what}")));
    match kind {
        Kind::Moment => match value.as_str().map(str::parse::<jiff::Timestamp>) {
            Some(Ok(_)) => Ok(()),
            _ => wrong("is not a moment such as 2026-12-24T08:00:00Z"),
        },
        Kind::Cursor => match value {
            Value::Number(_) => Ok(()),
            Value::String(text) if text.len() <= LONGEST_ITEM => Ok(()),
            _ => wrong("is not the next_cursor of an answer"),
        },
        Kind::Object(fields) => match value {
            Value::Object(object) => check_fields(fields, object, name),
            _ => wrong("is not an object"),
        },
        Kind::Objects(fields) => objects(name, fields, value, |_| false),
        Kind::Marks(fields) => objects(name, fields, value, Value::is_i64),
        Kind::Values if is_plain(value) => Ok(()),
        Kind::Values => wrong(&format!("is not an object of texts (at most {LONGEST_VALUE} characters) and numbers")),
        // Words are checked where they are declared.
        _ => Ok(()),
    }
}

/// A list of objects with these keys; `stands_for` says what else may stand for one.
fn objects(name: &str, fields: &[Field], value: &Value, stands_for: fn(&Value) -> bool) -> Result<(), Refusal> {
    let wrong = |what: String| Err(Refusal::invalid(format!("{name} {what}")));
    let Some(items) = value.as_array().filter(|items| items.len() <= MOST_OBJECTS) else {
        return wrong(format!("is not a list of at most {MOST_OBJECTS} objects"));
    };
    items.iter().try_for_each(|item| match item {
        Value::Object(object) => check_fields(fields, object, name),
        item if stands_for(item) => Ok(()),
        _ => wrong("holds something that is not an object".to_owned()),
    })
}

/// Texts and numbers by name.
fn is_plain(value: &Value) -> bool {
    let fits = |text: &str| text.chars().count() <= LONGEST_VALUE && !text.contains('\0');
    let plain = |(key, value): (&String, &Value)| {
        key.chars().count() <= LONGEST_ITEM
            && (value.is_null() || value.is_number() || value.as_str().is_some_and(fits))
    };
    value.as_object().is_some_and(|values| values.len() <= MOST_ITEMS && values.iter().all(plain))
}
