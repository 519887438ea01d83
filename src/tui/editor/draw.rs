//! Drawing the call editor.

use std::time::Instant;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::Widget as _;

use super::{CallEditor, Purpose};
use crate::text;
use crate::tui::Draw;
use crate::tui::format::plural;
use crate::tui::theme::Role;
use crate::tui::widgets::border::{Frame, Weight};
use crate::tui::widgets::cells::{clear, to_cells, width as cells_of};
use crate::tui::widgets::paint::{Row, Span, fit_row, put_rows, wrap_capped};
use crate::tui::widgets::{badge, schema};
use crate::tui::writing::keys;

/// The widest editor.
const MAX_WIDTH: u16 = 120;
/// From this width on the schema's arguments stand beside the text.
const WIDE: u16 = 90;
/// Rows for problems.
const MAX_PROBLEMS: usize = 6;

impl CallEditor {
    /// Draws the editor over whatever is there.
    pub fn render(&self, screen: Rect, buf: &mut Buffer, draw: &Draw<'_>, _at: Instant) {
        self.render_with(screen, buf, (draw, &[]));
    }

    /// As [`Self::render`], with something at the right of the title.
    pub fn render_with(&self, screen: Rect, buf: &mut Buffer, (draw, right): (&Draw<'_>, &[Span])) {
        let screen = self.screen.intersection(screen).intersection(*buf.area());
        let width = screen.width.min(MAX_WIDTH);
        let area = Rect { x: screen.x + (screen.width - width) / 2, width, ..screen };
        if area.width < 8 || area.height < 4 {
            return;
        }
        clear(buf, area);
        let title = [
            Span::new(Role::Title, &format!("{} {}", self.verb(), self.entry.name)),
            Span::gap(1),
            badge::class(self.entry.class()),
        ];
        let frame = Frame { title: &title, right, role: Role::BorderFocused, weight: Weight::Thin };
        let inside = frame.draw(buf, area, draw.theme);
        let inside = Rect { x: inside.x + 1, width: inside.width.saturating_sub(2), ..inside };
        let (head, foot) = (self.head(usize::from(inside.width)), self.foot(usize::from(inside.width)));
        let rows = |count: usize| u16::try_from(count).unwrap_or(u16::MAX);
        let head_height = if inside.height > 10 { rows(head.len()).min(inside.height) } else { 0 };
        let foot_height = rows(foot.len()).min(inside.height.saturating_sub(head_height + 1));
        let middle = inside.height.saturating_sub(head_height + foot_height);
        put_rows(buf, Rect { height: head_height, ..inside }, &head, draw.theme);
        let body = Rect { y: inside.y + head_height, height: middle, ..inside };
        self.body(buf, body, draw);
        let below = Rect { y: body.bottom(), height: foot_height, ..inside };
        put_rows(buf, below, &foot, draw.theme);
    }

    const fn verb(&self) -> &'static str {
        match self.purpose {
            Purpose::Call => "Call",
            Purpose::Question => "Edit",
        }
    }

    fn body(&self, buf: &mut Buffer, body: Rect, draw: &Draw<'_>) {
        let beside = if body.width >= WIDE { body.width / 3 } else { 0 };
        let text = Rect { width: body.width.saturating_sub(beside), ..body };
        let list = Rect { x: text.right().saturating_add(2), width: beside.saturating_sub(2), ..body };
        let takes = self.takes(if beside > 0 { list.width } else { body.width });
        // Without room beside the text the list stands below it, as far as the text leaves rows.
        let blank = body.height.saturating_sub(self.text_rows(body.width) + 1);
        let below = if beside > 0 || blank < 3 { 0 } else { blank.min(to_cells(takes.len())) };
        let text = Rect { height: body.height - below, ..text };
        if !text.is_empty() {
            (&self.area).render(text, buf);
            escape(buf, text, draw);
        }
        let list = if beside > 0 { list } else { Rect { y: text.bottom(), height: below, ..body } };
        if !list.is_empty() {
            let mut takes = takes;
            let most = usize::from(list.height);
            if takes.len() > most {
                let hidden = plural(takes.len() - most.saturating_sub(1), "more line");
                takes.truncate(most.saturating_sub(1));
                takes.push(vec![Span::new(
                    Role::Dim,
                    &format!("… {hidden}: enlarge the terminal, or s in the tools view"),
                )]);
            }
            put_rows(buf, list, &takes, draw.theme);
        }
    }

    /// The arguments that the tool takes, in rows.
    fn takes(&self, width: u16) -> Vec<Row> {
        let mut rows = vec![vec![Span::new(Role::Dim, "takes (* required)")]];
        let arguments = schema::arguments(&self.entry.input_schema);
        rows.extend(arguments.iter().flat_map(|row| wrap_capped(row, usize::from(width), 2)));
        rows
    }

    /// Rows that the text takes at this width.
    fn text_rows(&self, width: u16) -> u16 {
        let width = usize::from(width.max(1));
        let rows = self.area.lines().iter().map(|line| cells_of(line).div_ceil(width).max(1));
        to_cells(rows.sum())
    }

    fn head(&self, width: usize) -> Vec<Row> {
        let entry = &self.entry;
        let about = entry.description.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let name = vec![
            Span::new(Role::Text, entry.server.as_str()),
            Span::new(Role::Dim, " :: "),
            Span::new(Role::Text, &entry.raw_name),
            Span::new(Role::Dim, &format!("  on {}", entry.connection)),
        ];
        vec![fit_row(&name, width), fit_row(&[Span::new(Role::Dim, about)], width), Row::new()]
    }

    fn foot(&self, width: usize) -> Vec<Row> {
        let mut rows = Vec::new();
        if let Some(message) = &self.message {
            rows.extend(wrap_capped(&[Span::new(Role::Failed, message)], width, 3));
        }
        for problem in self.problems.iter().take(MAX_PROBLEMS) {
            let path = if problem.path.is_empty() { "(whole)" } else { &problem.path };
            let row = [Span::new(Role::Warning, &format!("{path}  ")), Span::new(Role::Text, &problem.text)];
            rows.extend(wrap_capped(&row, width, 2));
        }
        if let Some(more) = self.problems.len().checked_sub(MAX_PROBLEMS).filter(|more| *more > 0) {
            rows.push(vec![Span::new(Role::Dim, &format!("and {}", plural(more, "more problem")))]);
        }
        if self.leaving {
            let ask = match self.purpose {
                Purpose::Call => "close without sending? what you wrote is lost: y yes, any other key no",
                Purpose::Question => "back to the card? what you wrote is lost: y yes, any other key no",
            };
            rows.extend(wrap_capped(&[Span::new(Role::Alert, ask)], width, 2));
            return rows;
        }
        let (done, leave) = match self.purpose {
            Purpose::Call => ("send", "close"),
            Purpose::Question => ("check, and look at the difference", "back to the card"),
        };
        rows.extend(keys(&[("Ctrl-S", done), ("Ctrl-U", "undo"), ("Esc", leave)], 2, width));
        rows
    }
}

/// The text comes from a widget that knows nothing of hidden characters: whatever got past the editor's own escapes
/// (marks that came together when what stood between them was deleted) is replaced in its cell.
pub(in crate::tui) fn escape(buf: &mut Buffer, area: Rect, draw: &Draw<'_>) {
    for position in area.intersection(*buf.area()).positions() {
        let Some(cell) = buf.cell_mut(position) else { continue };
        if !cell.symbol().is_ascii() && text::has_hidden(cell.symbol()) {
            cell.set_symbol("?").set_style(draw.theme.style(Role::Alert));
        }
    }
}
