//! What stands in the seats' inboxes, taken over from the tools that keep it.

use std::sync::Arc;

use tokio::sync::watch;

use super::Core;
use crate::engine::first_party::FirstParty;
use crate::engine::snapshot::{Board, QuestionView};
use crate::secret::Redactor;

/// The tools' board, and what of it is shown.
#[derive(Default)]
pub(in crate::engine) struct Questions {
    feed: Option<watch::Receiver<Board>>,
    /// Each row as it came, and as it is shown: redacting all of them at each change would take long.
    shown: Vec<(Arc<QuestionView>, Arc<QuestionView>)>,
}

impl Questions {
    pub(in crate::engine) fn of(tools: Option<&Arc<dyn FirstParty>>) -> Self {
        let mut feed = tools.and_then(|tools| tools.questions());
        if let Some(feed) = feed.as_mut().filter(|feed| !feed.borrow().is_empty()) {
            // What was there before anybody looked is news too.
            feed.mark_changed();
        }
        Self { feed, shown: Vec::new() }
    }

    /// Waits until there is something new; for ever where there are no such tools.
    pub(super) async fn changed(&mut self) {
        if let Some(feed) = &mut self.feed {
            if feed.changed().await.is_ok() {
                return;
            }
            // Whoever kept the board has gone.
            self.feed = None;
        }
        std::future::pending::<()>().await;
    }

    fn take(&mut self, redactor: &Redactor) -> Board {
        let Some(feed) = &mut self.feed else { return Board::default() };
        let board = feed.borrow_and_update().clone();
        let before = std::mem::take(&mut self.shown);
        let show = |row: &Arc<QuestionView>| {
            let known = before.iter().find(|(raw, _)| Arc::ptr_eq(raw, row)).map(|(_, shown)| shown.clone());
            known.unwrap_or_else(|| row.redacted(redactor).map_or_else(|| row.clone(), Arc::new))
        };
        self.shown = board.iter().map(|row| (row.clone(), show(row))).collect();
        self.shown.iter().map(|(_, shown)| shown.clone()).collect()
    }
}

impl Core {
    pub(super) fn questions_changed(&mut self) {
        self.snapshot.questions = self.inlets.questions.take(&self.fixed.pipeline.redactor);
        self.dirty = true;
    }
}
