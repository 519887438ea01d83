//! What the caller is told: who decided, why, and what to do next. Every end has a text of its own.

use std::sync::Arc;

use crate::engine::snapshot::{CallPhase, CallView, Withdrawal};

/// The message for the caller; for a result, the result as `text`.
pub(super) fn message(view: &CallView, text: Option<&Arc<str>>) -> Arc<str> {
    match &view.phase {
        CallPhase::Done { .. } => text.cloned().unwrap_or_default(),
        CallPhase::Waiting(_) | CallPhase::Running => Arc::default(),
        phase => ended(phase).into(),
    }
}

/// In words, for an end without a result.
fn ended(phase: &CallPhase) -> String {
    match phase {
        CallPhase::Failed { reason } => format!("the call failed: {reason}"),
        CallPhase::Unknown { reason } => format!(
            "the outcome is unknown: {reason}. The call was sent and may have run; find out before you repeat it"
        ),
        CallPhase::Denied { reason } if reason.is_empty() => {
            "denied by a person, who gave no reason. It was not run; do not repeat it unchanged".to_owned()
        }
        CallPhase::Denied { reason } => {
            format!("denied by a person: {reason}. It was not run; do not repeat it unchanged")
        }
        CallPhase::Expired => {
            "nobody decided in time, so it was not run. Repeat it when a person is at the dashboard".to_owned()
        }
        CallPhase::Withdrawn(why) => format!("withdrawn before anybody decided ({}): {}", why.as_str(), advice(*why)),
        CallPhase::Refused { reason } => format!("{reason}. It was not run"),
        CallPhase::Waiting(_) | CallPhase::Running | CallPhase::Done { .. } => String::new(),
    }
}

/// The reason behind an end, where it has one.
pub(super) fn reason(phase: &CallPhase) -> Option<Arc<str>> {
    match phase {
        CallPhase::Failed { reason }
        | CallPhase::Unknown { reason }
        | CallPhase::Denied { reason }
        | CallPhase::Refused { reason } => Some(reason.clone()),
        CallPhase::Withdrawn(why) => Some(why.as_str().into()),
        CallPhase::Waiting(_) | CallPhase::Running | CallPhase::Done { .. } | CallPhase::Expired => None,
    }
}

const fn advice(why: Withdrawal) -> &'static str {
    match why {
        Withdrawal::CallerGone | Withdrawal::Cancelled => "it was not run",
        Withdrawal::DefinitionChanged => {
            "the tool is not any more what was asked about; it was not run, list the tools anew"
        }
        Withdrawal::ServerGone => "its server is gone; it was not run, repeat it when the server is back",
        Withdrawal::SeatStopped => "the seat was stopped by a person; it was not run",
        Withdrawal::Shutdown => "the dashboard is ending; it was not run",
    }
}
