//! Tools that this program brings itself, in the same pipeline as every server's: placed in the catalogue, judged by
//! the policy, asked about, recorded, and run only on what a permit was turned into.
//!
//! Whoever puts the program together hands the engine a [`FirstParty`]; the engine knows nothing of what it does. It
//! has no process and no connection that could fail, so it is no server on the screen.

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use serde_json::value::RawValue;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::call::Link;
use super::gate::Dispatch;
use super::snapshot::{Board, Caller};
use super::status::{Offer, Offers};
use crate::ids::{ConnectionName, SeatHandle, ServerName};
use crate::org::Org;
use crate::tool::Catalog;
use crate::tool::catalog::Source;

/// A call on its way: the `result` of an MCP call. What goes wrong in the tool is a result too.
pub type Ran = Pin<Box<dyn Future<Output = Box<RawValue>> + Send>>;

/// See the module.
pub trait FirstParty: Send + Sync + fmt::Debug {
    /// The tools, by the connection that they are reached over. They are asked for once.
    fn sources(&self) -> Vec<Source>;

    /// The seat whose work a caller does, for the audit.
    fn acts_for(&self, caller: &Caller) -> Option<Arc<str>>;

    /// The configuration has other seats from now on.
    fn follow(&self, _org: &Org) {}

    /// What stands in the seats' inboxes, kept by the tools and shown by the screen.
    fn questions(&self) -> Option<watch::Receiver<Board>> {
        None
    }

    /// Runs one permitted call for whoever asks.
    fn call(self: Arc<Self>, asked: Asked) -> Ran;
}

/// One permitted call of a tool of the program's own.
#[derive(Debug)]
pub struct Asked {
    /// What is called, with which arguments.
    pub dispatch: Dispatch,
    /// Who calls: the engine's word, no argument of the call.
    pub caller: Caller,
    /// What there is at this moment.
    pub world: World,
    /// Cancelled when the caller is gone. What was begun may go on; what only waits may end.
    pub cancel: CancellationToken,
}

/// What there is at one moment: every tool, and whether its connection is up.
#[derive(Clone, Debug, Default)]
pub struct World {
    /// Every tool.
    pub catalog: Arc<Catalog>,
    links: Arc<HashMap<ConnectionName, Link>>,
}

impl World {
    pub(super) fn new(catalog: Arc<Catalog>, links: Arc<HashMap<ConnectionName, Link>>) -> Self {
        Self { catalog, links }
    }

    /// The connections of a seat, its own and the shared ones, in configuration order: the server, the connection, and
    /// why calls cannot be sent over it now.
    pub fn connections(&self, seat: &SeatHandle) -> Vec<(&ServerName, &ConnectionName, Option<&Arc<str>>)> {
        let theirs = |link: &Link| link.own.is_none() && link.owner.as_ref().is_none_or(|owner| owner == seat);
        let mut all: Vec<_> = self.links.iter().filter(|(_, link)| theirs(link)).collect();
        all.sort_by_key(|(_, link)| link.place);
        all.into_iter().map(|(name, link)| (&link.server, name, link.down.as_ref())).collect()
    }
}

/// The program's own tools as the core keeps them.
pub(super) struct Own {
    tools: Arc<dyn FirstParty>,
    sources: Vec<Source>,
}

impl Own {
    pub(super) fn new(tools: Arc<dyn FirstParty>) -> Self {
        Self { sources: tools.sources(), tools }
    }

    /// The configuration has other seats from now on.
    pub(super) fn follow(&self, org: &Org) {
        self.tools.follow(org);
    }

    /// For the catalogue.
    pub(super) fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// For calls: always up.
    pub(super) fn links(&self) -> impl Iterator<Item = (ConnectionName, Link)> {
        let link = |(place, source): (usize, &Source)| {
            let link = Link {
                server: source.server.clone(),
                owner: None,
                connection: None,
                own: Some(self.tools.clone()),
                down: None,
                prefix: source.prefix.clone(),
                place,
                offers: Some(Offers::default()),
                versions: [0; Offer::ALL.len()],
            };
            (source.connection.clone(), link)
        };
        self.sources.iter().enumerate().map(link)
    }
}
