//! The tools of pages: what each does once its arguments are checked.

use serde_json::{Value, json};

use super::request::{Class, Outcome, Refusal, Request};
use super::show;
use crate::store::pages::Page;
use crate::store::{NewPage, ReadStore, WriteStore};

/// Where pages belong that say nothing.
const CONTAINER: &str = "main";
/// Comments shown with a page.
const COMMENTS: i64 = 200;

fn find(store: &ReadStore<'_>, request: &Request, argument: &str) -> Result<Page, Refusal> {
    store.page(request.need(argument)?)?.ok_or_else(|| Refusal::not_found("page"))
}

pub fn list(store: &ReadStore<'_>, request: &Request) -> Outcome {
    let parent = match request.text("parent") {
        Some(_) => Some(find(store, request, "parent")?.id),
        None => None,
    };
    let limit = request.number("limit").unwrap_or(50);
    let pages = store.pages(request.text("container"), parent, request.text("label"), limit)?;
    Ok(json!({"pages": pages.iter().map(show::page_row).collect::<Vec<_>>()}))
}

pub fn get(store: &ReadStore<'_>, request: &Request) -> Outcome {
    let page = find(store, request, "page")?;
    Ok(show::page(&page, &store.page_comments(page.id, COMMENTS)?))
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
    let title = request.text("title").map(|title| title.trim().to_owned());
    let saved = store.save_page(&page, title, request.text("body").map(ToOwned::to_owned), &request.signed())?;
    Ok(json!({"page": show::page_row(&saved.row), "position": saved.position, "version": saved.row.version}))
}

pub fn comment(store: &WriteStore<'_>, request: &Request) -> Outcome {
    let page = find(store, request, "page")?;
    request.actor.may_write()?;
    let (uuid, position) = store.add_page_comment(&page, request.need("body")?, &request.signed())?;
    Ok(json!({"page": page.uuid, "comment": uuid, "position": position}))
}
