//! The gate: policy, proof and the desk. Nothing reaches a connection that did not pass here.
//!
//! [`judge`] is a pure function; [`desk::Desk`] keeps the questions that wait for a person. Only these two make
//! a [`Permit`]. What a person decided earlier ([`grants`]) reaches [`judge`] through
//! [`standing::Standing`].

pub mod desk;
pub mod diff;
pub mod grants;
#[cfg(test)]
mod grants_tests;
pub mod permit;
pub mod pins;
pub mod policy;
pub mod standing;
#[cfg(test)]
mod tests;

use std::sync::Arc;

pub use permit::{Dispatch, Permit};
pub use policy::{PolicyAnswer, policy};

use super::handle::Consent;
use super::snapshot::Tier;
use crate::config::model::PolicyDecision;
use crate::ids::CallId;
use crate::tool::{Arguments, EffectClass, Entry};

/// Whether somebody is there to decide.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Attendance {
    /// A person at the dashboard, who decides and answers what servers ask.
    Person,
    /// A person at a shell, who decides by yes or no and fills in no forms.
    Prompt,
    /// A person who may only look (`--read-only`).
    ReadOnly,
    /// Nobody: no terminal.
    Nobody,
}

/// Whether the audit can take a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AuditState {
    /// It can.
    Good,
    /// It cannot.
    Broken,
}

/// One call before the gate.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// The call.
    pub call: &'a CallId,
    /// The tool as it is now.
    pub entry: &'a Entry,
    /// Exactly what would be sent.
    pub arguments: &'a Arguments,
    /// What the policy says, remembered decisions included.
    pub answer: &'a PolicyAnswer,
    /// Who decides where the answer is `allow`: `policy`, or the grant.
    pub decider: &'a Arc<str>,
    /// The class that counts for how a person says yes.
    pub class: EffectClass,
    /// Consent that came with the request.
    pub consent: &'a Consent,
    /// Who is there.
    pub attendance: Attendance,
    /// Whether a record can be left.
    pub audit: AuditState,
    /// True when the definition changed under an earlier question about this call: a person looks again, even
    /// where the changed tool would run unasked.
    pub changed: Changed,
}

/// Whether the definition changed under an earlier question about the same call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Changed {
    /// It did not, or nobody was asked before.
    No,
    /// It did.
    SinceAsked,
}

/// What the gate says.
#[derive(Debug)]
pub enum Verdict {
    /// Runs, with this proof. `decider` is `policy`, a grant, or the user at the shell.
    Allow {
        /// The proof.
        permit: Permit,
        /// Who made the decision.
        decider: Arc<str>,
    },
    /// A person decides.
    Ask(Tier),
    /// Does not run; the reason is for the caller.
    Refuse {
        /// Why, and what to do next.
        reason: Arc<str>,
    },
}

/// Judges one case. Pure and total.
pub fn judge(case: &Case<'_>) -> Verdict {
    let refuse = |reason: String| Verdict::Refuse { reason: reason.into() };
    let by = &case.answer.by;
    // A tool that says it reads and that it destroys, or says one of them in a wrong type, is no proven read.
    if case.audit == AuditState::Broken && case.class != EffectClass::Read {
        return refuse("the audit cannot be written, so only proven reads run; see the dashboard's header".to_owned());
    }
    let decision = match (case.answer.decision, case.changed) {
        (PolicyDecision::Allow, Changed::SinceAsked) => PolicyDecision::Ask,
        (decision, _) => decision,
    };
    let allow = |decider: Arc<str>| Verdict::Allow {
        permit: Permit::new(case.call.clone(), case.entry, case.arguments),
        decider,
    };
    match (decision, case.consent) {
        (PolicyDecision::Allow, _) => allow(case.decider.clone()),
        (PolicyDecision::Deny, _) => refuse(format!("refused by policy: {by}")),
        (PolicyDecision::Ask, Consent::Shell(user)) if case.attendance != Attendance::ReadOnly => {
            allow(format!("shell:{user}").into())
        }
        (PolicyDecision::Ask | PolicyDecision::Type, _) => match case.attendance {
            Attendance::Person | Attendance::Prompt => Verdict::Ask(tier(decision, case.class)),
            Attendance::ReadOnly => {
                refuse(format!("refused: a person has to decide ({by}), and this dashboard is read-only"))
            }
            Attendance::Nobody => refuse(match (decision, case.consent) {
                (PolicyDecision::Type, Consent::Shell(_)) => format!(
                    "refused: the tool's name has to be typed at the dashboard ({by}); --approve does not satisfy that"
                ),
                _ => format!("refused: a person has to decide ({by}), and nobody is at a terminal"),
            }),
        },
    }
}

const fn tier(decision: PolicyDecision, class: EffectClass) -> Tier {
    match (decision, class) {
        (PolicyDecision::Type, _) => Tier::Type,
        (_, EffectClass::Read | EffectClass::Write) => Tier::Press,
        (_, EffectClass::Destructive | EffectClass::Unknown) => Tier::Arm,
    }
}
