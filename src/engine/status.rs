//! What can be said about a connection: its status machine's states and the reasons for failing.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::clock::Timestamp;

/// The state of a connection.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ConnectionStatus {
    /// Being spawned, connected, or listed for the first time.
    Starting {
        /// When this attempt began.
        since: Timestamp,
    },
    /// Handshake done and tools listed.
    Ready {
        /// Since when.
        since: Timestamp,
    },
    /// Waiting before another attempt.
    Backoff {
        /// When the next attempt is due.
        until: Timestamp,
        /// The number of failed attempts in a row, from 1.
        attempt: u32,
        /// Why the last one failed or the ready connection ended.
        reason: Failure,
    },
    /// Going down on the shutdown ladder.
    Stopping,
    /// Down, in order.
    Stopped,
    /// Not started, on purpose.
    Disabled,
    /// Down, and nothing tries again by itself.
    Failed {
        /// Why.
        reason: Failure,
    },
}

impl ConnectionStatus {
    /// One word: `starting`, `ready`, `backoff`, `stopping`, `stopped`, `disabled`, `failed`.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Starting { .. } => "starting",
            Self::Ready { .. } => "ready",
            Self::Backoff { .. } => "backoff",
            Self::Stopping => "stopping",
            Self::Stopped => "stopped",
            Self::Disabled => "disabled",
            Self::Failed { .. } => "failed",
        }
    }

    /// True when calls can be sent.
    pub const fn is_ready(&self) -> bool {
        matches!(self, Self::Ready { .. })
    }

    /// The failure behind `Backoff` and `Failed`.
    pub const fn failure(&self) -> Option<&Failure> {
        match self {
            Self::Backoff { reason, .. } | Self::Failed { reason } => Some(reason),
            _ => None,
        }
    }
}

/// Why a start failed or a connection ended. All texts are sanitised and redacted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// What kind of failure it is.
    pub kind: FailureKind,
    /// One line that names the thing and the reason: `exit 1 after 0.8 s: No module named mcp`.
    pub headline: Arc<str>,
    /// What to do next, where that can be said: `set JIRA_TOKEN and press r`.
    pub next_step: Option<Arc<str>>,
    /// The last lines of stderr, oldest first, at most 50.
    pub tail: Arc<[Arc<str>]>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.headline)
    }
}

/// The kinds of failure that the screen and `check` tell apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FailureKind {
    /// A `${VAR}` has no value.
    Config,
    /// The executable could not be started.
    Spawn,
    /// The process ended.
    Exited,
    /// No answer in time.
    TimedOut,
    /// The handshake was answered with something unusable.
    Handshake,
    /// Connected, but listing tools failed.
    Listing,
    /// No common protocol version.
    Version,
    /// The other side wants other credentials.
    Unauthorized,
    /// The endpoint could not be reached or broke off.
    Transport,
    /// A message over the size limit.
    TooLarge,
    /// Our own task panicked.
    Internal,
}

/// The protocol era that a connection settled on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Era {
    /// `server/discover`, stateless (2026-07-28 and later).
    Modern,
    /// `initialize`, sessions (2025-11-25 and earlier).
    Legacy,
}

impl Era {
    /// `modern` or `legacy`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Modern => "modern",
            Self::Legacy => "legacy",
        }
    }
}

/// What a server offers beside tools.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Offer {
    /// Resources, and templates of their URIs.
    Resources,
    /// Prompts.
    Prompts,
}

impl Offer {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Resources, Self::Prompts];

    /// `resources` or `prompts`: the capability's name, too.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Resources => "resources",
            Self::Prompts => "prompts",
        }
    }
}

/// What a server says that it offers beside tools.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Offers {
    /// [`Offer::Resources`].
    pub resources: bool,
    /// [`Offer::Prompts`].
    pub prompts: bool,
}

impl Offers {
    /// Whether it offers this.
    pub const fn has(self, offer: Offer) -> bool {
        match offer {
            Offer::Resources => self.resources,
            Offer::Prompts => self.prompts,
        }
    }
}

/// What the other side said about itself in the handshake. Texts are sanitised and bounded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PeerFacts {
    /// The era.
    pub era: Era,
    /// The negotiated revision: `2025-11-25`.
    pub protocol_version: Arc<str>,
    /// Its name, where it gives one.
    pub name: Option<Arc<str>>,
    /// Its version, where it gives one.
    pub version: Option<Arc<str>>,
    /// What it says that it offers beside tools.
    pub offers: Offers,
    /// Process id of the child, for stdio.
    pub pid: Option<u32>,
    /// How long the handshake took, from spawn or connect to the answer.
    pub took: Duration,
}
