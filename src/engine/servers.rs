//! What the core knows about each connection: its state, what it listed, its lines, its figures.
//!
//! Plain data fed by [`ConnectionEvent`]s; the core owns it and makes the snapshot's views from it.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::call::Link;
use super::connection::{Connection, ConnectionEvent, Initially};
use super::launch::{Launched, Needs, Plan};
use super::ring::Ring;
use super::snapshot::{CredentialView, LineKind, ServerView, StderrLine, TransportFacts};
use super::status::{ConnectionStatus, Era, Failure, Offer, PeerFacts};
use crate::clock::Timestamp;
use crate::ids::{ConnectionName, SeatHandle, ServerName};
use crate::tool::catalog::Source;
use crate::tool::{Catalog, EffectClass, HintOverride, Listing};

/// Lines kept per server, and what they may weigh.
const STDERR_LINES: usize = 200_000;
const STDERR_BYTES: usize = 32 << 20;
/// What an allocated text weighs beside its bytes: the counts before it and the allocator's rounding.
const TEXT_OVERHEAD: usize = 24;
/// Finished calls whose latency counts for the median.
const LATENCIES: usize = 64;

/// What is fixed about a connection.
#[derive(Clone, Debug)]
pub(super) struct Declared {
    pub(super) connection: ConnectionName,
    pub(super) server: ServerName,
    /// The seat whose own it is.
    pub(super) owner: Option<Owner>,
    pub(super) transport: TransportFacts,
    pub(super) identity: Arc<str>,
    pub(super) prefix: Arc<str>,
    pub(super) overrides: Arc<[(Arc<str>, HintOverride)]>,
    pub(super) credentials: Vec<CredentialView>,
    pub(super) limits: (Duration, Duration),
}

/// The seat that a connection belongs to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Owner {
    pub(super) seat: SeatHandle,
    /// The role's name.
    pub(super) role: Arc<str>,
}

/// One connection.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) declared: Declared,
    pub(super) link: Option<Connection>,
    pub(super) status: ConnectionStatus,
    pub(super) listing: Option<Arc<Listing>>,
    /// What it was made of.
    needs: Needs,
    /// Takes it down alone.
    stop: CancellationToken,
    /// What follows once it is down; `None` while it is to stay.
    after: Option<After>,
    /// The view that was published last, while it is still true.
    shown: Option<Arc<ServerView>>,
    /// Its tools by class, counted once for each catalog.
    by_class: Option<[usize; 4]>,
    peer: Option<PeerFacts>,
    /// How often it said that a list other than the tools' changed, by list.
    changes: [u64; Offer::ALL.len()],
    starts: u32,
    calls: u64,
    latencies: VecDeque<Duration>,
    last_failure: Option<(Timestamp, Failure)>,
    stderr: Ring<StderrLine>,
    stderr_dropped: u64,
    noise: u64,
}

/// What follows once a connection that was taken down has ended.
#[derive(Debug)]
pub(super) enum After {
    /// Nothing: the configuration does not name it any more.
    Gone,
    /// It is started as the configuration wants it now.
    Anew(Box<Plan>, Initially),
}

/// What a changed plan means for a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Adapted {
    /// It goes on.
    Kept,
    /// It is started again, or enabled, or disabled.
    Restarts,
}

/// What an event means for the rest of the engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Effect {
    /// Only this server's view.
    View,
    /// Whether calls can be sent may have changed.
    Status,
    /// The tools changed; true when it was not the first list.
    Tools(bool),
    /// The supervisor has ended.
    Ended,
}

impl Server {
    pub(super) fn new(plan: Plan, launched: Launched) -> Self {
        let Launched { link, status, stop } = launched;
        Self {
            last_failure: status.failure().map(|failure| (Timestamp::now(), failure.clone())),
            declared: plan.declared,
            needs: plan.needs,
            stop,
            after: None,
            shown: None,
            by_class: None,
            link,
            status,
            listing: None,
            peer: None,
            changes: [0; Offer::ALL.len()],
            starts: 0,
            calls: 0,
            latencies: VecDeque::new(),
            stderr: Ring::bounded(STDERR_LINES, STDERR_BYTES),
            stderr_dropped: 0,
            noise: 0,
        }
    }

    /// Takes over what the configuration says now. Only when the connection was made of something else does it go
    /// down, and it comes up anew when it has ended.
    pub(super) fn adapt(&mut self, plan: Plan) -> Adapted {
        self.shown = None;
        let same = self.needs == plan.needs;
        if self.after.is_none() && same {
            if let Some(status) = plan.unresolved().filter(|_| self.link.is_none()) {
                self.status = status;
            }
            self.declared = plan.declared;
            return Adapted::Kept;
        }
        let kept_down = same_switch(&self.needs, &plan.needs) && matches!(self.status, ConnectionStatus::Disabled);
        let initially = if kept_down { Initially::Disabled } else { plan.initially() };
        if initially == Initially::Disabled {
            self.listing = None;
        }
        self.stop.cancel();
        let known = matches!(&self.after, Some(After::Anew(waiting, _)) if waiting.needs == plan.needs);
        self.after = Some(After::Anew(Box::new(plan), initially));
        if known { Adapted::Kept } else { Adapted::Restarts }
    }

    /// Takes it down for good; its tools are gone at once. True when it was not on its way already.
    pub(super) fn leave(&mut self) -> bool {
        self.stop.cancel();
        self.listing = None;
        self.shown = None;
        !matches!(self.after.replace(After::Gone), Some(After::Gone))
    }

    /// What follows now that it has ended.
    pub(super) fn take_after(&mut self) -> Option<After> {
        self.after.take()
    }

    /// Its supervisor has ended although nobody wanted it to.
    pub(super) fn abandoned(&mut self) {
        self.link = None;
        self.shown = None;
    }

    /// True when the configuration takes it down.
    pub(super) const fn is_leaving(&self) -> bool {
        self.after.is_some()
    }

    /// The connection was started anew as `plan` says.
    pub(super) fn relaunched(&mut self, plan: Plan, launched: Launched) {
        self.declared = plan.declared;
        self.needs = plan.needs;
        self.link = launched.link;
        self.stop = launched.stop;
        self.peer = None;
        if let Some(failure) = launched.status.failure() {
            self.last_failure = Some((Timestamp::now(), failure.clone()));
        }
        self.status = launched.status;
        self.shown = None;
    }

    /// The era it settled on.
    pub(super) fn era(&self) -> Option<Era> {
        self.peer.as_ref().map(|peer| peer.era)
    }

    /// What its lines weigh.
    pub(super) const fn stderr_bytes(&self) -> usize {
        self.stderr.bytes()
    }

    /// Lets its oldest lines go. False when there are none.
    pub(super) fn drop_oldest_lines(&mut self) -> bool {
        self.shown = None;
        self.stderr.drop_oldest()
    }

    pub(super) fn apply(&mut self, event: ConnectionEvent) -> Effect {
        self.shown = None;
        match event {
            ConnectionEvent::Ended => Effect::Ended,
            ConnectionEvent::Status(status) => {
                self.enter(status);
                Effect::Status
            }
            ConnectionEvent::Identified(peer) => {
                self.peer = Some(peer);
                Effect::View
            }
            ConnectionEvent::Listed(listing) => {
                // A listing that was on its way when the connection was taken out of the configuration.
                if matches!(self.after, Some(After::Gone)) || self.listing.as_deref() == Some(&listing) {
                    return Effect::View;
                }
                let known = self.listing.replace(Arc::new(listing)).is_some();
                Effect::Tools(known)
            }
            ConnectionEvent::OfferChanged(offer) => {
                if let Some(count) = self.changes.get_mut(offer as usize) {
                    *count += 1;
                }
                Effect::Status
            }
            ConnectionEvent::Lines { lines, dropped } => {
                self.take_lines(lines, dropped);
                Effect::View
            }
        }
    }

    /// A call ended after it was sent to this server.
    pub(super) fn count_call(&mut self, ran: Duration) {
        self.shown = None;
        self.calls += 1;
        if self.latencies.len() == LATENCIES {
            self.latencies.pop_front();
        }
        self.latencies.push_back(ran);
    }

    /// A line of the engine's own between the server's.
    pub(super) fn mark(&mut self, text: impl Into<Arc<str>>) {
        self.keep(StderrLine { at: Timestamp::now(), kind: LineKind::Mark, text: text.into() });
    }

    /// The server as calls see it.
    pub(super) fn link(&self) -> Link {
        let may_return = self.link.as_ref().is_some_and(Connection::may_return);
        let down = match &self.status {
            _ if self.after.is_some() => Some("its configuration changed".into()),
            // The call itself brings such an endpoint back, or says why not.
            ConnectionStatus::Backoff { .. } | ConnectionStatus::Failed { .. } | ConnectionStatus::Starting { .. }
                if may_return =>
            {
                None
            }
            ConnectionStatus::Ready { .. } => None,
            ConnectionStatus::Backoff { reason, .. } | ConnectionStatus::Failed { reason } => {
                Some(reason.headline.clone())
            }
            ConnectionStatus::Starting { .. } => Some("it is still starting".into()),
            ConnectionStatus::Stopping | ConnectionStatus::Stopped => Some("it is stopped".into()),
            ConnectionStatus::Disabled => Some("it is disabled".into()),
        };
        let declared = &self.declared;
        Link {
            connection: self.link.clone(),
            own: None,
            down,
            server: declared.server.clone(),
            owner: declared.owner.as_ref().map(|owner| owner.seat.clone()),
            prefix: declared.prefix.clone(),
            place: 0,
            offers: self.peer.as_ref().map(|peer| peer.offers).unwrap_or_default(),
            versions: self.changes.map(|changes| changes + u64::from(self.starts)),
        }
    }

    /// Its tools for the catalog, where it has listed any; `None` when it is on its way out.
    pub(super) fn source(&self) -> Option<Source> {
        (!matches!(self.after, Some(After::Gone))).then(|| Source {
            server: self.declared.server.clone(),
            connection: self.declared.connection.clone(),
            seat: self.declared.owner.as_ref().map(|owner| owner.seat.clone()),
            identity: self.declared.identity.clone(),
            prefix: self.declared.prefix.clone(),
            overrides: self.declared.overrides.clone(),
            first_party: None,
            listing: self.listing.clone(),
        })
    }

    /// True once it is up or has failed at least once: its first attempt is over.
    pub(super) fn has_settled(&self) -> bool {
        self.listing.is_some() || !matches!(self.status, ConnectionStatus::Starting { .. })
    }

    /// The view to publish, made anew only when something changed.
    pub(super) fn shown(&mut self, catalog: &Catalog) -> Arc<ServerView> {
        if let Some(shown) = &self.shown {
            return shown.clone();
        }
        let by_class = *self.by_class.get_or_insert_with(|| count(&self.declared.connection, catalog));
        let view = Arc::new(self.view(by_class));
        self.shown = Some(view.clone());
        view
    }

    /// There is another catalog.
    pub(super) fn look_again(&mut self) {
        self.shown = None;
        self.by_class = None;
    }

    fn view(&self, tools_by_class: [usize; 4]) -> ServerView {
        ServerView {
            connection: self.declared.connection.clone(),
            server: self.declared.server.clone(),
            seat: self.declared.owner.as_ref().map(|owner| owner.seat.clone()),
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
            self.keep(StderrLine { at, kind, text });
        }
    }

    fn keep(&mut self, line: StderrLine) {
        let bytes = size_of::<StderrLine>() + line.text.len() + TEXT_OVERHEAD;
        self.stderr.push_weighing(line, bytes);
    }

    fn median(&self) -> Option<Duration> {
        let mut sorted: Vec<Duration> = self.latencies.iter().copied().collect();
        sorted.sort_unstable();
        sorted.get(sorted.len() / 2).copied()
    }
}

/// Whether the configuration's own switch stayed as it was: then a person's switch counts.
fn same_switch(before: &Needs, now: &Needs) -> bool {
    before.enabled == now.enabled
}

/// A connection's tools by class.
fn count(connection: &ConnectionName, catalog: &Catalog) -> [usize; 4] {
    let mut by_class = [0; 4];
    for entry in catalog.of_connection(connection) {
        let index = EffectClass::ALL.iter().position(|class| *class == entry.class());
        if let Some(count) = index.and_then(|index| by_class.get_mut(index)) {
            *count += 1;
        }
    }
    by_class
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(numbers: std::ops::Range<u32>, width: usize) -> ConnectionEvent {
        let line = |number| (Timestamp::default(), LineKind::Stderr, format!("{number:0>width$}").into());
        ConnectionEvent::Lines { lines: numbers.map(line).collect(), dropped: 0 }
    }

    fn server() -> Server {
        let text = "mcp_servers:\n  - name: a\n    command: a\n";
        let config = crate::config::load(text, &crate::config::Source::Demo).unwrap().config;
        let launcher = super::super::launch::Launcher {
            environment: Arc::new(std::collections::HashMap::<String, String>::new()),
            redactor: crate::secret::Redactor::default(),
            own_children: Vec::new(),
            connectors: std::collections::HashMap::new(),
            only: None,
            events: tokio::sync::mpsc::channel(1).0,
            forms: None,
            shutdown: CancellationToken::new(),
        };
        let plan = launcher.plans(&config).remove(0);
        let stop = CancellationToken::new();
        Server::new(plan, Launched { link: None, status: ConnectionStatus::Disabled, stop })
    }

    #[test]
    fn two_hundred_thousand_lines_are_kept_and_long_ones_fall_off_by_weight() {
        let mut server = server();
        for batch in 0..800 {
            server.apply(lines(batch * 256..(batch + 1) * 256, 100));
        }
        let ring = &server.stderr;
        assert!(ring.len() >= STDERR_LINES && ring.bytes() <= STDERR_BYTES, "{} {}", ring.len(), ring.bytes());
        for batch in 0..40 {
            server.apply(lines(batch * 256..(batch + 1) * 256, 8 << 10));
        }
        let ring = &server.stderr;
        assert!(ring.bytes() <= STDERR_BYTES + 256 * (9 << 10), "{}", ring.bytes());
        assert_eq!(ring.end(), 840 * 256, "numbers go on");
        assert_eq!(ring.first(), ring.end() - ring.len() as u64, "how many fell off is known");
    }
}
