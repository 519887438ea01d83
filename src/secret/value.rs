//! Editing every string of a JSON value, without recursion.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// Offers every string, with its key where it is a member of an object, and every key to `edit`, which answers with
/// a replacement or `None`. Keys that become equal are told apart by a number, so that no value is lost. True when
/// something was replaced.
pub(crate) fn edit_strings(value: &mut Value, edit: &mut impl FnMut(Option<&str>, &str) -> Option<String>) -> bool {
    let mut edited = false;
    let mut todo = vec![(None, value)];
    while let Some((key, value)) = todo.pop() {
        match value {
            Value::String(text) => {
                if let Some(new) = edit(key, text) {
                    *text = new;
                    edited = true;
                }
            }
            Value::Array(items) => todo.extend(items.iter_mut().map(|item| (None, item))),
            Value::Object(object) => {
                edited |= edit_keys(object, edit);
                todo.extend(object.iter_mut().map(|(key, value)| (Some(key.as_str()), value)));
            }
            _ => {}
        }
    }
    edited
}

fn edit_keys(object: &mut Map<String, Value>, edit: &mut impl FnMut(Option<&str>, &str) -> Option<String>) -> bool {
    let new: Vec<Option<String>> = object.keys().map(|key| edit(None, key)).collect();
    if new.iter().all(Option::is_none) {
        return false;
    }
    let mut taken: HashMap<String, u32> = HashMap::new();
    for ((key, value), new) in std::mem::take(object).into_iter().zip(new) {
        let wanted = new.unwrap_or(key);
        let mut free = wanted.clone();
        while object.contains_key(&free) {
            let count = taken.entry(wanted.clone()).or_insert(1);
            *count += 1;
            free = format!("{wanted} ({count})");
        }
        object.insert(free, value);
    }
    true
}
