//! One record of the audit: what happened to a call, by whom and on what grounds.

use std::sync::Arc;
use std::time::Duration;

use crate::clock::Timestamp;
use crate::engine::snapshot::Caller;
use crate::ids::{CallId, ConnectionName, ServerName};
use crate::tool::annotations::HintSource;
use crate::tool::{Digest, EffectClass, Flag, Hint, HintName};

/// A record before the writer numbers and chains it. Absent fields are left out of the line.
#[derive(Clone, PartialEq, Debug)]
pub struct Record {
    /// When it happened.
    pub at: Timestamp,
    /// What happened.
    pub kind: Kind,
    /// The call.
    pub call: Option<CallId>,
    /// Who asked.
    pub caller: Option<Caller>,
    /// The server, where the name resolved.
    pub server: Option<ServerName>,
    /// The connection, where the name resolved. Written where it is a seat's own, and so not the server's name.
    pub connection: Option<ConnectionName>,
    /// The raw tool name, where the name resolved.
    pub tool: Option<Arc<str>>,
    /// The catalogue name, or the name asked for.
    pub name: Option<Arc<str>>,
    /// The effect class at that time.
    pub class: Option<EffectClass>,
    /// Flags at that time.
    pub flags: Vec<Flag>,
    /// Effective hints with their sources, for `received`.
    pub hints: Vec<(HintName, Hint, HintSource)>,
    /// SHA-256 of the canonical arguments.
    pub args_sha256: Option<Digest>,
    /// The canonical arguments, redacted, for `received`, and for `decided` where a person changed them.
    pub args: Option<Arc<str>>,
    /// Policy decision and what made it.
    pub policy: Option<(&'static str, Arc<str>)>,
    /// For `decided`.
    pub decision: Option<Decision>,
    /// Who decided: `person:root`, `shell:root`, `policy`.
    pub decider: Option<Arc<str>>,
    /// A reason in words.
    pub reason: Option<Arc<str>>,
    /// For `finished`.
    pub outcome: Option<Outcome>,
    /// For `decided` and `finished`: time since received.
    pub elapsed: Option<Duration>,
    /// For `finished`, where the tool is the program's own.
    pub own: Own,
}

/// What a call of one of the program's own tools came to in the company's rows.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Own {
    /// The seat that an operator's token works.
    pub actor_seat: Option<Arc<str>>,
    /// The position that the store was at with the change.
    pub position: Option<i64>,
    /// The class of a refusal.
    pub refusal: Option<Arc<str>>,
}

impl Record {
    /// A record that says nothing but what happened and when.
    pub const fn new(at: Timestamp, kind: Kind) -> Self {
        Self {
            at,
            kind,
            call: None,
            caller: None,
            server: None,
            connection: None,
            tool: None,
            name: None,
            class: None,
            flags: Vec::new(),
            hints: Vec::new(),
            args_sha256: None,
            args: None,
            policy: None,
            decision: None,
            decider: None,
            reason: None,
            outcome: None,
            elapsed: None,
            own: Own { actor_seat: None, position: None, refusal: None },
        }
    }
}

/// What a record is about.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// A call came in and its name resolved.
    Received,
    /// A person was asked.
    Asked,
    /// The question ended.
    Decided,
    /// It is about to be sent.
    Dispatched,
    /// It ended after it was sent.
    Finished,
    /// It ended without being asked or sent.
    Refused,
    /// A server asked the person something.
    Elicited,
    /// A server's question ended: what was done, by the names of the fields.
    Answered,
    /// The trail itself was mended at a start.
    Repaired,
}

impl Kind {
    /// The word in the file.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Received => "received",
            Self::Asked => "asked",
            Self::Decided => "decided",
            Self::Dispatched => "dispatched",
            Self::Finished => "finished",
            Self::Refused => "refused",
            Self::Elicited => "elicited",
            Self::Answered => "answered",
            Self::Repaired => "repaired",
        }
    }
}

/// How a question ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Decision {
    /// Yes.
    Approved,
    /// No.
    Denied,
    /// Nobody decided in time.
    Expired,
    /// The question went away; the record's reason says why.
    Withdrawn,
}

impl Decision {
    /// The word in the file.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::Denied => "denied",
            Self::Expired => "expired",
            Self::Withdrawn => "withdrawn",
        }
    }
}

/// How a dispatched call ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Outcome {
    /// Answered with a result, be it the tool's own error.
    Done,
    /// Not sent after all, or answered with a protocol error, or its result was refused.
    Failed,
    /// Sent, and the answer was lost.
    Unknown,
}

impl Outcome {
    /// The word in the file.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
        }
    }
}
