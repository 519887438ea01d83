//! One `tools/call`: sent once, waited for within its deadline, given up in the open.
//!
//! [`super::Connection::call`] is the only caller. Deadlines and what a lost answer means are decided here; what a
//! result means is not.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::client::{Answer, Client, Role};
use super::flight::InFlight;
use super::http::headers;
use super::message::{Fault, Reached};
use super::progress::{Pace, Waiter};
use super::{CallFailure, Reply, protocol};
use crate::engine::gate::Dispatch;
use crate::engine::status::Era;
use crate::secret::Redactor;

/// Progress extends a deadline up to this many times the limit.
pub(super) const MOST_EXTENSION: u32 = 10;

/// How sending a call once ended.
pub(super) enum Sent {
    /// For good.
    Over(Result<Reply, CallFailure>),
    /// The server refused it before it ran: it does not know our session any more.
    SessionLost,
}

impl From<CallFailure> for Sent {
    fn from(failure: CallFailure) -> Self {
        Self::Over(Err(failure))
    }
}

/// Sends the call and waits for its end.
pub(super) async fn run(
    client: &Client,
    limit: Duration,
    redactor: &Redactor,
    dispatch: &Dispatch,
    waiter: &Waiter,
) -> Sent {
    let cancel = &waiter.cancel;
    if cancel.is_cancelled() {
        return CallFailure::NotSent("cancelled before it was sent".into()).into();
    }
    client.note_call();
    let era = client.era().unwrap_or(Era::Legacy);
    let params = |token| protocol::call(era, dispatch.raw_name(), dispatch.arguments(), token);
    let (flight, mut frame) = client.prepare(Role::Ordinary, "tools/call", params);
    if let Some(tool) = client.tools().get(dispatch.raw_name()) {
        frame.mirrored = headers::of_arguments(&tool.mirrored, dispatch.arguments());
    }
    let began = Instant::now();
    tokio::select! {
        biased;
        () = cancel.cancelled() => return CallFailure::NotSent("cancelled before it was sent".into()).into(),
        queued = client.queue(frame) => {
            if queued.is_err() {
                return CallFailure::NotSent("the connection ended before it was sent".into()).into();
            }
        }
        () = sleep_until(began + limit) => return not_taken(limit).into(),
    }
    wait(flight, began, limit, redactor, waiter).await
}

async fn wait(mut flight: InFlight, began: Instant, limit: Duration, redactor: &Redactor, waiter: &Waiter) -> Sent {
    let last = began + limit.saturating_mul(MOST_EXTENSION);
    let mut deadline = began + limit;
    let mut pace = Pace::new(flight.notices(), waiter, redactor);
    loop {
        tokio::select! {
            biased;
            answer = flight.answer() => {
                pace.last_word();
                return judge(answer, flight.reached(), redactor);
            }
            () = waiter.cancel.cancelled() => return match flight.give_up("cancelled by the caller") {
                Reached::No => CallFailure::NotSent("cancelled before it was sent".into()),
                Reached::Perhaps => CallFailure::Cancelled,
            }.into(),
            () = sleep_until(deadline) => return match flight.give_up("no answer in time") {
                Reached::No => not_taken(began.elapsed()),
                Reached::Perhaps => CallFailure::TimedOut { limit, waited: began.elapsed() },
            }.into(),
            // Last: a server that never stops talking does not keep the others from being looked at.
            true = pace.sign() => deadline = last.min(Instant::now() + limit),
        }
    }
}

fn judge(answer: Answer, reached: Reached, redactor: &Redactor) -> Sent {
    let clean = |text: &str| redactor.redact(&crate::text::clean(text)).as_ref().into();
    Sent::Over(match answer {
        Answer::Undelivered(lack) if lack.fault == Fault::Session => return Sent::SessionLost,
        Answer::Result(result) => Ok(Reply::Result(result)),
        Answer::Error(error) => Ok(Reply::Error { code: error.code, message: clean(&error.message) }),
        Answer::Undelivered(lack) => Err(match lack.reached {
            Reached::No => CallFailure::NotSent(clean(&lack.reason)),
            Reached::Perhaps => CallFailure::Lost(clean(&lack.reason)),
        }),
        Answer::Ended(reason) => Err(match reached {
            Reached::No => CallFailure::NotSent(clean(&reason)),
            Reached::Perhaps => CallFailure::Lost(clean(&reason)),
        }),
    })
}

fn not_taken(limit: Duration) -> CallFailure {
    CallFailure::NotSent(format!("the server took no request for {:.0} s", limit.as_secs_f64()).into())
}
