//! Lists over all of a seat's servers: asked at the same time, each within its time, in configuration order.
//!
//! A server that is slow, gone or talks nonsense costs only its own items. Prompts are named by the same rules as
//! tools, and what they were called is remembered.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Map, Value};
use tokio::sync::watch;

use super::{Library, Refused};
use crate::engine::call::Link;
use crate::engine::connection::Connection;
use crate::engine::status::Offer;
use crate::ids::{ConnectionName, ServerName};
use crate::org::Seat;
use crate::secret::Redactor;
use crate::tool::names::{Held, Names, Wanted};
use crate::tool::offers::{OfferList, Offered, read_offer};

/// How long one server may take for one list, all pages together.
const PATIENCE: Duration = Duration::from_secs(10);
/// Longest list that is cleaned on the threads that everything else runs on, in bytes.
const LARGE: usize = 128 << 10;

/// What is missing of a list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Missing {
    /// Of which server.
    pub server: ServerName,
    /// Why; clean.
    pub reason: Arc<str>,
}

/// Tells whether what a seat is offered may be another than before.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Shelves([Vec<(ConnectionName, u64)>; Offer::ALL.len()]);

impl Shelves {
    /// What differs from `before`.
    pub fn changed(&self, before: &Self) -> Vec<Offer> {
        let differs = |offer: &Offer| self.0.get(*offer as usize) != before.0.get(*offer as usize);
        Offer::ALL.into_iter().filter(differs).collect()
    }
}

/// See [`Library::changes`].
#[derive(Clone, Debug)]
pub struct Changes(watch::Receiver<Arc<HashMap<ConnectionName, Link>>>);

impl Changes {
    /// Waits for the next one. False when the engine has ended.
    pub async fn next(&mut self) -> bool {
        self.0.changed().await.is_ok()
    }
}

/// One server's part of a list.
struct Part {
    server: ServerName,
    prefix: Arc<str>,
    items: Vec<Offered>,
    missing: Option<Arc<str>>,
}

impl Library {
    /// A list as this seat sees it, and what is missing of it.
    ///
    /// # Errors
    /// When the seat is stopped or has asked for too much at once.
    pub async fn list(&self, seat: &Seat, list: OfferList) -> Result<(Vec<Value>, Vec<Missing>), Refused> {
        if let Some(stopped) = self.stopped(seat) {
            return Err(stopped);
        }
        let _place = self.place(seat)?;
        let parts = self.parts(seat, list).await;
        let missing = parts
            .iter()
            .filter_map(|part| part.missing.clone().map(|reason| Missing { server: part.server.clone(), reason }));
        let missing = missing.collect();
        let items = match list {
            OfferList::Prompts => self.name_prompts(parts),
            OfferList::Resources | OfferList::Templates => {
                parts.into_iter().flat_map(|part| part.items).map(|offered| offered.item).collect()
            }
        };
        Ok((items.into_iter().map(Value::Object).collect(), missing))
    }

    /// What the seat is offered, for comparing.
    pub fn shelves(&self, seat: &Seat) -> Shelves {
        let links = self.links(seat);
        Shelves(Offer::ALL.map(|offer| {
            let offering = links.iter().filter(|(_, link)| link.has(offer));
            offering
                .map(|(name, link)| (name.clone(), link.versions.get(offer as usize).copied().unwrap_or(0)))
                .collect()
        }))
    }

    /// Told whenever what a seat is offered may be another.
    pub fn changes(&self) -> Changes {
        Changes(self.0.links.clone())
    }

    async fn parts(&self, seat: &Seat, list: OfferList) -> Vec<Part> {
        let offer = if list == OfferList::Prompts { Offer::Prompts } else { Offer::Resources };
        let asking = self.links(seat).into_iter().filter(|(_, link)| link.offers.has(offer)).map(|(_, link)| {
            let redactor = self.0.redactor.clone();
            async move {
                let (items, missing) = match (link.connection, link.down) {
                    (Some(connection), None) => ask(&connection, list, &link.server, redactor).await,
                    (_, down) => (Vec::new(), Some(down.unwrap_or_else(|| "it is not configured".into()))),
                };
                Part { server: link.server, prefix: link.prefix, items, missing }
            }
        });
        join_all(asking).await
    }

    /// Gives prompts the names that agents know them by, and remembers them.
    fn name_prompts(&self, parts: Vec<Part>) -> Vec<Map<String, Value>> {
        let want = |part: &Part, raw: &Arc<str>| Wanted {
            server: part.server.as_str().into(),
            raw: raw.clone(),
            name: format!("{}{raw}", part.prefix).into(),
            // One space for all: no seat's own prompt hides another.
            held: Held::Shared,
        };
        let wanted: Vec<Wanted> =
            parts.iter().flat_map(|part| part.items.iter().map(move |offered| want(part, &offered.raw))).collect();
        let mut prompts = self.0.prompts.lock().unwrap_or_else(PoisonError::into_inner);
        if prompts.names.remember(&wanted)
            && let Some(changed) = &prompts.changed
        {
            changed(&prompts.names);
        }
        let (named, _) = prompts.names.assign(&wanted);
        drop(prompts);
        let mut items = Vec::new();
        for part in parts {
            let server: Arc<str> = part.server.as_str().into();
            for mut offered in part.items {
                let Some(names) = named.get(&server).and_then(|of_server| of_server.get(&offered.raw)) else {
                    continue;
                };
                offered.item.insert("name".into(), (*names.exposed).into());
                items.push(offered.item);
            }
        }
        items
    }

    /// The server and its own name of the prompt that agents know by this one. A name that nobody was told in this run
    /// or an earlier one is looked for once.
    pub(super) async fn prompt_called(&self, seat: &Seat, exposed: &str) -> Result<(Arc<str>, Arc<str>), Refused> {
        let known = || self.0.prompts.lock().unwrap_or_else(PoisonError::into_inner).names.called(exposed);
        if !Names::is_exposed(exposed) {
            return Err(Refused::Unknown);
        }
        if let Some(found) = known() {
            return Ok(found);
        }
        if let Some(stopped) = self.stopped(seat) {
            return Err(stopped);
        }
        let _place = self.place(seat)?;
        let parts = self.parts(seat, OfferList::Prompts).await;
        self.name_prompts(parts);
        known().ok_or(Refused::Unknown)
    }
}

/// One server's items, and what is missing of them.
async fn ask(
    connection: &Connection,
    list: OfferList,
    server: &ServerName,
    redactor: Redactor,
) -> (Vec<Offered>, Option<Arc<str>>) {
    let listed = connection.list(list, PATIENCE).await;
    let bytes: usize = listed.items.iter().map(|item| item.get().len()).sum();
    let owner = server.clone();
    let read = move || {
        let mut seen = HashSet::new();
        let mut items = Vec::new();
        let mut left_out = None;
        for item in &listed.items {
            match read_offer(list, owner.as_str(), item.get(), &redactor) {
                Ok(offered) if seen.insert(offered.raw.clone()) => items.push(offered),
                Ok(_) => left_out = Some((left_out.map_or(0, |(count, _)| count) + 1, "it is listed more than once")),
                Err(reason) => left_out = Some((left_out.map_or(0, |(count, _)| count) + 1, reason)),
            }
        }
        (items, left_out, listed.cut)
    };
    let (items, left_out, missing) = if bytes < LARGE {
        read()
    } else {
        // Cleaning megabytes takes seconds, in which other requests go on.
        let lost = (Vec::new(), None, Some("its list could not be read".into()));
        tokio::task::spawn_blocking(read).await.unwrap_or(lost)
    };
    if let Some((count, reason)) = left_out {
        tracing::warn!(%server, list = list.member(), count, reason, "list_items_left_out");
    }
    if let Some(reason) = &missing {
        tracing::warn!(%server, list = list.member(), %reason, "list_cut");
    }
    (items, missing)
}
