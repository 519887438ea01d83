//! Layout of JSON: nothing lost, nothing too wide.

use std::sync::Arc;

use proptest::prelude::*;

use super::{JsonView, Shape};
use crate::tui::widgets::paint::{row_text, row_width};

fn laid(text: &str, shape: Shape, width: usize) -> JsonView {
    let mut view = JsonView::new(Arc::from(text), shape);
    view.layout(width);
    view
}

fn lines(view: &JsonView) -> Vec<String> {
    (0..view.rows()).map(|index| row_text(&view.row(index))).collect()
}

/// What is left of the text without spaces outside of what was drawn.
fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

#[test]
fn fields_stand_in_two_columns() {
    let view = laid(r#"{"branch":"main","force":true,"repo":"acme/api"}"#, Shape::Fields, 40);
    assert_eq!(lines(&view), ["branch  \"main\"", "force   true", "repo    \"acme/api\""]);
    assert_eq!(view.fields(), 3);
    assert!(!view.hidden());
}

#[test]
fn a_name_that_could_mislead_keeps_its_quotes() {
    let view = laid(r#"{"":1,"a b":2,"c":3}"#, Shape::Fields, 40);
    assert_eq!(lines(&view), ["\"\"     1", "\"a b\"  2", "c      3"]);
}

#[test]
fn small_containers_stay_on_the_line_and_large_ones_open_up() {
    let text = r#"{"ids":[1,2,3],"opts":{"alpha":"aaaaaaaaaaaaaaaa","beta":"bbbbbbbbbbbbbbbbbbb"}}"#;
    let view = laid(text, Shape::Fields, 40);
    assert_eq!(
        lines(&view),
        [
            "ids   [1, 2, 3]",
            "opts  {",
            "        \"alpha\": \"aaaaaaaaaaaaaaaa\",",
            "        \"beta\": \"bbbbbbbbbbbbbbbbbbb\"",
            "      }",
        ]
    );
}

#[test]
fn the_end_of_a_long_string_is_there() {
    let text = format!(r#"{{"body":"{} rm -rf / --no-preserve-root"}}"#, "x".repeat(12 << 10));
    let view = laid(&text, Shape::Fields, 80);
    let all: String = lines(&view).iter().map(|line| line.trim_start().to_owned()).collect();
    assert!(all.ends_with("rm -rf / --no-preserve-root\""), "the last bytes are reachable");
    assert!(lines(&view).iter().all(|line| line.chars().count() <= 80));
}

#[test]
fn deep_nesting_becomes_running_text() {
    let text = format!(r#"{{"deep":{}{}}}"#, "[".repeat(3000), "]".repeat(3000));
    let view = laid(&text, Shape::Fields, 80);
    assert!(view.rows() < 400, "{} rows", view.rows());
    let all: String = lines(&view).concat();
    assert_eq!((all.matches('[').count(), all.matches(']').count()), (3000, 3000));
}

#[test]
fn line_breaks_in_strings_are_shown_and_break_the_line() {
    let view = laid(r#"{"text":"one\ntwo\n"}"#, Shape::Fields, 40);
    assert_eq!(lines(&view), ["text  \"one\\n", "      two\\n\""]);
    assert!(!view.hidden());
}

#[test]
fn text_in_an_object_cannot_pass_for_a_member() {
    let text = r#"{"o":{"a":"xxxxxxxxxxxxxxxxxxxxxxxx\nb: 1","c":true,"d":"yyyyyyyyyyyyyyyyyyyyy"}}"#;
    let lines = lines(&laid(text, Shape::Fields, 40));
    let column = |what: &str| lines.iter().find_map(|line| line.find(what)).unwrap();
    assert!(column("b: 1") > column("\"c\""), "{lines:?}");
}

#[test]
fn escapes_and_hidden_characters_are_noticed() {
    for text in [r#"{"a":"\u001b[31m"}"#, r#"{"a":"x\ry"}"#, "{\"a\":\"\u{9b}2J\"}"] {
        let view = laid(text, Shape::Fields, 40);
        assert!(view.hidden(), "{text:?}");
        assert!(lines(&view).concat().chars().all(|c| !c.is_control()));
    }
    assert!(!laid(r#"{"a":"tab\tand \"quotes\" and \\ and é"}"#, Shape::Fields, 40).hidden());
}

#[test]
fn a_tower_of_marks_is_shown_mark_by_mark() {
    let view = laid(&format!("{{\"a\":\"e{}end\"}}", "\u{301}".repeat(200)), Shape::Fields, 40);
    let all: String = lines(&view).iter().map(|line| line.trim_start().to_owned()).collect();
    assert_eq!(all.matches("\\u{301}").count(), 200);
    assert!(all.ends_with("end\"") && view.hidden());
}

#[test]
fn a_big_text_costs_few_rows_and_is_whole() {
    let text = format!(r#"{{"n":[{}0]}}"#, "0,".repeat(700_000));
    let view = laid(&text, Shape::Fields, 100);
    assert!(view.rows() < 16_000, "{} rows", view.rows());
    let zeros: usize = (0..view.rows()).map(|index| row_text(&view.row(index)).matches('0').count()).sum();
    assert_eq!(zeros, 700_001);
}

fn json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(serde_json::Value::from),
        any::<i64>().prop_map(serde_json::Value::from),
        ".{0,40}".prop_map(serde_json::Value::from),
        "[a-z \u{202e}\u{200b}\u{301}\u{1f468}\u{200d}\u{ac00}\\n\\t\u{9b}\u{1f1e9}]{0,60}"
            .prop_map(serde_json::Value::from),
    ];
    leaf.prop_recursive(6, 60, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(serde_json::Value::from),
            prop::collection::vec((".{0,12}", inner), 0..6)
                .prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn every_character_is_drawn_within_the_width(value in json(), width in 0_usize..90) {
        let text = value.to_string();
        let view = laid(&text, Shape::Document, width);
        let drawn: String = lines(&view).concat();
        let expected: String = super::units(&text).map(|unit| super::shown(unit.text()).0.into_owned()).collect();
        prop_assert_eq!(squeezed(&drawn), squeezed(&expected));
        for index in 0..view.rows() {
            let row = view.row(index);
            prop_assert!(row_width(&row) <= width.max(JsonView::MIN_WIDTH), "{:?}", row);
            prop_assert!(row_text(&row).chars().all(|c| !c.is_control()));
        }
    }

    #[test]
    fn any_text_at_all_is_survived(text in "\\PC{0,80}", width in 0_usize..60) {
        let view = laid(&text, Shape::Fields, width);
        for index in 0..=view.rows() {
            let _ = view.row(index);
        }
    }
}
