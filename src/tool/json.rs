//! stub
/// canonical
pub fn canonical_value(value: &serde_json::Value) -> String {
    value.to_string()
}
