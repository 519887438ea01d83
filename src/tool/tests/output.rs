//! Results: nothing of value is lost, nothing harmful is left, and only what is no result becomes an error.

use proptest::prelude::*;

use serde_json::{Value, json};

use super::any_json;
use crate::secret::{Redactor, Secret};
use crate::tool::output::*;

fn read(result: &Value) -> CallOutput {
    let redactor = Redactor::default();
    redactor.learn([Secret::new("known-secret")]);
    read_result(result.clone(), &redactor)
}

fn text_of(text: &str) -> CallOutput {
    read(&json!({"content": [{"type": "text", "text": text}]}))
}

#[test]
fn an_ordinary_result_passes_unchanged() {
    let content = json!([
        {"type": "text", "text": "a\n\tb\r\n", "annotations": {"audience": ["system"], "priority": 0.5}},
        {"type": "hologram", "shape": {"n": [1, 2.50, null]}, "extra": true},
        {"type": "image", "data": "AAECAw==", "mimeType": "image/png"},
        "not even a block",
    ]);
    let structured = json!({"rows": [{"id": 1}], "ünï": "日本"});
    let output = read(&json!({"content": content, "structuredContent": structured, "_meta": {"x": 1}, "extra": 1}));
    assert_eq!(output.content, *content.as_array().unwrap());
    assert_eq!(output.structured, Some(structured));
    assert_eq!((output.is_error, output.notes), (false, vec![]));
}

#[test]
fn is_error_is_the_tools_own() {
    for (stated, expected) in [(json!(true), true), (json!(false), false), (Value::Null, false), (json!("true"), false)]
    {
        let output = read(&json!({"content": [{"type": "text", "text": "no"}], "isError": stated}));
        assert_eq!(output.is_error, expected, "{stated}");
        assert_eq!(as_text(&output), "no");
    }
}

#[test]
fn controls_are_stripped_before_secrets_are_looked_for() {
    for (text, expected, notes) in [
        ("\u{1b}[31mred\u{1b}[0m\u{7}\u{7f}\u{b}\u{c}", "[31mred[0m", vec![]),
        ("a\u{9b}b\u{85}c", "abc", vec![]),
        ("keep\n\tthis\r", "keep\n\tthis\r", vec![]),
        ("is known-secret.", "is [REDACTED:secret].", vec![OutputNote::SecretsRedacted]),
        ("known\u{1}-sec\u{9b}ret", "[REDACTED:secret]", vec![OutputNote::SecretsRedacted]),
        ("ghp_abcdefghijklmnopqr\u{8}stuvwxyz0123456789", "[REDACTED:github-token]", vec![OutputNote::SecretsRedacted]),
    ] {
        let output = text_of(text);
        assert_eq!(as_text(&output), expected, "{text:?}");
        assert_eq!(output.notes, notes, "{text:?}");
    }
}

#[test]
fn every_leaf_is_cleaned() {
    let output = read(&json!({
        "content": [
            {"type": "resource", "resource": {"uri": "x:known-secret", "text": "known-secret"}},
            {"type": "odd", "deep": [[{"k": "known-secret", "known-secret": "\u{1b}x"}]]},
            {"type": "odd", "data": "known-secret"},
        ],
        "structuredContent": {"list": ["known-secret"]},
    }));
    let all = format!("{output:?}");
    assert!(!all.contains("known-secret") && !all.contains("\\u{1b}"), "{all}");
    assert_eq!(output.notes, [OutputNote::SecretsRedacted], "one note, however many secrets");
}

#[test]
fn base64_is_left_alone_but_only_where_it_is_base64() {
    // Redaction would find `known-secret` in these if it looked.
    let encoded = "a25vd24tc2VjcmV0";
    for block in [
        json!({"type": "image", "data": encoded, "mimeType": "image/png"}),
        json!({"type": "audio", "data": encoded}),
        json!({"type": "resource", "resource": {"uri": "a:b", "blob": encoded}}),
    ] {
        let output = read(&json!({"content": [block]}));
        assert_eq!(output.content, [block]);
        assert_eq!(output.notes, []);
    }
    let text = read(&json!({"content": [{"type": "image", "data": "this is known-secret"}]}));
    assert_eq!(text.content[0]["data"], "this is [REDACTED:secret]");
    let elsewhere = read(&json!({"content": [{"type": "text", "text": encoded}]}));
    assert_eq!(as_text(&elsewhere), "[REDACTED:secret]");
}

#[test]
fn binary_is_refused_wherever_it_is() {
    for result in [
        json!({"content": [{"type": "text", "text": "a\u{0}b"}]}),
        json!({"content": [{"type": "odd", "x": {"a\u{0}": 1}}]}),
        json!({"content": [{"type": "image", "data": "\u{0}"}]}),
        json!({"content": [], "structuredContent": ["\u{0}"]}),
    ] {
        let output = read(&result);
        assert!(output.is_error);
        assert_eq!(output.notes, [OutputNote::BinaryRefused]);
        assert_eq!(output.structured, None);
        assert!(as_text(&output).contains("binary data"));
    }
}

#[test]
fn what_is_no_result_becomes_an_error() {
    for result in [json!(null), json!([]), json!("text"), json!({"content": "text"}), json!({"content": {}})] {
        let output = read(&result);
        assert!(output.is_error, "{result}");
        assert!(as_text(&output).contains("not a result"), "{result}");
    }
    let asked = read(&json!({"resultType": "input_required", "inputRequests": {"a": {}}}));
    assert!(asked.is_error);
    assert_eq!(asked.notes, [OutputNote::InputRequired]);
    assert!(as_text(&asked).contains("interactive input"));
    assert_eq!(refused(OutputNote::InvalidUtf8).notes, [OutputNote::InvalidUtf8]);
    assert!(as_text(&refused(OutputNote::InvalidUtf8)).contains("invalid data"));
}

#[test]
fn blocks_as_text() {
    for (block, expected) in [
        (json!({"type": "text", "text": " verbatim \n"}), " verbatim \n"),
        (json!({"type": "resource", "resource": {"uri": "a:b", "text": "body"}}), "body"),
        (
            json!({"type": "resource", "resource": {"uri": "a:b", "blob": "AA==", "mimeType": "x/y"}}),
            "[resource: a:b (x/y)]",
        ),
        (json!({"type": "resource", "resource": {"blob": "AA=="}}), "[resource: (unknown)]"),
        (
            json!({"type": "resource_link", "uri": "a:b", "name": "n", "mimeType": "x/y"}),
            "[resource_link: a:b n (x/y)]",
        ),
        (json!({"type": "resource_link", "uri": "a:b"}), "[resource_link: a:b (unknown)]"),
        (json!({"type": "image", "data": "AA==", "mimeType": "image/png"}), "[image: image/png]"),
        (json!({"type": "audio", "data": "AA=="}), "[audio: unknown]"),
        (json!({"type": "hologram"}), "[unsupported content: hologram]"),
        (json!({}), "[unsupported content: unknown]"),
        (json!(7), "[unsupported content: unknown]"),
    ] {
        assert_eq!(as_text(&read(&json!({"content": [block]}))), expected, "{block}");
    }
}

#[test]
fn texts_are_joined_and_nothing_is_cut() {
    let long = "x".repeat(1_000_000);
    let blocks = json!([{"type": "text", "text": "a"}, {"type": "text", "text": ""}, {"type": "text", "text": long}]);
    assert_eq!(as_text(&read(&json!({"content": blocks}))), format!("a\n{long}"));
    assert_eq!(as_text(&read(&json!({}))), "(the tool gave no output)");
    assert_eq!(
        as_text(&read(&json!({"content": null, "structuredContent": {"b": 1, "a": [2]}}))),
        r#"{"b":1,"a":[2]}"#
    );
    let both = json!({"content": [{"type": "text", "text": "t"}], "structuredContent": {"a": 1}});
    assert_eq!(as_text(&read(&both)), "t");
}

proptest! {
    #[test]
    fn any_value_is_read_and_reading_again_changes_nothing(content in prop::collection::vec(any_json(), 0..4), rest in any_json()) {
        let once = read(&json!({"content": content, "structuredContent": rest}));
        let text = as_text(&once);
        prop_assert!(!text.contains(|c: char| c.is_control() && !"\n\t\r".contains(c)));
        let again = read(&json!({"content": once.content, "structuredContent": once.structured, "isError": once.is_error}));
        prop_assert_eq!(&again.content, &once.content);
        prop_assert_eq!(&again.structured, &once.structured);
        prop_assert_eq!(again.is_error, once.is_error);
        let _ = as_text(&read(&rest));
    }
}
