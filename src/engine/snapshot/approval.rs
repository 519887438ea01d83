//! Questions that wait for a person, as the card shows them.

use std::sync::Arc;

use super::{Caller, CredentialView};
use crate::clock::Timestamp;
use crate::ids::{ApprovalId, CallId};
use crate::tool::{Arguments, Entry};

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
