//! One call of an agent while somebody waits for it, and calls that wait for their agent to come back.
//!
//! A [`Live`] is the caller's presence: dropping it before the call is over gives the call up, so a connection that
//! closes withdraws its question by itself. A call that was left while a person is asked is parked, not dropped.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::envelope::Id;
use super::sessions::Session;
use crate::engine::handle::{CallReport, Hold, Progress, Stage, Waited};
use crate::engine::snapshot::{CallPhase, Withdrawal};
use crate::ids::SeatHandle;
use crate::tool::{Digest, Entry, ToolKey};
use crate::turns::verdict::Fate;

/// The longest silence while an answer is waited for.
pub(super) const BEAT: Duration = Duration::from_secs(10);
/// What is not answered this soon is answered by a stream, where the client takes one.
pub(super) const SOON: Duration = Duration::from_secs(2);
/// How long a parked call is kept beyond the time that a question waits.
pub(super) const KEPT: Duration = Duration::from_secs(300);
/// Most parked calls of one key.
const MOST_ALIKE: usize = 16;
/// Most parked calls.
const MOST: usize = 512;

/// What identifies a call that is repeated: seat, client program, tool and arguments. Not the session: a program that
/// comes back with a new one still picks up what it asked for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Key {
    pub(super) seat: SeatHandle,
    pub(super) client: Arc<str>,
    pub(super) tool: ToolKey,
    pub(super) arguments: Digest,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Live {
    pub(super) key: Key,
    pub(super) id: Id,
    pub(super) session: Arc<Session>,
    pub(super) hold: Hold,
    pub(super) cancel: CancellationToken,
    pub(super) report: Waited,
    /// The tool as it was offered, and since when the present caller waits for it: for the caller's turn.
    turn: (Arc<Entry>, Instant),
    counted: bool,
    over: bool,
}

/// How a call ended; without a report the engine ended before it did.
#[derive(Debug)]
pub(super) struct End(pub(super) Option<Box<CallReport>>);

/// What happened next to a call.
#[derive(Debug)]
pub(super) enum Step {
    /// It ended.
    Over(End),
    /// The caller cancelled it, or its session ended.
    GivenUp,
    /// The caller has been held for as long as it may be, and left.
    Left,
    /// The server says how far it is.
    Said(Progress),
    /// Nothing; the caller should hear a sign of life.
    Beat,
}

impl Live {
    /// The presence of a session for a call that was just started or picked up.
    pub(super) fn new(
        key: Key,
        id: Id,
        session: Arc<Session>,
        (entry, call): (Arc<Entry>, (Hold, CancellationToken, Waited)),
    ) -> Self {
        let (hold, cancel, report) = call;
        let turn = (entry, Instant::now());
        Self { key, id, session, hold, cancel, report, turn, counted: false, over: false }
    }

    /// The same call under another request, when its caller repeats it.
    fn picked_up(mut self, id: Id, session: Arc<Session>) -> Self {
        self.count(false);
        self.session = session;
        self.id = id;
        self.turn.1 = Instant::now();
        self.session.begin(&self.id, &self.cancel, &self.hold);
        self.hold.come_back();
        self
    }

    /// How it ended, once it has, and then no second time.
    pub(super) fn settled(&mut self) -> Option<End> {
        let report = self.report.settled()?;
        Some(self.over(report.ok()))
    }

    /// It is over, and its caller's turn takes note of it.
    fn over(&mut self, report: Option<CallReport>) -> End {
        self.over = true;
        let fate = report.as_ref().and_then(|report| match report.phase {
            CallPhase::Done { is_error: false } => Some(Fate::Done),
            // Nobody wanted it any more.
            CallPhase::Withdrawn(_) | CallPhase::Waiting(_) | CallPhase::Running => None,
            _ => Some(Fate::Failed),
        });
        if let (Some(fate), Some(place)) = (fate, &self.session.turn) {
            place.finished(&self.turn.0, fate, self.turn.1);
        }
        End(report.map(Box::new))
    }

    /// Whether it waits for a person; the screen's list follows.
    pub(super) fn count(&mut self, waits: bool) {
        if waits != self.counted {
            self.counted = waits;
            if waits {
                self.session.waiting.fetch_add(1, Ordering::Relaxed);
            } else {
                self.session.waiting.fetch_sub(1, Ordering::Relaxed);
            }
            self.session.changed();
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.count(false);
        self.session.finish(&self.id);
        if !self.over {
            self.hold.gone_because(Withdrawal::CallerGone);
            self.cancel.cancel();
        }
    }
}

/// Waiting for one call, with a caller that is held no longer than it may be.
#[derive(Debug)]
pub(super) struct Held {
    live: Live,
    longest: Duration,
    asked: Option<Instant>,
    beat: Instant,
    hearing: Option<watch::Receiver<Option<Progress>>>,
    ended: Option<End>,
}

impl Held {
    pub(super) fn new(live: Live, longest: Duration) -> Self {
        let beat = Instant::now() + SOON;
        Self { live, longest, asked: None, beat, hearing: None, ended: None }
    }

    /// From now on what the server says of progress is heard, too.
    pub(super) fn hear(&mut self) {
        self.hearing = Some(self.live.hold.progress());
    }

    /// Whose call it is.
    pub(super) fn session(&self) -> &Arc<Session> {
        &self.live.session
    }

    /// How long its caller is held while a person is asked.
    pub(super) fn longest(&self) -> Duration {
        self.longest
    }

    /// True while a person is asked.
    pub(super) fn is_asked(&self) -> bool {
        self.asked.is_some()
    }

    /// Waits for the next thing. The first beat comes early: as soon as a person is asked, or after two seconds.
    pub(super) async fn step(&mut self) -> Step {
        if let Some(report) = self.ended.take() {
            return Step::Over(report);
        }
        loop {
            let stage = self.live.hold.stage();
            match (stage, self.asked) {
                (Stage::Asked, None) => {
                    self.asked = Some(Instant::now());
                    self.live.count(true);
                    self.beat = Instant::now() + BEAT;
                    return Step::Beat;
                }
                (Stage::Running, Some(_)) => {
                    self.asked = None;
                    self.live.count(false);
                }
                _ => {}
            }
            let until = self.asked.map_or_else(Instant::now, |asked| asked + self.longest);
            tokio::select! {
                biased;
                // First: who gave it up wants no answer, also where the call ends by that at once.
                () = self.live.hold.given_up(&self.live.cancel) => return Step::GivenUp,
                report = &mut self.live.report => {
                    let report = self.live.over(report.ok());
                    // What was said last is heard before the end.
                    let Some(said) = self.unheard() else { return Step::Over(report) };
                    self.ended = Some(report);
                    return Step::Said(said);
                }
                () = self.live.hold.leaves(stage) => {}
                Some(said) = heard(&mut self.hearing) => {
                    self.beat = Instant::now() + BEAT;
                    return Step::Said(said);
                }
                () = tokio::time::sleep_until(until), if self.asked.is_some() => {
                    if self.live.hold.leave() {
                        return Step::Left;
                    }
                    // Decided this very moment: the answer is on its way.
                    self.asked = None;
                    self.live.count(false);
                }
                () = tokio::time::sleep_until(self.beat) => {
                    self.beat = Instant::now() + BEAT;
                    return Step::Beat;
                }
            }
        }
    }

    fn unheard(&mut self) -> Option<Progress> {
        let said = self.hearing.as_mut()?.borrow_and_update();
        said.has_changed().then(|| said.clone()).flatten()
    }

    /// From now on the call goes on whether its caller reads or not.
    pub(super) fn let_go(&mut self) {
        self.live.report.let_go();
    }

    /// The call, once its caller has left.
    pub(super) fn into_live(mut self) -> Live {
        self.let_go();
        self.live
    }
}

/// Waits for something to be heard. `None` when nobody listens, or when nobody can say anything any more.
async fn heard(hearing: &mut Option<watch::Receiver<Option<Progress>>>) -> Option<Progress> {
    let hearing = hearing.as_mut()?;
    loop {
        hearing.changed().await.ok()?;
        let said = hearing.borrow_and_update().clone();
        if said.is_some() {
            return said;
        }
    }
}

/// Calls that wait for a person while their caller is away.
#[derive(Debug, Default)]
pub(super) struct Parked {
    calls: Mutex<HashMap<Key, VecDeque<(Instant, Live)>>>,
}

impl Parked {
    /// Keeps a call whose caller has left. When there are too many of its kind, the call is given up.
    pub(super) fn put(&self, mut live: Live) {
        live.session.finish(&live.id);
        live.count(true);
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let total: usize = calls.values().map(VecDeque::len).sum();
        let alike = calls.entry(live.key.clone()).or_default();
        if alike.len() < MOST_ALIKE && total < MOST {
            alike.push_back((Instant::now(), live));
        }
    }

    /// The oldest parked call of this kind, for a caller that repeats it.
    pub(super) fn pick_up(&self, key: &Key, id: &Id, session: &Arc<Session>) -> Option<Live> {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let alike = calls.get_mut(key)?;
        let found = alike.pop_front();
        if alike.is_empty() {
            calls.remove(key);
        }
        drop(calls);
        found.map(|(_, live)| live.picked_up(id.clone(), session.clone()))
    }

    /// Gives up what was parked by sessions that have ended, and what nobody came back for.
    pub(super) fn sweep(&self, wait: Duration) {
        let mut gone = Vec::new();
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls.retain(|_, alike| {
            let all = std::mem::take(alike);
            for (since, live) in all {
                if live.session.ended.is_cancelled() || since.elapsed() > wait + KEPT {
                    gone.push(live);
                } else {
                    alike.push_back((since, live));
                }
            }
            !alike.is_empty()
        });
        drop(calls);
        drop(gone);
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        let calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls.values().map(VecDeque::len).sum()
    }
}
