//! The effect class: what the gate's policy goes by. A pure, total function of a tool's hints.
//!
//! Other questions about a tool (may a worker hold it, did it reach somebody) have tables of their own in
//! [`super::worker`] and [`super::delivery`]; none of them is derived from another.

use std::fmt;

use super::annotations::{Hint, HintName, Hints};

/// What a call to a tool may do, as far as anybody has said.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum EffectClass {
    /// Proven to change nothing.
    Read,
    /// Changes something, explicitly not destructive.
    Write,
    /// May delete or overwrite.
    Destructive,
    /// Nobody said enough: a question, not a blank.
    Unknown,
}

impl EffectClass {
    /// All classes, in the order in which they are shown.
    pub const ALL: [Self; 4] = [Self::Read, Self::Write, Self::Destructive, Self::Unknown];

    /// `read`, `write`, `destructive` or `unknown`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Destructive => "destructive",
            Self::Unknown => "unknown",
        }
    }
}

impl fmt::Display for EffectClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Something odd about a tool that a person should see.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Flag {
    /// Stated read-only and destructive at once.
    Contradictory,
    /// Stated a hint with a value that is not a boolean.
    MalformedHints,
    /// The input schema does not describe an object; agents are given an empty object schema.
    SchemaNotAnObject,
    /// The server's list was cut by a cap, so more tools may exist.
    ListCut,
}

impl Flag {
    /// The word of JSON output and audit: `malformed_hints`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Contradictory => "contradictory",
            Self::MalformedHints => "malformed_hints",
            Self::SchemaNotAnObject => "schema_not_an_object",
            Self::ListCut => "list_cut",
        }
    }
}

/// An effect class, its reason in words, and what is odd about the hints behind it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Classification {
    /// The class.
    pub class: EffectClass,
    /// Why, for people: `destructive is yes`.
    pub reason: &'static str,
    /// `Contradictory` and `MalformedHints`, where they apply.
    pub flags: Vec<Flag>,
}

/// Classifies a tool by its effective hints. A tool with an unsettled malformed hint is never `Read`.
pub fn classify(hints: &Hints) -> Classification {
    use Hint::{No, Unknown, Yes};
    let (read_only, destructive) =
        (hints.effective.get(HintName::ReadOnly), hints.effective.get(HintName::Destructive));
    let (class, reason) = match (read_only, destructive) {
        (Yes, Yes) => (EffectClass::Destructive, "read only and destructive are both yes: the worse one counts"),
        (Yes, No | Unknown) => (EffectClass::Read, "read only is yes"),
        (No | Unknown, Yes) => (EffectClass::Destructive, "destructive is yes"),
        (No | Unknown, No) => (EffectClass::Write, "destructive is no"),
        (No, Unknown) => (EffectClass::Unknown, "it writes, and nobody said whether destructively"),
        (Unknown, Unknown) => (EffectClass::Unknown, "nobody said whether it writes"),
    };
    let mut flags = Vec::new();
    if (read_only, destructive) == (Yes, Yes) {
        flags.push(Flag::Contradictory);
    }
    if hints.malformed.is_empty() {
        return Classification { class, reason, flags };
    }
    flags.push(Flag::MalformedHints);
    match class {
        EffectClass::Read => Classification {
            class: EffectClass::Unknown,
            reason: "read only is yes, but another hint has a wrong type",
            flags,
        },
        _ => Classification { class, reason, flags },
    }
}
