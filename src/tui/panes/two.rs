//! A list and its detail: side by side where there is room, else one at a time; and the frame and table that the
//! tools, approvals and calls panes share.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::columns::{Column, fit, head};
use crate::tui::Draw;
use crate::tui::intent::Intent;
use crate::tui::theme::Role;
use crate::tui::widgets::border::{Frame, Weight};
use crate::tui::widgets::paint::{Row, Span, fit_row, line, put, put_over, put_rows, selection, wrap};

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

/// A row of a table with its place in the selection.
pub(super) struct Line {
    /// The row.
    pub(super) row: Row,
    /// Whether it is selected.
    pub(super) selected: bool,
}

/// Draws headings and rows.
pub(super) fn table(buf: &mut Buffer, area: Rect, (columns, lines): (&[Column], &[Line]), draw: &Draw<'_>) {
    let places = fit(columns, usize::from(area.width).saturating_sub(2));
    let headings = shifted(head(columns, &places), " ");
    if let Some(place) = line(area, 0) {
        put(buf, place, &headings, draw.theme);
    }
    for (down, entry) in lines.iter().enumerate() {
        let Some(place) = line(area, down + 1) else { return };
        let bar = if draw.theme.ascii { ">" } else { "▌" };
        let row = shifted(entry.row.clone(), if entry.selected { bar } else { " " });
        if !entry.selected {
            put(buf, place, &row, draw.theme);
            continue;
        }
        let style = if draw.focused { selection(draw.theme) } else { Style::new().add_modifier(Modifier::BOLD) };
        let blank = Span::gap(usize::from(place.width));
        put_over(buf, place, &[blank], (draw.theme, style));
        put_over(buf, place, &fit_row(&row, usize::from(place.width)), (draw.theme, style));
    }
}

fn shifted(mut row: Row, mark: &str) -> Row {
    row.insert(0, Span::new(Role::Accent, &format!("{mark} ")));
    row
}

/// Draws an explanation where there is nothing to list.
pub(super) fn empty(buf: &mut Buffer, area: Rect, texts: &[&str], draw: &Draw<'_>) {
    let rows: Vec<Row> =
        texts.iter().flat_map(|text| wrap(&[Span::new(Role::Dim, text)], usize::from(area.width))).collect();
    put_rows(buf, area, &rows, draw.theme);
}
