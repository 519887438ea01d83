//! The worker guard's question: would this tool write to a surface that humans read?
//!
//! It fails open on what nobody classified (the worker's own allow-list curates that) and is not the
//! negation of any other question; see [`super::delivery`] for the one that fails closed.

use super::annotations::{Annotations, Hint};

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
