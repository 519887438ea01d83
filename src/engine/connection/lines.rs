//! The lines a connection shows to people (stderr, noise on stdout, our own marks): cleaned, batched, counted.
//!
//! Whoever has a line pushes it and never waits. A batch goes to the core every 50 ms or 256 lines; when the core
//! cannot keep up the batch is dropped and counted, and the next one says so.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, mpsc};

use super::{ConnectionEvent, NamedEvent};
use crate::clock::Timestamp;
use crate::engine::snapshot::LineKind;
use crate::ids::ConnectionName;
use crate::secret::Redactor;
use crate::text;

/// Longest time that a line waits for its batch.
const BATCH_TIME: Duration = Duration::from_millis(50);
/// Lines in one batch.
const BATCH_LINES: usize = 256;

/// Where the lines of one connection go. Shared by its tasks.
pub(super) struct LineSink {
    name: ConnectionName,
    redactor: Redactor,
    events: mpsc::Sender<NamedEvent>,
    batch: Mutex<Batch>,
    waiting: Notify,
}

#[derive(Default)]
struct Batch {
    lines: Vec<(Timestamp, LineKind, Arc<str>)>,
    dropped: u64,
}

impl LineSink {
    /// A sink for the connection `name`; [`Self::run`] has to run beside it.
    pub fn new(name: ConnectionName, redactor: Redactor, events: mpsc::Sender<NamedEvent>) -> Self {
        Self { name, redactor, events, batch: Mutex::default(), waiting: Notify::new() }
    }

    /// A foreign text as it may be shown: without control characters and secrets.
    pub fn clean(&self, text: &str) -> Arc<str> {
        self.redactor.redact(&text::clean(text)).as_ref().into()
    }

    /// Takes a line. Never waits.
    pub fn push(&self, kind: LineKind, text: &str) {
        self.push_clean(kind, self.clean(text));
    }

    /// Takes a line that has been cleaned.
    pub fn push_clean(&self, kind: LineKind, text: Arc<str>) {
        let mut batch = self.batch.lock().unwrap_or_else(PoisonError::into_inner);
        batch.lines.push((Timestamp::now(), kind, text));
        if batch.lines.len() >= BATCH_LINES {
            self.send(&mut batch);
        } else {
            self.waiting.notify_one();
        }
    }

    /// Counts lines that nobody had the time to clean.
    pub fn count_dropped(&self, lines: u64) {
        self.batch.lock().unwrap_or_else(PoisonError::into_inner).dropped += lines;
        self.waiting.notify_one();
    }

    /// Sends what waits, now.
    pub fn flush(&self) {
        self.send(&mut self.batch.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Sends batches in time, for ever.
    pub async fn run(&self) {
        loop {
            self.waiting.notified().await;
            tokio::time::sleep(BATCH_TIME).await;
            self.flush();
        }
    }

    fn send(&self, batch: &mut Batch) {
        if batch.lines.is_empty() && batch.dropped == 0 {
            return;
        }
        let lines = std::mem::take(&mut batch.lines);
        let lost = lines.len() as u64;
        let event = ConnectionEvent::Lines { lines, dropped: batch.dropped };
        if self.events.try_send((self.name.clone(), event)).is_ok() {
            batch.dropped = 0;
        } else if !self.events.is_closed() {
            batch.dropped += lost;
            self.waiting.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sink(capacity: usize) -> (Arc<LineSink>, mpsc::Receiver<NamedEvent>) {
        let (events, heard) = mpsc::channel(capacity);
        (Arc::new(LineSink::new("s".into(), Redactor::default(), events)), heard)
    }

    fn lines(event: Option<NamedEvent>) -> (usize, u64) {
        match event {
            Some((_, ConnectionEvent::Lines { lines, dropped })) => (lines.len(), dropped),
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn lines_come_in_batches_and_what_is_lost_is_counted() {
        let (sink, mut heard) = sink(1);
        let running = tokio::spawn({
            let sink = sink.clone();
            async move { sink.run().await }
        });
        for _ in 0..3 {
            sink.push(LineKind::Stderr, "x");
        }
        assert_eq!(lines(heard.recv().await), (3, 0));

        // The channel holds one batch; the second one is lost, and the third says so.
        for _ in 0..2 * BATCH_LINES {
            sink.push(LineKind::Stderr, "x");
        }
        assert_eq!(lines(heard.recv().await), (BATCH_LINES, 0));
        sink.push(LineKind::Stderr, "x");
        assert_eq!(lines(heard.recv().await), (1, BATCH_LINES as u64));

        // Without a next line the count still arrives.
        sink.count_dropped(7);
        assert_eq!(lines(heard.recv().await), (0, 7));
        running.abort();
    }
}
