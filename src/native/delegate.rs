//! `delegate`: a seat's agent makes a worker.
//!
//! What the worker gets is [`admit`]'s word over what the agent holds now. The answer names the worker; its token is put
//! in where the answer is written to whoever asked, so that nothing on the way ever holds it.

use serde_json::{Value, json};

use super::request::{Class, Outcome, Refusal};
use super::tool::{Ask, Running};
use crate::engine::snapshot::Caller;
use crate::engine::workers::{MINUTES, MOST_MINUTES, MintError, Order};
use crate::ids::WorkerId;
use crate::text;
use crate::tool::Entry;
use crate::tool::worker::{Admission, admit};

/// How much of a task the log shows, in cells.
const LOGGED: usize = 80;

/// See the module.
pub(super) fn delegate(ask: Ask) -> Running {
    Box::pin(async move { make(&ask) })
}

fn make(ask: &Ask) -> Outcome {
    let request = &ask.request;
    // No worker, no operator, and not the person: the agent itself.
    let Caller::Seat { seat, session, client } = &ask.caller else {
        return Err(Refusal::forbidden("only the agent of a seat makes workers with this tool"));
    };
    let task = request.need("task")?;
    let tools = request.texts("tools").unwrap_or_default();
    let minutes = request.number("minutes").and_then(|minutes| u16::try_from(minutes).ok()).unwrap_or(MINUTES);
    // The agent's session at this moment: what it has not activated it cannot hand on.
    let held = ask.native.shared().active.entries(&ask.caller, &ask.world.catalog);
    let holds = |entry: &Entry| held.iter().any(|held| held.key() == entry.key());
    let admission = admit((&ask.world.catalog, seat), holds, tools.iter().map(String::as_str));
    let id = WorkerId::fresh();
    tell_rejected(&admission, task, (&id, seat.as_str()));
    let by = if client.is_empty() { format!("session {session}") } else { format!("{client} · session {session}") };
    let order = Order {
        id,
        seat: seat.clone(),
        by: by.into(),
        task: task.into(),
        minutes: minutes.min(MOST_MINUTES),
        admission: admission.clone(),
    };
    let made = ask.native.shared().workers.mint(order).map_err(refusal)?;
    tracing::info!(worker = %made.id, %seat, by = %made.by, tools = made.tools.len(), minutes, "worker_made");
    let rejected = admission.barred.iter().map(|(name, barred)| json!({"tool": name, "reason": barred.to_string()}));
    Ok(json!({
        "id": made.id.as_str(),
        "url": &*made.url,
        "token": Value::Null,
        "expires_at": made.ends.rfc3339_seconds(),
        "tools": made.tools.iter().map(AsRef::as_ref).collect::<Vec<&str>>(),
        "rejected": rejected.collect::<Vec<Value>>(),
    }))
}

fn refusal(error: MintError) -> Refusal {
    let class = match error {
        MintError::TooMany | MintError::Taken => Class::Conflict,
        MintError::NoListener | MintError::NoRandom => Class::Unavailable,
    };
    Refusal { class, message: error.to_string() }
}

fn tell_rejected(admission: &Admission, task: &str, (worker, role): (&WorkerId, &str)) {
    if admission.barred.is_empty() {
        return;
    }
    let rejected: Vec<String> = admission.barred.iter().map(|(name, barred)| format!("{name}: {barred}")).collect();
    let rejected = rejected.join("; ");
    let task = text::fit(task, LOGGED);
    tracing::info!(%rejected, %task, %worker, %role, "subagent_tools_rejected");
}
