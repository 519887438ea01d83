//! Long foreign text (a result, a description) broken into rows of a width, whole: only places are kept, and a row is
//! made when it is drawn.

use std::sync::Arc;

use super::json_view::units::units;
use super::paint::{Row, Span, shown};
use crate::text;
use crate::tui::theme::Role;

/// A text and its rows at the current width.
#[derive(Clone, Debug)]
pub struct TextRows {
    text: Arc<str>,
    width: usize,
    rows: Vec<(usize, usize)>,
}

impl TextRows {
    /// A text, not yet laid out.
    pub const fn new(text: Arc<str>) -> Self {
        Self { text, width: 0, rows: Vec::new() }
    }

    /// Breaks the text at its line breaks and at `width` cells. Does nothing when the width is the same as before.
    pub fn layout(&mut self, width: usize) {
        // The longest escape of one character has ten cells.
        let width = width.max(10);
        if width == self.width {
            return;
        }
        self.width = width;
        self.rows.clear();
        let mut start = 0;
        for line in self.text.split('\n') {
            break_line(line, start, (width, &mut self.rows));
            start += line.len() + 1;
        }
    }

    /// Number of rows at the current width.
    pub const fn rows(&self) -> usize {
        self.rows.len()
    }

    /// One row, from 0; empty past the end.
    pub fn row(&self, index: usize) -> Row {
        let range = self.rows.get(index).and_then(|(from, to)| self.text.get(*from..*to));
        let drawn = units(range.unwrap_or_default()).map(|unit| shown(unit.text()).0).collect();
        vec![Span::drawn(Role::Text, drawn)]
    }
}

fn break_line(line: &str, start: usize, (width, rows): (usize, &mut Vec<(usize, usize)>)) {
    // A carriage return before the line break is part of it.
    let line = line.strip_suffix('\r').unwrap_or(line);
    let (mut from, mut at) = (0, 0);
    let mut space = None;
    let mut filled = Filled::default();
    // The units of the row and where they begin. How one is drawn can depend on what follows it in the line.
    let mut row: Vec<(usize, String)> = Vec::new();
    for unit in units(line) {
        let drawn = shown(unit.text()).0;
        if filled.with(&drawn) > width && at > from {
            // What is carried over has to leave room for this unit.
            let carried = |to| {
                let mut filled = Filled::default();
                row.iter().filter(|(start, _)| *start >= to).for_each(|(_, drawn)| filled.push(drawn));
                filled
            };
            let to = space.filter(|space| *space > from && carried(*space).with(&drawn) <= width).unwrap_or(at);
            rows.push((start + from, start + to));
            (filled, from, space) = (carried(to), to, None);
            row.retain(|(start, _)| *start >= to);
        }
        filled.push(&drawn);
        row.push((at, drawn.into_owned()));
        at += unit.text().len();
        if unit.text() == " " {
            space = Some(at);
        }
    }
    rows.push((start + from, start + at));
}

/// The cells of a row that is being filled. Units can join what stands before them into one cluster, so they are
/// measured together from the last place at which nothing can.
#[derive(Default)]
struct Filled {
    before: usize,
    last: String,
}

impl Filled {
    /// The cells with one more unit.
    fn with(&self, unit: &str) -> usize {
        if self.parts_from(unit) {
            return self.before + text::width(&self.last) + text::width(unit);
        }
        self.before + text::width(&format!("{}{unit}", self.last))
    }

    fn push(&mut self, unit: &str) {
        if self.parts_from(unit) {
            self.before += text::width(&self.last);
            self.last.clear();
        }
        self.last.push_str(unit);
    }

    fn parts_from(&self, unit: &str) -> bool {
        unit.chars().next().is_some_and(never_joins) && self.last.chars().next_back().is_none_or(never_joins)
    }
}

/// Characters between two of which a cluster always ends: printable ASCII, kana and the common ideographs.
const fn never_joins(c: char) -> bool {
    matches!(c, ' '..='~' | '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fa}' | '\u{4e00}'..='\u{9fff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::widgets::paint::{row_text, row_width};
    use proptest::prelude::*;

    fn lines(text: &str, width: usize) -> Vec<String> {
        let mut rows = TextRows::new(text.into());
        rows.layout(width);
        (0..rows.rows()).map(|index| row_text(&rows.row(index))).collect()
    }

    #[test]
    fn text_breaks_at_line_breaks_and_spaces() {
        assert_eq!(lines("one two three four\r\n\nfive", 10), ["one two ", "three four", "", "five"]);
        assert_eq!(lines("abcdefghijklmno", 10), ["abcdefghij", "klmno"]);
        assert_eq!(lines("a\u{1b}[2J", 12), [crate::text::visible("a\u{1b}[2J")]);
    }

    #[test]
    fn characters_that_join_are_measured_together() {
        // Flags pair up from the first letter on, wherever units end.
        for count in 1..40 {
            let mut rows = TextRows::new(format!("ab{}", "\u{1f1e9}\u{1f1ea}\u{1f1eb}".repeat(count)).into());
            rows.layout(11);
            assert!((0..rows.rows()).all(|index| row_width(&rows.row(index)) <= 11), "{count}");
        }
    }

    #[test]
    fn what_is_drawn_by_what_follows_it_is_measured_so() {
        // The mark is drawn as an escape because of the joiner behind it, also when a row breaks between them.
        let text = format!("{} {}!\u{10eab}\u{200d}{}", "a".repeat(13), "0".repeat(18), "a".repeat(20));
        let mut rows = TextRows::new(text.into());
        rows.layout(42);
        assert!((0..rows.rows()).all(|index| row_width(&rows.row(index)) <= 42));
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_nothing_is_too_wide(text in "[\\PC\n\u{9b}\u{200d}\u{301} ]{0,200}", width in 0_usize..50) {
            let mut rows = TextRows::new(text.as_str().into());
            rows.layout(width);
            let kept: usize = rows.rows.iter().map(|(from, to)| to - from).sum();
            prop_assert_eq!(kept, text.replace('\n', "").len());
            for index in 0..rows.rows() {
                prop_assert!(row_width(&rows.row(index)) <= width.max(10), "{:?}", rows.row(index));
                prop_assert!(!row_text(&rows.row(index)).chars().any(char::is_control));
            }
        }
    }
}
