//! The difference between two texts, line by line: made here for arguments, given by the engine for definitions, and
//! laid out whole, with `-` and `+` before the lines, so that colour is not needed to read it.

use std::sync::Arc;

use super::paint::{Row, Span};
use super::text_rows::TextRows;
use crate::engine::snapshot::DiffLine;
use crate::tui::theme::Role;

/// Differing parts with more pairs of lines than this are shown as all old lines, then all new ones.
const MAX_PAIRS: usize = 1 << 20;
/// Cells of the sign.
const SIGN: usize = 2;

/// Lines of a difference and their rows at the current width.
#[derive(Clone, Debug)]
pub struct DiffView {
    lines: Vec<(Role, &'static str, TextRows)>,
    /// The line and the part of it that each row shows.
    rows: Vec<(usize, usize)>,
}

impl DiffView {
    /// A view, not yet laid out.
    pub fn new(lines: &[DiffLine]) -> Self {
        let lines = lines.iter().map(|line| match line {
            DiffLine::Same(text) => (Role::Text, "  ", TextRows::new(text.clone())),
            DiffLine::Removed(text) => (Role::Failed, "- ", TextRows::new(text.clone())),
            DiffLine::Added(text) => (Role::Ready, "+ ", TextRows::new(text.clone())),
        });
        Self { lines: lines.collect(), rows: Vec::new() }
    }

    /// Breaks the lines into rows of at most `width` cells.
    pub fn layout(&mut self, width: usize) {
        self.rows.clear();
        for (index, (_, _, text)) in self.lines.iter_mut().enumerate() {
            text.layout(width.saturating_sub(SIGN));
            self.rows.extend((0..text.rows()).map(|part| (index, part)));
        }
    }

    /// Number of rows at the current width.
    pub const fn rows(&self) -> usize {
        self.rows.len()
    }

    /// One row, from 0; empty past the end.
    pub fn row(&self, index: usize) -> Row {
        let Some((line, part)) = self.rows.get(index) else { return Row::new() };
        let Some((role, sign, text)) = self.lines.get(*line) else { return Row::new() };
        let mut row = vec![Span::new(*role, if *part == 0 { sign } else { "  " })];
        row.extend(text.row(*part).iter().map(|span| Span::drawn(*role, span.text().to_owned())));
        row
    }
}

/// How many lines were removed and added.
pub fn changed(lines: &[DiffLine]) -> (usize, usize) {
    let count = |wanted: fn(&DiffLine) -> bool| lines.iter().filter(|line| wanted(line)).count();
    (count(|line| matches!(line, DiffLine::Removed(_))), count(|line| matches!(line, DiffLine::Added(_))))
}

/// All lines of both texts in order.
pub fn lines(old: &str, new: &str) -> Vec<DiffLine> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let same = |pair: &(&&str, &&str)| pair.0 == pair.1;
    let head = old.iter().zip(&new).take_while(same).count();
    let most = old.len().min(new.len()) - head;
    let tail = old.iter().rev().zip(new.iter().rev()).take(most).take_while(same).count();
    let part = |all: &[&str]| -> Vec<Arc<str>> {
        let inner = all.get(head..all.len() - tail).unwrap_or_default();
        inner.iter().map(|line| Arc::from(*line)).collect()
    };
    let outer = |range: &[&str]| -> Vec<DiffLine> { range.iter().map(|line| DiffLine::Same((*line).into())).collect() };
    let mut out = outer(new.get(..head).unwrap_or_default());
    out.extend(between(&part(&old), &part(&new)));
    out.extend(outer(new.get(new.len() - tail..).unwrap_or_default()));
    out
}

/// The difference of what has no common start or end, by a longest common subsequence.
fn between(old: &[Arc<str>], new: &[Arc<str>]) -> Vec<DiffLine> {
    let removed = |line: &Arc<str>| DiffLine::Removed(line.clone());
    let added = |line: &Arc<str>| DiffLine::Added(line.clone());
    if old.len().saturating_mul(new.len()) > MAX_PAIRS {
        return old.iter().map(removed).chain(new.iter().map(added)).collect();
    }
    let lengths = common(old, new);
    let at = |o: usize, n: usize| lengths.get(o).and_then(|row| row.get(n)).copied().unwrap_or(0);
    let (mut o, mut n, mut out) = (0, 0, Vec::new());
    loop {
        match (old.get(o), new.get(n)) {
            (Some(gone), Some(come)) if gone == come => {
                out.push(DiffLine::Same(come.clone()));
                (o, n) = (o + 1, n + 1);
            }
            (Some(gone), come) if come.is_none() || at(o + 1, n) >= at(o, n + 1) => {
                out.push(removed(gone));
                o += 1;
            }
            (_, Some(come)) => {
                out.push(added(come));
                n += 1;
            }
            _ => return out,
        }
    }
}

/// The length of the longest common subsequence of what follows each pair of places.
fn common(old: &[Arc<str>], new: &[Arc<str>]) -> Vec<Vec<u32>> {
    let mut rows = vec![vec![0_u32; new.len() + 1]];
    for line in old.iter().rev() {
        let below = rows.last().cloned().unwrap_or_default();
        let mut row = vec![0_u32; new.len() + 1];
        let mut right = 0;
        for (n, other) in new.iter().enumerate().rev() {
            let cell = |n: usize| below.get(n).copied().unwrap_or(0);
            right = if line == other { cell(n + 1) + 1 } else { cell(n).max(right) };
            if let Some(place) = row.get_mut(n) {
                *place = right;
            }
        }
        rows.push(row);
    }
    rows.reverse();
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn told(old: &str, new: &str) -> String {
        let one = |line: &DiffLine| match line {
            DiffLine::Same(text) => format!(" {text}"),
            DiffLine::Removed(text) => format!("-{text}"),
            DiffLine::Added(text) => format!("+{text}"),
        };
        lines(old, new).iter().map(one).collect::<Vec<_>>().join(",")
    }

    #[test]
    fn lines_are_told_apart() {
        for (old, new, expected) in [
            ("a\nb\nc", "a\nx\nc", " a,-b,+x, c"),
            ("a", "a", " a"),
            ("", "a\nb", "+a,+b"),
            ("a\nb", "", "-a,-b"),
            ("a\nb\nc\nd", "b\nc\ne\nd", "-a, b, c,+e, d"),
        ] {
            assert_eq!(told(old, new), expected, "{old:?} {new:?}");
        }
    }

    proptest! {
        #[test]
        fn both_texts_can_be_read_from_it(old in "[abc\n]{0,40}", new in "[abc\n]{0,40}") {
            let all = lines(&old, &new);
            let side = |skip: fn(&DiffLine) -> bool| -> Vec<String> {
                let kept = all.iter().filter(|line| !skip(line));
                kept.map(|line| match line {
                    DiffLine::Same(text) | DiffLine::Removed(text) | DiffLine::Added(text) => text.to_string(),
                }).collect()
            };
            prop_assert_eq!(side(|line| matches!(line, DiffLine::Added(_))), old.lines().collect::<Vec<_>>());
            prop_assert_eq!(side(|line| matches!(line, DiffLine::Removed(_))), new.lines().collect::<Vec<_>>());
        }
    }
}
