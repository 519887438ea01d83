//! Names over restarts, listings and collisions.

use super::*;

fn want(server: &str, raw: &str) -> Wanted {
    Wanted { server: server.into(), raw: raw.into(), name: raw.into(), held: Held::Shared }
}

fn name_of(names: &Names, wanted: &[Wanted], server: &str, raw: &str) -> (String, String) {
    let (named, _) = names.assign(wanted);
    let names = &named[server][raw];
    (names.name.to_string(), names.exposed.to_string())
}

#[test]
fn the_server_first_by_name_has_the_plain_name() {
    let wanted = [want("b", "delete"), want("a", "delete")];
    let names = Names::default();
    assert_eq!(name_of(&names, &wanted, "a", "delete").0, "delete");
    assert_eq!(name_of(&names, &wanted, "b", "delete").0, "b_delete");
    let (_, collisions) = names.assign(&wanted);
    assert_eq!(collisions.len(), 1);
    assert_eq!(&*collisions[0].serving, "a");
}

#[test]
fn an_incumbent_keeps_its_name_when_an_earlier_server_appears_or_it_goes_away() {
    let mut names = Names::default();
    assert!(names.remember(&[want("b", "delete")]));
    assert_eq!(name_of(&names, &[want("a", "delete"), want("b", "delete")], "b", "delete").0, "delete");
    assert_eq!(name_of(&names, &[want("a", "delete")], "a", "delete").0, "a_delete");
    assert!(!names.remember(&[want("b", "delete")]));
    assert_eq!(names.called("delete"), Some(("b".into(), "delete".into())));
    assert_eq!(names.called("a_delete"), None, "it was not remembered");
}

#[test]
fn exposed_names_are_fit_unique_and_stable() {
    let long = "x".repeat(60);
    let wanted = [
        want("a", "a.b/c d"),
        want("a", &format!("{long}_first_of_two")),
        want("a", &format!("{long}_second_of_two")),
        want("b", "a_b_c_d"),
        want("b", "a.b.c.d"),
        want("c", "名前"),
    ];
    let (named, _) = Names::default().assign(&wanted);
    let exposed: HashSet<_> = named.values().flat_map(HashMap::values).map(|n| n.exposed.clone()).collect();
    assert_eq!(exposed.len(), wanted.len());
    for name in &exposed {
        assert!((1..=64).contains(&name.len()), "{name}");
        assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-'), "{name}");
    }
    let (again, _) = Names::default().assign(&wanted);
    assert_eq!(named, again);
}

#[test]
fn twenty_thousand_names_survive_the_file() {
    let wanted: Vec<Wanted> = (0..20_000).map(|index| want("a", &format!("tool_{index}"))).collect();
    let mut names = Names::default();
    assert!(names.remember(&wanted));
    assert!(!names.remember(&wanted));
    let text = serde_json::to_string(&names).unwrap();
    assert_eq!(serde_json::from_str::<Names>(&text).unwrap(), names);
}

#[test]
fn a_server_that_renames_its_tools_for_ever_is_forgotten_and_nobody_else() {
    let mut names = Names::default();
    names.remember(&[want("steady", "get")]);
    for round in 0..4 {
        let fresh: Vec<Wanted> = (0..4_000).map(|index| want("churn", &format!("{round}_{index}"))).collect();
        names.remember(&fresh);
    }
    assert!(names.remembered.len() <= MAX_REMEMBERED + 1, "{}", names.remembered.len());
    assert!(!names.remember(&[want("steady", "get")]), "the steady one is still known");
}

#[test]
fn nobody_takes_the_name_that_agents_call_another_tool_by() {
    let mut names = Names::default();
    names.remember(&[want("files", "a.b")]);
    let wanted = [want("files", "a.b"), want("evil", "a_b")];
    assert_eq!(name_of(&names, &wanted, "files", "a.b").1, "a_b");
    let (name, exposed) = name_of(&names, &wanted, "evil", "a_b");
    assert!(name != "a_b" && exposed != "a_b", "{name} {exposed}");
    // The other way round: a name in the catalogue is no other tool's name for agents.
    let wanted = [want("evil", "a.b"), want("files", "a_b")];
    let (files, evil) =
        (name_of(&Names::default(), &wanted, "files", "a_b"), name_of(&Names::default(), &wanted, "evil", "a.b"));
    assert_ne!(files.0, evil.1);
}

#[test]
fn a_seats_own_tool_has_the_name_that_a_shared_one_has_and_both_stay() {
    let own = |server: &str, raw: &str| Wanted { held: Held::Own, ..want(server, raw) };
    let wanted = [want("wiki", "get"), own("jira", "get"), own("linear", "get")];
    let mut names = Names::default();
    let expected = [("wiki", "get"), ("jira", "get"), ("linear", "linear_get")];
    for _ in 0..2 {
        for (server, name) in expected {
            assert_eq!(name_of(&names, &wanted, server, "get").0, name, "{server}");
        }
        let collisions = names.assign(&wanted).1;
        assert!(collisions.iter().all(|collision| &*collision.server == "linear"), "{collisions:?}");
        names.remember(&wanted);
        let text = serde_json::to_string(&names).unwrap();
        assert_eq!(text.matches("held").count(), 2, "{text}");
        names = serde_json::from_str(&text).unwrap();
    }
    let known: Vec<_> = names.of_server("jira", Held::Own).map(|known| known.name.to_string()).collect();
    assert_eq!(known, ["get"]);
    assert_eq!(names.of_server("jira", Held::Shared).count() + names.of_server("jir", Held::Own).count(), 0);
    // A server that becomes everybody's is one among the shared ones.
    assert_eq!(name_of(&names, &[want("wiki", "get"), want("jira", "get")], "jira", "get").0, "jira_get");
}

#[test]
fn nobody_gets_a_name_of_the_engines() {
    let wanted = [want("turn", "begin"), want("a", "begin"), want("b", "turn.end"), want("c", "delegate")];
    let (named, _) = Names::default().assign(&wanted);
    for names in named.values().flat_map(HashMap::values) {
        assert!(!is_reserved(&names.name) && !is_reserved(&names.exposed), "{names:?}");
    }
    let old = r#"{"remembered":[{"server":"c","raw":"x","wanted":"x","name":"delegate","exposed":"delegate"}]}"#;
    let old: Names = serde_json::from_str(old).unwrap();
    assert_eq!(name_of(&old, &[want("c", "x")], "c", "x").0, "x");
}

#[test]
fn a_changed_prefix_is_a_changed_name() {
    let mut names = Names::default();
    names.remember(&[want("a", "get")]);
    let prefixed = Wanted { name: "x_get".into(), ..want("a", "get") };
    assert_eq!(name_of(&names, std::slice::from_ref(&prefixed), "a", "get").0, "x_get");
    assert!(names.remember(std::slice::from_ref(&prefixed)));
    assert_eq!(names.remembered.len(), 1);
}
