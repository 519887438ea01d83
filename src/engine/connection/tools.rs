//! Listing a server's tools: every page, each tool for itself, within caps.
//!
//! The supervisor calls [`list`] before every `Ready` and again when the server says that its list changed. What a
//! tool means is not its business: it hands raw items to [`Listing::push`].

use std::ops::ControlFlow;
use std::sync::Arc;

use serde_json::value::RawValue;

use super::client::Client;
use super::known::KnownTools;
use super::link::Carriage;
use super::pages::{self, Broken, Walk};
use super::protocol;
use crate::engine::status::Era;
use crate::secret::Redactor;
use crate::tool::Listing;
use crate::tool::listing::RejectedTool;
use crate::tool::mirror;

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
    let walk = Walk { method: "tools/list", member: "tools", max_bytes: MAX_BYTES };
    match pages::walk(client, era, walk, |items| reading.add_page(items)).await {
        Ok(cut) => reading.listing.cut = cut,
        Err(Broken::Refused(error)) if error.code == protocol::METHOD_NOT_FOUND && support == ToolSupport::Unsaid => {}
        Err(broken) => return Err(broken.words()),
    }
    Ok(())
}

impl Reading {
    fn add_page(&mut self, items: &[&RawValue]) -> ControlFlow<Arc<str>> {
        for item in items {
            if self.listing.tools.len() + self.listing.rejected.len() >= MAX_TOOLS {
                return ControlFlow::Break(format!("the server lists more than {MAX_TOOLS} tools").into());
            }
            self.add(item.get());
        }
        ControlFlow::Continue(())
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
