//! The supervisor's way to the core: events that must not be lost, and none that could hold up a shutdown.

use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::{ConnectionEvent, NamedEvent};
use crate::ids::ConnectionName;

/// Once everything goes down, an event that the core does not take is dropped after this time.
const LAST_EVENTS: Duration = Duration::from_millis(200);

/// Sends one connection's events.
#[derive(Clone)]
pub(super) struct Outbox {
    name: ConnectionName,
    events: mpsc::Sender<NamedEvent>,
    shutdown: CancellationToken,
}

impl Outbox {
    /// An outbox for the connection `name`.
    pub fn new(name: ConnectionName, events: mpsc::Sender<NamedEvent>, shutdown: CancellationToken) -> Self {
        Self { name, events, shutdown }
    }

    /// Waits for room, but not for ever once everything goes down.
    pub async fn send(&self, event: ConnectionEvent) {
        let late = async {
            self.shutdown.cancelled().await;
            sleep(LAST_EVENTS).await;
        };
        tokio::select! {
            biased;
            _ = self.events.send((self.name.clone(), event)) => {}
            () = late => {}
        }
    }
}
