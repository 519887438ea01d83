//! The seats that have an endpoint: those of the configuration in force, from the moment that the engine goes by it.
//!
//! A seat that a reload brings has its path and its token at once; of one that it takes away, or gives another token,
//! every session ends.

use std::sync::{Arc, PoisonError, RwLock};

use tokio::sync::watch;

use super::Shared;
use super::party::Party;
use super::tokens::{Followed, TokenError};
use crate::engine::handle::SurfaceNews;
use crate::engine::snapshot::{LogLevel, ServerView};
use crate::ids::SeatHandle;
use crate::org::{Org, Seat};

/// See the module.
#[derive(Debug)]
pub(super) struct Roster {
    seats: RwLock<Arc<[Arc<Seat>]>>,
}

impl Roster {
    pub(super) fn new(org: &Org) -> Self {
        Self { seats: RwLock::new(agents(org)) }
    }

    /// The agent seat with this handle.
    pub(super) fn seat(&self, handle: &str) -> Option<Arc<Seat>> {
        self.all().iter().find(|seat| seat.handle.as_str() == handle).cloned()
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.all().len()
    }

    /// Takes another company's seats. Gives those that are gone.
    fn replace(&self, org: &Org) -> Vec<SeatHandle> {
        let now = agents(org);
        let mut seats = self.seats.write().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut *seats, now.clone());
        let is_gone = |seat: &&Arc<Seat>| !now.iter().any(|other| other.handle == seat.handle);
        before.iter().filter(is_gone).map(|seat| seat.handle.clone()).collect()
    }

    fn all(&self) -> Arc<[Arc<Seat>]> {
        // What a panicking thread left behind is a whole list.
        self.seats.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn agents(org: &Org) -> Arc<[Arc<Seat>]> {
    org.agents().map(|seat| Arc::new(seat.clone())).collect()
}

/// Keeps to the seats of the configuration until the engine ends.
pub(super) async fn follow(shared: Arc<Shared>, mut orgs: watch::Receiver<Arc<Org>>) {
    while orgs.changed().await.is_ok() {
        let org = orgs.borrow_and_update().clone();
        let gone = shared.seats.replace(&org);
        let Followed { ended, problems } = shared.tokens.follow(&org);
        for seat in &gone {
            tracing::info!(%seat, "seat_gone");
        }
        for seat in ended.iter().filter(|seat| !gone.contains(seat)) {
            tracing::info!(%seat, "token_rotated");
        }
        for seat in gone.iter().chain(&ended) {
            shared.sessions.close_seat(seat);
            shared.handle.workers().end_where(|worker| worker.seat == *seat);
        }
        shared.tell_problems(problems);
    }
}

impl Shared {
    /// What a model is told, and under progressive discovery which servers it can look into: their names and nothing
    /// of their tools.
    pub(super) fn with_servers(&self, party: &Party, instructions: impl Into<String>) -> String {
        let mut text = instructions.into();
        let Some(seat) = party.as_seat().filter(|_| self.sessions.is_progressive()) else { return text };
        let snapshot = self.handle.snapshot();
        let theirs = |server: &&Arc<ServerView>| server.seat.as_ref().is_none_or(|holder| *holder == seat.handle);
        let names: Vec<&str> = snapshot.servers.iter().filter(theirs).map(|server| server.server.as_str()).collect();
        text.push_str(" Tools of servers are not in your list before you activate them. ");
        match names.as_slice() {
            [] => text.push_str("This seat has no servers now."),
            names => {
                let servers =
                    "list_mcp_server_tools says what a server has, activate_tool makes a tool callable. Servers:";
                text.push_str(servers);
                for name in names {
                    text.push_str("\n- ");
                    text.push_str(name);
                }
            }
        }
        text
    }

    pub(super) fn tell_problems(&self, problems: Vec<TokenError>) {
        for problem in problems {
            let text = format!("{problem}; nobody gets in as it");
            self.tell(SurfaceNews::Notice(LogLevel::Error, text.into()));
        }
    }
}
