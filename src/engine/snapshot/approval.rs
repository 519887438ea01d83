//! Questions that wait for a person, as the card shows them.

use std::sync::Arc;

use super::{Caller, CredentialView};
use crate::clock::Timestamp;
use crate::engine::command::{GrantScope, Shown};
use crate::ids::{ApprovalId, CallId, ConnectionName, GrantId, SeatHandle, ServerName};
use crate::tool::{Entry, ShownArguments};

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
    /// What would be sent, under its digest; only values known to be secret are replaced.
    pub arguments: ShownArguments,
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
    /// How the definition differs from the one last approved, when it does.
    pub change: Option<Arc<DefinitionChange>>,
    /// An earlier call that this one seems to repeat, when there is one.
    pub repeat: Option<Repeat>,
}

/// How a tool's definition differs from an earlier one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DefinitionChange {
    /// When the earlier one was last approved, or first seen.
    pub since: Timestamp,
    /// Whether a person had approved the earlier one, or only seen it.
    pub approved: Known,
    /// The lines of both, in order, sanitised.
    pub lines: Vec<DiffLine>,
}

/// How well an earlier definition was known.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Known {
    /// A call of it was approved by a person.
    Approved,
    /// It was listed; nobody approved a call of it.
    Seen,
}

/// One line of a difference.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DiffLine {
    /// In both.
    Same(Arc<str>),
    /// Only in the earlier one.
    Removed(Arc<str>),
    /// Only in the present one.
    Added(Arc<str>),
}

/// An earlier call of the same seat, tool and arguments, not long ago, of a tool that is not idempotent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Repeat {
    /// The earlier call.
    pub call: CallId,
    /// When it was received.
    pub at: Timestamp,
    /// How it ended, or that it still runs: the phase's word.
    pub outcome: Arc<str>,
}

/// A remembered decision.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GrantView {
    /// The grant.
    pub id: GrantId,
    /// For whose calls; `None`: the person's own.
    pub seat: Option<SeatHandle>,
    /// The tool's server.
    pub server: ServerName,
    /// The connection whose tool it is.
    pub connection: ConnectionName,
    /// The tool's catalogue name.
    pub tool: Arc<str>,
    /// What is covered.
    pub scope: GrantScope,
    /// The arguments, when the grant is for exactly these.
    pub arguments: Option<ShownArguments>,
    /// When it was given.
    pub given_at: Timestamp,
    /// When it ends; `None`: with the program.
    pub expires_at: Option<Timestamp>,
    /// Calls that it let through.
    pub uses: u32,
    /// Why it does not count now: the definition changed.
    pub suspended: Option<Arc<str>>,
}

/// A seat that a person stopped.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoppedSeat {
    /// The seat.
    pub seat: SeatHandle,
    /// Since when.
    pub since: Timestamp,
    /// Calls refused since.
    pub refused: u32,
}

impl ApprovalView {
    /// What a decision on this question has to name.
    pub fn shown(&self) -> Shown {
        Shown { approval: self.id, arguments: self.arguments.digest(), fingerprint: self.entry.fingerprint }
    }
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
