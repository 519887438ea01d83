//! Reading a list item by item: each odd thing costs only itself.

use std::time::Instant;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::tool::annotations::{Hint, HintName};
use crate::tool::listing::Listing;

fn list(items: &[Value]) -> Listing {
    let mut listing = Listing::default();
    for item in items {
        listing.push(item);
    }
    listing
}

#[test]
fn one_odd_tool_does_not_cost_the_others() {
    let object = json!({"type": "object"});
    let listing = list(&[
        json!({"name": "ok", "inputSchema": object, "extra": [1]}),
        json!({"name": "text-schema", "inputSchema": "x"}),
        json!({"name": "no-schema"}),
        json!({"name": "odd-hint", "inputSchema": object, "annotations": {"readOnlyHint": "yes"}}),
        json!({"name": "n".repeat(300), "inputSchema": object}),
        json!({"name": "odd-output", "inputSchema": object, "outputSchema": 7}),
    ]);
    let usable: Vec<&str> = listing.tools.iter().map(|tool| &*tool.raw_name).collect();
    assert_eq!(usable, ["ok", "no-schema", "odd-hint", "odd-output"]);
    assert_eq!(*listing.tools[1].input_schema, json!({"type": "object", "properties": {}}));
    assert_eq!(listing.tools[2].hints.malformed, [HintName::ReadOnly]);
    assert_eq!(listing.tools[2].hints.annotations.read_only, Hint::Unknown);
    assert_eq!(listing.tools[3].output_schema, None);
    let rejected: Vec<_> = listing.rejected.iter().map(|r| (r.index, r.name.as_deref(), &*r.reason)).collect();
    let start = "n".repeat(Listing::MAX_NAME_CHARS);
    assert_eq!(
        rejected,
        [
            (1, Some("text-schema"), "its input schema is not an object"),
            (4, Some(start.as_str()), "its name has 300 characters, more than 128"),
        ]
    );
}

#[test]
fn what_has_no_usable_name_is_rejected() {
    for (item, reason) in [
        (json!(null), "not an object"),
        (json!("tool"), "not an object"),
        (json!([{"name": "a"}]), "not an object"),
        (json!({}), "it has no name"),
        (json!({"title": "T"}), "it has no name"),
        (json!({"name": null}), "its name is not a string"),
        (json!({"name": 7}), "its name is not a string"),
        (json!({"name": ""}), "its name is blank"),
        (json!({"name": " \t"}), "its name is blank"),
    ] {
        let listing = list(std::slice::from_ref(&item));
        assert!(listing.tools.is_empty(), "{item}");
        assert_eq!((listing.rejected[0].name.as_deref(), &*listing.rejected[0].reason), (None, reason), "{item}");
    }
}

#[test]
fn names_are_counted_in_characters_and_kept_as_sent() {
    let longest = "é".repeat(Listing::MAX_NAME_CHARS);
    let listing = list(&[json!({"name": longest}), json!({"name": " spaced\u{202e} "})]);
    let names: Vec<&str> = listing.tools.iter().map(|tool| &*tool.raw_name).collect();
    assert_eq!(names, [longest.as_str(), " spaced\u{202e} "]);
}

#[test]
fn of_one_name_the_first_counts() {
    let listing = list(&[
        json!({"name": "a", "description": "first"}),
        json!({"name": "A"}),
        json!({"name": "a", "description": "second"}),
        json!({"name": "a", "inputSchema": []}),
    ]);
    assert_eq!(listing.tools.len(), 2);
    assert_eq!(listing.tools[0].description.as_deref(), Some("first"));
    let rejected: Vec<_> = listing.rejected.iter().map(|r| (r.index, &*r.reason)).collect();
    assert_eq!(
        rejected,
        [
            (2, "the server lists this name more than once; the first one counts"),
            (3, "its input schema is not an object"),
        ]
    );
}

#[test]
fn schemas() {
    for (schema, is_object) in [
        (json!({"type": "object"}), true),
        (json!({"type": "object", "properties": {"a": {"$ref": "#/x"}}, "x": 1}), true),
        (json!({"type": "string"}), false),
        (json!({"type": ["object"]}), false),
        (json!({"properties": {}}), false),
        (json!({}), false),
    ] {
        let listing = list(&[json!({"name": "a", "inputSchema": schema})]);
        assert_eq!(*listing.tools[0].input_schema, schema, "passed on unmodified");
        assert_eq!(listing.tools[0].schema_is_object, is_object, "{schema}");
    }
    for schema in [json!(true), json!(1), json!([]), json!("{}")] {
        assert!(list(&[json!({"name": "a", "inputSchema": schema})]).tools.is_empty(), "{schema}");
    }
    let null = list(&[json!({"name": "a", "inputSchema": null, "outputSchema": {"type": "object"}})]);
    assert!(null.tools[0].schema_is_object);
    assert_eq!(null.tools[0].output_schema.as_deref(), Some(&json!({"type": "object"})));
}

#[test]
fn titles_and_descriptions() {
    for (item, title, description) in [
        (json!({"name": "a"}), "", None),
        (json!({"name": "a", "title": "T", "annotations": {"title": "U"}}), "T", None),
        (json!({"name": "a", "title": " ", "annotations": {"title": "U"}}), "U", None),
        (json!({"name": "a", "title": 7, "description": 7}), "", None),
        (json!({"name": "a", "description": " \n"}), "", None),
        (json!({"name": "a", "description": " kept as sent "}), "", Some(" kept as sent ")),
    ] {
        let listing = list(std::slice::from_ref(&item));
        let tool = &listing.tools[0];
        assert_eq!((&*tool.title, tool.description.as_deref()), (title, description), "{item}");
    }
}

#[test]
fn a_flood_of_tools_takes_linear_time() {
    let started = Instant::now();
    let mut listing = Listing::default();
    for n in 0..20_000 {
        listing.push(&json!({"name": format!("a-tool-with-a-long-common-start-{n}")}));
        listing.push(&json!({"name": format!("a-tool-with-a-long-common-start-{}", n / 2)}));
    }
    assert_eq!((listing.tools.len(), listing.rejected.len()), (20_000, 20_000));
    assert!(started.elapsed().as_secs() < 5, "{:?}", started.elapsed());
}

proptest! {
    #[test]
    fn every_item_is_placed_once(items in prop::collection::vec(super::any_json(), 0..8)) {
        let listing = list(&items);
        prop_assert_eq!(listing.tools.len() + listing.rejected.len(), items.len());
        prop_assert!(listing.rejected.iter().all(|r| r.index < items.len() && !r.reason.is_empty()));
    }
}

#[test]
fn what_cannot_be_decoded_is_one_rejected_item() {
    let mut listing = Listing::default();
    listing.push_text(r#"{"name":"good","inputSchema":{"type":"object"}}"#);
    listing.push_text(r#"{"name":"x\ud800y"}"#);
    let deep = format!(r#"{{"name":"deep","inputSchema":{}1{}}}"#, "[".repeat(5_000), "]".repeat(5_000));
    listing.push_text(&deep);
    listing.push_text(r#"{"name":"last"}"#);
    let names: Vec<&str> = listing.tools.iter().map(|tool| &*tool.raw_name).collect();
    assert_eq!(names, ["good", "last"]);
    assert_eq!(listing.rejected.iter().map(|rejected| rejected.index).collect::<Vec<_>>(), [1, 2]);
}
