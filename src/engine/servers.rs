//! What the core knows about each connection: its state, what it listed, its lines, its figures.
//!
//! Plain data fed by [`ConnectionEvent`]s; the core owns it and makes the snapshot's views from it.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use super::call::Link;
use super::connection::{Connection, ConnectionEvent};
use super::ring::Ring;
use super::snapshot::{CredentialView, LineKind, ServerView, StderrLine, TransportFacts};
use super::status::{ConnectionStatus, Failure, PeerFacts};
use crate::clock::Timestamp;
use crate::ids::{ConnectionName, ServerName};
use crate::tool::catalog::Source;
use crate::tool::{Catalog, EffectClass, HintOverride, Listing};

/// Lines kept per server.
const STDERR_LINES: usize = 10_000;
/// Finished calls whose latency counts for the median.
const LATENCIES: usize = 64;

/// What is fixed about a connection.
#[derive(Clone, Debug)]
pub(super) struct Declared {
    pub(super) connection: ConnectionName,
    pub(super) server: ServerName,
    pub(super) transport: TransportFacts,
    pub(super) identity: Arc<str>,
    pub(super) prefix: Arc<str>,
    pub(super) overrides: Arc<[(Arc<str>, HintOverride)]>,
    pub(super) credentials: Vec<CredentialView>,
    pub(super) limits: (Duration, Duration),
}

/// One connection.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) declared: Declared,
    pub(super) link: Option<Connection>,
    pub(super) status: ConnectionStatus,
    pub(super) listing: Option<Arc<Listing>>,
    peer: Option<PeerFacts>,
    starts: u32,
    calls: u64,
    latencies: VecDeque<Duration>,
    last_failure: Option<(Timestamp, Failure)>,
    stderr: Ring<StderrLine>,
    stderr_dropped: u64,
    noise: u64,
}

/// What an event means for the rest of the engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Effect {
    /// Only this server's view.
    View,
    /// Whether calls can be sent may have changed.
    Status,
    /// The tools changed.
    Tools,
}

impl Server {
    pub(super) fn new(declared: Declared, link: Option<Connection>, status: ConnectionStatus) -> Self {
        Self {
            last_failure: status.failure().map(|failure| (Timestamp::now(), failure.clone())),
            declared,
            link,
            status,
            listing: None,
            peer: None,
            starts: 0,
            calls: 0,
            latencies: VecDeque::new(),
            stderr: Ring::new(STDERR_LINES),
            stderr_dropped: 0,
            noise: 0,
        }
    }

    pub(super) fn apply(&mut self, event: ConnectionEvent) -> Effect {
        match event {
            ConnectionEvent::Status(status) => {
                self.enter(status);
                Effect::Status
            }
            ConnectionEvent::Identified(peer) => {
                self.peer = Some(peer);
                Effect::View
            }
            ConnectionEvent::Listed(listing) => {
                let changed = self.listing.as_deref() != Some(&listing);
                self.listing = Some(Arc::new(listing));
                if changed { Effect::Tools } else { Effect::View }
            }
            ConnectionEvent::Lines { lines, dropped } => {
                self.take_lines(lines, dropped);
                Effect::View
            }
        }
    }

    /// A call ended after it was sent to this server.
    pub(super) fn count_call(&mut self, ran: Duration) {
        self.calls += 1;
        if self.latencies.len() == LATENCIES {
            self.latencies.pop_front();
        }
        self.latencies.push_back(ran);
    }

    /// A line of the engine's own between the server's.
    pub(super) fn mark(&mut self, text: impl Into<Arc<str>>) {
        self.stderr.push(StderrLine { at: Timestamp::now(), kind: LineKind::Mark, text: text.into() });
    }

    /// The server as calls see it.
    pub(super) fn link(&self) -> Link {
        let down = match &self.status {
            ConnectionStatus::Ready { .. } => None,
            ConnectionStatus::Backoff { reason, .. } | ConnectionStatus::Failed { reason } => {
                Some(reason.headline.clone())
            }
            ConnectionStatus::Starting { .. } => Some("it is still starting".into()),
            ConnectionStatus::Stopping | ConnectionStatus::Stopped => Some("it is stopped".into()),
            ConnectionStatus::Disabled => Some("it is disabled".into()),
        };
        Link { connection: self.link.clone(), down }
    }

    /// Its tools for the catalog; `None` before the first listing.
    pub(super) fn source(&self) -> Option<Source> {
        Some(Source {
            server: self.declared.server.clone(),
            connection: self.declared.connection.clone(),
            identity: self.declared.identity.clone(),
            prefix: self.declared.prefix.clone(),
            overrides: self.declared.overrides.clone(),
            listing: self.listing.clone()?,
        })
    }

    /// True once it is up or has failed at least once: its first attempt is over.
    pub(super) fn has_settled(&self) -> bool {
        self.listing.is_some() || !matches!(self.status, ConnectionStatus::Starting { .. })
    }

    pub(super) fn view(&self, catalog: &Catalog) -> ServerView {
        let mut tools_by_class = [0; 4];
        for entry in catalog.entries().iter().filter(|entry| entry.connection == self.declared.connection) {
            let index = EffectClass::ALL.iter().position(|class| *class == entry.class());
            if let Some(count) = index.and_then(|index| tools_by_class.get_mut(index)) {
                *count += 1;
            }
        }
        ServerView {
            connection: self.declared.connection.clone(),
            server: self.declared.server.clone(),
            status: self.status.clone(),
            transport: self.declared.transport.clone(),
            peer: self.peer.clone(),
            tools_by_class,
            rejected: self.listing.as_ref().map_or(0, |listing| listing.rejected.len()),
            list_cut: self.listing.as_ref().and_then(|listing| listing.cut.clone()),
            restarts: self.starts.saturating_sub(1),
            calls: self.calls,
            p50: self.median(),
            last_failure: self.last_failure.clone(),
            credentials: self.declared.credentials.clone(),
            stderr: self.stderr.clone(),
            stderr_dropped: self.stderr_dropped,
            noise: self.noise,
            limits: self.declared.limits,
        }
    }

    fn enter(&mut self, status: ConnectionStatus) {
        match &status {
            ConnectionStatus::Starting { .. } => {
                self.starts += 1;
                let nth = if self.starts == 1 { "starting".to_owned() } else { format!("start {}", self.starts) };
                self.mark(nth);
            }
            ConnectionStatus::Ready { .. } => self.mark("ready"),
            ConnectionStatus::Backoff { reason, attempt, .. } => {
                self.mark(format!("{} (attempt {attempt} of 5)", reason.headline));
            }
            ConnectionStatus::Failed { reason } => self.mark(format!("failed: {}", reason.headline)),
            ConnectionStatus::Stopping => self.mark("stopping"),
            ConnectionStatus::Stopped => self.mark("stopped"),
            ConnectionStatus::Disabled => self.mark("disabled"),
        }
        if let Some(failure) = status.failure() {
            self.last_failure = Some((Timestamp::now(), failure.clone()));
        }
        if !matches!(status, ConnectionStatus::Ready { .. } | ConnectionStatus::Starting { .. }) {
            self.peer = self.peer.take().map(|peer| PeerFacts { pid: None, ..peer });
        }
        self.status = status;
    }

    fn take_lines(&mut self, lines: Vec<(Timestamp, LineKind, Arc<str>)>, dropped: u64) {
        if dropped > 0 {
            self.stderr_dropped += dropped;
            self.mark(format!("{dropped} lines dropped: they came faster than they could be taken in"));
        }
        for (at, kind, text) in lines {
            if kind == LineKind::Noise {
                self.noise += 1;
            }
            self.stderr.push(StderrLine { at, kind, text });
        }
    }

    fn median(&self) -> Option<Duration> {
        let mut sorted: Vec<Duration> = self.latencies.iter().copied().collect();
        sorted.sort_unstable();
        sorted.get(sorted.len() / 2).copied()
    }
}
