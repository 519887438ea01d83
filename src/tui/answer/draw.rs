//! Drawing the sheet: the question above, the answer below, the keys at the foot.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::Sheet;
use crate::tui::Draw;
use crate::tui::format::plural;
use crate::tui::theme::Role;
use crate::tui::widgets::cells::to_cells;
use crate::tui::widgets::paint::{Row, Span, clock, put_rows, wrap_capped};
use crate::tui::widgets::text_rows::TextRows;
use crate::tui::writing;

/// The widest sheet.
const MAX_WIDTH: u16 = 100;

impl Sheet {
    /// Draws the sheet over whatever is there.
    pub fn render(&self, screen: Rect, buf: &mut Buffer, draw: &Draw<'_>) {
        let screen = self.screen.intersection(screen).intersection(*buf.area());
        let width = screen.width.min(MAX_WIDTH);
        let area = Rect { x: screen.x + (screen.width - width) / 2, width, ..screen };
        if area.width < 8 || area.height < 6 {
            return;
        }
        let left = self.question.waits_until.filter(|until| self.question.is_open() && *until > draw.now);
        let right = match left {
            Some(until) => vec![Span::new(Role::Dim, &format!("waits {}", clock(until.since(draw.now))))],
            None => Row::new(),
        };
        let inside = writing::sheet(buf, area, (&format!("Answer {}", self.question.from), &right), draw);
        let foot = self.foot(usize::from(inside.width));
        let below = to_cells(foot.len()).min(inside.height / 2);
        // The answer has half of what the foot leaves.
        let most = inside.height.saturating_sub(below) / 2;
        let head = self.head(usize::from(inside.width), usize::from(most));
        let above = to_cells(head.len());
        put_rows(buf, Rect { height: above, ..inside }, &head, draw.theme);
        let body = Rect { y: inside.y + above, height: inside.height.saturating_sub(above + below), ..inside };
        self.body.render(body, buf, draw);
        put_rows(buf, Rect { y: body.bottom(), height: below, ..inside }, &foot, draw.theme);
    }

    /// What is asked, as far as there is room, and a line of blanks.
    fn head(&self, width: usize, most: usize) -> Vec<Row> {
        let mut text = TextRows::new(self.question.brief.clone());
        text.layout(width);
        let room = most.saturating_sub(1).max(1);
        let shown = if text.rows() > room { room.saturating_sub(1) } else { text.rows() };
        let mut rows: Vec<Row> = (0..shown).map(|row| text.row(row)).collect();
        if let Some(hidden) = text.rows().checked_sub(shown).filter(|hidden| *hidden > 0) {
            let words = format!("… {} (Esc, Tab: whole)", plural(hidden, "more line"));
            rows.push(vec![Span::new(Role::Dim, &words)]);
        }
        rows.push(vec![Span::new(Role::Dim, &"─".repeat(width))]);
        rows
    }

    fn foot(&self, width: usize) -> Vec<Row> {
        let mut rows = Vec::new();
        let over = self.over();
        if let Some(over) = &over {
            rows.extend(wrap_capped(&[Span::new(Role::Warning, over)], width, 2));
        } else if let Some(message) = &self.message {
            rows.extend(wrap_capped(&[Span::new(Role::Failed, message)], width, 2));
        }
        let keys: &[(&str, &str)] = if over.is_some() {
            &[("Esc", "close: it cannot be sent any more")]
        } else {
            &[("Ctrl-S", "send…"), ("Ctrl-U", "undo"), ("Esc", "leave, keeping it")]
        };
        rows.extend(writing::keys(keys, 2, width));
        rows
    }
}
