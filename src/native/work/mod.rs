//! The tracker's tools: what each does once its arguments are checked. Reading ones get a store that cannot write.
//!
//! | file | owns |
//! |---|---|
//! | `list`, `read` | lists and searches; one item, its story, projects |
//! | `write` | making, changing, commenting |
//! | `tree` | removing, restoring, moving, merging; links |
//! | `catalogue` | types, labels and own fields of items |
//! | `plans`, `people` | orders, pins and views; who somebody is and leads |
//! | `inbox`, `notify` | reading and marking an inbox; what puts something into it |

pub mod catalogue;
pub mod inbox;
pub mod list;
pub mod notify;
pub mod people;
pub mod plans;
pub mod read;
pub mod tree;
pub mod write;

use super::request::{Class, Refusal, Request};
use super::words::project_key;
use crate::store::items::{Item, Who};
use crate::store::{ReadStore, WriteStore};

/// The item that an argument names, if it exists for the one who asks.
pub fn find(store: &ReadStore<'_>, request: &Request, argument: &str) -> Result<Item, Refusal> {
    named(store, request, request.need(argument)?)
}

/// The item of this key or id, if it exists for the one who asks.
fn named(store: &ReadStore<'_>, request: &Request, name: &str) -> Result<Item, Refusal> {
    let found = store.item(name)?;
    found.filter(|item| request.actor.sees(&item.project)).ok_or_else(|| Refusal::not_found("work item"))
}

fn find_present(store: &ReadStore<'_>, request: &Request, argument: &str) -> Result<Item, Refusal> {
    present(find(store, request, argument)?)
}

/// # Errors
/// It is in the trash.
fn present(item: Item) -> Result<Item, Refusal> {
    if item.removed.is_none() {
        return Ok(item);
    }
    let message = format!("{} is in the trash; restore_work_item takes it out", item.key());
    Err(Refusal { class: Class::Conflict, message })
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

/// # Errors
/// The version that was read is not the one that there is.
fn unchanged(request: &Request, what: &str, version: i64) -> Result<(), Refusal> {
    match request.number("if_match").filter(|seen| *seen != version) {
        None => Ok(()),
        Some(0) => Err(Refusal { class: Class::Exists, message: format!("{what} is there already") }),
        Some(seen) => {
            let message = format!("{what} is at version {version}, not {seen}; read it again");
            Err(Refusal { class: Class::StaleVersion, message })
        }
    }
}

/// Leaves `most` rows of a list that was asked for one more. The last one, where there are others behind it: a list goes
/// on after it.
pub fn cut<T>(rows: &mut Vec<T>, most: i64) -> Option<&T> {
    let most = usize::try_from(most).unwrap_or(0);
    let more = rows.len() > most;
    rows.truncate(most);
    rows.last().filter(|_| more)
}
