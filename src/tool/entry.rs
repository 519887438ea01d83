//! A tool as placed in our catalog, and a listed thing that could not be placed.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::annotations::Hints;
use super::arguments::Digest;
use super::classify::{Classification, EffectClass, Flag};
use super::delivery::Delivery;
use super::worker::SharedWrite;
use crate::ids::{ConnectionName, SeatHandle, ServerName};

/// Who brought a tool: the engine itself or a server (by its bare name, whatever the connection).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Origin {
    /// A first-party tool.
    Builtin,
    /// A server's tool.
    Mcp(ServerName),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Builtin => f.write_str("builtin"),
            Self::Mcp(server) => write!(f, "mcp:{server}"),
        }
    }
}

/// SHA-256 over everything about a tool that a person's consent is bound to: server identity, name,
/// description, schemas and effective hints. Key order and white space do not change it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Fingerprint(pub Digest);

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{}", self.0)
    }
}

/// Which tool of which connection: what tells two tools apart that go by one name.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ToolKey {
    /// The connection that carries its calls.
    pub connection: ConnectionName,
    /// The name on the wire.
    pub raw_name: Arc<str>,
}

/// A tool in the catalog.
#[derive(Clone, PartialEq, Debug)]
pub struct Entry {
    /// The catalogue name: `tool_prefix` and raw name, made unique.
    pub name: Arc<str>,
    /// The name that agents see: `^[A-Za-z0-9_-]{1,64}$`, unique, stable.
    pub exposed: Arc<str>,
    /// The name on the wire.
    pub raw_name: Arc<str>,
    /// Who brought it.
    pub origin: Origin,
    /// The server (for a first-party tool: `crewlet`).
    pub server: ServerName,
    /// The connection that carries its calls.
    pub connection: ConnectionName,
    /// The seat that alone holds it, where the connection is a seat's own; `None`: every agent seat does.
    pub seat: Option<SeatHandle>,
    /// A name for people; empty when there is none.
    pub title: Arc<str>,
    /// What the server says it does; never empty.
    pub description: Arc<str>,
    /// JSON Schema of the arguments, as the server sent it; an object schema when it sent none.
    pub input_schema: Arc<Value>,
    /// JSON Schema of the structured result, where there is one.
    pub output_schema: Option<Arc<Value>>,
    /// The hints with their sources.
    pub hints: Hints,
    /// The effect class with its reason.
    pub classification: Classification,
    /// The worker guard's answer.
    pub worker: SharedWrite,
    /// The delivery check's answer.
    pub delivery: Delivery,
    /// What consent to it is bound to.
    pub fingerprint: Fingerprint,
    /// Everything odd about it, sorted.
    pub flags: Vec<Flag>,
}

impl Entry {
    /// What tells it apart from every other entry.
    pub fn key(&self) -> ToolKey {
        ToolKey { connection: self.connection.clone(), raw_name: self.raw_name.clone() }
    }

    /// A name that means this entry and no other to whoever may call it: `connection/raw_name`. The catalogue name
    /// does not: several seats have one of that name, and one that holds a `/` may read like another server's tool.
    pub fn reference(&self) -> Arc<str> {
        format!("{}/{}", self.connection, self.raw_name).into()
    }

    /// The effect class.
    pub const fn class(&self) -> EffectClass {
        self.classification.class
    }

    /// True when the input schema declares a boolean property `confirm`: the engine sets it after consent.
    pub fn takes_confirm(&self) -> bool {
        let confirm = self.input_schema.get("properties").and_then(|p| p.get("confirm"));
        confirm.and_then(|c| c.get("type")).and_then(Value::as_str) == Some("boolean")
    }
}

/// Something a server listed that is not usable as a tool.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rejected {
    /// The server that listed it.
    pub server: ServerName,
    /// The connection that listed it.
    pub connection: ConnectionName,
    /// Its place in the server's list, from 0.
    pub index: usize,
    /// Its name, where it has one that can be read (bounded to 128 characters).
    pub name: Option<Arc<str>>,
    /// Why it cannot be used.
    pub reason: Arc<str>,
}
