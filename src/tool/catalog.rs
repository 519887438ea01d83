//! All tools of the company in one place: placed with their names and answers, found by name, listed in a stable
//! order.
//!
//! Beside the tools that every agent seat holds there are those that a seat has of its own, over a connection with its
//! own credentials. A seat's own tool hides the shared one of that name from it, in lists and in calls. While a seat's
//! own connection has listed nothing yet, or nothing whole, the names that are known of its server stay hidden all the
//! same: a call must never go out under another credential than the seat's. The program's own tools are hidden by
//! nothing; operators hold those alone, and some of them only operators.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::annotations::HintOverride;
use super::entry::{Entry, Origin, Rejected, ToolKey};
use super::names::{Collision, Names, OfServer, Wanted};
use super::placing::Block;
pub use super::placing::{Deliveries, Source};
use crate::ids::{ConnectionName, SeatHandle, ServerName};

/// An immutable set of entries and of what was rejected.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    entries: Vec<Arc<Entry>>,
    rejected: Vec<Rejected>,
    blocks: Vec<Arc<Block>>,
    places: HashMap<ConnectionName, usize>,
    /// Blocks of seats' own connections.
    own: HashMap<SeatHandle, Own>,
    names: HashMap<Arc<str>, Arc<OfServer>>,
}

/// What a seat has of its own.
#[derive(Clone, Debug, Default)]
struct Own {
    blocks: Vec<usize>,
    /// Names that stand for tools of own connections that have listed nothing whole yet.
    waiting: HashMap<Arc<str>, ConnectionName>,
}

/// Whether a name says whose tool it means.
enum Qualified<'c> {
    No,
    /// It does; with the tool, where there is one.
    Yes(Option<&'c Arc<Entry>>),
}

/// Something that a person should know about the placed tools.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Warning {
    /// Two servers want one name.
    Collision(Collision),
    /// A key of `tool_annotations` matches no tool of its server.
    UnmatchedOverride {
        /// The server.
        server: ServerName,
        /// The key.
        key: Arc<str>,
    },
    /// A tool's input schema does not describe an object.
    SchemaNotAnObject {
        /// The server.
        server: ServerName,
        /// The tool.
        tool: Arc<str>,
    },
    /// A tool would have gone by a name of the engine's.
    Refused {
        /// The server.
        server: ServerName,
        /// The tool.
        tool: Arc<str>,
    },
    /// Seats' own tools of one server hide shared ones of another from them.
    Hides {
        /// The server whose tools seats have of their own.
        server: ServerName,
        /// The shared server.
        shared: ServerName,
        /// The first hidden name.
        tool: Arc<str>,
        /// How many there are.
        count: usize,
    },
}

impl Catalog {
    /// A catalog of these entries, in this order. Of two entries with one name the first keeps it.
    pub fn new(entries: Vec<Arc<Entry>>, rejected: Vec<Rejected>) -> Self {
        let mut of: Vec<(Source, Vec<Arc<Entry>>)> = Vec::new();
        for entry in &entries {
            match of.iter_mut().find(|(source, _)| source.connection == entry.connection) {
                Some((_, own)) => own.push(entry.clone()),
                None => of.push((bare(entry), vec![entry.clone()])),
            }
        }
        let blocks = of.into_iter().map(|(source, entries)| Block::of(source, entries, Vec::new())).collect();
        Self { entries, rejected, ..Self::of_blocks(blocks) }
    }

    /// Places what the connections listed, in the order of `sources`.
    pub fn place(sources: &[Source], names: &Names) -> (Self, Vec<Warning>) {
        Self::default().replaced(sources, names)
    }

    /// The same, taking over from this catalog what has not changed.
    pub fn replaced(&self, sources: &[Source], names: &Names) -> (Self, Vec<Warning>) {
        let (named, collisions) = names.assign(&wanted(sources));
        let named: HashMap<Arc<str>, Arc<OfServer>> = named
            .into_iter()
            .map(|(server, now)| match self.names.get(&server).filter(|before| ***before == now) {
                Some(before) => (server, before.clone()),
                None => (server, Arc::new(now)),
            })
            .collect();
        let mut blocks: Vec<Arc<Block>> = Vec::with_capacity(sources.len());
        let mut first_of: HashMap<&ServerName, usize> = HashMap::new();
        for source in sources {
            let names = named.get(source.server.as_str()).cloned().unwrap_or_default();
            let before = self.block(&source.connection);
            let sibling = first_of.get(&source.server).and_then(|index| blocks.get(*index)).cloned();
            let block = Block::make(source.clone(), names, before, sibling.as_deref());
            if source.listing.is_some() {
                first_of.entry(&source.server).or_insert(blocks.len());
            }
            blocks.push(block);
        }
        let mut catalog = Self { names: named, ..Self::of_blocks(blocks) };
        catalog.wait(names);
        let mut warnings: Vec<Warning> = collisions.into_iter().map(Warning::Collision).collect();
        catalog.warn(&mut warnings);
        (catalog, warnings)
    }

    fn of_blocks(blocks: Vec<Arc<Block>>) -> Self {
        let mut own: HashMap<SeatHandle, Own> = HashMap::new();
        for (index, block) in blocks.iter().enumerate() {
            if let Some(seat) = &block.source.seat {
                own.entry(seat.clone()).or_default().blocks.push(index);
            }
        }
        Self {
            entries: blocks.iter().flat_map(|block| &block.entries).cloned().collect(),
            rejected: blocks.iter().flat_map(|block| &block.rejected).cloned().collect(),
            places: blocks.iter().enumerate().map(|(index, block)| (block.source.connection.clone(), index)).collect(),
            blocks,
            own,
            names: HashMap::new(),
        }
    }

    /// Takes note of the names that stand for tools of own connections that have listed nothing whole yet: what such a
    /// list does not have may be there all the same.
    fn wait(&mut self, names: &Names) {
        let builtin = self.entries.iter().filter(|entry| entry.origin == Origin::Builtin);
        let ours: HashSet<Arc<str>> = builtin.map(|entry| entry.name.clone()).collect();
        for block in self.blocks.iter().filter(|block| !block.source.is_whole()) {
            let Some(own) = block.source.seat.as_ref().and_then(|seat| self.own.get_mut(seat)) else { continue };
            let server = block.source.server.as_str();
            let now = self.names.get(server).into_iter().flat_map(|names| names.values().cloned());
            for known in names.of_server(server, block.source.held()).chain(now) {
                // A name from before it became the program's own.
                for name in [known.name, known.exposed].into_iter().filter(|name| !ours.contains(name)) {
                    own.waiting.entry(name).or_insert_with(|| block.source.connection.clone());
                }
            }
        }
    }

    fn warn(&self, warnings: &mut Vec<Warning>) {
        let mut told: HashSet<(&ServerName, &Arc<str>)> = HashSet::new();
        let mut used: HashMap<&ServerName, Vec<bool>> = HashMap::new();
        for block in self.blocks.iter().filter(|block| block.source.listing.is_some()) {
            let server = &block.source.server;
            let odd = block.odd_schemas.iter().filter(|tool| told.insert((server, tool)));
            warnings.extend(odd.map(|tool| Warning::SchemaNotAnObject { server: server.clone(), tool: tool.clone() }));
            let refused = block.refused.iter().filter(|tool| told.insert((server, tool)));
            warnings.extend(refused.map(|tool| Warning::Refused { server: server.clone(), tool: tool.clone() }));
            // An override that matches in one seat's connection matches.
            let used = used.entry(server).or_insert_with(|| vec![false; block.used.len()]);
            used.iter_mut().zip(&block.used).for_each(|(all, here)| *all |= here);
        }
        let mut overrides: HashMap<&ServerName, &[(Arc<str>, HintOverride)]> = HashMap::new();
        for block in &self.blocks {
            let (server, own) = (&block.source.server, &block.source.overrides);
            let Some(used) = used.get(server).filter(|_| overrides.insert(server, own).is_none()) else { continue };
            let unmatched = own.iter().zip(used).filter(|(_, used)| !**used);
            warnings.extend(
                unmatched.map(|((key, _), _)| Warning::UnmatchedOverride { server: server.clone(), key: key.clone() }),
            );
        }
        self.warn_of_hidden(warnings);
    }

    fn warn_of_hidden(&self, warnings: &mut Vec<Warning>) {
        let mut seen: HashSet<&ServerName> = HashSet::new();
        let shared: Vec<&Arc<Block>> = self.blocks.iter().filter(|block| block.source.seat.is_none()).collect();
        let own = self.blocks.iter().filter(|block| block.source.seat.is_some() && block.source.listing.is_some());
        for block in own.filter(|block| seen.insert(&block.source.server)) {
            for shared in &shared {
                let hidden = shared.entries.iter().filter(|entry| hides(block, entry));
                let mut hidden = hidden.map(|entry| &entry.name);
                if let Some(first) = hidden.next() {
                    warnings.push(Warning::Hides {
                        server: block.source.server.clone(),
                        shared: shared.source.server.clone(),
                        tool: first.clone(),
                        count: 1 + hidden.count(),
                    });
                }
            }
        }
    }

    fn block(&self, connection: &ConnectionName) -> Option<&Arc<Block>> {
        self.blocks.get(*self.places.get(connection)?)
    }

    fn own(&self, seat: Option<&SeatHandle>) -> (Option<&Own>, impl Iterator<Item = &Arc<Block>>) {
        let own = seat.and_then(|seat| self.own.get(seat));
        (own, own.into_iter().flat_map(|own| &own.blocks).filter_map(|index| self.blocks.get(*index)))
    }

    /// The tool that a seat means by this catalogue name, exposed name, `server/raw_name` or `connection/raw_name`: its
    /// own, else a shared one. What belongs to another seat is not there for it.
    ///
    /// Without a seat, for the person: a shared tool, or anybody's by `connection/raw_name`. A name that begins with a
    /// server's or a connection's name and `/` is a tool of that one, whatever others call theirs.
    pub fn find(&self, seat: Option<&SeatHandle>, name: &str) -> Option<&Arc<Entry>> {
        if let Qualified::Yes(found) = self.find_in(seat, name) {
            return found;
        }
        let (own, mut blocks) = self.own(seat);
        if let Some(found) = blocks.find_map(|block| block.named(name)) {
            return Some(found);
        }
        if own.is_some_and(|own| own.waiting.contains_key(name)) {
            return None;
        }
        let shared = self.blocks.iter().filter(|block| block.source.seat.is_none());
        // Names before exposed ones, over all servers.
        let all = shared.filter_map(|block| block.named(name));
        let found = all.min_by_key(|entry| &*entry.name != name)?;
        self.is_visible(seat, found).then_some(found)
    }

    fn find_in(&self, seat: Option<&SeatHandle>, name: &str) -> Qualified<'_> {
        let mut says = false;
        let mut best: Option<(usize, &Arc<Entry>)> = None;
        for Block { source, .. } in self.blocks.iter().map(AsRef::as_ref).filter(|_| name.contains('/')) {
            for prefix in [source.connection.as_str(), source.server.as_str()] {
                let Some(raw) = name.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('/')) else { continue };
                says = true;
                // Without a seat a bare server's name does not say which seat's connection is meant.
                let is_whole = prefix == source.connection.as_str();
                let within = source.seat.is_none() || source.seat.as_ref() == seat || (seat.is_none() && is_whole);
                let found = self.block(&source.connection).and_then(|block| block.raw(raw)).filter(|_| within);
                if let Some(entry) = found.filter(|entry| self.is_visible(seat, entry))
                    && best.is_none_or(|(length, _)| prefix.len() > length)
                {
                    best = Some((prefix.len(), entry));
                }
            }
        }
        if says { Qualified::Yes(best.map(|(_, entry)| entry)) } else { Qualified::No }
    }

    /// Whether a seat sees an entry: its own, and shared ones that no name of its own hides. Without a seat all are
    /// seen.
    pub fn is_visible(&self, seat: Option<&SeatHandle>, entry: &Entry) -> bool {
        let Some(seat) = seat else { return true };
        // Nothing hides the program's own tools; operators and the connector's tokens have nothing else.
        if entry.origin == Origin::Builtin || seat.operator().is_some() || seat.connector().is_some() {
            return entry.origin == Origin::Builtin && is_offered(seat, &entry.connection);
        }
        if let Some(holder) = &entry.seat {
            return holder == seat;
        }
        let (own, mut blocks) = self.own(Some(seat));
        let waits = |name: &str| own.is_some_and(|own| own.waiting.contains_key(name));
        !waits(&entry.name) && !waits(&entry.exposed) && !blocks.any(|block| hides(block, entry))
    }

    /// What a seat holds, in the order of [`Catalog::entries`].
    pub fn of_seat(&self, seat: &SeatHandle) -> impl Iterator<Item = &Arc<Entry>> {
        self.entries.iter().filter(move |entry| self.is_visible(Some(seat), entry))
    }

    /// Whether a seat sees anything else than what is shared.
    pub fn has_own(&self, seat: &SeatHandle) -> bool {
        self.own.contains_key(seat)
    }

    /// The seat's own connection that a name waits for: it is known to have a tool of that name and has not listed it.
    pub fn awaited(&self, seat: &SeatHandle, name: &str) -> Option<&ConnectionName> {
        self.own.get(seat)?.waiting.get(name)
    }

    /// The tools of this catalogue name or exposed name that seats have of their own.
    pub fn owned(&self, name: &str) -> impl Iterator<Item = &Arc<Entry>> {
        self.blocks.iter().filter(|block| block.source.seat.is_some()).filter_map(move |block| block.named(name))
    }

    /// The entries that an earlier catalog does not have as they are here.
    pub fn changed_since(&self, before: &Self) -> Vec<&Arc<Entry>> {
        let known = |block: &Arc<Block>| before.block(&block.source.connection).cloned();
        let blocks = self.blocks.iter().map(|block| (block, known(block)));
        let changed = blocks.filter(|(block, known)| known.as_ref().is_none_or(|known| !Arc::ptr_eq(known, block)));
        let entries = changed.flat_map(|(block, known)| {
            let is_new = move |entry: &&Arc<Entry>| {
                let before = known.as_ref().and_then(|known| known.raw(&entry.raw_name));
                before.is_none_or(|before| !Arc::ptr_eq(before, entry))
            };
            block.entries.iter().filter(is_new)
        });
        entries.collect()
    }

    /// The entry of this connection and raw name.
    pub fn get(&self, key: &ToolKey) -> Option<&Arc<Entry>> {
        self.block(&key.connection)?.raw(&key.raw_name)
    }

    /// The entry that stands for the same tool in this catalog: same connection, same raw name, and still of the same
    /// seat.
    pub fn again(&self, entry: &Entry) -> Option<&Arc<Entry>> {
        self.get(&entry.key()).filter(|now| now.seat == entry.seat)
    }

    /// The entries of one connection, in the server's order.
    pub fn of_connection(&self, connection: &ConnectionName) -> &[Arc<Entry>] {
        self.block(connection).map_or(&[], |block| &block.entries)
    }

    /// All entries, servers in configuration order, tools in the server's order.
    pub fn entries(&self) -> &[Arc<Entry>] {
        &self.entries
    }

    /// What was listed and is not usable.
    pub fn rejected(&self) -> &[Rejected] {
        &self.rejected
    }
}

/// Whether what one of our own connections carries is offered to a seat, an operator, or a token of the connector.
fn is_offered(seat: &SeatHandle, connection: &ConnectionName) -> bool {
    if seat.connector().is_some() || connection.is_connector() {
        return seat.connector().is_some() && connection.is_connector();
    }
    let others = if seat.operator().is_some() { ConnectionName::agents() } else { ConnectionName::operators() };
    *connection != others
}

/// Whether a seat's own tools hide a shared one from it.
fn hides(own: &Block, shared: &Entry) -> bool {
    own.named(&shared.name).is_some() || own.named(&shared.exposed).is_some()
}

fn bare(entry: &Entry) -> Source {
    Source {
        server: entry.server.clone(),
        connection: entry.connection.clone(),
        seat: entry.seat.clone(),
        identity: "".into(),
        prefix: "".into(),
        overrides: Arc::new([]),
        listing: None,
        first_party: None,
    }
}

/// What the sources' tools want to be called, for [`Names`]: each tool of a server once, however many connections it
/// has.
pub fn wanted(sources: &[Source]) -> Vec<Wanted> {
    let mut seen: HashMap<&ServerName, HashSet<&str>> = HashMap::new();
    let mut all = Vec::new();
    for source in sources {
        let seen = seen.entry(&source.server).or_default();
        for tool in source.placeable().filter(|tool| seen.insert(&tool.raw_name)) {
            all.push(Wanted {
                server: source.server.as_str().into(),
                raw: tool.raw_name.clone(),
                name: source.wanted(&tool.raw_name).into(),
                held: source.held(),
            });
        }
    }
    all
}
