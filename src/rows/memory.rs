//! What seats remember, as a screen asks for it and gets it.

use std::sync::Arc;
use std::time::Duration;

use crate::clock::Timestamp;
use crate::ids::SeatHandle;

/// A part of what a seat remembers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kept {
    /// What it wrote down for itself.
    Diary,
    /// Its skills.
    Skills,
    /// Its finished turns.
    Turns,
}

/// Whose, and which part; newest first (skills by name).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wanted {
    /// The seat.
    pub seat: SeatHandle,
    /// The part.
    pub kept: Kept,
}

/// What a seat remembers, in part.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Remembered {
    /// As many as fit into the bounds of one answer, each whole.
    pub notes: Vec<Note>,
    /// How many there are.
    pub all: usize,
    /// When the seat was introduced to its place as it is now.
    pub onboarded: Option<Timestamp>,
}

/// One thing that is remembered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Note {
    /// When it was written, changed or over.
    pub at: Timestamp,
    /// What it is.
    pub what: What,
    /// Its text, whole.
    pub text: Arc<str>,
}

/// What a note is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum What {
    /// An entry of the diary.
    Entry {
        /// When it is forgotten, where it is.
        until: Option<Timestamp>,
        /// How often it was found.
        found: i64,
        /// The remark beside it.
        remark: Option<Arc<str>>,
    },
    /// A skill.
    Skill {
        /// Its name.
        name: Arc<str>,
        /// What it is for.
        about: Arc<str>,
        /// `active`, `stale`, `archived`.
        state: &'static str,
        /// Counts up with each change.
        version: i64,
        /// How often it was loaded.
        used: i64,
    },
    /// A finished turn.
    Turn {
        /// What it was about.
        task: Arc<str>,
        /// `done`, `self_iterate`, `failed`.
        outcome: Arc<str>,
        /// How long it took.
        took: Duration,
        /// The tools in the order of their calls.
        tools: Vec<Arc<str>>,
        /// The skills that it loaded.
        skills: Vec<Arc<str>>,
    },
}
