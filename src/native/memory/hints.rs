//! What a turn has asked its memory for: a few distinct hints, each answered once.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// Distinct hints of one turn.
pub(super) const MOST: usize = 3;
/// Turns that are remembered; the oldest is forgotten first.
const TURNS: usize = 1024;
/// Bytes of answers that are kept over all turns.
const BYTES: usize = 16 << 20;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Hints {
    turns: HashMap<Arc<str>, Vec<(String, Arc<str>)>>,
    order: VecDeque<Arc<str>>,
    bytes: usize,
}

/// What a hint meets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Met {
    /// It was answered before.
    Known(Arc<str>),
    /// It may be asked.
    New,
    /// The turn has had its share.
    Spent,
}

/// A hint for comparing: without case, each run of whitespace one space.
pub(super) fn normal(hint: &str) -> String {
    hint.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Hints {
    /// What becomes of a turn's hint, as [`normal`] gives it.
    pub(super) fn meet(&self, turn: &str, hint: &str) -> Met {
        let asked = self.turns.get(turn).map(Vec::as_slice).unwrap_or_default();
        match asked.iter().find(|(known, _)| known == hint) {
            Some((_, block)) => Met::Known(block.clone()),
            None if asked.len() >= MOST => Met::Spent,
            None => Met::New,
        }
    }

    /// Keeps an answer, unless others of the turn came in between: then as [`Self::meet`] says.
    pub(super) fn keep(&mut self, turn: &str, hint: String, block: Arc<str>) -> Met {
        let met = self.meet(turn, &hint);
        if met != Met::New {
            return met;
        }
        let turn: Arc<str> = turn.into();
        self.bytes += hint.len() + block.len();
        if !self.turns.contains_key(&turn) {
            self.order.push_back(turn.clone());
        }
        self.turns.entry(turn).or_default().push((hint, block.clone()));
        while self.order.len() > TURNS || (self.bytes > BYTES && self.order.len() > 1) {
            let Some(oldest) = self.order.pop_front() else { break };
            let gone = self.turns.remove(&oldest).unwrap_or_default();
            self.bytes -= gone.iter().map(|(hint, block)| hint.len() + block.len()).sum::<usize>();
        }
        Met::Known(block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_distinct_hints_and_as_many_repetitions_as_anybody_likes() {
        let mut hints = Hints::default();
        for (n, hint) in ["Login  page", "build", "release"].into_iter().enumerate() {
            assert_eq!(hints.meet("t", &normal(hint)), Met::New);
            hints.keep("t", normal(hint), format!("{n}").into());
        }
        assert_eq!(hints.meet("t", &normal(" login PAGE\n")), Met::Known("0".into()));
        assert_eq!(hints.meet("t", "fourth"), Met::Spent);
        assert_eq!(hints.keep("t", "fourth".to_owned(), "x".into()), Met::Spent, "a race changes nothing");
        assert_eq!(hints.keep("t", "build".to_owned(), "x".into()), Met::Known("1".into()));
        assert_eq!(hints.meet("u", "fourth"), Met::New, "another turn begins anew");
    }

    #[test]
    fn what_is_kept_is_bounded_by_turns_and_by_bytes() {
        let mut hints = Hints::default();
        for n in 0..TURNS + 10 {
            hints.keep(&n.to_string(), "h".to_owned(), "b".into());
        }
        assert_eq!((hints.turns.len(), hints.order.len()), (TURNS, TURNS));
        assert_eq!(hints.meet("9", "h"), Met::New);
        assert!(matches!(hints.meet("10", "h"), Met::Known(_)));
        let big: Arc<str> = "x".repeat(BYTES / 2).into();
        for n in 0..4 {
            hints.keep(&format!("big{n}"), "h".to_owned(), big.clone());
        }
        assert!(hints.bytes <= BYTES && matches!(hints.meet("big3", "h"), Met::Known(_)), "{}", hints.bytes);
    }
}
