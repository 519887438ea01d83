//! Names and identifiers as types, so that a server's name cannot be passed where a seat's handle is meant.
//!
//! Everybody uses these; nothing here validates against a configuration or looks anything up.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

use serde::{Serialize, Serializer};

macro_rules! name_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Wraps a name that its source (configuration, listing, state file) has already validated.
            pub fn new(text: impl Into<Arc<str>>) -> Self {
                Self(text.into())
            }

            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&*self.0, f)
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.into())
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }
    };
}

name_type! {
    /// A downstream MCP server as declared in `mcp_servers[].name`.
    ServerName
}
name_type! {
    /// One live link to a server: the server's name, or `server::Role_Name` for a seat's own.
    ConnectionName
}
name_type! {
    /// A seat's stable short name, `^[a-z0-9][a-z0-9-]*$`.
    SeatHandle
}
name_type! {
    /// A worker, a sub-agent under a seat; unique across runs.
    WorkerId
}
name_type! {
    /// One invocation of a tool, received to finished; unique across runs.
    CallId
}

name_type! {
    /// One turn of an agent, begun to ended; unique across runs.
    TurnId
}

impl ServerName {
    /// What brings the program's own tools; no server of a configuration can be called so.
    pub fn ours() -> Self {
        Self(Self::OURS.into())
    }

    /// See [`ServerName::ours`].
    pub const OURS: &str = "crewlet";
}

impl ConnectionName {
    /// The connection of a server that all seats share.
    pub fn shared(server: &ServerName) -> Self {
        Self(server.0.clone())
    }

    /// What carries the program's own tools that operators alone are offered. Labels of seats hold no blank, so that
    /// it is no seat's.
    pub fn operators() -> Self {
        Self("crewlet (operators)".into())
    }

    /// What carries the scoped connector's tools, where a person is asked about them.
    pub fn connector() -> Self {
        Self(Self::CONNECTOR.into())
    }

    /// See [`ConnectionName::connector`].
    pub const CONNECTOR: &str = "crewlet (connector)";

    /// Whether it carries the scoped connector's tools.
    pub fn is_connector(&self) -> bool {
        &*self.0 == Self::CONNECTOR
    }

    /// What carries the program's own tools that seats alone are offered: they act for the seat that calls them.
    pub fn agents() -> Self {
        Self("crewlet (agents)".into())
    }
}

impl SeatHandle {
    /// What an operator stands under where calls are kept apart by seat: in grants, rules, stops and sessions. Handles
    /// of seats hold no colon.
    pub fn of_operator(id: &str) -> Self {
        Self(format!("operator:{id}").into())
    }

    /// False where this stands for somebody who has no seat.
    pub fn is_seat(&self) -> bool {
        !self.0.contains([':', '/'])
    }

    /// What a token of the scoped connector stands under in the same way.
    pub fn of_connector(id: &str) -> Self {
        Self(format!("connector:{id}").into())
    }

    /// The id of the connector's token, where this stands for one.
    pub fn connector(&self) -> Option<&str> {
        self.0.strip_prefix("connector:")
    }

    /// The operator's id, where this stands for one.
    pub fn operator(&self) -> Option<&str> {
        self.0.strip_prefix("operator:")
    }

    /// What a worker stands under where callers are kept apart, in sessions, parked calls and lists: `ada/w7f3a…`. Only
    /// there: grants, rules and stops go by its seat. Handles of seats hold no slash.
    pub fn of_worker(seat: &Self, worker: &WorkerId) -> Self {
        Self(format!("{seat}/{worker}").into())
    }

    /// The seat and the worker of it, where this stands for one.
    pub fn worker(&self) -> Option<(Self, WorkerId)> {
        let (seat, worker) = self.0.rsplit_once('/').filter(|(seat, _)| !seat.contains(':'))?;
        Some((Self(seat.into()), WorkerId(worker.into())))
    }
}

impl CallId {
    /// A fresh identifier: `c` and ten characters of Crockford's base 32, 50 random bits.
    pub fn fresh() -> Self {
        Self(random('c', 10))
    }
}

impl TurnId {
    /// A fresh identifier: the same after a `t`.
    pub fn fresh() -> Self {
        Self(random('t', 10))
    }
}

impl WorkerId {
    /// A fresh identifier: `w` and eight characters of Crockford's base 32, 40 random bits. Nobody gets in by it
    /// alone.
    pub fn fresh() -> Self {
        Self(random('w', 8))
    }
}

/// `first` and so many characters of Crockford's base 32, at most 12.
fn random(first: char, characters: usize) -> Arc<str> {
    const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    let mut bits = random_bits();
    let mut text = String::with_capacity(13);
    text.push(first);
    for _ in 0..characters {
        let at = usize::try_from(bits & 31).unwrap_or(0);
        text.push(char::from(ALPHABET.get(at).copied().unwrap_or(b'0')));
        bits >>= 5;
    }
    text.into()
}

/// From the system's generator, for many at a time: asking it is a system call.
fn random_bits() -> u64 {
    const KEPT: usize = 64;
    thread_local! {
        static BITS: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
    }
    BITS.with_borrow_mut(|kept| {
        kept.pop().unwrap_or_else(|| {
            let mut bytes = [0_u8; KEPT * 8];
            if getrandom::fill(&mut bytes).is_err() {
                // The clock still tells those of one run apart.
                return crate::clock::Timestamp::now().millis().unsigned_abs();
            }
            let (eights, _) = bytes.as_chunks::<8>();
            kept.extend(eights.iter().map(|eight| u64::from_le_bytes(*eight)));
            kept.pop().unwrap_or_default()
        })
    })
}

/// A remembered decision; counts up within one run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct GrantId(pub u64);

/// A question waiting for a person; counts up within one run and is never used again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ApprovalId(pub u64);

/// A server's question that waits for a person; counts up within one run and is never used again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FormId(pub u64);
