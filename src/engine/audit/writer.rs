//! The writer of the trail and its thread, which takes what has gathered in the queue as one batch. A batch that
//! finds the writer free is written by whoever brings it.
//!
//! Started by [`super::open`]. While the trail cannot be written it refuses every batch, tries again each second,
//! and says in the trail afterwards how much was refused.

use std::collections::HashSet;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, mpsc, oneshot, watch};

use super::file::Trail;
use super::record::{Decision, Kind, Outcome, Record};
use super::repair::{self, Alive};
use super::{AuditError, Durability, Opened};
use crate::clock::Timestamp;
use crate::engine::snapshot::AuditHealth;
use crate::ids::CallId;

/// Requests that are taken as one batch at most.
const GROUP: usize = 256;
/// How long a record that nobody waits for may be kept back for the next batch.
const LATER: Duration = Duration::from_millis(20);
/// How often a broken trail is tried again while nobody asks.
const RETRY: Duration = Duration::from_secs(1);

/// What the thread is asked for.
#[derive(Debug)]
pub(super) enum Request {
    Append { records: Vec<Record>, durability: Durability, reply: oneshot::Sender<Result<(), AuditError>> },
    Close { reply: oneshot::Sender<()> },
}

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

/// The writer as its thread and those who append share it.
#[derive(Debug)]
pub(super) struct Shared {
    writer: Mutex<Writer>,
    /// Told when there is something to write later.
    due: Notify,
}

#[derive(Clone, Debug)]
struct Broken {
    since: Timestamp,
    refused: u64,
    error: AuditError,
}

/// Runs the writer until everybody who could send has gone, or [`Request::Close`].
pub(super) async fn run(shared: &Shared, mut requests: mpsc::Receiver<Request>) {
    let closer = loop {
        let Some(first) = shared.next(&mut requests).await else { continue };
        let Some(first) = first else { break None };
        let group = gather(first, &mut requests);
        if let Some(closer) = shared.free().serve(group) {
            break Some(closer);
        }
    };
    shared.free().finish();
    if let Some(closer) = closer {
        let _ = closer.send(());
    }
}

impl Shared {
    pub(super) fn new(writer: Writer) -> Self {
        Self { writer: Mutex::new(writer), due: Notify::new() }
    }

    /// The next request; the outer `None`: nobody asked for a while, and what was left for later was written or a
    /// broken trail tried again.
    async fn next(&self, requests: &mut mpsc::Receiver<Request>) -> Option<Option<Request>> {
        let pause = if self.free().is_broken() {
            RETRY
        } else {
            tokio::select! {
                biased;
                request = requests.recv() => return Some(request),
                () = self.due.notified() => LATER,
            }
        };
        let request = tokio::time::timeout(pause, requests.recv()).await.ok();
        if request.is_none() {
            self.free().flush();
        }
        request
    }

    /// Writes a batch here and now. False when nothing was written: somebody would have to be waited for, or something
    /// is wrong, which is the thread's to find out and to try again.
    pub(super) fn at_once(&self, records: &[Record]) -> bool {
        self.writer.try_lock().is_ok_and(|mut writer| writer.at_once(records))
    }

    /// Keeps records for the next batch; gives them back when they have to go the usual way.
    pub(super) fn later(&self, records: Vec<Record>) -> Option<Vec<Record>> {
        let Ok(mut writer) = self.writer.try_lock() else { return Some(records) };
        if writer.ended || writer.is_broken() || writer.later.len() >= GROUP {
            return Some(records);
        }
        writer.later.extend(records);
        drop(writer);
        self.due.notify_one();
        None
    }

    fn free(&self) -> MutexGuard<'_, Writer> {
        // What a panic left half done is mended by the next look at the files.
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }
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

    const fn is_broken(&self) -> bool {
        self.broken.is_some()
    }

    fn at_once(&mut self, records: &[Record]) -> bool {
        if self.ended || self.is_broken() || self.alive.is_none() {
            return false;
        }
        let Ok(Some(mut locked)) = self.trail.lock_at_once() else { return false };
        self.later.extend_from_slice(records);
        let written = locked.append(&self.later, Durability::Written).is_ok();
        drop(locked);
        if !written {
            self.later.truncate(self.later.len() - records.len());
            return false;
        }
        for record in std::mem::take(&mut self.later) {
            self.follow(&record);
        }
        true
    }

    /// One batch; returns whom to tell about the end, when it was asked for.
    fn serve(&mut self, group: Vec<Request>) -> Option<oneshot::Sender<()>> {
        let (mut all, mut replies, mut closer) = (std::mem::take(&mut self.later), Vec::new(), None);
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
                Request::Close { reply } => closer = Some(reply),
            }
        }
        if !all.is_empty() {
            let result = self.commit(&all, group_durability);
            for reply in replies {
                // Nobody waits any more: the records stand all the same.
                let _ = reply.send(result.clone());
            }
        }
        closer
    }

    /// Writes what was left for later, and finds out whether a broken trail can be written again.
    fn flush(&mut self) {
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
            locked.append(&closing, Durability::Synced)?;
            self.opened.notes.extend(notes);
            self.opened.count(&closing);
            gone.into_iter().for_each(repair::Gone::forget);
            self.alive = Some(Alive::mark(locked.dir(), &self.instance, since)?);
        }
        match gap {
            Some(gap) => {
                let mut all = vec![gap];
                all.extend_from_slice(records);
                locked.append(&all, durability)?;
            }
            None => locked.append(records, durability)?,
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
            _ => {
                self.open.remove(call);
            }
        }
    }

    /// An end in order. With calls still open the mark stays, so that the next start closes them.
    fn finish(&mut self) {
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

/// The first request together with what else is waiting.
fn gather(first: Request, requests: &mut mpsc::Receiver<Request>) -> Vec<Request> {
    let mut group = vec![first];
    while group.len() < GROUP {
        match requests.try_recv() {
            Ok(request) => group.push(request),
            Err(_) => break,
        }
    }
    group
}
