//! Questions between colleagues and prompts for seats, as the screen lists them. They are answered by tools; nothing
//! here is waited for by the engine.

use std::sync::Arc;

use crate::clock::Timestamp;
use crate::ids::SeatHandle;
use crate::secret::Redactor;

/// The longest answer, in characters.
pub const MOST_ANSWER: usize = 20_000;

/// Something in a seat's inbox.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct QuestionView {
    /// What the tools call it.
    pub channel: Arc<str>,
    /// What it is.
    pub kind: QuestionKind,
    /// The seat that asks, or what else put it there.
    pub from: Arc<str>,
    /// The seat that is asked.
    pub to: SeatHandle,
    /// When it came.
    pub at: Timestamp,
    /// Until when the asker waits for the answer; `None` when nobody waits (any more).
    pub waits_until: Option<Timestamp>,
    /// What is asked, whole.
    pub brief: Arc<str>,
    /// Who asked whom before, the asker last; empty for a prompt.
    pub chain: Vec<Arc<str>>,
    /// What the asker lets the colleague spend.
    pub budget: Option<i64>,
    /// The answer, once there is one.
    pub answer: Option<AnswerView>,
}

/// What stands in an inbox.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QuestionKind {
    /// A colleague asks.
    Colleague,
    /// An autopilot put a prompt there.
    Autopilot,
}

/// An answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AnswerView {
    /// Who answered: a seat's handle, or `operator founder`, `you`.
    pub by: Arc<str>,
    /// When.
    pub at: Timestamp,
    /// What, whole.
    pub body: Arc<str>,
}

/// All of them, newest first: what is open, and what was answered in this run. Rows that did not change are the same
/// `Arc`s as before.
pub type Board = Arc<[Arc<QuestionView>]>;

impl QuestionView {
    /// Whether nobody has answered it yet.
    pub const fn is_open(&self) -> bool {
        self.answer.is_none()
    }

    /// The same without secrets; `None` when there are none in it.
    pub(in crate::engine) fn redacted(&self, redactor: &Redactor) -> Option<Self> {
        use std::borrow::Cow::Owned;
        let brief = redactor.redact(&self.brief);
        let body = self.answer.as_ref().map(|answer| redactor.redact(&answer.body));
        if !matches!((&brief, &body), (Owned(_), _) | (_, Some(Owned(_)))) {
            return None;
        }
        let answer =
            self.answer.as_ref().zip(body).map(|(answer, body)| AnswerView { body: body.into(), ..answer.clone() });
        Some(Self { brief: brief.into(), answer, ..self.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secret::Secret;

    #[test]
    fn what_is_secret_in_a_brief_or_an_answer_is_replaced() {
        let redactor = Redactor::default();
        redactor.learn([Secret::new("hunter2-hunter2")]);
        let view = |brief: &str, body: &str| QuestionView {
            channel: "a2a-1".into(),
            kind: QuestionKind::Colleague,
            from: "release".into(),
            to: "ops".into(),
            at: Timestamp::default(),
            waits_until: None,
            brief: brief.into(),
            chain: Vec::new(),
            budget: None,
            answer: Some(AnswerView { by: "ops".into(), at: Timestamp::default(), body: body.into() }),
        };
        assert_eq!(view("which one?", "that one").redacted(&redactor), None);
        for (brief, body) in [("is it hunter2-hunter2?", "no"), ("what is it?", "hunter2-hunter2")] {
            let clean = view(brief, body).redacted(&redactor).expect("a secret");
            assert!(!format!("{clean:?}").contains("hunter2-hunter2"), "{clean:?}");
            assert!(format!("{clean:?}").contains("REDACTED"), "{clean:?}");
        }
    }
}
