//! Questions, prompts and answers as JSON for tools and as rows for the screen. Pure.

use serde_json::{Value, json};

use crate::clock::Timestamp;
use crate::engine::snapshot::{AnswerView, QuestionKind, QuestionView};
use crate::ids::SeatHandle;
use crate::native::show::who;
use crate::store::items::Who;
use crate::store::questions::{Answer, Prompt, Question};

/// Somebody for the screen.
fn shown(who: &Who) -> String {
    match who.kind.as_str() {
        "console" => "you".to_owned(),
        "seat" => who.id.clone(),
        kind => format!("{kind} {}", who.id),
    }
}

/// What a prompt is called where a channel is.
pub(super) fn channel_of(prompt: i64) -> String {
    format!("inbox-{prompt}")
}

/// The prompt that a channel means, where it means one.
pub(super) fn prompt_of(channel: &str) -> Option<i64> {
    channel.strip_prefix("inbox-")?.parse().ok()
}

/// A question for the screen; `waits_until` while its asker waits.
pub(super) fn question(question: &Question, waits_until: Option<Timestamp>) -> QuestionView {
    QuestionView {
        channel: question.channel.as_str().into(),
        kind: QuestionKind::Colleague,
        from: question.asker.as_str().into(),
        to: SeatHandle::from(question.target.as_str()),
        at: question.asked,
        waits_until,
        brief: question.brief.as_str().into(),
        chain: question.chain.iter().map(|seat| seat.as_str().into()).collect(),
        budget: question.budget,
        answer: question.answer.as_ref().map(answer),
    }
}

/// A prompt for the screen.
pub(super) fn prompt(prompt: &Prompt) -> QuestionView {
    QuestionView {
        channel: channel_of(prompt.id).into(),
        kind: QuestionKind::Autopilot,
        from: prompt.autopilot.as_str().into(),
        to: SeatHandle::from(prompt.seat.as_str()),
        at: prompt.created,
        waits_until: None,
        brief: prompt.body.as_str().into(),
        chain: Vec::new(),
        budget: None,
        answer: None,
    }
}

/// An answer for the screen.
pub(super) fn answer(answer: &Answer) -> AnswerView {
    AnswerView { by: shown(&answer.by).into(), at: answer.at, body: answer.body.as_str().into() }
}

/// A question for whoever is asked, or for somebody who may answer in its place.
pub(super) fn asked(question: &Question, now: Timestamp) -> Value {
    json!({
        "channel": question.channel, "from": question.asker, "to": question.target, "brief": question.brief,
        "asked": question.asked.rfc3339_seconds(), "chain": question.chain, "budget": question.budget,
        "waits_until": (question.answer.is_none() && question.deadline > now).then(|| question.deadline.rfc3339_seconds()),
    })
}

/// A question with its answer, for whoever asked.
pub(super) fn answered(question: &Question, answer: &Answer) -> Value {
    let by_colleague = answer.by == Who::new("seat", &question.target);
    json!({
        "channel": question.channel, "status": "answered", "to": question.target, "answer": answer.body,
        "answered_by": who(&answer.by), "in_place_of": (!by_colleague).then_some(&question.target),
        "answered": answer.at.rfc3339_seconds(),
    })
}

/// A prompt.
pub(super) fn prompted(prompt: &Prompt) -> Value {
    json!({
        "channel": channel_of(prompt.id), "to": prompt.seat, "autopilot": prompt.autopilot, "prompt": prompt.body,
        "from": who(&prompt.sender), "put_there": prompt.created.rfc3339_seconds(),
        "done": prompt.done.map(Timestamp::rfc3339_seconds),
    })
}
