//! Making and changing work items and projects, and commenting.

use serde_json::{Value, json};

use super::catalogue::Catalogue;
use super::{assignee, ensure_project, find, find_present, notify, present, tree, unchanged};
use crate::native::request::{Class, Outcome, Refusal, Request};
use crate::native::show;
use crate::native::words::{OVER, PRIORITIES, project_key, rank};
use crate::store::items::{Item, Project};
use crate::store::{Changed, ItemChanges, NewItem, ReadStore, WriteStore};

pub fn create(store: &WriteStore<'_>, request: &Request) -> Outcome {
    let project = project_key(request.need("project")?)?;
    ensure_project(store, request, &project)?;
    let parent = match request.text("parent") {
        Some(_) => Some(find_present(store, request, "parent")?.id),
        None => None,
    };
    request.actor.may_write()?;
    let catalogue = Catalogue::read(store)?;
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
        kind: catalogue.kind(request.text("type"))?,
        fields: catalogue.values(request.object("fields"))?.into_iter().filter(|(_, value)| !value.is_null()).collect(),
    };
    let made = store.create_item(new, &request.signed())?;
    let position = tree::relink(store, request, &made.row)?;
    notify::changed(store, request, None, &made)?;
    changed(store, request, &Changed { position: position.or(made.position), ..made })
}

pub fn update(store: &WriteStore<'_>, request: &Request) -> Outcome {
    let item = find_present(store, request, "item")?;
    request.actor.may_write()?;
    unchanged(request, &item.key(), item.version)?;
    let parent = match request.clearable("parent") {
        Some(Some(_)) => Some(Some(parent_for(store, request, &item)?)),
        Some(None) => Some(None),
        None => None,
    };
    let catalogue = Catalogue::read(store)?;
    let status = request.text("status").map(ToOwned::to_owned);
    let changes = ItemChanges {
        merged: reopens(&item, status.as_deref()).then_some(None),
        title: request.text("title").map(|title| title.trim().to_owned()),
        body: request.text("body").map(ToOwned::to_owned),
        status,
        priority: request.text("priority").and_then(|word| rank(PRIORITIES, word)),
        assignee: match request.clearable("assignee") {
            Some(Some(handle)) => Some(Some(assignee(request, handle)?)),
            Some(None) => Some(None),
            None => None,
        },
        parent,
        labels: request.texts("labels"),
        due: request.clearable("due").map(|due| due.map(ToOwned::to_owned)),
        kind: request.text("type").map(|kind| catalogue.kind(Some(kind))).transpose()?,
        fields: catalogue.values(request.object("fields"))?,
    };
    let now = store.update_item(&item, changes, &request.signed())?;
    let position = tree::relink(store, request, &item)?;
    notify::changed(store, request, Some(&item), &now)?;
    changed(store, request, &Changed { position: position.or(now.position), ..now })
}

/// What is opened again is no duplicate any more.
pub fn reopens(item: &Item, status: Option<&str>) -> bool {
    item.merged.is_some() && status.is_some_and(|status| !OVER.contains(&status))
}

/// An item that is to stand above another one: not the other one itself, nor one below it.
fn parent_for(store: &ReadStore<'_>, request: &Request, item: &Item) -> Result<i64, Refusal> {
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
    let item = present(find(store, request, "item")?)?;
    request.actor.may_write()?;
    let answered = match request.text("reply_to") {
        Some(uuid) => {
            let found = store.comment(uuid)?.filter(|comment| comment.item == item.id && comment.removed.is_none());
            Some(found.ok_or_else(|| Refusal::not_found("comment on this item"))?)
        }
        None => None,
    };
    let reply_to = answered.as_ref().map(|comment| comment.id);
    let made = store.add_comment(&item, request.need("body")?, reply_to, &request.signed())?;
    notify::commented(store, request, &item, &made, answered.as_ref())?;
    Ok(json!({"item": item.key(), "comment": show::comment(&made.row), "position": made.position}))
}

pub fn write_project(store: &WriteStore<'_>, request: &Request) -> Outcome {
    let key = project_key(request.need("project")?)?;
    if !request.actor.sees(&key) {
        return Err(Refusal::not_found("project"));
    }
    request.actor.may_write()?;
    let before = store.project(&key)?;
    let name = request.text("name").map(|name| name.trim().to_owned());
    let lead = match request.clearable("lead") {
        Some(Some(handle)) if request.company.kind_of(handle).is_none() => {
            return Err(Refusal::not_found("seat to lead it"));
        }
        Some(lead) => lead.map(ToOwned::to_owned),
        None => before.as_ref().and_then(|project| project.lead.clone()),
    };
    let project = Project {
        name: match (name, &before) {
            (Some(name), _) => name,
            (None, Some(before)) => before.name.clone(),
            (None, None) => return Err(Refusal::invalid("a new project needs a name")),
        },
        about: match (request.text("about"), &before) {
            (Some(about), _) => about.to_owned(),
            (None, before) => before.as_ref().map(|project| project.about.clone()).unwrap_or_default(),
        },
        lead,
        key,
    };
    let position = store.save_project(&project, &request.signed())?;
    let outcome = match (&before, position) {
        (None, _) => "created",
        (Some(_), Some(_)) => "changed",
        (Some(_), None) => "unchanged",
    };
    Ok(json!({
        "project": project.key, "name": project.name, "about": project.about, "lead": project.lead,
        "outcome": outcome, "position": position,
    }))
}

/// A changed item as tools answer with it.
pub fn changed(store: &ReadStore<'_>, request: &Request, changed: &Changed<Item>) -> Outcome {
    Ok(json!({
        "item": show::item(store, &request.actor, &changed.row)?, "position": changed.position, "version": changed.row.version,
    }))
}

/// The keys of items.
pub fn keys(items: &[Item]) -> Value {
    items.iter().map(Item::key).collect::<Vec<_>>().into()
}
