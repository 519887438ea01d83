//! Turns over HTTP: what agents say of them, and what they are told, in both eras.

use crewlet_tui::engine::command::Verdict;
use crewlet_tui::engine::snapshot::{SessionView, Snapshot};
use crewlet_tui::turns::verdict::{Obligation, Outcome};
use crewlet_tui::turns::{Ended, Now};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::bench::{Agent, Bench, bench_of};
use crate::scripted::Scripted;

const COMPANY: &str = "
name: Acme
engine: { approvals: { unknown: allow } }
roles:
  - { name: Release Manager, handle: release, kind: agent }
  - { name: Reviewer, handle: review, kind: agent }
mcp_servers:
  - { name: chat, command: in-memory }
operators:
  - { id: founder, token: '${FOUNDER}' }
";

async fn company() -> (Bench, mpsc::Receiver<Ended>) {
    company_with(COMPANY).await
}

async fn company_with(text: &str) -> (Bench, mpsc::Receiver<Ended>) {
    let tool =
        |name: &str, hints: Value| json!({"name": name, "inputSchema": {"type": "object"}, "annotations": hints});
    let chat = Scripted::new(vec![
        tool("look", json!({"readOnlyHint": true})),
        tool("post", json!({"readOnlyHint": false, "destructiveHint": false, "openWorldHint": true})),
        tool("odd", json!({})),
    ]);
    let bench = bench_of(text, &[("chat", &chat)]).await;
    let ends = bench.native.shared().turns.ends().take().expect("the one reader");
    (bench, ends)
}

impl Agent {
    /// What a turn's tool answered.
    async fn turn(&self, tool: &str, arguments: Value) -> Value {
        let message = self.call(tool, &arguments.to_string()).await.message();
        assert_eq!(message["result"]["isError"], json!(false), "{message}");
        message["result"]["structuredContent"].clone()
    }

    async fn begin(&self, reply: &str) -> Value {
        self.turn("turn_begin", json!({"reply": reply, "trigger": "Ada asked"})).await
    }

    /// The verdict on a claim and what is said of it.
    async fn end(&self, outcome: &str) -> (String, String) {
        let said = self.turn("turn_end", json!({"outcome": outcome, "text": "that is it"})).await;
        (said["verdict"].as_str().unwrap().to_owned(), said["message"].as_str().unwrap().to_owned())
    }

    async fn does(&self, tool: &str, arguments: &str) {
        let answer = self.call(tool, arguments).await;
        assert!(answer.outcome().starts_with("ok"), "{answer:?}");
    }

    async fn comments(&self) {
        self.does("create_work_item", r#"{"project":"WORK","title":"what is left"}"#).await;
    }
}

fn accept(end: &(String, String)) {
    assert_eq!(end.0, "accept", "{end:?}");
}

fn corrects(end: &(String, String), words: &[&str]) {
    assert_eq!(end.0, "correct", "{end:?}");
    for words in words {
        assert!(end.1.contains(words), "{words}: {end:?}");
    }
}

fn now(session: &SessionView) -> Option<&Now> {
    session.turn.as_deref().and_then(|turn| turn.now.as_ref())
}

fn of_seat<'s>(snapshot: &'s Snapshot, seat: &str) -> Vec<&'s SessionView> {
    snapshot.sessions.iter().map(AsRef::as_ref).filter(|session| session.seat.as_str() == seat).collect()
}

#[tokio::test]
async fn an_answer_that_reached_nobody_is_not_delivered() {
    let (bench, mut ends) = company().await;
    for agent in bench.both("release").await {
        let begun = agent.begin("tool").await;
        assert_eq!(begun["reachable"], json!(["chat", "pages", "tracker"]), "{begun}");
        agent.does("look", "{}").await;
        let words = ["your answer reached nobody", "Send it with a tool of chat, pages or tracker"];
        corrects(&agent.end("delivered").await, &words);
        agent.does("post", "{}").await;
        let done = agent.end("delivered").await;
        accept(&done);
        assert!(done.1.ends_with("recorded as delivered; it reached chat"), "{done:?}");
        let ended = ends.recv().await.unwrap();
        assert_eq!(begun["turn"], json!(ended.turn_id));
        let calls: Vec<&str> = ended.calls.iter().map(AsRef::as_ref).collect();
        assert_eq!(calls, ["look", "post"], "the turn's own tools are none of its calls");
        assert_eq!((ended.seat.as_str(), ended.outcome.as_str()), ("release", "delivered"));
        assert_eq!((ended.trigger.as_deref(), ended.text.as_deref()), (Some("Ada asked"), Some("that is it")));
        assert!(ended.ended >= ended.began && ended.client.contains("agent"), "{ended:?}");
    }
    bench.stop().await;
}

#[tokio::test]
async fn an_answer_that_went_elsewhere_is_not_delivered() {
    let (bench, mut ends) = company().await;
    for agent in bench.both("release").await {
        agent.begin("tool:chat").await;
        agent.comments().await;
        corrects(&agent.end("delivered").await, &["went to tracker", "waits on chat"]);
        let second = agent.end("delivered").await;
        accept(&second);
        assert!(second.1.starts_with("the turn is over and recorded as incomplete: your answer went to"), "{second:?}");
        let ended = ends.recv().await.unwrap();
        assert_eq!((ended.outcome, ended.reached.join(" ")), (Outcome::Incomplete, "tracker".to_owned()));
        // What nobody classified counts where it goes: it may have reached somebody.
        agent.begin("tool:chat").await;
        agent.does("odd", "{}").await;
        accept(&agent.end("delivered").await);
        assert_eq!(ends.recv().await.unwrap().reached.join(" "), "chat");
    }
    bench.stop().await;
}

#[tokio::test]
async fn silence_is_no_answer_and_no_account_of_what_was_done() {
    let (bench, mut ends) = company().await;
    for agent in bench.both("release").await {
        agent.begin("engine").await;
        corrects(&agent.end("no_action").await, &["somebody waits for your answer", "with the answer as its text"]);
        accept(&agent.end("delivered").await);
        agent.begin("none").await;
        agent.does("post", "{}").await;
        corrects(&agent.end("no_action").await, &["you did act in this turn, with post, and reached chat"]);
        accept(&agent.end("blocked").await);
        agent.begin("none").await;
        agent.does("look", "{}").await;
        accept(&agent.end("no_action").await);
        let mut outcomes = Vec::new();
        for _ in 0..3 {
            outcomes.push(ends.recv().await.unwrap().outcome.as_str());
        }
        assert_eq!(outcomes, ["delivered", "blocked", "no_action"]);
    }
    bench.stop().await;
}

#[tokio::test]
async fn a_call_that_failed_reached_nobody() {
    let (bench, _ends) = company().await;
    for agent in bench.both("release").await {
        agent.begin("tool:tracker").await;
        let refused = agent.call("comment_on_work_item", r#"{"item":"WORK-99","body":"x"}"#).await;
        assert!(refused.outcome().starts_with("error: not_found"), "{refused:?}");
        corrects(&agent.end("delivered").await, &["on tracker", "(comment_on_work_item failed)"]);
        accept(&agent.end("blocked").await);
    }
    bench.stop().await;
}

#[tokio::test]
async fn two_sessions_of_one_seat_do_not_mix() {
    let (bench, mut ends) = company().await;
    let (one, two) = (bench.legacy("release").await, bench.legacy("release").await);
    let modern = bench.modern("release");
    for agent in [&one, &two, &modern] {
        agent.begin("tool").await;
    }
    one.does("post", "{}").await;
    corrects(&two.end("delivered").await, &["reached nobody"]);
    corrects(&modern.end("delivered").await, &["reached nobody"]);
    accept(&one.end("delivered").await);
    let snapshot = bench
        .until(|snapshot| {
            let sessions = of_seat(snapshot, "release");
            sessions.len() == 3 && sessions.iter().filter(|session| now(session).is_none()).count() == 1
        })
        .await;
    for session in of_seat(&snapshot, "release") {
        let turn = session.turn.as_deref().unwrap();
        let corrected = turn.now.as_ref().map(|now| (&now.owes, now.corrected.is_some(), now.reached.len()));
        match &turn.before {
            Some(before) => assert_eq!((before.reached.join(" "), corrected), ("chat".to_owned(), None)),
            None => assert_eq!(corrected, Some((&Obligation::Tool(None), true, 0))),
        }
    }
    assert_eq!(ends.recv().await.unwrap().outcome.as_str(), "delivered");
    bench.stop().await;
    let mut left = Vec::new();
    while let Some(ended) = ends.recv().await {
        left.push(ended.outcome.as_str());
    }
    assert_eq!(left, ["incomplete", "incomplete"], "the end of the program ends turns, and then there are no more");
}

#[tokio::test]
async fn what_is_picked_up_counts_for_whoever_picks_it_up() {
    let asking = COMPANY.replace("unknown: allow", "unknown: ask, hold_seconds: 0.2");
    let (bench, _ends) = company_with(&asking).await;
    let (one, two) = (bench.legacy("release").await, bench.legacy("release").await);
    one.begin("tool:chat").await;
    let left = one.call("odd", "{}").await.outcome();
    assert!(left.starts_with("error: waiting for a person"), "{left}");
    accept(&one.end("blocked").await);
    two.begin("tool:chat").await;
    let question = bench.question().await;
    bench.decide(&question, Verdict::Approve).await;
    two.does("odd", "{}").await;
    accept(&two.end("delivered").await);
    bench.stop().await;
}

#[tokio::test]
async fn without_its_tools_a_turn_is_the_session() {
    let (bench, mut ends) = company().await;
    let agent = bench.legacy("release").await;
    agent.does("look", "{}").await;
    agent.comments().await;
    let reached = |snapshot: &Snapshot| {
        let sessions = of_seat(snapshot, "release");
        sessions.first().and_then(|session| now(session)).is_some_and(|now| now.reached.join(" ") == "tracker")
    };
    bench.until(reached).await;
    assert!(ends.try_recv().is_err(), "it goes on");
    let deleted = agent.http.delete(&agent.url).bearer_auth(&agent.token);
    let deleted = deleted.header("mcp-session-id", agent.session.as_deref().unwrap()).send().await.unwrap();
    assert!(deleted.status().is_success());
    let ended = ends.recv().await.unwrap();
    assert_eq!((ended.outcome, ended.reply, ended.calls.len()), (Outcome::Unclaimed, Obligation::Nothing, 2));
    // It can be ended without having been begun, and then there is none.
    let agent = bench.modern("review");
    agent.does("post", "{}").await;
    accept(&agent.end("delivered").await);
    assert_eq!(ends.recv().await.unwrap().seat.as_str(), "review");
    let idle = agent.end("delivered").await;
    accept(&idle);
    assert!(idle.1.contains("no turn was going on") && ends.try_recv().is_err(), "{idle:?}");
    bench.stop().await;
}

#[tokio::test]
async fn what_is_not_said_right_is_refused_and_nothing_begins() {
    let (bench, _ends) = company().await;
    for agent in bench.both("release").await {
        for (arguments, words) in [
            (json!({}), "reply is missing: Who waits"),
            (json!({}), "is the answer. Nothing was changed"),
            (json!({"reply": "tool:"}), "reply is not none, tool, tool:SURFACE or engine"),
            (json!({"reply": "tool:a\u{1b}[2J"}), "reply is not none"),
            (json!({"reply": "none", "trigger": "x".repeat(301)}), "trigger is longer than 300 characters"),
            (json!({"reply": "none", "seat": "review"}), "turn_begin takes no \"seat\""),
        ] {
            let answer = agent.call("turn_begin", &arguments.to_string()).await;
            assert!(answer.outcome().starts_with("error: invalid: ") && answer.outcome().contains(words), "{answer:?}");
        }
        let odd = agent.call("turn_end", r#"{"outcome":"incomplete"}"#).await;
        assert!(odd.outcome().contains("outcome is not one of delivered, no_action, blocked"), "{odd:?}");
        assert!(agent.end("blocked").await.1.contains("no turn was going on"));
        let begun = agent.begin("tool:mail").await;
        assert!(begun["message"].as_str().unwrap().starts_with("you cannot reach mail: an answer counts"), "{begun}");
        agent.does("post", "{}").await;
        accept(&agent.end("delivered").await);
    }
    bench.stop().await;
}

#[tokio::test]
async fn only_seats_have_turns_and_only_where_the_configuration_says_so() {
    let names = |message: &Value| -> Vec<String> {
        let tools = message["result"]["tools"].as_array().unwrap();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    let (bench, _ends) = company().await;
    for legacy in [true, false] {
        let founder = bench.operator("founder", "/operator/mcp", legacy).await;
        let listed = founder.request("tools/list", json!({})).await.message();
        assert!(!names(&listed).iter().any(|name| name.starts_with("turn_")), "{listed}");
        assert_eq!(founder.call("turn_begin", r#"{"reply":"none"}"#).await.message()["error"]["code"], json!(-32602));
    }
    let listed = bench.modern("release").request("tools/list", json!({})).await.message();
    let tools = listed["result"]["tools"].as_array().unwrap();
    for name in ["turn_begin", "turn_end"] {
        let tool = tools.iter().find(|tool| tool["name"] == json!(name)).unwrap_or_else(|| panic!("{listed}"));
        assert_eq!(tool["annotations"], json!({"idempotentHint": true}), "{tool}");
    }
    bench.stop().await;
    let closed = COMPANY.replace("engine: { ", "engine: { turn_tools: false, ");
    let (bench, mut ends) = company_with(&closed).await;
    let agent = bench.legacy("release").await;
    let listed = agent.request("tools/list", json!({})).await.message();
    assert!(!names(&listed).iter().any(|name| name.starts_with("turn_")), "{listed}");
    agent.does("post", "{}").await;
    bench.stop().await;
    assert_eq!(ends.recv().await.unwrap().outcome, Outcome::Unclaimed, "its turn is its session all the same");
}
