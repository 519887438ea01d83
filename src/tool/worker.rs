//! The worker guard: which tools a worker, a sub-agent under a seat, may hold. Pure.
//!
//! [`admit`] answers for a whole list when a worker is made, [`may_hold`] for one tool, and is asked again at every
//! call: what a tool says of itself may change. Would it write to a surface that humans read? That question fails open
//! on what nobody classified (the worker's own list curates that) and is not the negation of any other; see
//! [`super::delivery`] for the one that fails closed.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use super::annotations::{Annotations, Hint};
use super::catalog::Catalog;
use super::entry::{Entry, Origin, ToolKey};
use super::reserved::is_control;
use crate::ids::{SeatHandle, ServerName};

/// Goes with every worker whose parent holds it: without it the worker could not learn how the others are used.
const RIDES_ALONG: &str = "load_tool_skill";

/// An answer with its reason.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SharedWrite {
    /// True when a call writes to a shared surface: a worker may not hold the tool.
    pub writes: bool,
    /// Why, for people.
    pub reason: &'static str,
}

/// Whether a call may write to a surface that humans read. The first rule that applies answers: a pure read
/// does not; a destructive tool does; a write does unless it is explicitly not open-world; what nobody
/// classified does not.
pub fn writes_to_shared_surface(annotations: &Annotations) -> SharedWrite {
    match (annotations.read_only, annotations.destructive, annotations.open_world) {
        (Hint::Yes, _, _) => SharedWrite { writes: false, reason: "read only" },
        (_, Hint::Yes, _) => SharedWrite { writes: true, reason: "destructive" },
        (Hint::No, _, Hint::Yes | Hint::Unknown) => SharedWrite { writes: true, reason: "writes to a shared surface" },
        (Hint::No, _, Hint::No) => SharedWrite { writes: false, reason: "writes only private state" },
        (Hint::Unknown, _, _) => SharedWrite { writes: false, reason: "unclassified: left to the worker's tool list" },
    }
}

/// Why a worker does not get a tool.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Barred {
    /// It is one of the engine's own control tools, whether or not there is such a tool now.
    Control,
    /// The seat could reach it, but does not hold it now.
    NotHeld,
    /// The seat has no tool of this name. Whether somebody else has one is not told.
    Unknown,
    /// A call would write where humans read, in the parent's name; why that is thought.
    SharedSurface(&'static str),
}

impl fmt::Display for Barred {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Control => f.write_str("denied by name: a worker holds no control tool"),
            Self::NotHeld => f.write_str("not held by you now: activate it first"),
            Self::Unknown => f.write_str("unknown: you have no tool of this name"),
            Self::SharedSurface(why) if why.starts_with("writes") => f.write_str(why),
            Self::SharedSurface(why) => write!(f, "writes to a shared surface: it is {why}"),
        }
    }
}

impl Barred {
    /// In a few words, for lists: `destructive`, `a control tool`.
    pub const fn why(self) -> &'static str {
        match self {
            Self::Control => "a control tool",
            Self::NotHeld => "not held now",
            Self::Unknown => "unknown",
            Self::SharedSurface(why) => why,
        }
    }
}

/// What a worker gets of what was asked for.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Admission {
    /// Its tools, each once, in the order in which they were asked for.
    pub tools: Vec<Arc<Entry>>,
    /// What it does not get, by the name that was asked for, each name once.
    pub barred: Vec<(Arc<str>, Barred)>,
}

/// Which of the tools that are asked for a worker of a seat gets. `universe`: everything the seat can reach. `holds`:
/// whether the parent holds a tool now. The first reason that applies counts, in the order of [`Barred`]'s first two
/// questions and then [`may_hold`].
pub fn admit<'n>(
    universe: (&Catalog, &SeatHandle),
    holds: impl Fn(&Entry) -> bool,
    requested: impl IntoIterator<Item = &'n str>,
) -> Admission {
    let (catalog, seat) = universe;
    let (mut names, mut keys) = (HashSet::<&str>::new(), HashSet::<ToolKey>::new());
    let mut admission = Admission::default();
    for name in requested.into_iter().filter(|name| names.insert(name)) {
        match judge(name, catalog.find(Some(seat), name), &holds) {
            // The same tool by two of its names is one tool.
            Ok(entry) if keys.insert(entry.key()) => admission.tools.push(entry.clone()),
            Ok(_) => {}
            Err(barred) => admission.barred.push((name.into(), barred)),
        }
    }
    let rides = catalog.find(Some(seat), RIDES_ALONG).filter(|entry| entry.origin == Origin::Builtin);
    let rides = rides.filter(|entry| holds(entry) && may_hold(entry).is_ok() && keys.insert(entry.key()));
    admission.tools.extend(rides.cloned());
    admission
}

fn judge<'e>(
    name: &str,
    found: Option<&'e Arc<Entry>>,
    holds: impl Fn(&Entry) -> bool,
) -> Result<&'e Arc<Entry>, Barred> {
    let bare = name.strip_prefix(ServerName::OURS).and_then(|rest| rest.strip_prefix('/')).unwrap_or(name);
    if is_control(bare) || found.is_some_and(|entry| is_ours_to_control(entry)) {
        return Err(Barred::Control);
    }
    let entry = found.ok_or(Barred::Unknown)?;
    if !holds(entry) {
        return Err(Barred::NotHeld);
    }
    may_hold(entry).map(|()| entry)
}

/// Whether a worker may hold this tool as it is now, whoever its parent is.
///
/// # Errors
/// It may not, for this reason.
pub fn may_hold(entry: &Entry) -> Result<(), Barred> {
    if is_ours_to_control(entry) {
        return Err(Barred::Control);
    }
    if entry.worker.writes { Err(Barred::SharedSurface(entry.worker.reason)) } else { Ok(()) }
}

fn is_ours_to_control(entry: &Entry) -> bool {
    entry.origin == Origin::Builtin && is_control(&entry.raw_name)
}
