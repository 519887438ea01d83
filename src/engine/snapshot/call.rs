//! Calls from received to finished, as lists and details show them.

use std::sync::Arc;
use std::time::Duration;

use crate::clock::Timestamp;
use crate::config::model::PolicyDecision;
use crate::ids::{ApprovalId, CallId, ConnectionName, SeatHandle, ServerName};
use crate::secret::Redactor;
use crate::tool::{EffectClass, Flag, ShownArguments};

/// Who asks for a call.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Caller {
    /// The person at this screen, or at the shell with `call`.
    Console,
    /// An agent that drives a seat.
    Seat {
        /// The seat.
        seat: SeatHandle,
        /// The agent's session, shortened for people.
        session: Arc<str>,
        /// Its client's name and version.
        client: Arc<str>,
    },
    /// A worker, a sub-agent under a seat, with the tools that it was given.
    Worker {
        /// The seat whose connections and credentials carry its calls.
        seat: SeatHandle,
        /// What it stands under where callers are told apart; see [`SeatHandle::of_worker`].
        holder: SeatHandle,
        /// Its session, shortened for people.
        session: Arc<str>,
        /// Its client's name and version.
        client: Arc<str>,
    },
    /// A holder of an operator's token: on the operator surface, or of the scoped connector.
    Operator {
        /// What it stands under where seats are told apart; see [`SeatHandle::of_operator`] and
        /// [`SeatHandle::of_connector`].
        holder: SeatHandle,
        /// Its session, shortened for people.
        session: Arc<str>,
        /// Its client's name and version.
        client: Arc<str>,
    },
}

impl Caller {
    /// `console`, `seat`, `worker`, `operator` or `connector`: the audit's word.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Console => "console",
            Self::Seat { .. } => "seat",
            Self::Worker { .. } => "worker",
            Self::Operator { holder, .. } if holder.connector().is_some() => "connector",
            Self::Operator { .. } => "operator",
        }
    }

    /// The seat, be it by a worker of it, or what stands for the operator: whose tools and rules count and who can be
    /// stopped.
    pub const fn seat(&self) -> Option<&SeatHandle> {
        match self {
            Self::Console => None,
            Self::Seat { seat, .. } | Self::Worker { seat, .. } | Self::Operator { holder: seat, .. } => Some(seat),
        }
    }

    /// Whether it is a sub-agent: the worker guard applies, and no decision is remembered for it or helps it.
    pub const fn is_worker(&self) -> bool {
        matches!(self, Self::Worker { .. })
    }

    /// What its session stands under, and the session; the person at the screen has none.
    pub const fn session(&self) -> Option<(&SeatHandle, &Arc<str>)> {
        match self {
            Self::Console => None,
            Self::Seat { seat: holder, session, .. }
            | Self::Worker { holder, session, .. }
            | Self::Operator { holder, session, .. } => Some((holder, session)),
        }
    }

    /// The same without secrets: a client may call itself anything.
    #[must_use]
    pub fn redacted(self, redactor: &Redactor) -> Self {
        match self {
            Self::Seat { seat, session, client } => {
                let client = redactor.redact(&client).into();
                Self::Seat { seat, session, client }
            }
            Self::Worker { seat, holder, session, client } => {
                let client = redactor.redact(&client).into();
                Self::Worker { seat, holder, session, client }
            }
            Self::Operator { holder, session, client } => {
                let client = redactor.redact(&client).into();
                Self::Operator { holder, session, client }
            }
            Self::Console => Self::Console,
        }
    }
}

/// One call, from received to finished.
#[derive(Clone, Debug)]
pub struct CallView {
    /// The call.
    pub id: CallId,
    /// When it was received.
    pub at: Timestamp,
    /// Who asked.
    pub caller: Caller,
    /// The catalogue name, or the name that was asked for where it did not resolve.
    pub name: Arc<str>,
    /// The server, where it resolved.
    pub server: Option<ServerName>,
    /// The connection that carries it, where the name resolved: the server's, or a seat's own to it.
    pub connection: Option<ConnectionName>,
    /// The name on the wire, where it resolved.
    pub raw_name: Option<Arc<str>>,
    /// The class at the time of the call, where it resolved.
    pub class: Option<EffectClass>,
    /// The flags at the time of the call.
    pub flags: Vec<Flag>,
    /// The arguments.
    pub arguments: Option<ShownArguments>,
    /// What the policy said: decision and what made it.
    pub policy: Option<(PolicyDecision, Arc<str>)>,
    /// Who decided, where somebody did: `person`, `shell:root`, `policy`.
    pub decider: Option<Arc<str>>,
    /// Where it stands.
    pub phase: CallPhase,
    /// Time from received to finished, waiting included.
    pub elapsed: Option<Duration>,
    /// Time from dispatched to finished.
    pub ran: Option<Duration>,
    /// What came back, for recent calls.
    pub result: Option<Arc<ResultView>>,
}

/// Where a call stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CallPhase {
    /// A person is asked.
    Waiting(ApprovalId),
    /// Sent to the server.
    Running,
    /// Answered. `is_error` is the tool's own word.
    Done {
        /// The tool reported an error of its own.
        is_error: bool,
    },
    /// The server answered with a protocol error, or its result was refused.
    Failed {
        /// Why.
        reason: Arc<str>,
    },
    /// Sent, and the answer was lost.
    Unknown {
        /// Why.
        reason: Arc<str>,
    },
    /// A person said no.
    Denied {
        /// Their reason; empty when they gave none.
        reason: Arc<str>,
    },
    /// Nobody decided in time.
    Expired,
    /// The question went away.
    Withdrawn(Withdrawal),
    /// Never asked: an unknown name, bad arguments, policy, `--read-only`, no audit.
    Refused {
        /// Why.
        reason: Arc<str>,
    },
}

impl CallPhase {
    /// One word for lists.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Waiting(_) => "waiting",
            Self::Running => "running",
            Self::Done { is_error: false } => "done",
            Self::Done { is_error: true } => "tool error",
            Self::Failed { .. } => "failed",
            Self::Unknown { .. } => "unknown",
            Self::Denied { .. } => "denied",
            Self::Expired => "expired",
            Self::Withdrawn(_) => "withdrawn",
            Self::Refused { .. } => "refused",
        }
    }

    /// True when nothing more will happen.
    pub const fn is_over(&self) -> bool {
        !matches!(self, Self::Waiting(_) | Self::Running)
    }
}

/// Why a question went away.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Withdrawal {
    /// The caller's connection or process is gone.
    CallerGone,
    /// The caller cancelled.
    Cancelled,
    /// The tool is not any more what was asked about.
    DefinitionChanged,
    /// The tool's server is gone or was disabled.
    ServerGone,
    /// The seat was stopped.
    SeatStopped,
    /// The program is ending.
    Shutdown,
}

impl Withdrawal {
    /// The words of screen and audit.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CallerGone => "caller gone",
            Self::Cancelled => "cancelled",
            Self::DefinitionChanged => "definition changed",
            Self::ServerGone => "server gone",
            Self::SeatStopped => "seat stopped",
            Self::Shutdown => "shutdown",
        }
    }
}

/// A result for people.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ResultView {
    /// The whole text, sanitised for drawing line by line, redacted, not cut.
    pub text: Arc<str>,
    /// The tool reported an error of its own.
    pub is_error: bool,
    /// Secrets were replaced in it.
    pub redacted: bool,
}
