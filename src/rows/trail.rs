//! Invocations of the scoped connector as a screen gets them.

use std::sync::Arc;

use crate::clock::Timestamp;

/// One invocation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Record {
    /// When, by the second.
    pub at: Timestamp,
    /// What was asked for.
    pub tool: Arc<str>,
    /// `success`, `denied`, `error`.
    pub outcome: Arc<str>,
    /// Why not; empty where it ran.
    pub reason: Arc<str>,
    /// The scopes of the token, with blanks between.
    pub scopes: Arc<str>,
}
