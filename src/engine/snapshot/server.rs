//! Connections as screens and commands see them.

use std::sync::Arc;
use std::time::Duration;

use crate::clock::Timestamp;
use crate::engine::ring::Ring;
use crate::engine::status::{ConnectionStatus, Failure, PeerFacts};
use crate::ids::{ConnectionName, SeatHandle, ServerName};

/// One connection.
#[derive(Clone, Debug)]
pub struct ServerView {
    /// The connection.
    pub connection: ConnectionName,
    /// Its server.
    pub server: ServerName,
    /// The seat whose own it is; `None`: all agent seats share it.
    pub seat: Option<SeatHandle>,
    /// Its state.
    pub status: ConnectionStatus,
    /// How it is reached.
    pub transport: TransportFacts,
    /// What the other side said about itself, once it did.
    pub peer: Option<PeerFacts>,
    /// Tools by class, in the order of [`crate::tool::EffectClass::ALL`].
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
    pub last_failure: Option<(Timestamp, Failure)>,
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
