//! A list and its detail: side by side where there is room, else one at a time; and the frame and table that the
//! tools, approvals and calls panes share.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::tui::Draw;
use crate::tui::intent::Intent;
use crate::tui::theme::Role;
use crate::tui::widgets::border::{Frame, Weight};
use crate::tui::widgets::cells::to_cells;
use crate::tui::widgets::paint::{Row, Span, fit_row, line, put, put_rows, row_width, wrap};
use crate::tui::widgets::table::{Align, Column, Places, bar, headings};

/// From this width on list and detail stand side by side.
const SIDE_BY_SIDE: u16 = 100;

/// Which of the two has the keys.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Focus {
    /// The list.
    #[default]
    List,
    /// The detail.
    Detail,
}

impl Focus {
    /// The other one.
    pub(super) const fn other(self) -> Self {
        match self {
            Self::List => Self::Detail,
            Self::Detail => Self::List,
        }
    }
}

/// Where list and detail stand; an empty area is not drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Split {
    pub(super) list: Rect,
    pub(super) detail: Rect,
}

impl Split {
    /// Divides an area.
    pub(super) const fn of(area: Rect, focus: Focus) -> Self {
        let none = Rect { width: 0, height: 0, ..area };
        if area.width >= SIDE_BY_SIDE {
            // Tables need a little more than half.
            let left = area.width / 16 * 9;
            let list = Rect { width: left, ..area };
            let detail = Rect { x: area.x.saturating_add(left), width: area.width - left, ..area };
            return Self { list, detail };
        }
        match focus {
            Focus::List => Self { list: area, detail: none },
            Focus::Detail => Self { list: none, detail: area },
        }
    }

    /// Cells for text in the detail: with the border and a margin taken off.
    pub(super) fn detail_width(&self) -> usize {
        usize::from(self.detail.width).saturating_sub(4)
    }
}

/// True for the intents that switch between list and detail.
pub(super) const fn switches(intent: Intent) -> bool {
    matches!(intent, Intent::Next | Intent::Previous)
}

/// Draws a pane's frame and returns what is inside, less a margin of one cell at each side.
pub(super) fn frame(buf: &mut Buffer, area: Rect, (title, right): (Row, Row), draw: &Draw<'_>) -> Rect {
    let role = if draw.focused { Role::BorderFocused } else { Role::Border };
    let frame = Frame { title: &title, right: &right, role, weight: Weight::Thin };
    let inside = frame.draw(buf, area, draw.theme);
    Rect { x: inside.x.saturating_add(1), width: inside.width.saturating_sub(2), ..inside }
}

/// The title of a pane: bold where the focus is.
pub(super) fn title(text: &str, draw: &Draw<'_>) -> Row {
    vec![Span::new(if draw.focused { Role::Title } else { Role::Dim }, text)]
}

/// A row of a table.
pub(super) struct Line {
    /// Its cells, in the order of the columns.
    pub(super) cells: Vec<Row>,
    /// Whether it is selected.
    pub(super) selected: bool,
}

/// Draws headings and rows, over the margin that [`frame`] left: the bar of the selection stands there.
pub(super) fn table(buf: &mut Buffer, area: Rect, (columns, lines): (&[Column], &[Line]), draw: &Draw<'_>) {
    let area = Rect { x: area.x.saturating_sub(1), width: area.width.saturating_add(2), ..area };
    let area = area.intersection(*buf.area());
    let places = Places::of(columns, area.width);
    headings(buf, line(area, 0).unwrap_or_default(), columns, draw.theme);
    for (down, entry) in lines.iter().enumerate() {
        let Some(place) = line(area, down + 1) else { return };
        for (index, (cell, column)) in entry.cells.iter().zip(columns).enumerate() {
            let at = places.cell(place, index);
            let fitted = fit_row(cell, usize::from(at.width));
            let blank = usize::from(at.width).saturating_sub(row_width(&fitted));
            let x = if column.align == Align::Right { at.x + to_cells(blank) } else { at.x };
            put(buf, Rect { x, width: at.right().saturating_sub(x), ..at }, &fitted, draw.theme);
        }
        if entry.selected {
            bar(buf, place, draw.theme);
        }
    }
}

/// Draws an explanation where there is nothing to list.
pub(super) fn empty(buf: &mut Buffer, area: Rect, texts: &[&str], draw: &Draw<'_>) {
    let rows: Vec<Row> =
        texts.iter().flat_map(|text| wrap(&[Span::new(Role::Dim, text)], usize::from(area.width))).collect();
    put_rows(buf, area, &rows, draw.theme);
}
