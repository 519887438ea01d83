//! Removing and restoring work items, with what stands below them; moving, merging and linking.

use serde_json::{Value, json};

use super::write::{above, changed, keys};
use super::{ensure_project, find, find_present, named, notify, present, unchanged};
use crate::native::request::{Class, Outcome, Refusal, Request};
use crate::native::show;
use crate::native::words::project_key;
use crate::store::WriteStore;
use crate::store::items::Item;

/// Items that are removed by one call at most.
const MOST: i64 = 1_000;

pub fn remove(store: &WriteStore<'_>, request: &Request) -> Outcome {
    let item = find(store, request, "item")?;
    request.actor.may_delete(&item.reporter)?;
    let below = if request.flag("subtree") { store.below(item.id, MOST + 1)? } else { Vec::new() };
    if i64::try_from(below.len()).is_ok_and(|count| count > MOST) {
        let message = format!("more than {MOST} items stand below {}; remove parts of them first", item.key());
        return Err(Refusal { class: Class::Conflict, message });
    }
    for item in &below {
        below_is_seen(request, &item.project)?;
        request.actor.may_delete(&item.reporter)?;
    }
    let now = store.remove_tree(&item, &below, &request.signed())?;
    let outcome = if now.position.is_some() { "removed" } else { "already_removed" };
    Ok(json!({
        "removed": item.key(), "outcome": outcome, "position": now.position, "version": now.row.version,
        "below": keys(&below),
    }))
}

/// # Errors
/// What stands below something that is to be changed with it does not exist for the one who asks.
fn below_is_seen(request: &Request, project: &str) -> Result<(), Refusal> {
    if request.actor.sees(project) {
        return Ok(());
    }
    let message = "something below it is in a project that this token does not have; ask who has that one".to_owned();
    Err(Refusal { class: Class::Conflict, message })
}

pub fn restore(store: &WriteStore<'_>, request: &Request) -> Outcome {
    let item = find(store, request, "item")?;
    request.actor.may_delete(&item.reporter)?;
    let together = store.removed_with(item.id)?;
    for below in together.iter().filter(|_| item.removed.is_some()) {
        below_is_seen(request, &below.project)?;
        request.actor.may_delete(&below.reporter)?;
    }
    let now = store.restore_tree(&item, &request.signed())?;
    let outcome = if now.position.is_some() { "restored" } else { "not_in_the_trash" };
    Ok(json!({
        "restored": item.key(), "outcome": outcome, "position": now.position, "version": now.row.version,
        "below": keys(&together),
    }))
}

pub fn move_item(store: &WriteStore<'_>, request: &Request) -> Outcome {
    let item = find_present(store, request, "item")?;
    let project = project_key(request.need("project")?)?;
    request.actor.may_write()?;
    unchanged(request, &item.key(), item.version)?;
    ensure_project(store, request, &project)?;
    let now = store.move_item(&item, &project, &request.signed())?;
    let outcome = if now.position.is_some() { "moved" } else { "already_there" };
    Ok(json!({
        "item": show::item(store, &request.actor, &now.row)?, "was": item.key(), "outcome": outcome, "position": now.position,
        "version": now.row.version,
    }))
}

pub fn merge(store: &WriteStore<'_>, request: &Request) -> Outcome {
    let item = find_present(store, request, "item")?;
    let into = present(find(store, request, "into")?)?;
    request.actor.may_write()?;
    let conflict = |message: String| Err(Refusal { class: Class::Conflict, message });
    if item.id == into.id {
        return Err(Refusal::invalid("an item is not merged into itself"));
    }
    if let Some(other) = item.merged {
        let other = store.item_by_id(other)?.map(|other| other.key()).unwrap_or_default();
        return conflict(format!("{} was merged into {other}; open it again first", item.key()));
    }
    if into.merged.is_some() {
        return conflict(format!("{} was merged itself; name the item that it was merged into", into.key()));
    }
    // What stands below the merged item comes to stand below the other one.
    if into.parent != Some(item.id)
        && let Err(refusal) = above(store, &into, &item)
    {
        let further = || conflict(format!("{} is further below {}; move it first", into.key(), item.key()));
        return if refusal.class == Class::Conflict { further() } else { Err(refusal) };
    }
    for project in store.projects_below(item.id)? {
        below_is_seen(request, &project)?;
    }
    let now = store.merge_item(&item, &into, &request.signed())?;
    notify::changed(store, request, Some(&item), &now)?;
    changed(store, request, &now).map(|mut shown| {
        if let Some(shown) = shown.as_object_mut() {
            shown.insert("into".to_owned(), into.key().into());
        }
        shown
    })
}

/// Adds and takes away the links that the arguments name. The position, where something is different.
pub fn relink(store: &WriteStore<'_>, request: &Request, item: &Item) -> Result<Option<i64>, Refusal> {
    let mut position = None;
    for (argument, adds) in [("unlink", false), ("links", true)] {
        for link in request.values(argument) {
            let text = |name: &str| link.get(name).and_then(Value::as_str).unwrap_or_default();
            let other = named(store, request, text("item"))?;
            if other.id == item.id {
                return Err(Refusal::invalid("an item is not linked with itself"));
            }
            let (kind, from, to) = match text("kind") {
                "blocked_by" => ("blocks", &other, item),
                "duplicated_by" => ("duplicates", &other, item),
                "duplicates" => ("duplicates", item, &other),
                "blocks" => ("blocks", item, &other),
                // The same from both sides: kept once.
                _ if other.id < item.id => ("relates", &other, item),
                _ => ("relates", item, &other),
            };
            let by = request.signed();
            let now = if adds { store.link(from, kind, to, &by)? } else { store.unlink(from, kind, to, &by)? };
            position = now.or(position);
        }
    }
    Ok(position)
}
