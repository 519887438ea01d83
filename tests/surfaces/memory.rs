//! What a seat remembers, over HTTP: kept in one session, told and found in the next; and a store that fails.

use reqwest::Method;
use serde_json::{Value, json};

use crate::bench::{Agent, Bench, CONFIG, LEGACY, bench_with};

async fn company() -> Bench {
    bench_with(&format!("{CONFIG}operators: [ {{ id: founder, token: '${{FOUNDER}}' }} ]\n")).await
}

async fn told(agent: &Agent) -> String {
    let answer = match agent.session {
        Some(_) => agent.initialize(LEGACY).await,
        None => agent.request("server/discover", json!({})).await,
    };
    answer.message()["result"]["instructions"].as_str().unwrap().to_owned()
}

async fn says(agent: &Agent, tool: &str, arguments: Value) -> String {
    agent.call(tool, &arguments.to_string()).await.outcome()
}

async fn end(agent: &Agent) {
    let session = agent.session.as_deref().unwrap();
    let ended = agent.with(Method::DELETE, &[("mcp-session-id", session)]).await;
    assert_eq!(ended.status, reqwest::StatusCode::OK, "{ended:?}");
}

#[tokio::test]
async fn a_fact_of_one_session_is_told_and_found_in_the_next() {
    let bench = company().await;
    let first = bench.legacy("release").await;
    let new = told(&bench.agent("release", Some(String::new()))).await;
    assert!(new.starts_with("You are Release Manager (handle release) at Acme."), "{new}");
    assert!(new.contains("not onboarded") && new.contains("wait for a person"), "{new}");
    says(&first, "reflect_and_persist", json!({"content": "Tags are signed by the build machine"})).await;
    says(&first, "mark_onboarded", json!({"summary": "I ship."})).await;
    end(&first).await;
    for agent in bench.both("release").await {
        let now = told(&agent).await;
        assert!(now.contains("] Tags are signed by the build machine") && !now.contains("not onboarded"), "{now}");
        let found = says(&agent, "refresh_memory", json!({"context_hint": "who signs the tags?"})).await;
        assert!(found.starts_with("ok: From your diary (1 of 1") && found.contains("Tags are signed"), "{found}");
        let colleague = says(&agent, "lookup_colleague", json!({"query": "reviewer"})).await;
        assert!(colleague.contains("handle: review\nkind: agent\nrole: Reviewer"), "{colleague}");
    }
    // Another seat's diary is another's, and operators hold none of it.
    let other = bench.legacy("review").await;
    assert!(!told(&other).await.contains("Tags"));
    let found = says(&other, "refresh_memory", json!({"context_hint": "who signs the tags?"})).await;
    assert_eq!(found, "ok: Nothing in your diary matches this.");
    let founder = bench.operator("founder", "/operator/mcp", true).await;
    for tool in ["reflect_and_persist", "lookup_colleague", "use_skill"] {
        assert_eq!(founder.call(tool, "{}").await.message()["error"]["code"], json!(-32602), "{tool}");
    }
    bench.stop().await;
}

#[tokio::test]
async fn what_belongs_to_the_seat_alone_is_served_with_its_hints() {
    let bench = company().await;
    let listed = bench.modern("release").list().await;
    let tools = listed["result"]["tools"].as_array().unwrap();
    let hints = |name: &str| {
        let tool = tools.iter().find(|tool| tool["name"] == json!(name)).unwrap_or_else(|| panic!("{name}"));
        tool["annotations"].clone()
    };
    for read in ["lookup_colleague", "refresh_memory", "query_episodes", "use_skill"] {
        assert_eq!(hints(read), json!({"readOnlyHint": true, "idempotentHint": true}), "{read}");
    }
    for writes in ["reflect_and_persist", "refine_skill"] {
        assert_eq!(hints(writes), json!(null), "{writes}");
    }
    assert_eq!(hints("mark_onboarded"), json!({"idempotentHint": true}));
    let absent = ["create_task", "assign_task", "update_task", "list_tasks"];
    assert!(tools.iter().all(|tool| absent.iter().all(|name| tool["name"] != json!(name))));
    bench.stop().await;
}

#[tokio::test]
async fn a_store_that_fails_keeps_nobody_out_and_nags_nobody() {
    let bench = company().await;
    std::fs::write(bench.state.file(crewlet_tui::store::FILE), "this is no database, by far").unwrap();
    for agent in bench.both("release").await {
        let said = told(&agent).await;
        assert!(said.starts_with("You are Release Manager") && said.contains("wait for a person"), "{said}");
        assert!(!said.contains("onboarded") && !said.contains("diary"), "{said}");
        let failed = says(&agent, "reflect_and_persist", json!({"content": "x"})).await;
        assert!(failed.starts_with("error: unavailable: the diary was not written: the store is damaged"), "{failed}");
    }
    bench.stop().await;
}

#[tokio::test]
async fn the_turns_of_a_session_are_written_down_when_it_ends() {
    let bench = company().await;
    let turns = bench.native.shared().turns.clone();
    let (memory, ended) = (bench.native.memory().clone(), turns.ends().take().unwrap());
    let writer = tokio::spawn(async move { memory.write_down(ended).await });
    let first = bench.legacy("release").await;
    says(&first, "turn_begin", json!({"trigger": "Cut release 2.4", "reply": "none"})).await;
    says(&first, "lookup_colleague", json!({"query": "review"})).await;
    end(&first).await;
    let second = bench.legacy("release").await;
    let mut found = String::new();
    // Written down behind the scenes; each question is a request, so this does not spin.
    for _ in 0..200 {
        found = says(&second, "query_episodes", json!({"query": "release", "limit": 1})).await;
        if found.contains("Cut release 2.4") {
            break;
        }
    }
    assert!(
        found.contains(r#""task_summary":"Cut release 2.4""#) && found.contains(r#"["lookup_colleague"]"#),
        "{found}"
    );
    let state = bench.state.clone();
    let (surfaces, handle) = (bench.surfaces, bench.handle);
    surfaces.end().await;
    turns.close();
    writer.await.unwrap();
    // The turn that was going on at the end is there as well.
    let store = crewlet_tui::store::Store::new(state.path());
    let all = store.read(|store| store.episode_count("release")).await;
    let all: i64 = all.map_err(|error: crewlet_tui::store::StoreError| error).unwrap();
    assert_eq!(all, 2);
    handle.send(crewlet_tui::engine::command::Command::Shutdown).unwrap();
    bench.engine.await.unwrap();
}
