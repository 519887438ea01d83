//! A call's way to a server that can be called: through a lost session and through a pause between attempts.
//!
//! [`super::Connection`]'s calls and questions go by it. A call may wait for a connection to come back, and asks for one attempt
//! at once when nothing else is under way; it then goes only to a tool that is still what it was.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep_until};

use super::call::{self, Sent};
use super::client::Client;
use super::known::{Definition, KnownTools};
use super::progress::Waiter;
use super::{CallFailure, Connection, Reply};
use crate::config::model::RestartPolicy;
use crate::engine::gate::Dispatch;
use crate::engine::status::{ConnectionStatus, FailureKind};

/// What a call finds.
#[derive(Clone)]
pub(super) enum Availability {
    /// A server that can be called.
    Ready(Client),
    /// A connection is being made again; waiting is worth it.
    Returning(Away),
    /// The next attempt is some time off, or none is planned: a call may have one at once.
    Away(Away),
    /// None; the text says what it is instead.
    Down(Arc<str>),
}

/// A server that was there.
#[derive(Clone)]
pub(super) struct Away {
    /// What it is instead of ready.
    pub reason: Arc<str>,
    /// Its tools when it was there last.
    pub tools: Arc<KnownTools>,
}

impl Availability {
    /// What calls find in a state that is not ready. An endpoint that was ready (then its `tools` are known) is waited
    /// for while it comes back, and tried again by the next call: nobody restarts it but its owner, who does not tell
    /// us.
    pub fn of(
        status: &ConnectionStatus,
        reason: Arc<str>,
        tools: Option<&Arc<KnownTools>>,
        restart: RestartPolicy,
    ) -> Self {
        let Some(tools) = tools.cloned() else { return Self::Down(reason) };
        match status {
            ConnectionStatus::Starting { .. } | ConnectionStatus::Stopping => Self::Returning(Away { reason, tools }),
            ConnectionStatus::Backoff { .. } => Self::Away(Away { reason, tools }),
            ConnectionStatus::Failed { reason: failure }
                if is_passing(failure.kind) && restart == RestartPolicy::OnFailure =>
            {
                Self::Away(Away { reason, tools })
            }
            _ => Self::Down(reason),
        }
    }
}

/// Failures that may pass without a change of ours.
const fn is_passing(kind: FailureKind) -> bool {
    matches!(kind, FailureKind::Transport | FailureKind::TimedOut | FailureKind::Handshake | FailureKind::Listing)
}

impl std::fmt::Debug for Availability {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Ready(_) => f.write_str("Ready"),
            Self::Returning(away) => write!(f, "Returning({})", away.reason),
            Self::Away(away) => write!(f, "Away({})", away.reason),
            Self::Down(reason) => write!(f, "Down({reason})"),
        }
    }
}

/// What a tool has to be for a call to go to it.
#[derive(Clone, Copy)]
enum Wanted {
    /// What is listed now: nothing changed between the decision and this.
    Present,
    /// What it was when the call was made.
    Unchanged(Option<Definition>),
}

/// A server that forgets each session as it is made.
pub(super) const REFUSED_TWICE: &str = "the server refused our session, and the new one that was made for it";

/// One call on its way, or one question.
pub(super) struct Way<'c> {
    current: watch::Receiver<Availability>,
    wake: &'c Notify,
    /// The tool that is called; `None` for a question, which is about no tool's definition.
    tool: Option<&'c str>,
    waiter: &'c Waiter,
    deadline: Instant,
    wanted: Wanted,
}

impl<'c> Way<'c> {
    /// A call of `tool`, or a question, that begins now and finds a server within `limit` or not at all.
    pub fn new(connection: &'c Connection, tool: Option<&'c str>, limit: Duration, waiter: &'c Waiter) -> Self {
        let (deadline, current) = (Instant::now() + limit, connection.current.clone());
        Self { current, wake: &connection.wake, tool, waiter, deadline, wanted: Wanted::Present }
    }

    /// Sends the call, a second time only when the server refused it for the session it came in: it did not run then.
    pub async fn go(mut self, connection: &Connection, dispatch: &Dispatch) -> Result<Reply, CallFailure> {
        for _ in 0..2 {
            let client = self.find().await?;
            let before = self.definition(&client.tools());
            match call::run(&client, connection.request_timeout, &connection.redactor, dispatch, self.waiter).await {
                Sent::Over(end) => return end,
                Sent::SessionLost => self.want(before),
            }
        }
        Err(CallFailure::NotSent(REFUSED_TWICE.into()))
    }

    fn definition(&self, tools: &KnownTools) -> Option<Definition> {
        self.tool.and_then(|tool| tools.definition(tool))
    }

    fn want(&mut self, before: Option<Definition>) {
        if matches!(self.wanted, Wanted::Present) {
            self.wanted = Wanted::Unchanged(before);
        }
    }

    /// Waits for a server that can be asked.
    pub async fn find(&mut self) -> Result<Client, CallFailure> {
        let mut asked = false;
        let mut reason: Arc<str> = "the server no longer knows our session".into();
        loop {
            let found = self.current.borrow_and_update().clone();
            match found {
                // A lost session is about to be replaced on the same link.
                Availability::Ready(client) if client.is_session_lost() && !client.is_over() => {
                    self.want(self.definition(&client.tools()));
                }
                Availability::Ready(client) if !client.is_over() => return self.check(client),
                Availability::Ready(client) if client.carriage() == super::link::Carriage::Http => {
                    self.want(self.definition(&client.tools()));
                }
                Availability::Ready(_) => {
                    return Err(CallFailure::NotRunning("the server is not running: it just ended".into()));
                }
                Availability::Returning(away) => {
                    self.want(self.definition(&away.tools));
                    reason = away.reason;
                }
                Availability::Away(away) if !asked => {
                    self.want(self.definition(&away.tools));
                    reason = away.reason;
                    asked = true;
                    self.wake.notify_one();
                }
                Availability::Away(away) => return Err(CallFailure::NotRunning(away.reason)),
                Availability::Down(reason) => return Err(CallFailure::NotRunning(reason)),
            }
            tokio::select! {
                biased;
                () = self.waiter.cancel.cancelled() => {
                    return Err(CallFailure::NotSent("cancelled before it was sent".into()));
                }
                changed = self.current.changed() => if changed.is_err() {
                    return Err(CallFailure::NotRunning("the server is not running: the engine is going down".into()));
                },
                () = sleep_until(self.deadline) => return Err(CallFailure::NotRunning(reason)),
            }
        }
    }

    /// What was decided was decided about a definition.
    fn check(&self, client: Client) -> Result<Client, CallFailure> {
        let (Wanted::Unchanged(before), Some(_)) = (self.wanted, self.tool) else { return Ok(client) };
        let now = self.definition(&client.tools());
        match (before, now) {
            (Some(before), Some(now)) if before == now => Ok(client),
            (_, None) => {
                Err(CallFailure::NotSent("not sent: the server connected again and lists this tool no longer".into()))
            }
            _ => Err(CallFailure::NotSent(
                "not sent: the server connected again and this tool's definition is another one now; call it again to \
                 have the new one decided"
                    .into(),
            )),
        }
    }
}
