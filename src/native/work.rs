//! The tracker's tools: what each does once its arguments are checked. Reading ones get a store that cannot write.

use serde_json::{Value, json};

use super::request::{Class, Outcome, Refusal, Request};
use super::show;
use super::words::{OVER, PRIORITIES, project_key, rank};
use crate::store::items::{Filter, Item, Who};
use crate::store::{Changed, ItemChanges, NewItem, ReadStore, WriteStore};

/// Items of a list unless told otherwise.
const SOME: i64 = 50;
/// Comments and changes shown with an item at once.
const PAGE: i64 = 100;

/// The item that an argument names, if it exists for the one who asks.
pub fn find(store: &ReadStore<'_>, request: &Request, argument: &str) -> Result<Item, Refusal> {
    let found = store.item(request.need(argument)?)?;
    found.filter(|item| request.actor.sees(&item.project)).ok_or_else(|| Refusal::not_found("work item"))
}

fn find_present(store: &ReadStore<'_>, request: &Request, argument: &str) -> Result<Item, Refusal> {
    let item = find(store, request, argument)?;
    if item.removed.is_some() {
        let message = format!("{} is in the trash; restore_work_item takes it out", item.key());
        return Err(Refusal { class: Class::Conflict, message });
    }
    Ok(item)
}

/// The projects that a list may show: the one asked for, else everything that exists for the one who asks.
pub fn projects(request: &Request, argument: &str) -> Result<Vec<String>, Refusal> {
    match request.text(argument) {
        None => Ok(request.actor.workspace.clone()),
        Some(project) => {
            let key = project_key(project)?;
            if request.actor.sees(&key) { Ok(vec![key]) } else { Err(Refusal::not_found("project")) }
        }
    }
}

/// The seat that an item is to be assigned to.
fn assignee(request: &Request, handle: &str) -> Result<Who, Refusal> {
    let kind = request.company.kind_of(handle).ok_or_else(|| Refusal::not_found("seat to assign to"))?;
    Ok(Who::new(kind, handle))
}

pub fn list(store: &ReadStore<'_>, request: &Request) -> Outcome {
    let parent = match request.text("parent") {
        Some(_) => Some(find(store, request, "parent")?.id),
        None => None,
    };
    let limit = request.number("limit").unwrap_or(SOME);
    let closed = if request.flag("open_only") { OVER } else { &[] };
    let filter = Filter {
        projects: projects(request, "project")?,
        statuses: request.texts("status").unwrap_or_default(),
        not_statuses: closed.iter().map(ToString::to_string).collect(),
        priority: request.text("priority").and_then(|word| rank(PRIORITIES, word)),
        assignee: request.text("assignee").map(ToOwned::to_owned),
        reporter: request.text("reporter").map(ToOwned::to_owned),
        parent,
        label: request.text("label").map(ToOwned::to_owned),
        removed: request.flag("removed"),
        before: request.number("cursor"),
        offset: 0,
        limit: limit + 1,
    };
    let mut items = store.items(&filter)?;
    let more = items.len() > usize::try_from(limit).unwrap_or(usize::MAX);
    items.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    let cursor = items.last().filter(|_| more).map(|item| item.id);
    Ok(json!({"items": items.iter().map(show::row).collect::<Vec<_>>(), "next_cursor": cursor}))
}

pub fn get(store: &ReadStore<'_>, request: &Request) -> Outcome {
    let item = find(store, request, "item")?;
    let mut shown = json!({"item": show::item(store, &item)?});
    let include = request.texts("include").unwrap_or_else(|| vec!["comments".to_owned()]);
    let mut add = |name: &str, value: Value| {
        if let Some(shown) = shown.as_object_mut() {
            shown.insert(name.to_owned(), value);
        }
    };
    if include.iter().any(|part| part == "comments") {
        let comments = store.comments(item.id, request.number("comments_cursor").unwrap_or(0), PAGE + 1)?;
        let page = comments.iter().take(usize::try_from(PAGE).unwrap_or(0));
        let next = comments
            .get(usize::try_from(PAGE - 1).unwrap_or(0))
            .filter(|_| i64::try_from(comments.len()).is_ok_and(|count| count > PAGE));
        add("comments", page.map(show::comment).collect());
        add("next_comments_cursor", json!(next.map(|comment| comment.id)));
    }
    if include.iter().any(|part| part == "history") {
        add("history", store.history(item.id, PAGE)?.iter().map(show::change).collect());
    }
    Ok(shown)
}

pub fn search(store: &ReadStore<'_>, request: &Request) -> Outcome {
    let text = request.need("text")?;
    let found = store.search_items(text, &request.actor.workspace, request.number("limit").unwrap_or(20))?;
    let matches: Vec<Value> = found.iter().map(show::row).collect();
    Ok(json!({"query": text, "matches": matches, "count": matches.len()}))
}

pub fn list_projects(store: &ReadStore<'_>, request: &Request) -> Outcome {
    let projects = store.projects()?.into_iter().filter(|project| request.actor.sees(&project.key));
    let row = |project: crate::store::items::Project| json!({"project": project.key, "name": project.name, "items": project.items});
    Ok(json!({"projects": projects.map(row).collect::<Vec<_>>()}))
}

pub fn create(store: &WriteStore<'_>, request: &Request) -> Outcome {
    let project = project_key(request.need("project")?)?;
    ensure_project(store, request, &project)?;
    let parent = match request.text("parent") {
        Some(_) => Some(find_present(store, request, "parent")?.id),
        None => None,
    };
    request.actor.may_write()?;
    let new = NewItem {
        project,
        title: request.need("title")?.trim().to_owned(),
        body: request.text("body").unwrap_or_default().to_owned(),
        status: request.text("status").unwrap_or("todo").to_owned(),
        priority: request.text("priority").and_then(|word| rank(PRIORITIES, word)).unwrap_or(0),
        assignee: request.text("assignee").map(|handle| assignee(request, handle)).transpose()?,
        parent,
        labels: request.texts("labels").unwrap_or_default(),
        due: request.text("due").map(ToOwned::to_owned),
    };
    changed(store, &store.create_item(new, &request.signed())?)
}

/// A project has to exist for the one who asks. Those that the configuration names are made when they are first used.
pub fn ensure_project(store: &WriteStore<'_>, request: &Request, key: &str) -> Result<(), Refusal> {
    if !request.actor.sees(key) {
        return Err(Refusal::not_found("project"));
    }
    if store.has_project(key)? {
        return Ok(());
    }
    if request.company.names_project(key) {
        request.actor.may_write()?;
        store.put_project(key, key, request.at)?;
        return Ok(());
    }
    let message = format!("there is no project {key}; write_project makes one");
    Err(Refusal { class: Class::NotFound, message })
}

pub fn update(store: &WriteStore<'_>, request: &Request) -> Outcome {
    let item = find_present(store, request, "item")?;
    request.actor.may_write()?;
    if let Some(seen) = request.number("if_match").filter(|seen| *seen != item.version) {
        let message = format!("{} is at version {}, not {seen}; read it again", item.key(), item.version);
        return Err(Refusal { class: Class::StaleVersion, message });
    }
    let parent = match request.clearable("parent") {
        Some(Some(_)) => Some(Some(parent_for(store, request, &item)?)),
        Some(None) => Some(None),
        None => None,
    };
    let changes = ItemChanges {
        title: request.text("title").map(|title| title.trim().to_owned()),
        body: request.text("body").map(ToOwned::to_owned),
        status: request.text("status").map(ToOwned::to_owned),
        priority: request.text("priority").and_then(|word| rank(PRIORITIES, word)),
        assignee: match request.clearable("assignee") {
            Some(Some(handle)) => Some(Some(assignee(request, handle)?)),
            Some(None) => Some(None),
            None => None,
        },
        parent,
        labels: request.texts("labels"),
        due: request.clearable("due").map(|due| due.map(ToOwned::to_owned)),
    };
    changed(store, &store.update_item(&item, changes, &request.signed())?)
}

/// An item that is to stand above another one: not the other one itself, nor one below it.
pub fn parent_for(store: &ReadStore<'_>, request: &Request, item: &Item) -> Result<i64, Refusal> {
    let parent = find_present(store, request, "parent")?;
    above(store, &parent, item)?;
    Ok(parent.id)
}

/// # Errors
/// `parent` is `item` or below it.
pub fn above(store: &ReadStore<'_>, parent: &Item, item: &Item) -> Result<(), Refusal> {
    /// More levels than anybody makes.
    const DEEPEST: usize = 64;
    let mut next = Some(parent.clone());
    for _ in 0..DEEPEST {
        let Some(above) = next else { return Ok(()) };
        if above.id == item.id {
            let message = format!("{} cannot stand above {}: it is below it", parent.key(), item.key());
            return Err(Refusal { class: Class::Conflict, message });
        }
        next = match above.parent {
            Some(parent) => store.item_by_id(parent)?,
            None => None,
        };
    }
    Err(Refusal { class: Class::Conflict, message: format!("items do not stand more than {DEEPEST} levels deep") })
}

pub fn comment(store: &WriteStore<'_>, request: &Request) -> Outcome {
    let item = find_present(store, request, "item")?;
    request.actor.may_write()?;
    let reply_to = match request.text("reply_to") {
        Some(uuid) => {
            let found = store.comment(uuid)?.filter(|comment| comment.item == item.id && comment.removed.is_none());
            Some(found.ok_or_else(|| Refusal::not_found("comment on this item"))?.id)
        }
        None => None,
    };
    let made = store.add_comment(&item, request.need("body")?, reply_to, &request.signed())?;
    Ok(json!({"item": item.key(), "comment": show::comment(&made.row), "position": made.position}))
}

pub fn write_project(store: &WriteStore<'_>, request: &Request) -> Outcome {
    let key = project_key(request.need("project")?)?;
    if !request.actor.sees(&key) {
        return Err(Refusal::not_found("project"));
    }
    request.actor.may_write()?;
    let name = request.need("name")?.trim();
    let new = store.put_project(&key, name, request.at)?;
    Ok(json!({"project": key, "name": name, "outcome": if new { "created" } else { "renamed" }}))
}

pub fn remove(store: &WriteStore<'_>, request: &Request) -> Outcome {
    let item = find(store, request, "item")?;
    request.actor.may_delete(&item.reporter)?;
    let now = store.set_removed(&item, true, &request.signed())?;
    let outcome = if now.position.is_some() { "removed" } else { "already_removed" };
    Ok(json!({
        "removed": item.key(), "outcome": outcome, "position": now.position, "version": now.row.version,
    }))
}

pub fn restore(store: &WriteStore<'_>, request: &Request) -> Outcome {
    let item = find(store, request, "item")?;
    request.actor.may_delete(&item.reporter)?;
    let now = store.set_removed(&item, false, &request.signed())?;
    let outcome = if now.position.is_some() { "restored" } else { "not_in_the_trash" };
    Ok(json!({
        "restored": item.key(), "outcome": outcome, "position": now.position, "version": now.row.version,
    }))
}

fn changed(store: &ReadStore<'_>, changed: &Changed<Item>) -> Outcome {
    Ok(json!({
        "item": show::item(store, &changed.row)?, "position": changed.position, "version": changed.row.version,
    }))
}

/// The seat whose inbox the one who asks works.
fn seat(request: &Request) -> Result<&str, Refusal> {
    let none = "this token works no seat's inbox: name one with `seat` under `operators`";
    request.actor.seat.as_deref().ok_or_else(|| Refusal::forbidden(none))
}

pub fn inbox(store: &ReadStore<'_>, request: &Request) -> Outcome {
    let messages = store.inbox(seat(request)?, request.flag("unread"), request.number("limit").unwrap_or(SOME))?;
    Ok(json!({"messages": messages.iter().map(show::message).collect::<Vec<_>>()}))
}

pub fn mark_inbox(store: &WriteStore<'_>, request: &Request) -> Outcome {
    let seat = seat(request)?;
    request.actor.may_write()?;
    let read = store.mark(seat, &request.numbers("read"), true, request.at)?;
    let unread = store.mark(seat, &request.numbers("unread"), false, request.at)?;
    Ok(json!({"read": read, "unread": unread}))
}
