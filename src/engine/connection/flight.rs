//! A request on its way: what comes of it, and what giving it up means.
//!
//! [`super::client::Client::prepare`] makes them; whoever waits for one decides for how long.

use std::sync::Arc;

use tokio::sync::{oneshot, watch};

use super::client::{Answer, Client, Role};
use super::link::Ticket;
use super::message::Reached;
use super::progress::Said;

/// The link is over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct LinkOver;

/// A request whose answer is waited for. Dropping it gives the request up.
pub(super) struct InFlight {
    pub client: Client,
    pub id: u64,
    pub ticket: Arc<Ticket>,
    pub receiver: oneshot::Receiver<Answer>,
    pub notices: watch::Receiver<Option<Said>>,
    pub role: Role,
    /// Its end has been handed out, or nobody waits for it.
    pub over: bool,
}

impl InFlight {
    /// What becomes of the request. Never comes back a second time.
    pub async fn answer(&mut self) -> Answer {
        if self.over {
            return std::future::pending().await;
        }
        let answer = (&mut self.receiver).await;
        self.over = true;
        answer.unwrap_or_else(|_| Answer::Ended("the connection has ended".into()))
    }

    /// What the server says of it, the latest only; changes at each sign of progress.
    pub fn notices(&self) -> watch::Receiver<Option<Said>> {
        self.notices.clone()
    }

    /// Whether the request can have reached the other side; if not, from now on it cannot.
    pub fn reached(&self) -> Reached {
        if self.ticket.withdraw() { Reached::No } else { Reached::Perhaps }
    }

    /// Gives the request up, telling the server why, and says whether it can have reached it.
    pub fn give_up(mut self, reason: &str) -> Reached {
        self.over = true;
        self.client.abandon(self.id, &self.ticket, self.role, reason)
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        if !self.over {
            self.client.abandon(self.id, &self.ticket, self.role, "no longer wanted");
        }
    }
}
