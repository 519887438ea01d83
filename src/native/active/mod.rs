//! Which tools agents hold at the moment, where `engine.discovery` is `progressive`.
//!
//! The program's own tools are always active, a server's once `activate_tool` named it. In the era of sessions a set is
//! a session's and ends with it; in the era without, it is a client program's at one seat and ends when that program
//! asked for nothing for [`GAP`]. The surfaces join a [`Member`] for whoever asks them, list by it and hold calls
//! against it; everybody else finds the same set by a call's caller. Where everything is active there are no sets, and
//! nothing is looked up. What a seat could reach at all is the catalogue's business.

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

use crate::config::model::Discovery;
use crate::engine::snapshot::Caller;
use crate::ids::SeatHandle;
use crate::tool::entry::Origin;
use crate::tool::{Catalog, Entry, ToolKey};

/// A client program without sessions that asked for nothing for this long begins anew.
pub const GAP: Duration = Duration::from_secs(30 * 60);
/// Most tools that one set takes beside the program's own.
const MOST_TOOLS: usize = 1024;
/// Most client programs of one seat whose sets are kept; of more, those that were silent longest begin anew.
const MOST_CLIENTS: usize = 64;

/// The tools of servers that are active, whatever became of them since.
pub type Chosen = HashSet<ToolKey>;

/// See the module.
#[derive(Debug, Default)]
pub struct Active {
    /// `None`: everything is active.
    known: Option<Mutex<Known>>,
}

#[derive(Debug, Default)]
struct Known {
    /// By seat and the short id of a session, or of what stands for one.
    members: HashMap<Place, Arc<Set>>,
    /// By seat and what a client program calls itself.
    clients: HashMap<Place, Arc<Set>>,
}

type Place = (SeatHandle, Arc<str>);

/// What one session, or one client program, holds beside the program's own tools.
#[derive(Debug)]
pub struct Set {
    chosen: watch::Sender<Arc<Chosen>>,
    last_seen: Mutex<Instant>,
}

/// What became of a wish to activate a tool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Activated {
    /// It is active from now on; the set has so many.
    Now(usize),
    /// It was.
    Already,
    /// The set takes no more.
    Full,
}

/// Somebody who asks at a surface. The set is found by its caller for as long as this is kept.
#[derive(Debug)]
pub struct Member {
    active: Arc<Active>,
    place: Place,
    set: Arc<Set>,
}

impl Active {
    /// As the configuration says.
    pub fn new(discovery: Discovery) -> Self {
        Self { known: (discovery == Discovery::Progressive).then(Mutex::default) }
    }

    /// Whether there are tools that are not active.
    pub const fn is_progressive(&self) -> bool {
        self.known.is_some()
    }

    /// A session with a set of its own. `None` where everything is active.
    pub fn session(self: &Arc<Self>, seat: &SeatHandle, session: &Arc<str>) -> Option<Member> {
        self.join(seat, session, Arc::default())
    }

    /// What stands for a session in the era without them: with the set of its client program.
    pub fn client(self: &Arc<Self>, seat: &SeatHandle, session: &Arc<str>, client: &Arc<str>) -> Option<Member> {
        let set = self.lock()?.of_client((seat.clone(), client.clone()));
        self.join(seat, session, set)
    }

    fn join(self: &Arc<Self>, seat: &SeatHandle, session: &Arc<str>, set: Arc<Set>) -> Option<Member> {
        let place = (seat.clone(), session.clone());
        self.lock()?.members.insert(place.clone(), set.clone());
        Some(Member { active: self.clone(), place, set })
    }

    /// The set of whoever made a call; `None` where everything is active, and for callers that have none: operators,
    /// the person at the screen, and sessions that are gone.
    pub fn of(&self, caller: &Caller) -> Option<Arc<Set>> {
        let Caller::Seat { seat, session, .. } = caller else { return None };
        self.lock()?.members.get(&(seat.clone(), session.clone())).cloned()
    }

    /// What the caller's session holds right now, in the order of the catalogue: what its workers may be granted at
    /// most. Without a session that is the program's own tools.
    pub fn entries(&self, caller: &Caller, catalog: &Catalog) -> Vec<Arc<Entry>> {
        let Some(seat) = caller.seat() else { return Vec::new() };
        let set = self.of(caller);
        let is_active = |entry: &Entry| match &set {
            Some(set) => set.holds(entry),
            None => !self.is_progressive() || entry.origin == Origin::Builtin,
        };
        catalog.of_seat(seat).filter(|entry| is_active(entry)).cloned().collect()
    }

    /// Forgets the sets of client programs that have been silent for long.
    pub fn sweep(&self) {
        let Some(mut known) = self.lock() else { return };
        known.clients.retain(|_, set| {
            let silent = set.silence() >= GAP;
            if silent {
                set.clear();
            }
            // Somebody who listens still has it, empty.
            !silent || Arc::strong_count(set) > 1
        });
    }

    fn lock(&self) -> Option<MutexGuard<'_, Known>> {
        // What a panicking thread left behind is whole after each statement.
        self.known.as_ref().map(|known| known.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Known {
    fn of_client(&mut self, place: Place) -> Arc<Set> {
        if let Some(set) = self.clients.get(&place) {
            return set.clone();
        }
        let of_seat = |(seat, _): &&Place| *seat == place.0;
        if self.clients.keys().filter(of_seat).count() >= MOST_CLIENTS {
            let silence = |place: &&Place| self.clients.get(*place).map(|set| set.silence());
            let longest = self.clients.keys().filter(of_seat).max_by_key(silence).cloned();
            longest.and_then(|longest| self.clients.remove(&longest));
        }
        self.clients.entry(place).or_default().clone()
    }
}

impl Default for Set {
    fn default() -> Self {
        Self { chosen: watch::channel(Arc::default()).0, last_seen: Mutex::new(Instant::now()) }
    }
}

impl Set {
    /// Whether a tool is active.
    pub fn holds(&self, entry: &Entry) -> bool {
        entry.origin == Origin::Builtin || self.chosen.borrow().contains(&entry.key())
    }

    /// What was activated, as it stands.
    pub fn chosen(&self) -> Arc<Chosen> {
        self.chosen.borrow().clone()
    }

    /// Told of each change.
    pub fn changes(&self) -> watch::Receiver<Arc<Chosen>> {
        self.chosen.subscribe()
    }

    /// Makes a tool active. Tools that are not in the catalogue any more make room.
    pub fn activate(&self, entry: &Entry, catalog: &Catalog) -> Activated {
        let mut came = Activated::Already;
        self.chosen.send_if_modified(|chosen| {
            let key = entry.key();
            if entry.origin == Origin::Builtin || chosen.contains(&key) {
                return false;
            }
            let mut now = Chosen::clone(chosen);
            if now.len() >= MOST_TOOLS {
                now.retain(|key| catalog.get(key).is_some());
            }
            if now.len() >= MOST_TOOLS {
                came = Activated::Full;
                return false;
            }
            now.insert(key);
            came = Activated::Now(now.len());
            *chosen = Arc::new(now);
            true
        });
        came
    }

    fn clear(&self) {
        self.chosen.send_if_modified(|chosen| {
            let had = !chosen.is_empty();
            if had {
                *chosen = Arc::default();
            }
            had
        });
    }

    fn silence(&self) -> Duration {
        self.last_seen.lock().unwrap_or_else(PoisonError::into_inner).elapsed()
    }
}

impl Member {
    /// Its set.
    pub fn set(&self) -> &Arc<Set> {
        &self.set
    }

    /// A client program asks for something: after too long a silence it begins anew.
    pub fn seen(&self) {
        if self.set.silence() >= GAP {
            self.set.clear();
        }
        *self.set.last_seen.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        if let Some(mut known) = self.active.lock() {
            known.members.remove(&self.place);
        }
    }
}
