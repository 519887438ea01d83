//! Rows as JSON for tools. Pure.

use serde_json::{Value, json};

use super::words::{CONNECTOR_PRIORITIES, PRIORITIES, word};
use crate::store::items::{Comment, Item, Who};
use crate::store::pages::{Page, PageComment};
use crate::store::trail::{Change, Message};
use crate::store::{ReadStore, StoreError};

fn who(who: &Who) -> String {
    format!("{}:{}", who.kind, who.id)
}

/// The key of an item's parent.
pub fn parent_key(store: &ReadStore<'_>, item: &Item) -> Result<Option<String>, StoreError> {
    match item.parent {
        Some(parent) => Ok(store.item_by_id(parent)?.map(|parent| parent.key())),
        None => Ok(None),
    }
}

/// An item in a list.
pub fn row(item: &Item) -> Value {
    json!({
        "item": item.key(), "id": item.uuid, "title": item.title, "status": item.status,
        "priority": word(PRIORITIES, item.priority), "project": item.project,
        "assignee": item.assignee.as_ref().map(|who| &who.id), "labels": item.labels, "due": item.due,
        "version": item.version, "updated": item.updated.rfc3339_seconds(),
    })
}

/// An item, whole.
pub fn item(store: &ReadStore<'_>, item: &Item) -> Result<Value, StoreError> {
    Ok(json!({
        "item": item.key(), "id": item.uuid, "title": item.title, "body": item.body, "status": item.status,
        "priority": word(PRIORITIES, item.priority), "project": item.project,
        "assignee": item.assignee.as_ref().map(|who| &who.id), "reporter": who(&item.reporter),
        "parent": parent_key(store, item)?, "labels": item.labels, "due": item.due, "version": item.version,
        "created": item.created.rfc3339_seconds(), "updated": item.updated.rfc3339_seconds(),
        "removed": item.removed.map(crate::clock::Timestamp::rfc3339_seconds),
    }))
}

/// A comment.
pub fn comment(comment: &Comment) -> Value {
    json!({
        "comment": comment.uuid, "cursor": comment.id, "body": comment.body, "author": who(&comment.author),
        "created": comment.created.rfc3339_seconds(),
    })
}

/// A row of an item's history.
pub fn change(change: &Change) -> Value {
    json!({
        "position": change.position, "at": change.at.rfc3339_seconds(), "actor": who(&change.actor),
        "what": change.what, "detail": change.detail,
    })
}

/// A message.
pub fn message(message: &Message) -> Value {
    json!({
        "message": message.id, "kind": message.kind, "subject": message.subject, "body": message.body,
        "sender": who(&message.sender), "created": message.created.rfc3339_seconds(),
        "read": message.seen.map(crate::clock::Timestamp::rfc3339_seconds),
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
pub fn page(page: &Page, comments: &[PageComment]) -> Value {
    let comment = |comment: &PageComment| {
        json!({
            "comment": comment.uuid, "body": comment.body, "author": who(&comment.author),
            "created": comment.created.rfc3339_seconds(),
        })
    };
    json!({
        "page": page.uuid, "title": page.title, "body": page.body, "container": page.container,
        "labels": page.labels, "author": who(&page.author), "message": page.message, "version": page.version,
        "created": page.created.rfc3339_seconds(), "updated": page.updated.rfc3339_seconds(),
        "comments": comments.iter().map(comment).collect::<Vec<_>>(),
    })
}

/// An item as the connector shows it.
pub fn issue(store: &ReadStore<'_>, item: &Item) -> Result<Value, StoreError> {
    let parent = match item.parent {
        Some(parent) => store.item_by_id(parent)?.map(|parent| parent.uuid),
        None => None,
    };
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
