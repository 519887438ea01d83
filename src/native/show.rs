//! Rows as JSON for tools. Pure.

use serde_json::{Map, Value, json};

use super::request::Actor;
use super::words::{CONNECTOR_PRIORITIES, PRIORITIES, word};
use crate::clock::Timestamp;
use crate::store::heads::PageVersion;
use crate::store::inbox::Message;
use crate::store::items::{Comment, Item, Who};
use crate::store::pages::{Page, PageComment};
use crate::store::trail::Change;
use crate::store::{ReadStore, StoreError};

/// `seat:release`.
pub fn who(who: &Who) -> String {
    format!("{}:{}", who.kind, who.id)
}

/// The item of this number, where it exists for the one who asks.
fn seen(store: &ReadStore<'_>, actor: &Actor, id: Option<i64>) -> Result<Option<Item>, StoreError> {
    let found = id.map_or(Ok(None), |id| store.item_by_id(id))?;
    Ok(found.filter(|item| actor.sees(&item.project)))
}

/// An item in a list.
pub fn row(item: &Item) -> Value {
    json!({
        "item": item.key(), "id": item.uuid, "title": item.title, "type": item.kind, "status": item.status,
        "priority": word(PRIORITIES, item.priority), "project": item.project,
        "assignee": item.assignee.as_ref().map(|who| &who.id), "labels": item.labels, "due": item.due,
        "version": item.version, "updated": item.updated.rfc3339_seconds(),
    })
}

/// An item, whole, as far as the one who asks may know.
pub fn item(store: &ReadStore<'_>, actor: &Actor, item: &Item) -> Result<Value, StoreError> {
    let key = |id| Ok::<_, StoreError>(seen(store, actor, id)?.map(|item| item.key()));
    Ok(json!({
        "item": item.key(), "id": item.uuid, "title": item.title, "body": item.body, "type": item.kind,
        "status": item.status,
        "priority": word(PRIORITIES, item.priority), "project": item.project,
        "assignee": item.assignee.as_ref().map(|who| &who.id), "reporter": who(&item.reporter),
        "parent": key(item.parent)?, "labels": item.labels, "due": item.due, "fields": item.fields,
        "merged_into": key(item.merged)?, "version": item.version,
        "created": item.created.rfc3339_seconds(), "updated": item.updated.rfc3339_seconds(),
        "removed": item.removed.map(Timestamp::rfc3339_seconds),
    }))
}

/// A comment.
pub fn comment(comment: &Comment) -> Value {
    json!({
        "comment": comment.uuid, "cursor": comment.id, "body": comment.body, "author": who(&comment.author),
        "created": comment.created.rfc3339_seconds(),
    })
}

/// A text with keys of items in it, without those that do not exist for the one who asks.
fn without_unseen(actor: &Actor, text: &str) -> String {
    let is_key = |(project, number): (&str, &str)| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) && !actor.sees(project)
    };
    let shown = |word| if str::rsplit_once(word, '-').is_some_and(is_key) { "elsewhere" } else { word };
    text.split(' ').map(shown).collect::<Vec<_>>().join(" ")
}

/// A row of an item's history, as far as the one who asks may know.
pub fn change(actor: &Actor, change: &Change) -> Value {
    let detail = match change.what.as_str() {
        "linked" | "unlinked" | "merged in" | "moved" => without_unseen(actor, &change.detail),
        _ => change.detail.clone(),
    };
    json!({
        "position": change.position, "at": change.at.rfc3339_seconds(), "actor": who(&change.actor),
        "what": change.what, "detail": detail, "fields": change.data.clone().map(|fields| named(actor, fields)),
    })
}

/// Differences with priorities by their words, and without items that do not exist for the one who asks.
fn named(actor: &Actor, mut fields: Value) -> Value {
    for name in ["parent", "merged"] {
        for value in fields.get_mut(name).and_then(Value::as_object_mut).into_iter().flat_map(Map::values_mut) {
            if let Some(key) = value.as_str() {
                *value = without_unseen(actor, key).into();
            }
        }
    }
    if let Some(priority) = fields.get_mut("priority").and_then(Value::as_object_mut) {
        for value in priority.values_mut() {
            *value = word(PRIORITIES, value.as_i64().unwrap_or(0)).into();
        }
    }
    fields
}

/// A message, with the item that it is about.
pub fn message(message: &Message, item: Option<&Item>) -> Value {
    json!({
        "record_id": message.id, "position": message.position, "kind": message.kind, "subject": message.subject,
        "body": message.body, "item": item.map(Item::key), "sender": who(&message.sender),
        "created": message.created.rfc3339_seconds(), "read": message.seen.map(Timestamp::rfc3339_seconds),
        "snoozed": message.snoozed.map(Timestamp::rfc3339_seconds),
    })
}

/// A page in a list.
pub fn page_row(page: &Page) -> Value {
    json!({
        "page": page.uuid, "title": page.title, "container": page.container, "labels": page.labels,
        "version": page.version, "updated": page.updated.rfc3339_seconds(),
    })
}

/// A page, whole.
pub fn page(page: &Page) -> Value {
    json!({
        "page": page.uuid, "title": page.title, "body": page.body, "container": page.container,
        "labels": page.labels, "author": who(&page.author), "message": page.message, "version": page.version,
        "created": page.created.rfc3339_seconds(), "updated": page.updated.rfc3339_seconds(),
    })
}

/// A comment on a page.
pub fn page_comment(comment: &PageComment) -> Value {
    json!({
        "comment": comment.uuid, "body": comment.body, "author": who(&comment.author),
        "created": comment.created.rfc3339_seconds(),
    })
}

/// A version of a page.
pub fn page_version(version: &PageVersion) -> Value {
    json!({
        "version": version.version, "title": version.title, "author": who(&version.author),
        "message": version.message, "created": version.created.rfc3339_seconds(),
    })
}

/// An item as the connector shows it.
pub fn issue(store: &ReadStore<'_>, actor: &Actor, item: &Item) -> Result<Value, StoreError> {
    let parent = seen(store, actor, item.parent)?.map(|parent| parent.uuid);
    Ok(json!({
        "id": item.uuid, "key": item.key(), "title": item.title, "description": item.body, "status": item.status,
        "priority": word(CONNECTOR_PRIORITIES, item.priority), "project_id": item.project, "parent_issue_id": parent,
        "assignee_type": item.assignee.as_ref().map(|who| &who.kind),
        "assignee_id": item.assignee.as_ref().map(|who| &who.id), "due_date": item.due,
        "created_by": who(&item.reporter), "version": item.version,
        "created_at": item.created.rfc3339_seconds(), "updated_at": item.updated.rfc3339_seconds(),
    }))
}

/// A comment as the connector shows it.
pub fn issue_comment(comment: &Comment) -> Value {
    json!({
        "id": comment.uuid, "body": comment.body, "author": who(&comment.author),
        "created_at": comment.created.rfc3339_seconds(),
    })
}
