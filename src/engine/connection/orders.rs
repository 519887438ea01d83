//! What a supervisor is told to do: by a person through the handle, and by the engine going down.

use std::sync::Arc;

use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;

use super::Control;

/// The source of orders of one supervisor.
pub(super) struct Orders {
    requests: mpsc::Receiver<Control>,
    shutdown: CancellationToken,
    wake: Arc<Notify>,
}

/// One order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Order {
    /// A person's.
    Control(Control),
    /// Everything goes down.
    Shutdown,
}

impl Orders {
    /// Orders from a handle and from the engine.
    pub fn new(requests: mpsc::Receiver<Control>, shutdown: CancellationToken, wake: Arc<Notify>) -> Self {
        Self { requests, shutdown, wake }
    }

    /// Cancelled when everything goes down.
    pub fn shutdown(&self) -> &CancellationToken {
        &self.shutdown
    }

    /// Calls use this to ask for an attempt to connect.
    pub fn wake(&self) -> Arc<Notify> {
        self.wake.clone()
    }

    /// Waits for the next order. Dropping it loses none.
    pub async fn next(&mut self) -> Order {
        tokio::select! {
            biased;
            () = self.shutdown.cancelled() => Order::Shutdown,
            // Without a handle nobody can ask for anything any more; the connection lives on until shutdown.
            Some(control) = self.requests.recv() => Order::Control(control),
        }
    }

    /// The next order that matters to a connection that is up or coming up.
    pub async fn next_but_enable(&mut self) -> Order {
        loop {
            match self.next().await {
                Order::Control(Control::Enable) => {}
                order => return order,
            }
        }
    }
}
