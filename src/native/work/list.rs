//! Lists of work items, and searches.

use serde_json::{Value, json};

use super::{cut, find, plans, projects};
use crate::native::request::{Outcome, Refusal, Request};
use crate::native::show;
use crate::native::words::{OVER, PRIORITIES, rank};
use crate::store::ReadStore;
use crate::store::lists::{After, Due, Filter, Sort};

/// Items of a list unless told otherwise.
pub const SOME: i64 = 50;

pub fn list(store: &ReadStore<'_>, request: &Request) -> Outcome {
    let viewed = match request.text("view") {
        Some(name) => Some(through_view(store, request, name)?),
        None => None,
    };
    let request = viewed.as_ref().unwrap_or(request);
    let limit = request.number("limit").unwrap_or(SOME);
    let filter = Filter { limit: limit + 1, ..filter(store, request)? };
    let mut items = store.items(&filter)?;
    let cursor = cut(&mut items, limit).map(|item| match filter.sort {
        Sort::Newest => json!(item.id),
        sort => json!(format!("{}~{}", sort.key(item), item.id)),
    });
    Ok(json!({"items": items.iter().map(show::row).collect::<Vec<_>>(), "next_cursor": cursor}))
}

/// The same call with what a saved view says, where the call itself says nothing.
fn through_view(store: &ReadStore<'_>, request: &Request, name: &str) -> Result<Request, Refusal> {
    let view = plans::view(store, request, name)?;
    let mut through = request.clone();
    // It was an object when it was saved.
    let saved: serde_json::Map<String, Value> = serde_json::from_str(&view.filter).unwrap_or_default();
    for (name, value) in saved {
        if through.arguments.get(&name).is_none_or(Value::is_null) {
            through.arguments.insert(name, value);
        }
    }
    Ok(through)
}

/// What the arguments ask for.
///
/// # Errors
/// Something that they name does not exist for the one who asks, or two of them do not go together.
fn filter(store: &ReadStore<'_>, request: &Request) -> Result<Filter, Refusal> {
    let parent = match request.text("parent") {
        Some(_) => Some(find(store, request, "parent")?.id),
        None => None,
    };
    let closed = if request.flag("open_only") { OVER } else { &[] };
    let sort = match request.text("sort") {
        Some("updated") => Sort::Updated,
        Some("priority") => Sort::Priority,
        Some("due") => Sort::Due,
        _ => Sort::Newest,
    };
    let own = |name: &str| request.text(name).map(ToOwned::to_owned);
    let removed = request.flag("removed");
    if removed && request.text("text").is_some() {
        return Err(Refusal::invalid("what is in the trash is not searched: leave out text, or removed"));
    }
    let mut filter = Filter {
        projects: projects(request, "project")?,
        statuses: request.texts("status").unwrap_or_default(),
        not_statuses: closed.iter().map(ToString::to_string).collect(),
        priority: request.text("priority").and_then(|word| rank(PRIORITIES, word)),
        assignee: own("assignee"),
        reporter: own("reporter"),
        parent,
        label: own("label"),
        kind: own("type"),
        text: own("text"),
        removed,
        sort,
        after: after(request, sort)?,
        ..Filter::default()
    };
    match request.text("due") {
        None => {}
        Some("none") if sort == Sort::Due => {
            return Err(Refusal::invalid("what is never due cannot be ordered by when it is due"));
        }
        Some("none") => filter.due = Some(Due::Never),
        Some("overdue") => {
            filter.due = Some(Due::By(day(request, -1)));
            filter.not_statuses = OVER.iter().map(ToString::to_string).collect();
        }
        Some("today") => filter.due = Some(Due::By(day(request, 0))),
        Some("week") => filter.due = Some(Due::By(day(request, 7))),
        Some(text) => match text.parse::<jiff::civil::Date>() {
            Ok(date) => filter.due = Some(Due::By(date.to_string())),
            Err(_) => return Err(Refusal::invalid("due is not a day, overdue, today, week or none")),
        },
    }
    Ok(filter)
}

/// The day of the call moved by so many days, UTC.
fn day(request: &Request, days: i64) -> String {
    const DAY: i64 = 24 * 60 * 60 * 1_000;
    let at = crate::clock::Timestamp::from_millis(request.at.millis() + days * DAY);
    at.rfc3339_seconds().chars().take(10).collect()
}

fn after(request: &Request, sort: Sort) -> Result<Option<After>, Refusal> {
    let wrong = || Refusal::invalid("cursor is not the next_cursor of a list in this order");
    let Some(cursor) = request.arguments.get("cursor").filter(|cursor| !cursor.is_null()) else { return Ok(None) };
    let text = cursor.as_str().map_or_else(|| cursor.to_string(), ToOwned::to_owned);
    let (key, id) = match (sort, text.rsplit_once('~')) {
        (Sort::Newest, None) => (String::new(), text.as_str()),
        (Sort::Newest, Some(_)) | (_, None) => return Err(wrong()),
        (_, Some((key, id))) => (key.to_owned(), id),
    };
    Ok(Some(After { key, id: id.parse().map_err(|_| wrong())? }))
}

pub fn search(store: &ReadStore<'_>, request: &Request) -> Outcome {
    let text = request.need("text")?;
    let found = store.search_items(text, &request.actor.workspace, request.number("limit").unwrap_or(20))?;
    let matches: Vec<Value> = found.iter().map(show::row).collect();
    Ok(json!({"query": text, "matches": matches, "count": matches.len()}))
}
