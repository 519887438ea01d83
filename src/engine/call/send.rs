//! Sending: a permit turned into one request, the answer turned into the call's end.

use std::sync::Arc;

use tokio::time::Instant;

use super::run::{Run, Sent};
use super::trail;
use crate::engine::audit::{Decision, Durability, Outcome};
use crate::engine::connection::{CallFailure, Reply};
use crate::engine::gate::{Changed, Dispatch, Permit, Verdict};
use crate::engine::snapshot::{CallPhase, Withdrawal};
use crate::tool::Entry;
use crate::tool::annotations::Hint;
use crate::tool::delivery::read_only_proven;
use crate::tool::output::{self, CallOutput, OutputNote};

impl Run {
    /// Sends a call that a person approved: once, whatever its hints.
    pub(super) async fn send_approved(&mut self, permit: Permit) -> Sent {
        let Some(dispatch) = self.redeem(permit) else {
            let reason = Withdrawal::DefinitionChanged.as_str();
            let record = trail::decided(self, Decision::Withdrawn, &reason.into());
            self.records.push(record);
            if let Err(reason) = self.write(Durability::Written).await {
                return Sent::Over(CallPhase::Refused { reason }, None);
            }
            self.view.decider = None;
            return Sent::DefinitionChanged;
        };
        let record = trail::decided(self, Decision::Approved, &"".into());
        self.records.push(record);
        let record = trail::dispatched(self);
        self.records.push(record);
        if let Err(reason) = self.write(Durability::Synced).await {
            return Sent::Over(CallPhase::Refused { reason }, None);
        }
        let outcome = self.dispatch(dispatch).await;
        self.finish(outcome).await
    }

    /// Sends a call that nobody had to approve. A proven read, or a tool that is idempotent, is sent once more
    /// after a transport failure without an answer.
    pub(super) async fn send_unasked(&mut self, entry: &Arc<Entry>, permit: Permit, decider: Arc<str>) -> Sent {
        self.view.decider = Some(decider);
        let read = read_only_proven(&entry.hints.effective);
        let Some(dispatch) = self.redeem(permit) else { return Sent::DefinitionChanged };
        let record = trail::dispatched(self);
        self.records.push(record);
        if let Err(reason) = self.write(Durability::Written).await
            && !read
        {
            return Sent::Over(CallPhase::Refused { reason }, None);
        }
        let first = self.dispatch(dispatch).await;
        let harmless = read || entry.hints.effective.idempotent == Hint::Yes;
        if !(harmless && matches!(first, Err(CallFailure::Lost(_) | CallFailure::NotSent(_)))) {
            return self.finish(first).await;
        }
        let second = match self.verdict(entry, Changed::No).0 {
            Verdict::Allow { permit, .. } => self.redeem(permit),
            _ => None,
        };
        let Some(dispatch) = second else { return self.finish(first).await };
        let record = trail::dispatched(self);
        self.records.push(record);
        if self.write(Durability::Written).await.is_err() && !read {
            return self.finish(first).await;
        }
        match self.dispatch(dispatch).await {
            Err(CallFailure::NotRunning(_) | CallFailure::NotSent(_)) => self.finish(first).await,
            second => self.finish(second).await,
        }
    }

    /// Resolves the entry again and turns the permit into a request, if it still is what was permitted.
    fn redeem(&self, permit: Permit) -> Option<Dispatch> {
        let catalog = self.pipeline.catalog.borrow().clone();
        let now = catalog.again(self.entry.as_ref()?)?;
        permit.redeem(now, &self.arguments)
    }

    async fn dispatch(&mut self, dispatch: Dispatch) -> Result<Reply, CallFailure> {
        self.view.phase = CallPhase::Running;
        self.publish().await;
        let link = self.link();
        let Some(connection) = link.and_then(|link| link.connection) else {
            return Err(CallFailure::NotRunning("its connection is gone".into()));
        };
        let sent = Instant::now();
        let answer = connection.call(dispatch, self.request.cancel.clone()).await;
        self.view.ran = Some(sent.elapsed());
        answer
    }

    /// Turns an answer, or its absence, into the call's end and records it.
    async fn finish(&mut self, answer: Result<Reply, CallFailure>) -> Sent {
        let (phase, output) = match answer {
            Ok(Reply::Result(raw)) => self.read(raw.get()),
            Ok(Reply::Error { code, message }) => {
                let reason = format!("{}: {message} (JSON-RPC error {code})", self.server_name());
                (CallPhase::Failed { reason: reason.into() }, None)
            }
            Err(failure) => {
                let reason: Arc<str> = format!("{}: {failure}", self.server_name()).into();
                match failure {
                    CallFailure::NotRunning(_) | CallFailure::NotSent(_) => (CallPhase::Failed { reason }, None),
                    CallFailure::Lost(_) | CallFailure::TimedOut { .. } | CallFailure::Cancelled => {
                        (CallPhase::Unknown { reason }, None)
                    }
                }
            }
        };
        let outcome = match &phase {
            CallPhase::Done { .. } => Outcome::Done,
            CallPhase::Unknown { .. } => Outcome::Unknown,
            _ => Outcome::Failed,
        };
        let record = trail::finished(self, outcome, &phase);
        self.records.push(record);
        // It has run; a failure to write its end shows in the writer's health.
        let _ = self.write(Durability::Written).await;
        Sent::Over(phase, output)
    }

    fn read(&self, raw: &str) -> (CallPhase, Option<CallOutput>) {
        let output = match serde_json::from_str(raw) {
            Ok(value) => output::read_result(&value, &self.pipeline.redactor),
            Err(_) => output::refused(OutputNote::InvalidUtf8),
        };
        for note in &output.notes {
            trail::log_note(*note, &self.view.name);
        }
        let refused = output.notes.iter().any(|note| !matches!(note, OutputNote::SecretsRedacted));
        let phase = if refused {
            CallPhase::Failed { reason: output::as_text(&output).into() }
        } else {
            CallPhase::Done { is_error: output.is_error }
        };
        (phase, Some(output))
    }
}
