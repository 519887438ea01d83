//! Agents that use the surfaces, as the screen lists them.

use std::sync::Arc;

use crate::clock::Timestamp;
use crate::engine::status::Era;
use crate::ids::{SeatHandle, WorkerId};
use crate::turns::TurnView;

/// One agent at a surface: a session, or in the era without sessions everything one client does for one seat. What of it
/// waits for a person is in the snapshot's questions, by their caller.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SessionView {
    /// Short, for people; the same as in the session's calls. Never what identifies it to the listener.
    pub id: Arc<str>,
    /// The seat it drives, or works under.
    pub seat: SeatHandle,
    /// The worker that it is, where it does not drive the seat itself.
    pub worker: Option<WorkerId>,
    /// The client's own name and version, sanitised: `inspector 0.9`.
    pub client: Arc<str>,
    /// The era of the protocol it speaks.
    pub era: Era,
    /// When it began.
    pub since: Timestamp,
    /// When it last asked for anything.
    pub last_seen: Timestamp,
    /// Calls it made.
    pub calls: u64,
    /// Its turns; `None` while it has had none, and for operators.
    pub turn: Option<Arc<TurnView>>,
}

impl SessionView {
    /// What it stands under where callers are told apart: its seat, or `ada/w7f3a…` for a worker.
    pub fn holder(&self) -> SeatHandle {
        self.worker.as_ref().map_or_else(|| self.seat.clone(), |worker| SeatHandle::of_worker(&self.seat, worker))
    }
}
