//! One connection's tools, placed: entries made of what was listed and of what the configuration says about it.
//!
//! The catalog puts [`Block`]s together. Making an entry hashes its whole definition, so what has not changed since
//! the block before, or is the same in another seat's block of the server, is taken over.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::{Value, json};

use super::annotations::{HintName, HintOverride, Hints};
use super::arguments::Digest;
use super::classify::{Flag, classify};
use super::delivery::delivery;
use super::entry::{Entry, Fingerprint, Origin, Rejected};
use super::json::canonical_value;
use super::listing::{ListedTool, Listing};
use super::names::{Held, Named, OfServer};
use super::reserved::is_reserved;
use super::worker::writes_to_shared_surface;
use crate::ids::{ConnectionName, SeatHandle, ServerName};

/// One connection's tools and what the configuration says about them.
#[derive(Clone, Debug)]
pub struct Source {
    /// The server's bare name.
    pub server: ServerName,
    /// The connection.
    pub connection: ConnectionName,
    /// The seat whose own it is.
    pub seat: Option<SeatHandle>,
    /// What makes this server this server: its command line or URL as configured. Part of every fingerprint.
    pub identity: Arc<str>,
    /// `tool_prefix`.
    pub prefix: Arc<str>,
    /// `tool_annotations`.
    pub overrides: Arc<[(Arc<str>, HintOverride)]>,
    /// What the server listed; `None` before it listed anything.
    pub listing: Option<Arc<Listing>>,
    /// For the program's own tools: the surfaces that they deliver to, by name.
    pub first_party: Option<Arc<Deliveries>>,
}

/// The surfaces that first-party tools deliver to, by the tool's name; the others reach nobody.
pub type Deliveries = HashMap<Arc<str>, Arc<str>>;

impl Source {
    /// Who holds its tools.
    pub const fn held(&self) -> Held {
        if self.seat.is_some() { Held::Own } else { Held::Shared }
    }

    /// What a tool wants to be called.
    pub fn wanted(&self, raw_name: &str) -> String {
        format!("{}{raw_name}", self.prefix)
    }

    /// The tools that can be placed: those whose name is not the engine's, or whose tool is.
    pub fn placeable(&self) -> impl Iterator<Item = &Arc<ListedTool>> {
        self.tools().iter().filter(|tool| !self.refuses(&self.wanted(&tool.raw_name)))
    }

    fn refuses(&self, wanted: &str) -> bool {
        self.first_party.is_none() && is_reserved(wanted)
    }

    fn tools(&self) -> &[Arc<ListedTool>] {
        self.listing.as_ref().map_or(&[], |listing| &listing.tools)
    }

    fn cut(&self) -> Option<&Arc<str>> {
        self.listing.as_ref()?.cut.as_ref()
    }

    /// Whether it has listed all of its tools, each of them usable.
    pub fn is_whole(&self) -> bool {
        self.listing.as_ref().is_some_and(|listing| listing.cut.is_none() && listing.rejected.is_empty())
    }

    /// Whether both are the same, without looking into the listings.
    fn is(&self, other: &Self) -> bool {
        let same_listing = match (&self.listing, &other.listing) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (None, None) => true,
            _ => false,
        };
        same_listing
            && self.says(other)
            && self.connection == other.connection
            && self.seat == other.seat
            && self.prefix == other.prefix
            && self.overrides == other.overrides
    }

    /// Whether the two mean the same by one listed tool with one override: what an entry is made of, but for whose it is.
    fn says(&self, other: &Self) -> bool {
        self.server == other.server
            && self.identity == other.identity
            && self.cut() == other.cut()
            && self.first_party == other.first_party
    }
}

/// See the module.
#[derive(Debug)]
pub struct Block {
    /// What it was made of.
    pub source: Source,
    /// The entries, in the server's order.
    pub entries: Vec<Arc<Entry>>,
    /// What is not usable, and what was refused.
    pub rejected: Vec<Rejected>,
    /// Raw names of tools whose input schema does not describe an object.
    pub odd_schemas: Vec<Arc<str>>,
    /// Raw names of tools that would have gone by a name of the engine's.
    pub refused: Vec<Arc<str>>,
    /// Which of the overrides apply to one of its tools.
    pub used: Vec<bool>,
    names: Arc<OfServer>,
    listed: Vec<Arc<ListedTool>>,
    by_name: HashMap<Arc<str>, usize>,
    by_raw: HashMap<Arc<str>, usize>,
}

impl Block {
    /// Places what a connection listed. `before` is its block until now; `sibling` another connection's of the same
    /// server.
    pub fn make(source: Source, names: Arc<OfServer>, before: Option<&Arc<Self>>, sibling: Option<&Self>) -> Arc<Self> {
        if let Some(same) = before.filter(|block| block.source.is(&source) && Arc::ptr_eq(&block.names, &names)) {
            return same.clone();
        }
        let mut block = Self::empty(source, names);
        let known = [before.map(AsRef::as_ref), sibling];
        let tools: Vec<Arc<ListedTool>> = block.source.placeable().cloned().collect();
        for tool in tools {
            block.add(tool, known);
        }
        // Catalogue names before exposed ones: where both could be meant, the former count.
        for (index, entry) in block.entries.iter().enumerate() {
            block.by_name.entry(entry.name.clone()).or_insert(index);
        }
        for (index, entry) in block.entries.iter().enumerate() {
            block.by_name.entry(entry.exposed.clone()).or_insert(index);
        }
        block.reject();
        Arc::new(block)
    }

    /// A block of entries that were made elsewhere.
    pub fn of(source: Source, entries: Vec<Arc<Entry>>, rejected: Vec<Rejected>) -> Arc<Self> {
        let mut block = Self::empty(source, Arc::default());
        for (index, entry) in entries.iter().enumerate() {
            block.by_name.entry(entry.name.clone()).or_insert(index);
            block.by_raw.entry(entry.raw_name.clone()).or_insert(index);
        }
        for (index, entry) in entries.iter().enumerate() {
            block.by_name.entry(entry.exposed.clone()).or_insert(index);
        }
        Arc::new(Self { entries, rejected, ..block })
    }

    fn empty(source: Source, names: Arc<OfServer>) -> Self {
        Self {
            used: vec![false; source.overrides.len()],
            source,
            names,
            entries: Vec::new(),
            rejected: Vec::new(),
            odd_schemas: Vec::new(),
            refused: Vec::new(),
            listed: Vec::new(),
            by_name: HashMap::new(),
            by_raw: HashMap::new(),
        }
    }

    /// The entry with this catalogue name or exposed name.
    pub fn named(&self, name: &str) -> Option<&Arc<Entry>> {
        self.entries.get(*self.by_name.get(name)?)
    }

    /// The entry with this name on the wire.
    pub fn raw(&self, raw_name: &str) -> Option<&Arc<Entry>> {
        self.entries.get(*self.by_raw.get(raw_name)?)
    }

    fn add(&mut self, tool: Arc<ListedTool>, known: [Option<&Self>; 2]) {
        let Some(names) = self.names.get(&tool.raw_name) else { return };
        let (index, override_) = find_override(&self.source, &tool, names);
        if let Some(used) = index.and_then(|index| self.used.get_mut(index)) {
            *used = true;
        }
        if !tool.schema_is_object {
            self.odd_schemas.push(tool.raw_name.clone());
        }
        let made =
            known.into_iter().flatten().find_map(|block| block.reuse(&self.source, &tool, names, override_.as_ref()));
        let made = made.unwrap_or_else(|| Arc::new(entry(&self.source, &tool, names, override_)));
        self.by_raw.insert(tool.raw_name.clone(), self.entries.len());
        self.entries.push(made);
        self.listed.push(tool);
    }

    /// The entry that this block has for the tool, when the same one would be made now.
    fn reuse(
        &self,
        source: &Source,
        tool: &Arc<ListedTool>,
        names: &Named,
        override_: Option<&HintOverride>,
    ) -> Option<Arc<Entry>> {
        let index = *self.by_raw.get(&tool.raw_name)?;
        let (listed, entry) = (self.listed.get(index)?, self.entries.get(index)?);
        let same = source.says(&self.source)
            && (Arc::ptr_eq(listed, tool) || listed == tool)
            && entry.name == names.name
            && entry.exposed == names.exposed
            && entry.hints.override_.as_ref() == override_;
        if !same {
            return None;
        }
        if entry.connection == source.connection && entry.seat == source.seat {
            return Some(entry.clone());
        }
        let (connection, seat) = (source.connection.clone(), source.seat.clone());
        Some(Arc::new(Entry { connection, seat, ..(**entry).clone() }))
    }

    /// Lists what cannot be used, each at its place in the server's list.
    fn reject(&mut self) {
        let Some(listing) = self.source.listing.clone() else { return };
        let reject = |index, name, reason| Rejected {
            server: self.source.server.clone(),
            connection: self.source.connection.clone(),
            index,
            name,
            reason,
        };
        let mut all: Vec<Rejected> =
            listing.rejected.iter().map(|tool| reject(tool.index, tool.name.clone(), tool.reason.clone())).collect();
        let mut refused = Vec::new();
        if listing.tools.len() > self.entries.len() {
            let elsewhere: HashSet<usize> = listing.rejected.iter().map(|tool| tool.index).collect();
            let places = (0..).filter(|place| !elsewhere.contains(place));
            for (place, tool) in places.zip(&listing.tools) {
                let wanted = self.source.wanted(&tool.raw_name);
                if self.source.refuses(&wanted) {
                    let reason = format!("\"{wanted}\" is a tool of the engine; give the server a `tool_prefix`");
                    all.push(reject(place, Some(tool.raw_name.clone()), reason.into()));
                    refused.push(tool.raw_name.clone());
                }
            }
            all.sort_by_key(|rejected| rejected.index);
        }
        self.rejected = all;
        self.refused = refused;
    }
}

/// Exactly one block applies: the raw name's, else the prefixed name's, else the shown name's. With it its place.
fn find_override(source: &Source, tool: &ListedTool, names: &Named) -> (Option<usize>, Option<HintOverride>) {
    let prefixed = source.wanted(&tool.raw_name);
    let position = |name: &str| source.overrides.iter().position(|(key, _)| &**key == name);
    let index = [&*tool.raw_name, &prefixed, &*names.name].into_iter().find_map(position);
    (index, index.and_then(|index| source.overrides.get(index)).map(|(_, hints)| hints.clone()))
}

fn entry(source: &Source, tool: &ListedTool, names: &Named, override_: Option<HintOverride>) -> Entry {
    let (hints, origin) = match source.first_party {
        Some(_) => (Hints::builtin(tool.hints.annotations.clone()), Origin::Builtin),
        None => (Hints::from_server(tool.hints.clone(), override_), Origin::Mcp(source.server.clone())),
    };
    let declared = source.first_party.as_ref().and_then(|delivers| delivers.get(&tool.raw_name));
    let classification = classify(&hints);
    let mut flags = classification.flags.clone();
    if !tool.schema_is_object {
        flags.push(Flag::SchemaNotAnObject);
    }
    if source.cut().is_some() {
        flags.push(Flag::ListCut);
    }
    flags.sort_unstable();
    let description = tool.description.clone().unwrap_or_else(|| format!("MCP tool: {}", tool.raw_name).into());
    let title = match hints.effective.title.as_str() {
        "" => tool.title.clone(),
        _ if hints.override_.is_none() => tool.title.clone(),
        title => title.into(),
    };
    Entry {
        name: names.name.clone(),
        exposed: names.exposed.clone(),
        raw_name: tool.raw_name.clone(),
        server: source.server.clone(),
        connection: source.connection.clone(),
        seat: source.seat.clone(),
        title,
        input_schema: tool.input_schema.clone(),
        output_schema: tool.output_schema.clone(),
        worker: writes_to_shared_surface(&hints.effective),
        delivery: delivery(&origin, &hints.effective, declared),
        fingerprint: fingerprint(source, tool, &description, &hints),
        description,
        origin,
        classification,
        hints,
        flags,
    }
}

fn fingerprint(source: &Source, tool: &ListedTool, description: &str, hints: &Hints) -> Fingerprint {
    let stated: Vec<&str> = HintName::ALL.iter().map(|name| hints.effective.get(*name).as_str()).collect();
    let malformed: Vec<&str> = hints.malformed.iter().map(|name| name.snake()).collect();
    let bound = json!({
        "server": source.server.as_str(),
        "identity": &*source.identity,
        "name": &*tool.raw_name,
        "title": &*tool.title,
        "description": description,
        "input_schema": &*tool.input_schema,
        "output_schema": tool.output_schema.as_deref().unwrap_or(&Value::Null),
        "hints": stated,
        "malformed": malformed,
    });
    Fingerprint(Digest::of(canonical_value(&bound).as_bytes()))
}
