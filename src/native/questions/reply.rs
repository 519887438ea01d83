//! `a2a_reply`: the one answer to a question, or what came of a prompt.

use serde_json::json;

use super::ask::log_sent;
use super::views;
use crate::native::request::{Actor, Class, Outcome, Refusal};
use crate::native::show;
use crate::native::tool::{Ask, Running};
use crate::store::questions::{Answer, Prompt, Question};
use crate::store::{Signed, WriteStore};

pub fn run(ask: Ask) -> Running {
    Box::pin(async move {
        let request = &ask.request;
        request.actor.may_write()?;
        let channel = request.need("channel")?.trim().to_owned();
        let signed = request.signed();
        let answer = Answer { body: request.need("body")?.to_owned(), by: signed.who, at: signed.at };
        match views::prompt_of(&channel) {
            Some(id) => prompt(&ask, id, answer).await,
            None => question(&ask, channel, answer).await,
        }
    })
}

async fn question(ask: &Ask, channel: String, answer: Answer) -> Outcome {
    let (actor, kept) = (ask.request.actor.clone(), answer.clone());
    let (question, left) = ask.native.store().write(move |store| keep(store, &actor, (&channel, kept))).await?;
    let view = views::question(&Question { answer: Some(answer.clone()), ..question.clone() }, None);
    let desk = &ask.native.shared().questions;
    desk.show(view);
    let waited = desk.answer(&question.channel, &answer);
    let role = if answer.by.kind == "seat" { "target" } else { &answer.by.kind };
    log_sent((&question.channel, 2), (&answer.by.id, role, &question.asker), &answer.body);
    let then = if waited { "had waited for it and has it" } else { "finds it in its inbox" };
    Ok(json!({
        "channel": question.channel, "status": "answered", "to": question.asker, "still_open": left,
        "note": format!("{} {then}", question.asker),
    }))
}

/// Keeps the answer, where the one who answers may and nobody has before. With how many questions the seat that was
/// asked has left.
fn keep(store: &WriteStore<'_>, actor: &Actor, (channel, answer): (&str, Answer)) -> Result<(Question, i64), Refusal> {
    let missing = || Refusal::not_found("channel");
    let question = store.question(channel)?.ok_or_else(missing)?;
    let seat = actor.seat.as_deref().filter(|_| !actor.is_operator);
    if seat.is_some_and(|seat| seat != question.target && seat != question.asker) {
        return Err(missing());
    }
    if seat.is_some_and(|seat| seat == question.asker) {
        let message =
            format!("this is your own question to {}; nobody but it, or a person, answers it", question.target);
        return Err(Refusal { class: Class::Conflict, message });
    }
    let signed = Signed { who: answer.by, at: answer.at };
    if let Some(before) = &question.answer {
        return Err(already(&show::who(&before.by)));
    }
    store.answer(channel, &answer.body, &signed)?;
    let left = store.count_open_questions(&question.target)?.0;
    Ok((question, left))
}

async fn prompt(ask: &Ask, id: i64, answer: Answer) -> Outcome {
    let (actor, kept) = (ask.request.actor.clone(), answer.clone());
    let done = move |store: &WriteStore<'_>| -> Result<Prompt, Refusal> {
        let seat = actor.seat.as_deref().filter(|_| !actor.is_operator);
        let found = store.prompt(id)?.filter(|prompt| seat.is_none_or(|seat| seat == prompt.seat));
        let found = found.ok_or_else(|| Refusal::not_found("channel"))?;
        if store.answer_prompt(id, &kept)? { Ok(found) } else { Err(already("somebody")) }
    };
    let found = ask.native.store().write(done).await?;
    let mut view = views::prompt(&found);
    view.answer = Some(views::answer(&answer));
    ask.native.shared().questions.show(view);
    Ok(json!({"channel": views::channel_of(id), "status": "done", "note": "the prompt is marked as done"}))
}

fn already(by: &str) -> Refusal {
    Refusal { class: Class::AlreadyAnswered, message: format!("{by} has answered this; an answer is not changed") }
}
