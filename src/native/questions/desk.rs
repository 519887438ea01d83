//! Who waits for whose answer at this moment, and the board of inboxes that the screen shows. In memory only: after a
//! restart nobody waits, and the board is made anew from the store.
//!
//! Taking a place and looking whether it closes a ring are one step, so that two seats that ask each other at the same
//! time do not wait for each other.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{oneshot, watch};

use crate::engine::snapshot::{Board, QuestionKind, QuestionView};
use crate::ids::SeatHandle;
use crate::store::questions::Answer;

/// How many questions may stand behind each other: whoever is asked asks the next one.
pub const DEEPEST: usize = 3;
/// Rows that somebody has answered in this run and that are still shown.
const ANSWERED: usize = 64;

/// See the module.
#[derive(Debug)]
pub struct Questions {
    waiting: Mutex<HashMap<Arc<str>, Waiting>>,
    board: watch::Sender<Board>,
    loading: tokio::sync::Mutex<()>,
    present: Mutex<HashSet<SeatHandle>>,
}

#[derive(Debug)]
struct Waiting {
    asker: Arc<str>,
    target: Arc<str>,
    chain: Vec<String>,
    answer: oneshot::Sender<Answer>,
}

/// Why a seat cannot wait for a colleague.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Closed {
    /// The colleague waits for this seat itself: by this channel, asked by this seat in between where there is one.
    Ring {
        /// The channel of the question that the asker has to answer first.
        channel: Arc<str>,
        /// Who asked it.
        by: Arc<str>,
    },
    /// As many questions stand behind each other as may.
    Deep(Vec<String>),
}

/// A seat that waits for an answer. Whoever drops it waits no longer; the question stays.
#[derive(Debug)]
pub struct Place {
    desk: Arc<Questions>,
    /// The question's channel.
    pub channel: Arc<str>,
    /// Who asked whom before, the asker last.
    pub chain: Vec<String>,
    /// Where the answer comes.
    pub answer: oneshot::Receiver<Answer>,
}

impl Drop for Place {
    fn drop(&mut self) {
        lock(&self.desk.waiting).remove(&self.channel);
        self.desk.change(&self.channel, |view| view.waits_until = None);
    }
}

impl Default for Questions {
    fn default() -> Self {
        Self {
            waiting: Mutex::default(),
            board: watch::channel(Board::default()).0,
            loading: tokio::sync::Mutex::default(),
            present: Mutex::default(),
        }
    }
}

/// Never poisoned for long: what the lock guards is whole after each statement.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Questions {
    /// Takes the place of somebody who waits for the answer to a question.
    ///
    /// # Errors
    /// When the colleague waits for the asker, over others or not, or when too many wait behind the asker.
    pub fn wait(self: &Arc<Self>, channel: &str, asker: &str, target: &str) -> Result<Place, Closed> {
        let mut waiting = lock(&self.waiting);
        if let Some((channel, by)) = ring(&waiting, asker, target) {
            return Err(Closed::Ring { channel, by });
        }
        let behind = waiting.values().filter(|one| &*one.target == asker).map(|one| &one.chain);
        let mut chain = behind.max_by_key(|chain| chain.len()).cloned().unwrap_or_default();
        chain.push(asker.to_owned());
        if chain.len() > DEEPEST {
            return Err(Closed::Deep(chain));
        }
        let (tell, answer) = oneshot::channel();
        let channel: Arc<str> = channel.into();
        let one = Waiting { asker: asker.into(), target: target.into(), chain: chain.clone(), answer: tell };
        waiting.insert(channel.clone(), one);
        drop(waiting);
        Ok(Place { desk: self.clone(), channel, chain, answer })
    }

    /// Hands an answer to whoever waits for it; true when somebody does.
    pub fn answer(&self, channel: &str, answer: &Answer) -> bool {
        let waiting = lock(&self.waiting).remove(channel);
        waiting.is_some_and(|waiting| waiting.answer.send(answer.clone()).is_ok())
    }

    /// The seats whose agents are connected now.
    pub fn set_present(&self, seats: HashSet<SeatHandle>) {
        *lock(&self.present) = seats;
    }

    /// Whether an agent of the seat is connected, as far as anybody said.
    pub fn is_present(&self, seat: &str) -> bool {
        lock(&self.present).contains(seat)
    }

    /// Lets one after another put on the board what it read.
    pub(super) async fn loading(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.loading.lock().await
    }

    /// What the screen shows.
    pub fn board(&self) -> watch::Receiver<Board> {
        self.board.subscribe()
    }

    /// Shows a row as it is now, in the place of what was shown of it before.
    pub fn show(&self, view: QuestionView) {
        self.board.send_if_modified(|board| {
            // The answer may have come before the question was shown.
            if view.is_open() && board.iter().any(|row| row.channel == view.channel && !row.is_open()) {
                return false;
            }
            let mut rows: Vec<_> = board.iter().filter(|row| row.channel != view.channel).cloned().collect();
            rows.push(Arc::new(view));
            *board = settled(rows);
            true
        });
    }

    /// Shows these rows of one kind in the place of all open ones of that kind.
    pub fn show_all(&self, kind: QuestionKind, views: Vec<QuestionView>) {
        self.board.send_if_modified(|board| {
            let stays = |row: &Arc<QuestionView>| row.kind != kind || !row.is_open();
            let mut rows: Vec<_> = board.iter().filter(|row| stays(row)).cloned().collect();
            for view in views {
                // What was answered meanwhile is not open again; what is the same stays the same.
                if rows.iter().any(|row| row.channel == view.channel) {
                    continue;
                }
                let known = board.iter().find(|row| ***row == view).cloned();
                rows.push(known.unwrap_or_else(|| Arc::new(view)));
            }
            let rows = settled(rows);
            let is_new = rows != *board;
            *board = rows;
            is_new
        });
    }

    fn change(&self, channel: &str, change: impl FnOnce(&mut QuestionView)) {
        self.board.send_if_modified(|board| {
            let Some(at) = board.iter().position(|row| &*row.channel == channel) else { return false };
            let mut rows = board.to_vec();
            let Some(row) = rows.get_mut(at) else { return false };
            let mut view = (**row).clone();
            change(&mut view);
            let is_new = view != **row;
            *row = Arc::new(view);
            if is_new {
                *board = rows.into();
            }
            is_new
        });
    }
}

/// The newest first; of what is answered only the latest.
fn settled(mut rows: Vec<Arc<QuestionView>>) -> Board {
    rows.sort_by(|a, b| (b.at, &b.channel).cmp(&(a.at, &a.channel)));
    let mut answered: Vec<_> = rows.iter().filter_map(|row| row.answer.as_ref()).map(|answer| answer.at).collect();
    answered.sort_unstable();
    if let Some(over) = answered.len().checked_sub(ANSWERED).filter(|over| *over > 0) {
        let oldest_shown = answered.get(over).copied().unwrap_or_default();
        rows.retain(|row| row.answer.as_ref().is_none_or(|answer| answer.at >= oldest_shown));
    }
    rows.into()
}

/// Whether `target` waits for `asker`: the question that `asker` has to answer first, and who asked it.
fn ring(waiting: &HashMap<Arc<str>, Waiting>, asker: &str, target: &str) -> Option<(Arc<str>, Arc<str>)> {
    let direct = waiting.iter().filter(|(_, one)| &*one.target == asker);
    direct.map(|(channel, one)| (channel.clone(), one.asker.clone())).find(|(_, by)| {
        let mut seen: HashSet<&str> = HashSet::new();
        let mut next: Vec<&str> = vec![by];
        while let Some(seat) = next.pop() {
            if seat == target {
                return true;
            }
            if seen.insert(seat) {
                next.extend(waiting.values().filter(|one| &*one.target == seat).map(|one| &*one.asker));
            }
        }
        false
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Timestamp;
    use crate::engine::snapshot::AnswerView;
    use crate::store::items::Who;

    fn view(channel: &str, at: i64) -> QuestionView {
        QuestionView {
            channel: channel.into(),
            kind: QuestionKind::Colleague,
            from: "a".into(),
            to: "b".into(),
            at: Timestamp::from_millis(at),
            waits_until: Some(Timestamp::from_millis(at + 9)),
            brief: "?".into(),
            chain: Vec::new(),
            budget: None,
            answer: None,
        }
    }

    fn answered(channel: &str, at: i64) -> QuestionView {
        let answer = AnswerView { by: "b".into(), at: Timestamp::from_millis(at), body: "!".into() };
        QuestionView { answer: Some(answer), waits_until: None, ..view(channel, at) }
    }

    fn shown(desk: &Questions) -> Vec<String> {
        desk.board().borrow().iter().map(|row| row.channel.to_string()).collect()
    }

    #[test]
    fn nobody_waits_for_somebody_who_waits_for_them() {
        let desk = Arc::new(Questions::default());
        let a_b = desk.wait("1", "a", "b").unwrap();
        assert_eq!(a_b.chain, ["a"]);
        let ring = |channel: &str, by: &str| Closed::Ring { channel: channel.into(), by: by.into() };
        assert_eq!(desk.wait("2", "b", "a").unwrap_err(), ring("1", "a"));
        let b_c = desk.wait("2", "b", "c").unwrap();
        assert_eq!(b_c.chain, ["a", "b"]);
        assert_eq!(desk.wait("3", "c", "a").unwrap_err(), ring("2", "b"), "over others");
        assert_eq!(desk.wait("3", "c", "b").unwrap_err(), ring("2", "b"));
        assert!(desk.wait("x", "a", "c").is_ok(), "the same one may be waited for by several");
        let c_d = desk.wait("3", "c", "d").unwrap();
        assert_eq!(c_d.chain, ["a", "b", "c"]);
        assert_eq!(desk.wait("4", "d", "e").unwrap_err(), Closed::Deep(["a", "b", "c", "d"].map(str::to_owned).into()));
        drop(a_b);
        assert!(desk.wait("5", "b", "a").is_ok(), "whoever left waits for nobody");
        drop(c_d);
        assert_eq!(desk.wait("4", "d", "e").unwrap().chain, ["d"], "nobody waits for it any more");
    }

    #[tokio::test]
    async fn an_answer_finds_whoever_waits_and_only_once() {
        let desk = Arc::new(Questions::default());
        let mut place = desk.wait("1", "a", "b").unwrap();
        let answer = Answer { body: "yes".into(), by: Who::new("seat", "b"), at: Timestamp::default() };
        assert!(!desk.answer("2", &answer));
        assert!(desk.answer("1", &answer));
        assert!(!desk.answer("1", &answer));
        assert_eq!((&mut place.answer).await.unwrap(), answer);
    }

    #[test]
    fn the_board_is_sorted_bounded_and_tells_only_what_is_new() {
        let desk = Arc::new(Questions::default());
        let place = desk.wait("b", "a", "b").unwrap();
        for (channel, at) in [("a", 1), ("c", 3), ("b", 2)] {
            desk.show(view(channel, at));
        }
        assert_eq!(shown(&desk), ["c", "b", "a"]);
        let mut board = desk.board();
        drop(place);
        assert!(board.has_changed().unwrap());
        assert_eq!(board.borrow_and_update()[1].waits_until, None, "nobody waits any more");
        let same: Vec<QuestionView> = board.borrow().iter().map(|row| (**row).clone()).collect();
        desk.show_all(QuestionKind::Colleague, same);
        assert!(!board.has_changed().unwrap(), "nothing is new");

        desk.show(answered("a", 1));
        desk.show_all(QuestionKind::Colleague, vec![view("a", 1), view("c", 3)]);
        let open: Vec<bool> = board.borrow_and_update().iter().map(|row| row.is_open()).collect();
        assert_eq!((shown(&desk), open), (vec!["c".to_owned(), "a".to_owned()], vec![true, false]));
        for n in 0..100 {
            desk.show(answered(&format!("n{n}"), 10 + n));
        }
        let rows = shown(&desk);
        assert_eq!(rows.len(), ANSWERED + 1);
        assert!(rows.contains(&"c".to_owned()) && rows[0] == "n99" && !rows.contains(&"n9".to_owned()), "{rows:?}");
    }
}
