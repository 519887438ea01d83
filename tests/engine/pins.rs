//! Remembered definitions through the handle: what changed is shown, and what turned milder is not trusted, across runs.

use crewlet_tui::engine::audit::Kind;
use crewlet_tui::engine::command::Verdict;
use crewlet_tui::engine::gate::pins::Pins;
use crewlet_tui::engine::snapshot::{CallPhase, DefinitionChange, DiffLine, Known};
use crewlet_tui::tool::ToolKey;
use serde_json::{Value, json};

use crate::bench::{Bench, CONFIG, Setup, bench, request, tool};

const DONE: CallPhase = CallPhase::Done { is_error: false };

fn wipe() -> ToolKey {
    ToolKey { connection: "notes".into(), raw_name: "wipe".into() }
}

fn with_hints(annotations: Value) -> Value {
    tool("wipe", annotations)
}

async fn run(tools: Vec<Value>, pins: &str) -> Bench {
    run_with(CONFIG, tools, pins).await
}

async fn run_with(config: &str, tools: Vec<Value>, pins: &str) -> Bench {
    let pins = if pins.is_empty() { Pins::default() } else { serde_json::from_str(pins).expect("pins") };
    Setup { config: config.to_owned(), tools, pins, ..Setup::default() }.start().await
}

fn marked(change: &DefinitionChange) -> Vec<String> {
    let line = |line: &DiffLine| match line {
        DiffLine::Same(_) => None,
        DiffLine::Removed(text) => Some(format!("-{text}")),
        DiffLine::Added(text) => Some(format!("+{text}")),
    };
    change.lines.iter().filter_map(line).collect()
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_turned_milder_between_runs_asks_until_a_call_of_it_was_approved() {
    let cases = [
        (json!({"destructiveHint": true}), json!({"readOnlyHint": true}), "(destructive -> read)"),
        (json!({"destructiveHint": true}), json!({"destructiveHint": false}), "(destructive -> write)"),
        (json!({}), json!({"readOnlyHint": true}), "(unknown -> read)"),
        (json!({"destructiveHint": false}), json!({"readOnlyHint": true}), "(write -> read)"),
        (json!({"readOnlyHint": true, "idempotentHint": "yes"}), json!({"readOnlyHint": true}), "(unknown -> read)"),
    ];
    for (before, after, words) in cases {
        let pins = run(vec![with_hints(before)], "").await.stop().await;
        let bench = run(vec![with_hints(after.clone())], &pins).await;
        bench.told("milder").await;
        assert!(bench.asks(Some("release"), "wipe", "{}").await, "{words}");
        assert!(bench.asks(Some("release"), "wipe", "{}").await, "{words}: a denial acknowledges nothing");
        assert_eq!(bench.server.ledger(), []);
        let pins = bench.stop().await;
        // Not even by coming back once more.
        let bench = run(vec![with_hints(after.clone())], &pins).await;
        let answer = bench.handle.snapshot().policies[&wipe()].clone();
        assert!(answer.by.starts_with("its hints turned milder since ") && answer.by.contains(words), "{}", answer.by);
        let call = bench.start_call(request("wipe", "{}"));
        let question = bench.question().await;
        assert_eq!(question.policy_by, answer.by);
        let change = question.change.clone().expect("a difference");
        assert_eq!(change.approved, Known::Seen);
        assert!(!marked(&change).is_empty());
        bench.decide(&question, Verdict::Approve);
        assert_eq!(call.await.unwrap().phase, DONE);
        assert!(!bench.asks(Some("release"), "wipe", "{}").await, "{words}: acknowledged");
        let pins = bench.stop().await;
        let bench = run(vec![with_hints(after)], &pins).await;
        assert!(!bench.asks(Some("release"), "wipe", "{}").await, "{words}: also in the next run");
        bench.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn several_mild_steps_are_measured_against_the_first() {
    let bench = run(vec![with_hints(json!({"destructiveHint": true}))], "").await;
    for hints in
        [json!({"destructiveHint": false}), json!({"readOnlyHint": true}), json!({"readOnlyHint": true, "title": "x"})]
    {
        bench.server.change_tools([with_hints(hints)]).await;
        bench.until(|s| s.policies.get(&wipe()).is_some_and(|answer| answer.by.contains("(destructive -> "))).await;
        assert!(bench.asks(Some("release"), "wipe", "{}").await);
    }
    // What it was is trusted as before.
    bench.server.change_tools([with_hints(json!({"destructiveHint": true}))]).await;
    bench.until(|s| s.policies[&wipe()].by.starts_with("class destructive")).await;
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_the_configuration_says_is_trusted() {
    let hints = with_hints(json!({"destructiveHint": true}));
    let pins = run(vec![hints.clone()], "").await.stop().await;
    let config = format!("{CONFIG}    tool_annotations: {{ wipe: {{ destructive: false }} }}\n");
    let bench = run_with(&config, vec![hints], &pins).await;
    assert!(!bench.asks(Some("release"), "wipe", "{}").await);
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn the_difference_from_what_was_approved_is_shown_line_by_line() {
    let definition = |description: &str, kind: &str| {
        json!({
            "name": "wipe", "description": description, "annotations": {"destructiveHint": true},
            "inputSchema": {"type": "object", "properties": {"id": {"type": kind}}},
        })
    };
    let bench = run(vec![definition("removes a note", "string")], "").await;
    let call = bench.start_call(request("wipe", "{}"));
    assert_eq!(bench.question().await.change, None);
    bench.answered(call, Verdict::Approve).await;
    let pins = bench.stop().await;
    let bench = run(vec![definition("removes a note\nand\u{202e} its copies", "integer")], &pins).await;
    let call = bench.start_call(request("wipe", "{}"));
    let question = bench.question().await;
    let change = question.change.clone().expect("a difference");
    assert_eq!(change.approved, Known::Approved);
    let expected = [r"+  and\u{202e} its copies", r#"-        "type": "string""#, r#"+        "type": "integer""#];
    assert_eq!(marked(&change), expected);
    let asked = bench.trail.records().into_iter().find(|record| record.kind == Kind::Asked).unwrap();
    let reason = asked.reason.expect("both hashes");
    assert!(reason.contains("it was sha256:") && reason.ends_with(&question.entry.fingerprint.to_string()), "{reason}");
    bench.decide(&question, Verdict::Approve);
    call.await.unwrap();
    bench.questions(0).await;
    let call = bench.start_call(request("wipe", r#"{"id":1}"#));
    assert_eq!(bench.question().await.change, None, "approved is approved");
    bench.answered(call, Verdict::Approve).await;
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn key_order_and_white_space_change_nothing() {
    let schema = |text: &str| {
        let schema: Value = serde_json::from_str(text).unwrap();
        json!({"name": "wipe", "description": "d", "inputSchema": schema, "annotations": {"destructiveHint": true}})
    };
    let bench = run(vec![schema(r#"{"type":"object","properties":{"a":{},"b":{}}}"#)], "").await;
    let call = bench.start_call(request("wipe", "{}"));
    bench.answered(call, Verdict::Approve).await;
    let pins = bench.stop().await;
    let bench = run(vec![schema(r#"{ "properties": {"b": {}, "a": {}}, "type": "object" }"#)], &pins).await;
    let call = bench.start_call(request("wipe", "{}"));
    assert_eq!(bench.question().await.change, None);
    bench.answered(call, Verdict::Approve).await;
    assert_eq!(bench.stop().await.matches("fingerprint").count(), 2, "seen and approved");
}

#[tokio::test(start_paused = true)]
async fn another_command_line_is_another_definition() {
    let tools = vec![with_hints(json!({"destructiveHint": true}))];
    let bench = run(tools.clone(), "").await;
    let call = bench.start_call(request("wipe", "{}"));
    bench.answered(call, Verdict::Approve).await;
    let pins = bench.stop().await;
    let bench = run_with(&CONFIG.replace("in-memory", "elsewhere"), tools, &pins).await;
    let call = bench.start_call(request("wipe", "{}"));
    let change = bench.question().await.change.clone().expect("a difference");
    assert_eq!(marked(&change), ["-server: notes (in-memory)", "+server: notes (elsewhere)"]);
    bench.answered(call, Verdict::Approve).await;
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_seen_first_is_taken_as_it_is() {
    let bench = bench().await;
    assert!(!bench.asks(Some("release"), "get", "{}").await);
    let call = bench.start_call(request("delete", "{}"));
    assert_eq!(bench.question().await.change, None);
    bench.answered(call, Verdict::Approve).await;
    bench.stop().await;
}

#[test]
fn a_file_that_is_none_is_refused() {
    for text in ["", "[]", r#"{"version":1}"#, r#"{"version":1,"tools":[{"connection":"a"}]}"#] {
        assert!(serde_json::from_str::<Pins>(text).is_err(), "{text}");
    }
}
