//! What servers offer to be read beside their tools: resources and prompts, passed through to agents read-only.
//!
//! Surfaces hold a [`Library`] by the engine's handle. It goes straight to the connections, like calls do, and never
//! through the gate: by the protocol these requests change nothing, and what it can ask is a closed set without
//! `tools/call`. A seat reaches the servers that it may use and no others; each read leaves its trail like a call.
//!
//! Nothing is kept: each request of an agent asks the servers. Servers that tell nobody of changes are common, and a
//! list that is stale costs more than one that is asked for again.
//!
//! | file | owns |
//! |---|---|
//! | `list` | lists over all of a seat's servers, and what prompts are called |
//! | `read` | one resource, one prompt |
//! | `trail` | the records that a read leaves |

mod list;
mod read;
mod trail;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use super::audit::Audit;
use super::call::{Link, Pipeline};
use super::gate::standing::Standing;
use super::snapshot::Caller;
use super::status::Offer;
use crate::ids::{ConnectionName, SeatHandle};
use crate::org::Seat;
use crate::secret::Redactor;
use crate::tool::names::Names;

pub use list::{Changes, Missing, Shelves};

/// Requests of one seat that are answered at once.
const AT_ONCE: usize = 32;

/// Called when prompts have new names to be remembered.
pub type PromptNamesChanged = Box<dyn Fn(&Names) + Send>;

/// What is kept between runs: how prompts are called.
#[derive(Default)]
pub struct PromptNames {
    /// The names of earlier runs.
    pub names: Names,
    /// Told of new ones; a test needs nobody.
    pub changed: Option<PromptNamesChanged>,
}

/// Who reads.
#[derive(Clone, Debug)]
pub struct Reader {
    /// For the audit.
    pub caller: Caller,
    /// Whose servers are read.
    pub seat: Arc<Seat>,
}

/// Why nothing came of a request. Texts are clean and for the agent.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Refused {
    /// There is no such resource or prompt for this seat, or none at all: nobody is told which.
    #[error("there is no such resource or prompt here: list them for what there is")]
    Unknown,
    /// The seat may not read now.
    #[error("{0}")]
    Denied(Arc<str>),
    /// The server cannot be reached, did not answer, or answered with something unusable.
    #[error("{0}")]
    Failed(Arc<str>),
    /// The server's own error.
    #[error("{text}")]
    Server {
        /// Its code.
        code: i64,
        /// Which server, and its words.
        text: Arc<str>,
    },
}

/// A connection that a seat may use.
type Held = (ConnectionName, Link);

/// See the module. Clones share one.
#[derive(Clone)]
pub struct Library(Arc<Inner>);

struct Inner {
    links: watch::Receiver<Arc<HashMap<ConnectionName, Link>>>,
    standing: watch::Receiver<Arc<Standing>>,
    audit: Audit,
    redactor: Redactor,
    prompts: Mutex<PromptNames>,
    places: Mutex<HashMap<SeatHandle, Arc<Semaphore>>>,
}

impl fmt::Debug for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Library(…)")
    }
}

impl Library {
    /// A library on what all calls share.
    pub(super) fn new(pipeline: &Pipeline, prompts: PromptNames) -> Self {
        Self(Arc::new(Inner {
            links: pipeline.links.clone(),
            standing: pipeline.standing.clone(),
            audit: pipeline.audit.clone(),
            redactor: pipeline.redactor.clone(),
            prompts: Mutex::new(prompts),
            places: Mutex::default(),
        }))
    }

    /// Whether a connection's server has resources to read.
    pub fn has_resources(&self, connection: &ConnectionName) -> bool {
        self.0.links.borrow().get(connection).is_some_and(|link| link.offers(Offer::Resources))
    }

    /// The connections that a seat may use, in configuration order.
    fn links(&self, seat: &Seat) -> Vec<Held> {
        let links = self.0.links.borrow().clone();
        let held = links.iter().filter(|(_, link)| holds(seat, link));
        let mut held: Vec<_> = held.map(|(name, link)| (name.clone(), link.clone())).collect();
        held.sort_by_key(|(_, link)| link.place);
        held
    }

    /// The connection of this server that a seat may use. Programs that tidy addresses up may have changed the case.
    fn link(&self, seat: &Seat, server: &str) -> Option<Held> {
        let held = self.links(seat);
        let exact = held.iter().find(|(_, link)| link.server.as_str() == server);
        let same = || held.iter().find(|(_, link)| link.server.as_str().eq_ignore_ascii_case(server));
        exact.or_else(same).cloned()
    }

    /// Why the seat reads nothing, when a person stopped it.
    fn stopped(&self, seat: &Seat) -> Option<Refused> {
        self.0.standing.borrow().stopped(Some(&seat.handle)).map(Refused::Denied)
    }

    /// A place among the seat's requests that are answered now.
    fn place(&self, seat: &Seat) -> Result<OwnedSemaphorePermit, Refused> {
        let mut places = self.0.places.lock().unwrap_or_else(PoisonError::into_inner);
        let places = places.entry(seat.handle.clone()).or_insert_with(|| Arc::new(Semaphore::new(AT_ONCE)));
        let full = format!("{AT_ONCE} requests of this seat are being answered; repeat it when one of them is over");
        places.clone().try_acquire_owned().map_err(|_| Refused::Denied(full.into()))
    }
}

/// Whether a seat may use a connection: everybody's, or its own.
fn holds(seat: &Seat, link: &Link) -> bool {
    link.owner.as_ref().is_none_or(|owner| *owner == seat.handle)
}

/// Why nothing can be asked of a connection now.
fn down(link: &Link) -> Option<Refused> {
    let why = link.down.clone().or_else(|| link.connection.is_none().then(|| "it could not be configured".into()))?;
    Some(Refused::Failed(format!("server \"{}\" is not running: {why}", link.server).into()))
}

impl Link {
    /// Whether this can be asked for now.
    fn has(&self, offer: Offer) -> bool {
        self.down.is_none() && self.connection.is_some() && self.offers(offer)
    }

    /// Whether its server has said that it has this.
    fn offers(&self, offer: Offer) -> bool {
        self.offers.is_some_and(|offers| offers.has(offer))
    }

    /// Whether its server may have this: one that is down and has not said what it has.
    fn may_offer(&self, offer: Offer) -> bool {
        self.offers(offer) || (self.offers.is_none() && (self.down.is_some() || self.connection.is_none()))
    }
}
