//! Columns of a table: which ones there is room for, and rows cut to them.
//!
//! Columns that may go are dropped from the right. Pure.

use crate::tui::theme::Role;
use crate::tui::widgets::paint::{Row, Span, fit_row, row_width};

/// Cells between columns.
const GAP: usize = 2;

/// A column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    /// Its heading.
    pub(super) title: &'static str,
    /// Its width in cells; of a column that grows, its least.
    pub(super) width: usize,
    /// How it behaves.
    pub(super) kind: Kind,
}

/// How a column behaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// Takes what is left; never dropped.
    Grows,
    /// Always there.
    Stays,
    /// Goes when there is no room.
    Drops,
    /// Goes when there is no room; numbers stand at the right.
    Number,
}

/// The columns that fit, each with its width; `None` for those that were dropped.
pub(super) fn fit(columns: &[Column], width: usize) -> Vec<Option<(usize, Kind)>> {
    let mut kept: Vec<bool> = columns.iter().map(|_| true).collect();
    let used = |kept: &[bool]| {
        let widths: Vec<usize> = columns.iter().zip(kept).filter(|(_, kept)| **kept).map(|(c, _)| c.width).collect();
        widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1)
    };
    while used(&kept) > width {
        let may_go = |(index, column): (usize, &Column)| {
            let goes = matches!(column.kind, Kind::Drops | Kind::Number) && kept.get(index) == Some(&true);
            goes.then_some(index)
        };
        let Some(last) = columns.iter().enumerate().rev().find_map(may_go) else { break };
        if let Some(flag) = kept.get_mut(last) {
            *flag = false;
        }
    }
    let spare = width.saturating_sub(used(&kept));
    let growing =
        columns.iter().zip(&kept).filter(|(column, kept)| column.kind == Kind::Grows && **kept).count().max(1);
    let mut extra = spare % growing;
    let widths = columns.iter().zip(&kept).map(|(column, kept)| {
        let more = if column.kind == Kind::Grows { spare / growing + std::mem::take(&mut extra) } else { 0 };
        kept.then_some((column.width + more, column.kind))
    });
    widths.collect()
}

/// One row of a table: each cell cut to its column and padded.
pub(super) fn row(cells: Vec<Row>, places: &[Option<(usize, Kind)>]) -> Row {
    let mut row = Row::new();
    let mut gap = 0;
    for (cell, place) in cells.into_iter().zip(places) {
        let Some((width, kind)) = place else { continue };
        let cell = fit_row(&cell, *width);
        let blank = width.saturating_sub(row_width(&cell));
        let (before, after) = if *kind == Kind::Number { (blank, 0) } else { (0, blank) };
        row.push(Span::gap(gap + before));
        row.extend(cell);
        gap = GAP + after;
    }
    row
}

/// The row of headings.
pub(super) fn head(columns: &[Column], places: &[Option<(usize, Kind)>]) -> Row {
    row(columns.iter().map(|column| vec![Span::new(Role::Dim, column.title)]).collect(), places)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::widgets::paint::row_text;

    const COLUMNS: [Column; 4] = [
        Column { title: "name", width: 8, kind: Kind::Grows },
        Column { title: "class", width: 5, kind: Kind::Stays },
        Column { title: "calls", width: 5, kind: Kind::Number },
        Column { title: "who", width: 6, kind: Kind::Drops },
    ];

    fn line(width: usize) -> String {
        let cells = ["a_rather_long_name", "read", "7", "me"].map(|text| vec![Span::new(Role::Text, text)]);
        row_text(&row(cells.to_vec(), &fit(&COLUMNS, width)))
    }

    #[test]
    fn columns_drop_from_the_right_and_the_name_takes_the_rest() {
        assert_eq!(line(40), "a_rather_long_name  read       7  me");
        assert_eq!(line(30), "a_rathe…  read       7  me");
        assert_eq!(line(24), "a_rather_…  read       7");
        assert_eq!(line(16), "a_rather…  read");
        assert_eq!(line(3), "a_rathe…  read", "what stays is clipped when it is drawn");
    }
}
