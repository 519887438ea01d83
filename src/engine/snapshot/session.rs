//! Agents that use the surfaces, as the screen lists them.

use std::sync::Arc;

use crate::clock::Timestamp;
use crate::engine::status::Era;
use crate::ids::SeatHandle;
use crate::turns::TurnView;

/// One agent at a surface: a session, or in the era without sessions everything one client does for one seat. What of it
/// waits for a person is in the snapshot's questions, by their caller.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SessionView {
    /// Short, for people; the same as in the session's calls. Never what identifies it to the listener.
    pub id: Arc<str>,
    /// The seat it drives.
    pub seat: SeatHandle,
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
