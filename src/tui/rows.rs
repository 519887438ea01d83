//! Keeps the panes' questions about the company's rows answered.
//!
//! Panes say what they want to know ([`Ui::wants`](super::ui::Ui::wants)), the event loop hands that over, and one task
//! reads: what is wanted and was not answered yet, and all of it anew after a change. It reads one thing at a time and
//! nothing that nobody wants any more, so that neither fast keys nor a storm of changes piles anything up. The screen
//! never waits for it.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until};

use crate::rows::{Answer, Ask, Reader};

/// Answers on their way; the task waits while the screen has not taken them.
const ANSWERS: usize = 4;
/// The shortest time between two looks at what has changed.
const PAUSE: Duration = Duration::from_millis(150);

/// The way to the task, which ends with it.
#[derive(Debug)]
pub struct Rows {
    wanted: watch::Sender<Vec<Ask>>,
    answers: mpsc::Receiver<Answer>,
}

impl Rows {
    /// Starts the task.
    pub fn start(reader: Arc<dyn Reader>) -> Self {
        let (wanted, wants) = watch::channel(Vec::new());
        let (tell, answers) = mpsc::channel(ANSWERS);
        // It ends by itself when one of its channels does.
        drop(tokio::spawn(keep_answering(reader, wants, tell)));
        Self { wanted, answers }
    }

    /// From now on these questions are kept answered, and no others.
    pub fn want(&self, asks: Vec<Ask>) {
        self.wanted.send_if_modified(|wanted| {
            let other = *wanted != asks;
            *wanted = asks;
            other
        });
    }

    /// The next answer. `None` only when the task has failed.
    pub async fn next(&mut self) -> Option<Answer> {
        self.answers.recv().await
    }
}

async fn keep_answering(
    reader: Arc<dyn Reader>,
    mut wants: watch::Receiver<Vec<Ask>>,
    tell: mpsc::Sender<Answer>,
) -> Option<()> {
    let mut changes = reader.changes();
    // What was answered, and as of which change; the oldest answer first.
    let mut answered: Vec<(Ask, u64)> = Vec::new();
    // The change that is being looked at, and since when.
    let (mut seen, mut since) = (*changes.borrow(), Instant::now());
    loop {
        let asks = wants.borrow_and_update().clone();
        answered.retain(|(ask, _)| asks.contains(ask));
        let newest = *changes.borrow_and_update();
        if newest != seen && since + PAUSE <= Instant::now() {
            (seen, since) = (newest, Instant::now());
        }
        let new = asks.iter().find(|ask| answered.iter().all(|(known, _)| known != *ask));
        let stale = || answered.iter().find(|(_, then)| *then < seen).map(|(ask, _)| ask);
        if let Some(ask) = new.or_else(stale).cloned() {
            // As of a change that was there before it was read: what comes meanwhile is read again.
            let answer = reader.clone().read(ask.clone()).await;
            answered.retain(|(known, _)| *known != ask);
            answered.push((ask, newest));
            tell.send(answer).await.ok()?;
            continue;
        }
        tokio::select! {
            changed = wants.changed() => changed.ok()?,
            // Whoever counts the changes may be gone: then there are none any more.
            Ok(()) = changes.changed(), if newest == seen => {}
            () = sleep_until(since + PAUSE), if newest != seen => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::rows::{Found, Reading, work};

    #[derive(Debug)]
    struct Counting {
        changed: watch::Sender<u64>,
        reads: AtomicUsize,
    }

    impl Reader for Counting {
        fn read(self: Arc<Self>, ask: Ask) -> Reading {
            self.reads.fetch_add(1, Ordering::Relaxed);
            Box::pin(async move { Answer { ask, found: Ok(Found::Item(None)) } })
        }

        fn changes(&self) -> watch::Receiver<u64> {
            self.changed.subscribe()
        }
    }

    fn counting() -> (Arc<Counting>, Rows) {
        let reader = Arc::new(Counting { changed: watch::Sender::new(0), reads: AtomicUsize::new(0) });
        (reader.clone(), Rows::start(reader))
    }

    fn item(key: &str) -> Ask {
        Ask::Item(key.into())
    }

    async fn next(rows: &mut Rows) -> Ask {
        rows.next().await.unwrap().ask
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_wanted_is_answered_once_and_again_after_a_change() {
        let (reader, mut rows) = counting();
        rows.want(vec![item("A-1"), Ask::Work(work::Wanted::default())]);
        assert_eq!(next(&mut rows).await, item("A-1"));
        assert_eq!(next(&mut rows).await, Ask::Work(work::Wanted::default()));
        rows.want(vec![item("A-1"), Ask::Work(work::Wanted::default())]);
        assert!(tokio::time::timeout(Duration::from_secs(60), rows.next()).await.is_err(), "nothing changed");
        reader.changed.send_modify(|count| *count += 1);
        assert_eq!(next(&mut rows).await, item("A-1"));
        rows.want(vec![item("A-2")]);
        while next(&mut rows).await != item("A-2") {}
        assert!(tokio::time::timeout(Duration::from_secs(60), rows.next()).await.is_err(), "nobody wants the others");
    }

    #[tokio::test(start_paused = true)]
    async fn a_storm_of_changes_is_read_a_few_times_a_second_and_its_end_is_seen() {
        let (reader, mut rows) = counting();
        rows.want(vec![item("A-1")]);
        next(&mut rows).await;
        let storm = async {
            for _ in 0..1_000 {
                reader.changed.send_modify(|count| *count += 1);
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            reader.reads.load(Ordering::Relaxed)
        };
        let taken = async { while rows.next().await.is_some() {} };
        let during = tokio::select! {
            during = storm => during,
            () = taken => 0,
        };
        assert!((2..=9).contains(&during), "{during}");
        next(&mut rows).await;
        let end = reader.reads.load(Ordering::Relaxed);
        assert!(end > during, "what came last is read too");
    }
}
