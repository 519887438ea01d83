//! The JSON Schema of the document, for editors: made of the tables that the check uses.

use serde_json::{Map, Value, json};

use super::keys;
use super::shape::{Also, MAX_SECONDS, Presence, Section, Shape};

/// The JSON Schema (draft 2020-12) of the configuration.
pub fn schema() -> Value {
    let mut definitions = Map::new();
    let root = section(&keys::ROOT, &mut definitions);
    let mut schema = Map::new();
    schema.insert("$schema".into(), "https://json-schema.org/draft/2020-12/schema".into());
    schema.insert("title".into(), "crewlet-tui configuration".into());
    if let Value::Object(root) = root {
        schema.extend(root);
    }
    schema.insert("$defs".into(), Value::Object(definitions));
    Value::Object(schema)
}

fn section(section: &'static Section, definitions: &mut Map<String, Value>) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for key in section.keys {
        let mut property = shape(&key.shape, definitions);
        match key.presence {
            Presence::Required => required.push(key.name),
            // A key without a value counts as unset.
            Presence::Optional if !matches!(key.shape, Shape::Any | Shape::Value) => {
                property = json!({"anyOf": [property, {"type": "null"}]});
            }
            Presence::Optional => {}
        }
        if let Value::Object(property) = &mut property {
            property.insert("description".into(), key.doc.into());
        }
        properties.insert(key.name.into(), property);
    }
    let patterns = match section.also {
        Also::Nothing => json!({}),
        Also::Anything => json!({"": true}),
        Also::Prefix(prefix) => json!({format!("^{prefix}"): true}),
        Also::Suffix(suffix) => json!({format!("{suffix}$"): true}),
    };
    json!({
        "type": "object",
        "properties": properties,
        "patternProperties": patterns,
        "required": required,
        "additionalProperties": false,
    })
}

fn shape(shape: &'static Shape, definitions: &mut Map<String, Value>) -> Value {
    // Text is taken as written, so what an editor reads as a number or a boolean is text as well.
    let text = json!({"type": ["string", "number", "boolean"]});
    match shape {
        Shape::Text | Shape::Template => text,
        Shape::Name => json!({"type": ["string", "number", "boolean"], "pattern": "\\S"}),
        Shape::Value => json!({"type": "string"}),
        Shape::Flag => json!({"type": "boolean"}),
        Shape::Seconds => json!({"type": "number", "minimum": 0, "maximum": MAX_SECONDS}),
        Shape::Count => json!({"type": "number", "minimum": 0, "maximum": u32::MAX}),
        Shape::OneOf(words) => json!({"enum": words}),
        Shape::Texts => json!({"anyOf": [text, {"type": "array", "items": text}]}),
        Shape::List(item) => {
            let item = self::shape(item, definitions);
            json!({"type": "array", "items": item})
        }
        Shape::Map(value) => {
            let mut below = self::shape(value, definitions);
            if !matches!(value, Shape::Value) {
                below = json!({"anyOf": [below, {"type": "null"}]});
            }
            json!({"type": "object", "additionalProperties": below})
        }
        Shape::Section(inner) => {
            if !definitions.contains_key(inner.title) {
                // Put in before its own keys are looked at: units hold units.
                definitions.insert(inner.title.into(), Value::Null);
                let definition = section(inner, definitions);
                definitions.insert(inner.title.into(), definition);
            }
            json!({"$ref": format!("#/$defs/{}", inner.title)})
        }
        Shape::Any => json!({}),
    }
}
