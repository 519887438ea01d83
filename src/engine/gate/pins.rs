//! Pins: the definition of each tool as it was last seen and last approved, kept across runs.
//!
//! Owned by the engine's core; the composition root keeps them in the state folder. They tell a person how a tool
//! differs from what they agreed to, and the gate which tools turned milder without anybody having looked. A tool
//! that is seen for the first time is taken as it is.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::diff::diff;
use super::standing::{Milder, is_milder};
use crate::clock::Timestamp;
use crate::engine::snapshot::{DefinitionChange, DiffLine, Known};
use crate::ids::ConnectionName;
use crate::tool::{Catalog, EffectClass, Entry, Hint, HintName, HintSource};

/// Tools remembered for one connection; of those that it lists no more, the ones seen longest ago go first.
const MOST_TOOLS: usize = 5_000;
/// Bytes of definitions kept for one connection; of what comes then, only the fingerprint is kept.
const MOST_TEXT: usize = 4 << 20;

/// See the module.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(from = "Stored", into = "Stored")]
pub struct Pins {
    tools: BTreeMap<(Arc<str>, Arc<str>), Pin>,
    /// Connections of which something was forgotten; [`ALL`]: of every one. What they list for the first time may have
    /// been worse before, so it is not taken as it is.
    forgotten: BTreeSet<Arc<str>>,
}

/// Stands for every connection.
const ALL: &str = "*";

/// The file: `{"version":1,"tools":[…]}`.
#[derive(Serialize, Deserialize)]
struct Stored {
    version: u32,
    tools: Vec<Pin>,
    #[serde(default)]
    forgotten: BTreeSet<Arc<str>>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Pin {
    connection: Arc<str>,
    tool: Arc<str>,
    /// As it was listed last.
    seen: Definition,
    /// What it was before: while it is milder than this and nobody approved it, it is not trusted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    earlier: Option<Definition>,
    /// As it was when a person last approved a call of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    approved: Option<Definition>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Definition {
    fingerprint: Arc<str>,
    #[serde(with = "class")]
    class: EffectClass,
    /// The hints as the server states them, malformed ones marked.
    advertised: Arc<str>,
    /// True when the configuration states the hint that the class goes by.
    by_config: bool,
    /// Its lines, sanitised and redacted.
    text: Arc<str>,
    /// When it was first seen or last approved, in milliseconds since the Unix epoch.
    at: i64,
}

impl Pins {
    /// Pins that could not be read: there were some, and nothing is known of them.
    pub fn unreadable() -> Self {
        Self { tools: BTreeMap::new(), forgotten: BTreeSet::from([ALL.into()]) }
    }

    /// Takes note of what is listed now and was not seen in the catalog `before`. `text` gives a definition's lines; it is
    /// asked only for new ones. True when anything was new.
    pub fn see(
        &mut self,
        catalog: &Catalog,
        before: &Catalog,
        text: impl Fn(&Entry) -> String,
        now: Timestamp,
    ) -> bool {
        let is_known = |entry: &Entry| self.tools.get(&key(entry)).is_some_and(|pin| pin.seen.is(entry));
        let mut new = catalog.changed_since(before);
        new.retain(|entry| !is_known(entry));
        if new.is_empty() {
            return false;
        }
        let mut sizes: HashMap<Arc<str>, usize> = HashMap::new();
        for pin in self.tools.values() {
            *sizes.entry(pin.connection.clone()).or_default() += pin.size();
        }
        for entry in new {
            let key = key(entry);
            let size = sizes.entry(key.0.clone()).or_default();
            let text =
                if *size < MOST_TEXT { text(entry) } else { "(not kept: this server's definitions are long)".into() };
            *size += text.len();
            let definition = Definition::new(entry, text, now);
            match self.tools.get_mut(&key) {
                Some(pin) => pin.turn_into(definition),
                None => {
                    let (connection, tool) = key.clone();
                    let forgotten = self.forgotten.contains(&connection) || self.forgotten.contains(ALL);
                    let earlier = forgotten.then(|| Definition::forgotten(now));
                    self.tools.insert(key, Pin { connection, tool, seen: definition, earlier, approved: None });
                }
            }
        }
        self.trim(catalog);
        true
    }

    /// A person approved a call of this definition: from now on it is trusted, and the one that changes are told from.
    /// True when it was not so before.
    pub fn approve(&mut self, entry: &Entry, now: Timestamp) -> bool {
        let Some(pin) = self.tools.get_mut(&key(entry)).filter(|pin| pin.seen.is(entry)) else { return false };
        let news = pin.earlier.is_some() || !pin.approved.as_ref().is_some_and(|approved| approved.is(entry));
        pin.earlier = None;
        pin.approved = Some(Definition { at: now.millis(), ..pin.seen.clone() });
        news
    }

    /// How a definition differs from the one that was last approved, else from what the tool was before.
    pub fn change(&self, entry: &Entry) -> Option<DefinitionChange> {
        let pin = self.tools.get(&key(entry)).filter(|pin| pin.seen.is(entry))?;
        let (before, approved) = pin.before()?;
        let mut lines = diff(&before.text, &pin.seen.text);
        if lines.iter().all(|line| matches!(line, DiffLine::Same(_))) {
            lines.push(DiffLine::Added("(it differs in something that is not shown: cut, or redacted)".into()));
        }
        Some(DefinitionChange { since: Timestamp::from_millis(before.at), approved, lines })
    }

    /// The tools that turned milder and that nobody has approved a call of since.
    pub fn milder(&self) -> HashMap<(ConnectionName, Arc<str>), Milder> {
        let milder = |pin: &Pin| {
            let was = pin.distrusted()?.class;
            let milder = Milder { was, since: Timestamp::from_millis(pin.seen.at) };
            Some(((ConnectionName::new(pin.connection.clone()), pin.tool.clone()), milder))
        };
        self.tools.values().filter_map(milder).collect()
    }

    /// The fingerprints that tools had when they were last approved, else before their last change, where they have
    /// another one now.
    pub fn changed(&self) -> HashMap<(ConnectionName, Arc<str>), Arc<str>> {
        let changed = |pin: &Pin| {
            let before = pin.before()?.0.fingerprint.clone();
            Some(((ConnectionName::new(pin.connection.clone()), pin.tool.clone()), before))
        };
        self.tools.values().filter_map(changed).collect()
    }

    fn trim(&mut self, catalog: &Catalog) {
        let mut counts: HashMap<Arc<str>, usize> = HashMap::new();
        for pin in self.tools.values() {
            *counts.entry(pin.connection.clone()).or_default() += 1;
        }
        let listed: HashSet<_> = catalog.entries().iter().map(|entry| key(entry)).collect();
        for (connection, count) in counts.into_iter().filter(|(_, count)| *count > MOST_TOOLS) {
            let gone = self.tools.iter().filter(|(key, _)| key.0 == connection && !listed.contains(*key));
            let mut gone: Vec<_> = gone.map(|(key, pin)| (pin.seen.at, key.clone())).collect();
            gone.sort_unstable();
            for (_, key) in gone.into_iter().take(count - MOST_TOOLS) {
                self.tools.remove(&key);
                self.forgotten.insert(connection.clone());
            }
        }
    }
}

impl Pin {
    fn size(&self) -> usize {
        let texts = [Some(&self.seen), self.earlier.as_ref(), self.approved.as_ref()];
        texts.into_iter().flatten().map(|definition| definition.text.len()).sum()
    }

    /// What the present definition is told from, where it differs: the one last approved, else the one before it.
    fn before(&self) -> Option<(&Definition, Known)> {
        let approved = self.approved.as_ref().map(|definition| (definition, Known::Approved));
        let (before, known) = approved.or_else(|| Some((self.earlier.as_ref()?, Known::Seen)))?;
        (before.fingerprint != self.seen.fingerprint).then_some((before, known))
    }

    /// The definition that the present one is milder than, while that counts.
    fn distrusted(&self) -> Option<&Definition> {
        let acknowledged = self.approved.as_ref().is_some_and(|known| known.fingerprint == self.seen.fingerprint);
        self.earlier.as_ref().filter(|earlier| {
            is_milder(earlier.class, self.seen.class)
                // What the configuration says, the operator has looked at.
                && !self.seen.by_config
                && earlier.advertised != self.seen.advertised
                && !acknowledged
        })
    }

    fn turn_into(&mut self, definition: Definition) {
        // Several mild steps are still measured against what was trusted before the first of them.
        let reference = self.distrusted().cloned().unwrap_or_else(|| self.seen.clone());
        self.earlier = (reference.fingerprint != definition.fingerprint).then_some(reference);
        self.seen = definition;
    }
}

impl Definition {
    fn new(entry: &Entry, text: String, now: Timestamp) -> Self {
        let hints = &entry.hints;
        let stated = HintName::ALL.map(|name| {
            let malformed = if hints.malformed.contains(&name) { "!" } else { "" };
            format!("{}{malformed}", hints.advertised.get(name))
        });
        let from_config = |name| matches!(hints.source(name), HintSource::Config(_));
        let by_config = match entry.class() {
            EffectClass::Read => from_config(HintName::ReadOnly),
            EffectClass::Write => {
                from_config(HintName::Destructive) && hints.effective.get(HintName::Destructive) == Hint::No
            }
            EffectClass::Destructive | EffectClass::Unknown => false,
        };
        Self {
            fingerprint: entry.fingerprint.0.to_string().into(),
            class: entry.class(),
            advertised: stated.join(",").into(),
            by_config,
            text: text.into(),
            at: now.millis(),
        }
    }

    /// Stands for what is not known any more: it may have been anything.
    fn forgotten(now: Timestamp) -> Self {
        Self {
            fingerprint: "forgotten".into(),
            class: EffectClass::Unknown,
            advertised: "forgotten".into(),
            by_config: false,
            text: "(what this tool was before is not known any more)".into(),
            at: now.millis(),
        }
    }

    fn is(&self, entry: &Entry) -> bool {
        *self.fingerprint == entry.fingerprint.0.to_string()
    }
}

fn key(entry: &Entry) -> (Arc<str>, Arc<str>) {
    (entry.connection.as_str().into(), entry.raw_name.clone())
}

impl From<Stored> for Pins {
    fn from(stored: Stored) -> Self {
        let keyed = |pin: Pin| ((pin.connection.clone(), pin.tool.clone()), pin);
        Self { tools: stored.tools.into_iter().map(keyed).collect(), forgotten: stored.forgotten }
    }
}

impl From<Pins> for Stored {
    fn from(pins: Pins) -> Self {
        Self { version: 1, tools: pins.tools.into_values().collect(), forgotten: pins.forgotten }
    }
}

mod class {
    //! A class as its word.

    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serializer};

    use crate::tool::EffectClass;

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it like this")]
    pub(super) fn serialize<S: Serializer>(class: &EffectClass, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(class.as_str())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<EffectClass, D::Error> {
        let word = String::deserialize(deserializer)?;
        let class = EffectClass::ALL.into_iter().find(|class| class.as_str() == word);
        class.ok_or_else(|| D::Error::custom(format!("{word:?} is no effect class")))
    }
}
