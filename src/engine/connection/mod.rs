//! One live link to a server: spawning or connecting, handshake, listing, calls, restarts, going down.
//!
//! The engine's core starts one supervisor for each connection with [`start`], hears [`ConnectionEvent`]s and
//! sends calls through the [`Connection`] handle. Nothing here knows policy, seats or screens.
//!
//! | file | owns |
//! |---|---|
//! | `supervisor`, `orders`, `outbox` | the status machine: start, watch, back off, stop |
//! | `session`, `establish` | one start: link, client and child; handshake and first listing |
//! | `handshake`, `tools`, `pages`, `refresh`, `call`, `query` | what is asked: era and revision, lists, one call, one question |
//! | [`progress`] | what a server says of a running call, for whoever waits for it |
//! | `asks` | what a legacy server asks a person during a call |
//! | `reach`, `known`, `pulse` | a call's way to a server that comes back, what its tools were, whether it is there |
//! | `client`, `flight`, `link`, `message`, `protocol` | requests and answers, and their text |
//! | `wire`, `http` | carrying messages over pipes or to an endpoint |
//! | `stdio`, `environment`, [`reaper`] | children: their environment, their groups, their end |
//! | `stderr`, `lines`, `failure`, `cause` | what people read about it |
//! | `backoff` | when to try again: pure |

mod asks;
mod backoff;
mod call;
mod cause;
mod client;
mod environment;
mod establish;
mod failure;
mod flight;
mod handshake;
mod http;
mod known;
mod lines;
mod link;
mod message;
mod orders;
mod outbox;
mod pages;
pub mod progress;
mod protocol;
mod pulse;
mod query;
mod reach;
pub mod reaper;
mod refresh;
mod session;
mod stderr;
mod stdio;
mod supervisor;
#[cfg(test)]
mod tests;
mod tools;
pub mod watchdog;
mod wire;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;
use tokio::sync::{Notify, mpsc, watch};
use tokio_util::sync::CancellationToken;

pub(crate) use self::http::endpoint::{client as http_client, root_cause};
use self::progress::Waiter;
pub use self::query::{Listed, Query};
use self::reach::Availability;
use super::forms::{Inbox, rounds};
use super::gate::Dispatch;
use super::snapshot::LineKind;
use super::status::{ConnectionStatus, Era, Offer, PeerFacts};
use crate::clock::Timestamp;
use crate::config::model::RestartPolicy;
use crate::ids::{ConnectionName, ServerName};
use crate::secret::{Redactor, Secret};
use crate::tool::Listing;
use crate::tool::offers::OfferList;

/// Everything needed to make and keep one connection. References are resolved.
#[derive(Clone, Debug)]
pub struct ConnectionSpec {
    /// The connection.
    pub name: ConnectionName,
    /// Its server.
    pub server: ServerName,
    /// How to reach it.
    pub transport: TransportSpec,
    /// Bounds spawn, connect and handshake, and again the first complete listing.
    pub startup_timeout: Duration,
    /// Bounds one `tools/call`.
    pub request_timeout: Duration,
    /// What happens when it ends.
    pub restart: RestartPolicy,
    /// The era it settled on in an earlier run, when that is remembered.
    pub known_era: Option<Era>,
    /// Cleans every text that leaves the connection.
    pub redactor: Redactor,
    /// Where the server's questions to a person go; without it none may be asked.
    pub forms: Option<Inbox>,
}

/// How to reach a server.
#[derive(Clone)]
pub enum TransportSpec {
    /// A child process of ours.
    Stdio(StdioSpec),
    /// A streamable HTTP endpoint.
    Http(HttpSpec),
    /// Something a test brings: in-memory streams to a scripted server.
    Custom(Arc<dyn Connector>),
}

impl fmt::Debug for TransportSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdio(spec) => spec.fmt(f),
            Self::Http(spec) => spec.fmt(f),
            Self::Custom(_) => f.write_str("Custom"),
        }
    }
}

/// A child process.
#[derive(Clone, Debug)]
pub struct StdioSpec {
    /// The executable: a path, or a name looked up in the child's `PATH`.
    pub command: std::path::PathBuf,
    /// Its arguments; they may hold resolved references, so they are not logged.
    pub args: Vec<Secret>,
    /// The command line as configured, for logs.
    pub display: Arc<str>,
    /// Declared variables; they win over inherited ones.
    pub env: Vec<(Arc<str>, Secret)>,
    /// Working directory.
    pub cwd: Option<std::path::PathBuf>,
    /// Further variable names handed on from our environment.
    pub inherit_env: Vec<Arc<str>>,
}

/// A streamable HTTP endpoint.
#[derive(Clone, Debug)]
pub struct HttpSpec {
    /// The endpoint; may hold resolved references, so it is not logged.
    pub url: Secret,
    /// The URL as configured, without user info and query, for logs.
    pub display: Arc<str>,
    /// Sent with every request.
    pub headers: Vec<(Arc<str>, Secret)>,
}

/// Makes in-memory links for tests of the engine.
pub trait Connector: Send + Sync {
    /// A new link: what the engine writes to the server, and what it reads from it (newline-delimited JSON-RPC).
    fn connect(&self) -> (Box<dyn tokio::io::AsyncWrite + Send + Unpin>, Box<dyn tokio::io::AsyncRead + Send + Unpin>);
}

/// What a connection tells the core. Texts are sanitised and redacted.
#[derive(Clone, Debug)]
pub enum ConnectionEvent {
    /// The status changed.
    Status(ConnectionStatus),
    /// The handshake is done.
    Identified(PeerFacts),
    /// Tools were listed: before every `Ready`, and again when the server says its list changed.
    Listed(Listing),
    /// The server says that one of its other lists changed.
    OfferChanged(Offer),
    /// Lines for the stderr pane, oldest first, and how many were dropped before the first of them.
    Lines {
        /// The lines.
        lines: Vec<(Timestamp, LineKind, Arc<str>)>,
        /// Lines dropped because the channel was full.
        dropped: u64,
    },
    /// The supervisor has ended: no process is left, and no event of it follows. Sent by whoever waits for its task.
    Ended,
}

/// An event with the connection it came from.
pub type NamedEvent = (ConnectionName, ConnectionEvent);

/// A server's answer to `tools/call`, raw.
#[derive(Debug)]
pub enum Reply {
    /// The `result` member.
    Result(Box<RawValue>),
    /// The `error` member.
    Error {
        /// JSON-RPC code.
        code: i64,
        /// The server's message, sanitised and redacted.
        message: Arc<str>,
    },
    /// The server has not completed the call: it needs to be told something first.
    InputRequired(Unfinished),
}

/// A call that a server answered with a question. By the server's word it did not run.
#[derive(Debug)]
pub struct Unfinished {
    /// The `result` member: what it asks.
    pub asks: Box<RawValue>,
    dispatch: Dispatch,
}

impl Unfinished {
    /// The same call, with what the server asked for beside its arguments: members of a JSON object.
    pub(super) fn with(self, input: String) -> Dispatch {
        self.dispatch.continued(input)
    }
}

/// Why a call has no answer. What matters is whether the request can have reached the server.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CallFailure {
    /// The connection is not ready; nothing was sent.
    #[error("{0}")]
    NotRunning(Arc<str>),
    /// Writing or connecting failed before the request can have run.
    #[error("{0}")]
    NotSent(Arc<str>),
    /// It was sent, and the connection ended before the answer: the outcome is unknown.
    #[error("{0}")]
    Lost(Arc<str>),
    /// It was sent and not answered in time; a cancellation notice was sent: the outcome is unknown.
    #[error("{}", timed_out(*limit, *waited))]
    TimedOut {
        /// The limit for one call without progress.
        limit: Duration,
        /// How long it was waited for; longer than the limit when there was progress.
        waited: Duration,
    },
    /// The server asked for something before it completed the call, and did not get it.
    #[error("{0}")]
    Unanswered(Arc<str>),
    /// The caller gave up after it was sent; a cancellation notice was sent: the outcome is unknown.
    #[error("cancelled by the caller")]
    Cancelled,
}

fn timed_out(limit: Duration, waited: Duration) -> String {
    let (limit, waited) = (limit.as_secs_f64(), waited.as_secs_f64());
    if waited < limit + 0.5 {
        return format!("did not answer within {limit} s");
    }
    let most = limit * f64::from(call::MOST_EXTENSION);
    format!("did not answer within {waited:.0} s (its limit is {limit} s; progress extends it to at most {most} s)")
}

/// What a person can ask of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Control {
    /// Stop, then start with a fresh budget of attempts.
    Restart,
    /// Stop and stay down (`Disabled`).
    Disable,
    /// Start, if it is down.
    Enable,
}

/// The handle to one supervised connection. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Connection {
    name: ConnectionName,
    control: mpsc::Sender<Control>,
    current: watch::Receiver<Availability>,
    /// Asks for an attempt to connect, now.
    wake: Arc<Notify>,
    request_timeout: Duration,
    redactor: Redactor,
    offers_forms: bool,
}

impl Connection {
    /// Whether both are one, made of one configuration. A changed one makes another connection of the same name.
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.wake, &other.wake)
    }

    /// Sends one permitted call and waits for its answer, at most the spec's request timeout (extended by
    /// progress up to ten times of it). Cancelling gives it up, and so does dropping the future; the server is told.
    ///
    /// It runs at most once. A call that an endpoint refused because it forgot our session is sent once more on the new
    /// session, if the tool's definition is the same there. A call to an endpoint that is backing off starts one attempt
    /// to connect at once (at most one each second) and waits for how that ends.
    ///
    /// # Errors
    /// See [`CallFailure`].
    pub async fn call(&self, dispatch: Dispatch, waiter: impl Into<Waiter>) -> Result<Reply, CallFailure> {
        // Another connection may carry another seat's credentials.
        if *dispatch.connection() != self.name {
            let reason = format!("it was permitted for {} and not for {}", dispatch.connection(), self.name);
            return Err(CallFailure::NotSent(reason.into()));
        }
        let waiter = waiter.into();
        let way = reach::Way::new(self, Some(dispatch.raw_name()), self.request_timeout, &waiter);
        let reply = way.go(self, &dispatch).await?;
        Ok(match reply {
            Reply::Result(asks) if self.may_be_asked() && rounds::is_input_required(&asks) => {
                Reply::InputRequired(Unfinished { asks, dispatch })
            }
            reply => reply,
        })
    }

    /// Whether the server was told that a call of ours may be answered with a question.
    fn may_be_asked(&self) -> bool {
        let modern = |client: &client::Client| client.era() == Some(Era::Modern);
        self.offers_forms && matches!(&*self.current.borrow(), Availability::Ready(client) if modern(client))
    }

    /// Asks what needs no permit, because the protocol has it change nothing: at most for the spec's request timeout,
    /// once. Dropping the future gives it up like `cancel` does.
    ///
    /// # Errors
    /// See [`CallFailure`].
    pub async fn ask(&self, query: &Query, cancel: &CancellationToken) -> Result<Reply, CallFailure> {
        query::ask(self, query, cancel).await
    }

    /// Reads one of the server's lists, all pages within caps and within `limit` (or the spec's request timeout, where
    /// that is shorter).
    pub async fn list(&self, list: OfferList, limit: Duration) -> Listed {
        let mut listed = query::list(self, list, limit.min(self.request_timeout)).await;
        listed.cut = listed.cut.map(|cut| self.redactor.redact(&crate::text::clean(&cut)).as_ref().into());
        listed
    }

    /// True for an endpoint that is away and that a call may bring back: the call is worth making.
    pub fn may_return(&self) -> bool {
        matches!(*self.current.borrow(), Availability::Returning(_) | Availability::Away(_))
    }

    /// Asks for a change of state; what comes of it is told by [`ConnectionEvent::Status`]. False when too many
    /// requests wait already or the supervisor has ended.
    pub fn control(&self, control: Control) -> bool {
        self.control.try_send(control).is_ok()
    }
}

/// Starts a supervisor. With [`Initially::Disabled`] the connection is shown and not started. When `shutdown` is
/// cancelled the connection goes down its ladder; the task ends when no process is left.
pub fn start(
    spec: ConnectionSpec,
    initially: Initially,
    events: mpsc::Sender<NamedEvent>,
    shutdown: CancellationToken,
) -> (Connection, tokio::task::JoinHandle<()>) {
    let (control, requests) = mpsc::channel(8);
    let (publish, current) = watch::channel(Availability::Down(format!("{} has not been started", spec.name).into()));
    let wake = Arc::new(Notify::new());
    let (request_timeout, redactor) = (spec.request_timeout, spec.redactor.clone());
    let (name, offers_forms) = (spec.name.clone(), spec.forms.is_some());
    let connection = Connection { name, control, current, wake: wake.clone(), request_timeout, redactor, offers_forms };
    let orders = orders::Orders::new(requests, shutdown, wake);
    let supervisor = supervisor::Supervisor::new(spec, &orders, events, publish);
    let task = tokio::spawn(supervisor.run(initially, orders));
    (connection, task)
}

/// Whether a connection is started at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Initially {
    /// Started.
    Enabled,
    /// Shown as disabled.
    Disabled,
}
