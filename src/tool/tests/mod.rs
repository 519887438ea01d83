//! Tests of the tool vocabulary, and the JSON values that several of them draw from.

mod arguments;
mod catalog;
mod hints;
mod json;
mod listing;
mod output;
mod worker;

use proptest::prelude::*;
use serde_json::Value;

/// Any JSON value, a few levels deep.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..6).prop_map(|m| Value::Object(m.into_iter().collect())),
        ]
    })
}
