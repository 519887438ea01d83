//! The worker guard: what a worker gets of what its parent asks for, and why not.

use std::collections::HashSet;
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::ids::{ConnectionName, SeatHandle, ServerName};
use crate::tool::catalog::{Catalog, Source};
use crate::tool::names::Names;
use crate::tool::reserved::is_control;
use crate::tool::worker::{Admission, Barred, admit, may_hold, writes_to_shared_surface};
use crate::tool::{Entry, Hint, Listing};

const READS: [Option<bool>; 4] = [Some(true), None, None, None];
const PRIVATE: [Option<bool>; 4] = [Some(false), Some(false), None, Some(false)];
const POSTS: [Option<bool>; 4] = [Some(false), Some(false), None, Some(true)];
const DELETES: [Option<bool>; 4] = [Some(false), Some(true), None, None];
const SILENT: [Option<bool>; 4] = [None; 4];

fn tool(name: &str, hints: [Option<bool>; 4]) -> Value {
    let names = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];
    let hints = names.iter().zip(hints).filter_map(|(name, hint)| Some(((*name).to_owned(), Value::from(hint?))));
    json!({"name": name, "annotations": hints.collect::<serde_json::Map<_, _>>()})
}

fn source(server: &str, connection: &str, tools: &[Value]) -> Source {
    let mut listing = Listing::default();
    for tool in tools {
        listing.push(tool);
    }
    Source {
        server: server.into(),
        connection: connection.into(),
        seat: connection.split_once("::").map(|(_, seat)| SeatHandle::from(seat)),
        identity: server.into(),
        prefix: "".into(),
        overrides: Arc::new([]),
        listing: Some(Arc::new(listing)),
        first_party: (server == ServerName::OURS).then(Arc::default),
    }
}

fn company() -> Catalog {
    let ours = [
        tool("delegate", POSTS),
        tool("turn_end", PRIVATE),
        tool("a2a_inbox", READS),
        tool("reflect_and_persist", PRIVATE),
        tool("get_work_item", READS),
        tool("comment_on_work_item", POSTS),
        tool("load_tool_skill", READS),
    ];
    let notes = [tool("read", READS), tool("post", POSTS), tool("wipe", DELETES), tool("odd", SILENT)];
    let sources = [
        source(ServerName::OURS, ServerName::OURS, &ours),
        source(ServerName::OURS, ConnectionName::operators().as_str(), &[tool("set_pins", PRIVATE)]),
        source("notes", "notes", &notes),
        source("jira", "jira::ada", &[tool("issue", READS)]),
        source("jira", "jira::bob", &[tool("issue", READS), tool("bobs", READS)]),
    ];
    Catalog::place(&sources, &Names::default()).0
}

fn names(admission: &Admission) -> Vec<String> {
    admission.tools.iter().map(|entry| entry.reference().to_string()).collect()
}

fn asked(requested: &[&str]) -> Admission {
    admit((&company(), &"ada".into()), |_| true, requested.iter().copied())
}

#[test]
fn each_name_gets_the_first_reason_that_applies() {
    let shared = |why| Some(Barred::SharedSurface(why));
    let holds = |entry: &Entry| !matches!(&*entry.raw_name, "post" | "issue" | "delegate" | "load_tool_skill");
    for (name, barred, words) in [
        ("read", None, ""),
        ("odd", None, ""),
        ("notes/odd", None, ""),
        ("reflect_and_persist", None, ""),
        ("crewlet/get_work_item", None, ""),
        // By name before anything else: whether or not it is there, held or harmless.
        ("delegate", Some(Barred::Control), "denied by name"),
        ("crewlet/delegate", Some(Barred::Control), "denied by name"),
        ("run_sandbox", Some(Barred::Control), "denied by name"),
        ("crewlet/spawn_subagent", Some(Barred::Control), "denied by name"),
        ("activate_tool", Some(Barred::Control), "denied by name"),
        ("list_mcp_server_tools", Some(Barred::Control), "denied by name"),
        ("a2a_ask", Some(Barred::Control), "denied by name"),
        ("a2a_inbox", Some(Barred::Control), "denied by name"),
        ("turn_end", Some(Barred::Control), "denied by name"),
        // Not held before what it would do.
        ("post", Some(Barred::NotHeld), "not held by you"),
        ("issue", Some(Barred::NotHeld), "not held by you"),
        ("wipe", shared("destructive"), "writes to a shared surface"),
        ("comment_on_work_item", shared("writes to a shared surface"), "writes to a shared surface"),
        // Another seat's, the operators' and nobody's look alike.
        ("bobs", Some(Barred::Unknown), "unknown"),
        ("jira::bob/issue", Some(Barred::Unknown), "unknown"),
        ("set_pins", Some(Barred::Unknown), "unknown"),
        ("", Some(Barred::Unknown), "unknown"),
        ("Delegate\u{202e}", Some(Barred::Unknown), "unknown"),
    ] {
        let admission = admit((&company(), &"ada".into()), holds, [name]);
        assert_eq!(admission.barred.first().map(|(_, barred)| *barred), barred, "{name}");
        assert_eq!(admission.tools.len(), usize::from(barred.is_none()), "{name}");
        if let Some((asked, barred)) = admission.barred.first() {
            assert_eq!(&**asked, name);
            assert!(barred.to_string().starts_with(words), "{name}: {barred}");
        }
    }
}

#[test]
fn what_is_asked_for_twice_is_given_and_refused_once_in_its_order() {
    let admission = asked(&["odd", "delegate", "read", "odd", "notes/read", "delegate", "bobs"]);
    assert_eq!(names(&admission), ["notes/odd", "notes/read", "crewlet/load_tool_skill"]);
    let barred: Vec<&str> = admission.barred.iter().map(|(name, _)| &**name).collect();
    assert_eq!(barred, ["delegate", "bobs"]);
    assert_eq!(names(&asked(&["issue"])), ["jira::ada/issue", "crewlet/load_tool_skill"], "the parent's own");
}

#[test]
fn nothing_is_inherited_that_was_not_asked_for() {
    assert_eq!(names(&asked(&[])), ["crewlet/load_tool_skill"], "only what rides along");
    assert_eq!(names(&asked(&["load_tool_skill"])), ["crewlet/load_tool_skill"]);
    let without = admit((&company(), &"ada".into()), |entry| &*entry.raw_name != "load_tool_skill", ["read"]);
    assert_eq!(names(&without), ["notes/read"]);
    // A server's tool of that name, were there one, is nothing special.
    let foreign = Catalog::place(&[source("x", "x", &[tool("load_tool_skills", READS)])], &Names::default()).0;
    assert_eq!(names(&admit((&foreign, &"ada".into()), |_| true, [])), [""; 0]);
}

#[test]
fn the_shared_surface_is_the_table_of_the_capabilities() {
    use Hint::{No, Unknown, Yes};
    let any = [Yes, No, Unknown];
    for (read_only, destructive, open_world) in
        any.into_iter().flat_map(|r| any.map(|d| (r, d))).flat_map(|(r, d)| any.map(|o| (r, d, o)))
    {
        let annotations = crate::tool::Annotations { read_only, destructive, open_world, ..Default::default() };
        let expected = match (read_only, destructive, open_world) {
            (Yes, ..) | (No, No | Unknown, No) | (Unknown, No | Unknown, _) => false,
            (No | Unknown, Yes, _) | (No, ..) => true,
        };
        let answer = writes_to_shared_surface(&annotations);
        assert_eq!(answer.writes, expected, "{annotations:?}");
        assert!(!answer.reason.is_empty());
    }
}

proptest! {
    #[test]
    fn a_worker_never_gets_a_control_tool_an_unheld_one_or_a_shared_write(
        hints in prop::collection::vec(prop::array::uniform4(prop::option::of(any::<bool>())), 12),
        held in prop::collection::vec(any::<bool>(), 40),
        picks in prop::collection::vec(0_usize..60, 0..40),
    ) {
        let ours = ["delegate", "a2a_ask", "turn_begin", "list_mcp_server_tools", "mark_onboarded", "load_tool_skill"];
        let of = |name: &str, at: usize| tool(name, hints[at]);
        let own: Vec<Value> = ours.iter().zip(0..).map(|(name, at)| of(name, at)).collect();
        let theirs = [of("a", 6), of("b", 7), of("c", 8), of("delegates", 9)];
        let sources = [
            source(ServerName::OURS, ServerName::OURS, &own),
            source("notes", "notes", &theirs),
            source("jira", "jira::ada", &[of("mine", 10)]),
            source("jira", "jira::bob", &[of("theirs", 11)]),
        ];
        let (catalog, _) = Catalog::place(&sources, &Names::default());
        let ada = SeatHandle::from("ada");
        let spellings: Vec<String> = catalog.entries().iter()
            .flat_map(|entry| [entry.name.to_string(), entry.reference().to_string(), format!("{}/{}", entry.server, entry.raw_name)])
            .chain(["spawn_subagent".to_owned(), "crewlet/run_sandbox".to_owned(), "nothing".to_owned()])
            .collect();
        let requested: Vec<&str> = picks.iter().map(|pick| &*spellings[pick % spellings.len()]).collect();
        let place = |entry: &Entry| catalog.entries().iter().position(|known| known.key() == entry.key()).unwrap();
        let holds = |entry: &Entry| held[place(entry)];
        let admission = admit((&catalog, &ada), holds, requested.iter().copied());
        let mut seen = HashSet::new();
        for entry in &admission.tools {
            prop_assert!(!is_control(&entry.raw_name) && may_hold(entry).is_ok());
            prop_assert!(holds(entry) && !entry.worker.writes && entry.seat.as_ref().is_none_or(|seat| *seat == ada));
            prop_assert!(seen.insert(entry.key()), "twice");
        }
        for name in &requested {
            let barred = admission.barred.iter().filter(|(asked, _)| &**asked == *name).count();
            let found = catalog.find(Some(&ada), name).is_some_and(|entry| seen.contains(&entry.key()));
            prop_assert!(barred + usize::from(found) == 1, "{name} has one answer");
        }
    }
}
