//! The company: units, seats and the credentials they declare by reference. Pure data.
//!
//! Filled by the configuration's lowering; the engine grants servers to seats by it. Nothing here resolves a
//! reference or starts anything.

pub mod directory;
pub mod env;
pub mod handle;

use std::num::NonZeroU32;
use std::sync::Arc;

use uuid::Uuid;

use crate::config::expand::Template;
use crate::ids::{ConnectionName, SeatHandle, ServerName};
use crate::tool::ConfigRef;

/// Variables or headers with their values, by reference, in the order of the document.
pub type Variables = Vec<(Arc<str>, Template)>;

/// The company's seats, in the order of the document, units depth first.
#[derive(Clone, Debug, Default)]
pub struct Org {
    /// Every seat, whatever its unit.
    pub seats: Vec<Seat>,
    /// Every unit, parents before their children.
    pub units: Vec<Unit>,
}

impl Org {
    /// The seat with a handle.
    pub fn seat(&self, handle: &SeatHandle) -> Option<&Seat> {
        self.seats.iter().find(|seat| seat.handle == *handle)
    }

    /// The seats that agents drive.
    pub fn agents(&self) -> impl Iterator<Item = &Seat> {
        self.seats.iter().filter(|seat| seat.kind == SeatKind::Agent)
    }
}

/// What a seat's memory is kept under: the same as long as company and handle are called the same. A UUID of version 5
/// over `company:handle`, in the namespace of DNS names.
pub fn agent_id(company: &str, handle: &SeatHandle) -> String {
    Uuid::new_v5(&Uuid::NAMESPACE_DNS, format!("{company}:{handle}").as_bytes()).to_string()
}

/// A position in the company.
#[derive(Clone, Debug)]
pub struct Seat {
    /// Unique in the company.
    pub handle: SeatHandle,
    /// The role's name.
    pub name: Arc<str>,
    /// Its part of the names of its own connections: the role's name without spaces, or the handle where several
    /// roles have one name.
    pub label: Arc<str>,
    /// Who sits there.
    pub kind: SeatKind,
    /// The unit's name, where it has one.
    pub unit: Option<Arc<str>>,
    /// `mcp_env` after the unit's is merged in: server, then variable or header and value.
    pub credentials: Vec<(ServerName, Variables)>,
    /// The seat's bearer token, where the document names one.
    pub token: Option<Template>,
    /// Who the seat is to colleagues.
    pub profile: Profile,
    /// Where it stands; `None` for the seat that a document without roles gets.
    pub place: Option<ConfigRef>,
}

impl Seat {
    /// An agent's seat without credentials: what a document without roles has one of.
    pub fn agent(handle: impl Into<Arc<str>>, name: impl Into<Arc<str>>) -> Self {
        let name = name.into();
        Self {
            handle: SeatHandle::new(handle),
            label: label(&name),
            name,
            kind: SeatKind::Agent,
            unit: None,
            credentials: Vec::new(),
            token: None,
            profile: Profile::default(),
            place: None,
        }
    }

    /// What the seat declares for a server; `None` when it does not name the server.
    pub fn credentials_for(&self, server: &ServerName) -> Option<&Variables> {
        self.credentials.iter().find(|(name, _)| name == server).map(|(_, variables)| variables)
    }

    /// The name of the seat's own connection to a server: `github::Release_Manager`.
    pub fn connection(&self, server: &ServerName) -> ConnectionName {
        ConnectionName::new(format!("{server}::{}", self.label))
    }
}

/// A role's name as a part of connection names.
pub(crate) fn label(name: &str) -> Arc<str> {
    name.trim().chars().map(|c| if c.is_whitespace() || c.is_control() { '_' } else { c }).collect::<String>().into()
}

/// Who a seat is to colleagues.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Profile {
    /// Mail address.
    pub email: Option<Arc<str>>,
    /// What the seat is there for.
    pub goal: Option<Arc<str>>,
    /// Who it is.
    pub backstory: Option<Arc<str>>,
    /// What it answers for.
    pub responsibilities: Vec<Arc<str>>,
    /// Role names it manages.
    pub manages: Vec<Arc<str>>,
    /// When a human can be reached.
    pub availability: Option<Arc<str>>,
    /// Identities elsewhere: `slack`, `U123`. Never a credential.
    pub identities: Vec<Identity>,
    /// Tokens a turn may use; kept, not used yet.
    pub token_budget: Option<NonZeroU32>,
    /// Whether it may run code in a sandbox: `sandbox.enabled`.
    pub sandbox: bool,
    /// Templates of workers that it may start.
    pub workers: Vec<WorkerTemplate>,
}

/// A template of a worker.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WorkerTemplate {
    /// Its name.
    pub name: Arc<str>,
    /// The tools it is given, as far as the seat holds them; a worker gets nothing that is not listed.
    pub tools: Vec<Arc<str>>,
}

/// Who somebody is on another system.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Identity {
    /// The system: `slack`, or `jira.project` for a field of an `integrations` block.
    pub system: Arc<str>,
    /// The identity there.
    pub id: Arc<str>,
}

/// A part of the company.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unit {
    /// Its name.
    pub name: Arc<str>,
    /// A free label: `team`.
    pub kind: Arc<str>,
    /// What it is there for.
    pub purpose: Option<Arc<str>>,
    /// The name of the role that leads it, its own or the nearest ancestor's.
    pub lead: Option<Arc<str>>,
    /// What it wants to reach.
    pub goals: Vec<Arc<str>>,
    /// The name of the unit above it.
    pub parent: Option<Arc<str>>,
    /// Its identity elsewhere: `jira.project`, `BACK`. Never a credential.
    pub identities: Vec<Identity>,
    /// Where it stands.
    pub place: ConfigRef,
}

/// Who sits on a seat.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SeatKind {
    /// An external program.
    Agent,
    /// A human.
    Human,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agents_id_is_that_of_its_company_and_handle() {
        let id = |company: &str, handle: &str| agent_id(company, &handle.into());
        // `uuid.uuid5(uuid.NAMESPACE_DNS, "Acme:release")` of Python.
        assert_eq!(id("Acme", "release"), "fd105dd9-bc6a-59a9-acd7-0f459636be7e");
        assert_ne!(id("Acme", "release"), id("Acme", "ops"));
        assert_ne!(id("Acme", "release"), id("Acme 2", "release"));
    }
}
