//! Questions as servers send them, well meant and hostile, and what a person makes of them.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::secret::{Redactor, Secret};

#[expect(clippy::needless_pass_by_value, reason = "reads better with json! in place")]
fn form(properties: Value, required: &[&str]) -> Form {
    let schema = json!({"type": "object", "properties": properties, "required": required});
    let params = json!({"message": "Tell me", "requestedSchema": schema});
    read(&params.to_string(), &Redactor::default()).unwrap()
}

fn refused(params: &Value) -> String {
    read(&params.to_string(), &Redactor::default()).unwrap_err().to_string()
}

fn content(form: &Form, entered: &[Entered]) -> Result<Value, Vec<(usize, String)>> {
    match form.compose(entered) {
        Ok(content) => Ok(serde_json::from_str(&content.json).unwrap()),
        Err(wrong) => Err(wrong.into_iter().map(|wrong| (wrong.field, wrong.text)).collect()),
    }
}

fn text(text: &str) -> Entered {
    Entered::Text(text.to_owned())
}

#[test]
fn every_kind_of_field_is_read_with_what_it_suggests() {
    let titled = json!([{"const": "r", "title": "Red"}, {"const": "g", "title": "Green"}]);
    let form = form(
        json!({
            "name": {"type": "string", "title": "Your name", "description": "As on\nthe door", "default": "Ada"},
            "age": {"type": "integer", "minimum": 18, "maximum": 99, "default": 42},
            "share": {"type": "number"},
            "agree": {"type": "boolean", "default": false},
            "size": {"type": "string", "enum": ["s", "m"], "enumNames": ["Small", "Medium"], "default": "m"},
            "colour": {"type": "string", "oneOf": titled},
            "tags": {"type": "array", "items": {"type": "string", "enum": ["a", "b", "c"]}, "default": ["c", "a", "x"]},
            "paints": {"type": "array", "items": {"anyOf": titled}, "minItems": 1, "maxItems": 2},
            "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}], "title": "Perhaps", "default": null},
            "either": {"type": ["string", "null"]},
        }),
        &["name", "age", "maybe"],
    );
    let shown: Vec<(&str, &str, Need)> =
        form.fields.iter().map(|field| (&*field.label, &*field.about, field.need)).collect();
    assert_eq!(shown[0], ("Your name", "As on the door", Need::Required));
    assert_eq!(shown[2], ("share", "", Need::Optional));
    assert_eq!(shown[8], ("Perhaps", "", Need::Optional), "what may be null may be left out");
    let begun: Vec<Entered> = form.fields.iter().map(Field::begin).collect();
    let expected = [
        text("Ada"),
        text("42"),
        text(""),
        Entered::Switch(Some(false)),
        Entered::One(Some(1)),
        Entered::One(None),
        Entered::Many(vec![0, 2]),
        Entered::Many(Vec::new()),
        text(""),
        text(""),
    ];
    assert_eq!(begun, expected);
    let Kind::One { choices, .. } = &form.fields[4].kind else { panic!("{:?}", form.fields[4]) };
    assert_eq!((&*choices[1].label, &*choices[1].value), ("Medium", "m"));
    let sent = content(&form, &begun).unwrap();
    assert_eq!(sent, json!({"name": "Ada", "age": 42, "agree": false, "size": "m", "tags": ["a", "c"]}));
}

#[test]
fn what_does_not_fit_is_named_field_by_field() {
    let properties = json!({
        "name": {"type": "string", "minLength": 2, "maxLength": 3},
        "mail": {"type": "string", "format": "email"},
        "site": {"type": "string", "format": "uri"},
        "day": {"type": "string", "format": "date"},
        "at": {"type": "string", "format": "date-time"},
        "count": {"type": "integer", "minimum": 1, "maximum": 9},
        "share": {"type": "number", "minimum": 0.5},
        "ok": {"type": "boolean"},
        "one": {"type": "string", "enum": ["a"]},
        "some": {"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 1, "maxItems": 1},
    });
    let form = form(properties, &["name", "ok", "one", "some"]);
    let cases = [
        (0, text("é"), "needs at least 2 characters; it has 1"),
        (0, text("éééé"), "takes at most 3 characters; it has 4"),
        (0, text("  "), "has to be filled in"),
        (1, text("a b@c"), "has to be an e-mail address"),
        (2, text("example.com"), "has to be an address with its scheme, https://…"),
        (3, text("2026-02-30"), "has to be a date, 2026-11-30"),
        (4, text("2026-11-30 14:03"), "has to be a date and time, 2026-11-30T14:03:00Z"),
        (5, text("1.5"), "has to be a whole number, 42"),
        (5, text("1e3"), "has to be a whole number, 42"),
        (5, text("007"), "has to be a whole number, 42"),
        (5, text("10"), "has to be 9 or less"),
        (5, text("-1"), "has to be 1 or more"),
        (6, text("NaN"), "has to be a number, 42 or 4.2"),
        (6, text("1e999"), "has to be a number, 42 or 4.2"),
        (6, text("0.49"), "has to be 0.5 or more"),
        (7, Entered::Switch(None), "has to be filled in"),
        (8, Entered::One(None), "has to be filled in"),
        (8, Entered::One(Some(7)), "is none of the choices"),
        (8, text("a"), "was filled in as another kind of field"),
        (9, Entered::Many(Vec::new()), "has to be filled in"),
        (9, Entered::Many(vec![0, 1]), "takes at most 1 choice; it has 2"),
    ];
    let fits = [
        text("ééé"),
        text("ada@example.com"),
        text("https://example.com"),
        text("2026-02-28"),
        text("2026-11-30T14:03:00+01:00"),
        text(" 9 "),
        text("1.50"),
        Entered::Switch(Some(true)),
        Entered::One(Some(0)),
        Entered::Many(vec![1]),
    ];
    assert!(form.compose(&fits).unwrap().json.contains("\"share\":1.50"), "numbers go out as they were written");
    for (place, entered, words) in cases {
        let mut all = fits.clone();
        all[place] = entered.clone();
        assert_eq!(content(&form, &all), Err(vec![(place, words.to_owned())]), "{entered:?}");
    }
    assert_eq!(form.compose(&[]).unwrap_err().len(), 4, "all that is missing, at once");
}

#[test]
fn a_form_without_fields_is_a_question_to_agree_to() {
    let form = form(json!({}), &[]);
    assert_eq!(content(&form, &[]), Ok(json!({})));
}

#[test]
fn what_is_more_than_a_flat_form_is_refused_with_a_reason() {
    let with = |schema: Value| json!({"message": "m", "requestedSchema": schema});
    let field = |schema: Value| with(json!({"type": "object", "properties": {"x": schema}}));
    let many = |count: usize| (0..count).map(|n| (format!("f{n}"), json!({"type": "boolean"}))).collect::<Value>();
    let cases = [
        (json!({"mode": "url", "url": "https://evil", "message": "m"}), "mode \"url\""),
        (json!({"message": "m"}), "no flat object"),
        (json!({"message": " ", "requestedSchema": {"type": "object"}}), "no message"),
        (json!({"requestedSchema": {"type": "object"}}), "no message"),
        (json!([1]), "no message"),
        (with(json!({"type": "string"})), "no flat object"),
        (with(json!({"type": "object", "properties": [1]})), "no flat object"),
        (with(json!({"$ref": "#/x"})), "no flat object"),
        (with(json!({"type": "object", "properties": many(25)})), "more than 24 fields"),
        (field(json!({"type": "object", "properties": {}})), "\"x\" is no text"),
        (field(json!({"type": "array", "items": {"type": "object"}})), "\"x\" is no text"),
        (field(json!({"type": "array", "items": {"type": "string"}})), "\"x\" is no text"),
        (field(json!({"$ref": "#"})), "\"x\" is no text"),
        (field(json!({"type": "string", "enum": [1, 2]})), "\"x\" is no text"),
        (field(json!({"type": "string", "enum": []})), "\"x\" has no choices"),
        (field(json!({"type": "string", "enum": vec!["a"; 65]})), "\"x\" has no choices"),
        (field(json!({"type": "string", "enum": ["a".repeat(2_000)]})), "\"x\" has no choices"),
        (with(json!({"type": "object", "properties": {"": {"type": "string"}}})), "a field's name"),
        (with(json!({"type": "object", "properties": {"n".repeat(200): {"type": "string"}}})), "a field's name"),
        (json!({"message": "m".repeat(80_000), "requestedSchema": {"type": "object"}}), "longer than 64 KiB"),
    ];
    for (params, words) in cases {
        assert!(refused(&params).contains(words), "{words}: {}", refused(&params));
    }
}

#[test]
fn the_servers_words_are_cleaned_redacted_and_cut_where_it_shows() {
    let redactor = Redactor::default();
    redactor.learn([Secret::new("hunter2hunter2")]);
    let hostile = "\u{1b}[2JApprove?\u{202e} y\nyour hun\u{7}ter2hunter2 or hunter2hunter2";
    let long = "w ".repeat(3_000);
    let params = |message: &str| {
        let property = json!({"type": "string", "title": hostile, "description": hostile, "default": "a\u{202e}b"});
        json!({"message": message, "requestedSchema": {"type": "object", "properties": {"a\u{1b}[31m": property}}})
    };
    let form = read(&params(hostile).to_string(), &redactor).unwrap();
    assert_eq!(form.message.len(), 2);
    let field = &form.fields[0];
    let all = [&*form.message.concat(), &*field.label, &*field.about].concat();
    assert!(!crate::text::has_hidden(&all) && !all.contains("hunter2hunter2"), "{all}");
    assert_eq!(field.begin(), text(""), "what cannot be seen is not sent");
    assert_eq!(&*field.name, "a\u{1b}[31m", "the name goes back as it came");
    let form = read(&params(&long).to_string(), &redactor).unwrap();
    assert!(form.message.last().unwrap().starts_with("… cut here: "), "{:?}", form.message.last());
    let form = read(&params(&"x\n".repeat(1_000)).to_string(), &redactor).unwrap();
    assert_eq!(form.message.last().unwrap().as_ref(), "… cut here: 0 characters and 940 lines more");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever a server sends, and whatever somebody makes of the form: an answer or a reason, never a panic.
    #[test]
    fn any_question_is_read_or_refused(schema in arbitrary_json(), typed in ".{0,8}", place in 0_usize..4) {
        let params = json!({"message": typed, "requestedSchema": {"type": "object", "properties": {"a": schema}}});
        if let Ok(form) = read(&params.to_string(), &Redactor::default()) {
            for entered in [text(&typed), Entered::One(Some(place)), Entered::Many(vec![place, place])] {
                if let Ok(content) = form.compose(&[entered]) {
                    prop_assert!(serde_json::from_str::<Value>(&content.json).unwrap().is_object());
                }
            }
        }
    }
}

fn arbitrary_json() -> impl Strategy<Value = Value> {
    let word = prop_oneof![
        Just("string"),
        Just("number"),
        Just("integer"),
        Just("boolean"),
        Just("array"),
        Just("null"),
        Just("a"),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        word.prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 6, |inner| {
        let key = prop_oneof![
            Just("type"),
            Just("enum"),
            Just("oneOf"),
            Just("anyOf"),
            Just("items"),
            Just("default"),
            Just("const"),
            Just("title"),
            Just("minItems"),
            Just("minimum"),
            Just("maxLength"),
            Just("format"),
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key, inner), 0..5)
                .prop_map(|pairs| pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()),
        ]
    })
}

#[test]
fn a_secret_is_not_suggested() {
    let redactor = Redactor::default();
    redactor.learn([Secret::new("canary-3f9a1c77"), Secret::new("73519046218")]);
    let suggested = |kind: &str, default: Value| {
        let schema = json!({"type": "object", "properties": {"a": {"type": kind, "default": default}}});
        let form = read(&json!({"message": "m", "requestedSchema": schema}).to_string(), &redactor).unwrap();
        match &form.fields[0].kind {
            Kind::Text { default, .. } | Kind::Number { default, .. } => default.to_string(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(suggested("string", json!("plain")), "plain");
    assert_eq!(suggested("string", json!("the canary-3f9a1c77 of ours")), "");
    assert_eq!(suggested("integer", json!(7)), "7");
    assert_eq!(suggested("integer", json!(73_519_046_218_u64)), "");
}
