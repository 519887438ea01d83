//! What the person means: the commands that a screen hands to the engine. The engine answers through the snapshot.

use std::sync::Arc;
use std::time::Duration;

use crate::ids::{ApprovalId, CallId, ConnectionName, FormId, GrantId, SeatHandle, WorkerId};
use crate::tool::elicit::Entered;
use crate::tool::{Arguments, Digest, Fingerprint};

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
    Decide(Shown, Verdict),
    /// Decide several questions at once, each bound to what was on the screen. An approval is refused whole when they
    /// are not about one tool of one server, or when one of them has to be typed; a denial may be about any.
    DecideAll(Vec<Shown>, Verdict),
    /// Answer a server's question. What the form says never changes while it waits, so its number says what was shown.
    AnswerForm(FormId, FormAnswer),
    /// Take a remembered decision back.
    Revoke(GrantId),
    /// Deny what waits of a seat and refuse its calls until it is released.
    StopSeat(SeatHandle),
    /// Let a stopped seat call again.
    ReleaseSeat(SeatHandle),
    /// Make a worker, a sub-agent under a seat. Its token is then asked for by [`super::workers::Workers::claim`].
    MintWorker(WorkerOrder),
    /// End a worker.
    EndWorker(WorkerId),
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
    /// Write something to a file in the state folder's `exports`; a notice names it.
    Export(Export),
    /// End in order.
    Shutdown,
}

/// What the person wants of a new worker.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WorkerOrder {
    /// Chosen by the screen, so that it can follow the worker.
    pub worker: WorkerId,
    /// The seat that it works under.
    pub seat: SeatHandle,
    /// What it is for; may be empty.
    pub task: String,
    /// The tools that it should get, by catalogue name, exposed name or `connection/raw_name`.
    pub tools: Vec<Arc<str>>,
    /// How long it has.
    pub minutes: u16,
}

/// A question as it was on the screen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shown {
    /// The question.
    pub approval: ApprovalId,
    /// The arguments that were shown.
    pub arguments: Digest,
    /// The definition that was shown.
    pub fingerprint: Fingerprint,
}

/// The person's word on a question.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Run it, once, as shown.
    Approve,
    /// Run it, once, as shown, and remember the decision.
    ApproveAndRemember(Remember),
    /// Run it, once, with these arguments instead. The caller is told.
    ApproveEdited(Arguments),
    /// Do not run it.
    Deny {
        /// For the agent; may be empty.
        reason: String,
    },
}

/// The person's word on a server's question.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FormAnswer {
    /// What was filled in, field by field.
    Accept(Vec<Entered>),
    /// No.
    Decline,
    /// Neither: the server may ask again.
    Cancel,
}

/// What is remembered of a decision, and for how long. Always for one seat (or the person's own calls).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Remember {
    /// What is covered.
    pub scope: GrantScope,
    /// For how long; `None`: until the program ends.
    pub span: Option<Duration>,
}

/// What a remembered decision covers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum GrantScope {
    /// Calls of this tool with exactly these arguments.
    ThisCall,
    /// Calls of this tool.
    ThisTool,
}

/// What can be written to a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Export {
    /// The kept stderr lines of a connection.
    Stderr(ConnectionName),
    /// The kept records of our own diagnostics.
    Log,
    /// Everything that helps to find a fault, redacted.
    Diagnostics,
}
