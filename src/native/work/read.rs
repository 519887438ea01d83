//! Reading one work item and its story, and what there is to know of projects.

use serde_json::{Map, Value, json};

use super::catalogue::Catalogue;
use super::{cut, find};
use crate::native::request::{Outcome, Refusal, Request};
use crate::native::show;
use crate::native::words::{OVER, project_key};
use crate::store::items::{Item, Project};
use crate::store::lists::{Filter, Sort};
use crate::store::{ReadStore, StoreError};

/// Comments and changes shown with an item at once.
const PAGE: i64 = 100;
/// Items shown with a project.
const FEW: i64 = 5;

pub fn get(store: &ReadStore<'_>, request: &Request) -> Outcome {
    let item = find(store, request, "item")?;
    let mut shown = Map::from_iter([("item".to_owned(), show::item(store, &request.actor, &item)?)]);
    let include = request.texts("include").unwrap_or_else(|| vec!["comments".to_owned()]);
    for part in include {
        match part.as_str() {
            "comments" => {
                let after = request.number("comments_cursor").unwrap_or(0);
                let mut comments = store.comments(item.id, after, PAGE + 1)?;
                let last = cut(&mut comments, PAGE).map(|comment| comment.id);
                shown.insert("next_comments_cursor".to_owned(), json!(last));
                shown.insert(part, comments.iter().map(show::comment).collect());
            }
            "history" => {
                let mut changes = store.history(item.id, PAGE + 1)?;
                let last = cut(&mut changes, PAGE).map(|change| change.position);
                shown.insert("next_history_cursor".to_owned(), json!(last));
                shown.insert(part, changes.iter().map(|change| show::change(&request.actor, change)).collect());
            }
            "links" => {
                shown.insert(part, links(store, request, &item)?.into());
            }
            _ => {
                shown.insert(part, Catalogue::read(store)?.of(&item));
            }
        }
    }
    Ok(Value::Object(shown))
}

/// How an item stands to others, as far as those exist for the one who asks.
fn links(store: &ReadStore<'_>, request: &Request, item: &Item) -> Result<Vec<Value>, StoreError> {
    let mut shown = Vec::new();
    for link in store.links(item.id)? {
        let Some(other) = store.item_by_id(link.other)?.filter(|other| request.actor.sees(&other.project)) else {
            continue;
        };
        let kind = match (link.kind.as_str(), link.reversed) {
            ("blocks", true) => "blocked_by",
            ("duplicates", true) => "duplicated_by",
            (kind, _) => kind,
        };
        shown.push(json!({
            "kind": kind, "item": other.key(), "title": other.title, "status": other.status,
            "removed": other.removed.is_some(),
        }));
    }
    Ok(shown)
}

pub fn activity(store: &ReadStore<'_>, request: &Request) -> Outcome {
    let item = find(store, request, "item")?;
    let limit = request.number("limit").unwrap_or(super::list::SOME);
    let before = request.number("cursor").unwrap_or(i64::MAX);
    let mut changes = store.history_before(item.id, before, limit + 1)?;
    let cursor = cut(&mut changes, limit).map(|change| change.position);
    let mut shown = Vec::new();
    for change in &changes {
        let mut row = show::change(&request.actor, change);
        // What was said stands with it, unless it was taken back.
        if change.what == "commented"
            && let Some(comment) = store.comment(&change.detail)?.filter(|comment| comment.removed.is_none())
            && let Some(row) = row.as_object_mut()
        {
            row.insert("body".to_owned(), comment.body.into());
        }
        shown.push(row);
    }
    Ok(json!({"item": item.key(), "activity": shown, "next_cursor": cursor}))
}

pub fn list_projects(store: &ReadStore<'_>, request: &Request) -> Outcome {
    let mut shown = Vec::new();
    for project in store.projects()?.into_iter().filter(|project| request.actor.sees(&project.key)) {
        let items: i64 = store.states(&project.key)?.iter().map(|(_, count)| count).sum();
        shown.push(json!({
            "project": project.key, "name": project.name, "about": project.about, "lead": project.lead, "items": items,
        }));
    }
    Ok(json!({ "projects": shown }))
}

/// The project that an argument names, if it exists for the one who asks.
fn project(store: &ReadStore<'_>, request: &Request) -> Result<Project, Refusal> {
    let key = project_key(request.need("project")?)?;
    let found = if request.actor.sees(&key) { store.project(&key)? } else { None };
    found.ok_or_else(|| Refusal::not_found("project; list_projects lists those that there are"))
}

pub fn describe_project(store: &ReadStore<'_>, request: &Request) -> Outcome {
    let project = project(store, request)?;
    let states = store.states(&project.key)?;
    let is_open = |status: &str| !OVER.contains(&status);
    let open: i64 = states.iter().filter(|(status, _)| is_open(status)).map(|(_, count)| count).sum();
    let total: i64 = states.iter().map(|(_, count)| count).sum();
    let of = |sort| Filter {
        projects: vec![project.key.clone()],
        not_statuses: OVER.iter().map(ToString::to_string).collect(),
        sort,
        limit: FEW,
        ..Filter::default()
    };
    let rows = |filter: &Filter| -> Result<Vec<Value>, StoreError> {
        Ok(store.items(filter)?.iter().map(show::row).collect())
    };
    Ok(json!({
        "project": project.key, "name": project.name, "about": project.about, "lead": project.lead,
        "items": total, "open": open, "by_status": states.into_iter().collect::<std::collections::BTreeMap<_, _>>(),
        "due_next": rows(&of(Sort::Due))?, "changed_last": rows(&of(Sort::Updated))?,
    }))
}
