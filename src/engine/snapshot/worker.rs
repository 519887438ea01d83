//! Workers, the sub-agents under seats, as the screen lists them.

use std::sync::Arc;

use crate::clock::Timestamp;
use crate::ids::{SeatHandle, WorkerId};
use crate::tool::worker::Barred;

/// One worker that may still come in. Its token is nowhere in here.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WorkerView {
    /// The worker.
    pub id: WorkerId,
    /// The seat that it works under.
    pub seat: SeatHandle,
    /// What it was made for, line by line in visible form, redacted; empty when they did not say.
    pub task: Arc<str>,
    /// Who made it: `claude-code 2.1 · session 7c1e`, `person:root`.
    pub by: Arc<str>,
    /// Where it comes in.
    pub url: Arc<str>,
    /// The names of its tools as it sees them, as far as they exist.
    pub tools: Vec<Arc<str>>,
    /// What was asked for and not given, in visible form, redacted, with the reason.
    pub barred: Vec<(Arc<str>, Barred)>,
    /// When it was made.
    pub since: Timestamp,
    /// When its time is over.
    pub ends: Timestamp,
}
