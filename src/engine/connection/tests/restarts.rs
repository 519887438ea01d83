//! The status machine: back-off, giving up, orders, panics.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;

use super::scripted::{Reaction, Scripted, legacy, scripted};
use super::*;

#[tokio::test(start_paused = true)]
async fn five_failed_starts_end_it_and_a_person_starts_it_again() {
    let broken = Arc::new(AtomicBool::new(true));
    let server = Scripted::new({
        let broken = broken.clone();
        move |_, message| if broken.load(Ordering::SeqCst) { Reaction::HangUp } else { legacy(message) }
    });
    let mut bench = Bench::start(scripted(&server));
    let began = Instant::now();
    let failure = bench.failed().await;
    assert_eq!(failure.kind, FailureKind::Transport);
    let expected = [
        "starting", "backoff", "starting", "backoff", "starting", "backoff", "starting", "backoff", "starting",
        "failed",
    ];
    assert_eq!(bench.words(), expected);
    assert!((15..=20).contains(&began.elapsed().as_secs()), "{:?}", began.elapsed());
    // One more start than attempts: the first one tried without the probe, too.
    assert_eq!(server.connections(), 6);
    let down = bench.call("t", "{}").await;
    assert!(matches!(&down, Err(CallFailure::NotRunning(reason)) if reason.contains("failed")), "{down:?}");

    broken.store(false, Ordering::SeqCst);
    assert!(bench.connection.control(Control::Restart));
    bench.until(|event| matches!(event, ConnectionEvent::Status(ConnectionStatus::Ready { .. })).then_some(())).await;
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_unstable_server_runs_out_of_attempts_and_a_stable_one_does_not() {
    for (healthy, ends_in) in [(10, "failed"), (90, "backoff")] {
        let server = Scripted::new(|_, message| match message["method"].as_str() {
            Some("tools/call") => Reaction::HangUp,
            _ => legacy(message),
        });
        let mut bench = Bench::start(scripted(&server));
        for _ in 0..5 {
            bench.ready().await;
            tokio::time::sleep(Duration::from_secs(healthy)).await;
            assert!(bench.call("t", "{}").await.is_err());
        }
        let last = bench
            .until(|event| match event {
                ConnectionEvent::Status(
                    status @ (ConnectionStatus::Backoff { .. } | ConnectionStatus::Failed { .. }),
                ) => Some(status.word()),
                _ => None,
            })
            .await;
        assert_eq!(last, ends_in);
        bench.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn restart_never_means_never() {
    let server = Scripted::new(|_, message| match message["method"].as_str() {
        Some("tools/call") => Reaction::HangUp,
        _ => legacy(message),
    });
    let mut bench = Bench::start(ConnectionSpec { restart: RestartPolicy::Never, ..scripted(&server) });
    bench.ready().await;
    assert!(bench.call("t", "{}").await.is_err());
    bench.failed_after_ready().await;
    assert_eq!(bench.stop().await, ["starting", "ready", "stopping", "failed"]);
}

#[tokio::test(start_paused = true)]
async fn orders_are_obeyed_in_every_state() {
    let server = Scripted::new(|_, message| legacy(message));
    let mut bench = Bench::start(scripted(&server));
    bench.ready().await;
    let connection = bench.connection.clone();
    assert!(connection.control(Control::Enable), "nothing to do");
    assert!(connection.control(Control::Disable));
    bench.until(|event| matches!(event, ConnectionEvent::Status(ConnectionStatus::Disabled)).then_some(())).await;
    let down = bench.call("t", "{}").await;
    assert!(matches!(&down, Err(CallFailure::NotRunning(reason)) if reason.contains("disabled")), "{down:?}");
    assert!(connection.control(Control::Enable));
    bench.ready().await;
    assert!(connection.control(Control::Restart));
    bench.ready().await;
    let words = bench.stop().await;
    let expected = [
        "starting", "ready", "stopping", "disabled", "starting", "ready", "stopping", "starting", "ready", "stopping",
        "stopped",
    ];
    assert_eq!(words, expected);
    assert!(!connection.control(Control::Enable), "nobody is there any more");
}

#[tokio::test(start_paused = true)]
async fn a_disabled_server_is_not_started() {
    let server = Scripted::new(|_, message| legacy(message));
    let (events, mut heard) = mpsc::channel(64);
    let shutdown = CancellationToken::new();
    let (connection, task) = start(scripted(&server), Initially::Disabled, events, shutdown.clone());
    let first = heard.recv().await.unwrap().1;
    assert!(matches!(first, ConnectionEvent::Status(ConnectionStatus::Disabled)), "{first:?}");
    assert_eq!(server.connections(), 0);
    shutdown.cancel();
    task.await.unwrap();
    drop(connection);
}

#[tokio::test(start_paused = true)]
async fn shutdown_is_not_held_up_by_a_core_that_does_not_listen() {
    let server = Scripted::new(|_, message| legacy(message));
    let (events, heard) = mpsc::channel(1);
    let shutdown = CancellationToken::new();
    let (connection, task) = start(scripted(&server), Initially::Enabled, events, shutdown.clone());
    drop(connection);
    tokio::time::sleep(Duration::from_secs(10)).await;
    shutdown.cancel();
    tokio::time::timeout(Duration::from_secs(10), task).await.expect("it ends").unwrap();
    drop(heard);
}

struct Panics(AtomicBool);

impl Connector for Panics {
    fn connect(&self) -> (Box<dyn AsyncWrite + Send + Unpin>, Box<dyn AsyncRead + Send + Unpin>) {
        assert!(!self.0.swap(false, Ordering::SeqCst), "a bug of ours");
        (Box::new(tokio::io::sink()), Box::new(tokio::io::empty()))
    }
}

#[tokio::test(start_paused = true)]
async fn a_panic_is_a_failed_connection_that_can_be_started_again() {
    let mut bench = Bench::start(spec(TransportSpec::Custom(Arc::new(Panics(AtomicBool::new(true))))));
    assert_eq!(bench.failed().await.kind, FailureKind::Internal);
    assert!(bench.connection.control(Control::Restart));
    assert_eq!(bench.backing_off().await.1.kind, FailureKind::Transport);
    bench.stop().await;
}
