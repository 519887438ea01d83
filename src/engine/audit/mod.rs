//! The audit: an append-only, hash-chained trail of every call, with a writer that groups commits.
//!
//! The pipeline hands [`Record`]s to an [`Audit`] and waits until they are durable; commands read the trail back
//! through [`read`] and [`verify`](verify()).
//!
//! | file | is |
//! |---|---|
//! | `audit.jsonl` | the trail, one record a line, each naming the hash of the line before it |
//! | `audit.<number>.jsonl` | earlier parts of it, by the number of their first line |
//! | `audit.head` | number and hash of the last line, so that a cut end is noticed |
//! | `audit.lock` | locked for each batch |
//! | `audit.torn` | incomplete last lines that crashes left |
//! | `instances/` | one locked file for each running instance |

mod chain;
mod file;
pub mod line;
mod queue;
pub mod read;
pub mod record;
mod repair;
mod verify;
mod writer;

#[cfg(test)]
mod tests;

pub use record::{Decision, Kind, Outcome, Own, Record};
pub use verify::{Break, Verdict, verify};

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

use super::snapshot::AuditHealth;
use super::state_dir::StateDir;
use crate::ids::CallId;
use queue::{Sender, Shared};
use writer::Writer;

/// A file of the trail that has this many bytes is set aside and a new one begun.
const ROLL_AT: u64 = 64 << 20;

/// How durable a batch has to be before the writer answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Durability {
    /// The write has returned: survives the process.
    Written,
    /// Synced to disk: survives the machine. For records around a person's decision.
    Synced,
}

/// Why the audit cannot take a record.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the audit cannot be written: {reason}")]
pub struct AuditError {
    /// The reason, with the file it is about.
    pub reason: Arc<str>,
}

/// What opening the trail found and mended.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Opened {
    /// Calls that a killed instance had sent and that have no answer: closed with outcome `unknown`.
    pub unknown: Vec<CallId>,
    /// Calls that were waiting for a person then: closed as withdrawn.
    pub withdrawn: Vec<CallId>,
    /// Calls that were approved and not sent then: closed with outcome `failed`.
    pub unsent: Vec<CallId>,
    /// What was wrong with the trail itself, in words for people.
    pub notes: Vec<String>,
    /// The trail cannot be written for now; [`Audit::health`] says when it can again.
    pub broken: Option<AuditError>,
}

/// Appends to the trail. Clones share one writer, which ends with the last of them.
#[derive(Clone, Debug)]
pub struct Audit {
    sink: Sink,
    health: watch::Receiver<AuditHealth>,
}

#[derive(Clone, Debug)]
enum Sink {
    File {
        writer: Arc<Shared>,
        /// Its thread ends with the last of these.
        _sender: Arc<Sender>,
    },
    Memory(MemoryTrail),
}

/// Opens the trail of a state folder for one instance: one run of the program, see [`new_instance`].
///
/// Mends what killed instances left behind first. A trail that cannot be written is no error here: the program
/// runs on, [`Opened::broken`] and [`Audit::health`] say so, and the writer tries again each second.
///
/// # Errors
/// When the instance's name is not usable as a file name or the writer's thread cannot be started.
pub fn open(dir: &StateDir, instance: &str) -> Result<(Audit, Opened), AuditError> {
    open_with(dir, instance, ROLL_AT)
}

fn open_with(dir: &StateDir, instance: &str, roll_at: u64) -> Result<(Audit, Opened), AuditError> {
    let usable = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if instance.is_empty() || instance.len() > 64 || !instance.bytes().all(usable) {
        return Err(AuditError { reason: format!("{instance:?} cannot name an instance").into() });
    }
    let no_thread = |error: std::io::Error| AuditError { reason: format!("no thread for it: {error}").into() };
    let (health, health_now) = watch::channel(AuditHealth::Good);
    let mut writer = Writer::new(dir.path().to_path_buf(), instance.into(), roll_at, health);
    let opened = writer.start();
    // A runtime of its own: the trail goes on while the engine's threads are busy, and tests that stop the
    // engine's clock do not stop this one.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().map_err(no_thread)?;
    let (shared, sender) = Shared::new(writer);
    let writer = shared.clone();
    std::thread::Builder::new()
        .name("audit".to_owned())
        .spawn(move || runtime.block_on(queue::run(&writer)))
        .map_err(no_thread)?;
    Ok((Audit { sink: Sink::File { writer: shared, _sender: Arc::new(sender) }, health: health_now }, opened))
}

/// A name for this run of the program: `i` and ten random characters.
pub fn new_instance() -> String {
    CallId::fresh().as_str().replacen('c', "i", 1)
}

impl Audit {
    /// An audit that keeps its records in memory, for tests of what is recorded when.
    pub fn memory() -> (Self, MemoryTrail) {
        let (health, health_now) = watch::channel(AuditHealth::Good);
        let trail = MemoryTrail { state: Arc::new(Mutex::new(Memory { records: Vec::new(), health })) };
        (Self { sink: Sink::Memory(trail.clone()), health: health_now }, trail)
    }

    /// Appends records as one batch and returns when they are as durable as asked. A caller that stops waiting
    /// does not take its records back.
    ///
    /// # Errors
    /// When they cannot be written; none of the batch is in the trail then.
    pub async fn append(&self, records: Vec<Record>, durability: Durability) -> Result<(), AuditError> {
        match &self.sink {
            Sink::File { writer, .. } => writer.append(records, durability).await,
            Sink::Memory(trail) => trail.append(records, durability),
        }
    }

    /// Appends records that nobody waits for: they go with the next batch, or alone after a moment. A process that is
    /// killed before that leaves without them.
    pub async fn append_later(&self, records: Vec<Record>) {
        let left = match &self.sink {
            Sink::File { writer, .. } => writer.later(records),
            Sink::Memory(_) => Some(records),
        };
        if let Some(records) = left {
            // Nobody waits for them; a failure to write shows in the writer's health.
            let _ = self.append(records, Durability::Written).await;
        }
    }

    /// Whether the trail can be written, now and later.
    pub fn health(&self) -> watch::Receiver<AuditHealth> {
        self.health.clone()
    }

    /// Ends the writer in order after what was appended before. Appending fails from then on. Without it the next
    /// start looks for calls that this instance left open.
    pub async fn close(&self) {
        if let Sink::File { writer, .. } = &self.sink {
            writer.close().await;
        }
    }
}

/// The records of [`Audit::memory`].
#[derive(Clone, Debug)]
pub struct MemoryTrail {
    state: Arc<Mutex<Memory>>,
}

#[derive(Debug)]
struct Memory {
    records: Vec<(Record, Durability)>,
    health: watch::Sender<AuditHealth>,
}

impl MemoryTrail {
    /// Everything appended so far.
    pub fn records(&self) -> Vec<Record> {
        self.lock().records.iter().map(|(record, _)| record.clone()).collect()
    }

    /// The same with the durability that was asked for.
    pub fn with_durability(&self) -> Vec<(Record, Durability)> {
        self.lock().records.clone()
    }

    /// From now on appending fails with this reason, until it is `None` again.
    pub fn set_broken(&self, reason: Option<&str>) {
        let health = reason.map_or(AuditHealth::Good, |reason| AuditHealth::Broken { reason: reason.into() });
        self.lock().health.send_replace(health);
    }

    fn append(&self, records: Vec<Record>, durability: Durability) -> Result<(), AuditError> {
        let mut memory = self.lock();
        if let AuditHealth::Broken { reason } = &*memory.health.borrow() {
            return Err(AuditError { reason: reason.clone() });
        }
        memory.records.extend(records.into_iter().map(|record| (record, durability)));
        Ok(())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Memory> {
        // A test that failed while it held the lock has broken nothing.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
