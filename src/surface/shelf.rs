//! What each seat and each operator is offered: one table for the MCP listing, for `GET /tools` and for resolving calls.
//!
//! A table is written out once for each catalog and kept as bytes; seats that hold the same tools share one. The
//! names in it are the exposed ones, and what is not in a seat's table does not exist for it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use hyper::body::Bytes;
use serde::Serialize;
use serde_json::{Map, Value};
use tokio::sync::watch;

use super::party::{Party, Role};
use crate::ids::ConnectionName;
use crate::native::connector;
use crate::org::Seat;
use crate::tool::entry::Origin;
use crate::tool::{Catalog, Entry, Flag};

/// The tools of one seat.
#[derive(Debug)]
pub(super) struct Table {
    /// The JSON array of the listing.
    pub(super) json: Bytes,
    by_exposed: HashMap<Arc<str>, Arc<Entry>>,
}

impl Table {
    /// The tool with this exposed name.
    pub(super) fn find(&self, exposed: &str) -> Option<&Arc<Entry>> {
        self.by_exposed.get(exposed)
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
    /// By the seat's own connections that the catalog holds.
    tables: HashMap<Vec<ConnectionName>, Arc<Table>>,
    operators: Option<Arc<Table>>,
}

impl Shelf {
    pub(super) fn new(catalog: watch::Receiver<Arc<Catalog>>) -> Self {
        // The connector's tools are ours and never change; they are in no catalog, since they do not pass the gate.
        let listed = serde_json::to_vec(&connector::listing()).unwrap_or_else(|_| b"[]".to_vec());
        let connector = Arc::new(Table { json: listed.into(), by_exposed: HashMap::new() });
        Self { catalog, built: Mutex::default(), connector }
    }

    /// The party's tools as they are now.
    pub(super) fn table(&self, party: &Party) -> Arc<Table> {
        let catalog = self.catalog.borrow().clone();
        // What a panicking thread left behind is a cache that is whole or lacks a table.
        let mut built = self.built.lock().unwrap_or_else(PoisonError::into_inner);
        if !Arc::ptr_eq(&built.catalog, &catalog) {
            *built = Built { catalog: catalog.clone(), ..Built::default() };
        }
        match &party.role {
            Role::Seat(seat) => {
                let table = built.tables.entry(own(seat, &catalog));
                table.or_insert_with(|| Arc::new(write(holds(seat), &catalog))).clone()
            }
            Role::Operator(_) => {
                let ours = |entry: &Entry| entry.origin == Origin::Builtin;
                built.operators.get_or_insert_with(|| Arc::new(write(ours, &catalog))).clone()
            }
            Role::Connector(_) => self.connector.clone(),
        }
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

fn is_shared(entry: &Entry) -> bool {
    entry.connection.as_str() == entry.server.as_str()
}

fn own(seat: &Seat, catalog: &Catalog) -> Vec<ConnectionName> {
    let own = catalog.entries().iter().filter(|entry| !is_shared(entry));
    let mut own: Vec<ConnectionName> = own
        .filter(|entry| entry.connection == seat.connection(&entry.server))
        .map(|entry| entry.connection.clone())
        .collect();
    own.dedup();
    own
}

/// Which tools a seat holds.
fn holds(seat: &Seat) -> impl Fn(&Entry) -> bool {
    move |entry| is_shared(entry) || entry.connection == seat.connection(&entry.server)
}

fn write(holds: impl Fn(&Entry) -> bool, catalog: &Catalog) -> Table {
    let entries: Vec<&Arc<Entry>> = catalog.entries().iter().filter(|entry| holds(entry)).collect();
    let offered: Vec<Offered<'_>> = entries.iter().map(|entry| Offered::of(entry)).collect();
    // Values that were parsed from JSON can be written as JSON.
    let json = serde_json::to_vec(&offered).unwrap_or_else(|_| b"[]".to_vec());
    Table {
        json: json.into(),
        by_exposed: entries.into_iter().map(|entry| (entry.exposed.clone(), entry.clone())).collect(),
    }
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
