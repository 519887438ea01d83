//! Workers that the person at the screen makes and ends.

use super::Core;
use crate::engine::command::WorkerOrder;
use crate::engine::snapshot::LogLevel;
use crate::engine::workers::{LONGEST_TASK, MOST_TOOLS, Order};
use crate::ids::WorkerId;
use crate::tool::worker::admit;

impl Core {
    /// Makes a worker of a seat. It gets of everything that the seat reaches what the guard lets through.
    pub(super) fn mint_worker(&mut self, order: WorkerOrder) {
        let WorkerOrder { worker, seat, task, tools, minutes } = order;
        if !self.snapshot.seats.contains(&seat) {
            return self.notice(LogLevel::Warn, &format!("nothing was done: {seat} is no agent's seat"));
        }
        if self.snapshot.stopped_seats.iter().any(|stopped| stopped.seat == seat) {
            return self.notice(LogLevel::Warn, &format!("nothing was done: {seat} is stopped; release it first"));
        }
        let requested = tools.iter().take(MOST_TOOLS).map(AsRef::as_ref);
        let admission = admit((&self.snapshot.catalog, &seat), |_| true, requested);
        let by = self.fixed.pipeline.person.clone();
        let task = task.chars().take(LONGEST_TASK).collect::<String>().into();
        let order = Order { id: worker, seat: seat.clone(), by: by.clone(), task, minutes, admission };
        match self.fixed.workers.mint(order) {
            Ok(made) => {
                let (tools, barred) = (made.tools.len(), made.barred.len());
                tracing::info!(worker = %made.id, %seat, %by, tools, barred, minutes, "worker_made");
                self.dirty = true;
            }
            Err(error) => self.notice(LogLevel::Warn, &format!("no worker was made: {error}")),
        }
    }

    /// Ends a worker: it does not come in any more, and what it asked for is given up.
    pub(super) fn end_worker(&mut self, worker: &WorkerId) {
        self.dirty = true;
        if self.fixed.workers.end(worker) {
            tracing::info!(%worker, by = %self.fixed.pipeline.person, "worker_ended");
        } else {
            self.notice(LogLevel::Warn, &format!("nothing was done: worker {worker} had already ended"));
        }
    }
}
