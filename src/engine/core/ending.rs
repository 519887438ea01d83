//! The two ends of an engine's life that are not the loop: taking supervisors in, and ending in order.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::{JoinHandle, JoinSet};

use super::Core;
use crate::engine::connection::{ConnectionEvent, NamedEvent};
use crate::engine::forms::Why;
use crate::engine::snapshot::Withdrawal;
use crate::engine::status::{ConnectionStatus, Failure, FailureKind};
use crate::ids::ConnectionName;

/// How long calls may take to write their end once their connections are down.
const LAST_WORDS: Duration = Duration::from_secs(2);

impl Core {
    /// Ends in order: questions, then connections, then calls, which record how they ended.
    pub(super) async fn end(&mut self) {
        self.snapshot.stopping = true;
        self.running.close();
        self.desk.withdraw_where(|_| Some(Withdrawal::Shutdown));
        self.forms.withdraw_where(|_| Some(Why::Shutdown));
        self.publish();
        self.fixed.shutdown.cancel();
        while !self.connections.is_empty() {
            tokio::select! {
                Some(_) = self.connections.join_next() => {}
                Some(event) = self.inlets.connections.recv() => self.connection_events(event),
                Some(event) = self.inlets.call_events.recv() => self.call_event(event),
                Some(view) = self.inlets.ends.recv() => self.ended(*view),
                Some(asking) = self.inlets.asking.recv() => self.asking(asking),
            }
            self.publish();
        }
        // What still runs is the program's own: a tool that waits for somebody waits no longer.
        self.running.cancel_all();
        let last_words = tokio::time::sleep(LAST_WORDS);
        tokio::pin!(last_words);
        while !(self.running.is_empty() && self.stories.is_empty()) {
            tokio::select! {
                () = self.running.ended(), if !self.running.is_empty() => {}
                Some(_) = self.stories.join_next(), if !self.stories.is_empty() => {}
                Some(asking) = self.inlets.asking.recv() => self.asking(asking),
                Some(event) = self.inlets.call_events.recv() => self.call_event(event),
                Some(view) = self.inlets.ends.recv() => self.ended(*view),
                () = &mut last_words => break,
            }
        }
        self.save_pins();
        tracing::info!(servers = self.servers.len(), "all_servers_stopped");
        self.publish();
    }
}

/// Hands a spawned supervisor to the set that the core waits for. A supervisor that panicked is a failed connection.
/// Its last event is that it has ended.
pub(in crate::engine) fn adopt(
    set: &mut JoinSet<()>,
    connection: ConnectionName,
    task: JoinHandle<()>,
    events: mpsc::Sender<NamedEvent>,
) {
    set.spawn(async move {
        if let Err(error) = task.await {
            tracing::error!(server = %connection, %error, "connection_task_panicked");
            let reason = Failure {
                kind: FailureKind::Internal,
                headline: "a fault of this program ended the connection".into(),
                next_step: Some("the log says where; press r to start it anew, or start the dashboard anew".into()),
                tail: Arc::new([]),
            };
            // The core is gone only when everything ends.
            let failed = ConnectionEvent::Status(ConnectionStatus::Failed { reason });
            let _ = events.send((connection.clone(), failed)).await;
        }
        let _ = events.send((connection, ConnectionEvent::Ended)).await;
    });
}
