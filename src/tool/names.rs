//! Which name a tool goes by: unique, stable, and never handed from one server to another.
//!
//! The catalogue name is prefix and raw name; where two servers want the same one, the server first by name order
//! has it and the other tool is called `<server>_<name>`. The exposed name is the same made fit for agents. Both
//! are remembered per (server, raw name), and the incumbent wins: a name that somebody learnt keeps meaning the
//! same tool when servers come and go. The engine keeps the remembered names in its state folder.
//!
//! All connections of one server share its names. Shared servers and those that seats have of their own are two
//! spaces: a seat's own tool may have the name of a shared one, which it then hides from that seat.
//! The program's own tools have their names in both spaces, before everybody and whatever is remembered.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::arguments::Digest;
use super::reserved::is_reserved;
use crate::ids::ServerName;

/// The longest exposed name, in characters.
const MAX_EXPOSED: usize = 64;
/// Names that are remembered for one server; beyond, only those that it lists now.
const MAX_REMEMBERED: usize = 10_000;

/// The two names of a tool.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Named {
    /// The catalogue name.
    pub name: Arc<str>,
    /// The name that agents see.
    pub exposed: Arc<str>,
}

/// Names by server, then raw name.
pub type ByServer = HashMap<Arc<str>, OfServer>;

/// The names of one server's tools, by raw name.
pub type OfServer = HashMap<Arc<str>, Named>;

/// Who holds a server's tools.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Held {
    /// Every agent seat.
    #[default]
    Shared,
    /// Seats of their own, each by a connection of its own.
    Own,
}

impl Held {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it like this")]
    fn is_shared(&self) -> bool {
        *self == Self::Shared
    }
}

/// A tool that could not have the name it wanted.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Collision {
    /// The name.
    pub wanted: Arc<str>,
    /// The server that has it.
    pub serving: Arc<str>,
    /// The server whose tool was renamed.
    pub server: Arc<str>,
    /// The name it got.
    pub renamed: Arc<str>,
}

/// A tool that needs a name: server, raw name, and prefix with raw name.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Wanted {
    /// The server's bare name.
    pub server: Arc<str>,
    /// The name on the wire.
    pub raw: Arc<str>,
    /// `tool_prefix` and raw name.
    pub name: Arc<str>,
    /// Who holds it.
    pub held: Held,
}

impl Wanted {
    fn is_ours(&self) -> bool {
        &*self.server == ServerName::OURS
    }
}

/// The remembered names.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(from = "Stored", into = "Stored")]
pub struct Names {
    /// By server and raw name.
    remembered: BTreeMap<(Arc<str>, Arc<str>), Remembered>,
}

/// The remembered names as they stand in the file: a list.
#[derive(Serialize, Deserialize)]
struct Stored {
    remembered: Vec<Remembered>,
}

impl From<Stored> for Names {
    fn from(stored: Stored) -> Self {
        let by_tool = |names: Remembered| ((names.server.clone(), names.raw.clone()), names);
        Self { remembered: stored.remembered.into_iter().map(by_tool).collect() }
    }
}

impl From<Names> for Stored {
    fn from(names: Names) -> Self {
        Self { remembered: names.remembered.into_values().collect() }
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Remembered {
    server: Arc<str>,
    raw: Arc<str>,
    /// Prefix and raw name at that time: a changed prefix is a changed name.
    wanted: Arc<str>,
    name: Arc<str>,
    exposed: Arc<str>,
    /// What is held by others now is another name.
    #[serde(default, skip_serializing_if = "Held::is_shared")]
    held: Held,
}

impl Remembered {
    /// Names that were given away before they became the engine's own.
    fn is_ours(&self) -> bool {
        is_reserved(&self.name) || is_reserved(&self.exposed)
    }
}

/// The names that are taken among those that one seat could see.
#[derive(Default)]
struct Space {
    owners: HashMap<Arc<str>, Arc<str>>,
    exposed: HashSet<Arc<str>>,
}

impl Names {
    /// What is remembered of a server's tools as they are held now.
    pub fn of_server(&self, server: &str, held: Held) -> impl Iterator<Item = Named> {
        let from: (Arc<str>, Arc<str>) = (server.into(), "".into());
        let of_server = self.remembered.range(from.clone()..).take_while(move |((server, _), _)| *server == from.0);
        let now = of_server.filter(move |(_, known)| known.held == held);
        now.map(|(_, known)| Named { name: known.name.clone(), exposed: known.exposed.clone() })
    }

    /// Names for all of `wanted`, each tool once, and the collisions among them. Nothing is remembered yet.
    pub fn assign(&self, wanted: &[Wanted]) -> (ByServer, Vec<Collision>) {
        let mut spaces = [Space::default(), Space::default()];
        for remembered in self.remembered.values() {
            let space = space_of(&mut spaces, remembered.held);
            space.owners.insert(remembered.name.clone(), remembered.server.clone());
            space.exposed.insert(remembered.exposed.clone());
        }
        // The program's own tools keep their names whatever servers bring, in both spaces; nobody else's is remembered
        // as one of them.
        let own: HashSet<&str> = wanted.iter().filter(|tool| tool.is_ours()).map(|tool| &*tool.name).collect();
        for tool in wanted.iter().filter(|tool| tool.is_ours()) {
            for space in &mut spaces {
                space.owners.insert(tool.name.clone(), tool.server.clone());
                space.exposed.insert(tool.name.clone());
            }
        }
        let is_own = |known: &Remembered| own.contains(&*known.name) || own.contains(&*known.exposed);
        let mut named = ByServer::new();
        let mut put = |tool: &Wanted, names| {
            named.entry(tool.server.clone()).or_default().insert(tool.raw.clone(), names);
        };
        let mut fresh = Vec::new();
        for tool in wanted {
            if tool.is_ours() {
                put(tool, Named { name: tool.name.clone(), exposed: tool.name.clone() });
                continue;
            }
            let incumbent = self.remembered.get(&(tool.server.clone(), tool.raw.clone()));
            let still = |known: &&Remembered| {
                known.wanted == tool.name && known.held == tool.held && !known.is_ours() && !is_own(known)
            };
            match incumbent.filter(still) {
                Some(known) => put(tool, Named { name: known.name.clone(), exposed: known.exposed.clone() }),
                None => fresh.push(tool),
            }
        }
        let mut collisions = Vec::new();
        fresh.sort();
        for tool in fresh {
            let names = space_of(&mut spaces, tool.held).place(tool, &mut collisions);
            put(tool, names);
        }
        (named, collisions)
    }

    /// Remembers the names of `wanted` as [`Names::assign`] gives them. True when that changed anything.
    pub fn remember(&mut self, wanted: &[Wanted]) -> bool {
        let (named, _) = self.assign(wanted);
        let mut changed = false;
        for tool in wanted {
            let key = (tool.server.clone(), tool.raw.clone());
            let Some(names) = named.get(&tool.server).and_then(|names| names.get(&tool.raw)) else { continue };
            let now = Remembered {
                server: tool.server.clone(),
                raw: tool.raw.clone(),
                wanted: tool.name.clone(),
                name: names.name.clone(),
                exposed: names.exposed.clone(),
                held: tool.held,
            };
            changed |= self.remembered.get(&key) != Some(&now);
            self.remembered.insert(key, now);
        }
        self.forget(&named);
        changed
    }

    /// Whether an exposed name can look like this.
    pub fn is_exposed(name: &str) -> bool {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        (1..=MAX_EXPOSED).contains(&name.len()) && name.bytes().all(fits)
    }

    /// The server and raw name that are remembered under an exposed name.
    pub fn called(&self, exposed: &str) -> Option<(Arc<str>, Arc<str>)> {
        let found = self.remembered.values().find(|names| &*names.exposed == exposed)?;
        Some((found.server.clone(), found.raw.clone()))
    }

    /// A server that lists other names each time must not fill the memory of all: over the cap, its names that are
    /// not listed now are forgotten.
    fn forget(&mut self, listed: &ByServer) {
        let mut counts: HashMap<Arc<str>, usize> = HashMap::new();
        for (server, _) in self.remembered.keys() {
            *counts.entry(server.clone()).or_default() += 1;
        }
        if counts.values().any(|count| *count > MAX_REMEMBERED) {
            let over = |server: &Arc<str>| counts.get(server).is_some_and(|count| *count > MAX_REMEMBERED);
            let is_listed =
                |(server, raw): &(Arc<str>, Arc<str>)| listed.get(server).is_some_and(|names| names.contains_key(raw));
            self.remembered.retain(|tool, _| !over(&tool.0) || is_listed(tool));
        }
    }
}

fn space_of(spaces: &mut [Space; 2], held: Held) -> &mut Space {
    let [shared, own] = spaces;
    match held {
        Held::Shared => shared,
        Held::Own => own,
    }
}

impl Space {
    /// Names for a tool that has none yet.
    fn place(&mut self, tool: &Wanted, collisions: &mut Vec<Collision>) -> Named {
        let taken = |name: &str| self.owners.contains_key(name) || self.exposed.contains(name) || is_reserved(name);
        let name = free_name(tool, taken);
        if name != tool.name
            && let Some(serving) = self.owners.get(&tool.name)
        {
            collisions.push(Collision {
                wanted: tool.name.clone(),
                serving: serving.clone(),
                server: tool.server.clone(),
                renamed: name.clone(),
            });
        }
        self.owners.insert(name.clone(), tool.server.clone());
        // Its own name apart, no name of a tool is what agents call another.
        let taken = |exposed: &str| {
            self.exposed.contains(exposed)
                || is_reserved(exposed)
                || (exposed != &*name && self.owners.contains_key(exposed))
        };
        let exposed = free_exposed(&name, &tool.server, &tool.raw, taken);
        self.exposed.insert(exposed.clone());
        Named { name, exposed }
    }
}

fn free_name(tool: &Wanted, taken: impl Fn(&str) -> bool) -> Arc<str> {
    if !taken(&tool.name) {
        return tool.name.clone();
    }
    let mut name = format!("{}_{}", tool.server, tool.name);
    let mut count = 2;
    while taken(&name) {
        name = format!("{}_{}_{count}", tool.server, tool.name);
        count += 1;
    }
    name.into()
}

fn free_exposed(name: &str, server: &str, raw: &str, taken: impl Fn(&str) -> bool) -> Arc<str> {
    let fit: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' }).collect();
    if fit.len() <= MAX_EXPOSED && !fit.is_empty() && !taken(&fit) {
        return fit.into();
    }
    // A hash of the whole keeps names apart that share their start. Each round hashes something else.
    for round in 0_u32.. {
        let hash = Digest::of(format!("{server}\0{raw}\0{round}").as_bytes()).short();
        let room = MAX_EXPOSED - hash.len() - 1;
        let start: String = fit.chars().take(room).collect();
        let candidate = format!("{start}_{hash}");
        if !taken(&candidate) {
            return candidate.into();
        }
    }
    fit.into()
}
