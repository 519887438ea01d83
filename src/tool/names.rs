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

#[cfg(test)]
mod tests {
    use super::*;

    fn want(server: &str, raw: &str) -> Wanted {
        Wanted { server: server.into(), raw: raw.into(), name: raw.into(), held: Held::Shared }
    }

    fn name_of(names: &Names, wanted: &[Wanted], server: &str, raw: &str) -> (String, String) {
        let (named, _) = names.assign(wanted);
        let names = &named[server][raw];
        (names.name.to_string(), names.exposed.to_string())
    }

    #[test]
    fn the_server_first_by_name_has_the_plain_name() {
        let wanted = [want("b", "delete"), want("a", "delete")];
        let names = Names::default();
        assert_eq!(name_of(&names, &wanted, "a", "delete").0, "delete");
        assert_eq!(name_of(&names, &wanted, "b", "delete").0, "b_delete");
        let (_, collisions) = names.assign(&wanted);
        assert_eq!(collisions.len(), 1);
        assert_eq!(&*collisions[0].serving, "a");
    }

    #[test]
    fn an_incumbent_keeps_its_name_when_an_earlier_server_appears_or_it_goes_away() {
        let mut names = Names::default();
        assert!(names.remember(&[want("b", "delete")]));
        assert_eq!(name_of(&names, &[want("a", "delete"), want("b", "delete")], "b", "delete").0, "delete");
        assert_eq!(name_of(&names, &[want("a", "delete")], "a", "delete").0, "a_delete");
        assert!(!names.remember(&[want("b", "delete")]));
        assert_eq!(names.called("delete"), Some(("b".into(), "delete".into())));
        assert_eq!(names.called("a_delete"), None, "it was not remembered");
    }

    #[test]
    fn exposed_names_are_fit_unique_and_stable() {
        let long = "x".repeat(60);
        let wanted = [
            want("a", "a.b/c d"),
            want("a", &format!("{long}_first_of_two")),
            want("a", &format!("{long}_second_of_two")),
            want("b", "a_b_c_d"),
            want("b", "a.b.c.d"),
            want("c", "名前"),
        ];
        let (named, _) = Names::default().assign(&wanted);
        let exposed: HashSet<_> = named.values().flat_map(HashMap::values).map(|n| n.exposed.clone()).collect();
        assert_eq!(exposed.len(), wanted.len());
        for name in &exposed {
            assert!((1..=64).contains(&name.len()), "{name}");
            assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-'), "{name}");
        }
        let (again, _) = Names::default().assign(&wanted);
        assert_eq!(named, again);
    }

    #[test]
    fn twenty_thousand_names_survive_the_file() {
        let wanted: Vec<Wanted> = (0..20_000).map(|index| want("a", &format!("tool_{index}"))).collect();
        let mut names = Names::default();
        assert!(names.remember(&wanted));
        assert!(!names.remember(&wanted));
        let text = serde_json::to_string(&names).unwrap();
        assert_eq!(serde_json::from_str::<Names>(&text).unwrap(), names);
    }

    #[test]
    fn a_server_that_renames_its_tools_for_ever_is_forgotten_and_nobody_else() {
        let mut names = Names::default();
        names.remember(&[want("steady", "get")]);
        for round in 0..4 {
            let fresh: Vec<Wanted> = (0..4_000).map(|index| want("churn", &format!("{round}_{index}"))).collect();
            names.remember(&fresh);
        }
        assert!(names.remembered.len() <= MAX_REMEMBERED + 1, "{}", names.remembered.len());
        assert!(!names.remember(&[want("steady", "get")]), "the steady one is still known");
    }

    #[test]
    fn nobody_takes_the_name_that_agents_call_another_tool_by() {
        let mut names = Names::default();
        names.remember(&[want("files", "a.b")]);
        let wanted = [want("files", "a.b"), want("evil", "a_b")];
        assert_eq!(name_of(&names, &wanted, "files", "a.b").1, "a_b");
        let (name, exposed) = name_of(&names, &wanted, "evil", "a_b");
        assert!(name != "a_b" && exposed != "a_b", "{name} {exposed}");
        // The other way round: a name in the catalogue is no other tool's name for agents.
        let wanted = [want("evil", "a.b"), want("files", "a_b")];
        let (files, evil) =
            (name_of(&Names::default(), &wanted, "files", "a_b"), name_of(&Names::default(), &wanted, "evil", "a.b"));
        assert_ne!(files.0, evil.1);
    }

    #[test]
    fn a_seats_own_tool_has_the_name_that_a_shared_one_has_and_both_stay() {
        let own = |server: &str, raw: &str| Wanted { held: Held::Own, ..want(server, raw) };
        let wanted = [want("wiki", "get"), own("jira", "get"), own("linear", "get")];
        let mut names = Names::default();
        let expected = [("wiki", "get"), ("jira", "get"), ("linear", "linear_get")];
        for _ in 0..2 {
            for (server, name) in expected {
                assert_eq!(name_of(&names, &wanted, server, "get").0, name, "{server}");
            }
            let collisions = names.assign(&wanted).1;
            assert!(collisions.iter().all(|collision| &*collision.server == "linear"), "{collisions:?}");
            names.remember(&wanted);
            let text = serde_json::to_string(&names).unwrap();
            assert_eq!(text.matches("held").count(), 2, "{text}");
            names = serde_json::from_str(&text).unwrap();
        }
        let known: Vec<_> = names.of_server("jira", Held::Own).map(|known| known.name.to_string()).collect();
        assert_eq!(known, ["get"]);
        assert_eq!(names.of_server("jira", Held::Shared).count() + names.of_server("jir", Held::Own).count(), 0);
        // A server that becomes everybody's is one among the shared ones.
        assert_eq!(name_of(&names, &[want("wiki", "get"), want("jira", "get")], "jira", "get").0, "jira_get");
    }

    #[test]
    fn nobody_gets_a_name_of_the_engines() {
        let wanted = [want("turn", "begin"), want("a", "begin"), want("b", "turn.end"), want("c", "delegate")];
        let (named, _) = Names::default().assign(&wanted);
        for names in named.values().flat_map(HashMap::values) {
            assert!(!is_reserved(&names.name) && !is_reserved(&names.exposed), "{names:?}");
        }
        let old = r#"{"remembered":[{"server":"c","raw":"x","wanted":"x","name":"delegate","exposed":"delegate"}]}"#;
        let old: Names = serde_json::from_str(old).unwrap();
        assert_eq!(name_of(&old, &[want("c", "x")], "c", "x").0, "x");
    }

    #[test]
    fn a_changed_prefix_is_a_changed_name() {
        let mut names = Names::default();
        names.remember(&[want("a", "get")]);
        let prefixed = Wanted { name: "x_get".into(), ..want("a", "get") };
        assert_eq!(name_of(&names, std::slice::from_ref(&prefixed), "a", "get").0, "x_get");
        assert!(names.remember(std::slice::from_ref(&prefixed)));
        assert_eq!(names.remembered.len(), 1);
    }
}
