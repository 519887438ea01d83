//! Workers: sub-agents under a seat, each with a token of its own, exactly the tools that the guard let through, and an
//! end.

use std::sync::Arc;
use std::time::Duration;

use crewlet_tui::engine::audit::{Decision, Kind};
use crewlet_tui::engine::command::{Command, GrantScope, Remember, Verdict, WorkerOrder};
use crewlet_tui::engine::snapshot::{Caller, WorkerView};
use crewlet_tui::ids::{SeatHandle, WorkerId};
use crewlet_tui::surface::tokens;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::bench::{Agent, Bench, CONFIG, LEGACY, bench, bench_with, read_until, tools};
use crate::scripted::Reaction;

/// A worker of a seat, made by the person, with the token that only they were given.
async fn worker(bench: &Bench, seat: &str, tools: &[&str]) -> (Arc<WorkerView>, Agent) {
    worker_for(bench, seat, tools, 5).await
}

async fn worker_for(bench: &Bench, seat: &str, tools: &[&str], minutes: u16) -> (Arc<WorkerView>, Agent) {
    let id = WorkerId::fresh();
    let order = WorkerOrder {
        worker: id.clone(),
        seat: SeatHandle::new(seat),
        task: "look it up".to_owned(),
        tools: tools.iter().map(|tool| (*tool).into()).collect(),
        minutes,
    };
    bench.handle.send(Command::MintWorker(order)).expect("taken");
    let there = |workers: &[Arc<WorkerView>]| workers.iter().find(|worker| worker.id == id).cloned();
    let view = there(&bench.until(|snapshot| there(&snapshot.workers).is_some()).await.workers).unwrap();
    let token = bench.handle.workers().claim(&id, None).expect("once").expose().to_owned();
    let agent = Agent { url: view.url.to_string(), token, ..bench.agent(seat, None) };
    (view, agent)
}

/// The same agent in both eras.
async fn both(agent: &Agent) -> [Agent; 2] {
    let mut legacy = Agent { session: Some(String::new()), ..agent.clone() };
    let answer = legacy.initialize(LEGACY).await;
    legacy.session = Some(answer.headers["mcp-session-id"].to_str().unwrap().to_owned());
    [legacy, agent.clone()]
}

fn names(list: &Value) -> Vec<String> {
    let tools = list["result"]["tools"].as_array().unwrap_or_else(|| panic!("{list}"));
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

async fn is_locked_out(agent: &Agent) -> bool {
    let answer = agent.request("tools/list", json!({})).await;
    answer.status == StatusCode::UNAUTHORIZED && answer.body.is_empty()
}

/// Waits until a worker does not come in any more.
async fn until_locked_out(agent: &Agent) {
    let waiting = async {
        while !is_locked_out(agent).await {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), waiting).await.expect("in time");
}

#[tokio::test]
async fn a_worker_has_exactly_what_it_was_given_over_its_parents_connections() {
    let bench = bench().await;
    let wanted = ["get", "mystery", "delete", "delegate", "nothing"];
    let (view, agent) = worker(&bench, "release", &wanted).await;
    let reasons: Vec<(&str, String)> = view.barred.iter().map(|(name, barred)| (&**name, barred.to_string())).collect();
    assert_eq!(reasons[0], ("delete", "writes to a shared surface: it is destructive".to_owned()));
    assert!(reasons[1].1.starts_with("denied by name") && reasons[2].1.starts_with("unknown"), "{reasons:?}");
    for agent in both(&agent).await {
        let list = agent.list().await;
        assert_eq!(names(&list), ["get", "mystery"]);
        assert_eq!(list["result"]["tools"][0]["annotations"], json!({"readOnlyHint": true}));
        assert_eq!(agent.call("get", r#"{"id":"a"}"#).await.outcome(), "ok: ok");
        assert_eq!(bench.server.ledger().pop().unwrap(), ("get".to_owned(), r#"{"id":"a"}"#.to_owned()));
        let sent = bench.server.ledger().len();
        for name in ["delete", "odd_name_here", "delegate", "nothing", "crewlet/delegate", "notes/get"] {
            let error = agent.call(name, "{}").await.message()["error"].clone();
            assert_eq!(error["code"], json!(-32602), "{name}");
            assert_eq!(error["message"], json!("unknown tool: list the tools for what there is"), "{name}");
        }
        assert_eq!(bench.server.ledger().len(), sent, "nothing was sent");
        for method in ["resources/list", "prompts/list", "resources/templates/list"] {
            assert_eq!(agent.request(method, json!({})).await.message()["error"]["code"], json!(-32601), "{method}");
        }
    }
    let [legacy, modern] = both(&agent).await;
    let opened = legacy.initialize(LEGACY).await.message()["result"].clone();
    assert_eq!(opened["serverInfo"]["title"], json!(format!("Worker {} of release", view.id)));
    assert_eq!(opened["capabilities"], json!({"tools": {"listChanged": true}}));
    let found = modern.request("server/discover", json!({})).await.message()["result"].clone();
    assert!(found["capabilities"]["resources"].is_null() && found["capabilities"]["tools"].is_object(), "{found}");
    // Each call says whose it was: the parent's connections, the worker's own name.
    let records = bench.trail.records();
    for kind in [Kind::Received, Kind::Dispatched, Kind::Finished, Kind::Refused] {
        let of_kind: Vec<_> = records.iter().filter(|record| record.kind == kind).collect();
        assert!(!of_kind.is_empty(), "{kind:?}");
        for record in of_kind {
            let Some(Caller::Worker { seat, holder, client, .. }) = &record.caller else { panic!("{record:?}") };
            assert_eq!((seat.as_str(), holder.as_str()), ("release", &*format!("release/{}", view.id)));
            assert!(client.contains("agent"), "{client}");
        }
    }
    let refused: Vec<_> = records.iter().filter(|record| record.kind == Kind::Refused).collect();
    assert!(refused.iter().any(|record| record.name.as_deref() == Some("delete (not this worker's)")), "{refused:?}");
    assert!(!format!("{records:?}").contains(&agent.token));
    bench.stop().await;
}

#[tokio::test]
async fn no_token_but_its_own_opens_a_worker_and_its_own_opens_nothing_else() {
    let bench = bench().await;
    let (_, one) = worker(&bench, "release", &["get"]).await;
    let (_, other) = worker(&bench, "release", &["get"]).await;
    let parents = bench.token("release");
    for token in [&other.token, &parents, &bench.token("review"), &String::new(), &one.token[..70].to_owned()] {
        assert!(is_locked_out(&Agent { token: token.clone(), ..one.clone() }).await, "{token}");
    }
    for path in [
        "/seats/release/mcp",
        "/seats/review/mcp",
        "/operator/mcp",
        "/connector/mcp",
        "/workers/w0/mcp",
        "/workers//mcp",
    ] {
        assert!(is_locked_out(&Agent { url: bench.url(path), ..one.clone() }).await, "{path}");
    }
    for path in ["/tools", "/metrics", "/"] {
        assert_eq!(bench.get(&one.token, path).await.0, StatusCode::UNAUTHORIZED, "{path}");
    }
    // A session of one is none of the other's.
    let [mine, _] = both(&one).await;
    let stolen = Agent { url: other.url.clone(), token: other.token.clone(), ..mine.clone() };
    assert_eq!(stolen.request("tools/list", json!({})).await.status, StatusCode::NOT_FOUND);
    let parent = Agent { session: mine.session.clone(), ..bench.agent("release", None) };
    assert_eq!(parent.request("tools/list", json!({})).await.status, StatusCode::NOT_FOUND);
    assert_eq!(names(&mine.list().await), ["get"]);
    let (_, metrics) = bench.get(&parents, "/metrics").await;
    assert!(metrics.contains("\ncrewlet_workers 2\n"), "{metrics}");
    bench.stop().await;
}

#[tokio::test]
async fn a_worker_asks_like_its_parent_and_is_helped_by_no_remembered_decision() {
    let bench = bench().await;
    let parent = bench.modern("release");
    let call = parent.start_call("mystery", "{}");
    let remember = Remember { scope: GrantScope::ThisTool, span: None };
    bench.decide(&bench.question().await, Verdict::ApproveAndRemember(remember)).await;
    assert_eq!(call.await.unwrap().outcome(), "ok: ok");
    assert_eq!(parent.call("mystery", "{}").await.outcome(), "ok: ok", "remembered for the seat");
    let (view, agent) = worker(&bench, "release", &["mystery"]).await;
    for agent in both(&agent).await {
        let call = agent.start_call("mystery", r#"{"n":1}"#);
        let question = bench.question().await;
        let Caller::Worker { seat, .. } = &question.caller else { panic!("{:?}", question.caller) };
        assert_eq!(seat.as_str(), "release");
        // It cannot be remembered either: it would count for the seat.
        let grants = bench.handle.snapshot().grants.len();
        bench.handle.send(Command::Decide(question.shown(), Verdict::ApproveAndRemember(remember))).unwrap();
        let told = bench.until(|s| s.notices.iter().any(|notice| notice.text.contains("never remembered"))).await;
        assert_eq!((told.approvals.len(), told.grants.len()), (1, grants), "it still waits");
        bench.decide(&question, Verdict::Approve).await;
        assert_eq!(call.await.unwrap().outcome(), "ok: ok");
    }
    let shown = bench.until(|s| s.sessions.iter().any(|session| session.worker.as_ref() == Some(&view.id))).await;
    assert!(shown.calls.iter().any(|call| call.caller.is_worker()));
    bench.stop().await;
}

#[tokio::test]
async fn a_tool_that_turns_into_a_shared_write_is_not_its_any_more() {
    let bench = bench().await;
    let (_, agent) = worker(&bench, "release", &["get", "mystery"]).await;
    let [legacy, modern] = both(&agent).await;
    let mut stream = legacy.open(Method::GET).await;
    let waiting = legacy.start_call("mystery", "{}");
    bench.question().await;
    let mut changed = tools();
    for (tool, hints) in [(0, json!({"readOnlyHint": false})), (1, json!({"destructiveHint": true}))] {
        changed[tool]["annotations"] = hints;
    }
    bench.server.change_tools(changed).await;
    bench.until(|s| s.catalog.find(None, "get").is_some_and(|entry| entry.worker.writes)).await;
    // What waited for a person is refused by the guard, whoever would have approved it.
    let refused = waiting.await.unwrap().outcome();
    assert!(refused.contains("not for a worker: writes to a shared surface: it is destructive"), "{refused}");
    read_until(&mut stream, "notifications/tools/list_changed").await;
    for agent in [&legacy, &modern] {
        assert_eq!(names(&agent.list().await), [""; 0]);
        for name in ["get", "mystery"] {
            assert_eq!(agent.call(name, "{}").await.message()["error"]["code"], json!(-32602));
        }
    }
    assert_eq!(bench.server.ledger(), []);
    bench.stop().await;
}

#[tokio::test]
async fn a_worker_that_a_person_ends_is_out_and_its_question_gone() {
    let bench = bench().await;
    let (view, agent) = worker(&bench, "release", &["mystery"]).await;
    let (_, other) = worker(&bench, "release", &["mystery"]).await;
    let call = agent.start_call("mystery", "{}");
    bench.question().await;
    bench.handle.send(Command::EndWorker(view.id.clone())).unwrap();
    bench.until(|s| s.approvals.is_empty() && s.workers.iter().all(|worker| worker.id != view.id)).await;
    assert_eq!(bench.decisions(), [Decision::Withdrawn]);
    drop(call);
    assert!(is_locked_out(&agent).await && !is_locked_out(&other).await);
    bench.stop().await;
}

#[tokio::test]
async fn what_a_worker_waits_for_goes_with_its_time() {
    let bench = bench().await;
    let (view, agent) = worker_for(&bench, "release", &["mystery"], 1).await;
    let (_, longer) = worker_for(&bench, "release", &["mystery"], 5).await;
    assert_eq!(view.ends.since(view.since), Duration::from_secs(60));
    let calls = [agent.start_call("mystery", "{}"), both(&agent).await[0].start_call("mystery", "{}")];
    bench.until(|s| s.approvals.len() == 2).await;
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(60)).await;
    tokio::time::resume();
    bench.until(|s| s.approvals.is_empty() && s.workers.len() == 1).await;
    assert_eq!(bench.decisions(), [Decision::Withdrawn; 2]);
    assert!(is_locked_out(&agent).await && !is_locked_out(&longer).await);
    assert_eq!(bench.server.ledger(), []);
    drop(calls);
    bench.stop().await;
}

#[tokio::test]
async fn workers_end_with_their_seat() {
    let bench = bench().await;
    let (_, agent) = worker(&bench, "release", &["mystery"]).await;
    let (_, others) = worker(&bench, "review", &["get"]).await;
    let call = agent.start_call("mystery", "{}");
    bench.question().await;
    bench.handle.send(Command::StopSeat("release".into())).unwrap();
    assert!(call.await.unwrap().outcome().contains("seat was stopped"));
    until_locked_out(&agent).await;
    bench.until(|s| s.workers.len() == 1).await;
    // For good: who is released makes new ones.
    bench.handle.send(Command::ReleaseSeat("release".into())).unwrap();
    bench.until(|s| s.stopped_seats.is_empty()).await;
    assert!(is_locked_out(&agent).await);
    // A new token of the seat ends what the old one brought in.
    tokens::rotate(&bench.state, bench.config.org.seat(&"review".into()).unwrap()).unwrap();
    assert!(is_locked_out(&others).await);
    bench.stop().await;
}

#[tokio::test]
async fn nobody_is_made_a_worker_where_nobody_could_be() {
    let bench = bench().await;
    let order = |seat: &str| {
        Command::MintWorker(WorkerOrder {
            worker: WorkerId::fresh(),
            seat: seat.into(),
            task: String::new(),
            tools: vec!["get".into()],
            minutes: 5,
        })
    };
    bench.handle.send(order("nobody")).unwrap();
    bench.until(|s| s.notices.iter().any(|notice| notice.text.contains("nobody is no agent's seat"))).await;
    for _ in 0..9 {
        bench.handle.send(order("release")).unwrap();
    }
    let full = bench.until(|s| s.notices.iter().any(|notice| notice.text.contains("as many as it may"))).await;
    assert_eq!(full.workers.len(), 8);
    bench.handle.send(Command::StopSeat("review".into())).unwrap();
    bench.handle.send(order("review")).unwrap();
    bench.until(|s| s.notices.iter().any(|notice| notice.text.contains("review is stopped"))).await;
    bench.stop().await;
}

#[tokio::test]
async fn a_workers_results_are_its_own_to_pick_up() {
    let bench = bench().await;
    bench.server.react([Reaction::Result(json!({"content": [{"type": "text", "text": "mine"}]}))]);
    let (_, one) = worker(&bench, "release", &["get"]).await;
    assert_eq!(one.call("get", "{}").await.outcome(), "ok: mine");
    let (_, bystander) = worker(&bench, "release", &[]).await;
    assert_eq!(names(&bystander.list().await), [""; 0], "nothing is inherited");
    bench.stop().await;
}

/// A company whose agents have the program's own tools.
async fn company() -> Bench {
    bench_with(&format!("{CONFIG}operators: [ {{ id: founder, token: '${{FOUNDER}}' }} ]\n")).await
}

/// What `delegate` answers, with the worker that it is about.
async fn delegated(parent: &Agent, arguments: Value) -> (Value, Agent) {
    let result = parent.call("delegate", &arguments.to_string()).await.message()["result"].clone();
    assert_eq!(result["isError"], json!(false), "{result}");
    let made = result["structuredContent"].clone();
    let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!((text, result["content"].as_array().unwrap().len()), (made.clone(), 1), "the text says the same");
    let (url, token) = (made["url"].as_str().unwrap().to_owned(), made["token"].as_str().unwrap().to_owned());
    (made, Agent { url, token, session: None, ..parent.clone() })
}

#[tokio::test]
async fn an_agent_makes_a_worker_and_alone_hears_its_token() {
    let bench = company().await;
    for parent in bench.both("release").await {
        let listed = parent.list().await;
        let tools = listed["result"]["tools"].as_array().unwrap();
        let delegate = tools.iter().find(|tool| tool["name"] == json!("delegate")).expect("listed");
        assert_eq!(delegate["annotations"], json!({"openWorldHint": true}));
        let wanted = json!({
            "task": "find the stale ones", "minutes": 7,
            "tools": ["get", "get", "get_work_item", "create_work_item", "delegate", "delete", "nothing", "notes/mystery"],
        });
        let (made, worker) = delegated(&parent, wanted).await;
        let members: Vec<&String> = made.as_object().unwrap().keys().collect();
        assert_eq!(members, ["id", "url", "token", "expires_at", "tools", "rejected"]);
        assert_eq!(made["tools"], json!(["get", "get_work_item", "mystery"]));
        let rejected: Vec<(&str, &str)> = made["rejected"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| (one["tool"].as_str().unwrap(), one["reason"].as_str().unwrap().split(':').next().unwrap()))
            .collect();
        assert_eq!(
            rejected,
            [
                ("create_work_item", "writes to a shared surface"),
                ("delegate", "denied by name"),
                ("delete", "writes to a shared surface"),
                ("nothing", "unknown"),
            ]
        );
        assert!(worker.token.starts_with("crewlet_") && worker.token.len() == 72);
        assert!(!worker.url.contains(&worker.token));
        for worker in both(&worker).await {
            let mut listed = names(&worker.list().await);
            listed.sort();
            assert_eq!(listed, ["get", "get_work_item", "mystery"]);
            assert_eq!(worker.call("get", "{}").await.outcome(), "ok: ok");
            assert_eq!(
                worker.call("delegate", r#"{"task":"x","tools":[]}"#).await.message()["error"]["code"],
                json!(-32602)
            );
        }
        let view = bench.handle.workers().views().pop().unwrap();
        assert_eq!(view.ends.since(view.since), Duration::from_secs(7 * 60));
        assert!(view.by.contains("agent") && &*view.task == "find the stale ones");
        // Nobody else hears it: not the screen, not the trail, not a second caller.
        let snapshot =
            bench.until(|s| s.calls.iter().any(|call| &*call.name == "delegate" && call.result.is_some())).await;
        assert!(!format!("{snapshot:?}").contains(&worker.token));
        let shown = snapshot.calls.iter().rev().find(|call| &*call.name == "delegate").unwrap();
        assert!(shown.result.as_ref().unwrap().text.contains("\"token\":null"), "{shown:?}");
        assert!(!format!("{:?}", bench.trail.records()).contains(&worker.token));
        assert_eq!(bench.handle.workers().claim(&view.id, None), None);
    }
    // What a worker says of its token does not leave the program either.
    let (_, worker) = delegated(&bench.modern("release"), json!({"task": "x", "tools": ["get"]})).await;
    bench.server.react([Reaction::Result(json!({"content": [{"type": "text", "text": worker.token}]}))]);
    assert_eq!(worker.call("get", &json!({"id": worker.token}).to_string()).await.outcome(), "ok: [REDACTED:secret]");
    assert!(!format!("{:?}", bench.trail.records()).contains(&worker.token));
    bench.stop().await;
}

#[tokio::test]
async fn what_delegate_is_asked_for_is_bounded() {
    let bench = company().await;
    let parent = bench.modern("release");
    for (wrong, why) in [
        (json!({"tools": ["get"]}), "task is missing"),
        (json!({"task": " ", "tools": ["get"]}), "task"),
        (json!({"task": "x".repeat(4_001), "tools": ["get"]}), "4000"),
        (json!({"task": "x"}), "tools is missing"),
        (json!({"task": "x", "tools": "get"}), "tools"),
        (json!({"task": "x", "tools": vec!["get"; 65]}), "64"),
        (json!({"task": "x", "tools": ["y".repeat(65)]}), "64"),
        (json!({"task": "x", "tools": [], "minutes": 0}), "1 to 60"),
        (json!({"task": "x", "tools": [], "minutes": 61}), "1 to 60"),
        (json!({"task": "x", "tools": [], "minutes": "5"}), "1 to 60"),
        (json!({"task": "x", "tools": [], "seat": "review"}), "takes no \"seat\""),
    ] {
        let said = parent.call("delegate", &wrong.to_string()).await.outcome();
        assert!(said.starts_with("error: invalid") && said.contains(why), "{why}: {said}");
    }
    assert_eq!(bench.handle.workers().count(), 0);
    let (made, _) = delegated(&parent, json!({"task": "nothing at all", "tools": []})).await;
    assert_eq!((&made["tools"], &made["rejected"]), (&json!([]), &json!([])));
    for _ in 1..8 {
        delegated(&parent, json!({"task": "x", "tools": ["get"]})).await;
    }
    let full = parent.call("delegate", r#"{"task":"x","tools":["get"]}"#).await.outcome();
    assert!(full.starts_with("error: conflict: this seat has 8 workers"), "{full}");
    delegated(&bench.modern("review"), json!({"task": "x", "tools": ["get"]})).await;
    // It is the agents' alone.
    let founder = bench.operator("founder", "/operator/mcp", false).await;
    assert!(!names(&founder.list().await).contains(&"delegate".to_owned()));
    assert_eq!(founder.call("delegate", r#"{"task":"x","tools":[]}"#).await.message()["error"]["code"], json!(-32602));
    bench.stop().await;
}

#[tokio::test]
async fn a_worker_outlives_single_requests_but_not_the_session_that_made_it() {
    let bench = company().await;
    let [session, stateless] = bench.both("release").await;
    let (_, bound) = delegated(&session, json!({"task": "x", "tools": ["get", "mystery"]})).await;
    let (_, free) = delegated(&stateless, json!({"task": "x", "tools": ["get"]})).await;
    let call = bound.start_call("mystery", "{}");
    bench.question().await;
    let id = session.session.clone().unwrap();
    assert_eq!(session.with(Method::DELETE, &[("mcp-session-id", &id)]).await.status, StatusCode::OK);
    assert!(is_locked_out(&bound).await && !is_locked_out(&free).await);
    bench.until(|s| s.approvals.is_empty() && s.workers.len() == 1).await;
    assert_eq!(bench.decisions(), [Decision::Withdrawn]);
    drop(call);
    tokens::rotate(&bench.state, bench.config.org.seat(&"release".into()).unwrap()).unwrap();
    assert!(is_locked_out(&free).await, "what the old token brought in is out");
    bench.stop().await;
}

#[tokio::test]
async fn an_answer_that_a_person_had_to_allow_carries_the_token_too() {
    let rules = "engine: { approvals: { rules: [ { tool: 'crewlet/delegate', decision: ask } ] } }\n";
    let bench = bench_with(&format!("{CONFIG}{rules}operators: [ {{ id: founder, token: '${{FOUNDER}}' }} ]\n")).await;
    let tasks = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
    let parent = Agent { capabilities: tasks, ..bench.modern("release") };
    let task = parent.call("delegate", r#"{"task":"x","tools":["get"]}"#).await.message()["result"].clone();
    bench.decide(&bench.question().await, Verdict::Approve).await;
    let done = loop {
        let asked = parent.request("tasks/get", json!({"taskId": task["taskId"]})).await.message()["result"].clone();
        if asked["status"] == json!("completed") {
            break asked;
        }
        tokio::task::yield_now().await;
    };
    let made = &done["result"]["structuredContent"];
    let worker = Agent {
        url: made["url"].as_str().unwrap().into(),
        token: made["token"].as_str().unwrap().into(),
        ..parent.clone()
    };
    assert_eq!(names(&worker.list().await), ["get"]);
    bench.stop().await;
}

#[tokio::test]
async fn an_agent_hands_on_only_what_it_has_activated() {
    let more = "engine: { discovery: progressive }\noperators: [ { id: founder, token: '${FOUNDER}' } ]\n";
    let bench = bench_with(&format!("{CONFIG}{more}")).await;
    for parent in bench.both("release").await {
        let wanted = json!({"task": "x", "tools": ["get", "get_work_item", "activate_tool", "list_mcp_server_tools"]});
        let (before, _) = delegated(&parent, wanted.clone()).await;
        assert_eq!(before["tools"], json!(["get_work_item"]));
        let reasons: Vec<&str> =
            before["rejected"].as_array().unwrap().iter().map(|one| one["reason"].as_str().unwrap()).collect();
        assert!(reasons[0].starts_with("not held by you") && reasons[1].starts_with("denied by name"), "{reasons:?}");
        parent.call("activate_tool", r#"{"name":"get"}"#).await;
        let (after, worker) = delegated(&parent, wanted).await;
        assert_eq!(after["tools"], json!(["get", "get_work_item"]));
        // What a worker was given is there from the beginning.
        for worker in both(&worker).await {
            assert_eq!(worker.call("get", "{}").await.outcome(), "ok: ok");
        }
    }
    bench.stop().await;
}
