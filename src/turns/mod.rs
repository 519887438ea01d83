//! Turns: what an agent does between being woken and saying that it is done, and whether it reached anybody.
//!
//! A turn is begun and ended by its agent with `turn_begin` and `turn_end`. Without them it is the agent's session; where
//! the protocol has no sessions, the calls of one client with less than half an hour between them. The surfaces open a
//! [`Place`] for each session and tell it of finished calls; first-party tools find the turn by seat and session. Ended
//! turns go to one reader, see [`TurnEnds`]. Nothing is written to disk here, and no call waits for anything of this.

mod ended;
#[cfg(test)]
mod tests;
mod turn;
pub mod verdict;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

pub use ended::{Ended, TurnEnds};
pub use turn::{Before, Now, Start, TurnView};

use crate::clock::Timestamp;
use crate::ids::{SeatHandle, TurnId};
use crate::secret::Redactor;
use crate::tool::Entry;
use crate::tool::entry::Origin;
use turn::Turn;
use verdict::{Call, Claim, Fate, Obligation, Outcome, Verdict, verdict};

/// The longest silence within a turn that nobody declared, where the protocol has no sessions.
pub const GAP: Duration = Duration::from_secs(30 * 60);
/// The tool that begins a turn.
pub const BEGIN: &str = "turn_begin";
/// The tool that ends one.
pub const END: &str = "turn_end";

/// Whose turns they are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Who {
    /// The seat.
    pub seat: SeatHandle,
    /// The agent's session, shortened for people.
    pub session: Arc<str>,
    /// Its client's name and version.
    pub client: Arc<str>,
}

/// What bounds a turn that nobody declared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bound {
    /// Its session.
    Session,
    /// A silence of [`GAP`].
    Silence,
}

/// What a session is found by: its seat, and its id shortened for people.
type Key = (SeatHandle, Arc<str>);

/// All turns that go on.
#[derive(Debug, Default)]
pub struct Turns {
    places: Mutex<HashMap<Key, Arc<Slot>>>,
    ends: TurnEnds,
}

/// Where one session's turns happen. Closing or dropping it ends the turn that goes on.
#[derive(Debug)]
pub struct Place {
    slot: Arc<Slot>,
    turns: Arc<Turns>,
}

#[derive(Debug)]
struct Slot {
    who: Who,
    bound: Bound,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    turn: Option<Turn>,
    before: Option<Arc<Ended>>,
    /// Calls that began earlier are of a turn that is over.
    since: Option<Instant>,
    /// What was shown last, until something changes.
    shown: Option<Arc<TurnView>>,
    closed: bool,
}

/// What a memory or a tool wants to know of the turn that goes on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Current {
    /// Unique across runs.
    pub id: TurnId,
    /// What made the agent begin it, in its words.
    pub trigger: Option<Arc<str>>,
    /// What it owes.
    pub owes: Obligation,
    /// When it began.
    pub began: Timestamp,
}

/// A turn that was begun.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Begun {
    /// Its id.
    pub id: TurnId,
    /// How the one ended that went on until then.
    pub left: Option<Outcome>,
}

/// What came of a claim.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Judged {
    /// No turn goes on: none was begun and no call was made since the last one ended. Nothing is recorded.
    Idle,
    /// The turn is over.
    Over {
        /// Its id.
        id: TurnId,
        /// How it ended.
        outcome: Outcome,
        /// What it reached.
        reached: Vec<Arc<str>>,
        /// What is still missing, where the outcome is [`Outcome::Incomplete`].
        missing: Option<Arc<str>>,
    },
    /// It goes on: once in each turn its agent is corrected.
    Corrected {
        /// What is missing, and what to do.
        message: Arc<str>,
        /// What it reached so far.
        reached: Vec<Arc<str>>,
    },
}

/// Never poisoned for long: what the locks guard is whole after each statement.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Turns {
    /// The way out of ended turns.
    pub const fn ends(&self) -> &TurnEnds {
        &self.ends
    }

    /// A place for a session's turns.
    pub fn open(self: &Arc<Self>, who: Who, bound: Bound) -> Place {
        let key = (who.seat.clone(), who.session.clone());
        let slot = Arc::new(Slot { who, bound, state: Mutex::default() });
        lock(&self.places).insert(key, slot.clone());
        Place { slot, turns: self.clone() }
    }

    /// Whether a session of the seat goes by this short id.
    pub fn knows(&self, seat: &SeatHandle, session: &Arc<str>) -> bool {
        self.slot(seat, session).is_some()
    }

    /// Begins a turn. The one that goes on ends: as unclaimed, or as incomplete where it was declared too. `None`
    /// where there is no such session.
    pub fn begin(
        &self,
        (seat, session): (&SeatHandle, &Arc<str>),
        trigger: Option<Arc<str>>,
        owes: Obligation,
    ) -> Option<Begun> {
        let slot = self.slot(seat, session)?;
        let mut state = slot.live()?;
        let since = state.since;
        let left = state.turn.as_ref().map(Turn::left);
        self.leave(&slot, &mut state);
        if left != Some(Outcome::Incomplete) {
            // Agents send several calls at once: what was sent with this one is of the turn that it begins.
            state.since = since;
        }
        let turn = Turn::declared(trigger, owes);
        let id = turn.id.clone();
        (state.turn, state.shown) = (Some(turn), None);
        Some(Begun { id, left })
    }

    /// Judges a claim and ends the turn, unless its agent is to be corrected first. `None` where there is no such
    /// session.
    pub fn end(
        &self,
        (seat, session): (&SeatHandle, &Arc<str>),
        (claim, text): (Claim, Option<Arc<str>>),
        reachable: &[Arc<str>],
    ) -> Option<Judged> {
        let slot = self.slot(seat, session)?;
        let mut state = slot.live()?;
        self.fall_silent(&slot, &mut state);
        state.shown = None;
        let Some(mut turn) = state.turn.take() else { return Some(Judged::Idle) };
        let (outcome, missing) = match verdict(claim, &turn.owes, &turn.ledger, reachable) {
            Verdict::Accept => (Outcome::Claimed(claim), None),
            Verdict::Correct(correction) => (Outcome::Incomplete, Some(Arc::<str>::from(correction.to_string()))),
        };
        if let (Some(message), None) = (&missing, &turn.corrected) {
            let (message, reached) = (message.clone(), turn.ledger.reached().to_vec());
            turn.corrected = Some((Timestamp::now(), message.clone()));
            turn.last = Instant::now();
            state.turn = Some(turn);
            return Some(Judged::Corrected { message, reached });
        }
        let (id, reached) = (turn.id.clone(), turn.ledger.reached().to_vec());
        self.over(&slot, &mut state, (turn, outcome, text));
        Some(Judged::Over { id, outcome, reached, missing })
    }

    /// The turn that goes on; one begins where none does. `None` where there is no such session.
    pub fn current(&self, seat: &SeatHandle, session: &Arc<str>) -> Option<Current> {
        let slot = self.slot(seat, session)?;
        let mut state = slot.live()?;
        self.fall_silent(&slot, &mut state);
        if state.turn.is_none() {
            (state.turn, state.shown) = (Some(Turn::implied(Timestamp::now())), None);
        }
        let turn = state.turn.as_ref()?;
        let (id, trigger, owes) = (turn.id.clone(), turn.trigger.clone(), turn.owes.clone());
        Some(Current { id, trigger, owes, began: turn.began })
    }

    /// Ends all turns; nothing comes after them.
    pub fn close(&self) {
        let places = std::mem::take(&mut *lock(&self.places));
        for slot in places.into_values() {
            self.shut(&slot);
        }
        self.ends.close();
    }

    fn slot(&self, seat: &SeatHandle, session: &Arc<str>) -> Option<Arc<Slot>> {
        lock(&self.places).get(&(seat.clone(), session.clone())).cloned()
    }

    /// Ends a turn that nobody declared after a silence.
    fn fall_silent(&self, slot: &Slot, state: &mut State) {
        let silent = |turn: &Turn| turn.start == Start::Implied && turn.last.elapsed() > GAP;
        if slot.bound == Bound::Silence && state.turn.as_ref().is_some_and(silent) {
            self.leave(slot, state);
        }
    }

    /// Ends the turn that goes on, whose agent says nothing of it.
    fn leave(&self, slot: &Slot, state: &mut State) {
        if let Some(turn) = state.turn.take() {
            let outcome = turn.left();
            self.over(slot, state, (turn, outcome, None));
        }
    }

    fn over(&self, slot: &Slot, state: &mut State, (turn, outcome, text): (Turn, Outcome, Option<Arc<str>>)) {
        state.shown = None;
        if turn.start == Start::Implied && turn.ledger.counts().0 == 0 {
            return;
        }
        let ended = turn.ended(&slot.who, outcome, text);
        let Ended { seat, session, turn_id, calls, .. } = &ended;
        tracing::info!(%seat, %session, %turn_id, calls = calls.len(), outcome = outcome.as_str(), "turn_ended");
        (state.before, state.since) = (Some(Arc::new(ended.clone())), Some(Instant::now()));
        self.ends.send(ended);
    }

    fn shut(&self, slot: &Slot) {
        let mut state = lock(&slot.state);
        self.leave(slot, &mut state);
        state.closed = true;
    }
}

impl Slot {
    /// Its state, unless its session is over.
    fn live(&self) -> Option<MutexGuard<'_, State>> {
        Some(lock(&self.state)).filter(|state| !state.closed)
    }
}

impl Place {
    /// A call of the session is over. One that began in an earlier turn is of no later one.
    pub fn finished(&self, entry: &Entry, fate: Fate, began: Instant) {
        if entry.origin == Origin::Builtin && matches!(&*entry.raw_name, BEGIN | END) {
            return;
        }
        let Some(mut state) = self.slot.live() else { return };
        if state.since.is_some_and(|since| began < since) {
            return;
        }
        self.turns.fall_silent(&self.slot, &mut state);
        state.shown = None;
        let turn = state.turn.get_or_insert_with(|| Turn::implied(Timestamp::now().before(began.elapsed())));
        turn.last = Instant::now();
        turn.ledger.add(Call::of(entry, fate));
    }

    /// Ends a turn that fell silent; for whoever looks from time to time. True when that changed what is shown.
    pub fn sweep(&self) -> bool {
        let Some(mut state) = self.slot.live() else { return false };
        let shown = state.shown.is_some();
        self.turns.fall_silent(&self.slot, &mut state);
        shown && state.shown.is_none()
    }

    /// What is shown of the session's turns, its texts cleaned; `None` while there were none.
    pub fn view(&self, redactor: &Redactor) -> Option<Arc<TurnView>> {
        let mut state = lock(&self.slot.state);
        if state.shown.is_none() && (state.turn.is_some() || state.before.is_some()) {
            let now = state.turn.as_ref().map(|turn| Now::of(turn, redactor));
            let before = state.before.as_ref().map(|ended| Before::of(ended, redactor));
            state.shown = Some(Arc::new(TurnView { now, before }));
        }
        state.shown.clone()
    }

    /// The session is over, and its turn with it.
    pub fn close(&self) {
        self.turns.shut(&self.slot);
        let key = (self.slot.who.seat.clone(), self.slot.who.session.clone());
        let mut places = lock(&self.turns.places);
        if places.get(&key).is_some_and(|slot| Arc::ptr_eq(slot, &self.slot)) {
            places.remove(&key);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.close();
    }
}
