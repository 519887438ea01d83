//! Reading the inbox of the seat that the one who asks works, and marking what is in it.

use serde_json::{Value, json};

use super::cut;
use crate::clock::Timestamp;
use crate::native::request::{Outcome, Refusal, Request};
use crate::native::show;
use crate::store::inbox::Mark;
use crate::store::{ReadStore, WriteStore};

pub fn read(store: &ReadStore<'_>, request: &Request) -> Outcome {
    let seat = request.own_seat()?;
    let unread = request.flag("unread").then_some(request.at);
    let limit = request.number("limit").unwrap_or(super::list::SOME);
    let mut messages = store.inbox(seat, unread, before(request)?, limit + 1)?;
    let cursor = cut(&mut messages, limit).map(|last| format!("{}~{}", last.created.millis(), last.id));
    let mut shown = Vec::new();
    for message in messages {
        let item = message.item.map_or(Ok(None), |id| store.item_by_id(id))?;
        // What a token's workspace does not have is not shown by way of an inbox either.
        if item.as_ref().is_none_or(|item| request.actor.sees(&item.project)) {
            shown.push(show::message(&message, item.as_ref()));
        }
    }
    let unread = store.unread(seat, request.at)?;
    Ok(json!({"seat": seat, "messages": shown, "unread": unread, "next_cursor": cursor}))
}

/// Where the list goes on.
fn before(request: &Request) -> Result<Option<(i64, i64)>, Refusal> {
    let Some(cursor) = request.arguments.get("cursor").filter(|cursor| !cursor.is_null()) else { return Ok(None) };
    let read = |text: &str| text.split_once('~').and_then(|(at, id)| Some((at.parse().ok()?, id.parse().ok()?)));
    let place = cursor.as_str().and_then(read);
    place.map(Some).ok_or_else(|| Refusal::invalid("cursor is not the next_cursor of an inbox"))
}

pub fn mark(store: &WriteStore<'_>, request: &Request) -> Outcome {
    let seat = request.own_seat()?;
    request.actor.may_write()?;
    let mut passed_over = Vec::new();
    let mut all = |argument: &str| -> Result<usize, Refusal> {
        let mut marked = 0;
        for one in request.values(argument) {
            let number = |name: &str| one.get(name).and_then(Value::as_i64);
            let Some(id) = one.as_i64().or_else(|| number("record_id")) else { continue };
            let mark = match argument {
                "read" => Mark::Read,
                "unread" => Mark::Unread,
                _ => Mark::Snoozed(until(one, request.at)?),
            };
            if store.mark(seat, (id, number("position")), mark, request.at)? {
                marked += 1;
            } else {
                passed_over.push(id);
            }
        }
        Ok(marked)
    };
    let (read, unread, snoozed) = (all("read")?, all("unread")?, all("snoozed")?);
    let through = match request.number("seen_through") {
        Some(position) => store.seen_through(seat, position, request.at)?,
        None => 0,
    };
    Ok(json!({
        "seat": seat, "read": read, "unread": unread, "snoozed": snoozed, "seen_through": through,
        "passed_over": passed_over,
    }))
}

/// Until when a message is put off.
fn until(one: &Value, now: Timestamp) -> Result<Timestamp, Refusal> {
    let until = one.get("until").and_then(Value::as_str).and_then(|text| text.parse::<jiff::Timestamp>().ok());
    let until = until.ok_or_else(|| Refusal::invalid("snoozed needs until, such as 2026-12-24T08:00:00Z"))?;
    let until = Timestamp::from_millis(until.as_millisecond());
    if until <= now {
        return Err(Refusal::invalid("until is over already"));
    }
    Ok(until)
}
