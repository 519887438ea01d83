//! Who writes when: what gathers while the writer is busy, the thread that takes it as one batch, and those who write
//! their own. A batch that finds the writer free is written by whoever brings it, together with what others bring
//! meanwhile: no thread has to wake for a write into the page cache.
//!
//! Started by [`super::open`]. What is written, and what happens when it cannot be, is the [`Writer`]'s business.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use tokio::sync::{Notify, oneshot};

use super::record::Record;
use super::writer::{LATER, Writer};
use super::{AuditError, Durability};

/// Requests that are taken as one batch at most.
const GROUP: usize = 256;
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

/// Runs the writer until everybody who could append has gone, or [`Request::Close`].
pub(super) async fn run(shared: &Shared) {
    let end = End(shared);
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
    drop(end);
    shared.free().finish();
    if let Some(closer) = closer {
        let _ = closer.send(());
    }
}

/// Nobody takes anything out of the queue any more, whatever ended the thread.
struct End<'s>(&'s Shared);

impl Drop for End<'_> {
    fn drop(&mut self) {
        // Whoever comes too late is told so, by its reply being dropped.
        let late = {
            let mut queue = self.0.queue();
            queue.ended = true;
            std::mem::take(&mut queue.requests)
        };
        drop(late);
        if std::thread::panicking() {
            self.0.free().lost();
        }
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
        if self.queue().for_thread {
            // What is the thread's comes first: it must not wait for ever behind others.
            return false;
        }
        let Some(mut writer) = self.now() else { return false };
        let written = writer.at_once(&[records]);
        self.let_go(writer);
        self.help();
        written
    }

    /// The thread comes back for what is kept for later.
    fn let_go(&self, writer: MutexGuard<'_, Writer>) {
        let comes_back = writer.head_lags();
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
            let Some(mut writer) = self.now() else { return };
            let group = self.take(false);
            if group.is_empty() {
                break;
            }
            let left = writer.serve_at_once(group);
            let is_done = left.is_empty();
            // Before the writer is let go, or its end could come in between.
            self.put_back(left);
            self.let_go(writer);
            if !is_done {
                break;
            }
        }
        self.waits.notify_one();
    }

    /// Leaves requests at the front of the queue.
    fn put_back(&self, left: Vec<Request>) {
        let mut queue = self.queue();
        if !queue.ended {
            left.into_iter().rev().for_each(|request| queue.requests.push_front(request));
        }
    }

    /// Keeps records for the next batch; gives them back when they have to go the usual way.
    pub(super) fn later(&self, records: Vec<Record>) -> Option<Vec<Record>> {
        let Some(mut writer) = self.now() else { return Some(records) };
        let left = writer.keep(records);
        if left.is_some() {
            return left;
        }
        drop(writer);
        self.due.notify_one();
        self.help();
        None
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The writer, where nobody has it.
    fn now(&self) -> Option<MutexGuard<'_, Writer>> {
        match self.writer.try_lock() {
            Ok(writer) => Some(writer),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    fn free(&self) -> MutexGuard<'_, Writer> {
        // What a panic left half done is mended by the next look at the files.
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use tokio::sync::watch;

    use super::super::record::Kind;
    use super::*;
    use crate::clock::Timestamp;
    use crate::engine::snapshot::AuditHealth;

    /// A writer without its thread.
    fn shared() -> (Arc<Shared>, Sender, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let health = watch::channel(AuditHealth::Good).0;
        let mut writer = Writer::new(folder.path().to_path_buf(), "i1".into(), u64::MAX, health);
        assert_eq!(writer.start().broken, None);
        let (shared, sender) = Shared::new(writer);
        (shared, sender, folder)
    }

    fn records() -> Vec<Record> {
        vec![Record::new(Timestamp::now(), Kind::Refused)]
    }

    #[tokio::test]
    async fn a_panic_of_whoever_wrote_holds_nobody_up() {
        let (shared, _sender, _folder) = shared();
        let writing = shared.clone();
        let writer = std::thread::spawn(move || {
            let _writer = writing.free();
            panic!("as a fault of ours would");
        });
        assert!(writer.join().is_err());
        assert_eq!(shared.append(records(), Durability::Written).now_or_never(), Some(Ok(())));
        assert_eq!(shared.later(records()), None);
    }

    #[tokio::test]
    async fn whoever_waits_hears_that_the_thread_has_ended() {
        let (shared, _sender, _folder) = shared();
        let mut waiting = Box::pin(shared.append(records(), Durability::Synced));
        assert_eq!(waiting.as_mut().now_or_never(), None);
        drop(End(&shared));
        assert!(waiting.await.is_err());
        assert!(shared.append(records(), Durability::Synced).await.is_err(), "and so does who comes later");
        shared.close().await;
    }

    #[tokio::test]
    async fn what_is_the_threads_does_not_wait_behind_others() {
        let (shared, _sender, _folder) = shared();
        let mut decision = Box::pin(shared.append(records(), Durability::Synced));
        assert_eq!(decision.as_mut().now_or_never(), None);
        let mut later = Box::pin(shared.append(records(), Durability::Written));
        assert_eq!(later.as_mut().now_or_never(), None, "it takes its turn");
        let group = shared.take(true);
        assert!(shared.free().serve(group).is_continue());
        assert_eq!((decision.now_or_never(), later.now_or_never()), (Some(Ok(())), Some(Ok(()))));
    }

    #[tokio::test]
    async fn what_could_not_be_written_is_not_left_where_nobody_looks() {
        let (shared, _sender, _folder) = shared();
        shared.queue().ended = true;
        let (reply, written) = oneshot::channel();
        shared.put_back(vec![Request::Append { records: records(), durability: Durability::Written, reply }]);
        assert!(written.await.is_err());
    }
}
