//! Drawing the sheet: the question above, the answer below, the keys at the foot.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::Widget as _;

use super::Sheet;
use crate::tui::Draw;
use crate::tui::editor::escape;
use crate::tui::format::plural;
use crate::tui::theme::Role;
use crate::tui::widgets::border::{Frame, Weight};
use crate::tui::widgets::cells::{clear, to_cells};
use crate::tui::widgets::paint::{Row, Span, clock, flow, put_rows, wrap_capped};
use crate::tui::widgets::text_rows::TextRows;

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
        clear(buf, area);
        let title = [Span::new(Role::Title, &format!("Answer {}", self.question.from))];
        let left = self.question.waits_until.filter(|until| self.question.is_open() && *until > draw.now);
        let right = match left {
            Some(until) => vec![Span::new(Role::Dim, &format!("waits {}", clock(until.since(draw.now))))],
            None => Row::new(),
        };
        let frame = Frame { title: &title, right: &right, role: Role::BorderFocused, weight: Weight::Thin };
        let inside = frame.draw(buf, area, draw.theme);
        let inside = Rect { x: inside.x + 1, width: inside.width.saturating_sub(2), ..inside };
        let foot = self.foot(usize::from(inside.width));
        let below = to_cells(foot.len()).min(inside.height / 2);
        // The answer has half of what the foot leaves.
        let most = inside.height.saturating_sub(below) / 2;
        let head = self.head(usize::from(inside.width), usize::from(most));
        let above = to_cells(head.len());
        put_rows(buf, Rect { height: above, ..inside }, &head, draw.theme);
        let body = Rect { y: inside.y + above, height: inside.height.saturating_sub(above + below), ..inside };
        (&self.area).render(body, buf);
        escape(buf, body, draw);
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
        let item = |(key, meaning): &(&str, &str)| {
            vec![Span::new(Role::Key, key), Span::new(Role::Text, &format!(" {meaning}"))]
        };
        let keys: Vec<Row> = keys.iter().map(item).collect();
        rows.extend(flow(&keys, &Span::gap(2), (0, width)));
        rows
    }
}
