//! What first-party tools know of the company: its seats, as the configuration in force has them, and its operators and
//! autopilots, as it had them at the start.

use std::sync::{Arc, PoisonError, RwLock};

use super::tool::Part;
use crate::config::model::{Autopilot, Config, Discovery, Native as Halves, Operator, Permission, Scope};
use crate::ids::SeatHandle;
use crate::org::directory::Directory;
use crate::org::{Org, Seat, SeatKind};

/// The project that the connector's issues land in when nothing says another.
pub const DEFAULT_PROJECT: &str = "WORK";

/// See the module.
#[derive(Clone, Debug)]
pub struct Company {
    /// Its name.
    pub name: Arc<str>,
    /// Which halves are open.
    pub halves: Halves,
    discovery: Discovery,
    turn_tools: bool,
    /// Its seats and units.
    pub org: Org,
    badges: Vec<Arc<Badge>>,
    /// Prompts that can be put into an inbox.
    pub autopilots: Vec<Autopilot>,
    /// Who is who.
    pub directory: Arc<Directory>,
}

/// An operator without its token.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Badge {
    /// What the audit and everything written names.
    pub id: Arc<str>,
    /// With any: for the connector only.
    pub scopes: Vec<Scope>,
    /// Whose inbox it works.
    pub seat: Option<SeatHandle>,
    /// Its workspace; empty: everything.
    pub projects: Vec<String>,
    /// What it may do there.
    pub permission: Permission,
}

impl Badge {
    /// The badge of an operator of the configuration.
    pub fn of(operator: &Operator) -> Self {
        Self {
            id: operator.id.clone(),
            scopes: operator.scopes.clone(),
            seat: operator.seat.clone(),
            projects: operator.projects.clone(),
            permission: operator.permission,
        }
    }
}

impl Company {
    /// As the configuration says.
    pub fn of(config: &Config) -> Self {
        Self {
            name: config.company.clone(),
            halves: config.engine.native,
            discovery: config.engine.discovery,
            turn_tools: config.engine.turn_tools,
            org: config.org.clone(),
            badges: config.operators.iter().map(|operator| Arc::new(Badge::of(operator))).collect(),
            autopilots: config.engine.autopilots.clone(),
            directory: Arc::new(Directory::of(&config.org)),
        }
    }

    /// The same company with other seats.
    fn with_seats(&self, org: &Org) -> Self {
        Self { org: org.clone(), directory: Arc::new(Directory::of(org)), ..self.clone() }
    }

    /// Whether this part is open.
    pub fn is_open(&self, part: Part) -> bool {
        match part {
            Part::Work => self.halves.tracker,
            Part::Pages => self.halves.pages,
            Part::Own => true,
            Part::Discovery => self.discovery == Discovery::Progressive,
            Part::Turns => self.turn_tools,
        }
    }

    /// What a seat is, where there is one of this handle: `agent` or `user`.
    pub fn kind_of(&self, handle: &str) -> Option<&'static str> {
        Some(match self.seat(handle)?.kind {
            SeatKind::Agent => "agent",
            SeatKind::Human => "user",
        })
    }

    /// The seats that agents drive.
    pub fn agents(&self) -> impl Iterator<Item = &SeatHandle> {
        self.org.agents().map(|seat| &seat.handle)
    }

    /// The seat of this handle.
    pub fn seat(&self, handle: &str) -> Option<&Seat> {
        self.org.seats.iter().find(|seat| seat.handle.as_str() == handle)
    }

    /// The operator of this id.
    pub fn badge(&self, id: &str) -> Option<&Arc<Badge>> {
        self.badges.iter().find(|badge| &*badge.id == id)
    }

    /// Whether any token is for the scoped connector.
    pub fn has_connector(&self) -> bool {
        self.badges.iter().any(|badge| !badge.scopes.is_empty())
    }

    /// Whether the configuration names this project as part of a workspace.
    pub fn names_project(&self, key: &str) -> bool {
        key == DEFAULT_PROJECT || self.badges.iter().any(|badge| badge.projects.iter().any(|own| own == key))
    }
}

/// The company as it stands; clones stand together.
#[derive(Clone, Debug)]
pub(super) struct Current(Arc<RwLock<Arc<Company>>>);

impl Current {
    pub(super) fn new(company: Company) -> Self {
        Self(Arc::new(RwLock::new(Arc::new(company))))
    }

    /// What holds for a call that begins now.
    pub(super) fn get(&self) -> Arc<Company> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The configuration has other seats.
    pub(super) fn follow(&self, org: &Org) {
        let mut company = self.0.write().unwrap_or_else(PoisonError::into_inner);
        *company = Arc::new(company.with_seats(org));
    }
}
