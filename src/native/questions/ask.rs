//! `a2a_ask`: keeps a question, then waits for its answer. Cancelling ends the waiting, never the question.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::desk::{Closed, DEEPEST};
use super::{OF_ONE, OPEN, fresh_channel, people, views};
use crate::clock::Timestamp;
use crate::native::request::{Class, Refusal, Request};
use crate::native::tool::{Ask, Running};
use crate::store::questions::{Answer, Question};

/// The longest that an asker waits, and how long it does when it does not say.
pub(super) const LONGEST: Duration = Duration::from_secs(120);
/// Characters of a message in the log.
const LOGGED: usize = 200;

pub fn run(ask: Ask) -> Running {
    Box::pin(async move {
        let request = &ask.request;
        let asker =
            request.actor.seat.clone().ok_or_else(|| Refusal::forbidden("only a seat's agent asks colleagues"))?;
        let target = people::colleague(&request.company, &asker, request.need("role_urn")?)?.handle.to_string();
        let patience = patience(request)?;
        let channel = fresh_channel()?;
        let desk = ask.native.shared().questions.clone();
        let mut place = desk.wait(&channel, &asker, &target).map_err(|closed| refusal(closed, &target))?;
        let question = Question {
            id: 0,
            channel: channel.to_string(),
            brief: request.need("brief")?.to_owned(),
            budget: request.number("budget"),
            deadline: request.at.plus(patience),
            chain: place.chain.clone(),
            asked: request.at,
            answer: None,
            asker,
            target,
        };
        let until = tokio::time::Instant::now() + patience;
        keep(&ask, &question).await?;
        log_opened(&question);
        desk.show(views::question(&question, Some(question.deadline)));
        let answer = tokio::select! {
            biased;
            answer = &mut place.answer => answer.ok(),
            () = tokio::time::sleep_until(until) => None,
            () = ask.cancel.cancelled() => return Ok(open(&ask, &question)),
        };
        let answer = match answer {
            Some(answer) => Some(answer),
            // It may have come between the last look and now; whoever answers from here on is not waited for.
            None => {
                drop(place);
                at_last(&ask, &channel).await
            }
        };
        match answer {
            Some(answer) => {
                // Nobody hears the result of a call whose caller has gone: then it stands in the inbox.
                if !ask.cancel.is_cancelled() {
                    delivered(&ask, &channel).await;
                }
                Ok(views::answered(&question, &answer))
            }
            None => Ok(open(&ask, &question)),
        }
    })
}

/// How long the asker waits.
fn patience(request: &Request) -> Result<Duration, Refusal> {
    let Some(said) = request.text("deadline") else { return Ok(LONGEST) };
    let left = if let Ok(moment) = said.trim().parse::<jiff::Timestamp>() {
        Timestamp::from_millis(moment.as_millisecond()).since(request.at)
    } else if let Ok(span) = said.trim().parse::<jiff::SignedDuration>() {
        Duration::try_from(span).unwrap_or_default()
    } else {
        let shape = "deadline is neither a moment such as 2026-12-24T09:00:00Z nor a span such as PT30S";
        return Err(Refusal::invalid(shape));
    };
    if left.is_zero() {
        return Err(Refusal::invalid("deadline has passed; leave it out, or give a later one"));
    }
    Ok(left.min(LONGEST))
}

fn refusal(closed: Closed, target: &str) -> Refusal {
    let message = match closed {
        Closed::Ring { channel, by } if &*by == target => format!(
            "{target} waits for your own answer on channel {channel}: answer it with a2a_reply, and ask back in the answer \
             if you have to"
        ),
        Closed::Ring { channel, by } => format!(
            "{target} waits, over {by}, for your own answer on channel {channel}: answer that with a2a_reply first"
        ),
        Closed::Deep(chain) => format!(
            "{} wait for each other already, and not more than {DEEPEST} questions stand behind one another; answer what \
             you were asked with what you know",
            chain.join(", ")
        ),
    };
    Refusal { class: Class::Conflict, message }
}

/// Keeps the question, where there is room in the inbox.
async fn keep(ask: &Ask, question: &Question) -> Result<i64, Refusal> {
    let question = question.clone();
    ask.native
        .store()
        .write(move |store| {
            let (there, everywhere) = store.count_open_questions_of(&question.asker, &question.target)?;
            if there >= OF_ONE.0 || everywhere >= OF_ONE.1 {
                let message = format!(
                    "{there} questions of yours to {} have no answer yet, and {everywhere} to all together; you can have {} \
                     and {}. a2a_inbox lists what you asked; wait for answers, or go on without",
                    question.target, OF_ONE.0, OF_ONE.1
                );
                return Err(Refusal { class: Class::InboxFull, message });
            }
            let (own, all) = store.count_open_questions(&question.target)?;
            if own >= OPEN.0 {
                let message = format!("{} has {own} questions to answer first; ask later", question.target);
                return Err(Refusal { class: Class::InboxFull, message });
            }
            if all >= OPEN.1 {
                let message = format!("the company has {all} open questions; some have to be answered first");
                return Err(Refusal { class: Class::InboxFull, message });
            }
            Ok(store.ask(&question)?)
        })
        .await
}

/// The answer, where it stands in the store.
async fn at_last(ask: &Ask, channel: &Arc<str>) -> Option<Answer> {
    let channel = channel.clone();
    let read = ask.native.store().read(move |store| store.question(&channel)).await;
    read.ok().flatten().and_then(|question| question.answer)
}

/// The answer need not stand in the inbox any more. Where that cannot be kept it stands there too, which does no harm.
async fn delivered(ask: &Ask, channel: &Arc<str>) {
    let (channel, at) = (channel.clone(), Timestamp::now());
    let kept = ask.native.store().write(move |store| store.delivered(&channel, at)).await;
    if let Err(error) = kept {
        tracing::warn!(%error, "a2a_delivery_not_kept");
    }
}

/// What an asker gets that waits no longer.
fn open(ask: &Ask, question: &Question) -> Value {
    let target = &question.target;
    let present = ask.native.shared().questions.is_present(target);
    let there = if present { "is connected and has not answered yet" } else { "is not connected at the moment" };
    json!({
        "channel": question.channel, "status": "open", "to": target, "colleague_connected": present,
        "note": format!(
            "{target} {there}. The question stays in its inbox, and the answer will be in yours: read a2a_inbox later, and \
             do not ask the same again"
        ),
    })
}

fn log_opened(question: &Question) {
    let Question { channel, asker, target, .. } = question;
    tracing::info!(
        channel_id = %channel, requester = %asker, target = %target, participants = %format!("{asker},{target}"),
        delegation_depth = question.chain.len(), delegation_chain = %question.chain.join(","), "a2a_channel_opened"
    );
    log_sent((channel, 1), (asker, "requester", target), &question.brief);
}

/// One message of a channel went from one to the other.
pub(super) fn log_sent((channel, number): (&str, u8), (sender, role, recipient): (&str, &str, &str), content: &str) {
    let content = crate::text::fit(&crate::text::visible(content), LOGGED).into_owned();
    tracing::info!(
        channel_id = %channel, sender = %sender, sender_role = %role, recipient = %recipient,
        message_id = %format!("{channel}/{number}"), content = %content, "a2a_message_sent"
    );
}
