//! The writer of the trail: what is written as one batch, and what happens when it cannot be.
//!
//! [`super::queue`] says who writes when. While the trail cannot be written the writer refuses every batch, is told to
//! try again each second, and says in the trail afterwards how much was refused.

use std::collections::HashSet;
use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{oneshot, watch};

use super::file::Trail;
use super::queue::Request;
use super::record::{Decision, Kind, Outcome, Record};
use super::repair::{self, Alive};
use super::{AuditError, Durability, Opened};
use crate::clock::Timestamp;
use crate::engine::snapshot::AuditHealth;
use crate::ids::CallId;

/// How long a record that nobody waits for may be kept back for the next batch, and the head file may lag.
pub(super) const LATER: Duration = Duration::from_millis(20);
/// Records that are kept back at most.
const KEPT: usize = 256;

/// The writer's state.
#[derive(Debug)]
pub(super) struct Writer {
    trail: Trail,
    instance: Arc<str>,
    /// Our mark, once the start-up repair has been done.
    alive: Option<Alive>,
    /// Our calls that have not ended.
    open: HashSet<CallId>,
    broken: Option<Broken>,
    health: watch::Sender<AuditHealth>,
    opened: Opened,
    /// What nobody waits for: goes with the next batch.
    later: Vec<Record>,
    /// Closed: nothing is taken any more.
    ended: bool,
}

#[derive(Clone, Debug)]
struct Broken {
    since: Timestamp,
    refused: u64,
    error: AuditError,
}

impl Writer {
    pub(super) fn new(dir: PathBuf, instance: Arc<str>, roll_at: u64, health: watch::Sender<AuditHealth>) -> Self {
        let trail = Trail::new(dir, instance.clone(), roll_at);
        let opened = Opened::default();
        Self {
            trail,
            instance,
            alive: None,
            open: HashSet::new(),
            broken: None,
            health,
            opened,
            later: Vec::new(),
            ended: false,
        }
    }

    /// Mends what killed instances left behind and marks this one as running. Does nothing the second time.
    pub(super) fn start(&mut self) -> Opened {
        if let Err(error) = self.commit(&[], Durability::Written) {
            self.opened.broken = Some(error);
        }
        std::mem::take(&mut self.opened)
    }

    pub(super) const fn is_broken(&self) -> bool {
        self.broken.is_some()
    }

    /// Whether the head file is behind, and somebody has to come back for it.
    pub(super) const fn head_lags(&self) -> bool {
        self.trail.head_lags()
    }

    /// Keeps records for the next batch; gives them back when they have to go the usual way.
    pub(super) fn keep(&mut self, records: Vec<Record>) -> Option<Vec<Record>> {
        if self.ended || self.is_broken() || self.later.len() >= KEPT {
            return Some(records);
        }
        self.later.extend(records);
        None
    }

    /// Writes what is kept for later, and these records, without waiting for anything; false when all of it is still to
    /// be written.
    pub(super) fn at_once(&mut self, records: &[&[Record]]) -> bool {
        if self.ended || self.is_broken() || self.alive.is_none() {
            return false;
        }
        let Ok(Some(mut locked)) = self.trail.lock_at_once() else { return false };
        let parts: Vec<&[Record]> = [self.later.as_slice()].into_iter().chain(records.iter().copied()).collect();
        if locked.append(&parts, Durability::Written).is_err() {
            return false;
        }
        drop(locked);
        let mut later = std::mem::take(&mut self.later);
        later.iter().chain(records.iter().copied().flatten()).for_each(|record| self.follow(record));
        later.clear();
        self.later = later;
        true
    }

    /// The same for what others wait for; gives back what is still to be written.
    pub(super) fn serve_at_once(&mut self, group: Vec<Request>) -> Vec<Request> {
        let records = group.iter().filter_map(|request| match request {
            Request::Append { records, .. } => Some(records.as_slice()),
            Request::Close { .. } => None,
        });
        if !self.at_once(&records.collect::<Vec<_>>()) {
            return group;
        }
        for request in group {
            if let Request::Append { reply, .. } = request {
                // Nobody waits any more: the records stand all the same.
                let _ = reply.send(Ok(()));
            }
        }
        Vec::new()
    }

    /// One batch; breaks off when the end was asked for, with whom to tell.
    pub(super) fn serve(&mut self, group: Vec<Request>) -> ControlFlow<Option<oneshot::Sender<()>>> {
        let (mut all, mut replies, mut closer) =
            (std::mem::take(&mut self.later), Vec::new(), ControlFlow::Continue(()));
        let mut group_durability = Durability::Written;
        for request in group {
            match request {
                Request::Append { records, durability, reply } => {
                    all.extend(records);
                    replies.push(reply);
                    if durability == Durability::Synced {
                        group_durability = Durability::Synced;
                    }
                }
                Request::Close { reply } => closer = ControlFlow::Break(reply),
            }
        }
        if !all.is_empty() || !replies.is_empty() {
            let result = self.commit(&all, group_durability);
            for reply in replies {
                // Nobody waits any more: the records stand all the same.
                let _ = reply.send(result.clone());
            }
        }
        closer
    }

    /// Writes what was left for later, and finds out whether a broken trail can be written again.
    pub(super) fn flush(&mut self) {
        let later = std::mem::take(&mut self.later);
        // What comes of it shows in the health.
        let _ = self.commit(&later, Durability::Written);
    }

    fn commit(&mut self, records: &[Record], durability: Durability) -> Result<(), AuditError> {
        match self.write(records, durability) {
            Ok(()) => {
                if let Some(broken) = self.broken.take() {
                    tracing::info!(refused = broken.refused, "audit_recovered");
                    self.health.send_replace(AuditHealth::Good);
                }
                Ok(())
            }
            Err(error) => Err(self.failed(&error, records.len() as u64)),
        }
    }

    fn write(&mut self, records: &[Record], durability: Durability) -> io::Result<()> {
        let mut locked = self.trail.lock()?;
        let gap = self.broken.as_ref().map(Broken::record);
        if self.alive.is_none() {
            let gone = repair::gone(locked.dir())?;
            let closing = repair::closing_records(locked.dir(), &gone)?;
            let notes = locked.notes();
            let since = locked.last_seq();
            locked.append(&[&closing], Durability::Synced)?;
            self.opened.notes.extend(notes);
            self.opened.count(&closing);
            gone.into_iter().for_each(repair::Gone::forget);
            self.alive = Some(Alive::mark(locked.dir(), &self.instance, since)?);
        }
        match gap {
            Some(gap) => {
                locked.append(&[&[gap], records], durability)?;
            }
            None => locked.append(&[records], durability)?,
        }
        drop(locked);
        for record in records {
            self.follow(record);
        }
        Ok(())
    }

    fn failed(&mut self, error: &io::Error, refused: u64) -> AuditError {
        let error = AuditError { reason: error.to_string().into() };
        let broken =
            self.broken.get_or_insert_with(|| Broken { since: Timestamp::now(), refused: 0, error: error.clone() });
        broken.refused += refused;
        broken.error = error.clone();
        let health = AuditHealth::Broken { reason: error.reason.clone() };
        let changed = self.health.send_if_modified(|now| std::mem::replace(now, health.clone()) != health);
        if changed {
            tracing::error!(error = %error, "audit_broken");
        }
        error
    }

    fn follow(&mut self, record: &Record) {
        let Some(call) = &record.call else { return };
        match (record.kind, record.decision) {
            (Kind::Received | Kind::Asked | Kind::Dispatched, _) | (Kind::Decided, Some(Decision::Approved)) => {
                self.open.insert(call.clone());
            }
            // What a server asks during a call says nothing about where the call stands.
            (Kind::Elicited | Kind::Answered, _) => {}
            _ => {
                self.open.remove(call);
            }
        }
    }

    /// The thread ended by a fault of ours: nothing is taken any more, and everybody sees why.
    pub(super) fn lost(&mut self) {
        self.ended = true;
        self.health.send_replace(AuditHealth::Broken { reason: "a fault of this program ended its writer".into() });
    }

    /// An end in order. With calls still open the mark stays, so that the next start closes them.
    pub(super) fn finish(&mut self) {
        if !self.later.is_empty() {
            self.flush();
        }
        self.ended = true;
        if self.open.is_empty()
            && let Some(alive) = self.alive.take()
        {
            alive.remove();
        }
    }
}

impl Broken {
    fn record(&self) -> Record {
        let reason = format!(
            "the audit could not be written since {}: {} record(s) were refused ({})",
            self.since, self.refused, self.error.reason
        );
        Record { reason: Some(reason.into()), ..Record::new(Timestamp::now(), Kind::Repaired) }
    }
}

impl Opened {
    fn count(&mut self, closing: &[Record]) {
        for record in closing {
            let Some(call) = record.call.clone() else { continue };
            match record.outcome {
                None => self.withdrawn.push(call),
                Some(Outcome::Unknown) => self.unknown.push(call),
                Some(Outcome::Failed | Outcome::Done) => self.unsent.push(call),
            }
        }
    }
}
