//! Tests of connections through [`super::start`]: scripted in-memory servers with paused time, and real children where
//! calls are needed (`tests/connections.rs` has the others).

#![allow(clippy::needless_pass_by_value, reason = "scripts read better with values")]

mod calls;
mod children;
mod endpoints;
mod handshakes;
mod listings;
mod older;
mod remote;
mod renewals;
mod restarts;
mod scripted;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::engine::gate::Dispatch;
use crate::engine::status::{Failure, FailureKind};

/// A supervised connection and what it has told.
pub(super) struct Bench {
    pub connection: Connection,
    heard: mpsc::Receiver<NamedEvent>,
    pub seen: Vec<ConnectionEvent>,
    shutdown: CancellationToken,
    task: tokio::task::JoinHandle<()>,
}

impl Bench {
    pub fn start(spec: ConnectionSpec) -> Self {
        let (events, heard) = mpsc::channel(256);
        let shutdown = CancellationToken::new();
        let (connection, task) = start(spec, Initially::Enabled, events, shutdown.clone());
        Self { connection, heard, seen: Vec::new(), shutdown, task }
    }

    /// Waits for an event that `pick` takes; a minute without one fails the test.
    pub async fn until<T>(&mut self, mut pick: impl FnMut(&ConnectionEvent) -> Option<T>) -> T {
        let search = async {
            loop {
                let (_, event) = self.heard.recv().await.expect("the supervisor lives");
                let found = pick(&event);
                self.seen.push(event);
                if let Some(found) = found {
                    return found;
                }
            }
        };
        let found = tokio::time::timeout(Duration::from_secs(900), search).await;
        found.unwrap_or_else(|_| panic!("nothing of the kind came"))
    }

    pub async fn ready(&mut self) {
        self.until(|event| match event {
            ConnectionEvent::Status(ConnectionStatus::Ready { .. }) => Some(()),
            ConnectionEvent::Status(ConnectionStatus::Failed { reason }) => panic!("failed: {reason:?}"),
            _ => None,
        })
        .await;
    }

    pub async fn failed(&mut self) -> Failure {
        self.until(|event| match event {
            ConnectionEvent::Status(ConnectionStatus::Failed { reason }) => Some(reason.clone()),
            ConnectionEvent::Status(ConnectionStatus::Ready { .. }) => panic!("ready"),
            _ => None,
        })
        .await
    }

    pub async fn failed_after_ready(&mut self) -> Failure {
        self.until(|event| match event {
            ConnectionEvent::Status(status) if status.word() == "failed" => status.failure().cloned(),
            _ => None,
        })
        .await
    }

    pub async fn backing_off(&mut self) -> (u32, Failure) {
        self.until(|event| match event {
            ConnectionEvent::Status(ConnectionStatus::Backoff { attempt, reason, .. }) => {
                Some((*attempt, reason.clone()))
            }
            _ => None,
        })
        .await
    }

    pub fn peer(&self) -> PeerFacts {
        let found = self.seen.iter().rev().find_map(|event| match event {
            ConnectionEvent::Identified(facts) => Some(facts.clone()),
            _ => None,
        });
        found.expect("identified")
    }

    pub fn listing(&self) -> Listing {
        let found = self.seen.iter().rev().find_map(|event| match event {
            ConnectionEvent::Listed(listing) => Some(listing.clone()),
            _ => None,
        });
        found.expect("listed")
    }

    pub fn words(&self) -> Vec<&'static str> {
        let word = |event: &ConnectionEvent| match event {
            ConnectionEvent::Status(status) => Some(status.word()),
            _ => None,
        };
        self.seen.iter().filter_map(word).collect()
    }

    pub fn lines(&self, wanted: LineKind) -> Vec<String> {
        let mut found = Vec::new();
        for event in &self.seen {
            if let ConnectionEvent::Lines { lines, .. } = event {
                found.extend(lines.iter().filter(|line| line.1 == wanted).map(|line| line.2.to_string()));
            }
        }
        found
    }

    pub async fn call(&self, tool: &str, arguments: &str) -> Result<Reply, CallFailure> {
        self.connection.call(Dispatch::for_test(tool, arguments), CancellationToken::new()).await
    }

    /// Shuts the connection down and waits until its supervisor has ended.
    pub async fn stop(mut self) -> Vec<&'static str> {
        self.shutdown.cancel();
        (&mut self.task).await.expect("the supervisor ends in order");
        while let Ok((_, event)) = self.heard.try_recv() {
            self.seen.push(event);
        }
        self.words()
    }
}

pub(super) fn spec(transport: TransportSpec) -> ConnectionSpec {
    ConnectionSpec {
        name: "fake".into(),
        server: "fake".into(),
        transport,
        startup_timeout: Duration::from_secs(30),
        request_timeout: Duration::from_secs(30),
        restart: RestartPolicy::OnFailure,
        known_era: None,
        redactor: Redactor::default(),
        forms: None,
    }
}

/// A real child: `tests/support/fake_server.py` with the words of `mode`.
pub(super) fn child(mode: &str, env: &[(&str, &str)]) -> ConnectionSpec {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/fake_server.py");
    let mut variables: Vec<(Arc<str>, Secret)> = vec![("FAKE_MODE".into(), Secret::new(mode))];
    variables.extend(env.iter().map(|(name, value)| (Arc::from(*name), Secret::new(*value))));
    spec(TransportSpec::Stdio(StdioSpec {
        command: "python3".into(),
        args: vec![Secret::new(script)],
        display: "python3 fake_server.py".into(),
        env: variables,
        cwd: None,
        inherit_env: Vec::new(),
    }))
}

pub(super) fn text(reply: Result<Reply, CallFailure>) -> String {
    match reply {
        Ok(Reply::Result(result)) => {
            let result: serde_json::Value = serde_json::from_str(result.get()).unwrap();
            result["content"][0]["text"].as_str().unwrap_or_default().to_owned()
        }
        other => panic!("{other:?}"),
    }
}
