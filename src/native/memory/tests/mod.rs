//! The tools of memory, row by row.

mod embedding;

use std::collections::HashSet;

use serde_json::json;

use super::*;
use crate::config::model::Source;
use crate::native::request::Class;
use crate::secret::Secret;
use crate::store::memory::{NewSkill, SkillState};
use crate::store::{StoreError, WriteStore};
use crate::turns::verdict::Obligation;
use crate::turns::{Bound, Place, Who};

const CONFIG: &str = "
name: Acme
roles:
  - { name: Release, goal: Ship, responsibilities: [tags, notes] }
  - { name: Agent CEO, identities: { chat: U1 } }
  - { name: Ada, kind: human }
mcp_servers: []
";

struct Bench {
    memory: Memory,
    /// Open sessions, by name.
    places: HashMap<&'static str, Place>,
    folder: tempfile::TempDir,
}

fn bench() -> Bench {
    bench_with(None)
}

fn bench_with(embedder: Option<Embedder>) -> Bench {
    let config = crate::config::load(CONFIG, &Source::File("config.yaml".into())).unwrap().config;
    let folder = tempfile::tempdir().unwrap();
    let turns = Arc::new(Turns::default());
    let open = |seat: &str, session: &str| {
        let who = Who { seat: seat.into(), session: session.into(), client: "c".into() };
        turns.open(who, Bound::Session)
    };
    let places =
        HashMap::from([("s1", open("release", "s1")), ("s2", open("release", "s2")), ("c1", open("agent-ceo", "c1"))]);
    let memory = Memory::new(Store::new(folder.path()), Current::new(Company::of(&config)), turns);
    memory.equip(Redactor::default(), embedder);
    Bench { memory, places, folder }
}

fn seat(seat: &str, session: &str) -> Caller {
    Caller::Seat { seat: seat.into(), session: session.into(), client: "c".into() }
}

impl Bench {
    async fn call(&self, session: &str, tool: &str, arguments: Value) -> Outcome {
        let who = if session.starts_with('c') { "agent-ceo" } else { "release" };
        self.call_as(&seat(who, session), tool, arguments).await
    }

    /// With the checks that every tool's arguments pass.
    async fn call_as(&self, caller: &Caller, tool: &str, arguments: Value) -> Outcome {
        let arguments = arguments.as_object().unwrap();
        TOOLS.iter().find(|known| known.name == tool).unwrap().check(arguments)?;
        self.memory.call(tool, arguments, caller).await
    }

    async fn text(&self, session: &str, tool: &str, arguments: Value) -> String {
        self.call(session, tool, arguments).await.unwrap().as_str().unwrap().to_owned()
    }

    async fn refused(&self, session: &str, tool: &str, arguments: Value) -> String {
        self.call(session, tool, arguments).await.unwrap_err().message
    }

    async fn write<T: Send + 'static>(
        &self,
        job: impl FnOnce(&WriteStore<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> T {
        self.memory.store.write(job).await.unwrap()
    }

    async fn skill(&self, name: &'static str, body: &'static str) {
        self.write(move |store| {
            let agent_id = agent_id("Acme", &"release".into());
            let (name, body) = (name.to_owned(), body.to_owned());
            store.add_skill(&NewSkill { agent_id, name, description: String::new(), body, at: Timestamp::now() })
        })
        .await;
    }

    async fn set(&self, name: &'static str, state: SkillState) {
        self.write(move |store| {
            let skill = store.skill(&agent_id("Acme", &"release".into()), name)?.unwrap();
            store.set_skill_state(&skill, state, Timestamp::now())
        })
        .await;
    }
}

#[test]
fn the_family_says_what_is_documented() {
    use crate::tool::annotations::Hint::{No, Unknown, Yes};
    let expected = [
        ("lookup_colleague", [Yes, Unknown, Yes, Unknown]),
        ("reflect_and_persist", [No, No, Unknown, No]),
        ("refresh_memory", [Yes, Unknown, Yes, Unknown]),
        ("query_episodes", [Yes, Unknown, Yes, Unknown]),
        ("use_skill", [Yes, Unknown, Yes, Unknown]),
        ("refine_skill", [No, No, Unknown, No]),
        ("mark_onboarded", [No, No, Yes, No]),
    ];
    let listed: Vec<_> = TOOLS.iter().map(|tool| (tool.name, tool.hints.0)).collect();
    assert_eq!(listed, expected);
    assert!(TOOLS.iter().all(|tool| tool.delivers.is_none()), "what only the seat sees reaches nobody");
    let absent: HashSet<_> = ["create_task", "assign_task", "update_task", "list_tasks"].into();
    assert!(crate::native::table::all().all(|tool| !absent.contains(tool.name)));
}

#[tokio::test]
async fn whoever_drives_no_seat_is_outside_of_a_turn() {
    let bench = bench();
    let operator =
        Caller::Operator { holder: SeatHandle::of_operator("founder"), session: "s1".into(), client: "c".into() };
    let arguments = |tool: &str| match tool {
        "lookup_colleague" | "query_episodes" => json!({"query": "ceo"}),
        "reflect_and_persist" => json!({"content": "x"}),
        "refresh_memory" => json!({"context_hint": "x"}),
        "use_skill" => json!({"skill_name": "x"}),
        "refine_skill" => json!({"name": "x", "content": "x"}),
        _ => json!({"summary": "x"}),
    };
    for tool in TOOLS {
        for caller in [&operator, &Caller::Console] {
            let refused = bench.call_as(caller, tool.name, arguments(tool.name)).await.unwrap_err();
            assert_eq!(refused.class, Class::Forbidden, "{}", tool.name);
            assert!(refused.message.contains("turn"), "{}", refused.message);
        }
        // A seat cannot be named: there is no such argument.
        let mut forged = arguments(tool.name);
        forged["agent_id"] = json!("somebody");
        let refused = bench.call("s1", tool.name, forged).await.unwrap_err();
        assert_eq!(refused.class, Class::Invalid, "{}", refused.message);
        // What has to be there is named when it is not, or is blank.
        for field in tool.fields.iter().filter(|field| field.required) {
            for missing in [None, Some(json!(null)), Some(json!("")), Some(json!(" \n")), Some(json!(7))] {
                let mut arguments = arguments(tool.name);
                match missing {
                    None => _ = arguments.as_object_mut().unwrap().shift_remove(field.name),
                    Some(value) => arguments[field.name] = value,
                }
                let refused = bench.refused("s1", tool.name, arguments).await;
                assert!(refused.starts_with(field.name), "{}: {refused}", tool.name);
            }
        }
    }
}

#[tokio::test]
async fn a_colleague_is_looked_up() {
    let bench = bench();
    let found = bench.text("s1", "lookup_colleague", json!({"query": "ceo"})).await;
    assert!(
        found.contains("inferred") && found.contains("handle: agent-ceo\n") && found.ends_with("chat_id: U1"),
        "{found}"
    );
    assert!(bench.refused("s1", "lookup_colleague", json!({"query": "nobody"})).await.contains("\"nobody\""));
}

#[tokio::test]
async fn a_fact_is_found_again_by_its_seat_alone() {
    let bench = bench();
    let kept = bench
        .text(
            "s1",
            "reflect_and_persist",
            json!({"content": "The staging password rotates on Fridays", "note": "from ops"}),
        )
        .await;
    assert!(kept.contains("LONG") && kept.contains("entry 1"), "{kept}");
    let short =
        bench.text("s1", "reflect_and_persist", json!({"content": "Freeze until Monday", "ttl_days": "3"})).await;
    assert!(short.contains("SHORT") && short.contains("forgotten after 20"), "{short}");
    for (arguments, words) in [
        (json!({"content": "x", "ttl_days": "soon"}), "ttl_days is not a whole number"),
        (json!({"content": "x", "ttl_days": {}}), "ttl_days is not a whole number"),
        (json!({"content": "x", "kind": "forever"}), "kind is not one of"),
    ] {
        let refused = bench.refused("s1", "reflect_and_persist", arguments).await;
        assert!(refused.contains(words), "{refused}");
    }
    let long = "z".repeat(1_000_000);
    bench.text("s1", "reflect_and_persist", json!({"content": long})).await;

    let found = bench
        .text("s2", "refresh_memory", json!({"context_hint": "which day does the staging password rotate?"}))
        .await;
    assert!(found.starts_with("From your diary (1 of 3, what fits best first):\n- ["), "{found}");
    assert!(found.contains("] The staging password rotates on Fridays (note: from ops)"), "{found}");
    let nothing = bench.text("c1", "refresh_memory", json!({"context_hint": "staging password"})).await;
    assert_eq!(nothing, "Nothing in your diary matches this.");
    let entries =
        bench.memory.store.read(|store| store.diary(&agent_id("Acme", &"release".into()), Timestamp::now(), 9));
    let entries: Vec<crate::store::memory::DiaryEntry> = entries.await.map_err(|error: StoreError| error).unwrap();
    assert_eq!(entries[0].content, long, "kept whole");
    assert_eq!((entries[2].retrieved, entries[2].metadata.as_str()), (1, r#"{"note":"from ops"}"#));
}

#[tokio::test]
async fn a_turn_has_three_hints() {
    let bench = bench();
    bench.text("s1", "reflect_and_persist", json!({"content": "alpha"})).await;
    let refresh = |hint: &'static str| bench.call("s1", "refresh_memory", json!({"context_hint": hint}));
    let first = refresh("Alpha  please").await.unwrap();
    bench.text("s1", "reflect_and_persist", json!({"content": "alpha again"})).await;
    refresh("beta").await.unwrap();
    refresh("gamma").await.unwrap();
    let over = refresh("delta").await.unwrap_err();
    assert!(over.message.contains("3 different hints"), "{}", over.message);
    assert_eq!(refresh(" ALPHA please\n").await.unwrap(), first, "as it was answered then");
    assert!(bench.call("s2", "refresh_memory", json!({"context_hint": "delta"})).await.is_ok(), "another turn");
    let nobody = bench.call_as(&seat("release", "gone"), "refresh_memory", json!({"context_hint": "x"})).await;
    assert_eq!(nobody.unwrap_err().class, Class::Forbidden, "no turn");
}

#[tokio::test]
async fn a_worker_works_with_its_seats_memory() {
    let bench = bench();
    let worker = |session: &str| Caller::Worker {
        seat: "release".into(),
        holder: "w1".into(),
        session: session.into(),
        client: "c".into(),
    };
    bench.call_as(&worker("a"), "reflect_and_persist", json!({"content": "alpha"})).await.unwrap();
    let found = bench.text("s1", "refresh_memory", json!({"context_hint": "alpha"})).await;
    assert!(found.contains("alpha"), "{found}");
    for hint in ["1", "2", "3"] {
        bench.call_as(&worker("a"), "refresh_memory", json!({"context_hint": hint})).await.unwrap();
    }
    assert!(bench.call_as(&worker("a"), "refresh_memory", json!({"context_hint": "4"})).await.is_err());
    bench.call_as(&worker("b"), "refresh_memory", json!({"context_hint": "alpha"})).await.unwrap();
}

#[tokio::test]
async fn a_broken_store_uses_up_no_hint_and_fails_what_needs_it() {
    let bench = bench();
    std::fs::write(bench.folder.path().join(crate::store::FILE), "this is no database, by far").unwrap();
    for hint in ["a", "b", "c", "d"] {
        let told = bench.text("s1", "refresh_memory", json!({"context_hint": hint})).await;
        assert!(told.starts_with("Nothing in your diary matches"), "{told}");
    }
    for (tool, arguments) in [
        ("reflect_and_persist", json!({"content": "x"})),
        ("query_episodes", json!({"query": "x"})),
        ("use_skill", json!({"skill_name": "x"})),
        ("refine_skill", json!({"name": "x", "content": "x"})),
        ("mark_onboarded", json!({"summary": "x"})),
    ] {
        let refused = bench.call("s1", tool, arguments).await.unwrap_err();
        assert_eq!(refused.class, Class::Unavailable, "{tool}: {}", refused.message);
    }
    // Who somebody is needs no store, and nobody is nagged about what is not known.
    bench.text("s1", "lookup_colleague", json!({"query": "ceo"})).await;
    let brief = bench.memory.brief("release").await;
    assert_eq!(brief, "You are Release (handle release) at Acme.\nGoal: Ship\nYou answer for:\n- tags\n- notes");
}

#[tokio::test]
async fn a_skill_is_used_bettered_and_put_away() {
    let bench = bench();
    let none = bench.refused("s1", "use_skill", json!({"skill_name": "deploy"})).await;
    assert!(none.contains("no skill \"deploy\"; you have none yet"), "{none}");
    bench.skill("deploy", "# Deploy").await;
    assert_eq!(bench.text("s1", "use_skill", json!({"skill_name": " deploy "})).await, "# Deploy");
    let unknown = bench.refused("s1", "use_skill", json!({"skill_name": "nope\u{1b}[2J"})).await;
    assert!(unknown.contains("yours are: deploy") && !unknown.contains('\u{1b}'), "{unknown}");
    let of_another = bench.refused("c1", "use_skill", json!({"skill_name": "deploy"})).await;
    assert!(of_another.contains("you have none yet"), "{of_another}");

    let refine = |arguments: Value| bench.call("s1", "refine_skill", arguments);
    let told = refine(json!({"name": "deploy", "content": "tag first", "reason": "it failed"})).await.unwrap();
    assert!(told.as_str().unwrap().contains("version 2"), "{told}");
    assert_eq!(bench.text("s1", "use_skill", json!({"skill_name": "deploy"})).await, "# Deploy\n\n- tag first");
    refine(json!({"name": "deploy", "action": "replace_body", "content": " # New "})).await.unwrap();
    refine(json!({"name": "deploy", "action": null, "content": "1. b"})).await.unwrap();
    assert_eq!(bench.text("s1", "use_skill", json!({"skill_name": "deploy"})).await, "# New\n\n1. b");
    for (arguments, words) in [
        (json!({"name": "deploy", "action": "delete", "content": "x"}), "action is not one of"),
        (json!({"name": "nope", "content": "x"}), "no skill \"nope\""),
        (json!({"name": "deploy", "action": "replace_body", "content": "ä".repeat(20_001)}), "20001 characters"),
        (json!({"name": "deploy", "content": "x".repeat(20_000)}), "20000 is the most"),
    ] {
        let refused = bench.refused("s1", "refine_skill", arguments).await;
        assert!(refused.contains(words), "{words:?} in {refused}");
    }
    refine(json!({"name": "deploy", "action": "replace_body", "content": "ä".repeat(20_000)})).await.unwrap();
    let versions = bench.memory.store.read(|store| {
        let skill = store.skill(&agent_id("Acme", &"release".into()), "deploy")?.unwrap();
        store.skill_versions(&skill)
    });
    let versions: Vec<crate::store::memory::SkillVersion> = versions.await.map_err(|error: StoreError| error).unwrap();
    let kept: Vec<_> =
        versions.iter().map(|version| (version.version, version.kind.as_str(), version.note.as_deref())).collect();
    assert_eq!(kept[3], (1, "refine_skill_tool", Some("it failed")), "{kept:?}");

    bench.set("deploy", SkillState::Stale).await;
    let stale = bench.text("s1", "use_skill", json!({"skill_name": "deploy"})).await;
    assert!(stale.starts_with("Warning: this skill is marked as stale") && stale.ends_with('ä'));
    bench.set("deploy", SkillState::Archived).await;
    let archived = bench.refused("s1", "use_skill", json!({"skill_name": "deploy"})).await;
    assert!(archived.contains("archived"), "{archived}");
    assert!(!bench.memory.brief("release").await.contains("Your skills"));
}

#[tokio::test]
async fn a_seat_is_onboarded_until_it_is_moved() {
    let bench = bench();
    assert!(bench.memory.brief("release").await.contains("not onboarded"));
    for _ in 0..2 {
        let told = bench.text("s1", "mark_onboarded", json!({"summary": "I ship."})).await;
        assert_eq!(told, "Noted: you are onboarded as Release.");
    }
    assert!(!bench.memory.brief("release").await.contains("not onboarded"));
    assert!(bench.memory.brief("agent-ceo").await.contains("not onboarded"), "each seat by itself");
    let moved = CONFIG.replace("goal: Ship", "unit: Back, goal: Ship") + "units: [ { name: Back } ]";
    let config = crate::config::load(&moved, &Source::File("config.yaml".into())).unwrap().config;
    let memory = Memory::new(bench.memory.store.clone(), Current::new(Company::of(&config)), Arc::default());
    let brief = memory.brief("release").await;
    assert!(brief.contains("at Acme, in Back.") && brief.contains("not onboarded"), "{brief}");
    let gone = bench.call_as(&seat("fired", "x"), "mark_onboarded", json!({"summary": "x"})).await.unwrap_err();
    assert_eq!(gone.class, Class::NotFound, "unknown role");
}

#[tokio::test]
async fn what_is_told_at_the_door_is_what_was_kept() {
    let bench = bench();
    bench.text("s1", "reflect_and_persist", json!({"content": "Tags are signed"})).await;
    bench.skill("deploy", "x").await;
    bench.text("s1", "mark_onboarded", json!({"summary": "I ship."})).await;
    let brief = bench.memory.brief("release").await;
    assert!(brief.contains("diary, newest first:\n- [") && brief.contains("] Tags are signed"), "{brief}");
    assert!(brief.ends_with("Your skills, which use_skill loads: deploy."), "{brief}");
    assert_eq!(bench.memory.brief("nobody").await, "");
}

#[tokio::test]
async fn ended_turns_are_written_down_to_the_last_and_found_by_their_seat() {
    let mut bench = bench();
    bench.skill("deploy", "x").await;
    let reader = bench.memory.turns.ends().take().unwrap();
    let session: Arc<str> = "s1".into();
    let turns = bench.memory.turns.clone();
    turns.begin((&"release".into(), &session), Some("Fix the login page".into()), Obligation::default()).unwrap();
    bench.text("s1", "use_skill", json!({"skill_name": "deploy"})).await;
    let claim = crate::turns::verdict::Claim::NoAction;
    turns.end((&"release".into(), &session), (claim, Some("Mended the form.".into())), &[]).unwrap();
    turns.begin((&"release".into(), &"s2".into()), Some("Fix the build".into()), Obligation::default()).unwrap();
    // An orderly end: what goes on ends, and nothing comes after it.
    bench.places.clear();
    turns.close();
    bench.memory.write_down(reader).await;

    let caller = seat("release", "later");
    let query = |arguments: Value| bench.call_as(&caller, "query_episodes", arguments);
    let found = query(json!({"query": "login form"})).await.unwrap();
    let episode = &found["episodes"][0];
    assert_eq!(found["episodes"].as_array().unwrap().len(), 1, "{found}");
    assert_eq!((&episode["kind"], &episode["review_outcome"]), (&json!("raw"), &json!("done")));
    assert_eq!(episode["task_summary"], json!("Fix the login page"));
    assert_eq!(episode["plan_summary"], json!("Mended the form."));
    assert_eq!(episode["skills_used"], json!(["deploy"]), "{found}");
    assert!(episode["ended_at"].as_str().unwrap().ends_with('Z') && episode["duration_ms"].is_i64(), "{found}");
    let left = query(json!({"query": "fix", "outcome_filter": "self_iterate", "limit": "many"})).await.unwrap();
    assert_eq!(left["episodes"][0]["task_summary"], json!("Fix the build"));
    let none = query(json!({"query": "fix", "outcome_filter": "failed"})).await.unwrap();
    assert_eq!(none, json!("None of your finished turns is like that."));
    let one = query(json!({"query": "fix", "limit": 0})).await.unwrap();
    assert_eq!(one["episodes"].as_array().unwrap().len(), 1);
    assert!(bench.call_as(&caller, "query_episodes", json!({"query": "x", "outcome_filter": "maybe"})).await.is_err());
    let of_another = bench.call_as(&seat("agent-ceo", "c"), "query_episodes", json!({"query": "login"})).await.unwrap();
    assert!(of_another.is_string(), "{of_another}");
}
