//! The writer of the trail and its thread, which takes what has gathered in the queue as one batch. A batch that
//! finds the writer free is written by whoever brings it, together with what others bring meanwhile: no thread has to
//! wake for a write into the page cache.
//!
//! Started by [`super::open`]. While the trail cannot be written it refuses every batch, tries again each second,
//! and says in the trail afterwards how much was refused.

use std::collections::{HashSet, VecDeque};
use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, oneshot, watch};

use super::file::Trail;
use super::record::{Decision, Kind, Outcome, Record};
use super::repair::{self, Alive};
use super::{AuditError, Durability, Opened};
use crate::clock::Timestamp;
use crate::engine::snapshot::AuditHealth;
use crate::ids::CallId;

/// Requests that are taken as one batch at most.
const GROUP: usize = 256;
/// How long a record that nobody waits for may be kept back for the next batch, and the head file may lag.
pub(super) const LATER: Duration = Duration::from_millis(20);
/// Batches of others that are written after one's own at most; the thread does the rest.
const HELPED: usize = 4;
/// How often a broken trail is tried again while nobody asks.
const RETRY: Duration = Duration::from_secs(1);

/// What the thread is asked for.
#[derive(Debug)]
pub(super) enum Request {
    Append { records: Vec<Record>, durability: Durability, reply: oneshot::Sender<Result<(), AuditError>> },
    Close { reply: Option<oneshot::Sender<()>> },
}

impl Request {
    const fn is_for_thread(&self) -> bool {
        !matches!(self, Self::Append { durability: Durability::Written, .. })
    }
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

/// What waits for the writer.
#[derive(Debug, Default)]
struct Queue {
    requests: VecDeque<Request>,
    /// Something in it is the thread's alone: it syncs, or it closes.
    for_thread: bool,
    /// Nobody takes anything out any more.
    ended: bool,
}

/// The writer as its thread and those who append share it.
#[derive(Debug)]
pub(super) struct Shared {
    writer: Mutex<Writer>,
    queue: Mutex<Queue>,
    /// Told when the queue needs the thread.
    waits: Notify,
    /// Told when there is something to write later.
    due: Notify,
}

/// Ends the writer's thread when the last of those who append is gone.
#[derive(Debug)]
pub(super) struct Sender(Arc<Shared>);

impl Drop for Sender {
    fn drop(&mut self) {
        self.0.put(None);
    }
}

#[derive(Clone, Debug)]
struct Broken {
    since: Timestamp,
    refused: u64,
    error: AuditError,
}

/// Runs the writer until everybody who could append has gone, or [`Request::Close`].
pub(super) async fn run(shared: &Shared) {
    let closer = loop {
        if !shared.wait().await {
            continue;
        }
        let group = shared.take(true);
        if let ControlFlow::Break(closer) = shared.free().serve(group) {
            break closer;
        }
        shared.help();
    };
    // Whoever comes too late is told so, by its reply being dropped.
    let late = {
        let mut queue = shared.queue();
        queue.ended = true;
        std::mem::take(&mut queue.requests)
    };
    drop(late);
    shared.free().finish();
    if let Some(closer) = closer {
        let _ = closer.send(());
    }
}

impl Shared {
    pub(super) fn new(writer: Writer) -> (Arc<Self>, Sender) {
        let (queue, waits, due) = (Mutex::default(), Notify::new(), Notify::new());
        let shared = Arc::new(Self { writer: Mutex::new(writer), queue, waits, due });
        (shared.clone(), Sender(shared))
    }

    /// True when the queue needs the thread; false when nobody asked for a while, and what was left for later was
    /// written or a broken trail tried again.
    async fn wait(&self) -> bool {
        if !self.queue().requests.is_empty() {
            return true;
        }
        let is_broken = self.free().is_broken();
        self.help();
        let pause = if is_broken {
            RETRY
        } else {
            tokio::select! {
                biased;
                () = self.waits.notified() => return true,
                () = self.due.notified() => LATER,
            }
        };
        let asked = tokio::time::timeout(pause, self.waits.notified()).await.is_ok();
        if !asked {
            self.free().flush();
            self.help();
        }
        asked
    }

    /// Appends a batch and waits for it.
    pub(super) async fn append(&self, records: Vec<Record>, durability: Durability) -> Result<(), AuditError> {
        let at_once = durability == Durability::Written;
        if at_once && self.at_once(&records) {
            return Ok(());
        }
        let (reply, written) = oneshot::channel();
        self.put(Some(Request::Append { records, durability, reply }));
        if at_once {
            self.help();
        }
        written.await.map_err(|_| AuditError { reason: "its writer has ended".into() })?
    }

    /// Ends the writer after what was brought before.
    pub(super) async fn close(&self) {
        let (reply, closed) = oneshot::channel();
        self.put(Some(Request::Close { reply: Some(reply) }));
        let _ = closed.await;
    }

    /// Writes a batch here and now, unless somebody would have to be waited for, or something is wrong, which is the
    /// thread's to find out and to try again.
    fn at_once(&self, records: &[Record]) -> bool {
        let Ok(mut writer) = self.writer.try_lock() else { return false };
        let written = writer.at_once(&[records]);
        self.let_go(writer);
        self.help();
        written
    }

    /// The thread comes back for what is kept for later.
    fn let_go(&self, writer: MutexGuard<'_, Writer>) {
        let comes_back = writer.trail.head_lags();
        drop(writer);
        if comes_back {
            self.due.notify_one();
        }
    }

    /// Leaves a request for whoever has the writer next; nothing: nobody will ask any more.
    fn put(&self, request: Option<Request>) {
        let request = request.unwrap_or(Request::Close { reply: None });
        let mut queue = self.queue();
        if queue.ended {
            return;
        }
        let for_thread = request.is_for_thread();
        queue.for_thread |= for_thread;
        queue.requests.push_back(request);
        drop(queue);
        if for_thread {
            self.waits.notify_one();
        }
    }

    /// What waits, at most one group; nothing when only the thread may have it.
    fn take(&self, is_thread: bool) -> Vec<Request> {
        let mut queue = self.queue();
        if queue.for_thread && !is_thread {
            return Vec::new();
        }
        let most = queue.requests.len().min(GROUP);
        let group = queue.requests.drain(..most).collect();
        queue.for_thread = queue.requests.iter().any(Request::is_for_thread);
        group
    }

    /// Writes what others left while the writer was busy. Whoever lets go of the writer looks once more, so nothing
    /// stays behind: who left something before it did is seen, and who comes after finds the writer free.
    fn help(&self) {
        for _ in 0..HELPED {
            if self.queue().requests.is_empty() {
                return;
            }
            let Ok(mut writer) = self.writer.try_lock() else { return };
            let group = self.take(false);
            if group.is_empty() {
                break;
            }
            let left = writer.serve_at_once(group);
            self.let_go(writer);
            if !left.is_empty() {
                let mut queue = self.queue();
                for request in left.into_iter().rev() {
                    queue.requests.push_front(request);
                }
                break;
            }
        }
        self.waits.notify_one();
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
        self.help();
        None
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
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

    /// Writes what is kept for later, and these records, without waiting for anything; false when all of it is still to
    /// be written.
    fn at_once(&mut self, records: &[&[Record]]) -> bool {
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
    fn serve_at_once(&mut self, group: Vec<Request>) -> Vec<Request> {
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
    fn serve(&mut self, group: Vec<Request>) -> ControlFlow<Option<oneshot::Sender<()>>> {
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
