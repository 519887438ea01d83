//! The question to a person, and the one end it comes back with.

use std::sync::Arc;

use tokio::sync::oneshot;

use super::hold::{Lapsed, Stage};
use super::run::{Answered, Run};
use super::{CallEvent, trail};
use crate::config::model::ApprovalSettings;
use crate::engine::audit::{Decision, Durability};
use crate::engine::gate::desk::{Ending, Question};
use crate::engine::snapshot::{CallPhase, Tier, Withdrawal};
use crate::tool::Entry;

/// Why a question ended that the rules overtook, for the audit.
pub(super) const RULES_CHANGED: &str = "the rules changed";

impl Run {
    /// Puts the question to a person and waits for its one end.
    pub(super) async fn ask(
        &mut self,
        entry: &Arc<Entry>,
        tier: Tier,
        policy_by: Arc<str>,
        settings: &ApprovalSettings,
    ) -> Answered {
        let mut record = trail::asked(self);
        record.reason = self.pipeline.standing.borrow().change(entry);
        self.records.push(record);
        if let Err(reason) = self.write(Durability::Written).await {
            return Answered::Over(CallPhase::Refused { reason });
        }
        let (end, mut ending) = oneshot::channel();
        let question = Question {
            call: self.view.id.clone(),
            caller: self.request.caller.clone(),
            entry: entry.clone(),
            arguments: self.arguments.clone(),
            confirm_set: self.confirm_set,
            tier,
            policy_by,
            wait: settings.wait,
            end,
        };
        let asked = CallEvent::Ask(Box::new(question), Box::new(self.view.clone()));
        if self.pipeline.core.send(asked).await.is_err() {
            return self.decided(Ending::Withdrawn(Withdrawal::Shutdown)).await;
        }
        self.hold.asked();
        let ended = tokio::select! {
            ended = &mut ending => ended,
            () = self.request.cancel.cancelled() => {
                let why = self.hold.why_gone();
                let withdraw = CallEvent::Withdraw(self.view.id.clone(), why);
                // Whatever ended the question first is its end, so the desk is asked and its word awaited.
                match self.pipeline.core.send(withdraw).await {
                    Ok(()) => ending.await,
                    Err(_) => Ok(Ending::Withdrawn(why)),
                }
            }
        };
        self.decided(ended.unwrap_or(Ending::Withdrawn(Withdrawal::Shutdown))).await
    }

    /// Waits for a caller that left while a person was asked; meanwhile the call shows who approved it.
    async fn await_caller(&self) -> Result<(), Lapsed> {
        if self.hold.stage() == Stage::Away {
            self.publish().await;
        }
        self.hold.claim(&self.request.cancel).await
    }

    /// Records how a question ended. An approval is recorded together with its dispatch.
    async fn decided(&mut self, ending: Ending) -> Answered {
        let person = self.pipeline.person.clone();
        let (phase, decision, reason) = match ending {
            // Nothing runs without a live caller.
            Ending::Approved(approval) => {
                self.view.decider = Some(person);
                // Nothing runs yet: the screen says that it waits for its caller.
                self.view.phase = CallPhase::Waiting(approval.question);
                match self.await_caller().await {
                    Ok(()) => return Answered::Approved(approval),
                    Err(Lapsed::GivenUp) => withdrawn(self.hold.why_gone()),
                    Err(Lapsed::Unused) => {
                        let reason = "approved, but the caller did not come back for it";
                        (CallPhase::Expired, Decision::Expired, reason.into())
                    }
                }
            }
            Ending::Denied { reason } => {
                self.view.decider = Some(person);
                (CallPhase::Denied { reason: reason.clone() }, Decision::Denied, reason)
            }
            Ending::Expired => (CallPhase::Expired, Decision::Expired, "nobody decided in time".into()),
            Ending::Withdrawn(why) => {
                // Stopping a seat is a person's decision.
                self.view.decider = (why == Withdrawal::SeatStopped).then_some(person);
                withdrawn(why)
            }
            Ending::RulesChanged => {
                let record = trail::decided(self, Decision::Withdrawn, &RULES_CHANGED.into());
                self.records.push(record);
                let _ = self.write(Durability::Written).await;
                return Answered::JudgeAnew;
            }
        };
        self.hold.answered();
        let record = trail::decided(self, decision, &reason);
        self.records.push(record);
        // The question is over whether or not its end can be written; the writer's health shows a failure.
        let _ = self.write(Durability::Written).await;
        Answered::Over(phase)
    }
}

fn withdrawn(why: Withdrawal) -> (CallPhase, Decision, Arc<str>) {
    (CallPhase::Withdrawn(why), Decision::Withdrawn, why.as_str().into())
}
