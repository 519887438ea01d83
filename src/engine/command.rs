//! What the person means: the commands that a screen hands to the engine. The engine answers through the snapshot.

use crate::ids::{ApprovalId, CallId, ConnectionName};
use crate::tool::{Arguments, Digest, Fingerprint};
use std::sync::Arc;

/// One command.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Command {
    /// Stop the connection, whatever its state, and start it anew with a fresh budget of attempts.
    Restart(ConnectionName),
    /// Stop the connection and keep it down until it is enabled or the program ends.
    Disable(ConnectionName),
    /// Start a disabled connection.
    Enable(ConnectionName),
    /// Decide a question. Bound to what was on the screen: it does nothing when anything differs.
    Decide {
        /// The question.
        approval: ApprovalId,
        /// The arguments that were shown.
        arguments: Digest,
        /// The definition that was shown.
        fingerprint: Fingerprint,
        /// The person's word.
        verdict: Verdict,
    },
    /// A call by the person at the screen. It passes the gate like everybody's.
    Call {
        /// Chosen by the screen, so that it can follow the call.
        call: CallId,
        /// The catalogue name.
        tool: Arc<str>,
        /// The arguments.
        arguments: Arguments,
    },
    /// Give up a call of the person's own.
    Cancel(CallId),
    /// End in order.
    Shutdown,
}

/// The person's word on a question.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Run it, once, as shown.
    Approve,
    /// Do not run it.
    Deny {
        /// For the agent; may be empty.
        reason: String,
    },
}
