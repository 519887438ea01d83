//! Questions between seats over HTTP: asked by one agent, answered by another, by an operator or by the person at the
//! dashboard, while the asking call waits.

use std::sync::Arc;

use crewlet_tui::engine::audit::Kind;
use crewlet_tui::engine::command::Command;
use crewlet_tui::engine::snapshot::{CallPhase, Caller, QuestionView};
use crewlet_tui::ids::CallId;
use crewlet_tui::tool::Arguments;
use serde_json::{Value, json};

use crate::bench::{Agent, Bench, CONFIG, bench_with};
use crate::program::Serving;

const FOUNDER: &str = "operators: [ { id: founder, token: '${FOUNDER}' } ]\n";

async fn company() -> Bench {
    bench_with(&format!("{CONFIG}{FOUNDER}")).await
}

/// The newest question that fits, as the screen shows it.
async fn shown(bench: &Bench, fits: impl Fn(&QuestionView) -> bool) -> Arc<QuestionView> {
    let snapshot = bench.until(|snapshot| snapshot.questions.iter().any(|row| fits(row))).await;
    snapshot.questions.iter().find(|row| fits(row)).expect("just seen").clone()
}

fn asking(brief: &str, deadline: &str) -> String {
    json!({"role_urn": "Reviewer", "brief": brief, "deadline": deadline}).to_string()
}

fn replying(channel: &str, body: &str) -> String {
    json!({"channel": channel, "body": body}).to_string()
}

async fn structured(agent: &Agent, tool: &str, arguments: &str) -> Value {
    let message = agent.call(tool, arguments).await.message();
    message["result"]["structuredContent"].clone()
}

#[tokio::test]
async fn one_seat_asks_another_answers_and_the_waiting_call_returns_it() {
    let bench = company().await;
    for asker in bench.both("release").await {
        // What is shown follows what is so: the question of the other era may be there still.
        bench.until(|snapshot| !snapshot.questions.iter().any(|row| row.is_open())).await;
        let call = asker.start_call("a2a_ask", &asking("is it ready?", "PT60S"));
        shown(&bench, |row| row.is_open() && row.waits_until.is_some()).await;
        let [first, second] = bench.both("review").await;
        let inbox = structured(&first, "a2a_inbox", "{}").await;
        assert_eq!(inbox, structured(&second, "a2a_inbox", "{}").await, "a seat's sessions have one inbox");
        let question = &inbox["questions"][0];
        assert_eq!((&question["from"], &question["brief"]), (&json!("release"), &json!("is it ready?")), "{inbox}");
        let channel = question["channel"].as_str().unwrap();
        let told = first.call("a2a_reply", &replying(channel, "nearly")).await.outcome();
        assert!(told.starts_with("ok: ") && told.contains("has it"), "{told}");
        let answer = call.await.unwrap().message();
        let answer = &answer["result"]["structuredContent"];
        assert_eq!((&answer["answer"], &answer["answered_by"]), (&json!("nearly"), &json!("seat:review")), "{answer}");
        let late = second.call("a2a_reply", &replying(channel, "no")).await.outcome();
        assert!(late.starts_with("error: already_answered"), "{late}");
        // What is shown lags a moment behind: the next round looks for its own question.
        bench.until(|snapshot| snapshot.questions.iter().all(|row| !row.is_open())).await;
    }
    let mine = bench.trail.records().into_iter().filter(|record| record.kind == Kind::Dispatched);
    let tools: Vec<_> = mine.map(|record| record.tool.unwrap().to_string()).collect();
    assert_eq!(tools.iter().filter(|tool| *tool == "a2a_ask").count(), 2, "{tools:?}");
    bench.stop().await;
}

#[tokio::test]
async fn the_person_answers_with_a_call_of_their_own_while_the_asker_waits() {
    let bench = company().await;
    let call = bench.modern("release").start_call("a2a_ask", &asking("which one?", "PT60S"));
    let row = shown(&bench, QuestionView::is_open).await;
    assert_eq!((&*row.from, row.to.as_str(), &*row.brief), ("release", "review", "which one?"));
    let (id, arguments) = (CallId::fresh(), Arguments::parse(&replying(&row.channel, "the second")).unwrap());
    bench.handle.send(Command::Call { call: id.clone(), tool: "crewlet/a2a_reply".into(), arguments }).unwrap();
    let answer = call.await.unwrap().message()["result"]["structuredContent"].clone();
    assert_eq!((&answer["answer"], &answer["answered_by"]), (&json!("the second"), &json!("console:person")));
    assert_eq!(answer["in_place_of"], json!("review"));
    let done = |phase: &CallPhase| *phase == CallPhase::Done { is_error: false };
    bench.until(|snapshot| snapshot.calls.iter().any(|call| call.id == id && done(&call.phase))).await;
    shown(&bench, |row| row.answer.as_ref().is_some_and(|answer| &*answer.by == "you")).await;
    let record = bench.trail.records().into_iter().find(|record| record.call.as_ref() == Some(&id)).unwrap();
    assert_eq!(record.caller, Some(Caller::Console), "the audit has it like every call");
    bench.stop().await;
}

#[tokio::test]
async fn a_deadline_that_passes_leaves_the_channel_open_for_the_inbox() {
    let bench = company().await;
    let (asker, founder) = (bench.modern("release"), bench.operator("founder", "/operator/mcp", false).await);
    let open = structured(&asker, "a2a_ask", &asking("when?", "PT0.2S")).await;
    assert_eq!((&open["status"], &open["colleague_connected"]), (&json!("open"), &json!(false)), "{open}");
    let channel = open["channel"].as_str().unwrap();
    shown(&bench, |row| &*row.channel == channel && row.waits_until.is_none()).await;
    let listed = structured(&founder, "a2a_inbox", "{}").await;
    assert_eq!(listed["questions"][0]["channel"], json!(channel), "operators see every seat's: {listed}");
    structured(&founder, "a2a_reply", &replying(channel, "at noon")).await;
    let late = structured(&asker, "a2a_inbox", "{}").await["answers"][0].clone();
    assert_eq!((&late["answer"], &late["answered_by"]), (&json!("at noon"), &json!("operator:founder")), "{late}");
    bench.stop().await;
}

#[tokio::test]
async fn a_ring_fails_at_once_and_a_client_that_hangs_up_leaves_its_question() {
    let bench = company().await;
    let call = bench.modern("release").start_call("a2a_ask", &asking("you first", "PT90S"));
    let row = shown(&bench, |row| row.waits_until.is_some()).await;
    let back = json!({"role_urn": "release", "brief": "no, you"}).to_string();
    let refused = bench.modern("review").call("a2a_ask", &back).await.outcome();
    assert!(refused.starts_with("error: conflict") && refused.contains(&*row.channel), "{refused}");
    call.abort();
    let left = shown(&bench, |row| row.is_open() && row.waits_until.is_none()).await;
    assert_eq!(left.channel, row.channel);
    let arguments = json!({"role_urn": "release", "brief": "now?", "deadline": "PT0.1S"}).to_string();
    let open = structured(&bench.modern("review"), "a2a_ask", &arguments).await;
    assert_eq!(open["status"], json!("open"), "nobody waits for it any more");
    bench.stop().await;
}

#[tokio::test]
async fn the_three_tools_are_where_they_belong() {
    let bench = company().await;
    let names = async |agent: Agent| {
        let tools = agent.list().await["result"]["tools"].clone();
        let all = tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned());
        let mut ours: Vec<_> = all.filter(|name| name.starts_with("a2a_")).collect();
        ours.sort();
        ours
    };
    assert_eq!(names(bench.modern("release")).await, ["a2a_ask", "a2a_inbox", "a2a_reply"]);
    let founder = bench.operator("founder", "/operator/mcp", true).await;
    assert_eq!(names(founder.clone()).await, ["a2a_inbox", "a2a_reply"]);
    assert_eq!(founder.call("a2a_ask", &asking("?", "PT1S")).await.message()["error"]["code"], json!(-32602));
    bench.stop().await;
}

/// An agent of a seat of a real program.
fn agent(serving: &Serving, seat: &str) -> Agent {
    Agent {
        http: reqwest::Client::builder().no_proxy().build().unwrap(),
        url: format!("http://{}/seats/{seat}/mcp", serving.address),
        token: format!("{seat}-token-0123456789"),
        accept: "application/json, text/event-stream",
        progress: None,
        capabilities: json!({}),
        name: "modern-agent",
        session: None,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_program_keeps_the_question_for_the_next_one() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let folder = tempfile::tempdir().unwrap();
    let seat = |handle: &str| format!("  - {{ name: {handle}, token: '${{X:-{handle}-token-0123456789}}' }}\n");
    let config = format!("name: Acme\nroles:\n{}{}mcp_servers: []\n", seat("release"), seat("review"));
    std::fs::write(folder.path().join("config.yaml"), config).unwrap();
    let serving = Serving::start(folder.path(), &[]);
    let arguments = json!({"role_urn": "review", "brief": "still there?", "deadline": "PT100S"}).to_string();
    let (asker, colleague) = (agent(&serving, "release"), agent(&serving, "review"));
    let waiting = tokio::spawn(async move {
        let params = asker.calling("a2a_ask", &arguments);
        asker.post("tools/call", &params, Some(json!(7))).send().await.map(|_| ())
    });
    let channel = loop {
        let inbox = structured(&colleague, "a2a_inbox", "{}").await;
        if let Some(channel) = inbox["questions"][0]["channel"].as_str() {
            break channel.to_owned();
        }
        tokio::task::yield_now().await;
    };
    // SIGKILL: nobody is told, nothing is closed.
    drop(serving);
    // Whether its head came before the kill or not: there is no answer.
    drop(waiting.await.unwrap());
    let serving = Serving::start(folder.path(), &[]);
    let (asker, colleague) = (agent(&serving, "release"), agent(&serving, "review"));
    let question = structured(&colleague, "a2a_inbox", "{}").await["questions"][0].clone();
    assert_eq!((&question["channel"], &question["brief"]), (&json!(channel), &json!("still there?")));
    structured(&colleague, "a2a_reply", &replying(&channel, "yes")).await;
    assert_eq!(structured(&asker, "a2a_inbox", "{}").await["answers"][0]["answer"], json!("yes"));
    assert_eq!(serving.end(), Some(143));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_ends_does_not_wait_for_an_answer() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let bench = company().await;
    let call = bench.modern("release").start_call("a2a_ask", &asking("slow?", "PT100S"));
    shown(&bench, |row| row.waits_until.is_some()).await;
    let begun = std::time::Instant::now();
    bench.handle.send(Command::Shutdown).unwrap();
    let answer = call.await.unwrap().message()["result"]["structuredContent"].clone();
    assert_eq!(answer["status"], json!("open"), "told before the end");
    bench.surfaces.end().await;
    bench.engine.await.unwrap();
    assert!(begun.elapsed() < std::time::Duration::from_secs(2), "{:?}", begun.elapsed());
    let finished = bench.trail.records().into_iter().filter(|record| record.kind == Kind::Finished).count();
    assert_eq!(finished, 1, "its end is in the trail");
}
