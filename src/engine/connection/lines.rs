//! The lines a connection shows to people (stderr, noise on stdout, our own marks): cleaned, batched, counted.
//!
//! Whoever has a line pushes it and never waits. A batch goes to the core every 50 ms or 256 lines; when the core
//! cannot keep up the batch is dropped and counted, and the next one says so.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, mpsc};
use tokio::time::Instant;

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

/// Lines that are cleaned and shown in one window; beyond it they are counted as dropped.
const LINES_PER_WINDOW: usize = 4096;
const WINDOW: Duration = Duration::from_millis(50);

/// Longest line that is shown, in bytes.
pub(super) const MAX_LINE: usize = 8 << 10;
/// Bytes that are read beyond it before a line is cut, so that a secret across the cut is known as one.
pub(super) const LOOKAHEAD: usize = 4 << 10;
/// Put at the end of a line that was cut.
pub(super) const CUT_MARK: &str = " … (line cut at 8 KiB)";
/// Characters of a line that is no protocol that are shown.
const NOISE_CHARS: usize = 200;

/// Where the lines of one connection go. Shared by its tasks.
pub(super) struct LineSink {
    name: ConnectionName,
    redactor: Redactor,
    events: mpsc::Sender<NamedEvent>,
    batch: Mutex<Batch>,
    budget: Mutex<Budget>,
    waiting: Notify,
}

#[derive(Default)]
struct Batch {
    lines: Vec<(Timestamp, LineKind, Arc<str>)>,
    dropped: u64,
}

/// How many lines the present window has had.
#[derive(Default)]
struct Budget {
    since: Option<Instant>,
    taken: usize,
}

impl LineSink {
    /// A sink for the connection `name`; [`Self::run`] has to run beside it.
    pub fn new(name: ConnectionName, redactor: Redactor, events: mpsc::Sender<NamedEvent>) -> Self {
        Self { name, redactor, events, batch: Mutex::default(), budget: Mutex::default(), waiting: Notify::new() }
    }

    /// A foreign text as it may be shown: without control characters and secrets.
    pub fn clean(&self, text: &str) -> Arc<str> {
        self.redactor.redact(&text::clean(text)).as_ref().into()
    }

    /// A foreign line as it may be shown: cleaned, and only then cut.
    pub fn clean_line(&self, kind: LineKind, text: &str) -> Arc<str> {
        let shown = self.clean(text);
        match kind {
            LineKind::Noise if shown.len() > NOISE_CHARS => shown.chars().take(NOISE_CHARS).collect::<String>().into(),
            _ if shown.len() > MAX_LINE => {
                let whole = shown.get(..shown.floor_char_boundary(MAX_LINE)).unwrap_or_default();
                format!("{whole}{CUT_MARK}").into()
            }
            _ => shown,
        }
    }

    /// Takes a line and gives it back cleaned; `None` when there are more than can be cleaned, and this one was
    /// counted as dropped. Never waits.
    pub fn push(&self, kind: LineKind, text: &str) -> Option<Arc<str>> {
        if !self.has_budget() {
            self.batch().dropped += 1;
            self.waiting.notify_one();
            return None;
        }
        let text = self.clean_line(kind, text);
        let mut batch = self.batch();
        batch.lines.push((Timestamp::now(), kind, text.clone()));
        if batch.lines.len() >= BATCH_LINES {
            self.send(&mut batch);
        } else {
            self.waiting.notify_one();
        }
        Some(text)
    }

    /// Takes something the engine says about the connection.
    pub fn mark(&self, text: &str) {
        self.push(LineKind::Mark, text);
    }

    /// Sends what waits, now.
    pub fn flush(&self) {
        self.send(&mut self.batch());
    }

    /// Sends batches in time, for ever.
    pub async fn run(&self) {
        loop {
            self.waiting.notified().await;
            tokio::time::sleep(BATCH_TIME).await;
            self.flush();
        }
    }

    fn has_budget(&self) -> bool {
        let mut budget = self.budget.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if budget.since.is_none_or(|since| now - since >= WINDOW) {
            *budget = Budget { since: Some(now), taken: 0 };
        }
        budget.taken += 1;
        budget.taken <= LINES_PER_WINDOW
    }

    fn batch(&self) -> MutexGuard<'_, Batch> {
        self.batch.lock().unwrap_or_else(PoisonError::into_inner)
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

        // More than can be cleaned in one window: the rest is counted, and without a next line the count arrives.
        tokio::time::sleep(WINDOW).await;
        let taken = (0..LINES_PER_WINDOW + 7).filter(|_| sink.push(LineKind::Noise, "x").is_some()).count();
        assert_eq!(taken, LINES_PER_WINDOW);
        assert_eq!(lines(heard.recv().await), (BATCH_LINES, 0));
        let lost = LINES_PER_WINDOW - BATCH_LINES + 7;
        assert_eq!(lines(heard.recv().await), (0, lost as u64));
        running.abort();
    }
}
