//! The way of a question from a connection or a call to the core, and of its answer back.
//!
//! Whoever hands one in holds both ends that matter to it: where the answer comes, and how to withdraw it. Letting go of
//! the latter withdraws it too.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use super::{Answer, Why};
use crate::ids::{CallId, ConnectionName, FormId, ServerName};
use crate::tool::elicit::Form;

/// Questions on their way to the core.
const QUEUE: usize = 32;

/// Where questions are handed in. There is one only where a person is there to answer. Clones are the same.
#[derive(Clone, Debug)]
pub struct Inbox {
    core: mpsc::Sender<Asking>,
    next: Arc<AtomicU64>,
}

/// Whose question it is.
#[derive(Clone, Debug)]
pub(in crate::engine) struct Origin {
    pub(in crate::engine) connection: ConnectionName,
    pub(in crate::engine) server: ServerName,
    /// The calls that it may belong to: one where that is known, several where it is one of them.
    pub(in crate::engine) during: Vec<CallId>,
}

/// What reaches the core.
#[derive(Debug)]
pub(in crate::engine) enum Asking {
    /// A question.
    Ask(Box<Asked>),
    /// A question that waits goes away.
    Withdraw(FormId, Why),
    /// A question that nobody will be asked.
    Refused(Box<Refused>),
    /// Something that the person should know about an answer of theirs.
    Tell(Arc<str>),
}

/// A question on its way to the screen.
#[derive(Debug)]
pub(in crate::engine) struct Asked {
    pub(in crate::engine) id: FormId,
    pub(in crate::engine) origin: Origin,
    pub(in crate::engine) form: Form,
    /// How long its call lives at most, where that is known.
    pub(in crate::engine) patience: Option<Duration>,
    pub(in crate::engine) reply: oneshot::Sender<Answer>,
    pub(in crate::engine) withdrawn: oneshot::Receiver<Why>,
}

/// A question that nobody is asked.
#[derive(Debug)]
pub(in crate::engine) struct Refused {
    pub(in crate::engine) origin: Origin,
    pub(in crate::engine) reason: Arc<str>,
}

/// A question that was handed in.
#[derive(Debug)]
pub(in crate::engine) struct Put {
    pub(in crate::engine) id: FormId,
    /// Its one answer; an error when the engine is gone.
    pub(in crate::engine) answer: oneshot::Receiver<Answer>,
    /// Withdraws it, with the reason or by being dropped.
    pub(in crate::engine) withdraw: oneshot::Sender<Why>,
}

impl Inbox {
    /// An inbox, and what comes out of it.
    pub(in crate::engine) fn new() -> (Self, mpsc::Receiver<Asking>) {
        let (core, asking) = mpsc::channel(QUEUE);
        (Self { core, next: Arc::new(AtomicU64::new(1)) }, asking)
    }

    /// Hands a question in. `None` when the engine is too busy to take it, or gone.
    pub(in crate::engine) fn put(&self, origin: Origin, form: Form, patience: Option<Duration>) -> Option<Put> {
        let id = FormId(self.next.fetch_add(1, Ordering::Relaxed));
        let (reply, answer) = oneshot::channel();
        let (withdraw, withdrawn) = oneshot::channel();
        let asked = Asked { id, origin, form, patience, reply, withdrawn };
        self.core.try_send(Asking::Ask(Box::new(asked))).ok()?;
        Some(Put { id, answer, withdraw })
    }

    /// Tells of a question that nobody will be asked, for the audit. A flood of them is counted there; what does not even
    /// get that far stands in the log.
    pub(in crate::engine) fn refused(&self, origin: Origin, reason: &str) {
        tracing::debug!(server = %origin.connection, reason, "elicitation_declined");
        let refused = Refused { origin, reason: reason.into() };
        if self.core.try_send(Asking::Refused(Box::new(refused))).is_err() {
            tracing::debug!("elicitation_uncounted");
        }
    }

    /// Tells the person about an answer of theirs.
    pub(super) async fn tell(&self, words: String) {
        // The core is gone only when everything ends.
        let _ = self.core.send(Asking::Tell(words.into())).await;
    }

    /// Tells the core that a question goes away.
    pub(super) async fn withdraw(&self, id: FormId, why: Why) {
        // The core is gone only when everything ends.
        let _ = self.core.send(Asking::Withdraw(id, why)).await;
    }
}
