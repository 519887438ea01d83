//! What is true: the one immutable picture of the engine that screens and commands read.
//!
//! Published by [`super::core`] on a `watch` channel, at most every 33 ms and only when something changed.
//! Every text in it has passed the sanitiser and the redactor.

use std::sync::Arc;
use std::time::Duration;

use super::ring::Ring;
use super::status::{ConnectionStatus, PeerFacts};
use crate::clock::Timestamp;
use crate::config::model::PolicyDecision;
use crate::ids::{ApprovalId, CallId, ConnectionName, SeatHandle, ServerName};
use crate::tool::{Arguments, Catalog, EffectClass, Entry, Flag};

/// The engine at one moment.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Counts up with each publication.
    pub revision: u64,
    /// The company's name.
    pub company: Arc<str>,
    /// The configuration file as shown to people.
    pub config_file: Arc<str>,
    /// True under `--read-only`: nobody may decide, call, restart or change anything.
    pub read_only: bool,
    /// Connections in the order of the configuration.
    pub servers: Vec<Arc<ServerView>>,
    /// The tools of all connections that have been listed.
    pub catalog: Arc<Catalog>,
    /// Questions waiting for a person, oldest first.
    pub approvals: Vec<Arc<ApprovalView>>,
    /// Calls, oldest first.
    pub calls: Vec<Arc<CallView>>,
    /// Our own diagnostics.
    pub log: Ring<LogRecord>,
    /// Log records that were dropped because the program could not keep up.
    pub log_dropped: u64,
    /// Things a person should be told, oldest first, newest at most 64.
    pub notices: Vec<Notice>,
    /// Whether the audit can be written.
    pub audit: AuditHealth,
    /// Address of the HTTP surfaces, when they are on.
    pub listener: Option<Arc<str>>,
    /// True once the engine is going down.
    pub stopping: bool,
}

/// One connection.
#[derive(Clone, Debug)]
pub struct ServerView {
    /// The connection.
    pub connection: ConnectionName,
    /// Its server.
    pub server: ServerName,
    /// Its state.
    pub status: ConnectionStatus,
    /// How it is reached.
    pub transport: TransportFacts,
    /// What the other side said about itself, once it did.
    pub peer: Option<PeerFacts>,
    /// Tools by class, in the order of [`EffectClass::ALL`].
    pub tools_by_class: [usize; 4],
    /// Listed things that are not usable.
    pub rejected: usize,
    /// Why its tool list was cut, when it was.
    pub list_cut: Option<Arc<str>>,
    /// Times it was started again after its first start.
    pub restarts: u32,
    /// Calls sent to it.
    pub calls: u64,
    /// Median latency of its last 64 finished calls.
    pub p50: Option<Duration>,
    /// The last failure, kept after a recovery.
    pub last_failure: Option<(Timestamp, super::status::Failure)>,
    /// Credentials by name, never by value.
    pub credentials: Vec<CredentialView>,
    /// Lines of stderr and marks of the engine between them.
    pub stderr: Ring<StderrLine>,
    /// Lines of stderr that were dropped because the program could not keep up.
    pub stderr_dropped: u64,
    /// Lines on stdout that were no protocol.
    pub noise: u64,
    /// The declared limits: start, request.
    pub limits: (Duration, Duration),
}

impl ServerView {
    /// Usable tools.
    pub fn tools(&self) -> usize {
        self.tools_by_class.iter().sum()
    }
}

/// How a server is reached, for people: no secrets, no resolved references.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TransportFacts {
    /// A child process: the command line as configured.
    Stdio {
        /// Command and arguments.
        command: Arc<str>,
    },
    /// An HTTP endpoint: the URL as configured, without user info and query.
    Http {
        /// Host and path.
        url: Arc<str>,
    },
    /// Something a test brings.
    Other,
}

/// A configured credential, by name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CredentialView {
    /// The variable or header it fills: `JIRA_API_TOKEN`, `Authorization`.
    pub field: Arc<str>,
    /// The references it takes its value from; empty when the configuration holds a literal.
    pub variables: Vec<Arc<str>>,
    /// Whether all of them have a value.
    pub set: bool,
}

/// One line in a server's stderr pane.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StderrLine {
    /// When it was read.
    pub at: Timestamp,
    /// What it is.
    pub kind: LineKind,
    /// Its text, sanitised and redacted, without a newline.
    pub text: Arc<str>,
}

/// Kinds of lines in a stderr pane.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LineKind {
    /// A line of the child's stderr.
    Stderr,
    /// A line on the child's stdout that is no protocol.
    Noise,
    /// Something the engine says: started, exited, restarted, lines dropped.
    Mark,
}

/// One record of our own diagnostics.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogRecord {
    /// When.
    pub at: Timestamp,
    /// Its level.
    pub level: LogLevel,
    /// The event's name: `server_stderr_tail`.
    pub event: Arc<str>,
    /// The server it is about, where there is one.
    pub server: Option<Arc<str>>,
    /// The other fields as `key=value`, sanitised and redacted, on one line.
    pub text: Arc<str>,
}

/// Levels of our own diagnostics.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LogLevel {
    /// Only with `--debug`.
    Debug,
    /// In the normal course of things.
    Info,
    /// Something to look at.
    Warn,
    /// Something failed.
    Error,
}

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
}

impl Caller {
    /// `console` or `seat`: the audit's word.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Console => "console",
            Self::Seat { .. } => "seat",
        }
    }

    /// The seat, where there is one.
    pub const fn seat(&self) -> Option<&SeatHandle> {
        match self {
            Self::Console => None,
            Self::Seat { seat, .. } => Some(seat),
        }
    }
}

/// A question that waits for a person.
#[derive(Clone, Debug)]
pub struct ApprovalView {
    /// The question.
    pub id: ApprovalId,
    /// The call it is about.
    pub call: CallId,
    /// Who asks.
    pub caller: Caller,
    /// The tool as it was when the question was asked.
    pub entry: Arc<Entry>,
    /// Exactly what would be sent.
    pub arguments: Arguments,
    /// True when the engine put `confirm: true` in: "set by your approval".
    pub confirm_set: bool,
    /// How the person has to say yes.
    pub tier: Tier,
    /// The rule or default that asks: `class destructive -> ask (config.yaml:41)`.
    pub policy_by: Arc<str>,
    /// When it was asked.
    pub asked_at: Timestamp,
    /// When it expires.
    pub expires_at: Timestamp,
    /// The credentials the call would use.
    pub credentials: Vec<CredentialView>,
    /// What happened before.
    pub history: History,
}

/// How a person says yes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Tier {
    /// One key: a write.
    Press,
    /// One key arms, a second one commits: destructive and unknown.
    Arm,
    /// The tool's name is typed.
    Type,
}

/// Earlier calls of the same tool by anybody, in this run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct History {
    /// Calls a person approved.
    pub approved: u32,
    /// Calls a person denied.
    pub denied: u32,
    /// The reason of the last denial, where one was given.
    pub last_denial: Option<Arc<str>>,
    /// How often exactly these arguments were decided before, and how the last one ended.
    pub same_arguments: Option<(u32, Arc<str>)>,
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
    /// The name on the wire, where it resolved.
    pub raw_name: Option<Arc<str>>,
    /// The class at the time of the call, where it resolved.
    pub class: Option<EffectClass>,
    /// The flags at the time of the call.
    pub flags: Vec<Flag>,
    /// The arguments.
    pub arguments: Option<Arguments>,
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

/// Something a person should be told once.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Notice {
    /// Counts up over the run.
    pub sequence: u64,
    /// When.
    pub at: Timestamp,
    /// How loud.
    pub level: LogLevel,
    /// One line.
    pub text: Arc<str>,
}

/// Whether the audit can be written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AuditHealth {
    /// It can.
    Good,
    /// It cannot: every call that is not a proven read is refused.
    Broken {
        /// Why.
        reason: Arc<str>,
    },
}
