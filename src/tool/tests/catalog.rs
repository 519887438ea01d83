//! The catalog: what is taken over, whose a name is, and what is refused.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::ids::{ConnectionName, SeatHandle, ServerName};
use crate::tool::catalog::{Catalog, Source, Warning, wanted};
use crate::tool::names::Names;
use crate::tool::{Entry, Listing};

fn source(server: &str, tools: &[Value]) -> Source {
    let mut listing = Listing::default();
    for tool in tools {
        listing.push(tool);
    }
    Source {
        server: server.into(),
        connection: server.into(),
        seat: None,
        identity: server.into(),
        prefix: "".into(),
        overrides: Arc::new([]),
        listing: Some(Arc::new(listing)),
        first_party: None,
    }
}

/// The program's own: what everybody holds, and what only operators do.
fn ours() -> [Source; 2] {
    let of = |connection, tool: &str| Source {
        connection,
        first_party: Some(Arc::default()),
        ..source(ServerName::OURS, &[json!({"name": tool})])
    };
    [of(ConnectionName::shared(&ServerName::ours()), "get"), of(ConnectionName::operators(), "remove")]
}

#[test]
fn what_has_not_changed_is_taken_over_and_equals_what_is_made_anew() {
    let names = Names::default();
    let first = source("b", &[json!({"name": "x"}), json!({"name": "y"})]);
    let (before, _) = Catalog::place(std::slice::from_ref(&first), &names);
    let mut again = first.clone();
    again.identity = "another command".into();
    for sources in [vec![first.clone()], vec![source("a", &[json!({"name": "x"})]), first], vec![again]] {
        let (reused, warnings) = before.replaced(&sources, &names);
        let (fresh, same) = Catalog::place(&sources, &names);
        assert_eq!(reused.entries(), fresh.entries());
        assert_eq!(warnings, same);
        let y = |catalog: &Catalog| catalog.find(None, "y").cloned().unwrap();
        let changed = sources[0].identity.as_ref() == "another command";
        assert_eq!(Arc::ptr_eq(&y(&reused), &y(&before)), !changed);
    }
}

fn own(server: &str, seat: &str, tools: &[&str]) -> Source {
    let tools: Vec<Value> = tools.iter().map(|name| json!({"name": name})).collect();
    let connection = ConnectionName::new(format!("{server}::{seat}"));
    Source { connection, seat: Some(seat.into()), ..source(server, &tools) }
}

fn found<'c>(catalog: &'c Catalog, seat: Option<&str>, name: &str) -> Option<&'c str> {
    let seat = seat.map(SeatHandle::from);
    catalog.find(seat.as_ref(), name).map(|entry| entry.connection.as_str())
}

fn held(catalog: &Catalog, seat: &str) -> Vec<String> {
    let name = |entry: &Arc<Entry>| format!("{}={}", entry.exposed, entry.connection);
    catalog.of_seat(&seat.into()).map(name).collect()
}

#[test]
fn a_seat_has_its_own_tools_before_the_shared_ones_and_never_anothers() {
    let wiki = source("wiki", &[json!({"name": "get"}), json!({"name": "list"})]);
    let sources = [wiki, own("jira", "alice", &["get", "close"]), own("jira", "bob", &["get", "close", "more"])];
    let (catalog, warnings) = Catalog::place(&sources, &Names::default());
    for (seat, name, connection) in [
        (Some("alice"), "get", Some("jira::alice")),
        (Some("bob"), "get", Some("jira::bob")),
        (Some("carol"), "get", Some("wiki")),
        (None, "get", Some("wiki")),
        (Some("alice"), "close", Some("jira::alice")),
        (Some("carol"), "close", None),
        (None, "close", None),
        (Some("alice"), "more", None),
        (Some("alice"), "list", Some("wiki")),
        // Who names a server or a connection means that one.
        (Some("alice"), "jira/get", Some("jira::alice")),
        (Some("alice"), "jira::alice/get", Some("jira::alice")),
        (Some("alice"), "jira::bob/get", None),
        (None, "jira::bob/get", Some("jira::bob")),
        (None, "jira/get", None),
        (None, "wiki/get", Some("wiki")),
        // What a seat's own hides from it, it does not reach by another name either.
        (Some("alice"), "wiki/get", None),
        (Some("alice"), "wiki/list", Some("wiki")),
        (Some("alice"), "wiki/close", None),
    ] {
        assert_eq!(found(&catalog, seat, name), connection, "{seat:?} {name}");
    }
    assert_eq!(held(&catalog, "alice"), ["list=wiki", "get=jira::alice", "close=jira::alice"]);
    assert_eq!(held(&catalog, "carol"), ["get=wiki", "list=wiki"]);
    let (server, shared) = ("jira".into(), "wiki".into());
    assert_eq!(warnings, [Warning::Hides { server, shared, tool: "get".into(), count: 1 }]);
    let [alice, bob] = ["jira::alice/get", "jira::bob/get"].map(|name| catalog.find(None, name).unwrap());
    assert_eq!((&alice.name, alice.fingerprint), (&bob.name, bob.fingerprint));
    assert!(catalog.again(alice).is_some_and(|again| Arc::ptr_eq(again, alice)));
}

#[test]
fn names_of_a_seats_own_server_wait_for_it_and_never_mean_a_shared_tool() {
    let wiki = source("wiki", &[json!({"name": "get"}), json!({"name": "list"})]);
    let all = [wiki.clone(), own("jira", "alice", &["get", "close"])];
    let mut names = Names::default();
    names.remember(&wanted(&all));
    let down = Source { listing: None, ..all[1].clone() };
    // Known from an earlier run, or from another seat's connection.
    let by_another = [wiki.clone(), down.clone(), own("jira", "bob", &["get"])];
    for (sources, names) in [(vec![wiki.clone(), down.clone()], names), (by_another.to_vec(), Names::default())] {
        let (catalog, _) = Catalog::place(&sources, &names);
        assert_eq!(found(&catalog, Some("alice"), "get"), None);
        assert_eq!(held(&catalog, "alice"), ["list=wiki"]);
        assert_eq!(found(&catalog, Some("carol"), "get"), Some("wiki"));
        let awaited = catalog.awaited(&"alice".into(), "get").map(ConnectionName::as_str);
        assert_eq!(awaited, Some("jira::alice"));
    }
    let (unknown, _) = Catalog::place(&[wiki, down], &Names::default());
    assert_eq!(found(&unknown, Some("alice"), "get"), Some("wiki"));
}

#[test]
fn nothing_hides_the_programs_own_tools_and_operators_hold_nothing_else() {
    let wiki = source("wiki", &[json!({"name": "get"}), json!({"name": "list"}), json!({"name": "remove"})]);
    let jira = own("jira", "alice", &["get", "close"]);
    let servers = [wiki.clone(), jira.clone()];
    // Servers' tools had these names before the program brought its own.
    let mut before = Names::default();
    before.remember(&wanted(&servers));
    let down = Source { listing: None, ..jira.clone() };
    for (jira, names) in [(jira.clone(), Names::default()), (jira, before.clone()), (down, before)] {
        let is_up = jira.listing.is_some();
        let [everybodys, operators] = ours();
        let (catalog, _) = Catalog::place(&[everybodys, operators, wiki.clone(), jira], &names);
        for seat in [Some("alice"), Some("carol"), Some("operator:founder"), None] {
            assert_eq!(found(&catalog, seat, "get"), Some("crewlet"), "{seat:?}");
            assert_eq!(found(&catalog, seat, "crewlet/get"), Some("crewlet"), "{seat:?}");
        }
        for (seat, name, connection) in [
            (Some("alice"), "remove", None),
            (Some("alice"), "crewlet/remove", None),
            (Some("alice"), "wiki_remove", Some("wiki")),
            (Some("alice"), "jira_get", Some("jira::alice").filter(|_| is_up)),
            (Some("operator:founder"), "remove", Some("crewlet (operators)")),
            (Some("operator:founder"), "list", None),
            (Some("operator:founder"), "wiki/list", None),
            (Some("operator:founder"), "jira::alice/close", None),
        ] {
            assert_eq!(found(&catalog, seat, name), connection, "{seat:?} {name} {is_up}");
        }
        assert_eq!(held(&catalog, "operator:founder"), ["get=crewlet", "remove=crewlet (operators)"]);
        assert_eq!(held(&catalog, "carol"), ["get=crewlet", "wiki_get=wiki", "list=wiki", "wiki_remove=wiki"]);
    }
}

#[test]
fn a_name_of_the_engines_is_refused_with_its_place_in_the_list() {
    let tools = [json!({"name": "get"}), json!({}), json!({"name": "delegate"}), json!({"name": "list"})];
    let (catalog, warnings) = Catalog::place(&[source("a", &tools)], &Names::default());
    assert_eq!(catalog.entries().len(), 2);
    let rejected: Vec<_> = catalog.rejected().iter().map(|it| (it.index, it.name.as_deref())).collect();
    assert_eq!(rejected, [(1, None), (2, Some("delegate"))]);
    assert_eq!(warnings, [Warning::Refused { server: "a".into(), tool: "delegate".into() }]);
    let prefixed = Source { prefix: "x_".into(), ..source("a", &tools) };
    assert_eq!(Catalog::place(&[prefixed], &Names::default()).0.entries().len(), 3);
}

#[test]
fn a_change_of_one_connection_leaves_the_entries_of_the_others_and_shares_what_is_equal() {
    let seats: Vec<String> = (0..5).map(|seat| format!("s{seat}")).collect();
    let tools: Vec<String> = (0..100).map(|tool| format!("t{tool}")).collect();
    let tools: Vec<&str> = tools.iter().map(String::as_str).collect();
    let mut sources: Vec<Source> = seats.iter().map(|seat| own("jira", seat, &tools)).collect();
    let names = Names::default();
    let (before, _) = Catalog::place(&sources, &names);
    let schemas = |seat: usize| before.entries()[seat * 100].input_schema.clone();
    assert!((1..5).all(|seat| Arc::ptr_eq(&schemas(0), &schemas(seat))), "one copy for all seats");
    let mut changed = (*sources[2].listing.clone().unwrap()).clone();
    changed.push(&json!({"name": "new"}));
    sources[2].listing = Some(Arc::new(changed));
    let (after, _) = before.replaced(&sources, &names);
    assert_eq!(after.entries().len(), 501);
    for entry in before.entries() {
        assert!(after.again(entry).is_some_and(|now| Arc::ptr_eq(now, entry)), "{}", entry.reference());
    }
}
