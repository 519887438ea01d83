//! Arguments that are repeated among the headers of a request: which ones an input schema marks with `x-mcp-header`,
//! the text of their values, and how a header holds a text that is not plain. Pure.
//!
//! Connections mirror what they send to an endpoint with it; the served surface checks what agents mirrored. Pipes and
//! the revisions with sessions know nothing of it.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde_json::value::RawValue;
use serde_json::{Map, Number, Value};

const MARKING: &str = "x-mcp-header";
/// What the header of a marked argument begins with.
pub const PREFIX: &str = "mcp-param-";
/// Keywords whose values are data, not schemas.
const DATA: [&str; 4] = ["default", "const", "enum", "examples"];
/// The longest name that is looked at, in bytes.
const LONGEST: usize = 256;
const OPENING: &str = "=?base64?";
const CLOSING: &str = "?=";
/// Beyond this a double does not hold every integer.
const EXACT: f64 = 9_007_199_254_740_991.0;

/// One argument that is sent as a header too.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mirrored {
    /// The header's whole name, in lower case.
    pub header: String,
    /// Property names from the top.
    path: Vec<String>,
}

/// The markings of an input schema.
///
/// # Errors
/// Why the tool cannot be used: a marking that could not be obeyed.
pub fn markings(schema: &Value) -> Result<Vec<Mirrored>, String> {
    let mut found = Vec::new();
    walk(schema, Some(&[]), &mut found)?;
    let mut names = HashSet::new();
    match found.iter().find(|mirrored| !names.insert(&mirrored.header)) {
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
    if name.is_empty() || name.len() > LONGEST || !name.bytes().all(is_token) {
        return Err(wrong("is no name of a header"));
    }
    let Some(path) = path.filter(|path| !path.is_empty()) else {
        return Err(wrong("marks something that is not reached through properties alone"));
    };
    if !matches!(schema.get("type").and_then(Value::as_str), Some("string" | "integer" | "boolean")) {
        return Err(wrong("marks something that is no string, integer or boolean"));
    }
    Ok(Mirrored { header: format!("{PREFIX}{}", name.to_ascii_lowercase()), path: path.to_vec() })
}

/// What a header's name is made of.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

impl Mirrored {
    /// The text of this argument among `arguments` (JSON text). What is absent, null or of another kind has none.
    pub fn text(&self, arguments: &str) -> Option<String> {
        text(&self.written(arguments)?)
    }

    /// This argument as JSON text, as it was written.
    fn written<'a>(&self, arguments: &'a str) -> Option<Cow<'a, str>> {
        let mut written = Cow::Borrowed(arguments);
        for name in &self.path {
            let mut object: HashMap<String, Box<RawValue>> = serde_json::from_str(&written).ok()?;
            written = Cow::Owned(object.remove(name)?.get().to_owned());
        }
        Some(written)
    }

    /// Whether a header's value says the same as the arguments. `header` is `None` where there is none; then the
    /// arguments must hold nothing either.
    pub fn agrees(&self, header: Option<&str>, arguments: &str) -> bool {
        let written = self.written(arguments);
        match (header, written.as_deref().and_then(text)) {
            (None, None) => true,
            // A text is compared as it is, whatever it looks like: as JSON it has its quotes and is no number.
            (Some(header), Some(text)) => decoded(header)
                .is_some_and(|header| header == text || written.is_some_and(|written| equal(&header, &written))),
            _ => false,
        }
    }
}

/// The text of an argument that was written so in JSON.
fn text(written: &str) -> Option<String> {
    match serde_json::from_str(written).ok()? {
        Value::String(value) => Some(value),
        // As written: a number must not lose digits on the way.
        Value::Bool(_) | Value::Number(_) => Some(written.trim().to_owned()),
        _ => None,
    }
}

/// Whether two JSON texts are the same number: `42` and `42.0` are.
fn equal(one: &str, other: &str) -> bool {
    let number = |text: &str| serde_json::from_str::<Number>(text).ok().and_then(|number| number.as_f64());
    // The sum makes one zero of both.
    let same = |one: f64, other: f64| (one + 0.0).total_cmp(&(other + 0.0)).is_eq() && one.abs() <= EXACT;
    number(one).zip(number(other)).is_some_and(|(one, other)| same(one, other))
}

/// A text as it may stand in a header: as it is, or in the protocol's base64 form.
pub fn encoded(value: &str) -> String {
    let plain = value.bytes().all(|byte| (0x20..0x7f).contains(&byte)) && value.trim() == value;
    if plain && !(value.starts_with(OPENING) && value.ends_with(CLOSING)) {
        return value.to_owned();
    }
    format!("{OPENING}{}{CLOSING}", base64(value.as_bytes()))
}

/// The text of a header that may be in base64 because it is not plain. `None` when it is neither.
pub fn decoded(value: &str) -> Option<String> {
    let wrapped = value.strip_prefix(OPENING).and_then(|rest| rest.strip_suffix(CLOSING));
    let Some(encoded) = wrapped else { return Some(value.to_owned()) };
    String::from_utf8(from_base64(encoded)?).ok()
}

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let mut bits = [0_u8; 4];
        for (slot, byte) in bits.iter_mut().skip(1).zip(group) {
            *slot = *byte;
        }
        let bits = u32::from_be_bytes(bits);
        for at in 0..4_usize {
            let digit = usize::try_from((bits >> (18 - 6 * at)) & 63).unwrap_or(0);
            let digit = if at <= group.len() { ALPHABET.get(digit).copied().unwrap_or(b'=') } else { b'=' };
            text.push(char::from(digit));
        }
    }
    text
}

fn from_base64(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=');
    let mut bytes = Vec::with_capacity(digits.len());
    let (mut bits, mut count) = (0_u32, 0_u32);
    for byte in digits.bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from((bits >> count) & 0xff).ok()?);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        json!({"type": "object", "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "n": {"type": "integer", "x-mcp-header": "N"},
            "deep": {"type": "object", "properties": {"on": {"type": "boolean", "x-mcp-header": "Deep-On"}}},
            "x-mcp-header": {"type": "string", "default": {"x-mcp-header": 3}},
        }})
    }

    #[test]
    fn marked_arguments_have_texts_and_odd_ones_none() {
        let mirrored = markings(&schema()).unwrap();
        let show = |arguments: &str| {
            let texts = mirrored.iter().filter_map(|one| Some(format!("{}={}", one.header, one.text(arguments)?)));
            texts.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(
            show(r#"{"region":"eu é","n":12345678901234567890123,"deep":{"on":true}}"#),
            "mcp-param-region=eu é mcp-param-n=12345678901234567890123 mcp-param-deep-on=true"
        );
        assert_eq!(show(r#"{"region":null,"n":[1],"deep":{}}"#), "");
        assert_eq!(show("{}"), "");
        assert_eq!(show("[1]"), "");
    }

    #[test]
    fn headers_are_compared_decoded_and_numbers_as_numbers() {
        let mirrored = markings(&schema()).unwrap();
        let [region, n, on] = mirrored.as_slice() else { panic!("{mirrored:?}") };
        let arguments = r#"{"region":"é","n":42,"deep":{"on":false}}"#;
        let table: [(&Mirrored, Option<&str>, bool); 12] = [
            (region, Some("=?base64?w6k=?="), true),
            (region, Some("=?base64?*?="), false),
            (region, Some("e"), false),
            (region, Some(""), false),
            (region, None, false),
            (n, Some("42"), true),
            (n, Some("42.0"), true),
            (n, Some("4.2e1"), true),
            (n, Some("0x2a"), false),
            (n, Some("43"), false),
            (on, Some("false"), true),
            (on, Some("False"), false),
        ];
        for (one, header, expected) in table {
            assert_eq!(one.agrees(header, arguments), expected, "{} {header:?}", one.header);
        }
        assert!(region.agrees(None, r#"{"region":null}"#) && region.agrees(None, "{}"));
        assert!(!region.agrees(Some("x"), r#"{"region":null}"#) && !region.agrees(Some("x"), "{}"));
        // A text that looks like a number is none.
        assert!(
            !region.agrees(Some("1e3"), r#"{"region":"1000"}"#) && region.agrees(Some("1000"), r#"{"region":"1000"}"#)
        );
        // Two integers that a double does not tell apart.
        assert!(!n.agrees(Some("9007199254740993"), r#"{"n":9007199254740992}"#));
    }

    #[test]
    fn markings_that_cannot_be_obeyed_are_named() {
        let property = |schema: Value| json!({"type": "object", "properties": {"a": schema}});
        let cases = [
            (property(json!({"type": "string", "x-mcp-header": ""})), "no name of a header"),
            (property(json!({"type": "string", "x-mcp-header": "a b"})), "no name of a header"),
            (property(json!({"type": "string", "x-mcp-header": "é"})), "no name of a header"),
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

    #[test]
    fn values_that_a_header_cannot_hold_are_encoded() {
        for (value, expected) in [
            ("plain name", "plain name"),
            ("", ""),
            ("é", "=?base64?w6k=?="),
            (" edge", "=?base64?IGVkZ2U=?="),
            ("a\nb", "=?base64?YQpi?="),
            ("=?base64?x?=", "=?base64?PT9iYXNlNjQ/eD89?="),
        ] {
            assert_eq!(encoded(value), expected);
        }
    }

    #[test]
    fn header_values_are_read_plain_or_wrapped() {
        for (value, expected) in [
            ("notes_get", Some("notes_get")),
            ("=?base64?bm90ZXNfZ2V0?=", Some("notes_get")),
            ("=?base64?w6k=?=", Some("é")),
            ("=?base64?w6k?=", Some("é")),
            ("=?base64?*?=", None),
            ("=?base64?/w==?=", None),
        ] {
            assert_eq!(decoded(value).as_deref(), expected, "{value}");
        }
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded(text in ".*") {
            prop_assert_eq!(decoded(&encoded(&text)), Some(text));
        }
    }
}
