//! What the connector's tools do: the tracker's rows under the connector's names. Each looks first whether what it is
//! about exists in the token's workspace, then whether the token may, then acts.

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::clock::Timestamp;
use crate::native::company::DEFAULT_PROJECT;
use crate::native::request::{Outcome, Refusal, Request};
use crate::native::words::{CONNECTOR_PRIORITIES, project_key, rank};
use crate::native::work::catalogue::Catalogue;
use crate::native::work::{self, notify, write};
use crate::native::{questions, show};
use crate::store::items::{Item, Who};
use crate::store::lists::Filter;
use crate::store::{ItemChanges, NewItem, ReadStore, WriteStore};

/// Comments of one answer.
const COMMENTS: i64 = 200;

fn any(store: &ReadStore<'_>, request: &Request, argument: &str) -> Result<Item, Refusal> {
    let found = store.item(request.need(argument)?)?;
    found.filter(|item| request.actor.sees(&item.project)).ok_or_else(|| Refusal::not_found("issue"))
}

/// An issue that was not deleted.
fn issue(store: &ReadStore<'_>, request: &Request, argument: &str) -> Result<Item, Refusal> {
    let item = any(store, request, argument)?;
    if item.removed.is_none() { Ok(item) } else { Err(Refusal::not_found("issue")) }
}

pub fn list(store: &ReadStore<'_>, request: &Request) -> Outcome {
    let filter = Filter {
        projects: request.actor.workspace.clone(),
        statuses: request.text("status").map(ToOwned::to_owned).into_iter().collect(),
        priority: request.text("priority").and_then(|word| rank(CONNECTOR_PRIORITIES, word)),
        assignee: request.text("assignee").map(ToOwned::to_owned),
        limit: request.number("limit").unwrap_or(50),
        offset: request.number("offset").unwrap_or(0),
        ..Filter::default()
    };
    let issues: Result<Vec<Value>, _> =
        store.items(&filter)?.iter().map(|item| show::issue(store, &request.actor, item)).collect();
    Ok(json!({"issues": issues?}))
}

pub fn get(store: &ReadStore<'_>, request: &Request) -> Outcome {
    let item = issue(store, request, "issue_id")?;
    Ok(json!({"issue": show::issue(store, &request.actor, &item)?}))
}

pub fn comments(store: &ReadStore<'_>, request: &Request) -> Outcome {
    let item = issue(store, request, "issue_id")?;
    let mut comments = store.comments(item.id, request.number("cursor").unwrap_or(0), COMMENTS + 1)?;
    let cursor = work::cut(&mut comments, COMMENTS).map(|comment| comment.id);
    Ok(json!({"comments": comments.iter().map(show::issue_comment).collect::<Vec<_>>(), "next_cursor": cursor}))
}

pub fn usage(store: &ReadStore<'_>, request: &Request) -> Outcome {
    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    let days = u32::try_from(request.number("days").unwrap_or(30)).unwrap_or(1);
    let (today, span) = (request.at.millis(), i64::try_from(DAY.as_millis()).unwrap_or(1));
    // Whole days, today's included.
    let since = Timestamp::from_millis((today.div_euclid(span) - i64::from(days) + 1) * span);
    let names = [
        ("created", "issues_created"),
        ("updated", "issues_updated"),
        ("removed", "issues_deleted"),
        ("commented", "comments_created"),
    ];
    let row = |day: crate::store::trail::Day| {
        let mut row = Map::from_iter([("date".to_owned(), Value::String(day.date.clone()))]);
        for (what, name) in names {
            let count = day.counts.iter().find(|(happened, _)| happened == what).map_or(0, |(_, count)| *count);
            row.insert(name.to_owned(), count.into());
        }
        Value::Object(row)
    };
    let days = store.days(since, &request.actor.workspace)?;
    Ok(json!({"days": days.into_iter().map(row).collect::<Vec<_>>()}))
}

pub fn create(store: &WriteStore<'_>, request: &Request) -> Outcome {
    let project = match request.text("project_id") {
        Some(project) => project_key(project)?,
        None => request.actor.workspace.first().cloned().unwrap_or_else(|| DEFAULT_PROJECT.to_owned()),
    };
    work::ensure_project(store, request, &project)?;
    let parent = match request.text("parent_issue_id") {
        Some(_) => Some(issue(store, request, "parent_issue_id")?.id),
        None => None,
    };
    let assignee = match request.text("assignee_id") {
        Some(id) => Some(assignee(request, id)?),
        None => None,
    };
    request.actor.may_write()?;
    let new = NewItem {
        project,
        title: request.need("title")?.trim().to_owned(),
        body: request.text("description").unwrap_or_default().to_owned(),
        status: request.text("status").unwrap_or("todo").to_owned(),
        priority: request.text("priority").and_then(|word| rank(CONNECTOR_PRIORITIES, word)).unwrap_or(0),
        assignee,
        parent,
        due: request.text("due_date").map(ToOwned::to_owned),
        kind: Catalogue::read(store)?.kind(None)?,
        ..NewItem::default()
    };
    let made = store.create_item(new, &request.signed())?;
    notify::changed(store, request, None, &made)?;
    Ok(json!({"issue": show::issue(store, &request.actor, &made.row)?}))
}

/// Who is to work on an issue: there has to be such a seat, and of the kind that was said.
fn assignee(request: &Request, id: &str) -> Result<Who, Refusal> {
    let kind = request.company.kind_of(id).ok_or_else(|| Refusal::not_found("agent or user"))?;
    match request.text("assignee_type") {
        Some(said) if said != kind => Err(Refusal::not_found(said)),
        _ => Ok(Who::new(kind, id)),
    }
}

pub fn update(store: &WriteStore<'_>, request: &Request) -> Outcome {
    let item = issue(store, request, "issue_id")?;
    if request.text("project_id").is_some_and(|project| !project.eq_ignore_ascii_case(&item.project)) {
        return Err(Refusal::invalid("an issue does not move between projects; leave project_id out"));
    }
    let parent = match request.clearable("parent_issue_id") {
        Some(Some(_)) => {
            let parent = issue(store, request, "parent_issue_id")?;
            write::above(store, &parent, &item)?;
            Some(Some(parent.id))
        }
        Some(None) => Some(None),
        None => None,
    };
    let assigned = match request.clearable("assignee_id") {
        Some(Some(id)) => Some(Some(assignee(request, id)?)),
        Some(None) => Some(None),
        None => None,
    };
    request.actor.may_write()?;
    let changes = ItemChanges {
        title: request.text("title").map(|title| title.trim().to_owned()),
        body: request.text("description").map(ToOwned::to_owned),
        status: request.text("status").map(ToOwned::to_owned),
        priority: request.text("priority").and_then(|word| rank(CONNECTOR_PRIORITIES, word)),
        assignee: assigned,
        parent,
        due: request.clearable("due_date").map(|due| due.map(ToOwned::to_owned)),
        merged: write::reopens(&item, request.text("status")).then_some(None),
        ..ItemChanges::default()
    };
    let now = store.update_item(&item, changes, &request.signed())?;
    notify::changed(store, request, Some(&item), &now)?;
    Ok(json!({"issue": show::issue(store, &request.actor, &now.row)?}))
}

pub fn comment(store: &WriteStore<'_>, request: &Request) -> Outcome {
    let item = issue(store, request, "issue_id")?;
    request.actor.may_write()?;
    let made = store.add_comment(&item, request.need("body")?, None, &request.signed())?;
    notify::commented(store, request, &item, &made, None)?;
    Ok(json!({"comment": show::issue_comment(&made.row)}))
}

pub fn assign(store: &WriteStore<'_>, request: &Request) -> Outcome {
    let item = issue(store, request, "issue_id")?;
    let agent = request.need("agent_id")?;
    if request.company.kind_of(agent) != Some("agent") {
        return Err(Refusal::not_found("agent"));
    }
    request.actor.may_write()?;
    let changes = ItemChanges { assignee: Some(Some(Who::new("agent", agent))), ..ItemChanges::default() };
    let now = store.update_item(&item, changes, &request.signed())?;
    notify::changed(store, request, Some(&item), &now)?;
    Ok(json!({"issue": show::issue(store, &request.actor, &now.row)?}))
}

pub fn trigger(store: &WriteStore<'_>, request: &Request) -> Outcome {
    let id = request.need("autopilot_id")?;
    // Its seat may have left the configuration since the start.
    let mut known =
        request.company.autopilots.iter().filter(|autopilot| request.company.seat(autopilot.seat.as_str()).is_some());
    let found = known.find(|autopilot| &*autopilot.id == id);
    let autopilot = found.ok_or_else(|| Refusal::not_found("autopilot"))?;
    request.actor.may_write()?;
    questions::room_for_prompt(store, autopilot.seat.as_str())?;
    let message = ("autopilot", &*autopilot.id, &*autopilot.prompt);
    let message = store.send(autopilot.seat.as_str(), message, &request.signed())?;
    Ok(json!({"autopilot_id": id, "agent_id": autopilot.seat.as_str(), "message_id": message}))
}

pub fn delete(store: &WriteStore<'_>, request: &Request) -> Outcome {
    let item = any(store, request, "issue_id")?;
    request.actor.may_delete(&item.reporter)?;
    store.set_removed(&item, true, &request.signed())?;
    Ok(json!({"issue_id": item.uuid, "deleted": true}))
}

pub fn delete_comment(store: &WriteStore<'_>, request: &Request) -> Outcome {
    let missing = || Refusal::not_found("comment");
    let comment = store.comment(request.need("comment_id")?)?.ok_or_else(missing)?;
    let item = store.item_by_id(comment.item)?.filter(|item| request.actor.sees(&item.project)).ok_or_else(missing)?;
    request.actor.may_delete(&comment.author)?;
    store.remove_comment(&comment, &item, &request.signed())?;
    Ok(json!({"comment_id": comment.uuid, "deleted": true}))
}
