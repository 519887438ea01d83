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
use crate::engine::snapshot::{ApprovalView, CredentialView, DefinitionChange, History, Repeat, Tier, Withdrawal};
use crate::ids::{ApprovalId, CallId};
use crate::tool::{Arguments, Catalog, Entry, ShownArguments};

/// How a question ended.
#[derive(Debug)]
pub enum Ending {
    /// A person said yes to exactly this.
    Approved(Approval),
    /// A person said no.
    Denied {
        /// For the agent; may be empty.
        reason: Arc<str>,
    },
    /// Nobody decided in time.
    Expired,
    /// It went away.
    Withdrawn(Withdrawal),
    /// The rules became stricter than what was asked: the call is judged anew.
    RulesChanged,
}

/// A person's yes.
#[derive(Debug)]
pub struct Approval {
    /// The question that it ended.
    pub question: ApprovalId,
    /// The proof, for the arguments that are to be sent.
    pub permit: Permit,
    /// The arguments, where the person changed them.
    pub edited: Option<Arguments>,
    /// What was remembered of it, for the audit.
    pub note: Option<Arc<str>>,
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
    /// How the definition differs from the one that was known.
    pub change: Option<Arc<DefinitionChange>>,
    /// The call that this one seems to repeat.
    pub repeat: Option<Repeat>,
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
    /// The verdict cannot be given like this; nothing happened. Why, for the person.
    Refused(&'static str),
}

struct Pending {
    view: Arc<ApprovalView>,
    /// What would be sent.
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
            change: around.change,
            repeat: around.repeat,
        });
        let expires = Instant::now() + question.wait;
        self.pending.insert(id, Pending { view, arguments: question.arguments, expires, end: question.end });
        id
    }

    /// The question, while it waits.
    pub fn view(&self, id: ApprovalId) -> Option<&Arc<ApprovalView>> {
        self.pending.get(&id).map(|pending| &pending.view)
    }

    /// A person's word on what they saw. `note` is what was remembered of a yes.
    pub fn decide(&mut self, shown: Shown, verdict: Verdict, note: Option<&Arc<str>>) -> Decided {
        let pending = match self.shown(shown) {
            Ok(pending) => pending,
            Err(decided) => return decided,
        };
        let approved = |arguments: &Arguments, edited: Option<Arguments>| {
            let permit = Permit::new(pending.view.call.clone(), &pending.view.entry, arguments);
            Ending::Approved(Approval { question: pending.view.id, permit, edited, note: note.cloned() })
        };
        let ending = match verdict {
            Verdict::ApproveAndRemember(_) if pending.view.tier == Tier::Type => {
                return Decided::Refused("a decision that has to be typed is never remembered");
            }
            Verdict::Approve | Verdict::ApproveAndRemember(_) => approved(&pending.arguments, None),
            Verdict::ApproveEdited(edited) => {
                // What the engine puts in after consent is put into the person's arguments as well.
                let edited = if pending.view.confirm_set { edited.with_confirm() } else { edited };
                let changed = (edited != pending.arguments).then(|| edited.clone());
                approved(&edited, changed)
            }
            Verdict::Deny { reason } => Ending::Denied { reason: reason.into() },
        };
        self.end(shown.approval, ending);
        Decided::Done
    }

    /// One word on several questions. An approval is for calls of one definition of one tool that need no typing, and
    /// is given to all of them or to none. A denial may be about any; those that have ended are passed over. The
    /// number of questions that it ended.
    ///
    /// # Errors
    /// Why nothing happened.
    pub fn decide_all(&mut self, all: &[Shown], verdict: &Verdict) -> Result<usize, Decided> {
        let mut waiting = Vec::new();
        for (index, shown) in all.iter().enumerate() {
            if all.iter().take(index).any(|earlier| earlier.approval == shown.approval) {
                return Err(Decided::Refused("one question was named twice"));
            }
            match (self.shown(*shown), verdict) {
                (Ok(pending), _) => waiting.push((*shown, pending.view.clone())),
                (Err(Decided::TooLate), Verdict::Deny { .. }) => {}
                (Err(decided), _) => return Err(decided),
            }
        }
        match verdict {
            Verdict::Deny { .. } => {}
            Verdict::Approve => {
                let first = waiting.first().map(|(_, view)| view.entry.clone());
                let other = |view: &ApprovalView| {
                    first.as_ref().is_none_or(|first| {
                        view.entry.fingerprint != first.fingerprint
                            || view.entry.connection != first.connection
                            || view.entry.raw_name != first.raw_name
                    })
                };
                if waiting.iter().any(|(_, view)| other(view)) {
                    return Err(Decided::Refused("they are not about one tool; approve them one by one"));
                }
                if waiting.iter().any(|(_, view)| view.tier == Tier::Type) {
                    return Err(Decided::Refused("the tool's name has to be typed for each of them"));
                }
            }
            Verdict::ApproveAndRemember(_) | Verdict::ApproveEdited(_) => {
                return Err(Decided::Refused("several calls can only be approved or denied as they are"));
            }
        }
        if waiting.is_empty() {
            return Err(Decided::TooLate);
        }
        for (shown, _) in &waiting {
            self.decide(*shown, verdict.clone(), None);
        }
        Ok(waiting.len())
    }

    /// The question that was on the screen, if it waits and is what was shown.
    fn shown(&self, shown: Shown) -> Result<&Pending, Decided> {
        let pending = self.pending.get(&shown.approval).ok_or(Decided::TooLate)?;
        let same = pending.arguments.digest() == shown.arguments && pending.view.entry.fingerprint == shown.fingerprint;
        if same { Ok(pending) } else { Err(Decided::Differs) }
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

    /// Hands back the questions for which `stricter` holds: their calls are judged anew.
    pub fn judge_anew(&mut self, stricter: impl Fn(&ApprovalView) -> bool) {
        let ids: Vec<ApprovalId> =
            self.pending.iter().filter(|(_, pending)| stricter(&pending.view)).map(|(id, _)| *id).collect();
        for id in ids {
            self.end(id, Ending::RulesChanged);
        }
    }

    /// Brings what the questions say about earlier calls up to date.
    pub fn refresh(&mut self, history: impl Fn(&ApprovalView) -> History) {
        for pending in self.pending.values_mut() {
            let now = history(&pending.view);
            if now != pending.view.history {
                pending.view = Arc::new(ApprovalView { history: now, ..(*pending.view).clone() });
            }
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
