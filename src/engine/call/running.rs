//! Calls on their way: started by whoever hands them in, without a way through the core, which only hears what a
//! person should see.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt as _;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{CallEvent, Pipeline};
use crate::engine::handle::Submitted;
use crate::ids::CallId;

/// See the module. Clones are the same calls.
#[derive(Clone, Debug)]
pub(in crate::engine) struct Running {
    pipeline: Pipeline,
    tasks: TaskTracker,
    cancels: Arc<Mutex<HashMap<CallId, CancellationToken>>>,
}

/// The engine takes no calls any more.
#[derive(Debug)]
pub(in crate::engine) struct Closed;

impl Running {
    pub(in crate::engine) fn new(pipeline: Pipeline) -> Self {
        Self { pipeline, tasks: TaskTracker::new(), cancels: Arc::default() }
    }

    /// Starts a call.
    pub(in crate::engine) fn start(&self, call: CallId, submitted: Submitted) -> Result<(), Closed> {
        if self.tasks.is_closed() {
            return Err(Closed);
        }
        let Submitted { request, hold, reply, refused } = submitted;
        self.cancels().insert(call.clone(), request.cancel.clone());
        let running = self.clone();
        // In a box, so that it is not moved about on its way into the runtime.
        let run = Box::pin(async move {
            let (pipeline, id) = (running.pipeline.clone(), call.clone());
            let ran = async move {
                match refused {
                    Some(reason) => pipeline.refuse(id, request, reason).await,
                    None => pipeline.run(id, request, hold).await,
                }
            };
            match AssertUnwindSafe(ran).catch_unwind().await {
                Ok(report) => {
                    if let Some(reply) = reply {
                        // A caller that has gone hears nothing; the audit and the snapshot hold the end.
                        let _ = reply.send(report);
                    }
                }
                // The log has what it was, by the hook for panics. When the core is gone, nobody is there to tell.
                Err(_) => drop(running.pipeline.core.send(CallEvent::Lost(call.clone())).await),
            }
            running.cancels().remove(&call);
        });
        self.tasks.spawn(run);
        Ok(())
    }

    /// Gives a call up, if it is still on its way.
    pub(in crate::engine) fn cancel(&self, call: &CallId) {
        if let Some(cancel) = self.cancels().get(call) {
            cancel.cancel();
        }
    }

    /// Gives all of them up.
    pub(in crate::engine) fn cancel_all(&self) {
        self.cancels().values().for_each(CancellationToken::cancel);
    }

    /// From now on none is started.
    pub(in crate::engine) fn close(&self) {
        self.tasks.close();
    }

    /// Whether there is none on its way.
    pub(in crate::engine) fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// Waits until it was closed and there is none any more.
    pub(in crate::engine) async fn ended(&self) {
        self.tasks.wait().await;
    }

    fn cancels(&self) -> MutexGuard<'_, HashMap<CallId, CancellationToken>> {
        self.cancels.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
