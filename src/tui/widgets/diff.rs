//! The difference between two texts, line by line, laid out whole, with `-` and `+` before the lines, so that colour is
//! not needed to read it. The lines come from the engine's comparison.

use super::paint::{Row, Span};
use super::text_rows::TextRows;
use crate::engine::snapshot::DiffLine;
use crate::tui::theme::Role;

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::widgets::paint::row_text;

    #[test]
    fn signs_stand_before_lines_and_long_lines_are_whole() {
        let lines = [
            DiffLine::Same("same".into()),
            DiffLine::Removed("old".into()),
            DiffLine::Added("a new line that is long".into()),
        ];
        let mut view = DiffView::new(&lines);
        view.layout(14);
        let rows: Vec<String> = (0..view.rows()).map(|index| row_text(&view.row(index))).collect();
        assert_eq!(rows, ["  same", "- old", "+ a new line ", "  that is long"]);
        assert_eq!(changed(&lines), (1, 1));
    }
}
