//! Deadlines, cancellation and what a lost answer means, with paused time.

use serde_json::{Value, json};
use tokio::time::Instant;

use super::scripted::{Reaction, Scripted, legacy, result, scripted};
use super::*;

fn calls(call: impl Fn(&Value) -> Reaction + Send + Sync + 'static) -> Arc<Scripted> {
    Scripted::new(move |_, message| if message["method"] == "tools/call" { call(message) } else { legacy(message) })
}

#[tokio::test(start_paused = true)]
async fn arguments_travel_byte_for_byte() {
    let server = calls(|message| Reaction::Say(vec![result(message, message["params"]["arguments"].clone())]));
    let mut bench = Bench::start(scripted(&server));
    bench.ready().await;
    let odd = r#"{"b":[1,2.0,-0],"a":"\u2028","big":9007199254740993}"#;
    match bench.call("t", odd).await {
        Ok(Reply::Result(result)) => assert!(result.get().contains("9007199254740993"), "{}", result.get()),
        other => panic!("{other:?}"),
    }
    let sent = server.heard("tools/call").remove(0);
    assert_eq!(sent["params"]["name"], "t");
    assert!(sent["params"]["_meta"]["progressToken"].is_u64());
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_silent_call_times_out_and_the_server_is_told() {
    let server = calls(|_| Reaction::Silence);
    let mut bench = Bench::start(scripted(&server));
    bench.ready().await;
    let began = Instant::now();
    match bench.call("t", "{}").await {
        Err(CallFailure::TimedOut { waited, .. }) => assert_eq!(waited.as_secs(), 30),
        other => panic!("{other:?}"),
    }
    assert_eq!(began.elapsed().as_secs(), 30);
    tokio::time::sleep(Duration::from_millis(1)).await;
    let told = server.heard("notifications/cancelled");
    assert_eq!(told.len(), 1);
    assert_eq!(told[0]["params"]["requestId"], server.heard("tools/call")[0]["id"]);
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn progress_extends_a_deadline_but_not_for_ever() {
    let noisy = Scripted::new(|_, message| match message["method"].as_str() {
        Some("tools/call") => Reaction::Silence,
        _ => legacy(message),
    });
    let mut bench = Bench::start(scripted(&noisy));
    bench.ready().await;
    let client = match &*bench.connection.current.borrow() {
        Availability::Ready(client) => client.clone(),
        other => panic!("{other:?}"),
    };
    let began = Instant::now();
    let progress = async {
        loop {
            tokio::time::sleep(Duration::from_secs(20)).await;
            client.progress_for_test();
        }
    };
    let call = bench.call("t", "{}");
    let ended = tokio::select! {
        ended = call => ended,
        () = progress => unreachable!(),
    };
    let ended = ended.expect_err("it times out").to_string();
    assert_eq!(ended, "did not answer within 300 s (its limit is 30 s; progress extends it to at most 300 s)");
    assert_eq!(began.elapsed().as_secs(), 300);
    assert_eq!(client.pending(), 0);
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn late_answers_are_dropped_and_the_connection_goes_on() {
    let server = calls(|message| Reaction::Late(Duration::from_secs(40), result(message, json!({"content": []}))));
    let mut bench = Bench::start(scripted(&server));
    bench.ready().await;
    assert!(matches!(bench.call("t", "{}").await, Err(CallFailure::TimedOut { .. })));
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(bench.words(), ["starting", "ready"]);
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn cancelling_and_dropping_both_tell_the_server() {
    let server = calls(|_| Reaction::Silence);
    let mut bench = Bench::start(scripted(&server));
    bench.ready().await;
    let before = CancellationToken::new();
    before.cancel();
    let unsent = bench.connection.call(Dispatch::for_test("t", "{}"), before).await;
    assert!(matches!(unsent, Err(CallFailure::NotSent(_))), "{unsent:?}");

    let cancel = CancellationToken::new();
    let call = bench.connection.call(Dispatch::for_test("t", "{}"), cancel.clone());
    let (ended, ()) = tokio::join!(call, async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        cancel.cancel();
    });
    assert!(matches!(ended, Err(CallFailure::Cancelled)), "{ended:?}");
    assert!(tokio::time::timeout(Duration::from_secs(1), bench.call("t", "{}")).await.is_err());
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(server.heard("tools/call").len(), 2);
    assert_eq!(server.heard("notifications/cancelled").len(), 2);
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_ends_makes_the_outcome_unknown() {
    let server = calls(|_| Reaction::HangUp);
    let mut bench = Bench::start(scripted(&server));
    bench.ready().await;
    let lost = bench.call("t", "{}").await;
    assert!(matches!(&lost, Err(CallFailure::Lost(reason)) if reason.contains("fake")), "{lost:?}");
    let (attempt, _) = bench.backing_off().await;
    assert_eq!(attempt, 1);
    let down = bench.call("t", "{}").await;
    assert!(matches!(&down, Err(CallFailure::NotRunning(reason)) if reason.contains("backoff")), "{down:?}");
    assert_eq!(server.heard("tools/call").len(), 1);
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn many_calls_at_once_find_their_own_answers() {
    let server = calls(|message| {
        Reaction::Say(vec![result(
            message,
            json!({"content": [
        {"type": "text", "text": message["params"]["arguments"]["n"].to_string()}]}),
        )])
    });
    let mut bench = Bench::start(scripted(&server));
    bench.ready().await;
    let calls = (0..256).map(|n| {
        let bench = &bench;
        async move { text(bench.call("t", &format!(r#"{{"n":{n}}}"#)).await) == n.to_string() }
    });
    assert!(futures_util::future::join_all(calls).await.into_iter().all(|own| own));
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_result_that_asks_for_input_passes_through() {
    let server = calls(|message| Reaction::Say(vec![result(message, json!({"resultType": "input_required"}))]));
    let mut bench = Bench::start(scripted(&server));
    bench.ready().await;
    match bench.call("t", "{}").await {
        Ok(Reply::Result(result)) => assert_eq!(result.get(), r#"{"resultType":"input_required"}"#),
        other => panic!("{other:?}"),
    }
    bench.stop().await;
}
