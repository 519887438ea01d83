//! The delivery check's question: could a finished call of this tool have reached somebody?
//!
//! It fails closed: a server's tool counts unless its own hints positively call it a read. It is not the
//! negation of the worker guard's question.

use std::sync::Arc;

use super::annotations::{Annotations, Hint};
use super::entry::Origin;

/// Whether finished calls count as deliveries, on which surface, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Delivery {
    /// The surface that a finished call reaches (a server's bare name, `tracker`, `pages`), or `None`.
    pub surface: Option<Arc<str>>,
    /// Why, for people.
    pub reason: &'static str,
}

/// True only when the tool is explicitly read-only. An empty annotation is not.
pub const fn read_only_proven(annotations: &Annotations) -> bool {
    matches!(annotations.read_only, Hint::Yes)
}

/// The delivery of a tool by its origin, its hints and, for first-party tools, the surface it was registered with.
pub fn delivery(origin: &Origin, annotations: &Annotations, declared: Option<&Arc<str>>) -> Delivery {
    match origin {
        Origin::Mcp(_) if read_only_proven(annotations) => Delivery { surface: None, reason: "a read reaches nobody" },
        Origin::Mcp(server) => Delivery {
            surface: Some(server.as_str().into()),
            reason: "a server's tool that is not proven to be a read counts",
        },
        Origin::Builtin => match declared {
            Some(surface) => Delivery { surface: Some(surface.clone()), reason: "registered as reaching somebody" },
            None => Delivery { surface: None, reason: "a first-party tool that reaches nobody" },
        },
    }
}
