//! The strict reader and the canonical writer: tables for every refusal, properties for everything else.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::any_json;
use crate::tool::json::*;

fn canonical(text: &str) -> Result<String, JsonError> {
    Document::parse(text, 4096).map(|document| document.canonical())
}

#[test]
fn canonical_form() {
    for (text, expected) in [
        (" null ", "null"),
        ("[ ]", "[]"),
        ("{ }", "{}"),
        ("[1 , 2,\n3]", "[1,2,3]"),
        (r#"{"b":1,"a":[{"d":true,"c":null}]}"#, r#"{"a":[{"c":null,"d":true}],"b":1}"#),
        (r#"{"n":[1.10,-0,9007199254740993,1E2]}"#, r#"{"n":[1.10,-0,9007199254740993,1E2]}"#),
        (r#""\u0061\/\u001F\u000a\b\f\n\r\t\"\\""#, r#""a/\u001f\n\b\f\n\r\t\"\\""#),
        (r#""\ud83d\ude00\u00e9 é \u2028""#, "\"😀é é \u{2028}\""),
        (r#""\u007f""#, "\"\u{7f}\""),
        // U+FB33 sorts after U+1F600, whose first code unit is D83D.
        ("{\"\u{fb33}\":1,\"😀\":2,\"é\":3}", "{\"é\":3,\"😀\":2,\"\u{fb33}\":1}"),
        (r#"{"":1,"\u0000":2}"#, r#"{"":1,"\u0000":2}"#),
    ] {
        assert_eq!(canonical(text).as_deref(), Ok(expected), "{text}");
    }
}

#[test]
fn the_keys_of_rfc_8785_are_sorted_as_in_its_example() {
    let text = r#"{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew","1":"One",
        "\ud83d\ude00":"Emoji","\u0080":"Control","\u00f6":"o"}"#;
    let expected = "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u{80}\":\"Control\",\"ö\":\"o\",\
        \"€\":\"Euro Sign\",\"😀\":\"Emoji\",\"\u{fb33}\":\"Hebrew\"}";
    assert_eq!(canonical(text).as_deref(), Ok(expected));
}

#[test]
fn refusals_say_what_and_where() {
    for (text, reason, at) in [
        ("", "the text ends early", 0),
        ("  ", "the text ends early", 2),
        ("{", "the text ends early", 1),
        ("[1,", "the text ends early", 3),
        ("[1,]", "a value is missing", 3),
        (r#"{"a":1,}"#, "a key in double quotes is missing", 7),
        ("{a:1}", "a key in double quotes is missing", 1),
        (r#"{"a" 1}"#, "a colon is missing", 5),
        (r#"{"a":1 "b":2}"#, "a comma or } is missing", 7),
        ("[1 2]", "a comma or ] is missing", 3),
        ("[1}", "a comma or ] is missing", 2),
        ("{} {}", "something follows the value", 3),
        ("nul", "an unknown word", 0),
        ("True", "a value is missing", 0),
        ("\u{feff}{}", "a value is missing", 0),
        ("[NaN]", "a value is missing", 1),
        ("[+1]", "a value is missing", 1),
        ("[.5]", "a value is missing", 1),
        ("[01]", "a number starts with a zero too many", 1),
        ("[1.]", "a digit is missing after the point", 3),
        ("[1e]", "a digit is missing in the exponent", 3),
        ("[-]", "a digit is missing", 2),
        ("\"abc", "a string is not closed", 4),
        ("\"a\nb\"", "a control character in a string is not escaped", 2),
        (r#""a\x""#, "an unknown escape", 2),
        (r#""\u12g4""#, "four hexadecimal digits are missing", 1),
        (r#""\u+123""#, "four hexadecimal digits are missing", 1),
        (r#""\ud800""#, "a lone surrogate is not a character", 1),
        (r#""x\udc00""#, "a lone surrogate is not a character", 2),
        (r#""\ud800\u0041""#, "a lone surrogate is not a character", 1),
        (r#""\ud800\ud800\udc00""#, "a lone surrogate is not a character", 1),
        ("// comment\n{}", "a value is missing", 0),
        ("'a'", "a value is missing", 0),
    ] {
        assert_eq!(canonical(text), Err(JsonError::Syntax { reason, at }), "{text:?}");
    }
}

#[test]
fn one_key_twice_is_refused_however_it_is_spelled() {
    for (text, key, at) in [
        (r#"{"p":"a","p":"b"}"#, "p", 9),
        (r#"{"a":1,"\u0061":1}"#, "a", 7),
        (r#"{"x":{"k":1,"j":2,"k":3}}"#, "k", 18),
        (r#"{"":1,"b":2,"":3,"b":4}"#, "", 12),
    ] {
        assert_eq!(canonical(text), Err(JsonError::DuplicateKey { key: key.to_owned(), at }), "{text}");
    }
    assert!(canonical(r#"{"a":{"a":{"a":1}},"A":2}"#).is_ok(), "the same key at other levels is fine");
}

#[test]
fn a_number_that_would_change_is_refused() {
    let refused = JsonError::InexactNumber { number: "1e400".to_owned(), at: 5 };
    assert_eq!(canonical(r#"{"n":1e400}"#), Err(refused));
}

#[test]
fn depth_is_counted_in_containers() {
    let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    assert!(Document::parse(&nested(7), 7).is_ok());
    assert_eq!(Document::parse(&nested(8), 7).err(), Some(JsonError::TooDeep));
    assert!(Document::parse("1", 0).is_ok(), "a plain value is no level");
}

#[test]
fn values_in_memory_have_the_same_form() {
    let a = json!({"b": [1, 2.5, null], "a": {"é": "x\n", "c": true}});
    let b: Value = serde_json::from_str(r#"{"a":{"c":true,"é":"x\n"},"b":[1,2.5,null]}"#).unwrap();
    assert_eq!(canonical_value(&a), canonical_value(&b));
    assert_eq!(canonical_value(&a), r#"{"a":{"c":true,"é":"x\n"},"b":[1,2.5,null]}"#);
    assert_eq!(canonical_value(&json!([])), "[]");
}

proptest! {
    #[test]
    fn any_text_is_answered_without_a_panic(text in any::<String>()) {
        let _ = canonical(&text);
    }

    #[test]
    fn text_of_json_pieces_is_accepted_only_when_serde_accepts_it(
        pieces in prop::collection::vec(prop::sample::select(vec![
            "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u", "d83d", "\\ude00", "0061", "a", "1", "-", ".", "e", "0",
            "true", "null", " ", "\n", "\"a\":", "\"b\"", "é",
        ]), 0..14)
    ) {
        let text = pieces.concat();
        match canonical(&text) {
            Ok(form) => {
                let theirs: Value = serde_json::from_str(&text).expect("we accept only JSON");
                let ours: Value = serde_json::from_str(&form).expect("the canonical form is JSON");
                prop_assert_eq!(theirs, ours);
            }
            Err(JsonError::Syntax { reason, .. }) => {
                prop_assert!(serde_json::from_str::<Value>(&text).is_err(), "{} {}", text, reason);
            }
            Err(_) => {}
        }
    }

    #[test]
    fn whatever_serde_writes_is_accepted_and_means_the_same(value in any_json()) {
        let text = value.to_string();
        let form = canonical(&text).expect("serde writes no duplicate keys and only shortest doubles");
        let again: Value = serde_json::from_str(&form).unwrap();
        let first: Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(&first, &again);
        prop_assert_eq!(canonical(&form), Ok(form.clone()), "canonical text is its own canonical form");
        prop_assert_eq!(canonical_value(&value), form);
    }
}
