//! Workers: sub-agents under a seat, each with a fixed list of tools, a token of its own and an end.
//!
//! One registry for the program: the tool that makes workers for agents, the screen and the surfaces share it. It lives
//! in memory alone, so no worker outlives the program. What a worker may hold is decided in [`crate::tool::worker`],
//! who comes in by which path in `surface`; nothing here talks to anybody.
//!
//! A worker ends with its time, by a person's word, with its seat's (a stop, a removal, a new token), or with the session
//! of the agent that made it. Agents without sessions have none that could end: their workers have their time.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::fmt;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use subtle::{Choice, ConstantTimeEq};
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::snapshot::WorkerView;
use crate::clock::Timestamp;
use crate::ids::{SeatHandle, WorkerId};
use crate::secret::{Redactor, Secret, fresh_token};
use crate::text;
use crate::tool::worker::{Admission, may_hold};
use crate::tool::{Digest, Entry, ToolKey};

/// Most workers of one seat at once.
pub const MOST_OF_A_SEAT: usize = 8;
/// Most tools that are asked for at once.
pub const MOST_TOOLS: usize = 64;
/// How long a worker has, in minutes, when nobody says.
pub const MINUTES: u16 = 15;
/// The longest time that a worker has, in minutes: not longer than a session stays without a word.
pub const MOST_MINUTES: u16 = 60;
/// Longest task, in characters.
pub const LONGEST_TASK: usize = 4_000;

/// Why no worker was made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum MintError {
    /// Nobody could reach it.
    #[error("a worker comes in over HTTP, and there is no listener; start with --listen 127.0.0.1:7420")]
    NoListener,
    /// See [`MOST_OF_A_SEAT`].
    #[error("this seat has {MOST_OF_A_SEAT} workers, which is as many as it may; wait until one has ended")]
    TooMany,
    /// The system's generator gives nothing.
    #[error("no random token can be made: the system's generator failed")]
    NoRandom,
    /// There is one with this id.
    #[error("there is a worker of this id already; ask again")]
    Taken,
}

/// What is wanted of a new worker. The texts are as their maker wrote them.
#[derive(Clone, Debug)]
pub struct Order {
    /// Its id, which the maker chose.
    pub id: WorkerId,
    /// The seat that it works under.
    pub seat: SeatHandle,
    /// Who makes it, for people.
    pub by: Arc<str>,
    /// What it is for.
    pub task: Arc<str>,
    /// How long it has; brought within 1 and [`MOST_MINUTES`].
    pub minutes: u16,
    /// What the guard said.
    pub admission: Admission,
}

/// One worker.
#[derive(Debug)]
pub struct Worker {
    /// Its id.
    pub id: WorkerId,
    /// The seat whose tools and connections it works with.
    pub seat: SeatHandle,
    /// What it stands under in sessions; see [`SeatHandle::of_worker`].
    pub holder: SeatHandle,
    tools: Vec<ToolKey>,
    digest: Digest,
    ends: Instant,
    ended: CancellationToken,
}

impl Worker {
    /// Whether it may call this tool as the tool is now. The guard is asked anew each time.
    pub fn holds(&self, entry: &Entry) -> bool {
        self.tools.contains(&entry.key()) && may_hold(entry).is_ok()
    }

    fn is_over(&self, parent: Option<&CancellationToken>, now: Instant) -> bool {
        now >= self.ends || self.ended.is_cancelled() || parent.is_some_and(CancellationToken::is_cancelled)
    }
}

/// See the module. Clones are the same registry.
#[derive(Clone, Default)]
pub struct Workers {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    inner: Mutex<Inner>,
    changed: Notify,
}

#[derive(Default)]
struct Inner {
    /// Where workers come in, once the surfaces are open, and what learns their tokens.
    door: Option<(SocketAddr, Redactor)>,
    known: HashMap<WorkerId, Known>,
}

struct Known {
    worker: Arc<Worker>,
    view: Arc<WorkerView>,
    /// For the redactor to forget.
    token: Secret,
    /// Nobody was given the token yet.
    unclaimed: bool,
    /// Cancelled when the session of the agent that made it ends.
    parent: Option<CancellationToken>,
}

impl Known {
    fn is_over(&self, now: Instant) -> bool {
        self.worker.is_over(self.parent.as_ref(), now)
    }
}

impl fmt::Debug for Workers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workers").finish_non_exhaustive()
    }
}

impl Workers {
    /// The surfaces listen here: from now on workers can be made.
    pub fn open(&self, address: SocketAddr, redactor: &Redactor) {
        // An address of every interface is none to connect to.
        let mut address = address;
        if address.ip().is_unspecified() {
            address.set_ip(std::net::Ipv4Addr::LOCALHOST.into());
        }
        self.lock().door = Some((address, redactor.clone()));
    }

    /// The surfaces are closed: all workers end and no more are made.
    pub fn close(&self) {
        self.lock().door = None;
        self.end_where(|_| true);
    }

    /// Makes a worker. Its token is given out once, by [`Self::claim`].
    ///
    /// # Errors
    /// There is no listener, or the seat has as many as it may.
    pub fn mint(&self, order: Order) -> Result<Arc<WorkerView>, MintError> {
        let mut inner = self.lock();
        let (address, redactor) = inner.door.clone().ok_or(MintError::NoListener)?;
        let now = Instant::now();
        if inner.known.contains_key(&order.id) {
            return Err(MintError::Taken);
        }
        let own = inner.known.values().filter(|known| known.worker.seat == order.seat && !known.is_over(now));
        if own.count() >= MOST_OF_A_SEAT {
            return Err(MintError::TooMany);
        }
        let token = fresh_token().ok_or(MintError::NoRandom)?;
        redactor.learn([token.clone()]);
        let span = Duration::from_secs(60 * u64::from(order.minutes.clamp(1, MOST_MINUTES)));
        let view = Arc::new(shown(&order, (address, &redactor), span));
        let worker = Worker {
            holder: SeatHandle::of_worker(&order.seat, &order.id),
            id: order.id.clone(),
            seat: order.seat,
            tools: order.admission.tools.iter().map(|entry| entry.key()).collect(),
            digest: Digest::of(token.expose().as_bytes()),
            ends: now + span,
            ended: CancellationToken::new(),
        };
        let known = Known { worker: Arc::new(worker), view: view.clone(), token, unclaimed: true, parent: None };
        inner.known.insert(order.id, known);
        drop(inner);
        self.shared.changed.notify_one();
        Ok(view)
    }

    /// The token, once: for whoever the worker was made for. With `parent`, the worker ends when that is cancelled.
    pub fn claim(&self, id: &WorkerId, parent: Option<CancellationToken>) -> Option<Secret> {
        let mut inner = self.lock();
        let known = inner.known.get_mut(id).filter(|known| known.unclaimed)?;
        known.unclaimed = false;
        known.parent = parent;
        Some(known.token.clone())
    }

    /// The worker of this id, if this is its token and it has not ended. Takes the same time for every token.
    pub fn admit(&self, id: &str, token: Option<&str>) -> Option<Arc<Worker>> {
        let given = Digest::of(token.unwrap_or_default().as_bytes());
        let inner = self.lock();
        let known = inner.known.get(id).filter(|known| !known.is_over(Instant::now()));
        let expected = known.map_or(Digest([0; 32]), |known| known.worker.digest);
        let fits = expected.0.ct_eq(&given.0) & Choice::from(u8::from(known.is_some() && token.is_some()));
        known.filter(|_| bool::from(fits)).map(|known| known.worker.clone())
    }

    /// Ends a worker. False when there is none any more.
    pub fn end(&self, id: &WorkerId) -> bool {
        self.end_where(|worker| worker.id == *id)
    }

    /// Ends the workers that `which` chooses. True when there was one.
    pub fn end_where(&self, which: impl Fn(&Worker) -> bool) -> bool {
        let inner = self.lock();
        let now = Instant::now();
        let chosen = inner.known.values().filter(|known| !known.is_over(now) && which(&known.worker));
        let ended = chosen.map(|known| known.worker.ended.cancel()).count();
        drop(inner);
        if ended > 0 {
            self.shared.changed.notify_one();
        }
        ended > 0
    }

    /// Forgets the workers that are over; whoever calls it ends what they had open.
    pub fn sweep(&self) -> Vec<Arc<Worker>> {
        let mut inner = self.lock();
        let now = Instant::now();
        let over = inner.known.iter().filter(|(_, known)| known.is_over(now)).map(|(id, _)| id.clone());
        let gone: Vec<Known> = over.collect::<Vec<_>>().iter().filter_map(|id| inner.known.remove(id)).collect();
        if let Some((_, redactor)) = inner.door.as_ref().filter(|_| !gone.is_empty()) {
            redactor.forget(gone.iter().map(|known| known.token.clone()));
        }
        gone.into_iter().map(|known| known.worker).collect()
    }

    /// Waits until one was made or ended. One waits at a time.
    pub async fn changed(&self) {
        self.shared.changed.notified().await;
    }

    /// Those that are not over, oldest first.
    pub fn views(&self) -> Vec<Arc<WorkerView>> {
        let inner = self.lock();
        let now = Instant::now();
        let live = inner.known.values().filter(|known| !known.is_over(now));
        let mut views: Vec<Arc<WorkerView>> = live.map(|known| known.view.clone()).collect();
        views.sort_by(|a, b| (a.since, &a.id).cmp(&(b.since, &b.id)));
        views
    }

    /// Whether there is nothing to look after.
    pub fn is_empty(&self) -> bool {
        self.lock().known.is_empty()
    }

    /// How many are not over.
    pub fn count(&self) -> usize {
        let now = Instant::now();
        self.lock().known.values().filter(|known| !known.is_over(now)).count()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // What the lock guards is whole after each statement.
        self.shared.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn shown(order: &Order, (address, redactor): (SocketAddr, &Redactor), span: Duration) -> WorkerView {
    let since = Timestamp::now();
    // Line by line: what shows line breaks as such may be read as lines.
    let clean = |text: &str| -> Arc<str> {
        let redacted = redactor.redact(text);
        let lines = redacted.lines().map(text::visible);
        lines.collect::<Vec<_>>().join("\n").into()
    };
    let barred = order.admission.barred.iter().map(|(name, barred)| (clean(name), *barred));
    WorkerView {
        id: order.id.clone(),
        seat: order.seat.clone(),
        task: clean(&order.task),
        by: clean(&order.by),
        url: format!("http://{address}/workers/{}/mcp", order.id).into(),
        tools: order.admission.tools.iter().map(|entry| entry.exposed.clone()).collect(),
        barred: barred.collect(),
        since,
        ends: since.plus(span),
    }
}
