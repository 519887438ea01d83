//! The tiers of finding somebody, case by case.

use super::*;
use crate::tool::ConfigRef;

fn seat(handle: &str, name: &str, email: Option<&str>, ids: &[(&str, &str)]) -> Seat {
    let mut seat = Seat::agent(handle, name);
    seat.profile.email = email.map(Into::into);
    seat.profile.identities =
        ids.iter().map(|(system, id)| Identity { system: (*system).into(), id: (*id).into() }).collect();
    seat
}

fn directory() -> Directory {
    Directory::of(&Org {
        seats: vec![
            seat("agent-ceo", "Agent CEO", Some("CEO@acme.example"), &[("chat", "U123"), ("code.login", "theceo")]),
            seat("sarah-chen", "Sarah Chen", None, &[("chat", "U777"), ("chat.channel", "general")]),
            seat("sarah-cole", "Sarah Cole", None, &[("board", "U777")]),
            seat("qa-test-lead", "QA/Test Lead", None, &[]),
            seat("engineer", "Engineer", None, &[]),
            seat("strasse", "Straße Ilgın", None, &[]),
            seat("senior-engineer", "Senior Engineer", None, &[]),
        ],
        units: Vec::new(),
    })
}

fn found(query: &str) -> Vec<String> {
    let directory = directory();
    directory.find(query).iter().map(|(one, how)| format!("{} {}", one.handle, how.words())).collect()
}

#[test]
fn the_first_tier_with_a_hit_decides() {
    let table: &[(&str, &[&str])] = &[
        // 1: exactly.
        ("agent-ceo", &["agent-ceo exact"]),
        (" @agent-ceo ", &["agent-ceo exact"]),
        ("agent_ceo", &["agent-ceo exact"]),
        ("Agent CEO", &["agent-ceo exact"]),
        ("U123", &["agent-ceo exact"]),
        ("theceo", &["agent-ceo exact"]),
        ("ceo@acme.example", &["agent-ceo exact"]),
        ("U777", &["sarah-chen exact", "sarah-cole exact"]),
        // A field that names a channel names nobody.
        ("general", &[]),
        // 1 before 3: `engineer` is a seat, whatever else holds the word.
        ("engineer", &["engineer exact"]),
        // 2: case, accents, what stands between words.
        ("AGENT ceo", &["agent-ceo case or format"]),
        ("Agent\u{2013}CEO", &["agent-ceo case or format"]),
        ("STRASSE ILGIN", &["strasse case or format"]),
        ("ENGINEER", &["engineer case or format"]),
        ("u123", &[]),
        // 3: a beginning of a word in a name, or a whole name in the query.
        ("ceo", &["agent-ceo partial name"]),
        ("sarah", &["sarah-chen partial name", "sarah-cole partial name"]),
        ("sar", &["sarah-chen partial name", "sarah-cole partial name"]),
        ("test", &["qa-test-lead partial name"]),
        ("test l", &["qa-test-lead partial name"]),
        // The middle of a word is no part; it is only like it.
        ("gent", &["agent-ceo fuzzy 0.62"]),
        ("eo", &[]),
        ("please ask Sarah Chen today", &["sarah-chen partial name"]),
        ("the senior engineer", &["engineer partial name", "senior-engineer partial name"]),
        ("engineers of note", &["engineer fuzzy 0.64"]),
        // 4: alike.
        ("saraah chen", &["sarah-chen fuzzy 0.95", "sarah-cole fuzzy 0.76"]),
        ("engneer", &["engineer fuzzy 0.93", "senior-engineer fuzzy 0.64"]),
        ("xyzzy", &[]),
        // Too short for either.
        ("ce", &[]),
        ("ceu", &[]),
        ("", &[]),
        ("-", &[]),
    ];
    let wrong: Vec<_> = table.iter().map(|(query, expected)| (query, found(query), expected)).collect();
    let wrong: Vec<_> = wrong.into_iter().filter(|(_, found, expected)| found != *expected).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn units_stand_from_the_outermost_to_the_seats_own() {
    let unit = |name: &str, parent: Option<&str>| super::super::Unit {
        name: name.into(),
        kind: "team".into(),
        purpose: None,
        lead: None,
        goals: Vec::new(),
        parent: parent.map(Into::into),
        identities: Vec::new(),
        place: ConfigRef { file: "config.yaml".into(), line: 1 },
    };
    let org = Org {
        seats: vec![Seat { unit: Some("Back".into()), ..Seat::agent("a", "A") }],
        units: vec![unit("Tech", None), unit("Back", Some("Tech"))],
    };
    let directory = Directory::of(&org);
    let units: Vec<&str> = directory.seat("a").unwrap().units.iter().map(|unit| &**unit).collect();
    assert_eq!(units, ["Tech", "Back"]);
    // A configuration in which a name stands twice does not keep anybody waiting.
    let ring = Org { units: vec![unit("Back", Some("Tech")), unit("Tech", Some("Back"))], ..org };
    assert_eq!(Directory::of(&ring).seat("a").unwrap().units.len(), 2);
}

#[test]
fn very_long_queries_are_cut_and_found_by_what_is_left() {
    assert_eq!(found(&format!("sarah chen {}", "x".repeat(1_000_000))), ["sarah-chen partial name"]);
}
