//! Drawing the work view.

use ratatui::buffer::Buffer;

use super::WorkPane;
use crate::rows::work::Head;
use crate::text::width;
use crate::tui::Draw;
use crate::tui::panes::two::{empty, title};
use crate::tui::theme::Role;
use crate::tui::widgets::cells::to_cells;
use crate::tui::widgets::paint::{Row, Span};
use crate::tui::widgets::table::{Align, Column, Width};

/// From this width on titles are at least so long that they say something.
const ROOMY: u16 = 50;
/// The widest column of keys.
const WIDEST_KEY: usize = 16;

const COLUMNS: [Column; 7] = [
    Column::stays("item", 5),
    Column::grows("title", 11),
    Column { title: "status", width: Width::Cells(13), align: Align::Left, rank: 0 },
    Column { rank: 1, ..Column::drops("who", 10) },
    Column { rank: 2, ..Column::drops("priority", 8) },
    Column { rank: 3, ..Column::drops("due", 10) },
    Column { rank: 4, ..Column::drops("changed", 16) },
];

impl WorkPane {
    pub(super) fn render_list(&self, buf: &mut Buffer, draw: &Draw<'_>) {
        let mut right = self.two.filtered();
        right.extend(self.listed().map(|listed| self.portion.count((listed.items.len(), listed.all))));
        let name = if self.trash { "Work · trash" } else { "Work" };
        let Some(inside) = self.two.list(buf, (name, right), draw) else { return };
        let listed = match &self.listed {
            Some(Ok(listed)) => listed,
            Some(Err(why)) => return empty(buf, inside, &[why], draw),
            None => return,
        };
        if listed.items.is_empty() {
            let texts: &[&str] = match (self.two.filter.text().is_empty(), self.trash) {
                (false, _) => &["Nothing passes the filter.", "Esc clears it."],
                (true, true) => &["The trash is empty."],
                (true, false) => &["No work items yet.", "n writes the first one; agents' items are listed here, too."],
            };
            return empty(buf, inside, texts, draw);
        }
        let visible = listed.items.get(self.two.pick.visible()).unwrap_or_default();
        let row = |item: &Head| (item.key.clone(), self.cells(item));
        self.two.rows(buf, (inside, &columns(visible, inside.width)), (listed.items.iter(), row), draw);
    }

    fn cells(&self, item: &Head) -> Vec<Row> {
        let over = is_over(&item.status);
        let role = if over || self.trash { Role::Dim } else { Role::Text };
        let text = |role, text: &str| vec![Span::new(role, text)];
        let (status, glyph) = status(&item.status);
        vec![
            text(Role::Dim, &item.key),
            text(role, &item.title),
            vec![Span::new(if over { Role::Dim } else { glyph }, &status)],
            text(Role::Text, item.assignee.as_deref().unwrap_or_default()),
            vec![priority(item.priority)],
            text(Role::Dim, item.due.as_deref().unwrap_or_default()),
            text(Role::Dim, &item.removed.unwrap_or(item.updated).day_and_time(&self.zone)),
        ]
    }

    pub(super) fn render_detail(&self, buf: &mut Buffer, draw: &Draw<'_>) {
        let name = self.made.as_ref().map_or("Item", |(key, _)| key);
        let Some(inside) = self.two.beside(buf, title(name, draw), draw) else { return };
        match (&self.shown, &self.made) {
            (_, None) => empty(buf, inside, &["Nothing is selected."], draw),
            (Some((_, Err(why))), _) => empty(buf, inside, &[why], draw),
            (Some((_, Ok(None))), _) => empty(buf, inside, &["It is not there any more."], draw),
            _ => self.two.detail.render(buf, inside, draw),
        }
    }
}

/// The columns: that of the keys as wide as these need; titles keep room before the others do, where there is some.
fn columns(items: &[Head], room: u16) -> [Column; COLUMNS.len()] {
    let widest = items.iter().map(|item| width(&item.key)).max().unwrap_or(0).clamp(5, WIDEST_KEY);
    let mut columns = COLUMNS;
    let title = if room < ROOMY { 11 } else { 20 };
    for (column, width) in columns.iter_mut().zip([Width::Cells(to_cells(widest)), Width::Rest(title)]) {
        column.width = width;
    }
    columns
}

/// A status as it is shown: its glyph and its words.
pub(super) fn status(status: &str) -> (String, Role) {
    let (glyph, role) = match status {
        "in_progress" => ("◐", Role::Starting),
        "in_review" => ("◔", Role::Accent),
        "done" => ("●", Role::Ready),
        "cancelled" | "closed" => ("–", Role::Stopped),
        _ => ("○", Role::Text),
    };
    (format!("{glyph} {}", status.replace('_', " ")), role)
}

pub(super) fn is_over(status: &str) -> bool {
    matches!(status, "done" | "cancelled" | "closed")
}

/// A priority as it is shown; none is a blank.
pub(super) fn priority(priority: &str) -> Span {
    match priority {
        "none" => Span::gap(0),
        "urgent" => Span::new(Role::Warning, priority),
        "high" => Span::new(Role::Text, priority),
        _ => Span::new(Role::Dim, priority),
    }
}
