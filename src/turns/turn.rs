//! One turn of one session, and what is shown of it. Who may change it and when is for [`super::Turns`].

use std::sync::Arc;

use tokio::time::Instant;

use super::Who;
use super::ended::Ended;
use super::verdict::{Call, Ledger, Obligation, Outcome};
use crate::clock::Timestamp;
use crate::ids::TurnId;

/// How a turn came to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Start {
    /// With its first call.
    Implied,
    /// With `turn_begin`.
    Declared,
}

/// A turn that goes on.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) id: TurnId,
    pub(super) start: Start,
    pub(super) trigger: Option<Arc<str>>,
    pub(super) owes: Obligation,
    pub(super) began: Timestamp,
    /// Its last sign of life.
    pub(super) last: Instant,
    pub(super) ledger: Ledger,
    /// What its agent was told about a claim that was not so.
    pub(super) corrected: Option<(Timestamp, Arc<str>)>,
}

impl Turn {
    pub(super) fn implied(began: Timestamp) -> Self {
        Self {
            id: TurnId::fresh(),
            start: Start::Implied,
            trigger: None,
            owes: Obligation::Nothing,
            began,
            last: Instant::now(),
            ledger: Ledger::default(),
            corrected: None,
        }
    }

    pub(super) fn declared(trigger: Option<Arc<str>>, owes: Obligation) -> Self {
        Self { start: Start::Declared, trigger, owes, ..Self::implied(Timestamp::now()) }
    }

    /// How it ends where its agent does not say.
    pub(super) const fn left(&self) -> Outcome {
        match self.start {
            Start::Implied => Outcome::Unclaimed,
            Start::Declared => Outcome::Incomplete,
        }
    }

    pub(super) fn ended(self, who: &Who, outcome: Outcome, text: Option<Arc<str>>) -> Ended {
        Ended {
            seat: who.seat.clone(),
            session: who.session.clone(),
            client: who.client.clone(),
            turn_id: self.id,
            trigger: self.trigger,
            reply: self.owes,
            began: self.began,
            ended: Timestamp::now(),
            calls: self.ledger.calls().map(|call| call.name.clone()).collect(),
            outcome,
            reached: self.ledger.reached().to_vec(),
            text,
        }
    }
}

/// What is shown of a session's turns.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TurnView {
    /// The one that goes on.
    pub now: Option<Now>,
    /// The one before it.
    pub before: Option<Before>,
}

/// A turn that goes on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Now {
    /// Its id.
    pub id: TurnId,
    /// How it came to be.
    pub start: Start,
    /// What made the agent begin it, in its words.
    pub trigger: Option<Arc<str>>,
    /// What it owes.
    pub owes: Obligation,
    /// When it began.
    pub began: Timestamp,
    /// The surfaces that it reached.
    pub reached: Vec<Arc<str>>,
    /// Finished calls, and how many of them failed.
    pub calls: (u64, u64),
    /// The newest calls that count for something, the newest last, at most 16.
    pub acts: Vec<Call>,
    /// When its agent was corrected, and what it was told.
    pub corrected: Option<(Timestamp, Arc<str>)>,
}

/// A turn that is over.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Before {
    /// How it ended.
    pub outcome: Outcome,
    /// What it had owed.
    pub owed: Obligation,
    /// When it ended.
    pub at: Timestamp,
    /// The surfaces that it reached.
    pub reached: Vec<Arc<str>>,
    /// What the agent said at the end, cut.
    pub text: Option<Arc<str>>,
}

/// Cells of a text that are shown.
const TEXT: usize = 400;
/// Calls that are shown one by one.
const SHOWN: usize = 16;

impl Now {
    pub(super) fn of(turn: &Turn) -> Self {
        let mut acts: Vec<Call> = turn.ledger.calls().rev().filter(|call| call.acts()).take(SHOWN).cloned().collect();
        acts.reverse();
        let (finished, _, failed) = turn.ledger.counts();
        Self {
            id: turn.id.clone(),
            start: turn.start,
            trigger: turn.trigger.clone(),
            owes: turn.owes.clone(),
            began: turn.began,
            reached: turn.ledger.reached().to_vec(),
            calls: (finished, failed),
            acts,
            corrected: turn.corrected.clone(),
        }
    }
}

impl Before {
    pub(super) fn of(ended: &Ended) -> Self {
        Self {
            outcome: ended.outcome,
            owed: ended.reply.clone(),
            at: ended.ended,
            reached: ended.reached.clone(),
            text: ended.text.as_deref().map(|text| crate::text::fit(&crate::text::clean(text), TEXT).as_ref().into()),
        }
    }
}
