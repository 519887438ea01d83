//! Workers at the surfaces: who gets in by a worker's token, when none does any more, and the one answer that carries a
//! new worker's token.
//!
//! A worker's calls go the way of a seat's, under a holder of its own, so that its sessions, parked calls and tasks are
//! nobody else's. What it may hold is asked of [`crate::tool::worker`] whenever its table is written and again by the
//! engine at each call.
//!
//! No result carries a token through the engine, where screen, trail and log see it: the tool that makes a worker says
//! its id, and here, as the answer is written to whoever asked, the token is claimed and put in. It can be claimed once.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;

use super::Shared;
use super::sessions::Session;
use crate::engine::handle::SurfaceNews;
use crate::engine::status::Era;
use crate::engine::workers::Worker;
use crate::ids::{ConnectionName, WorkerId};
use crate::tool::ToolKey;
use crate::tool::output::CallOutput;

/// The tool whose results name a new worker.
const DELEGATE: &str = "delegate";

/// The worker of this id, if the token is its own and it may still come in.
pub(super) fn admit(shared: &Shared, id: &str, token: Option<&str>) -> Option<Arc<Worker>> {
    let worker = shared.handle.workers().admit(id, token)?;
    (!is_orphaned(shared, &worker)).then_some(worker)
}

/// Whether nobody works its seat any more: it was stopped, or is gone.
fn is_orphaned(shared: &Shared, worker: &Worker) -> bool {
    let snapshot = shared.handle.snapshot();
    let stopped = snapshot.stopped_seats.iter().any(|stopped| stopped.seat == worker.seat);
    stopped || !snapshot.seats.contains(&worker.seat)
}

/// A new token of a seat ends what came in by the old one, its workers too.
pub(super) fn tokens_changed(shared: &Shared) {
    for seat in shared.tokens.refresh() {
        tracing::info!(%seat, "token_rotated");
        shared.sessions.close_seat(&seat);
        shared.handle.workers().end_where(|worker| worker.seat == seat);
        follow(shared);
    }
}

/// Ends what workers have open that are over. Free while there are none.
pub(super) fn follow(shared: &Shared) {
    let workers = shared.handle.workers();
    if workers.is_empty() {
        return;
    }
    workers.end_where(|worker| is_orphaned(shared, worker));
    let gone = workers.sweep();
    for worker in &gone {
        tracing::info!(worker = %worker.id, seat = %worker.seat, "worker_over");
        shared.sessions.close_seat(&worker.holder);
        shared.shelf.forget(&worker.holder);
    }
    if !gone.is_empty() {
        shared.parked.sweep(shared.handle.settings().wait);
        shared.tell(SurfaceNews::Workers);
    }
}

/// The output of a call as its caller gets it: of a call that made a worker, with its token, which nobody else sees.
pub(super) fn with_token<'o>(
    shared: &Shared,
    tool: &ToolKey,
    session: &Session,
    output: &'o CallOutput,
) -> Cow<'o, CallOutput> {
    let ours = tool.connection == ConnectionName::agents() && &*tool.raw_name == DELEGATE;
    let made = output.structured.as_ref().filter(|_| ours && !output.is_error);
    let Some(id) = made.and_then(|made| made.get("id")).and_then(Value::as_str) else { return Cow::Borrowed(output) };
    let parent = (session.era == Era::Legacy).then(|| session.ended.clone());
    let Some(token) = shared.handle.workers().claim(&WorkerId::new(id), parent) else { return Cow::Borrowed(output) };
    let mut output = output.clone();
    if let Some(Value::Object(made)) = &mut output.structured {
        made.insert("token".to_owned(), token.expose().into());
        let text = Value::Object(made.clone()).to_string();
        output.content = vec![serde_json::json!({"type": "text", "text": text})];
    }
    Cow::Owned(output)
}
