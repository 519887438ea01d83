//! The records that one call leaves in the audit, and the log lines beside them.

use std::sync::Arc;

use super::report;
use super::run::Run;
use crate::engine::audit::{Decision, Kind, Outcome, Record};
use crate::engine::snapshot::CallPhase;
use crate::tool::output::OutputNote;
use crate::tool::{HintName, ShownArguments};

/// The name resolved: what is about to be judged, whole.
pub(super) fn received(run: &Run) -> Record {
    let mut record = run.record(Kind::Received);
    if let Some(entry) = &run.entry {
        let hint = |name: HintName| (name, entry.hints.effective.get(name), entry.hints.source(name));
        record.hints = HintName::ALL.into_iter().map(hint).collect();
    }
    record.args = run.view.arguments.as_ref().map(ShownArguments::shared);
    record
}

/// A person is asked.
pub(super) fn asked(run: &Run) -> Record {
    with_policy(run, run.record(Kind::Asked))
}

/// The question ended.
pub(super) fn decided(run: &Run, decision: Decision, reason: &Arc<str>) -> Record {
    let mut record = run.record(Kind::Decided);
    record.decision = Some(decision);
    record.decider.clone_from(&run.view.decider);
    record.reason = some(reason);
    record.elapsed = Some(run.received.elapsed());
    record
}

/// A person said yes: to the arguments as they were shown, or to others that they put in their place.
pub(super) fn approved(run: &Run, note: Option<&Arc<str>>) -> Record {
    let mut record = decided(run, Decision::Approved, &"".into());
    let edited = run.edited_from.map(|was| format!("edited: a person changed the arguments, they were sha256 {was}"));
    if edited.is_some() {
        record.args = run.view.arguments.as_ref().map(ShownArguments::shared);
    }
    record.reason = match (edited, note) {
        (Some(edited), Some(note)) => Some(format!("{edited}; {note}").into()),
        (Some(edited), None) => Some(edited.into()),
        (None, note) => note.cloned(),
    };
    record
}

/// About to be sent.
pub(super) fn dispatched(run: &Run) -> Record {
    let mut record = with_policy(run, run.record(Kind::Dispatched));
    record.decider.clone_from(&run.view.decider);
    record
}

/// Ended after it was sent.
pub(super) fn finished(run: &Run, outcome: Outcome, phase: &CallPhase) -> Record {
    let mut record = run.record(Kind::Finished);
    record.outcome = Some(outcome);
    record.reason = match phase {
        CallPhase::Done { is_error: true } => Some("the tool reported an error of its own".into()),
        phase => report::reason(phase).filter(|reason| !reason.is_empty()),
    };
    record.elapsed = Some(run.received.elapsed());
    record
}

/// Ended without being asked or sent.
pub(super) fn refused(run: &Run, reason: &Arc<str>) -> Record {
    let mut record = with_policy(run, run.record(Kind::Refused));
    record.reason = some(reason);
    record.elapsed = Some(run.received.elapsed());
    record
}

/// The log line for what was done to a result. Says nothing of its content.
pub(super) fn log_note(note: OutputNote, tool: &str) {
    match note {
        OutputNote::SecretsRedacted => tracing::warn!(tool_name = tool, "tool_result_secrets_redacted"),
        OutputNote::BinaryRefused => tracing::warn!(tool_name = tool, "tool_result_binary_data"),
        OutputNote::TooDeep => tracing::warn!(tool_name = tool, "tool_result_too_deep"),
        OutputNote::InvalidUtf8 => tracing::warn!(tool_name = tool, "tool_result_invalid_utf8"),
        OutputNote::InputRequired => tracing::warn!(tool_name = tool, "tool_result_input_required"),
    }
}

fn with_policy(run: &Run, mut record: Record) -> Record {
    record.policy = run.view.policy.as_ref().map(|(decision, by)| (decision.as_str(), by.clone()));
    record
}

fn some(reason: &Arc<str>) -> Option<Arc<str>> {
    (!reason.is_empty()).then(|| reason.clone())
}
