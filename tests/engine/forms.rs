//! What servers ask the person: shown, answered once, declined where nobody may answer, and never let out of hand.

use std::sync::Arc;
use std::time::Duration;

use crewlet_tui::engine::audit::{Durability, Kind, Record};
use crewlet_tui::engine::command::{Command, FormAnswer, Verdict};
use crewlet_tui::engine::gate::Attendance;
use crewlet_tui::engine::handle::{Hold, Stage};
use crewlet_tui::engine::snapshot::{CallPhase, FormView, Snapshot};
use crewlet_tui::secret::Secret;
use crewlet_tui::tool::elicit::Entered;
use serde_json::{Value, json};

use crate::bench::{Bench, CONFIG, Setup, bench, bench_with, request, request_by};
use crate::scripted::Reaction;

fn schema() -> Value {
    json!({"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}, "required": ["name"]})
}

fn asking(id: &Value, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": params})
}

/// The server asks this with the next call, and answers the call with our answer.
fn ask(bench: &Bench, params: &Value) {
    let until = json!("q-1");
    bench.server.react([Reaction::Ask { messages: vec![asking(&until, params)], until }]);
}

fn question() -> Value {
    json!({"message": "Who are you?", "requestedSchema": schema()})
}

fn name(name: &str) -> FormAnswer {
    FormAnswer::Accept(vec![Entered::Text(name.to_owned()), Entered::Text(String::new())])
}

async fn form(bench: &Bench) -> Arc<FormView> {
    bench.until(|snapshot| !snapshot.forms.is_empty()).await.forms[0].clone()
}

async fn no_forms(bench: &Bench) -> Arc<Snapshot> {
    bench.until(|snapshot| snapshot.forms.is_empty()).await
}

fn answer(bench: &Bench, form: &FormView, answer: FormAnswer) {
    bench.handle.send(Command::AnswerForm(form.id, answer)).expect("taken");
}

/// What the trail says of questions: kind and reason.
fn told(bench: &Bench) -> Vec<String> {
    let of_forms = |record: &Record| matches!(record.kind, Kind::Elicited | Kind::Answered);
    let records = bench.trail.records().into_iter().filter(of_forms);
    records.map(|record| format!("{} {}", record.kind.as_str(), record.reason.unwrap_or_default())).collect()
}

fn sent_for<'m>(received: &'m [Value], id: &Value) -> Vec<&'m Value> {
    received.iter().filter(|message| message.get("id") == Some(id) && message.get("method").is_none()).collect()
}

#[tokio::test(start_paused = true)]
async fn a_question_is_answered_by_the_person_and_the_call_goes_on() {
    let bench = bench().await;
    let capabilities = |message: &Value| message.pointer("/params/capabilities").cloned();
    let declared = bench.server.received().iter().find_map(capabilities);
    assert_eq!(declared, Some(json!({"elicitation": {"form": {}}})));
    ask(&bench, &question());
    let call = bench.start_call(request("get", r#"{"id":"a"}"#));
    let form = form(&bench).await;
    assert_eq!((form.server.as_str(), &*form.form.message[0]), ("notes", "Who are you?"));
    let during = &form.during[0];
    assert_eq!(
        (&*during.tool, during.caller.seat().map(crewlet_tui::ids::SeatHandle::as_str)),
        ("get", Some("release"))
    );
    answer(&bench, &form, name("Ada"));
    let report = call.await.unwrap();
    assert_eq!(&*report.message, r#"{"action":"accept","content":{"name":"Ada"}}"#);
    no_forms(&bench).await;
    assert_eq!(told(&bench), ["elicited asks for name, age", "answered accepted: name"]);
    assert_eq!(bench.story(), ["received", "dispatched", "elicited", "answered", "finished done"]);
    let records = bench.trail.records();
    let answered = records.iter().find(|record| record.kind == Kind::Answered).unwrap();
    assert_eq!(answered.connection.as_ref().map(crewlet_tui::ids::ConnectionName::as_str), Some("notes"));
    assert_eq!((answered.decider.as_deref(), answered.call.as_ref()), (Some("person:ada"), Some(&report.call)));
    assert!(!format!("{records:?}").contains("Ada"), "names of fields, never what was written");
    answer(&bench, &form, name("Eve"));
    bench.told("your answer came too late").await;
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn every_end_is_told_to_the_server_once() {
    let cases = [
        (Some(FormAnswer::Decline), r#"{"action":"decline"}"#, "answered declined"),
        (
            Some(FormAnswer::Cancel),
            r#"{"_meta":{"dev.crewlet/reason":"by a person"},"action":"cancel"}"#,
            "answered cancelled: by a person",
        ),
        (
            None,
            r#"{"_meta":{"dev.crewlet/reason":"nobody answered in time"},"action":"cancel"}"#,
            "answered cancelled: nobody answered in time",
        ),
    ];
    for (word, wire, record) in cases {
        let bench = bench_with(
            &format!("{CONFIG}engine: {{ approvals: {{ wait_seconds: 20, hold_seconds: 5 }} }}\n"),
            Attendance::Person,
        )
        .await;
        ask(&bench, &question());
        let call = bench.start_call(request("get", "{}"));
        let form = form(&bench).await;
        if let Some(word) = word {
            answer(&bench, &form, word);
        }
        let said: Value = serde_json::from_str(&call.await.unwrap().message).unwrap();
        assert_eq!(said, serde_json::from_str::<Value>(wire).unwrap());
        assert_eq!(told(&bench).last().map(String::as_str), Some(record));
        let received = bench.server.received();
        assert_eq!(sent_for(&received, &json!("q-1")).len(), 1);
        bench.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_ends_with_its_call_its_server_and_its_seat() {
    type End = fn(&Bench, &tokio_util::sync::CancellationToken);
    let ends: [(End, &str); 3] = [
        (|_, cancel| cancel.cancel(), "its call is over"),
        (|bench, _| bench.handle.send(Command::Restart("notes".into())).unwrap(), "server gone"),
        (|bench, _| bench.handle.send(Command::StopSeat("release".into())).unwrap(), "seat stopped"),
    ];
    for (end, why) in ends {
        let bench = bench().await;
        ask(&bench, &question());
        let request = request("get", "{}");
        let cancel = request.cancel.clone();
        let call = bench.start_call(request);
        form(&bench).await;
        end(&bench, &cancel);
        no_forms(&bench).await;
        call.await.unwrap();
        bench.until(|snapshot| snapshot.servers[0].status.is_ready()).await;
        assert_eq!(told(&bench).last(), Some(&format!("answered cancelled: {why}")));
        bench.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_that_the_server_takes_back_gets_no_answer() {
    let bench = bench().await;
    ask(&bench, &question());
    let call = bench.start_call(request("get", "{}"));
    form(&bench).await;
    let params = json!({"requestId": "q-1"});
    bench.server.say([json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})]).await;
    no_forms(&bench).await;
    assert_eq!(told(&bench).last().map(String::as_str), Some("answered cancelled: the server took it back"));
    // The same name may be used again.
    bench.server.say([asking(&json!("q-1"), &question())]).await;
    let again = form(&bench).await;
    answer(&bench, &again, name("Ada"));
    assert!(call.await.unwrap().message.contains("Ada"));
    let received = bench.server.received();
    assert_eq!(sent_for(&received, &json!("q-1")).len(), 1, "only the second one was answered");
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn shutting_down_cancels_and_records() {
    let bench = bench().await;
    ask(&bench, &question());
    let call = bench.start_call(request("get", "{}"));
    form(&bench).await;
    let trail = bench.trail.clone();
    bench.stop().await;
    call.await.unwrap();
    let last = trail.records().into_iter().rfind(|record| record.kind == Kind::Answered);
    assert_eq!(last.unwrap().reason.as_deref(), Some("cancelled: shutdown"));
}

#[tokio::test(start_paused = true)]
async fn where_nobody_may_answer_nothing_is_offered_and_asking_is_refused() {
    for attendance in [Attendance::Nobody, Attendance::ReadOnly, Attendance::Prompt] {
        let bench = bench_with(CONFIG, attendance).await;
        let offered = bench.server.received().iter().any(|message| message.to_string().contains("elicitation"));
        assert!(!offered, "{attendance:?}");
        ask(&bench, &question());
        let report = bench.call("get", "{}").await;
        let said: Value = serde_json::from_str(&report.message).unwrap();
        assert_eq!(said["code"], -32601, "{said}");
        assert!(said["message"].as_str().unwrap().contains("nobody is at a dashboard"), "{said}");
        assert!(bench.handle.snapshot().forms.is_empty());
        bench.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_shown_is_declined_with_the_reason() {
    let nested = json!({"message": "m", "requestedSchema":
        {"type": "object", "properties": {"x": {"type": "object", "properties": {}}}}});
    let giant = json!({"message": "m".repeat(1 << 20), "requestedSchema": schema()});
    for (params, words) in [(nested, "\"x\" is no text"), (giant, "longer than 64 KiB")] {
        let bench = bench().await;
        ask(&bench, &params);
        let report = bench.call("get", "{}").await;
        let said: Value = serde_json::from_str(&report.message).unwrap();
        assert_eq!(said["action"], "decline");
        assert!(said["_meta"]["dev.crewlet/reason"].as_str().unwrap().contains(words), "{said}");
        assert!(told(&bench)[0].starts_with("answered declined, nobody was asked: it"), "{:?}", told(&bench));
        bench.stop().await;
    }
    let bench = bench().await;
    ask(&bench, &json!({"mode": "url", "message": "m", "url": "https://x", "elicitationId": "1"}));
    assert!(bench.call("get", "{}").await.message.contains("-32602"));
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_nobody_called_asks_nobody() {
    let bench = bench().await;
    bench.server.say([asking(&json!(7), &question())]).await;
    let id = json!(7);
    for _ in 0..10_000 {
        if !sent_for(&bench.server.received(), &id).is_empty() {
            break;
        }
        tokio::task::yield_now().await;
    }
    let received = bench.server.received();
    let said = sent_for(&received, &id)[0];
    assert_eq!(said["result"]["action"], "decline", "{said}");
    assert!(said.to_string().contains("no call runs"), "{said}");
    assert!(bench.handle.snapshot().forms.is_empty());
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_questions_leaves_four_and_a_count() {
    let bench = bench().await;
    let messages: Vec<Value> = (0..1_000).map(|n| asking(&json!(n), &question())).collect();
    bench.server.react([Reaction::Ask { messages, until: json!(0) }]);
    let call = bench.start_call(request("get", "{}"));
    let snapshot = bench.until(|snapshot| snapshot.forms.len() == 4).await;
    let (first, others) = snapshot.forms.split_first().unwrap();
    answer(&bench, first, name("Ada"));
    assert!(call.await.unwrap().message.contains("Ada"));
    // With the call the others go as well.
    no_forms(&bench).await;
    assert_eq!(others.len(), 3);
    let declined = told(&bench).iter().filter(|record| record.contains("nobody was asked")).count();
    assert_eq!(declined, 1, "a flood is recorded once: {:?}", told(&bench));
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn two_questions_of_one_name_are_one() {
    let bench = bench().await;
    let other = json!({"message": "Approve?", "requestedSchema": {"type": "object", "properties": {}}});
    let messages = vec![asking(&json!("q-1"), &question()), asking(&json!("q-1"), &other)];
    bench.server.react([Reaction::Ask { messages, until: json!("q-1") }]);
    let call = bench.start_call(request("get", "{}"));
    let form = form(&bench).await;
    assert_eq!((bench.handle.snapshot().forms.len(), &*form.form.message[0]), (1, "Who are you?"));
    answer(&bench, &form, FormAnswer::Decline);
    call.await.unwrap();
    let received = bench.server.received();
    assert_eq!(sent_for(&received, &json!("q-1")).len(), 1);
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_call_is_not_given_up_while_its_server_waits_for_the_person() {
    let config = format!("{CONFIG}    request_timeout_seconds: 10\n");
    let bench = bench_with(&config, Attendance::Person).await;
    ask(&bench, &question());
    let call = bench.start_call(request("get", "{}"));
    let form = form(&bench).await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    answer(&bench, &form, name("Ada"));
    assert_eq!(call.await.unwrap().phase, CallPhase::Done { is_error: false });

    // But for no longer than ten times its limit, and the question goes with it.
    ask(&bench, &question());
    let began = tokio::time::Instant::now();
    let report = bench.call("get", "{}").await;
    assert!(matches!(&report.phase, CallPhase::Unknown { reason } if reason.contains("did not answer within 100")));
    assert_eq!(began.elapsed().as_secs(), 100);
    no_forms(&bench).await;
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_secret_is_not_handed_to_a_server_by_mistake() {
    let bench = bench().await;
    bench.redactor.learn([Secret::new("correct-horse-battery")]);
    ask(&bench, &question());
    let call = bench.start_call(request("get", "{}"));
    let form = form(&bench).await;
    answer(&bench, &form, name("it is correct-horse-battery"));
    bench.told("nothing was sent: what is in \"name\" looks like a password or token").await;
    assert_eq!(bench.handle.snapshot().forms.len(), 1, "it goes on waiting");
    answer(&bench, &form, FormAnswer::Accept(Vec::new()));
    bench.told("the answer does not fit the form").await;
    answer(&bench, &form, FormAnswer::Decline);
    call.await.unwrap();
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_cannot_be_recorded_is_not_given() {
    let bench = bench().await;
    ask(&bench, &question());
    let call = bench.start_call(request("get", "{}"));
    let form = form(&bench).await;
    bench.trail.set_broken(Some("no space left"));
    answer(&bench, &form, name("Ada"));
    bench.told("nothing was sent: the audit cannot be written").await;
    assert_eq!(bench.handle.snapshot().forms.len(), 1, "it goes on waiting");
    bench.trail.set_broken(None);
    answer(&bench, &form, name("Ada"));
    assert!(call.await.unwrap().message.contains("Ada"));
    bench.stop().await;
}

fn input_required(state: &str) -> Reaction {
    Reaction::Result(json!({
        "resultType": "input_required",
        "inputRequests": {"who": {"method": "elicitation/create", "params": question()}},
        "requestState": state,
    }))
}

async fn modern() -> Bench {
    Setup { modern: true, ..Setup::default() }.start().await
}

#[tokio::test(start_paused = true)]
async fn a_modern_server_gets_the_same_call_again_with_the_answers() {
    let bench = modern().await;
    bench.server.react([input_required("s\u{e9}al"), input_required("second")]);
    let arguments = r#"{"n":1.10,"id":"aé"}"#;
    let call = bench.start_call(request("delete", arguments));
    let approval = bench.question().await;
    bench.decide(&approval, Verdict::Approve);
    let first = form(&bench).await;
    answer(&bench, &first, name("Ada"));
    let second = bench.until(|s| s.forms.first().is_some_and(|now| now.id != first.id)).await.forms[0].clone();
    answer(&bench, &second, FormAnswer::Decline);
    assert_eq!(call.await.unwrap().phase, CallPhase::Done { is_error: false });
    let ledger = bench.server.ledger();
    assert_eq!(ledger.len(), 3);
    assert!(ledger.iter().all(|entry| *entry == ledger[0]), "the permitted bytes each time: {ledger:?}");
    let calls: Vec<Value> =
        bench.server.received().into_iter().filter(|message| message["method"] == "tools/call").collect();
    let of = |n: usize, key: &str| calls[n]["params"].get(key).cloned().unwrap_or_default();
    assert_eq!(of(0, "inputResponses"), Value::Null);
    assert_eq!(of(1, "inputResponses"), json!({"who": {"action": "accept", "content": {"name": "Ada"}}}));
    assert_eq!(of(1, "requestState"), "séal");
    assert_eq!(of(2, "inputResponses"), json!({"who": {"action": "decline"}}));
    assert_eq!(of(2, "requestState"), "second");
    let ids: Vec<&Value> = calls.iter().map(|call| &call["id"]).collect();
    assert!(ids[0] != ids[1] && ids[1] != ids[2]);
    let offered = &calls[0]["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"];
    assert_eq!(offered, &json!({"elicitation": {"form": {}}}));
    assert_eq!(
        bench.story(),
        [
            "received",
            "asked",
            "approved",
            "dispatched",
            "elicited",
            "answered",
            "dispatched",
            "elicited",
            "answered",
            "dispatched",
            "finished done"
        ],
        "asked once, and each sending is in the trail before it happens"
    );
    let sent: Vec<_> = bench.trail.with_durability().into_iter().filter(|(r, _)| r.kind == Kind::Dispatched).collect();
    assert!(sent.iter().all(|(_, how)| *how == Durability::Synced), "a person stands behind each: {sent:?}");
    let reasons: Vec<_> = sent.iter().filter_map(|(record, _)| record.reason.as_deref()).collect();
    assert_eq!(reasons, ["goes on, round 1: accepted: name", "goes on, round 2: declined"]);
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn the_time_of_a_person_is_not_the_servers() {
    let bench = modern().await;
    bench.server.react([input_required("s")]);
    let call = bench.start_call(request("get", "{}"));
    let form = form(&bench).await;
    tokio::time::advance(Duration::from_secs(60)).await;
    answer(&bench, &form, name("Ada"));
    call.await.unwrap();
    let snapshot = bench.until(|s| s.calls.iter().all(|call| call.phase.is_over())).await;
    let view = &snapshot.calls[0];
    assert!(view.ran.is_some_and(|ran| ran < Duration::from_secs(1)), "{:?}", view.ran);
    assert!(view.elapsed.is_some_and(|elapsed| elapsed >= Duration::from_secs(60)), "{:?}", view.elapsed);
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_went_on_with_an_answer_is_not_begun_again() {
    let bench = modern().await;
    bench.server.react([input_required("s"), Reaction::HangUp]);
    let call = bench.start_call(request("get", "{}"));
    let form = form(&bench).await;
    answer(&bench, &form, name("Ada"));
    let report = call.await.unwrap();
    assert!(matches!(report.phase, CallPhase::Unknown { .. }), "{:?}", report.phase);
    assert_eq!(bench.server.ledger().len(), 2, "the person's answer is not asked for twice");
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_call_goes_on_with_an_answer_only_once_its_caller_is_back() {
    let bench = modern().await;
    for comes_back in [true, false] {
        let before = bench.server.ledger().len();
        bench.server.react([input_required("s")]);
        let hold = Hold::default();
        let mut report = bench.handle.start_call(request("get", "{}"), hold.clone()).unwrap();
        report.let_go();
        let form = form(&bench).await;
        assert_eq!(hold.stage(), Stage::Asked, "a person is asked");
        assert!(hold.leave(), "who need not be waited for here");
        answer(&bench, &form, name("Ada"));
        no_forms(&bench).await;
        while told(&bench).last().is_none_or(|last| last != "answered accepted: name") {
            tokio::task::yield_now().await;
        }
        tokio::time::sleep(Duration::from_secs(60)).await;
        assert_eq!(bench.server.ledger().len(), before + 1, "nothing goes on without a live caller");
        if comes_back {
            hold.come_back();
            assert_eq!(report.await.unwrap().phase, CallPhase::Done { is_error: false });
            assert_eq!(bench.server.ledger().len(), before + 2);
            assert!(!hold.leave(), "what runs is not left");
        } else {
            let message = report.await.unwrap().message;
            assert!(message.contains("the caller did not come back"), "{message}");
            assert_eq!(bench.server.ledger().len(), before + 1);
        }
    }
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_modern_server_that_never_has_enough_is_given_up() {
    let bench = modern().await;
    bench.server.react((0..20).map(|_| input_required("more")));
    let call = bench.start_call(request("get", "{}"));
    let mut last = None;
    for _ in 0..8 {
        let newer = |s: &Arc<Snapshot>| s.forms.first().is_some_and(|form| Some(form.id) > last);
        let form = bench.until(newer).await.forms[0].clone();
        last = Some(form.id);
        answer(&bench, &form, name("Ada"));
    }
    let report = call.await.unwrap();
    assert!(report.message.contains("went on asking for input after 8 answers"), "{}", report.message);
    assert_eq!(bench.server.ledger().len(), 9);
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_call_does_not_go_on_when_its_question_went_away_or_the_rules_changed() {
    let bench = modern().await;
    for (n, end) in ["cancel", "stop"].into_iter().enumerate() {
        bench.server.react([input_required("s")]);
        let request = request("get", "{}");
        let cancel = request.cancel.clone();
        let call = bench.start_call(request);
        form(&bench).await;
        if end == "cancel" {
            cancel.cancel();
        } else {
            bench.handle.send(Command::StopSeat("release".into())).unwrap();
        }
        let report = call.await.unwrap();
        assert!(matches!(report.phase, CallPhase::Failed { .. }), "{end}: {:?}", report.phase);
        no_forms(&bench).await;
        assert_eq!(bench.server.ledger().len(), n + 1, "{end}: sent once");
    }
    bench.server.react([Reaction::Result(json!({
        "resultType": "input_required",
        "inputRequests": {"s": {"method": "sampling/createMessage", "params": {}}},
    }))]);
    let report = bench.handle.call(request_by(None, "get", "{}")).await.unwrap();
    assert!(report.message.contains("\"sampling/createMessage\", which is not offered"), "{}", report.message);
    bench.stop().await;
}
