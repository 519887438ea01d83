//! Listing a server's tools: every page, each tool for itself, within caps.
//!
//! The supervisor calls [`list`] before every `Ready` and again when the server says that its list changed. What a
//! tool means is not its business: it hands raw items to [`Listing::push`].

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::client::{Answer, Client, Role};
use super::known::KnownTools;
use super::link::Carriage;
use super::protocol;
use crate::engine::status::Era;
use crate::secret::Redactor;
use crate::tool::Listing;
use crate::tool::listing::RejectedTool;
use crate::tool::mirror;

/// Pages that are read at most.
const MAX_PAGES: usize = 100;
/// Bytes of all pages together.
const MAX_BYTES: usize = 32 << 20;
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

/// Reads all pages of the tool list, and has the client remember what was read.
///
/// # Errors
/// What the server answered instead of a page, as a text that has not been cleaned.
pub(super) async fn list(
    client: &Client,
    redactor: &Redactor,
    era: Era,
    support: ToolSupport,
) -> Result<Listing, String> {
    let mut reading = Reading {
        redactor: redactor.clone(),
        listing: Listing::default(),
        known: KnownTools::default(),
        // Markings mean something only where there are headers, and only in the era that has them.
        mirrors: client.carriage() == Carriage::Http && era == Era::Modern,
    };
    if support != ToolSupport::Absent {
        read_pages(client, (era, support), &mut reading).await?;
    }
    client.set_tools(reading.known);
    Ok(reading.listing)
}

/// What has been read so far.
struct Reading {
    redactor: Redactor,
    listing: Listing,
    known: KnownTools,
    mirrors: bool,
}

async fn read_pages(client: &Client, (era, support): (Era, ToolSupport), reading: &mut Reading) -> Result<(), String> {
    let mut seen = HashSet::new();
    let mut cursor: Option<String> = None;
    let mut bytes = 0;
    for _ in 0..MAX_PAGES {
        let params = protocol::list(era, cursor.as_deref());
        let page = match client.request(Role::Ordinary, "tools/list", |_| params).await {
            Answer::Result(page) => page,
            Answer::Error(error) if error.code == protocol::METHOD_NOT_FOUND && support == ToolSupport::Unsaid => {
                return Ok(());
            }
            Answer::Error(error) => return Err(format!("{} (code {})", error.message, error.code)),
            Answer::Undelivered(lack) => return Err(lack.reason),
            Answer::Ended(reason) => return Err(reason.to_string()),
        };
        bytes += page.get().len();
        if bytes > MAX_BYTES {
            reading.listing.cut = Some(format!("the server's list has more than {} MiB", MAX_BYTES >> 20).into());
            return Ok(());
        }
        let page: Page<'_> = serde_json::from_str(page.get()).map_err(|error| format!("unreadable answer: {error}"))?;
        reading.add_page(&page)?;
        if reading.listing.cut.is_some() {
            return Ok(());
        }
        cursor = match page.next_cursor.and_then(|next| serde_json::from_str::<String>(next.get()).ok()) {
            Some(next) if !next.is_empty() => Some(next),
            _ => return Ok(()),
        };
        if let Some(next) = &cursor
            && !seen.insert(next.clone())
        {
            reading.listing.cut = Some("the server handed out the same page cursor twice".into());
            return Ok(());
        }
    }
    reading.listing.cut = Some(format!("the server's list has more than {MAX_PAGES} pages").into());
    Ok(())
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

impl Reading {
    fn add_page(&mut self, page: &Page<'_>) -> Result<(), String> {
        match page.result_type.map(RawValue::get) {
            None | Some("\"complete\"" | "null") => {}
            Some(kind) => return Err(format!("the answer is of type {kind}, not a list")),
        }
        let items = page.tools.and_then(|tools| serde_json::from_str::<Vec<&RawValue>>(tools.get()).ok());
        let Some(items) = items else { return Err("the answer holds no list of tools".to_owned()) };
        for item in items {
            if self.listing.tools.len() + self.listing.rejected.len() >= MAX_TOOLS {
                self.listing.cut = Some(format!("the server lists more than {MAX_TOOLS} tools").into());
                return Ok(());
            }
            self.add(item.get());
        }
        Ok(())
    }

    fn add(&mut self, item: &str) {
        let index = self.listing.tools.len() + self.listing.rejected.len();
        let before = self.listing.tools.len();
        // A server that knows a secret may repeat it in a description; agents, screens and files see the list.
        let item = &*self.redactor.redact_known(item);
        self.listing.push_text(item);
        let Some(tool) = self.listing.tools.get(before).cloned() else { return };
        if tool.raw_name.contains("[REDACTED:") {
            self.listing.tools.truncate(before);
            let reason = "its name holds a secret of the configuration".into();
            self.listing.rejected.push(RejectedTool { index, name: Some(tool.raw_name.clone()), reason });
            return;
        }
        let markings = if self.mirrors { mirror::markings(&tool.input_schema) } else { Ok(Vec::new()) };
        match markings {
            Ok(markings) => self.known.note(&tool.raw_name, item, markings),
            Err(reason) => {
                tracing::warn!(tool = %crate::text::visible(&tool.raw_name), %reason, "mcp_tool_refused");
                self.listing.tools.truncate(before);
                let name = Some(tool.raw_name.clone());
                self.listing.rejected.push(RejectedTool { index, name, reason: reason.into() });
            }
        }
    }
}
