//! Behavioural hints with three values, where each one came from, and how they merge and leave again.
//!
//! The rules are those of the MCP tool annotations with one addition: *unknown is never no*. A hint that
//! nobody stated stays [`Hint::Unknown`] through parsing, merging and display.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

/// One tri-state hint.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Hint {
    /// Nobody said.
    #[default]
    Unknown,
    /// Stated true.
    Yes,
    /// Stated false.
    No,
}

impl Hint {
    /// `yes`, `no` or `unknown`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Yes => "yes",
            Self::No => "no",
        }
    }

    /// This hint, or `base` where this one says nothing.
    #[must_use]
    pub const fn or(self, base: Self) -> Self {
        match self {
            Self::Unknown => base,
            stated => stated,
        }
    }
}

impl From<bool> for Hint {
    fn from(stated: bool) -> Self {
        if stated { Self::Yes } else { Self::No }
    }
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Which of the four hints.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum HintName {
    /// The tool does not modify state.
    ReadOnly,
    /// The tool may delete or overwrite.
    Destructive,
    /// Repeating a call has no further effect.
    Idempotent,
    /// The tool touches the world outside the local system.
    OpenWorld,
}

impl HintName {
    /// All four, in the order in which they are shown.
    pub const ALL: [Self; 4] = [Self::ReadOnly, Self::Destructive, Self::Idempotent, Self::OpenWorld];

    /// The spelling of configuration and JSON output: `read_only`.
    pub const fn snake(self) -> &'static str {
        match self {
            Self::ReadOnly => "read_only",
            Self::Destructive => "destructive",
            Self::Idempotent => "idempotent",
            Self::OpenWorld => "open_world",
        }
    }

    /// The spelling of the protocol: `readOnlyHint`.
    pub const fn camel(self) -> &'static str {
        match self {
            Self::ReadOnly => "readOnlyHint",
            Self::Destructive => "destructiveHint",
            Self::Idempotent => "idempotentHint",
            Self::OpenWorld => "openWorldHint",
        }
    }

    /// The words for people: `read only`.
    pub const fn words(self) -> &'static str {
        match self {
            Self::ReadOnly => "read only",
            Self::Destructive => "destructive",
            Self::Idempotent => "idempotent",
            Self::OpenWorld => "open world",
        }
    }
}

/// The five fields that a server or a configuration can state about a tool.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Annotations {
    /// A name for people; empty when there is none.
    pub title: String,
    /// See [`HintName::ReadOnly`].
    pub read_only: Hint,
    /// See [`HintName::Destructive`].
    pub destructive: Hint,
    /// See [`HintName::Idempotent`].
    pub idempotent: Hint,
    /// See [`HintName::OpenWorld`].
    pub open_world: Hint,
}

/// What [`Annotations::parse`] read, and which hints were present with a type that is not boolean.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Parsed {
    /// The annotations; a hint without a boolean is `Unknown`.
    pub annotations: Annotations,
    /// Hints stated with something that is neither a boolean nor null.
    pub malformed: Vec<HintName>,
}

impl Annotations {
    /// The value of one hint.
    pub const fn get(&self, name: HintName) -> Hint {
        match name {
            HintName::ReadOnly => self.read_only,
            HintName::Destructive => self.destructive,
            HintName::Idempotent => self.idempotent,
            HintName::OpenWorld => self.open_world,
        }
    }

    /// Sets one hint.
    pub const fn set(&mut self, name: HintName, hint: Hint) {
        match name {
            HintName::ReadOnly => self.read_only = hint,
            HintName::Destructive => self.destructive = hint,
            HintName::Idempotent => self.idempotent = hint,
            HintName::OpenWorld => self.open_world = hint,
        }
    }

    /// Four unknown hints and no title.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Reads a server's `annotations` value. Anything but an object is empty; for each hint the protocol's
    /// spelling is looked at before the snake-case one and the first boolean decides.
    pub fn parse(value: Option<&Value>) -> Parsed {
        let Some(Value::Object(object)) = value else { return Parsed::default() };
        let mut parsed = Parsed::default();
        if let Some(Value::String(title)) = object.get("title") {
            parsed.annotations.title.clone_from(title);
        }
        for name in HintName::ALL {
            let stated = [object.get(name.camel()), object.get(name.snake())];
            let hint = stated.iter().flatten().find_map(|value| value.as_bool());
            parsed.annotations.set(name, hint.map_or(Hint::Unknown, Hint::from));
            // Also when the other spelling has a boolean: who sends both cannot be taken at its word.
            if stated.iter().flatten().any(|value| !value.is_boolean() && !value.is_null()) {
                parsed.malformed.push(name);
            }
        }
        parsed
    }

    /// `over` where it says something, else what these annotations say; never resets a hint to unknown.
    #[must_use]
    pub fn merge(&self, over: &Self) -> Self {
        let mut merged = self.clone();
        for name in HintName::ALL {
            merged.set(name, over.get(name).or(self.get(name)));
        }
        if !over.title.is_empty() {
            merged.title.clone_from(&over.title);
        }
        merged
    }

    /// The `annotations` object for a served surface: the title and *only explicit yes hints*; `None` when
    /// there is nothing to say, so that an unclassified tool advertises no annotations at all.
    pub fn to_wire(&self) -> Option<Map<String, Value>> {
        if HintName::ALL.iter().all(|name| self.get(*name) == Hint::Unknown) {
            return None;
        }
        let mut wire = Map::new();
        if !self.title.is_empty() {
            wire.insert("title".to_owned(), Value::String(self.title.clone()));
        }
        for name in HintName::ALL {
            if self.get(name) == Hint::Yes {
                wire.insert(name.camel().to_owned(), Value::Bool(true));
            }
        }
        (!wire.is_empty()).then_some(wire)
    }
}

/// A place in a configuration file, shown as `config.yaml:41`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ConfigRef {
    /// The file's name, without its folder.
    pub file: Arc<str>,
    /// Line, from 1; 0 when it is not known.
    pub line: u32,
}

impl fmt::Display for ConfigRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.file),
            line => write!(f, "{}:{line}", self.file),
        }
    }
}

/// What an operator states about one tool in `tool_annotations`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HintOverride {
    /// The stated hints and title.
    pub annotations: Annotations,
    /// Where each hint stands, in the order of [`HintName::ALL`].
    pub places: [Option<ConfigRef>; 4],
}

impl HintOverride {
    /// Where `name` stands; with no place of its own, where the block has one.
    fn place(&self, name: HintName) -> ConfigRef {
        let mut places = HintName::ALL.iter().zip(&self.places);
        let own = places.find(|(at, _)| **at == name).and_then(|(_, place)| place.as_ref());
        let known = own.or_else(|| self.places.iter().flatten().next()).cloned();
        known.unwrap_or_else(|| ConfigRef { file: "tool_annotations".into(), line: 0 })
    }
}

/// Who stated a hint.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum HintSource {
    /// Nobody: the hint is unknown.
    Nobody,
    /// The server that advertises the tool.
    Server,
    /// The configuration.
    Config(ConfigRef),
    /// A first-party tool, in code.
    Builtin,
}

impl HintSource {
    /// In words.
    pub fn words(&self) -> Cow<'static, str> {
        match self {
            Self::Nobody => "nobody said".into(),
            Self::Server => "server".into(),
            Self::Config(place) => place.to_string().into(),
            Self::Builtin => "builtin".into(),
        }
    }
}

impl fmt::Display for HintSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.words())
    }
}

/// A tool's hints through their stages: as advertised, as overridden, and what holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hints {
    /// What the server (or the code of a first-party tool) says.
    pub advertised: Annotations,
    /// What the configuration says.
    pub override_: Option<HintOverride>,
    /// What holds.
    pub effective: Annotations,
    /// Hints that the server stated with a wrong type and no override settles.
    pub malformed: Vec<HintName>,
    advertiser: HintSource,
}

impl Hints {
    /// The hints of a server's tool under an optional override.
    pub fn from_server(parsed: Parsed, override_: Option<HintOverride>) -> Self {
        let over = override_.as_ref().map(|o| o.annotations.clone()).unwrap_or_default();
        let effective = parsed.annotations.merge(&over);
        let malformed = parsed.malformed.into_iter().filter(|name| over.get(*name) == Hint::Unknown).collect();
        Self { advertised: parsed.annotations, override_, effective, malformed, advertiser: HintSource::Server }
    }

    /// The hints that a first-party tool declares in code.
    pub fn builtin(annotations: Annotations) -> Self {
        Self {
            effective: annotations.clone(),
            advertised: annotations,
            override_: None,
            malformed: Vec::new(),
            advertiser: HintSource::Builtin,
        }
    }

    /// Who stated the effective value of `name`.
    pub fn source(&self, name: HintName) -> HintSource {
        if let Some(over) = &self.override_
            && over.annotations.get(name) != Hint::Unknown
        {
            return HintSource::Config(over.place(name));
        }
        match self.advertised.get(name) {
            Hint::Unknown => HintSource::Nobody,
            _ => self.advertiser.clone(),
        }
    }
}
