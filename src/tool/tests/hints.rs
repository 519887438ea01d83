//! Hints: every combination against every question, reading, merging, sources, and what goes out again.

use std::fmt::Write as _;
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::ids::ServerName;
use crate::tool::annotations::{Annotations, ConfigRef, Hint, HintName, HintOverride, HintSource, Hints, Parsed};
use crate::tool::classify::{EffectClass, Flag, classify};
use crate::tool::delivery::{delivery, read_only_proven};
use crate::tool::entry::Origin;
use crate::tool::worker::writes_to_shared_surface;

const HINTS: [Hint; 3] = [Hint::Unknown, Hint::Yes, Hint::No];

fn combinations() -> impl Iterator<Item = Annotations> {
    (0..81).map(|n| Annotations {
        title: String::new(),
        read_only: HINTS[n / 27],
        destructive: HINTS[n / 9 % 3],
        idempotent: HINTS[n / 3 % 3],
        open_world: HINTS[n % 3],
    })
}

fn mcp() -> Origin {
    Origin::Mcp(ServerName::from("tickets"))
}

fn stated(annotations: Annotations) -> Hints {
    Hints::from_server(Parsed { annotations, malformed: Vec::new() }, None)
}

/// The table was written from the rules as the documents word them. The questions stand side by side because they
/// are different questions: none is the negation of another.
#[test]
fn all_combinations_answer_as_in_the_table() {
    let mut table =
        String::from("read only destructive idempotent open world | worker   | proven | delivery | class\n");
    for hints in combinations() {
        let worker = if writes_to_shared_surface(&hints).writes { "refused" } else { "admitted" };
        let proven = if read_only_proven(&hints) { "yes" } else { "no" };
        let counts = delivery(&mcp(), &hints, None).surface.map_or("no", |_| "counts");
        let class = classify(&stated(hints.clone()));
        let contradictory = if class.flags == [Flag::Contradictory] { ", contradictory" } else { "" };
        let [ro, d, i, ow] = HintName::ALL.map(|name| hints.get(name));
        writeln!(
            table,
            "{ro:<9} {d:<11} {i:<10} {ow:<10} | {worker:<8} | {proven:<6} | {counts:<8} | {}{contradictory}",
            class.class
        )
        .unwrap();
    }
    for (ours, expected) in table.lines().zip(include_str!("hints.txt").lines()) {
        assert_eq!(ours, expected);
    }
    assert_eq!(table.lines().count(), 82);
    assert_eq!(table, include_str!("hints.txt"));
}

#[test]
fn every_answer_has_a_reason() {
    for hints in combinations() {
        assert!(!writes_to_shared_surface(&hints).reason.is_empty());
        assert!(!delivery(&mcp(), &hints, None).reason.is_empty());
        assert!(!classify(&stated(hints)).reason.is_empty());
    }
}

#[test]
fn deliveries_by_origin() {
    let read = Annotations { read_only: Hint::Yes, ..Annotations::default() };
    let private = Annotations { read_only: Hint::No, open_world: Hint::No, ..Annotations::default() };
    let public = Annotations { read_only: Hint::No, open_world: Hint::Yes, ..Annotations::default() };
    for (origin, hints, declared, expected) in [
        (mcp(), Annotations::default(), None, Some("tickets")),
        (mcp(), read.clone(), None, None),
        (mcp(), private.clone(), None, Some("tickets")),
        (mcp(), read.clone(), Some("tracker"), None),
        (Origin::Builtin, private, None, None),
        (Origin::Builtin, public.clone(), None, None),
        (Origin::Builtin, public, Some("tracker"), Some("tracker")),
        (Origin::Builtin, read, None, None),
        (Origin::Builtin, Annotations::default(), None, None),
    ] {
        let declared = declared.map(Arc::<str>::from);
        let found = delivery(&origin, &hints, declared.as_ref()).surface;
        assert_eq!(found.as_deref(), expected, "{origin} {hints:?} {declared:?}");
    }
}

#[test]
fn reading_hints() {
    use Hint::{No, Unknown, Yes};
    use HintName::{Destructive, Idempotent, OpenWorld, ReadOnly};
    for (value, expected, malformed) in [
        (json!(null), [Unknown; 4], vec![]),
        (json!({}), [Unknown; 4], vec![]),
        (json!([]), [Unknown; 4], vec![]),
        (json!([{"readOnlyHint": true}]), [Unknown; 4], vec![]),
        (json!("readOnlyHint"), [Unknown; 4], vec![]),
        (json!(true), [Unknown; 4], vec![]),
        (json!({"title": "T"}), [Unknown; 4], vec![]),
        (
            json!({"readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false}),
            [Yes, No, Yes, No],
            vec![],
        ),
        (
            json!({"read_only": false, "destructive": true, "idempotent": false, "open_world": true}),
            [No, Yes, No, Yes],
            vec![],
        ),
        (json!({"readOnlyHint": false, "read_only": true}), [No, Unknown, Unknown, Unknown], vec![]),
        (json!({"readOnlyHint": null, "read_only": true}), [Yes, Unknown, Unknown, Unknown], vec![]),
        (json!({"readOnlyHint": null}), [Unknown; 4], vec![]),
        (json!({"readOnlyHint": "true"}), [Unknown; 4], vec![ReadOnly]),
        (json!({"readOnlyHint": 1, "openWorldHint": 0}), [Unknown; 4], vec![ReadOnly, OpenWorld]),
        (json!({"destructiveHint": [false], "idempotentHint": {}}), [Unknown; 4], vec![Destructive, Idempotent]),
        (json!({"read_only": "yes"}), [Unknown; 4], vec![ReadOnly]),
        (json!({"readOnlyHint": "yes", "read_only": true}), [Yes, Unknown, Unknown, Unknown], vec![ReadOnly]),
        (json!({"ReadOnlyHint": true, "readonlyHint": true, "read_only_hint": true}), [Unknown; 4], vec![]),
    ] {
        let parsed = Annotations::parse(Some(&value));
        assert_eq!(HintName::ALL.map(|name| parsed.annotations.get(name)), expected, "{value}");
        assert_eq!(parsed.malformed, malformed, "{value}");
    }
    assert_eq!(Annotations::parse(None), Parsed::default());
    assert_eq!(Annotations::parse(Some(&json!({"title": 7}))).annotations.title, "");
    assert_eq!(Annotations::parse(Some(&json!({"title": "T"}))).annotations.title, "T");
}

fn override_of(annotations: Annotations) -> HintOverride {
    let place = |line| Some(ConfigRef { file: "config.yaml".into(), line });
    HintOverride { annotations, places: [place(41), place(42), place(43), place(44)] }
}

#[test]
fn a_malformed_hint_is_never_a_read_until_an_override_settles_it() {
    let parsed = |value: Value| Annotations::parse(Some(&value));
    let class = |value: Value, over: Option<Annotations>| {
        let hints = Hints::from_server(parsed(value), over.map(override_of));
        let class = classify(&hints);
        (class.class, class.flags.contains(&Flag::MalformedHints))
    };
    let settled = |read_only, destructive| Some(Annotations { read_only, destructive, ..Annotations::default() });
    for (value, over, expected) in [
        (json!({"readOnlyHint": "true"}), None, (EffectClass::Unknown, true)),
        (json!({"readOnlyHint": true, "destructiveHint": 0}), None, (EffectClass::Unknown, true)),
        (json!({"readOnlyHint": true, "idempotentHint": "x"}), None, (EffectClass::Unknown, true)),
        (json!({"readOnlyHint": "x", "read_only": true}), None, (EffectClass::Unknown, true)),
        (json!({"readOnlyHint": true, "destructiveHint": null}), None, (EffectClass::Read, false)),
        (json!({"readOnlyHint": 1, "destructiveHint": true}), None, (EffectClass::Destructive, true)),
        (json!({"readOnlyHint": 1, "destructiveHint": false}), None, (EffectClass::Write, true)),
        (json!({"readOnlyHint": "true"}), settled(Hint::Yes, Hint::Unknown), (EffectClass::Read, false)),
        (
            json!({"readOnlyHint": true, "destructiveHint": 0}),
            settled(Hint::Unknown, Hint::No),
            (EffectClass::Read, false),
        ),
        (json!({"readOnlyHint": 1, "openWorldHint": 1}), settled(Hint::Yes, Hint::No), (EffectClass::Unknown, true)),
    ] {
        assert_eq!(class(value.clone(), over.clone()), expected, "{value} under {over:?}");
    }
}

#[test]
fn absent_hints_are_a_question_and_not_safe() {
    for value in
        [json!(null), json!({}), json!({"title": "T"}), json!({"idempotentHint": true}), json!({"readOnlyHint": false})]
    {
        let hints = Hints::from_server(Annotations::parse(Some(&value)), None);
        assert_eq!(classify(&hints).class, EffectClass::Unknown, "{value}");
    }
}

#[test]
fn each_hint_knows_its_source() {
    let server = Annotations { read_only: Hint::Yes, idempotent: Hint::No, ..Annotations::default() };
    let over = Annotations { read_only: Hint::No, destructive: Hint::Yes, ..Annotations::default() };
    let hints =
        Hints::from_server(Parsed { annotations: server.clone(), malformed: vec![] }, Some(override_of(over.clone())));
    let shown = HintName::ALL.map(|name| hints.source(name).to_string());
    assert_eq!(shown, ["config.yaml:41", "config.yaml:42", "server", "nobody said"]);
    assert_eq!(hints.advertised, server);
    assert_eq!(hints.effective.read_only, Hint::No);

    let placeless = HintOverride { annotations: over, places: [None, None, None, None] };
    let hints = Hints::from_server(Parsed { annotations: server, malformed: vec![] }, Some(placeless));
    assert_eq!(hints.source(HintName::ReadOnly).to_string(), "tool_annotations", "never blamed on the server");

    let builtin = Hints::builtin(Annotations { read_only: Hint::Yes, ..Annotations::default() });
    assert_eq!(builtin.source(HintName::ReadOnly), HintSource::Builtin);
    assert_eq!(builtin.source(HintName::OpenWorld), HintSource::Nobody);
}

#[test]
fn only_an_explicit_yes_leaves_the_house() {
    for hints in combinations() {
        let wire = hints.to_wire();
        let yes: Vec<_> = HintName::ALL.into_iter().filter(|name| hints.get(*name) == Hint::Yes).collect();
        match &wire {
            None => assert!(yes.is_empty(), "{hints:?}"),
            Some(object) => {
                let sent: Vec<_> = object.iter().map(|(key, value)| (key.as_str(), value)).collect();
                let expected: Vec<_> = yes.iter().map(|name| (name.camel(), &Value::Bool(true))).collect();
                assert_eq!(sent, expected);
            }
        }
        let titled = Annotations { title: "T".to_owned(), ..hints.clone() }.to_wire();
        let unclassified = hints.is_empty();
        assert_eq!(titled.is_none(), unclassified, "an unclassified tool advertises nothing, not even with a title");
        assert_eq!(titled.and_then(|w| w.get("title").cloned()), (!unclassified).then(|| json!("T")));
    }
    let only_no = Annotations { open_world: Hint::No, ..Annotations::default() };
    assert_eq!(only_no.to_wire(), None);
}

fn any_annotations() -> impl Strategy<Value = Annotations> {
    let hint = || prop::sample::select(HINTS.to_vec());
    ("[ab]{0,2}", hint(), hint(), hint(), hint()).prop_map(|(title, read_only, destructive, idempotent, open_world)| {
        Annotations { title, read_only, destructive, idempotent, open_world }
    })
}

proptest! {
    #[test]
    fn merging_obeys_its_laws(a in any_annotations(), b in any_annotations(), c in any_annotations()) {
        let none = Annotations::default();
        prop_assert_eq!(&a.merge(&none), &a);
        prop_assert_eq!(&none.merge(&a), &a);
        prop_assert_eq!(a.merge(&b).merge(&c), a.merge(&b.merge(&c)));
        prop_assert_eq!(&a.merge(&a), &a);
        for name in HintName::ALL {
            let merged = a.merge(&b).get(name);
            prop_assert!(merged != Hint::Unknown || (a.get(name), b.get(name)) == (Hint::Unknown, Hint::Unknown));
            prop_assert_eq!(merged, b.get(name).or(a.get(name)));
        }
    }

    #[test]
    fn what_is_sent_is_read_back_as_stated(a in any_annotations()) {
        let wire = a.to_wire().map(Value::Object);
        let back = Annotations::parse(wire.as_ref());
        prop_assert!(back.malformed.is_empty());
        for name in HintName::ALL {
            prop_assert_eq!(back.annotations.get(name) == Hint::Yes, a.get(name) == Hint::Yes);
        }
    }

    #[test]
    fn any_annotations_value_is_read(value in super::any_json()) {
        let parsed = Annotations::parse(Some(&value));
        prop_assert!(parsed.annotations.is_empty() || value.is_object());
    }
}
