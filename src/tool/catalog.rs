//! All tools of the company in one place: placed with their names and answers, found by name, listed in a stable
//! order.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::annotations::{HintName, HintOverride, Hints};
use super::arguments::Digest;
use super::classify::{Flag, classify};
use super::delivery::delivery;
use super::entry::{Entry, Fingerprint, Origin, Rejected};
use super::json::canonical_value;
use super::listing::{ListedTool, Listing};
use super::names::{Collision, Named, Names, Wanted};
use super::worker::writes_to_shared_surface;
use crate::ids::{ConnectionName, ServerName};

/// An immutable set of entries and of what was rejected.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    entries: Vec<Arc<Entry>>,
    rejected: Vec<Rejected>,
    by_name: HashMap<Arc<str>, usize>,
    made: HashMap<(ConnectionName, Arc<str>), Made>,
}

/// An entry with what it was made of: the same parts need not be put together, and hashed, again.
#[derive(Clone, Debug)]
struct Made {
    listed: Arc<ListedTool>,
    identity: Arc<str>,
    override_: Option<HintOverride>,
    cut: Option<Arc<str>>,
    entry: Arc<Entry>,
}

/// One connection's tools and what the configuration says about them.
#[derive(Clone, Debug)]
pub struct Source {
    /// The server's bare name.
    pub server: ServerName,
    /// The connection.
    pub connection: ConnectionName,
    /// What makes this server this server: its command line or URL as configured. Part of every fingerprint.
    pub identity: Arc<str>,
    /// `tool_prefix`.
    pub prefix: Arc<str>,
    /// `tool_annotations`.
    pub overrides: Arc<[(Arc<str>, HintOverride)]>,
    /// What the server listed.
    pub listing: Arc<Listing>,
    /// For the program's own tools: the surfaces that they deliver to, by name.
    pub first_party: Option<Arc<Deliveries>>,
}

/// The surfaces that first-party tools deliver to, by the tool's name; the others reach nobody.
pub type Deliveries = HashMap<Arc<str>, Arc<str>>;

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
}

impl Catalog {
    /// A catalog of these entries, in this order. Of two entries with one name the first keeps it.
    pub fn new(entries: Vec<Arc<Entry>>, rejected: Vec<Rejected>) -> Self {
        let mut by_name = HashMap::new();
        for (index, entry) in entries.iter().enumerate() {
            by_name.entry(entry.name.clone()).or_insert(index);
        }
        for (index, entry) in entries.iter().enumerate() {
            by_name.entry(entry.exposed.clone()).or_insert(index);
        }
        Self { entries, rejected, by_name, made: HashMap::new() }
    }

    /// Places what the connections listed, in the order of `sources`.
    pub fn place(sources: &[Source], names: &Names) -> (Self, Vec<Warning>) {
        Self::default().replaced(sources, names)
    }

    /// The same, taking over from this catalog what has not changed.
    pub fn replaced(&self, sources: &[Source], names: &Names) -> (Self, Vec<Warning>) {
        let (named, collisions) = names.assign(&wanted(sources));
        let mut warnings: Vec<Warning> = collisions.into_iter().map(Warning::Collision).collect();
        let (mut entries, mut rejected, mut made) = (Vec::new(), Vec::new(), HashMap::new());
        for source in sources {
            let mut used = vec![false; source.overrides.len()];
            for tool in &source.listing.tools {
                let key = (Arc::from(source.server.as_str()), tool.raw_name.clone());
                let Some(names) = named.get(&key) else { continue };
                let override_ = find_override(source, tool, names, &mut used);
                if !tool.schema_is_object {
                    let tool = tool.raw_name.clone();
                    warnings.push(Warning::SchemaNotAnObject { server: source.server.clone(), tool });
                }
                let part = self.make(source, tool, names, override_);
                entries.push(part.entry.clone());
                made.insert((source.connection.clone(), tool.raw_name.clone()), part);
            }
            let unmatched = source.overrides.iter().zip(&used).filter(|(_, used)| !**used);
            warnings.extend(
                unmatched.map(|((key, _), _)| Warning::UnmatchedOverride {
                    server: source.server.clone(),
                    key: key.clone(),
                }),
            );
            rejected.extend(source.listing.rejected.iter().map(|tool| Rejected {
                server: source.server.clone(),
                connection: source.connection.clone(),
                index: tool.index,
                name: tool.name.clone(),
                reason: tool.reason.clone(),
            }));
        }
        (Self { made, ..Self::new(entries, rejected) }, warnings)
    }

    fn make(&self, source: &Source, tool: &Arc<ListedTool>, names: &Named, override_: Option<HintOverride>) -> Made {
        let cut = source.listing.cut.clone();
        let known = self.made.get(&(source.connection.clone(), tool.raw_name.clone())).filter(|made| {
            Arc::ptr_eq(&made.listed, tool)
                && made.identity == source.identity
                && made.override_ == override_
                && made.cut == cut
                && made.entry.name == names.name
                && made.entry.exposed == names.exposed
        });
        if let Some(known) = known {
            return known.clone();
        }
        let entry = Arc::new(entry(source, tool, names, override_.clone()));
        Made { listed: tool.clone(), identity: source.identity.clone(), override_, cut, entry }
    }

    /// The entry with this catalogue name, exposed name, or `server/raw_name`.
    ///
    /// A name that begins with a server's name and `/` is that server's tool, whatever others call theirs.
    pub fn find(&self, name: &str) -> Option<&Arc<Entry>> {
        if let Some((server, raw)) = name.split_once('/')
            && self.entries.iter().any(|entry| entry.server.as_str() == server)
        {
            return self.entries.iter().find(|entry| entry.server.as_str() == server && &*entry.raw_name == raw);
        }
        self.entries.get(*self.by_name.get(name)?)
    }

    /// The entry that stands for the same tool in this catalog: same connection, same raw name.
    pub fn again(&self, entry: &Entry) -> Option<&Arc<Entry>> {
        let same = |other: &&Arc<Entry>| other.connection == entry.connection && other.raw_name == entry.raw_name;
        self.find(&entry.name).filter(same).or_else(|| self.entries.iter().find(same))
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

/// What the sources' tools want to be called, for [`Names`].
pub fn wanted(sources: &[Source]) -> Vec<Wanted> {
    let of = |source: &Source, tool: &ListedTool| Wanted {
        server: source.server.as_str().into(),
        raw: tool.raw_name.clone(),
        name: format!("{}{}", source.prefix, tool.raw_name).into(),
    };
    sources.iter().flat_map(|source| source.listing.tools.iter().map(move |tool| of(source, tool))).collect()
}

/// Exactly one block applies: the raw name's, else the prefixed name's, else the shown name's.
fn find_override(source: &Source, tool: &ListedTool, names: &Named, used: &mut [bool]) -> Option<HintOverride> {
    let prefixed = format!("{}{}", source.prefix, tool.raw_name);
    let position = |name: &str| source.overrides.iter().position(|(key, _)| &**key == name);
    let index = [&*tool.raw_name, &prefixed, &*names.name].into_iter().find_map(position)?;
    if let Some(used) = used.get_mut(index) {
        *used = true;
    }
    source.overrides.get(index).map(|(_, hints)| hints.clone())
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
    if source.listing.cut.is_some() {
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
        title,
        input_schema: tool.input_schema.clone(),
        output_schema: tool.output_schema.clone(),
        worker: writes_to_shared_surface(&hints.effective),
        delivery: delivery(&origin, &hints.effective, declared.map(AsRef::as_ref)),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn source(server: &str, tools: &[Value]) -> Source {
        let mut listing = Listing::default();
        for tool in tools {
            listing.push(tool);
        }
        Source {
            server: server.into(),
            connection: server.into(),
            identity: server.into(),
            prefix: "".into(),
            overrides: Arc::new([]),
            listing: Arc::new(listing),
            first_party: None,
        }
    }

    #[test]
    fn what_has_not_changed_is_taken_over_and_equals_what_is_made_anew() {
        let names = Names::default();
        let first = source("b", &[json!({"name": "x"}), json!({"name": "y"})]);
        let (before, _) = Catalog::place(std::slice::from_ref(&first), &names);
        let mut again = first.clone();
        again.identity = "another command".into();
        for sources in [vec![first.clone()], vec![source("a", &[json!({"name": "x"})]), first], vec![again]] {
            let (reused, warnings) = before.replaced(&sources, &names);
            let (fresh, same) = Catalog::place(&sources, &names);
            assert_eq!(reused.entries(), fresh.entries());
            assert_eq!(warnings, same);
            let y = |catalog: &Catalog| catalog.find("y").cloned().unwrap();
            let changed = sources[0].identity.as_ref() == "another command";
            assert_eq!(Arc::ptr_eq(&y(&reused), &y(&before)), !changed);
        }
    }
}
