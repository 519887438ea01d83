//! The company: units, seats and the credentials they declare by reference. Pure data.

use std::sync::Arc;

use crate::config::expand::Template;
use crate::ids::{SeatHandle, ServerName};

/// The company's seats, in the order of the document, units depth first.
#[derive(Clone, Debug, Default)]
pub struct Org {
    /// Every seat, whatever its unit.
    pub seats: Vec<Seat>,
}

/// A position in the company.
#[derive(Clone, Debug)]
pub struct Seat {
    /// Unique in the company.
    pub handle: SeatHandle,
    /// The role's name.
    pub name: Arc<str>,
    /// Who sits there.
    pub kind: SeatKind,
    /// The unit's name, where it has one.
    pub unit: Option<Arc<str>>,
    /// `mcp_env` after the unit's is merged in: server, then variable or header and value.
    pub credentials: Vec<(ServerName, Vec<(Arc<str>, Template)>)>,
}

/// Who sits on a seat.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SeatKind {
    /// An external program.
    Agent,
    /// A human.
    Human,
}
