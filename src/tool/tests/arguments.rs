//! Arguments: one canonical value whatever the caller's spelling, and the refusals with their offsets.

use std::time::Instant;

use proptest::prelude::*;
use serde_json::Value;

use super::any_json;
use crate::tool::arguments::*;

fn canonical(text: &str) -> String {
    Arguments::parse(text).expect("accepted").canonical().to_owned()
}

#[test]
fn spelling_does_not_change_the_value() {
    let a = Arguments::parse(r#"{ "path" : "/a", "n" : [ 1.10 , -0 ] }"#).unwrap();
    let b = Arguments::parse("{\"n\":[1.10,-0],\n\"p\\u0061th\":\"\\/a\"}").unwrap();
    assert_eq!(a, b);
    assert_eq!(a.canonical(), r#"{"n":[1.10,-0],"path":"/a"}"#);
    assert_eq!(a.digest(), Digest::of(a.canonical().as_bytes()));
    assert_eq!(a.len_bytes(), a.canonical().len());
    let other = Arguments::parse(r#"{"path":"/a","n":[1.1,-0]}"#).unwrap();
    assert_ne!(a.digest(), other.digest(), "numbers count as they were written");
}

#[test]
fn refusals() {
    use ArgumentsError::{DuplicateKey, InexactNumber, NotAnObject, Syntax};
    for (text, expected) in [
        ("[1]", NotAnObject),
        ("null", NotAnObject),
        ("\"{}\"", NotAnObject),
        ("{\"a\":}", Syntax { reason: "a value is missing", at: 5 }),
        (r#"{"s":"\ud83d"}"#, Syntax { reason: "a lone surrogate is not a character", at: 6 }),
        (r#"{"p":"a","p":"b"}"#, DuplicateKey { key: "p".to_owned(), at: 9 }),
        (r#"{"\u202e":1,"\u202e":2}"#, DuplicateKey { key: r"\u{202e}".to_owned(), at: 12 }),
        (r#"{"n":9007199254740993.0}"#, InexactNumber { number: "9007199254740993.0".to_owned(), at: 5 }),
    ] {
        assert_eq!(Arguments::parse(text), Err(expected), "{text}");
    }
    let long = format!("{{\"n\":{}.5}}", "9".repeat(500));
    let Err(InexactNumber { number, .. }) = Arguments::parse(&long) else { panic!("a long number is inexact") };
    assert_eq!(number.len(), 80);
}

#[test]
fn caps() {
    let nested = |levels: usize| format!("{{\"a\":{}{}}}", "[".repeat(levels - 1), "]".repeat(levels - 1));
    let deepest = Arguments::parse(&nested(Arguments::MAX_DEPTH)).expect("the cap itself is allowed");
    assert_eq!(deepest.canonical(), nested(Arguments::MAX_DEPTH));
    assert_eq!(Arguments::parse(&nested(Arguments::MAX_DEPTH + 1)), Err(ArgumentsError::TooDeep));
    let sized = |bytes: usize| format!("{{\"a\":\"{}\"}}", "x".repeat(bytes - 8));
    assert_eq!(Arguments::parse(&sized(Arguments::MAX_BYTES)).expect("the cap itself").len_bytes(), 16 << 20);
    assert_eq!(Arguments::parse(&sized(Arguments::MAX_BYTES + 1)), Err(ArgumentsError::TooLong));
}

#[test]
fn deep_objects_fit_a_small_stack_and_linear_time() {
    let text = format!("{}1{}", "{\"b\":0,\"a\":".repeat(Arguments::MAX_DEPTH), "}".repeat(Arguments::MAX_DEPTH));
    let small = std::thread::Builder::new().stack_size(256 << 10);
    let started = Instant::now();
    let parsed = small.spawn(move || Arguments::parse(&text).map(|a| a.with_confirm().len_bytes())).unwrap();
    assert!(parsed.join().expect("no overflow").is_ok());
    assert!(started.elapsed().as_secs() < 5, "nesting must not cost quadratic time");
}

#[test]
fn confirm_is_set_at_the_top_only() {
    for (text, expected) in [
        ("{}", r#"{"confirm":true}"#),
        (r#"{"confirm":false}"#, r#"{"confirm":true}"#),
        (r#"{"confirm":"yes","a":1,"z":2}"#, r#"{"a":1,"confirm":true,"z":2}"#),
        (r#"{"c\u006fnfirm":{"a":[1,2]},"b":3}"#, r#"{"b":3,"confirm":true}"#),
        (
            r#"{"o":{"confirm":false,"x":[1,{"y":2}]},"s":"},\"confirm\":0,{"}"#,
            r#"{"confirm":true,"o":{"confirm":false,"x":[1,{"y":2}]},"s":"},\"confirm\":0,{"}"#,
        ),
        (r#"{"\"":1,"a\\":2,"Confirm":3,"confirms":4}"#, r#"{"\"":1,"Confirm":3,"a\\":2,"confirm":true,"confirms":4}"#),
        ("{\"\u{ffff}\":1,\"\":2}", "{\"\":2,\"confirm\":true,\"\u{ffff}\":1}"),
    ] {
        let before = Arguments::parse(text).unwrap();
        let after = before.with_confirm();
        assert_eq!(after.canonical(), expected, "{text}");
        assert_eq!(after, Arguments::parse(expected).unwrap(), "hash and order as if it had been sent");
        assert_eq!(after.with_confirm(), after);
    }
    assert_eq!(Arguments::empty().canonical(), "{}");
    assert_eq!(Arguments::empty(), Arguments::parse(" { } ").unwrap());
}

#[test]
fn debug_shows_no_value() {
    let shown = format!("{:?}", Arguments::parse(r#"{"token":"hunter2hunter2"}"#).unwrap());
    assert!(!shown.contains("hunter2"), "{shown}");
    assert!(shown.starts_with("Arguments(26 bytes, "), "{shown}");
}

fn members() -> impl Strategy<Value = Vec<(String, Value)>> {
    let member = (any::<String>(), any_json());
    prop::collection::vec(member, 0..8).prop_map(|mut members| {
        members.sort_by(|a, b| a.0.cmp(&b.0));
        members.dedup_by(|a, b| a.0 == b.0);
        members
    })
}

fn object_text(members: &[(String, Value)]) -> String {
    let shown = members.iter().map(|(key, value)| format!("{}: {value}", Value::from(key.as_str())));
    format!("{{ {} }}", shown.collect::<Vec<_>>().join(" ,\t"))
}

proptest! {
    #[test]
    fn any_order_of_keys_has_one_digest(
        (members, shuffled) in members().prop_flat_map(|m| (Just(m.clone()), Just(m).prop_shuffle()))
    ) {
        let a = Arguments::parse(&object_text(&members)).unwrap();
        let b = Arguments::parse(&object_text(&shuffled)).unwrap();
        prop_assert_eq!(a.digest(), b.digest());
        prop_assert_eq!(canonical(a.canonical()), a.canonical());
    }

    #[test]
    fn confirm_changes_nothing_else(members in members()) {
        let before = Arguments::parse(&object_text(&members)).unwrap();
        let after = before.with_confirm();
        let mut expected: Value = serde_json::from_str(before.canonical()).unwrap();
        expected["confirm"] = Value::Bool(true);
        prop_assert_eq!(serde_json::from_str::<Value>(after.canonical()).unwrap(), expected);
        prop_assert_eq!(canonical(after.canonical()), after.canonical());
    }
}
