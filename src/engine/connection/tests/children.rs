//! Calls to real children.

use std::time::Instant;

use super::*;

#[tokio::test]
async fn a_child_connects_lists_and_answers() {
    let mut bench = Bench::start(child("", &[]));
    bench.ready().await;
    let peer = bench.peer();
    assert_eq!((peer.era, &*peer.protocol_version), (Era::Legacy, "2025-11-25"));
    let name = peer.name.unwrap();
    assert!(name.starts_with("fake") && !crate::text::has_hidden(&name), "{name}");
    assert!(peer.pid.is_some());
    assert!(bench.listing().tools.iter().any(|tool| &*tool.raw_name == "echo"));
    assert_eq!(text(bench.call("echo", r#"{"a": [1, 2.50]}"#).await), r#"{"a": [1, 2.5]}"#);
    match bench.call("refuse", "{}").await {
        Ok(Reply::Error { code: -32602, message }) => assert!(!message.contains('\u{1b}'), "{message}"),
        other => panic!("{other:?}"),
    }
    assert_eq!(bench.stop().await, ["starting", "ready", "stopping", "stopped"]);
}

#[tokio::test]
async fn a_modern_child_connects_and_answers() {
    let mut bench = Bench::start(child("modern", &[]));
    bench.ready().await;
    assert_eq!((bench.peer().era, &*bench.peer().protocol_version), (Era::Modern, "2026-07-28"));
    assert_eq!(text(bench.call("echo", "{}").await), "{}");
    bench.stop().await;
}

#[tokio::test]
async fn a_killed_child_fails_its_call_at_once_and_comes_back() {
    let mut bench = Bench::start(child("", &[]));
    bench.ready().await;
    let began = Instant::now();
    match bench.call("bye", "{}").await {
        Err(CallFailure::Lost(reason)) => {
            assert!(reason.contains("fake") && reason.contains("SIGKILL"), "{reason}");
        }
        other => panic!("{other:?}"),
    }
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    match bench.call("echo", "{}").await {
        Err(CallFailure::NotRunning(reason)) => assert!(reason.contains("not running"), "{reason}"),
        other => panic!("{other:?}"),
    }
    bench.ready().await;
    assert_eq!(text(bench.call("echo", "{}").await), "{}");
    assert_eq!(
        bench.stop().await,
        ["starting", "ready", "stopping", "backoff", "starting", "ready", "stopping", "stopped"]
    );
}

#[tokio::test]
async fn a_call_whose_answer_is_lost_is_not_sent_again() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = folder.path().join("ledger");
    let mut bench = Bench::start(child("", &[("LEDGER", ledger.to_str().unwrap())]));
    bench.ready().await;
    let lost = bench.call("die_unanswered", r#"{"to":"all"}"#).await;
    assert!(matches!(&lost, Err(CallFailure::Lost(reason)) if reason.contains("exit 4")), "{lost:?}");
    bench.ready().await;
    assert_eq!(text(bench.call("echo", "{}").await), "{}");
    let ledger = std::fs::read_to_string(&ledger).unwrap();
    let tools: Vec<_> = ledger.lines().filter_map(|line| line.split(' ').nth(1)).collect();
    assert_eq!(tools, ["die_unanswered", "echo"]);
    bench.stop().await;
}

#[tokio::test]
async fn stderr_never_blocks_a_child() {
    let mut bench = Bench::start(child("chatty", &[]));
    bench.ready().await;
    let began = Instant::now();
    assert_eq!(text(bench.call("spam", "{}").await), "{}");
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    bench.stop().await;
}

#[tokio::test]
async fn noise_on_stdout_is_shown_and_skipped() {
    let mut bench = Bench::start(child("noise", &[]));
    bench.ready().await;
    assert_eq!(text(bench.call("echo", "{}").await), "{}");
    bench
        .until(|event| match event {
            ConnectionEvent::Lines { lines, .. } => {
                lines.iter().any(|line| line.1 == LineKind::Noise && line.2.contains("stray")).then_some(())
            }
            _ => None,
        })
        .await;
    let noise = bench.lines(LineKind::Noise);
    assert!(noise.iter().any(|line| line == "Starting server..."), "{noise:?}");
    assert!(noise.iter().any(|line| line == "42"), "{noise:?}");
    assert!(noise.iter().all(|line| !line.contains('\u{1b}')), "{noise:?}");
    bench.stop().await;
}

#[tokio::test]
async fn a_child_sees_only_what_it_may() {
    let mut spec = child("", &[("K1", "declared")]);
    if let TransportSpec::Stdio(stdio) = &mut spec.transport {
        stdio.inherit_env.push("CARGO_MANIFEST_DIR".into());
    }
    let mut bench = Bench::start(spec);
    bench.ready().await;
    let env = text(bench.call("env", "{}").await);
    let names: Vec<_> = env.lines().filter_map(|line| line.split('=').next()).collect();
    assert!(names.contains(&"K1") && names.contains(&"PATH"), "{names:?}");
    assert!(names.contains(&"CARGO_MANIFEST_DIR"), "{names:?}");
    assert!(!names.contains(&"CARGO_PKG_NAME"), "{names:?}");
    bench.stop().await;
}

#[tokio::test]
async fn a_changed_list_is_read_again_a_few_times_at_most() {
    let mut bench = Bench::start(child("", &[]));
    bench.ready().await;
    assert_eq!(text(bench.call("change", "{}").await), "{}");
    bench
        .until(|event| match event {
            ConnectionEvent::Listed(listing) => {
                let has = |name: &str| listing.tools.iter().any(|tool| &*tool.raw_name == name);
                (has("added") && !has("env")).then_some(())
            }
            _ => None,
        })
        .await;
    bench.stop().await;
}

#[tokio::test]
async fn a_given_up_call_is_told_to_the_server() {
    let mut spec = child("", &[]);
    spec.request_timeout = Duration::from_millis(300);
    let mut bench = Bench::start(spec);
    bench.ready().await;
    let timed_out = bench.call("never", "{}").await;
    assert!(matches!(timed_out, Err(CallFailure::TimedOut { .. })), "{timed_out:?}");
    let cancel = CancellationToken::new();
    let call = bench.connection.call(Dispatch::for_test("never", "{}"), cancel.clone());
    let (cancelled, ()) = tokio::join!(call, async {
        // The ordinary call behind it proves that the first one has left.
        assert_eq!(text(bench.call("echo", "{}").await), "{}");
        cancel.cancel();
    });
    assert!(matches!(cancelled, Err(CallFailure::Cancelled)), "{cancelled:?}");
    let told: Vec<u64> = serde_json::from_str(&text(bench.call("got_cancelled", "{}").await)).unwrap();
    assert_eq!(told.len(), 2, "{told:?}");
    // Progress keeps a call alive beyond its limit.
    assert_eq!(text(bench.call("steps", r#"{"steps":6,"every":0.1}"#).await), r#"{"steps": 6, "every": 0.1}"#);
    bench.stop().await;
}
