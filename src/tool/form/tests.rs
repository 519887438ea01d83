//! Drafts and checks of arguments.

use serde_json::{Value, json};

use super::{Problem, Unchecked, check, draft};
use crate::tool::Arguments;

fn drafted(schema: &Value) -> Value {
    serde_json::from_str(&draft(schema)).unwrap()
}

fn checked(schema: &Value, arguments: &Value) -> Result<Vec<Problem>, Unchecked> {
    check(schema, &Arguments::parse(&arguments.to_string()).unwrap())
}

#[test]
fn a_draft_has_what_is_required_and_what_has_a_default() {
    let table = [
        (json!({"type": "object"}), json!({})),
        (
            json!({"type": "object", "required": ["repo", "n", "ok", "list"], "properties": {
                "repo": {"type": "string"}, "n": {"type": "integer", "minimum": 1}, "ok": {"type": "boolean"},
                "list": {"type": "array"}, "optional": {"type": "string"}, "limit": {"type": "integer", "default": 20}}}),
            json!({"repo": "", "n": 1, "ok": false, "list": [], "limit": 20}),
        ),
        (
            json!({"type": "object", "required": ["state", "kind"], "properties": {
                "state": {"enum": ["open", "closed"]}, "kind": {"const": "issue"}}}),
            json!({"state": "open", "kind": "issue"}),
        ),
        (
            json!({"type": "object", "required": ["who"], "properties": {"who": {"$ref": "#/$defs/person"}},
                "$defs": {"person": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}}}),
            json!({"who": {"name": ""}}),
        ),
        (
            json!({"type": "object", "required": ["a"], "properties": {
                "a": {"anyOf": [{"type": "null"}, {"type": "string"}]}}}),
            json!({"a": ""}),
        ),
        (
            json!({"type": "object", "required": ["a"], "properties": {"a": {"type": ["null", "string"]}}}),
            json!({"a": ""}),
        ),
        (json!("not a schema"), json!({})),
        (json!({"type": "string"}), json!({})),
        (json!({"default": {"from": "default"}}), json!({"from": "default"})),
    ];
    for (schema, expected) in table {
        assert_eq!(drafted(&schema), expected, "{schema}");
    }
}

#[test]
fn a_draft_of_a_hostile_schema_ends_and_is_small() {
    let member = json!({"type": "object", "required": ["a", "b"], "properties": {
        "a": {"$ref": "#"}, "b": {"$ref": "#"}}});
    assert!(draft(&member).len() < 32 << 10);
    let names: Vec<String> = (0..64).map(|n| format!("p{n}")).collect();
    let members: serde_json::Map<String, Value> = names.iter().map(|n| (n.clone(), json!({"$ref": "#"}))).collect();
    let multiplying = json!({"type": "object", "required": names, "properties": members});
    assert!(draft(&multiplying).len() < 64 << 10, "and at once");
    let wide: serde_json::Map<String, Value> = (0..10_000).map(|n| (format!("p{n}"), json!({"default": n}))).collect();
    assert!(draft(&json!({"type": "object", "properties": wide})).len() < 32 << 10);
    assert_eq!(draft(&json!({"$ref": "#"})), "{}");
    let huge = json!({"type": "object", "properties": {"a": {"default": "x".repeat(100_000)}}});
    assert!(draft(&huge).len() < 1_000);
}

#[test]
fn problems_are_listed_by_path() {
    let schema = json!({"type": "object", "required": ["repo", "n"],
        "properties": {"repo": {"type": "string", "pattern": "^[a-z]+/[a-z]+$"}, "n": {"type": "integer"}}});
    assert_eq!(checked(&schema, &json!({"repo": "a/b", "n": 1})), Ok(vec![]));
    let problems = checked(&schema, &json!({"repo": "a", "n": "x"})).unwrap();
    let mut paths: Vec<&str> = problems.iter().map(|problem| problem.path.as_str()).collect();
    paths.sort_unstable();
    assert_eq!(paths, ["/n", "/repo"]);
    let problems = checked(&schema, &json!({"n": 1})).unwrap();
    assert_eq!(problems.len(), 1);
    assert!(problems[0].path.is_empty() && problems[0].text.contains("repo"), "{problems:?}");
}

#[test]
fn recursive_schemas_that_end_are_checked() {
    let list = json!({"type": "object", "properties": {"v": {"type": "integer"}, "next": {"$ref": "#"}}});
    assert_eq!(checked(&list, &json!({"v": 1, "next": {"v": 2}})), Ok(vec![]));
    assert_eq!(checked(&list, &json!({"next": {"next": {"v": "x"}}})).unwrap()[0].path, "/next/next/v");
    let tree = json!({"type": "object", "properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}});
    assert_eq!(checked(&tree, &json!({"left": {"right": {}}})), Ok(vec![]));
}

#[test]
fn schemas_that_would_cost_too_much_are_not_checked() {
    let bomb: serde_json::Map<String, Value> = (0..40)
        .map(|n| {
            let next = json!({"$ref": format!("#/$defs/d{}", n + 1)});
            (format!("d{n}"), json!({"allOf": [next, next]}))
        })
        .chain([("d40".to_owned(), json!({"type": "object"}))])
        .collect();
    let table = [
        json!({"$ref": "#"}),
        json!({"allOf": [{"$ref": "#"}]}),
        json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}),
        json!({"$ref": "#/$defs/d0", "$defs": bomb}),
        (0..200).fold(json!({}), |inner, _| json!({"not": inner})),
        json!({"allOf": (0..65).map(|n| json!({"pattern": format!("^{n}")})).collect::<Vec<_>>()}),
    ];
    for schema in table {
        assert_eq!(checked(&schema, &json!({})), Err(Unchecked::TooCostly), "{schema}");
    }
    let twice = json!({"properties": {"x": {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}}});
    let deep = (0..60).fold(json!({}), |inner, _| json!({"x": inner}));
    assert_eq!(checked(&twice, &deep), Err(Unchecked::TooCostly));
}

#[test]
fn nothing_is_fetched_and_no_pattern_backtracks() {
    let table = [
        json!({"$ref": "https://example.com/schema.json"}),
        json!({"$ref": "file:///etc/passwd"}),
        json!({"$ref": "#/%24defs/a", "$defs": {"a": {"$ref": "#/%24defs/a"}}}),
        json!({"properties": {"a": {"$id": "http://a/b", "$ref": "#/x"}}}),
        json!({"$ref": "#a", "$defs": {"a": {"$anchor": "a", "$ref": "#a"}}}),
        json!({"$ref": "#/nowhere"}),
        json!({"properties": {"a": {"pattern": "(?=x)y"}}}),
        json!({"type": 7}),
    ];
    for schema in table {
        assert!(matches!(checked(&schema, &json!({})), Err(Unchecked::Unusable(_))), "{schema}");
    }
    let slow = json!({"properties": {"a": {"pattern": "^(a+)+$"}}});
    let text = format!("{}!", "a".repeat(5_000));
    assert_eq!(checked(&slow, &json!({"a": text})).unwrap().len(), 1, "and at once");
}
