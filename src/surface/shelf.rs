//! What each seat and each operator is offered: one table for the MCP listing, for `GET /tools` and for resolving calls.
//!
//! A table is written out when a seat's tools change and kept as bytes; seats without tools of their own share one. The
//! names in it are the exposed ones, and what is not in a seat's table does not exist for it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use hyper::body::Bytes;
use serde::Serialize;
use serde_json::{Map, Value};
use tokio::sync::watch;

use super::party::{Party, Role};
use crate::ids::SeatHandle;
use crate::native::active::Set;
use crate::native::connector;
use crate::tool::mirror::{self, Mirrored};
use crate::tool::{Catalog, Entry, Flag};

/// The tools of one seat.
#[derive(Debug, Default)]
pub(super) struct Table {
    /// The JSON array of the listing.
    pub(super) json: Bytes,
    entries: Vec<Arc<Entry>>,
    by_exposed: HashMap<Arc<str>, Arc<Entry>>,
    /// Only tools that mark arguments.
    mirrored: HashMap<Arc<str>, Vec<Mirrored>>,
}

impl Table {
    /// The JSON array for whoever holds only some of it.
    pub(super) fn listed(&self, active: Option<&Set>) -> Bytes {
        match active {
            None => self.json.clone(),
            Some(active) => written(self.entries.iter().filter(|entry| active.holds(entry))),
        }
    }

    /// The tool with this exposed name.
    pub(super) fn find(&self, exposed: &str) -> Option<&Arc<Entry>> {
        self.by_exposed.get(exposed)
    }

    /// The arguments that clients of the era without sessions repeat among the headers of a call.
    pub(super) fn mirrored(&self, exposed: &str) -> &[Mirrored] {
        self.mirrored.get(exposed).map_or(&[], Vec::as_slice)
    }
}

/// See the module.
pub(super) struct Shelf {
    catalog: watch::Receiver<Arc<Catalog>>,
    built: Mutex<Built>,
    connector: Arc<Table>,
}

#[derive(Default)]
struct Built {
    catalog: Arc<Catalog>,
    /// By the seat or operator, where it sees something else than what seats share.
    tables: HashMap<Option<SeatHandle>, Arc<Table>>,
    /// The tables of the catalog before, as far as nobody asked for them yet.
    before: HashMap<Option<SeatHandle>, Arc<Table>>,
}

impl Shelf {
    pub(super) fn new(catalog: watch::Receiver<Arc<Catalog>>) -> Self {
        // The connector's tools are ours and never change; they pass the gate only where a person is asked.
        let listed = serde_json::to_vec(&connector::listing()).unwrap_or_else(|_| b"[]".to_vec());
        let connector = Arc::new(Table { json: listed.into(), ..Table::default() });
        Self { catalog, built: Mutex::default(), connector }
    }

    /// The party's tools as they are now.
    pub(super) fn table(&self, party: &Party) -> Arc<Table> {
        let catalog = self.catalog.borrow().clone();
        // What a panicking thread left behind is a cache that is whole or lacks a table.
        let mut built = self.built.lock().unwrap_or_else(PoisonError::into_inner);
        if !Arc::ptr_eq(&built.catalog, &catalog) {
            let mut before = std::mem::take(&mut built.before);
            before.extend(std::mem::take(&mut built.tables));
            *built = Built { catalog: catalog.clone(), tables: HashMap::new(), before };
        }
        let apart = match party.role {
            Role::Connector(_) => return self.connector.clone(),
            Role::Seat(_) => catalog.has_own(&party.holder),
            Role::Worker(_) | Role::Operator(_) => true,
        };
        let key = apart.then(|| party.holder.clone());
        if let Some(table) = built.tables.get(&key) {
            return table.clone();
        }
        let before = built.before.remove(&key);
        let table = write(entries(party, &catalog), before);
        built.tables.insert(key, table.clone());
        table
    }

    /// Nobody asks for this holder's table any more.
    pub(super) fn forget(&self, holder: &SeatHandle) {
        let mut built = self.built.lock().unwrap_or_else(PoisonError::into_inner);
        let key = Some(holder.clone());
        built.tables.remove(&key);
        built.before.remove(&key);
    }

    /// The tables of several parties as one listing.
    pub(super) fn introspect(&self, parties: &[Party]) -> Bytes {
        if let [party] = parties {
            return self.table(party).json.clone();
        }
        let tables: Vec<Bytes> = parties.iter().map(|party| self.table(party).json.clone()).collect();
        let inside = |table: &Bytes| table.get(1..table.len().saturating_sub(1)).unwrap_or_default().to_vec();
        let parts: Vec<Vec<u8>> = tables.iter().map(inside).filter(|part| !part.is_empty()).collect();
        [b"[".as_slice(), &parts.join(&b","[..]), b"]"].concat().into()
    }

    /// Told of each new catalog.
    pub(super) fn changes(&self) -> watch::Receiver<Arc<Catalog>> {
        self.catalog.clone()
    }
}

/// What a party has of the catalog. A worker has of its seat's what it was given and what the guard still lets through.
fn entries(party: &Party, catalog: &Catalog) -> Vec<Arc<Entry>> {
    match &party.role {
        Role::Worker(worker) => catalog.of_seat(&worker.seat).filter(|entry| worker.holds(entry)).cloned().collect(),
        _ => catalog.of_seat(&party.holder).cloned().collect(),
    }
}

/// A table of these entries; the one before where it has the same.
fn write(entries: Vec<Arc<Entry>>, before: Option<Arc<Table>>) -> Arc<Table> {
    let same = |table: &Arc<Table>| {
        table.entries.len() == entries.len() && table.entries.iter().zip(&entries).all(|(a, b)| Arc::ptr_eq(a, b))
    };
    if let Some(before) = before.filter(same) {
        return before;
    }
    let json = written(entries.iter());
    // A tool whose markings cannot be obeyed is none of the sort: what its server wants is not known.
    let mirrored = |entry: &Arc<Entry>| {
        let marked = mirror::markings(&entry.input_schema).unwrap_or_default();
        (!marked.is_empty()).then(|| (entry.exposed.clone(), marked))
    };
    let mirrored = entries.iter().filter_map(mirrored).collect();
    let by_exposed = entries.iter().map(|entry| (entry.exposed.clone(), entry.clone())).collect();
    Arc::new(Table { json, entries, by_exposed, mirrored })
}

fn written<'e>(entries: impl Iterator<Item = &'e Arc<Entry>>) -> Bytes {
    let offered: Vec<Offered<'_>> = entries.map(|entry| Offered::of(entry)).collect();
    // Values that were parsed from JSON can be written as JSON.
    serde_json::to_vec(&offered).unwrap_or_else(|_| b"[]".to_vec()).into()
}

/// One tool as agents see it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Offered<'e> {
    name: &'e str,
    #[serde(skip_serializing_if = "str::is_empty")]
    title: &'e str,
    description: &'e str,
    input_schema: Schema<'e>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_schema: Option<&'e Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    annotations: Option<Map<String, Value>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Schema<'e> {
    Verbatim(&'e Value),
    Forced(Map<String, Value>),
}

impl<'e> Offered<'e> {
    fn of(entry: &'e Entry) -> Self {
        let input_schema = if entry.flags.contains(&Flag::SchemaNotAnObject) {
            Schema::Forced(forced(&entry.input_schema))
        } else {
            Schema::Verbatim(&entry.input_schema)
        };
        Self {
            name: &entry.exposed,
            title: &entry.title,
            description: &entry.description,
            input_schema,
            output_schema: entry.output_schema.as_deref(),
            annotations: entry.hints.effective.to_wire(),
        }
    }
}

/// The schema with an object's `type`: clients refuse a whole list over one schema of another kind.
fn forced(schema: &Value) -> Map<String, Value> {
    let mut forced = schema.as_object().cloned().unwrap_or_default();
    forced.insert("type".to_owned(), "object".into());
    forced
}
