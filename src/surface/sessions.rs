//! Who uses the surfaces: sessions with their seat, and clients of the era without sessions.
//!
//! A session belongs to the seat that opened it; its id is never identity, the token is asked for at each request.
//! What a session has in flight can be cancelled by its own ids only.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::envelope::{Client, Id};
use crate::clock::Timestamp;
use crate::engine::handle::Hold;
use crate::engine::snapshot::{Caller, SessionView, Withdrawal};
use crate::engine::status::Era;
use crate::ids::SeatHandle;
use crate::native::Shared;
use crate::native::active::{Active, Member, Set};
use crate::secret::Redactor;
use crate::turns::{self, Bound, Place, Turns, Who};

/// Requests for unknown names that leave a record, for each session and sort; further ones are only counted.
pub(super) const RECORDED_UNKNOWN: u64 = 16;
/// Most clients of the era without sessions that are listed at once.
const MOST: usize = 1024;
/// Most sessions of one seat at once; its own idle one that was silent longest makes room.
const MOST_OF_A_SEAT: usize = 512;
/// The same of one worker, which is one program.
const MOST_OF_A_WORKER: usize = 16;
/// A session with nothing open and nothing asked for this long is ended.
const IDLE: Duration = Duration::from_secs(3600);
/// A client without a session that asked nothing for this long is not listed any more; its turn ends with it.
const IDLE_CLIENT: Duration = turns::GAP;

/// One session.
#[derive(Debug)]
pub(super) struct Session {
    /// What the client sends; unguessable.
    pub(super) id: Arc<str>,
    pub(super) short: Arc<str>,
    /// Whose it is: a seat, or what stands for an operator or a worker.
    pub(super) seat: SeatHandle,
    pub(super) client: Arc<str>,
    pub(super) client_name: Arc<str>,
    pub(super) era: Era,
    /// Cancelled when the session is deleted, closed or replaced.
    pub(super) ended: CancellationToken,
    pub(super) calls: AtomicU64,
    pub(super) waiting: AtomicU32,
    /// Calls of names that the seat does not have.
    pub(super) unknown_tools: AtomicU64,
    /// Streams that are open: while there is one the session is not idle.
    pub(super) streams: AtomicU32,
    /// Under progressive discovery: which tools it holds.
    member: Option<Member>,
    /// Where its turns happen; only agents of seats have any.
    pub(super) turn: Option<Place>,
    changed: Arc<Notify>,
    since: Timestamp,
    last_seen: Mutex<Timestamp>,
    stream: Mutex<CancellationToken>,
    in_flight: Mutex<HashMap<Id, (CancellationToken, Hold)>>,
}

/// Never poisoned for long: what the locks guard is whole after each statement.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Session {
    fn new(seat: &SeatHandle, client: &Client, (era, id): (Era, Arc<str>), all: &Sessions) -> Self {
        let short = short(&id);
        let shown: Arc<str> = client.shown().into();
        let bound = if era == Era::Legacy { Bound::Session } else { Bound::Silence };
        let who = || Who { seat: seat.clone(), session: short.clone(), client: shown.clone() };
        let member = || match era {
            Era::Legacy => all.active.session(seat, &short),
            Era::Modern => all.active.client(seat, &short, &shown),
        };
        Self {
            turn: seat.is_seat().then(|| all.turns.open(who(), bound)),
            member: seat.is_seat().then(member).flatten(),
            short,
            id,
            seat: seat.clone(),
            changed: all.changed.clone(),
            client: shown,
            client_name: client.name.trim().into(),
            era,
            ended: CancellationToken::new(),
            calls: AtomicU64::new(0),
            waiting: AtomicU32::new(0),
            unknown_tools: AtomicU64::new(0),
            streams: AtomicU32::new(0),
            since: Timestamp::now(),
            last_seen: Mutex::new(Timestamp::now()),
            stream: Mutex::new(CancellationToken::new()),
            in_flight: Mutex::default(),
        }
    }

    /// Who asks for the session's calls.
    pub(super) fn caller(&self) -> Caller {
        let (holder, session, client) = (self.seat.clone(), self.short.clone(), self.client.clone());
        match (holder.operator().or_else(|| holder.connector()), holder.worker()) {
            (Some(_), _) => Caller::Operator { holder, session, client },
            (None, Some((seat, _))) => Caller::Worker { seat, holder, session, client },
            (None, None) => Caller::Seat { seat: holder, session, client },
        }
    }

    /// Its short id and its client, for people.
    pub(super) fn named(&self) -> (Arc<str>, Arc<str>) {
        (self.short.clone(), self.client.clone())
    }

    /// Which tools are active, where not all are.
    pub(super) fn active(&self) -> Option<&Arc<Set>> {
        self.member.as_ref().map(Member::set)
    }

    /// The screen should hear of it.
    pub(super) fn changed(&self) {
        self.changed.notify_one();
    }

    /// It asked for something.
    pub(super) fn seen(&self) {
        *lock(&self.last_seen) = Timestamp::now();
    }

    /// Remembers a call, so that it can be cancelled. False when its id is in flight already.
    pub(super) fn begin(&self, id: &Id, cancel: &CancellationToken, hold: &Hold) -> bool {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.changed();
        self.enlist(id, cancel, hold)
    }

    /// The same for a request that is no call.
    pub(super) fn enlist(&self, id: &Id, cancel: &CancellationToken, hold: &Hold) -> bool {
        let mut in_flight = lock(&self.in_flight);
        if in_flight.contains_key(id) {
            return false;
        }
        in_flight.insert(id.clone(), (cancel.clone(), hold.clone()));
        true
    }

    /// Forgets a call.
    pub(super) fn finish(&self, id: &Id) {
        lock(&self.in_flight).remove(id);
        self.seen();
        self.changed();
    }

    /// The client cancels one of its calls; an id that is not in flight is nobody's.
    pub(super) fn cancel(&self, id: &Id) {
        if let Some((cancel, hold)) = lock(&self.in_flight).remove(id) {
            hold.gone_because(Withdrawal::Cancelled);
            cancel.cancel();
        }
    }

    /// A new stream for notifications takes the place of an earlier one. Cancelled when it is replaced itself.
    pub(super) fn take_stream(&self) -> CancellationToken {
        let token = self.ended.child_token();
        std::mem::replace(&mut *lock(&self.stream), token.clone()).cancel();
        token
    }

    fn end(&self) {
        for (cancel, hold) in std::mem::take(&mut *lock(&self.in_flight)).into_values() {
            hold.gone_because(Withdrawal::CallerGone);
            cancel.cancel();
        }
        self.ended.cancel();
        if let Some(turn) = &self.turn {
            turn.close();
        }
    }

    fn is_idle(&self, now: Timestamp) -> bool {
        let limit = if self.era == Era::Legacy { IDLE } else { IDLE_CLIENT };
        !self.is_busy() && now.since(*lock(&self.last_seen)) > limit
    }

    /// Whether something of it is open or waits.
    fn is_busy(&self) -> bool {
        let open = self.streams.load(Ordering::Relaxed) > 0 || self.waiting.load(Ordering::Relaxed) > 0;
        open || !lock(&self.in_flight).is_empty()
    }

    fn view(&self, redactor: &Redactor) -> SessionView {
        let (seat, worker) =
            self.seat.worker().map_or_else(|| (self.seat.clone(), None), |(seat, worker)| (seat, Some(worker)));
        SessionView {
            id: self.short.clone(),
            seat,
            worker,
            client: self.client.clone(),
            era: self.era,
            since: self.since,
            last_seen: *lock(&self.last_seen),
            calls: self.calls.load(Ordering::Relaxed),
            turn: self.turn.as_ref().and_then(|place| place.view(redactor)),
        }
    }
}

/// All sessions.
pub(super) struct Sessions {
    known: Mutex<Known>,
    pub(super) turns: Arc<Turns>,
    active: Arc<Active>,
    redactor: Redactor,
    /// Notified when the views may have changed.
    pub(super) changed: Arc<Notify>,
}

#[derive(Default)]
struct Known {
    legacy: HashMap<Arc<str>, Arc<Session>>,
    modern: HashMap<(SeatHandle, Arc<str>), Arc<Session>>,
}

impl Sessions {
    /// None yet; their turns and what they hold are among these.
    pub(super) fn new(shared: &Shared, redactor: Redactor) -> Self {
        let (turns, active) = (shared.turns.clone(), shared.active.clone());
        Self { known: Mutex::default(), turns, active, redactor, changed: Arc::default() }
    }

    /// Whether they begin with less than everything.
    pub(super) fn is_progressive(&self) -> bool {
        self.active.is_progressive()
    }

    /// Opens a session for a seat. `None` when no unguessable id can be made, or when the seat has as many as it may
    /// and all of them are busy: what waits is never torn down for somebody new, least of all another seat's.
    pub(super) fn open(&self, seat: &SeatHandle, client: &Client) -> Option<Arc<Session>> {
        let session = Arc::new(Session::new(seat, client, (Era::Legacy, self.fresh_id(seat)?), self));
        let mut known = lock(&self.known);
        let own = || known.legacy.values().filter(|session| session.seat == *seat);
        let most = if seat.worker().is_some() { MOST_OF_A_WORKER } else { MOST_OF_A_SEAT };
        if own().count() >= most {
            let idle = own().filter(|session| !session.is_busy());
            let silent = idle.min_by_key(|session| *lock(&session.last_seen)).cloned()?;
            known.legacy.remove(&silent.id);
            silent.end();
        }
        known.legacy.insert(session.id.clone(), session.clone());
        drop(known);
        self.changed.notify_one();
        Some(session)
    }

    /// An id that nobody can guess, and whose short form no other session of the seat has: its turns and what it holds go by that.
    fn fresh_id(&self, seat: &SeatHandle) -> Option<Arc<str>> {
        (0..8).find_map(|_| fresh_id().filter(|id| !self.turns.knows(seat, &short(id))))
    }

    /// The seat's session with this id; another seat's is as unknown as one that does not exist.
    pub(super) fn get(&self, seat: &SeatHandle, id: &str) -> Option<Arc<Session>> {
        let session = lock(&self.known).legacy.get(id).filter(|session| session.seat == *seat).cloned()?;
        session.seen();
        Some(session)
    }

    /// The stand-in for a session in the era without them.
    pub(super) fn client(&self, seat: &SeatHandle, client: &Client) -> Arc<Session> {
        let key = (seat.clone(), Arc::<str>::from(client.shown()));
        let mut known = lock(&self.known);
        if let Some(session) = known.modern.get(&key) {
            session.seen();
            session.member.iter().for_each(Member::seen);
            return session.clone();
        }
        if known.modern.len() >= MOST {
            known.modern.retain(|_, session| Arc::strong_count(session) > 1);
        }
        let id = self.fresh_id(seat).unwrap_or_else(|| "000000".into());
        let session = Arc::new(Session::new(seat, client, (Era::Modern, id), self));
        session.member.iter().for_each(Member::seen);
        if known.modern.len() < MOST {
            known.modern.insert(key, session.clone());
        }
        drop(known);
        self.changed.notify_one();
        session
    }

    /// Ends a session and what it has in flight.
    pub(super) fn close(&self, session: &Session) {
        lock(&self.known).legacy.remove(&session.id);
        session.end();
        self.changed.notify_one();
    }

    /// Ends everything of a seat.
    pub(super) fn close_seat(&self, seat: &SeatHandle) {
        self.close_where(|session| session.seat == *seat);
    }

    /// Ends everything.
    pub(super) fn close_all(&self) {
        self.close_where(|_| true);
    }

    /// Ends what has been silent for long.
    pub(super) fn close_idle(&self) {
        let now = Timestamp::now();
        self.close_where(|session| session.is_idle(now));
        self.active.sweep();
        let known = lock(&self.known);
        for turn in known.modern.values().filter_map(|session| session.turn.as_ref()) {
            if turn.sweep() {
                self.changed.notify_one();
            }
        }
    }

    fn close_where(&self, which: impl Fn(&Session) -> bool) {
        let mut gone = Vec::new();
        let mut known = lock(&self.known);
        known.legacy.retain(|_, session| keep(session, &which, &mut gone));
        known.modern.retain(|_, session| keep(session, &which, &mut gone));
        drop(known);
        for session in &gone {
            session.end();
        }
        if !gone.is_empty() {
            self.changed.notify_one();
        }
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        let known = lock(&self.known);
        known.legacy.len() + known.modern.len()
    }

    /// For the screen, oldest first.
    pub(super) fn views(&self) -> Vec<Arc<SessionView>> {
        let known = lock(&self.known);
        let all = known.legacy.values().chain(known.modern.values());
        let mut views: Vec<Arc<SessionView>> = all.map(|session| Arc::new(session.view(&self.redactor))).collect();
        views.sort_by(|a, b| (a.since, &a.id).cmp(&(b.since, &b.id)));
        views
    }
}

fn keep(session: &Arc<Session>, which: impl Fn(&Session) -> bool, gone: &mut Vec<Arc<Session>>) -> bool {
    let goes = which(session);
    if goes {
        gone.push(session.clone());
    }
    !goes
}

/// A session's id for people.
fn short(id: &str) -> Arc<str> {
    id.chars().take(6).collect::<String>().into()
}

/// 128 random bits in hexadecimal digits: an id that nobody can guess.
pub(super) fn fresh_id() -> Option<Arc<str>> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).ok()?;
    Some(format!("{:032x}", u128::from_le_bytes(bytes)).into())
}
