//! Listing a server's tools: every page, each tool for itself, within caps.
//!
//! The supervisor calls [`list`] before every `Ready` and again when the server says that its list changed. What a
//! tool means is not its business: it hands raw items to [`Listing::push`].

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::client::{Answer, Client, Role};
use super::protocol;
use crate::engine::status::Era;
use crate::tool::Listing;

/// Pages that are read at most.
const MAX_PAGES: usize = 100;
/// Tools that are kept at most.
const MAX_TOOLS: usize = 20_000;

/// What to expect of a server that is asked for its tools.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ToolSupport {
    /// It says that it has tools.
    Declared,
    /// It says that it has tools and tells when they change.
    Announced,
    /// It says what it can do, and tools are not among it.
    Absent,
    /// It does not say what it can do.
    Unsaid,
}

/// Reads all pages of the tool list.
///
/// # Errors
/// What the server answered instead of a page, as a text that has not been cleaned.
pub(super) async fn list(client: &Client, era: Era, support: ToolSupport) -> Result<Listing, String> {
    let mut listing = Listing::default();
    if support == ToolSupport::Absent {
        return Ok(listing);
    }
    let mut seen = HashSet::new();
    let mut cursor: Option<String> = None;
    for _ in 0..MAX_PAGES {
        let params = protocol::list(era, cursor.as_deref());
        let page = match client.request(Role::Ordinary, "tools/list", |_| params).await {
            Answer::Result(page) => page,
            Answer::Error(error) if error.code == -32601 && support == ToolSupport::Unsaid => return Ok(listing),
            Answer::Error(error) => return Err(format!("{} (code {})", error.message, error.code)),
            Answer::Undelivered(_, reason) => return Err(reason),
            Answer::Ended(reason) => return Err(reason.to_string()),
        };
        let page: Page<'_> = serde_json::from_str(page.get()).map_err(|error| format!("unreadable answer: {error}"))?;
        add_page(&mut listing, &page)?;
        if listing.cut.is_some() {
            return Ok(listing);
        }
        cursor = match page.next_cursor.and_then(|next| serde_json::from_str::<String>(next.get()).ok()) {
            Some(next) if !next.is_empty() => Some(next),
            _ => return Ok(listing),
        };
        if let Some(next) = &cursor
            && !seen.insert(next.clone())
        {
            listing.cut = Some("the server handed out the same page cursor twice".into());
            return Ok(listing);
        }
    }
    listing.cut = Some(format!("the server's list has more than {MAX_PAGES} pages").into());
    Ok(listing)
}

/// One page, its items still text: each is decoded for itself.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page<'p> {
    #[serde(borrow)]
    result_type: Option<&'p RawValue>,
    #[serde(borrow)]
    tools: Option<&'p RawValue>,
    #[serde(borrow)]
    next_cursor: Option<&'p RawValue>,
}

fn add_page(listing: &mut Listing, page: &Page<'_>) -> Result<(), String> {
    match page.result_type.map(RawValue::get) {
        None | Some("\"complete\"" | "null") => {}
        Some(kind) => return Err(format!("the answer is of type {kind}, not a list")),
    }
    let items = page.tools.and_then(|tools| serde_json::from_str::<Vec<&RawValue>>(tools.get()).ok());
    let Some(items) = items else { return Err("the answer holds no list of tools".to_owned()) };
    for item in items {
        if listing.tools.len() + listing.rejected.len() >= MAX_TOOLS {
            listing.cut = Some(format!("the server lists more than {MAX_TOOLS} tools").into());
            return Ok(());
        }
        listing.push_text(item.get());
    }
    Ok(())
}
