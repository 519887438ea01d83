//! Turns that are over, on their way to whoever writes them down.
//!
//! The turns hand each one over without waiting; one reader takes them in the order in which they ended. What it does
//! with them is not known here.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::mpsc;

use super::verdict::{Obligation, Outcome};
use crate::clock::Timestamp;
use crate::ids::{SeatHandle, TurnId};

/// Ended turns that wait for the reader.
const WAITING: usize = 256;

/// A turn that is over. Its texts are an agent's: bounded, and neither sanitised nor redacted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ended {
    /// The seat whose turn it was.
    pub seat: SeatHandle,
    /// The agent's session, shortened for people.
    pub session: Arc<str>,
    /// Its client's name and version.
    pub client: Arc<str>,
    /// Unique across runs.
    pub turn_id: TurnId,
    /// What made the agent begin it, in its words.
    pub trigger: Option<Arc<str>>,
    /// What it owed.
    pub reply: Obligation,
    /// When it began: with `turn_begin`, or with its first call.
    pub began: Timestamp,
    /// When it ended; of a turn that fell silent, when that was noticed.
    pub ended: Timestamp,
    /// The catalogue names of its finished calls in the order of their ends, failed ones too; the newest 128.
    pub calls: Vec<Arc<str>>,
    /// How it ended.
    pub outcome: Outcome,
    /// The surfaces that it reached, in the order in which it did.
    pub reached: Vec<Arc<str>>,
    /// What the agent said at the end.
    pub text: Option<Arc<str>>,
}

/// The way from the turns to the one reader.
#[derive(Debug)]
pub struct TurnEnds {
    way: Mutex<Way>,
    lost: AtomicU64,
}

#[derive(Debug)]
struct Way {
    /// `None`: nobody reads, or nothing comes any more.
    sender: Option<mpsc::Sender<Ended>>,
    reader: Option<mpsc::Receiver<Ended>>,
}

impl Default for TurnEnds {
    fn default() -> Self {
        let (sender, reader) = mpsc::channel(WAITING);
        Self { way: Mutex::new(Way { sender: Some(sender), reader: Some(reader) }), lost: AtomicU64::new(0) }
    }
}

impl TurnEnds {
    /// The reader's end, once. It hears `None` when nothing will come any more.
    pub fn take(&self) -> Option<mpsc::Receiver<Ended>> {
        self.way.lock().unwrap_or_else(PoisonError::into_inner).reader.take()
    }

    /// Turns that were not written down because the reader could not keep up.
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Nothing will come any more.
    pub(super) fn close(&self) {
        self.way.lock().unwrap_or_else(PoisonError::into_inner).sender = None;
    }

    pub(super) fn send(&self, ended: Ended) {
        let way = self.way.lock().unwrap_or_else(PoisonError::into_inner);
        // Nobody took the other end: nobody writes turns down.
        let Some(sender) = way.sender.as_ref().filter(|_| way.reader.is_none()) else { return };
        if let Err(mpsc::error::TrySendError::Full(ended)) = sender.try_send(ended) {
            self.lost.fetch_add(1, Ordering::Relaxed);
            tracing::warn!(seat = %ended.seat, turn_id = %ended.turn_id, "turn_end_lost");
        }
    }
}
