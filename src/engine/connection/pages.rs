//! Walking a list of a server page by page, within caps: tools, resources, prompts.
//!
//! [`super::tools`] and [`super::query`] say what becomes of the items; how long it may take is their business too.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::client::{Answer, Client, Role};
use super::message::{Lack, RpcError};
use super::protocol;
use crate::engine::status::Era;

/// Pages that are read at most.
const MAX_PAGES: usize = 100;

/// Which list, and how much of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Walk {
    /// The method that asks for a page.
    pub method: &'static str,
    /// The member of a page that holds its items.
    pub member: &'static str,
    /// Bytes of all pages together.
    pub max_bytes: usize,
}

/// Why a page could not be had.
#[derive(Debug)]
pub(super) enum Broken {
    /// The server answered with an error.
    Refused(RpcError),
    /// There was no answer.
    Undelivered(Lack),
    /// The connection ended.
    Ended(Arc<str>),
    /// The answer cannot be used; the text has not been cleaned.
    Unusable(String),
}

impl Broken {
    /// In words that have not been cleaned.
    pub fn words(self) -> String {
        match self {
            Self::Refused(error) => format!("{} (code {})", error.message, error.code),
            Self::Undelivered(lack) => lack.reason,
            Self::Ended(reason) => reason.to_string(),
            Self::Unusable(reason) => reason,
        }
    }
}

/// Hands the items of each page to `take`, which may end it. Comes back with the reason why the list was cut, where it
/// was.
///
/// # Errors
/// See [`Broken`]; the pages before it have been taken.
pub(super) async fn walk(
    client: &Client,
    era: Era,
    walk: Walk,
    mut take: impl FnMut(&[&RawValue]) -> ControlFlow<Arc<str>>,
) -> Result<Option<Arc<str>>, Broken> {
    let mut seen = HashSet::new();
    let mut cursor: Option<String> = None;
    let mut bytes = 0;
    for _ in 0..MAX_PAGES {
        let params = protocol::list(era, cursor.as_deref());
        let page = match client.request(Role::Ordinary, walk.method, |_| params).await {
            Answer::Result(page) => page,
            Answer::Error(error) => return Err(Broken::Refused(error)),
            Answer::Undelivered(lack) => return Err(Broken::Undelivered(lack)),
            Answer::Ended(reason) => return Err(Broken::Ended(reason)),
        };
        bytes += page.get().len();
        if bytes > walk.max_bytes {
            return Ok(Some(format!("the server's list has more than {} MiB", walk.max_bytes >> 20).into()));
        }
        let unreadable = |error| Broken::Unusable(format!("unreadable answer: {error}"));
        let page: Page<'_> = serde_json::from_str(page.get()).map_err(unreadable)?;
        let items = page.items(walk.member).map_err(Broken::Unusable)?;
        if let ControlFlow::Break(reason) = take(&items) {
            return Ok(Some(reason));
        }
        match page.next() {
            None => return Ok(None),
            Some(next) if !seen.insert(next.clone()) => {
                return Ok(Some("the server handed out the same page cursor twice".into()));
            }
            next => cursor = next,
        }
    }
    Ok(Some(format!("the server's list has more than {MAX_PAGES} pages").into()))
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
    resources: Option<&'p RawValue>,
    #[serde(borrow)]
    resource_templates: Option<&'p RawValue>,
    #[serde(borrow)]
    prompts: Option<&'p RawValue>,
    #[serde(borrow)]
    next_cursor: Option<&'p RawValue>,
}

impl<'p> Page<'p> {
    fn items(&self, member: &str) -> Result<Vec<&'p RawValue>, String> {
        match self.result_type.map(RawValue::get) {
            None | Some("\"complete\"" | "null") => {}
            Some(kind) => return Err(format!("the answer is of type {kind}, not a list")),
        }
        let items = match member {
            "resources" => self.resources,
            "resourceTemplates" => self.resource_templates,
            "prompts" => self.prompts,
            _ => self.tools,
        };
        let items = items.and_then(|items| serde_json::from_str(items.get()).ok());
        items.ok_or_else(|| format!("the answer holds no list of {member}"))
    }

    fn next(&self) -> Option<String> {
        let next = self.next_cursor.and_then(|next| serde_json::from_str::<String>(next.get()).ok());
        next.filter(|next| !next.is_empty())
    }
}
