//! `a2a_inbox`: what waits for whoever reads, and late answers to what it asked. Changes nothing.

use std::time::Duration;

use serde_json::{Value, json};

use super::views;
use crate::clock::Timestamp;
use crate::native::request::{Outcome, Refusal, Request};
use crate::store::ReadStore;

/// Rows of each kind unless told otherwise.
const SOME: i64 = 20;
/// How long an answer that came too late for its call is shown.
const LATE: Duration = Duration::from_secs(7 * 24 * 60 * 60);

pub fn read(store: &ReadStore<'_>, request: &Request) -> Outcome {
    // Operators and the person at the screen see every seat's.
    let seat = if request.actor.is_operator { None } else { request.actor.seat.as_deref() };
    if let Some(channel) = request.text("channel").map(str::trim) {
        return one(store, request, (channel, seat));
    }
    let limit = request.number("limit").unwrap_or(SOME);
    let questions = store.open_questions(seat, limit)?;
    let prompts = store.open_prompts(seat, limit)?;
    let (own, all) = store.count_open_questions(seat.unwrap_or_default())?;
    let mut inbox = json!({
        "open": if seat.is_some() { own } else { all },
        "questions": questions.iter().map(|question| views::asked(question, request.at)).collect::<Vec<_>>(),
        "prompts": prompts.iter().map(views::prompted).collect::<Vec<_>>(),
    });
    if let (Some(seat), Some(inbox)) = (seat, inbox.as_object_mut()) {
        let since = Timestamp::from_millis(request.at.millis() - i64::try_from(LATE.as_millis()).unwrap_or(0));
        let late = store.answered_for(seat, since, limit)?;
        let late = late.iter().filter_map(|question| Some(views::answered(question, question.answer.as_ref()?)));
        inbox.insert("answers".to_owned(), late.collect());
        let open = store.asked_by(seat, limit)?;
        inbox.insert("asked".to_owned(), open.iter().map(|question| views::asked(question, request.at)).collect());
    }
    Ok(inbox)
}

/// One question or prompt, whole. What is another's is as unknown as what does not exist.
fn one(store: &ReadStore<'_>, request: &Request, (channel, seat): (&str, Option<&str>)) -> Outcome {
    let missing = || Refusal::not_found("channel");
    let is_for = |participants: &[&str]| seat.is_none_or(|seat| participants.contains(&seat));
    if let Some(id) = views::prompt_of(channel) {
        let found = store.prompt(id)?.filter(|prompt| is_for(&[&prompt.seat]));
        return Ok(json!({"prompt": views::prompted(&found.ok_or_else(missing)?)}));
    }
    let found = store.question(channel)?.filter(|found| is_for(&[&found.asker, &found.target])).ok_or_else(missing)?;
    let answer = found.answer.as_ref().map_or(Value::Null, |answer| views::answered(&found, answer));
    Ok(json!({"question": views::asked(&found, request.at), "answer": answer}))
}
