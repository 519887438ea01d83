//! The tools of pages: what each does once its arguments are checked.

use serde_json::{Value, json};

use super::request::{Class, Outcome, Refusal, Request};
use super::show;
use super::work::cut;
use crate::store::pages::{Page, PageFilter};
use crate::store::{NewPage, PageChanges, ReadStore, WriteStore};

/// Where pages belong that say nothing.
const CONTAINER: &str = "main";
/// Comments, and pages below it, shown with a page at once.
const SHOWN: i64 = 200;
/// Versions shown with a page: the latest. Their numbers say which ones there are before them.
const VERSIONS: usize = 200;

fn find(store: &ReadStore<'_>, request: &Request, argument: &str) -> Result<Page, Refusal> {
    store.page(request.need(argument)?)?.ok_or_else(|| Refusal::not_found("page"))
}

pub fn list(store: &ReadStore<'_>, request: &Request) -> Outcome {
    let parent = match request.text("parent") {
        Some(_) => Some(find(store, request, "parent")?.id),
        None => None,
    };
    let limit = request.number("limit").unwrap_or(50);
    let own = |name: &str| request.text(name).map(ToOwned::to_owned);
    let mut pages = store.pages(&PageFilter {
        container: own("container"),
        parent,
        label: own("label"),
        title: own("title"),
        before: request.number("cursor"),
        limit: limit + 1,
    })?;
    let cursor = cut(&mut pages, limit).map(|last| last.id);
    Ok(json!({"pages": pages.iter().map(show::page_row).collect::<Vec<_>>(), "next_cursor": cursor}))
}

pub fn get(store: &ReadStore<'_>, request: &Request) -> Outcome {
    let now = find(store, request, "page")?;
    let page = match request.number("version").filter(|version| *version != now.version) {
        Some(version) => store.page_at(&now, version)?.ok_or_else(|| {
            let message = format!("the page has no version {version}; it is at {}", now.version);
            Refusal { class: Class::NotFound, message }
        })?,
        None => now.clone(),
    };
    let mut shown = show::page(&page);
    let parent = match now.parent {
        Some(parent) => store.page_by_id(parent)?.map(|parent| parent.uuid),
        None => None,
    };
    let mut add = |name: &str, value: Value| {
        if let Some(shown) = shown.as_object_mut() {
            shown.insert(name.to_owned(), value);
        }
    };
    add("parent", json!(parent));
    add("latest_version", now.version.into());
    let include = request.texts("include").unwrap_or_else(|| vec!["comments".to_owned()]);
    for part in include {
        let rows: Vec<Value> = match part.as_str() {
            "comments" => {
                let after = request.number("comments_cursor").unwrap_or(0);
                let mut comments = store.page_comments(now.id, after, SHOWN + 1)?;
                add("next_comments_cursor", json!(cut(&mut comments, SHOWN).map(|last| last.id)));
                comments.iter().map(show::page_comment).collect()
            }
            "versions" => store.page_versions(now.id, VERSIONS)?.iter().map(show::page_version).collect(),
            _ => {
                let below = PageFilter { parent: Some(now.id), limit: SHOWN + 1, ..PageFilter::default() };
                let mut below = store.pages(&below)?;
                add("next_children_cursor", json!(cut(&mut below, SHOWN).map(|last| last.id)));
                below.iter().map(show::page_row).collect()
            }
        };
        add(&part, rows.into());
    }
    Ok(shown)
}

pub fn search(store: &ReadStore<'_>, request: &Request) -> Outcome {
    let query = request.need("query")?;
    let found = store.search_pages(query, request.number("limit").unwrap_or(20))?;
    let matches: Vec<Value> = found.iter().map(show::page_row).collect();
    Ok(json!({"query": query, "matches": matches, "count": matches.len()}))
}

pub fn write(store: &WriteStore<'_>, request: &Request) -> Outcome {
    let parent = match request.text("parent") {
        Some(_) => Some(find(store, request, "parent")?.id),
        None => None,
    };
    request.actor.may_write()?;
    let new = NewPage {
        container: request.text("container").unwrap_or(CONTAINER).trim().to_owned(),
        title: request.need("title")?.trim().to_owned(),
        body: request.need("body")?.to_owned(),
        labels: request.texts("labels").unwrap_or_default(),
        parent,
        message: request.text("message").map(ToOwned::to_owned),
    };
    let made = store.create_page(new, &request.signed())?;
    Ok(json!({"page": show::page_row(&made.row), "position": made.position, "version": made.row.version}))
}

pub fn save(store: &WriteStore<'_>, request: &Request) -> Outcome {
    let page = find(store, request, "page")?;
    request.actor.may_write()?;
    let base = request.number("base_version").unwrap_or(0);
    if base != page.version {
        let message = format!("the page is at version {}, not {base}; read it again", page.version);
        return Err(Refusal { class: Class::StaleVersion, message });
    }
    let changes = PageChanges {
        title: request.text("title").map(|title| title.trim().to_owned()),
        body: request.text("body").map(ToOwned::to_owned),
        labels: request.texts("labels"),
        message: request.text("message").map(ToOwned::to_owned),
    };
    let saved = store.save_page(&page, changes, &request.signed())?;
    Ok(json!({"page": show::page_row(&saved.row), "position": saved.position, "version": saved.row.version}))
}

pub fn comment(store: &WriteStore<'_>, request: &Request) -> Outcome {
    let page = find(store, request, "page")?;
    request.actor.may_write()?;
    let (uuid, position) = store.add_page_comment(&page, request.need("body")?, &request.signed())?;
    Ok(json!({"page": page.uuid, "comment": uuid, "position": position}))
}
