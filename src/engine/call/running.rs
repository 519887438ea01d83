//! Calls on their way: polled by whoever hands them in, without a way through the core, which only hears what a person
//! should see.
//!
//! A call is part of its caller's own task while that waits for it, and costs no task and no waking of its own then.
//! Let go of, it goes on by itself: what was begun is finished and recorded whether its caller stays or not.

use std::collections::HashMap;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use futures_util::FutureExt as _;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{CallEvent, Pipeline};
use crate::clock::Timestamp;
use crate::engine::audit::{Durability, Kind, Outcome, Record};
use crate::engine::handle::{CallReport, Submitted};
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

/// Nothing is known of a call's end: a fault of ours, or the engine ended first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the engine has no end of the call")]
pub struct NoReport;

/// `None` where a fault of ours ended it.
type Run = Pin<Box<dyn Future<Output = Option<CallReport>> + Send>>;

/// A call that somebody waits for.
pub struct Waited(At);

enum At {
    /// It is polled by who waits.
    Here(Run),
    /// It goes on by itself.
    Apart(oneshot::Receiver<CallReport>),
    /// Its end was handed out.
    Over,
}

impl Running {
    pub(in crate::engine) fn new(pipeline: Pipeline) -> Self {
        Self { pipeline, tasks: TaskTracker::new(), cancels: Arc::default() }
    }

    /// Starts a call that goes on by itself.
    pub(in crate::engine) fn start(&self, call: CallId, submitted: Submitted) -> Result<(), Closed> {
        self.wait(call, submitted).map(drop)
    }

    /// Takes a call in. It runs while it is waited for, and by itself from when it is not any more.
    pub(in crate::engine) fn wait(&self, call: CallId, submitted: Submitted) -> Result<Waited, Closed> {
        if self.tasks.is_closed() {
            return Err(Closed);
        }
        let Submitted { request, hold, refused } = submitted;
        self.cancels().insert(call.clone(), request.cancel.clone());
        let running = self.clone();
        let run = self.tasks.track_future(async move {
            let (pipeline, id) = (running.pipeline.clone(), call.clone());
            let ran = async move {
                match refused {
                    Some(reason) => pipeline.refuse(id, request, reason).await,
                    None => pipeline.run(id, request, hold).await,
                }
            };
            let report = AssertUnwindSafe(ran).catch_unwind().await.ok();
            if report.is_none() {
                // Nobody waits for it, and a failure to write shows in the writer's health.
                let _ = running.pipeline.audit.append(vec![lost(call.clone())], Durability::Written).await;
                // The log has what it was, by the hook for panics. When the core is gone, nobody is there to tell.
                let _ = running.pipeline.core.send(CallEvent::Lost(call.clone())).await;
            }
            running.cancels().remove(&call);
            report
        });
        Ok(Waited(At::Here(Box::pin(run))))
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

impl Waited {
    /// From now on the call goes on whether it is polled or not.
    pub fn let_go(&mut self) {
        match std::mem::replace(&mut self.0, At::Over) {
            At::Here(run) => self.0 = At::Apart(apart(run)),
            other => self.0 = other,
        }
    }

    /// The end of a call that was let go of, once there is one, and then no second time.
    pub fn settled(&mut self) -> Option<Result<CallReport, NoReport>> {
        let At::Apart(report) = &mut self.0 else { return None };
        let settled = match report.try_recv() {
            Ok(report) => Ok(report),
            Err(oneshot::error::TryRecvError::Closed) => Err(NoReport),
            Err(oneshot::error::TryRecvError::Empty) => return None,
        };
        self.0 = At::Over;
        Some(settled)
    }
}

/// Never asked again after its end.
impl Future for Waited {
    type Output = Result<CallReport, NoReport>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let ended = match &mut self.0 {
            At::Here(run) => std::task::ready!(run.as_mut().poll(cx)).ok_or(NoReport),
            At::Apart(report) => std::task::ready!(Pin::new(report).poll(cx)).map_err(|_| NoReport),
            At::Over => Err(NoReport),
        };
        self.0 = At::Over;
        Poll::Ready(ended)
    }
}

impl Drop for Waited {
    fn drop(&mut self) {
        self.let_go();
    }
}

impl std::fmt::Debug for Waited {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match &self.0 {
            At::Here(_) => "Waited(here)",
            At::Apart(_) => "Waited(apart)",
            At::Over => "Waited(over)",
        })
    }
}

/// The end of a call that a fault of ours ended.
fn lost(call: CallId) -> Record {
    Record {
        call: Some(call),
        outcome: Some(Outcome::Unknown),
        reason: Some("a fault of this program ended the call; the log says where".into()),
        ..Record::new(Timestamp::now(), Kind::Finished)
    }
}

fn apart(run: Run) -> oneshot::Receiver<CallReport> {
    let (reply, report) = oneshot::channel();
    // Without a runtime everything has ended, and so has the call.
    if let Ok(runtime) = tokio::runtime::Handle::try_current() {
        runtime.spawn(async move {
            if let Some(ended) = run.await {
                // A caller that has gone hears nothing; the audit and the snapshot hold the end.
                let _ = reply.send(ended);
            }
        });
    }
    report
}
