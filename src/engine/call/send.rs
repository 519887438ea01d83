//! Sending: a permit turned into one request, the answer turned into the call's end.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;
use tokio::time::Instant;

use super::ask::RULES_CHANGED;
use super::hold::{Lapsed, Stage};
use super::run::{Run, Sent};
use super::{CallEvent, Link, Pipeline, trail};
use crate::engine::LARGE;
use crate::engine::audit::{Decision, Durability, Outcome, Own};
use crate::engine::connection::progress::Waiter;
use crate::engine::connection::{CallFailure, Connection, Reply};
use crate::engine::first_party::{Asked, World};
use crate::engine::gate::desk::Approval;
use crate::engine::gate::standing::asks_for_more;
use crate::engine::gate::{Changed, Dispatch, Permit, Verdict};
use crate::engine::snapshot::{CallPhase, Tier, Withdrawal};
use crate::tool::annotations::Hint;
use crate::tool::output::{self, CallOutput, OutputNote};
use crate::tool::{EffectClass, Entry, Origin};

/// A call that nobody is asked about and that ends sooner is shown once it has ended.
const SHOWN: Duration = Duration::from_millis(50);

impl Run {
    /// Sends a call that a person approved: once, whatever its hints. What became stricter since the question was
    /// asked counts.
    pub(super) async fn send_approved(&mut self, entry: &Arc<Entry>, approval: Approval, tier: Tier) -> Sent {
        let Approval { permit, edited, note, .. } = approval;
        if self.stopped().is_some() {
            let phase = CallPhase::Withdrawn(Withdrawal::SeatStopped);
            return self.withdraw(Withdrawal::SeatStopped.as_str(), note.as_ref(), Sent::Over(phase, None)).await;
        }
        if self.is_carried_anew() {
            // As with a question that still waits when its server goes: what the person saw was the one before.
            let phase = CallPhase::Withdrawn(Withdrawal::ServerGone);
            return self.withdraw(Withdrawal::ServerGone.as_str(), note.as_ref(), Sent::Over(phase, None)).await;
        }
        if self.overtaken(entry, tier) {
            self.view.decider = None;
            return self.withdraw(RULES_CHANGED, note.as_ref(), Sent::JudgeAnew).await;
        }
        if let Some(edited) = edited {
            self.edit(edited);
        }
        let Some(dispatch) = self.redeem(permit) else {
            self.view.decider = None;
            return self.withdraw(Withdrawal::DefinitionChanged.as_str(), note.as_ref(), Sent::DefinitionChanged).await;
        };
        let record = trail::approved(self, note.as_ref());
        self.records.push(record);
        let record = trail::dispatched(self);
        self.records.push(record);
        if let Err(reason) = self.write(Durability::Synced).await {
            return Sent::Over(CallPhase::Refused { reason }, None);
        }
        let outcome = self.dispatch(dispatch, entry, Some(tier)).await;
        self.finish(outcome).await
    }

    /// Records that an approval came to nothing.
    async fn withdraw(&mut self, reason: &str, note: Option<&Arc<str>>, then: Sent) -> Sent {
        // What was remembered of the approval counts for later calls, so it has to stand in the trail.
        let reason = note.map_or_else(|| reason.to_owned(), |note| format!("{reason}; {note}"));
        let record = trail::decided(self, Decision::Withdrawn, &reason.into());
        self.records.push(record);
        match self.write(Durability::Written).await {
            Ok(()) => then,
            Err(reason) => Sent::Over(CallPhase::Refused { reason }, None),
        }
    }

    /// Waits for a caller that left while a person was asked, where the rules now let the call through unasked. One that
    /// is there cannot leave any more.
    async fn awaited(&mut self) -> Option<Sent> {
        if self.hold.stage() == Stage::Running {
            return None;
        }
        let why = self.hold.claim(&self.request.cancel).await.err()?;
        let phase = match why {
            Lapsed::GivenUp => CallPhase::Withdrawn(self.hold.why_gone()),
            Lapsed::Unused => CallPhase::Expired,
        };
        Some(self.withdraw("the caller did not come back", None, Sent::Over(phase, None)).await)
    }

    /// Whether the rules ask for more now than they did when the question was put.
    fn overtaken(&self, entry: &Entry, tier: Tier) -> bool {
        let settings = self.pipeline.settings.borrow().clone();
        let standing = self.pipeline.standing.borrow().clone();
        asks_for_more(&standing, &settings, entry, self.request.caller.seat(), tier)
    }

    /// Sends a call that nobody was asked about. A proven read, or a tool that is idempotent, is sent once more after
    /// a transport failure without an answer, where the policy alone allows it: what a person consented to, at the
    /// shell or by a grant, is sent once.
    pub(super) async fn send_unasked(&mut self, entry: &Arc<Entry>, permit: Permit, decider: Arc<str>) -> Sent {
        if let Some(lapsed) = self.awaited().await {
            return lapsed;
        }
        let by_policy = &*decider == "policy";
        self.view.decider = Some(decider);
        let read = self.pipeline.standing.borrow().class(entry) == EffectClass::Read;
        let Some(dispatch) = self.redeem(permit) else { return Sent::DefinitionChanged };
        if let Some(grant) = self.grant {
            // The core outlives its calls; when it is gone there is nobody to tell.
            let _ = self.pipeline.core.send(CallEvent::GrantUsed(grant)).await;
        }
        let record = trail::dispatched(self);
        self.records.push(record);
        if let Err(reason) = self.write(Durability::Written).await
            && !read
        {
            return Sent::Over(CallPhase::Refused { reason }, None);
        }
        let first = self.dispatch(dispatch, entry, None).await;
        // What went on with answers is another request than the first: it is not begun again by itself.
        let harmless = by_policy && !self.went_on && (read || entry.hints.effective.idempotent == Hint::Yes);
        if !(harmless && matches!(first, Err(CallFailure::Lost(_) | CallFailure::NotSent(_)))) {
            return self.finish(first).await;
        }
        let second = match self.verdict(entry, Changed::No).0 {
            Verdict::Allow { permit, .. } if self.grant.is_none() && self.stopped().is_none() => self.redeem(permit),
            _ => None,
        };
        let Some(dispatch) = second else { return self.finish(first).await };
        let record = trail::dispatched(self);
        self.records.push(record);
        if self.write(Durability::Written).await.is_err() && !read {
            return self.finish(first).await;
        }
        match self.dispatch(dispatch, entry, None).await {
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

    /// What became different while the record was written, which can take seconds. `asked`: how a person was asked.
    pub(super) fn last_look(&mut self, entry: &Arc<Entry>, asked: Option<Tier>) -> Option<Arc<str>> {
        if self.stopped().is_some() {
            return Some("the seat was stopped before it was sent".into());
        }
        let catalog = self.pipeline.catalog.borrow().clone();
        if catalog.again(entry).is_none_or(|now| now.fingerprint != entry.fingerprint) {
            return Some("the tool's definition changed before it was sent".into());
        }
        if asked.is_some() && self.is_carried_anew() {
            return Some("its server was started anew with another configuration before it was sent".into());
        }
        let overtaken = match asked {
            Some(tier) => self.overtaken(entry, tier),
            None => !matches!(self.verdict(entry, Changed::No).0, Verdict::Allow { .. }),
        };
        overtaken.then(|| "the rules changed before it was sent".into())
    }

    fn waiter(&self) -> Waiter {
        Waiter { cancel: self.request.cancel.clone(), hearing: Some(self.hold.hearing().clone()) }
    }

    async fn dispatch(
        &mut self,
        dispatch: Dispatch,
        entry: &Arc<Entry>,
        asked: Option<Tier>,
    ) -> Result<Reply, CallFailure> {
        self.view.phase = CallPhase::Running;
        // Where nobody can be asked anything during a call, it is shown only when it takes a while.
        if self.pipeline.forms.is_some() || asked.is_some() {
            self.publish().await;
        }
        // Nothing is waited for between this and the sending.
        if let Some(why) = self.last_look(entry, asked) {
            return Err(CallFailure::NotSent(why));
        }
        match self.link() {
            // Once begun it runs to its end: nobody could say what a half of it was.
            Some(Link { own: Some(own), .. }) => {
                let sent = Instant::now();
                let asked = self.asked(dispatch);
                let answer = self.shown(own.call(asked)).await;
                self.view.ran = Some(sent.elapsed());
                Ok(Reply::Result(answer))
            }
            Some(Link { connection: Some(connection), .. }) => match self.timed(&connection, dispatch).await {
                Ok(Reply::InputRequired(asks)) => Box::pin(self.go_on(asks, (entry, asked), &connection)).await,
                answer => answer,
            },
            _ => Err(CallFailure::NotRunning("its connection is gone".into())),
        }
    }

    /// The call as a tool of the program's own is asked it.
    fn asked(&self, dispatch: Dispatch) -> Asked {
        let Pipeline { catalog, links, .. } = &self.pipeline;
        Asked {
            dispatch,
            caller: self.request.caller.clone(),
            world: World::new(catalog.borrow().clone(), links.borrow().clone()),
            cancel: self.request.cancel.clone(),
        }
    }

    /// Waits for an answer; after a moment the call is shown as one that runs.
    async fn shown<T>(&self, answer: impl Future<Output = T>) -> T {
        let mut answer = Box::pin(answer);
        match tokio::time::timeout(SHOWN, &mut answer).await {
            Ok(answer) => answer,
            Err(_) => {
                self.publish().await;
                answer.await
            }
        }
    }

    /// Sends a request; the time until its answer is the server's.
    pub(super) async fn timed(&mut self, connection: &Connection, dispatch: Dispatch) -> Result<Reply, CallFailure> {
        let sent = Instant::now();
        let waiter = self.waiter();
        let answer = self.shown(connection.call(dispatch, waiter)).await;
        self.view.ran = Some(self.view.ran.unwrap_or_default() + sent.elapsed());
        answer
    }

    /// Turns an answer, or its absence, into the call's end and records it.
    async fn finish(&mut self, answer: Result<Reply, CallFailure>) -> Sent {
        let (phase, output) = match answer {
            Ok(Reply::Result(raw)) => self.read(raw).await,
            Ok(Reply::InputRequired(_)) => {
                let reason = format!("{}: it asked for input that it did not get", self.server_name());
                (CallPhase::Failed { reason: reason.into() }, None)
            }
            Ok(Reply::Error { code, message }) => {
                let reason = format!("{}: {message} (JSON-RPC error {code})", self.server_name());
                (CallPhase::Failed { reason: reason.into() }, None)
            }
            Err(failure) => {
                let reason: Arc<str> = format!("{}: {failure}", self.server_name()).into();
                match failure {
                    CallFailure::NotRunning(_) | CallFailure::NotSent(_) | CallFailure::Unanswered(_) => {
                        (CallPhase::Failed { reason }, None)
                    }
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
        let mut record = trail::finished(self, outcome, &phase);
        record.own = self.own(output.as_ref());
        self.records.push(record);
        // It has run and nobody waits for the record of its end.
        self.pipeline.audit.append_later(std::mem::take(&mut self.records)).await;
        Sent::Over(phase, output)
    }

    /// What a call of one of the program's own tools came to, for the audit.
    fn own(&self, output: Option<&CallOutput>) -> Own {
        let is_ours = self.entry.as_ref().is_some_and(|entry| entry.origin == Origin::Builtin);
        let Some(own) = self.link().filter(|_| is_ours).and_then(|link| link.own) else { return Own::default() };
        let said = output.and_then(|output| output.structured.as_ref());
        let text = |name: &str| said.and_then(|said| said.get(name)?.as_str()).map(Arc::from);
        Own {
            actor_seat: own.acts_for(&self.request.caller),
            position: said.and_then(|said| said.get("position")?.as_i64()),
            refusal: text("refusal").filter(|_| output.is_some_and(|output| output.is_error)),
        }
    }

    async fn read(&self, raw: Box<RawValue>) -> (CallPhase, Option<CallOutput>) {
        let redactor = self.pipeline.redactor.clone();
        let output = if raw.get().len() < LARGE {
            output::read_text(raw.get(), &redactor)
        } else {
            // Cleaning megabytes takes seconds, in which other calls and connections go on.
            let cleaned = tokio::task::spawn_blocking(move || output::read_text(raw.get(), &redactor)).await;
            cleaned.unwrap_or_else(|_| output::refused(OutputNote::InvalidUtf8))
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
