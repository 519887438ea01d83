//! What people make of work items: the order that a seat works in, what it pinned, and saved views.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::people::leads;
use super::{cut, named, present, unchanged};
use crate::native::request::{Class, Outcome, Refusal, Request};
use crate::native::show;
use crate::native::words::{OVER, project_key};
use crate::store::items::Item;
use crate::store::lists::{Filter, Sort};
use crate::store::plans::{Pin, View};
use crate::store::{ReadStore, WriteStore};

/// Items shown as somebody's work.
const SOME: i64 = 50;

pub fn my_work(store: &ReadStore<'_>, request: &Request) -> Outcome {
    let seat = request.own_seat()?;
    let mut shown = work_of(store, request, seat)?;
    let (views, favorites) = split(store.pins(seat)?);
    if let Some(shown) = shown.as_object_mut() {
        shown.insert("seat".to_owned(), seat.into());
        shown.insert("pins".to_owned(), json!({"views": views, "favorites": favorites}));
    }
    Ok(shown)
}

/// What a seat works on, as far as it exists for the one who asks: first what was put into an order, then what else is
/// assigned to it, the most urgent first.
pub fn work_of(store: &ReadStore<'_>, request: &Request, seat: &str) -> Outcome {
    let is_open = |item: &Item| !OVER.contains(&item.status.as_str()) && request.actor.sees(&item.project);
    let queue: Vec<Item> = store.queue(seat)?.into_iter().filter(is_open).collect();
    let ordered: HashSet<i64> = queue.iter().map(|item| item.id).collect();
    let mut assigned = store.items(&Filter {
        projects: request.actor.workspace.clone(),
        not_statuses: OVER.iter().map(ToString::to_string).collect(),
        assignee: Some(seat.to_owned()),
        sort: Sort::Priority,
        limit: SOME + 1,
        ..Filter::default()
    })?;
    let more = cut(&mut assigned, SOME).is_some();
    let rest = assigned.iter().filter(|item| !ordered.contains(&item.id));
    Ok(json!({
        "queue": queue.iter().map(show::row).collect::<Vec<_>>(), "assigned": rest.map(show::row).collect::<Vec<_>>(),
        "more_assigned": more,
        "unread": store.unread(seat, request.at)?,
    }))
}

pub fn set_priorities(store: &WriteStore<'_>, request: &Request) -> Outcome {
    request.actor.may_write()?;
    let handle = match request.text("handle") {
        Some(handle) => handle,
        None => request.own_seat()?,
    };
    let seat = request.company.seat(handle).ok_or_else(|| Refusal::not_found("seat to order the work of"))?;
    let own = request.actor.seat.as_deref();
    // A token orders what is its seat's, and what is of those that its seat leads. The person at the screen has no
    // seat; the whole company is theirs.
    if own != Some(handle) && !request.actor.is_person() && !own.is_some_and(|own| leads(&request.company, own, seat)) {
        return Err(Refusal::forbidden(format!("only {handle} and who leads its line order its work")));
    }
    let mut items: Vec<Item> = Vec::new();
    for name in request.texts("items").unwrap_or_default() {
        let item = present(named(store, request, &name)?)?;
        if items.iter().any(|known| known.id == item.id) {
            return Err(Refusal::invalid(format!("{} stands twice in items", item.key())));
        }
        items.push(item);
    }
    // What does not exist for the one who asks stays in the order, behind what does.
    let hidden = store.queue(handle)?.into_iter().filter(|item| !request.actor.sees(&item.project)).map(|item| item.id);
    let ids: Vec<i64> = items.iter().map(|item| item.id).chain(hidden).collect();
    let position = store.set_queue(handle, &ids, &request.signed())?;
    Ok(json!({
        "seat": handle, "queue": super::write::keys(&items), "by": show::who(&request.actor.who), "position": position,
    }))
}

pub fn set_pins(store: &WriteStore<'_>, request: &Request) -> Outcome {
    let seat = request.own_seat()?;
    request.actor.may_write()?;
    let (mut views, mut favorites) = split(store.pins(seat)?);
    if let Some(names) = request.texts("views") {
        for name in &names {
            view(store, request, name)?;
        }
        views = names;
    }
    if request.arguments.get("favorites").is_some_and(Value::is_array) {
        favorites = request.values("favorites").map(|one| favorite(store, request, one)).collect::<Result<_, _>>()?;
    }
    let pins: Vec<Pin> = views
        .iter()
        .map(|name| Pin { kind: "view".to_owned(), target: name.clone() })
        .chain(
            favorites.iter().map(|one| Pin { kind: text(one, "kind").to_owned(), target: text(one, "id").to_owned() }),
        )
        .fold(Vec::new(), |mut all, pin| {
            if !all.contains(&pin) {
                all.push(pin);
            }
            all
        });
    let position = store.set_pins(seat, &pins, &request.signed())?;
    let (views, favorites) = split(pins);
    Ok(json!({"seat": seat, "views": views, "favorites": favorites, "position": position}))
}

/// Something to be pinned, under the name that it keeps: items and pages by their ids, projects by their keys.
fn favorite(store: &ReadStore<'_>, request: &Request, one: &Value) -> Result<Value, Refusal> {
    let (kind, name) = (text(one, "kind"), text(one, "id"));
    let id = match kind {
        "item" => present(named(store, request, name)?)?.uuid,
        "page" => store.page(name)?.ok_or_else(|| Refusal::not_found("page"))?.uuid,
        _ => {
            let key = project_key(name)?;
            if !request.actor.sees(&key) || !store.has_project(&key)? {
                return Err(Refusal::not_found("project"));
            }
            key
        }
    };
    Ok(json!({"kind": kind, "id": id}))
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Views, and everything else that is pinned.
fn split(pins: Vec<Pin>) -> (Vec<String>, Vec<Value>) {
    let (views, others): (Vec<Pin>, Vec<Pin>) = pins.into_iter().partition(|pin| pin.kind == "view");
    let favorite = |pin: Pin| json!({"kind": pin.kind, "id": pin.target});
    (views.into_iter().map(|pin| pin.target).collect(), others.into_iter().map(favorite).collect())
}

pub fn list_views(store: &ReadStore<'_>, request: &Request) -> Outcome {
    let pinned = match &request.actor.seat {
        Some(seat) => split(store.pins(seat)?).0,
        None => Vec::new(),
    };
    let row = |view: &View| {
        // It was an object when it was saved.
        let filter: Value = serde_json::from_str(&view.filter).unwrap_or_default();
        json!({
            "view": view.name, "about": view.about, "filter": filter, "author": show::who(&view.author),
            "version": view.version, "updated": view.updated.rfc3339_seconds(), "pinned": pinned.contains(&view.name),
        })
    };
    let exists = |view: &&View| exists(request, view);
    Ok(json!({"views": store.views()?.iter().filter(exists).map(row).collect::<Vec<_>>()}))
}

/// A view of a project that does not exist for the one who asks does not either.
fn exists(request: &Request, view: &View) -> bool {
    // It was an object when it was saved.
    let filter: Value = serde_json::from_str(&view.filter).unwrap_or_default();
    let project = filter.get("project").and_then(Value::as_str);
    project.is_none_or(|project| request.actor.sees(&project.trim().to_ascii_uppercase()))
}

/// The view of this name, if it exists for the one who asks.
pub fn view(store: &ReadStore<'_>, request: &Request, name: &str) -> Result<View, Refusal> {
    let found = store.view(name)?.filter(|view| exists(request, view));
    found.ok_or_else(|| Refusal::not_found("view; list_work_views lists those that there are"))
}

pub fn save_view(store: &WriteStore<'_>, request: &Request) -> Outcome {
    request.actor.may_write()?;
    let name = request.need("name")?.trim();
    let before = store.view(name)?;
    if before.as_ref().is_some_and(|view| !exists(request, view)) {
        let message = "a view of this name is there already; save it under another one".to_owned();
        return Err(Refusal { class: Class::Conflict, message });
    }
    unchanged(request, "the view", before.as_ref().map_or(0, |view| view.version))?;
    let filter = Value::Object(request.object("filter")).to_string();
    let about = match (request.text("about"), &before) {
        (Some(about), _) => about,
        (None, before) => before.as_ref().map_or("", |view| view.about.as_str()),
    };
    let saved = store.save_view(name, about, &filter, &request.signed())?;
    let outcome = match (&before, saved.position) {
        (None, _) => "created",
        (Some(_), Some(_)) => "changed",
        (Some(_), None) => "unchanged",
    };
    Ok(json!({"view": name, "outcome": outcome, "version": saved.row.version, "position": saved.position}))
}
