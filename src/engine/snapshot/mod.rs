//! What is true: the one immutable picture of the engine that screens and commands read.
//!
//! Published by [`super::core`] on a `watch` channel, at most every 33 ms and only when something changed.
//! Every text in it has passed the sanitiser and the redactor.

mod approval;
mod call;
mod chart;
mod form;
mod question;
mod server;
mod session;
mod worker;

use std::collections::HashMap;
use std::sync::Arc;

pub use approval::{ApprovalView, DefinitionChange, DiffLine, GrantView, History, Known, Repeat, StoppedSeat, Tier};
pub use call::{CallPhase, CallView, Caller, ResultView, Withdrawal};
pub use chart::{Chart, ChartNode, ChartRow, SeatView, UnitView};
pub use form::{FormCall, FormView};
pub use question::{AnswerView, Board, MOST_ANSWER, QuestionKind, QuestionView};
pub use server::{CredentialView, LineKind, ServerView, StderrLine, TransportFacts};
pub use session::SessionView;
pub use worker::WorkerView;

use super::ring::Ring;
use crate::clock::Timestamp;
use crate::engine::gate::PolicyAnswer;
use crate::ids::{ConnectionName, SeatHandle};
use crate::tool::{Catalog, ToolKey};

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
    /// The seats that agents drive, in the order of the configuration.
    pub seats: Vec<SeatHandle>,
    /// The company's chart, of the configuration that counts now.
    pub chart: Arc<Chart>,
    /// Connections in the order of the configuration.
    pub servers: Vec<Arc<ServerView>>,
    /// The tools of all connections that have been listed.
    pub catalog: Arc<Catalog>,
    /// Questions waiting for a person, oldest first.
    pub approvals: Vec<Arc<ApprovalView>>,
    /// Servers' questions waiting for a person, oldest first.
    pub forms: Vec<Arc<FormView>>,
    /// What stands in the seats' inboxes, newest first.
    pub questions: Board,
    /// Remembered decisions, oldest first.
    pub grants: Vec<Arc<GrantView>>,
    /// Seats that a person stopped.
    pub stopped_seats: Vec<StoppedSeat>,
    /// What the policy says about each tool: of a seat's own for that seat, of the others when no seat is named.
    pub policies: Arc<HashMap<ToolKey, PolicyAnswer>>,
    /// What changed in the tool lists, newest last, at most 64.
    pub tool_changes: Vec<Arc<ToolChange>>,
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
    /// Why there is no listener although one was asked for.
    pub listener_problem: Option<Arc<str>>,
    /// Why the configuration as it was saved last is not the one that counts, until one is that can be used.
    pub config_problem: Option<Arc<str>>,
    /// Agents that use the surfaces, oldest first.
    pub sessions: Vec<Arc<SessionView>>,
    /// Workers under seats that may still come in, oldest first.
    pub workers: Vec<Arc<WorkerView>>,
    /// True once the engine is going down.
    pub stopping: bool,
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

/// A change that a server made to its tools while it was connected, or between two connections.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ToolChange {
    /// When it was noticed.
    pub at: Timestamp,
    /// The connection.
    pub connection: ConnectionName,
    /// The tool's catalogue name.
    pub tool: Arc<str>,
    /// What happened to it.
    pub kind: ToolChangeKind,
}

/// Kinds of changes to a tool.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ToolChangeKind {
    /// It is new.
    Added,
    /// It is gone.
    Removed,
    /// Its definition changed: the lines of both, sanitised.
    Changed(Vec<DiffLine>),
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
