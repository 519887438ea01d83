//! Asking, answering, and everything that can come between.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::TOOLS;
use crate::clock::Timestamp;
use crate::config::model::{PolicyDecision, Source};
use crate::engine::first_party::{FirstParty as _, World};
use crate::engine::snapshot::{Caller, QuestionKind, QuestionView};
use crate::ids::SeatHandle;
use crate::native::request::{Class, Refusal};
use crate::native::{From, Native};
use crate::store::{self, Store};

const CONFIG: &str = "
name: Acme
roles:
  - { name: Release Manager, handle: release }
  - { name: Operations, handle: ops }
  - { name: Builder, handle: builder-one }
  - { name: Builder, handle: builder-two }
  - { name: Third, handle: third }
  - { name: Fourth, handle: fourth }
  - { name: Ada, kind: human, availability: weekdays 9 to 17 }
mcp_servers: []
engine: { autopilots: [ { id: nightly, seat: ops, prompt: 'look at the alerts' } ] }
operators:
  - { id: founder, token: '${T}', seat: ada }
  - { id: viewer, token: '${T}', permission: viewer }
  - { id: bridge, token: '${T}', scopes: [ 'autopilot:run' ] }
";

struct Bench {
    native: Arc<Native>,
    folder: tempfile::TempDir,
}

fn bench() -> Bench {
    let folder = tempfile::tempdir().unwrap();
    Bench { native: open(folder.path()), folder }
}

fn open(folder: &std::path::Path) -> Arc<Native> {
    let config = crate::config::load(CONFIG, &Source::File("config.yaml".into())).unwrap().config;
    Native::open(&config, Store::new(folder))
}

fn seat(handle: &str) -> Caller {
    Caller::Seat { seat: SeatHandle::from(handle), session: "s".into(), client: "c".into() }
}

fn operator(id: &str) -> Caller {
    Caller::Operator { holder: SeatHandle::of_operator(id), session: "s".into(), client: "c".into() }
}

type Answered = Result<Value, Refusal>;

async fn run(
    native: &Arc<Native>,
    (tool, arguments): (&str, Value),
    caller: &Caller,
    cancel: CancellationToken,
) -> Answered {
    let from = From { caller: caller.clone(), world: World::default(), cancel };
    native.clone().run((tool, &arguments.to_string()), from).await
}

impl Bench {
    async fn call(&self, caller: &Caller, tool: &str, arguments: Value) -> Answered {
        run(&self.native, (tool, arguments), caller, CancellationToken::new()).await
    }

    fn ask(&self, from: &str, to: &str, deadline: &str) -> (JoinHandle<Answered>, CancellationToken) {
        let (native, caller, cancel) = (self.native.clone(), seat(from), CancellationToken::new());
        let arguments = json!({"role_urn": to, "brief": format!("{from} asks {to}"), "deadline": deadline});
        let token = cancel.clone();
        let call = async move { run(&native, ("a2a_ask", arguments), &caller, token).await };
        (tokio::spawn(call), cancel)
    }

    /// The first row of the board that fits, as soon as there is one.
    async fn row(&self, fits: impl Fn(&QuestionView) -> bool) -> Arc<QuestionView> {
        let mut board = self.native.shared().questions.board();
        let found = board.wait_for(|board| board.iter().any(|row| fits(row))).await.unwrap();
        found.iter().find(|row| fits(row)).unwrap().clone()
    }

    async fn refused(&self, caller: &Caller, tool: &str, arguments: Value) -> Refusal {
        self.call(caller, tool, arguments).await.expect_err("a refusal")
    }

    async fn inbox(&self, caller: &Caller) -> Value {
        self.call(caller, "a2a_inbox", json!({})).await.unwrap()
    }
}

#[tokio::test]
async fn whom_one_cannot_ask_is_said_at_once() {
    let bench = bench();
    let release = seat("release");
    for (arguments, class, words) in [
        (json!({"role_urn": "ada", "brief": "?"}), Class::Unavailable, "weekdays 9 to 17"),
        (json!({"role_urn": "release", "brief": "?"}), Class::Invalid, "you yourself"),
        (json!({"role_urn": "Release Manager", "brief": "?"}), Class::Invalid, "you yourself"),
        (json!({"role_urn": "nobody\u{1b}[2J", "brief": "?"}), Class::NotFound, "ops, builder-one"),
        (json!({"role_urn": "Builder", "brief": "?"}), Class::Invalid, "builder-one, builder-two"),
        (json!({"role_urn": "build", "brief": "?"}), Class::Invalid, "builder-one, builder-two"),
        (json!({"role_urn": "ops"}), Class::Invalid, "brief is missing"),
        (json!({"brief": "?"}), Class::Invalid, "role_urn is missing"),
        (json!({"role_urn": "ops", "target": "ops", "brief": "?"}), Class::Invalid, "target"),
        (json!({"role_urn": "ops", "brief": "?", "deadline": "soon"}), Class::Invalid, "PT30S"),
        (json!({"role_urn": "ops", "brief": "?", "deadline": "2020-01-01T00:00:00Z"}), Class::Invalid, "passed"),
        (json!({"role_urn": "ops", "brief": "?", "deadline": "-PT5S"}), Class::Invalid, "passed"),
        (json!({"role_urn": "ops", "brief": "?", "budget": 0}), Class::Invalid, "budget"),
    ] {
        let refusal = bench.refused(&release, "a2a_ask", arguments.clone()).await;
        assert_eq!(refusal.class, class, "{arguments}: {refusal}");
        assert!(refusal.message.contains(words) && !refusal.message.contains('\u{1b}'), "{arguments}: {refusal}");
    }
    for caller in [operator("founder"), Caller::Console] {
        let refusal = bench.refused(&caller, "a2a_ask", json!({"role_urn": "ops", "brief": "?"})).await;
        assert_eq!(refusal.class, Class::Forbidden);
    }
    assert_eq!(bench.inbox(&operator("founder")).await["questions"], json!([]), "nothing was kept");
}

#[tokio::test]
async fn an_answer_in_time_is_the_result_and_stands_in_no_inbox() {
    let bench = bench();
    for (target, name) in [("role_urn", "Operations"), ("target", "operation"), ("target_handle", "OPS")] {
        let (native, arguments) = (bench.native.clone(), json!({target: name, "brief": "why?", "budget": 9}));
        let call =
            async move { run(&native, ("a2a_ask", arguments), &seat("release"), CancellationToken::new()).await };
        let call = tokio::spawn(call);
        let row = bench.row(QuestionView::is_open).await;
        assert!(row.waits_until.is_some() && row.channel.starts_with("a2a-") && row.channel.len() == 16, "{row:?}");
        let inbox = bench.inbox(&seat("ops")).await;
        let question = &inbox["questions"][0];
        assert_eq!((&question["from"], &question["brief"]), (&json!("release"), &json!("why?")), "{inbox}");
        assert_eq!((&question["budget"], &question["chain"]), (&json!(9), &json!(["release"])));
        let reply = json!({"channel": &*row.channel, "body": "because"});
        let told = bench.call(&seat("ops"), "a2a_reply", reply.clone()).await.unwrap();
        assert!(told["note"].as_str().unwrap().contains("has it") && told["still_open"] == json!(0), "{told}");
        let answer = call.await.unwrap().unwrap();
        assert_eq!((&answer["answer"], &answer["answered_by"]), (&json!("because"), &json!("seat:ops")));
        assert_eq!((&answer["status"], &answer["in_place_of"]), (&json!("answered"), &json!(null)));
        let again = bench.refused(&seat("ops"), "a2a_reply", reply).await;
        assert_eq!(again.class, Class::AlreadyAnswered);
        assert!(again.message.contains("seat:ops"), "{again}");
        bench.row(|row| !row.is_open() && row.waits_until.is_none()).await;
    }
    let inbox = bench.inbox(&seat("release")).await;
    assert_eq!((&inbox["answers"], &inbox["asked"]), (&json!([]), &json!([])), "it went back with the call");
}

#[tokio::test]
async fn only_participants_know_of_a_channel() {
    let bench = bench();
    let (call, _) = bench.ask("release", "ops", "PT60S");
    let channel = bench.row(QuestionView::is_open).await.channel.clone();
    let unknown = bench.refused(&seat("ops"), "a2a_reply", json!({"channel": "a2a-000000000000", "body": "x"})).await;
    let foreign = bench.refused(&seat("builder-one"), "a2a_reply", json!({"channel": &*channel, "body": "x"})).await;
    assert_eq!(unknown, foreign);
    let looks = |channel: &str| json!({"channel": channel});
    assert_eq!(bench.refused(&seat("builder-one"), "a2a_inbox", looks(&channel)).await, unknown);
    assert_eq!(bench.inbox(&seat("builder-one")).await["questions"], json!([]));
    for channel in ["inbox-1", "inbox-x", "' OR 1=1 --", "a2a-"] {
        let refusal = bench.refused(&seat("ops"), "a2a_reply", json!({"channel": channel, "body": "x"})).await;
        assert_eq!(refusal, unknown, "{channel}");
    }
    let own = bench.refused(&seat("release"), "a2a_reply", json!({"channel": &*channel, "body": "x"})).await;
    assert_eq!(own.class, Class::Conflict);
    let seen = bench.refused(&operator("viewer"), "a2a_reply", json!({"channel": &*channel, "body": "x"})).await;
    assert_eq!(seen.class, Class::Forbidden, "who only reads answers nothing");
    let whole = bench.call(&seat("release"), "a2a_inbox", looks(&channel)).await.unwrap();
    assert_eq!((&whole["question"]["to"], &whole["answer"]), (&json!("ops"), &json!(null)));
    call.abort();
}

#[tokio::test]
async fn operators_and_the_person_answer_in_a_colleagues_place() {
    let bench = bench();
    for (caller, by) in [(operator("founder"), "operator:founder"), (Caller::Console, "console:person")] {
        let (call, _) = bench.ask("release", "ops", "PT60S");
        let channel = bench.row(QuestionView::is_open).await.channel.clone();
        assert_eq!(bench.inbox(&caller).await["questions"][0]["channel"], json!(&*channel));
        bench.call(&caller, "a2a_reply", json!({"channel": &*channel, "body": "do it"})).await.unwrap();
        let answer = call.await.unwrap().unwrap();
        assert_eq!((&answer["answered_by"], &answer["in_place_of"]), (&json!(by), &json!("ops")));
    }
    let row = bench.row(|row| row.answer.as_ref().is_some_and(|answer| &*answer.by == "you")).await;
    assert_eq!(row.answer.as_ref().map(|answer| &*answer.body), Some("do it"));
}

#[tokio::test(start_paused = true)]
async fn a_deadline_that_passes_leaves_the_question_open_and_the_answer_comes_later() {
    let bench = bench();
    for (deadline, longest) in [("PT30S", 30), ("PT10M", 120)] {
        let begun = tokio::time::Instant::now();
        let result = bench.ask("release", "ops", deadline).0.await.unwrap().unwrap();
        assert_eq!(begun.elapsed().as_secs(), longest, "{deadline}");
        assert_eq!((&result["status"], &result["colleague_connected"]), (&json!("open"), &json!(false)));
        assert!(result["note"].as_str().unwrap().contains("a2a_inbox"), "{result}");
        let channel = result["channel"].clone();
        assert_eq!(bench.inbox(&seat("release")).await["asked"][0]["channel"], channel);
        assert_eq!(bench.row(QuestionView::is_open).await.waits_until, None, "nobody waits");
        let told = bench.call(&seat("ops"), "a2a_reply", json!({"channel": channel, "body": "late"})).await.unwrap();
        assert!(told["note"].as_str().unwrap().contains("in its inbox"), "{told}");
        for _ in 0..2 {
            let late = bench.inbox(&seat("release")).await["answers"][0].clone();
            assert_eq!((&late["channel"], &late["answer"]), (&channel, &json!("late")), "reading marks nothing");
        }
    }
    bench.native.shared().questions.set_present([SeatHandle::from("ops")].into());
    let result = bench.ask("release", "ops", "PT1S").0.await.unwrap().unwrap();
    assert_eq!(result["colleague_connected"], json!(true));
}

#[tokio::test]
async fn a_caller_that_hangs_up_ends_the_waiting_and_not_the_question() {
    let bench = bench();
    let (call, cancel) = bench.ask("release", "ops", "PT90S");
    let channel = bench.row(QuestionView::is_open).await.channel.clone();
    cancel.cancel();
    assert_eq!(call.await.unwrap().unwrap()["status"], json!("open"));
    bench.row(|row| row.is_open() && row.waits_until.is_none()).await;
    bench.call(&seat("ops"), "a2a_reply", json!({"channel": &*channel, "body": "here"})).await.unwrap();
    assert_eq!(bench.inbox(&seat("release")).await["answers"][0]["answer"], json!("here"));

    // It hangs up at the moment at which the answer comes: nobody hears the result, so the inbox has it.
    let (call, cancel) = bench.ask("release", "ops", "PT90S");
    let channel = bench.row(QuestionView::is_open).await.channel.clone();
    bench.call(&seat("ops"), "a2a_reply", json!({"channel": &*channel, "body": "just now"})).await.unwrap();
    cancel.cancel();
    call.await.unwrap().unwrap();
    assert_eq!(bench.inbox(&seat("release")).await["answers"][0]["answer"], json!("just now"));
}

#[tokio::test]
async fn two_who_ask_each_other_do_not_wait_for_each_other() {
    let bench = bench();
    let (call, cancel) = bench.ask("release", "ops", "PT90S");
    let first = bench.row(QuestionView::is_open).await.channel.clone();
    let back = bench.ask("ops", "release", "PT90S").0.await.unwrap().expect_err("a ring");
    assert_eq!(back.class, Class::Conflict);
    assert!(back.message.contains(&*first) && back.message.contains("a2a_reply"), "{back}");
    let (over, _) = bench.ask("ops", "builder-one", "PT90S");
    let second = bench.row(|row| row.to.as_str() == "builder-one").await;
    assert_eq!(second.chain.iter().map(|seat| &**seat).collect::<Vec<_>>(), ["release", "ops"]);
    let ring = bench.ask("builder-one", "release", "PT90S").0.await.unwrap().expect_err("a ring over another");
    assert!(ring.message.contains(&*second.channel) && ring.message.contains("over ops"), "{ring}");
    assert_eq!(bench.inbox(&operator("founder")).await["questions"].as_array().unwrap().len(), 2, "none was kept");
    cancel.cancel();
    call.await.unwrap().unwrap();
    over.abort();
}

#[tokio::test]
async fn a_restart_keeps_what_is_open() {
    let bench = bench();
    let (call, _) = bench.ask("release", "ops", "PT90S");
    let row = bench.row(QuestionView::is_open).await;
    call.abort();
    let Bench { native, folder } = bench;
    drop(native);
    let bench = Bench { native: open(folder.path()), folder };
    bench.native.shared().questions.load(bench.native.store()).await.unwrap();
    let again = bench.row(QuestionView::is_open).await;
    assert_eq!(*again, QuestionView { waits_until: None, ..(*row).clone() }, "and nobody waits");
    bench.call(&seat("ops"), "a2a_reply", json!({"channel": &*row.channel, "body": "still"})).await.unwrap();
    assert_eq!(bench.inbox(&seat("release")).await["answers"][0]["answer"], json!("still"));
}

#[tokio::test(start_paused = true)]
async fn an_inbox_that_is_full_takes_no_more() {
    let bench = bench();
    let one_asks = super::OF_ONE.0;
    for asker in ["release", "builder-one", "builder-two", "third"] {
        for _ in 0..one_asks {
            bench.ask(asker, "ops", "PT1S").0.await.unwrap().unwrap();
        }
        let full = bench.ask(asker, "ops", "PT1S").0.await.unwrap().expect_err("one asker leaves room for others");
        assert!(full.message.starts_with("8 questions of yours to ops have no answer yet, and 8"), "{full:?}");
    }
    let full = bench.ask("fourth", "ops", "PT1S").0.await.unwrap().expect_err("no room");
    assert_eq!((full.class, full.message.contains("ops has 32 questions")), (Class::InboxFull, true), "{full:?}");
    bench.ask("release", "builder-one", "PT1S").0.await.unwrap().unwrap();
    let listed = bench.call(&seat("ops"), "a2a_inbox", json!({"limit": 256})).await.unwrap();
    assert_eq!((listed["questions"].as_array().unwrap().len(), &listed["open"]), (32, &json!(32)));
    assert_eq!(bench.inbox(&operator("founder")).await["open"], json!(33), "of all seats");
    let newest = listed["questions"][0]["channel"].clone();
    bench.call(&seat("ops"), "a2a_reply", json!({"channel": newest, "body": "x"})).await.unwrap();
    bench.ask("fourth", "ops", "PT1S").0.await.unwrap().expect("room again");
}

#[tokio::test]
async fn a_prompt_of_an_autopilot_is_done_by_a_reply() {
    let bench = bench();
    let connector = bench.native.connector();
    let badge = bench.native.company().badge("bridge").unwrap().clone();
    let arguments = r#"{"autopilot_id":"nightly"}"#;
    let trigger = connector.call(&badge, "trigger_autopilot", arguments, PolicyDecision::Allow);
    let Some(crate::native::connector::Called::Over(answer)) = trigger.await else { panic!("it was asked about") };
    assert_eq!(answer.status, 200);
    let row = bench.row(|row| row.kind == QuestionKind::Autopilot).await;
    assert_eq!((&*row.from, row.to.as_str(), &*row.brief), ("nightly", "ops", "look at the alerts"));
    assert_eq!(bench.inbox(&seat("release")).await["prompts"], json!([]), "another's");
    let prompt = bench.inbox(&seat("ops")).await["prompts"][0].clone();
    assert_eq!((&prompt["prompt"], &prompt["channel"]), (&json!("look at the alerts"), &json!(&*row.channel)));
    let reply = json!({"channel": &*row.channel, "body": "all is well"});
    assert_eq!(bench.refused(&seat("release"), "a2a_reply", reply.clone()).await.class, Class::NotFound);
    assert_eq!(bench.call(&seat("ops"), "a2a_reply", reply.clone()).await.unwrap()["status"], json!("done"));
    assert_eq!(bench.refused(&seat("ops"), "a2a_reply", reply.clone()).await.class, Class::AlreadyAnswered);
    let marked = bench.native.store().write(|store| {
        let later = store::inbox::Mark::Snoozed(Timestamp::from_millis(i64::MAX));
        let marks =
            [store::inbox::Mark::Unread, later].map(|mark| store.mark("ops", (1, None), mark, Timestamp::now()));
        marks.into_iter().collect::<Result<Vec<_>, _>>()
    });
    assert_eq!(marked.await.unwrap(), [false, false], "what was answered is not open again");
    assert_eq!(bench.refused(&seat("ops"), "a2a_reply", reply).await.class, Class::AlreadyAnswered);
    assert_eq!(bench.inbox(&seat("ops")).await["prompts"], json!([]));
    // After its seat has left, there is nobody whose inbox could take a prompt.
    let config = crate::config::load("mcp_servers: []\nroles: [ { name: Other } ]", &Source::Demo).unwrap().config;
    bench.native.follow(&config.org);
    let trigger = connector.call(&badge, "trigger_autopilot", arguments, PolicyDecision::Allow);
    let Some(crate::native::connector::Called::Over(answer)) = trigger.await else { panic!("it was asked about") };
    assert_eq!(answer.status, 403);
    bench.row(|row| row.kind == QuestionKind::Autopilot && !row.is_open()).await;
}

#[test]
fn the_hints_are_what_is_documented() {
    let hints = |name: &str| TOOLS.iter().find(|tool| tool.name == name).unwrap().served()["annotations"].clone();
    assert_eq!(hints("a2a_ask"), json!({"openWorldHint": true}));
    assert_eq!(hints("a2a_reply"), json!({"openWorldHint": true}));
    assert_eq!(hints("a2a_inbox"), json!({"readOnlyHint": true, "idempotentHint": true}));
    assert!(TOOLS.iter().all(|tool| tool.delivers.is_none()), "no answer reaches anybody else");
}
