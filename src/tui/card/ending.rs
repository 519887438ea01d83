//! What became of a question, in words: only from what the snapshot says about its call.

use crate::engine::snapshot::{CallPhase, CallView};
use crate::tui::theme::Role;
use crate::tui::widgets::badge;
use crate::tui::widgets::paint::took;

/// What the person said at this card.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Word {
    /// Yes.
    Approve,
    /// No.
    Deny,
}

/// The end, for people.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Ending {
    /// One word for the title.
    pub(super) title: &'static str,
    /// What happened.
    pub(super) text: String,
    /// How it is meant.
    pub(super) role: Role,
}

/// What happened to a call whose question waits no more, and what `word` had to do with it.
pub(super) fn of(call: Option<&CallView>, word: Option<Word>) -> Ending {
    let Some(call) = call else {
        let text = "the call is not listed any more: see the audit for its end".to_owned();
        return Ending { title: "Over", text, role: Role::Warning };
    };
    let (title, text, role) = describe(call, word);
    let elsewhere = word.is_none() && was_decided(&call.phase);
    let by = call.decider.as_deref().map_or_else(|| "somebody".to_owned(), badge::decider);
    let text = if elsewhere { format!("decided by {by}, not on this card: {text}") } else { text };
    Ending { title, text: late(text, &call.phase, word), role }
}

fn describe(call: &CallView, word: Option<Word>) -> (&'static str, String, Role) {
    let time = call.ran.map_or_else(String::new, |time| format!(" in {}", took(time)));
    match &call.phase {
        CallPhase::Waiting(_) if word == Some(Word::Approve) => {
            ("Approved", "approved, waiting for the caller to come back".to_owned(), Role::Starting)
        }
        CallPhase::Waiting(_) => ("Over", "it is not asked about any more".to_owned(), Role::Warning),
        CallPhase::Running => ("Approved", "approved: running…".to_owned(), Role::Starting),
        CallPhase::Done { is_error: false } => ("Executed", format!("executed{time}"), Role::Ready),
        CallPhase::Done { is_error: true } => {
            ("Tool error", format!("the tool reports an error; it ran{time}"), Role::Warning)
        }
        CallPhase::Failed { reason } => ("Failed", format!("failed{time}: {reason}"), Role::Failed),
        CallPhase::Unknown { reason } => {
            ("Unknown", format!("unknown: {reason}; it was sent, whether it ran is not known"), Role::Warning)
        }
        CallPhase::Denied { reason } if reason.is_empty() => {
            ("Denied", "denied; nothing was sent".to_owned(), Role::Text)
        }
        CallPhase::Denied { reason } => ("Denied", format!("denied: \"{reason}\"; nothing was sent"), Role::Text),
        CallPhase::Expired => {
            ("Expired", "expired: nobody decided in time; nothing was sent".to_owned(), Role::Warning)
        }
        CallPhase::Withdrawn(why) => {
            ("Withdrawn", format!("withdrawn: {}; nothing was sent", why.as_str()), Role::Warning)
        }
        CallPhase::Refused { reason } => ("Refused", format!("refused: {reason}; nothing was sent"), Role::Failed),
    }
}

const fn was_decided(phase: &CallPhase) -> bool {
    matches!(
        phase,
        CallPhase::Running
            | CallPhase::Done { .. }
            | CallPhase::Failed { .. }
            | CallPhase::Unknown { .. }
            | CallPhase::Denied { .. }
    )
}

/// Adds that the person's word came too late, where it did.
fn late(text: String, phase: &CallPhase, word: Option<Word>) -> String {
    let too_late = match word {
        Some(Word::Approve) => {
            matches!(phase, CallPhase::Denied { .. } | CallPhase::Expired | CallPhase::Withdrawn(_))
        }
        Some(Word::Deny) => !matches!(phase, CallPhase::Denied { .. } | CallPhase::Waiting(_)),
        None => false,
    };
    if !too_late {
        return text;
    }
    let what = if word == Some(Word::Approve) { "approval" } else { "denial" };
    format!("your {what} came too late: {text}")
}
