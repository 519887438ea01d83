//! The desk: questions that wait for a person. Each ends exactly once, and its one end goes to the waiting call.
//!
//! Owned by the engine's core task, which feeds it commands, deadlines and changes of the catalog. A decision
//! counts only for exactly what was on the screen: the question's id, its arguments and its definition.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::Instant;

use super::permit::Permit;
use crate::clock::Timestamp;
use crate::engine::command::{Shown, Verdict};
use crate::engine::snapshot::{ApprovalView, CredentialView, History, Tier, Withdrawal};
use crate::ids::{ApprovalId, CallId};
use crate::tool::{Arguments, Catalog, Entry, ShownArguments};

/// How a question ended.
#[derive(Debug)]
pub enum Ending {
    /// A person said yes to exactly this.
    Approved(Permit),
    /// A person said no.
    Denied {
        /// For the agent; may be empty.
        reason: Arc<str>,
    },
    /// Nobody decided in time.
    Expired,
    /// It went away.
    Withdrawn(Withdrawal),
}

/// A question as the pipeline puts it.
#[derive(Debug)]
pub struct Question {
    /// The call.
    pub call: CallId,
    /// Who asks.
    pub caller: crate::engine::snapshot::Caller,
    /// The tool as it is now.
    pub entry: Arc<Entry>,
    /// Exactly what would be sent.
    pub arguments: Arguments,
    /// True when the engine put `confirm: true` in.
    pub confirm_set: bool,
    /// How the person says yes.
    pub tier: Tier,
    /// What made the policy ask.
    pub policy_by: Arc<str>,
    /// How long it waits.
    pub wait: Duration,
    /// Where its one end goes.
    pub end: oneshot::Sender<Ending>,
}

/// What the core knows around a question.
#[derive(Debug, Default)]
pub struct Surroundings {
    /// The credentials the call would use.
    pub credentials: Vec<CredentialView>,
    /// What happened before.
    pub history: History,
}

/// What became of a person's word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decided {
    /// It ended the question.
    Done,
    /// The question had already ended.
    TooLate,
    /// What was shown is not what waits; nothing happened.
    Differs,
}

struct Pending {
    view: Arc<ApprovalView>,
    arguments: Arguments,
    expires: Instant,
    end: oneshot::Sender<Ending>,
}

/// See the module.
#[derive(Default)]
pub struct Desk {
    pending: BTreeMap<ApprovalId, Pending>,
    next: u64,
}

impl Desk {
    /// Takes a question; its end goes to `question.end`. `shown` are the arguments as they may be drawn.
    pub fn ask(
        &mut self,
        question: Question,
        around: Surroundings,
        shown: ShownArguments,
        now: Timestamp,
    ) -> ApprovalId {
        self.next += 1;
        let id = ApprovalId(self.next);
        let view = Arc::new(ApprovalView {
            id,
            call: question.call,
            caller: question.caller,
            entry: question.entry,
            arguments: shown,
            confirm_set: question.confirm_set,
            tier: question.tier,
            policy_by: question.policy_by,
            asked_at: now,
            expires_at: now.plus(question.wait),
            credentials: around.credentials,
            history: around.history,
            change: None,
            repeat: None,
        });
        let expires = Instant::now() + question.wait;
        self.pending.insert(id, Pending { view, arguments: question.arguments, expires, end: question.end });
        id
    }

    /// A person's word on what they saw.
    pub fn decide(&mut self, shown: Shown, verdict: Verdict) -> Decided {
        let id = shown.approval;
        let Some(pending) = self.pending.get(&id) else { return Decided::TooLate };
        if pending.arguments.digest() != shown.arguments || pending.view.entry.fingerprint != shown.fingerprint {
            return Decided::Differs;
        }
        let permit = || Permit::new(pending.view.call.clone(), &pending.view.entry, &pending.arguments);
        let ending = match verdict {
            Verdict::Approve => Ending::Approved(permit()),
            Verdict::ApproveAndRemember(_) | Verdict::ApproveEdited(_) => return Decided::Differs,
            Verdict::Deny { reason } => Ending::Denied { reason: reason.into() },
        };
        self.end(id, ending);
        Decided::Done
    }

    /// Ends every question that has waited its time.
    pub fn expire(&mut self, now: Instant) -> bool {
        let due: Vec<ApprovalId> = self.pending.iter().filter(|(_, p)| p.expires <= now).map(|(id, _)| *id).collect();
        for id in &due {
            self.end(*id, Ending::Expired);
        }
        !due.is_empty()
    }

    /// When the next question expires.
    pub fn next_expiry(&self) -> Option<Instant> {
        self.pending.values().map(|pending| pending.expires).min()
    }

    /// Withdraws the questions of one call.
    pub fn withdraw_call(&mut self, call: &CallId, why: Withdrawal) {
        self.withdraw_where(|view| (view.call == *call).then_some(why));
    }

    /// Withdraws every question whose tool is gone from the catalog or is not what was asked about.
    pub fn follow(&mut self, catalog: &Catalog) {
        self.withdraw_where(|view| match catalog.again(&view.entry) {
            None => Some(Withdrawal::ServerGone),
            Some(now) if now.fingerprint != view.entry.fingerprint => Some(Withdrawal::DefinitionChanged),
            Some(_) => None,
        });
    }

    /// Withdraws every question for which `why` gives a reason.
    pub fn withdraw_where(&mut self, why: impl Fn(&ApprovalView) -> Option<Withdrawal>) {
        let gone: Vec<(ApprovalId, Withdrawal)> =
            self.pending.iter().filter_map(|(id, pending)| Some((*id, why(&pending.view)?))).collect();
        for (id, why) in gone {
            self.end(id, Ending::Withdrawn(why));
        }
    }

    /// The questions, oldest first.
    pub fn views(&self) -> Vec<Arc<ApprovalView>> {
        self.pending.values().map(|pending| pending.view.clone()).collect()
    }

    fn end(&mut self, id: ApprovalId, ending: Ending) {
        if let Some(pending) = self.pending.remove(&id) {
            // The call task is gone only when the engine itself is: nobody is left to hear of it.
            let _ = pending.end.send(ending);
        }
    }
}

impl std::fmt::Debug for Desk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Desk({} waiting)", self.pending.len())
    }
}
