//! Tools that this program brings itself, in the same pipeline as every server's: placed in the catalogue, judged by
//! the policy, asked about, recorded, and run only on what a permit was turned into.
//!
//! Whoever puts the program together hands the engine a [`FirstParty`]; the engine knows nothing of what it does. It
//! has no process and no connection that could fail, so it is no server on the screen.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use serde_json::value::RawValue;
use tokio::sync::watch;

use super::call::Link;
use super::gate::Dispatch;
use super::snapshot::{Board, Caller};
use super::status::{Offer, Offers};
use crate::ids::ConnectionName;
use crate::tool::catalog::Source;

/// A call on its way: the `result` of an MCP call. What goes wrong in the tool is a result too.
pub type Ran = Pin<Box<dyn Future<Output = Box<RawValue>> + Send>>;

/// See the module.
pub trait FirstParty: Send + Sync + fmt::Debug {
    /// The tools, by the connection that they are reached over. They are asked for once.
    fn sources(&self) -> Vec<Source>;

    /// What stands in the seats' inboxes, kept by the tools and shown by the screen.
    fn questions(&self) -> Option<watch::Receiver<Board>> {
        None
    }

    /// Runs one permitted call for whoever asks. The caller is the engine's word, no argument of the call.
    fn call(self: Arc<Self>, dispatch: Dispatch, caller: Caller) -> Ran;
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
