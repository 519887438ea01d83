//! One `tools/call`: sent once, waited for within its deadline, given up in the open.
//!
//! [`super::Connection::call`] sends calls; [`super::query`] sends its questions in the same way. Deadlines and what a
//! lost answer means are decided here; what a result means is not.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use super::client::{Answer, Client, Role};
use super::flight::InFlight;
use super::http::headers;
use super::link::Frame;
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
    let params = |token| protocol::call(era, dispatch, (token, client.asks().offer()));
    let (flight, mut frame) = client.prepare(Role::Ordinary, "tools/call", params);
    if let Some(tool) = client.tools().get(dispatch.raw_name()) {
        frame.mirrored = headers::of_arguments(&tool.mirrored, dispatch.arguments());
    }
    let patience = Patience { limit, most: limit.saturating_mul(MOST_EXTENSION), touched: Arc::default() };
    let last = Instant::now() + patience.most;
    let _running = client.asks().running(flight.id, dispatch.call(), (patience.touched.clone(), last));
    send(client, (flight, frame), patience, redactor, waiter).await
}

/// How long an answer may take.
#[derive(Debug)]
pub(super) struct Patience {
    /// Without progress.
    pub limit: Duration,
    /// With it.
    pub most: Duration,
    /// Told when something else than progress gives it its whole limit again.
    pub touched: Arc<Notify>,
}

/// Sends a prepared request once and waits for its end.
pub(super) async fn send(
    client: &Client,
    (flight, frame): (InFlight, Frame),
    patience: Patience,
    redactor: &Redactor,
    waiter: &Waiter,
) -> Sent {
    let cancel = &waiter.cancel;
    let began = Instant::now();
    tokio::select! {
        biased;
        () = cancel.cancelled() => return CallFailure::NotSent("cancelled before it was sent".into()).into(),
        queued = client.queue(frame) => {
            if queued.is_err() {
                return CallFailure::NotSent("the connection ended before it was sent".into()).into();
            }
        }
        () = sleep_until(began + patience.limit) => return not_taken(patience.limit).into(),
    }
    wait(flight, began, patience, redactor, waiter).await
}

async fn wait(mut flight: InFlight, began: Instant, patience: Patience, redactor: &Redactor, waiter: &Waiter) -> Sent {
    let Patience { limit, most, touched } = patience;
    let last = began + most;
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
            () = touched.notified() => deadline = last.min(Instant::now() + limit),
            // While the server waits for a person it is not the server that takes its time.
            () = sleep_until(deadline), if deadline < last && flight.client.asks().hold(flight.id) => {
                deadline = last.min(Instant::now() + limit);
            }
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
