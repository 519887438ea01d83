//! Which name a tool goes by: unique, stable, and never handed from one server to another.
//!
//! The catalogue name is prefix and raw name; where two servers want the same one, the server first by name order
//! has it and the other tool is called `<server>_<name>`. The exposed name is the same made fit for agents. Both
//! are remembered per (server, raw name), and the incumbent wins: a name that somebody learnt keeps meaning the
//! same tool when servers come and go. The engine keeps the remembered names in its state folder.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::arguments::Digest;
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

/// Names by server and raw name.
pub type ByTool = HashMap<(Arc<str>, Arc<str>), Named>;

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
}

impl Names {
    /// Names for all of `wanted`, by (server, raw name), and the collisions among them. Nothing is remembered yet.
    pub fn assign(&self, wanted: &[Wanted]) -> (ByTool, Vec<Collision>) {
        let mut owners: BTreeMap<Arc<str>, Arc<str>> = BTreeMap::new();
        let mut exposed_taken: HashSet<Arc<str>> = HashSet::new();
        for remembered in self.remembered.values() {
            owners.insert(remembered.name.clone(), remembered.server.clone());
            exposed_taken.insert(remembered.exposed.clone());
        }
        let mut named = HashMap::new();
        let mut collisions = Vec::new();
        // The program's own tools keep their names whatever servers bring; nobody else's is remembered as one of them.
        let (ours, mut order): (Vec<&Wanted>, Vec<&Wanted>) =
            wanted.iter().partition(|tool| &*tool.server == ServerName::OURS);
        let mut own: HashSet<&str> = HashSet::new();
        for tool in ours {
            own.insert(&tool.name);
            owners.insert(tool.name.clone(), tool.server.clone());
            exposed_taken.insert(tool.name.clone());
            let names = Named { name: tool.name.clone(), exposed: tool.name.clone() };
            named.insert((tool.server.clone(), tool.raw.clone()), names);
        }
        order.sort();
        for tool in order {
            let key = (tool.server.clone(), tool.raw.clone());
            if let Some(incumbent) = self.remembered.get(&key)
                && incumbent.wanted == tool.name
                && !own.contains(&*incumbent.name)
                && !own.contains(&*incumbent.exposed)
            {
                let names = Named { name: incumbent.name.clone(), exposed: incumbent.exposed.clone() };
                named.insert(key, names);
                continue;
            }
            let name = free_name(tool, |name| owners.contains_key(name) || exposed_taken.contains(name));
            if name != tool.name
                && let Some(serving) = owners.get(&tool.name)
            {
                collisions.push(Collision {
                    wanted: tool.name.clone(),
                    serving: serving.clone(),
                    server: tool.server.clone(),
                    renamed: name.clone(),
                });
            }
            owners.insert(name.clone(), tool.server.clone());
            // Its own name apart, no name of a tool is what agents call another.
            let taken =
                |exposed: &str| exposed_taken.contains(exposed) || (exposed != &*name && owners.contains_key(exposed));
            let exposed = free_exposed(&name, &tool.server, &tool.raw, taken);
            exposed_taken.insert(exposed.clone());
            named.insert(key, Named { name, exposed });
        }
        (named, collisions)
    }

    /// Remembers the names of `wanted` as [`Names::assign`] gives them. True when that changed anything.
    pub fn remember(&mut self, wanted: &[Wanted]) -> bool {
        let (named, _) = self.assign(wanted);
        let mut changed = false;
        for tool in wanted {
            let key = (tool.server.clone(), tool.raw.clone());
            let Some(names) = named.get(&key) else { continue };
            let now = Remembered {
                server: tool.server.clone(),
                raw: tool.raw.clone(),
                wanted: tool.name.clone(),
                name: names.name.clone(),
                exposed: names.exposed.clone(),
            };
            changed |= self.remembered.get(&key) != Some(&now);
            self.remembered.insert(key, now);
        }
        self.forget(&named);
        changed
    }

    /// A server that lists other names each time must not fill the memory of all: over the cap, its names that are
    /// not listed now are forgotten.
    fn forget(&mut self, listed: &ByTool) {
        let mut counts: HashMap<Arc<str>, usize> = HashMap::new();
        for (server, _) in self.remembered.keys() {
            *counts.entry(server.clone()).or_default() += 1;
        }
        if counts.values().any(|count| *count > MAX_REMEMBERED) {
            let over = |server: &Arc<str>| counts.get(server).is_some_and(|count| *count > MAX_REMEMBERED);
            self.remembered.retain(|tool, _| !over(&tool.0) || listed.contains_key(tool));
        }
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
        Wanted { server: server.into(), raw: raw.into(), name: raw.into() }
    }

    fn name_of(names: &Names, wanted: &[Wanted], server: &str, raw: &str) -> (String, String) {
        let (named, _) = names.assign(wanted);
        let names = &named[&(Arc::<str>::from(server), Arc::<str>::from(raw))];
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
        let exposed: HashSet<_> = named.values().map(|n| n.exposed.clone()).collect();
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
    fn a_changed_prefix_is_a_changed_name() {
        let mut names = Names::default();
        names.remember(&[want("a", "get")]);
        let prefixed = Wanted { name: "x_get".into(), ..want("a", "get") };
        assert_eq!(name_of(&names, std::slice::from_ref(&prefixed), "a", "get").0, "x_get");
        assert!(names.remember(std::slice::from_ref(&prefixed)));
        assert_eq!(names.remembered.len(), 1);
    }
}
