//! How an agent connects: lines to paste for the usual programs, with the real address. A layer that `:connect` opens.
//!
//! The lines are those of [`crate::howto`]. Tokens are never shown: a line says where to get one.

use std::sync::Arc;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::engine::snapshot::Snapshot;
use crate::howto::{self, HowTo};
use crate::text;
use crate::tui::Draw;
use crate::tui::intent::{Effect, Intent};
use crate::tui::theme::Role;
use crate::tui::widgets::cells::{clear, put, row, to_cells, wrap};
use crate::tui::widgets::confirm::centred;
use crate::tui::widgets::panel::{Panel, Scroll, inner};

const WIDTH: u16 = 110;

/// See the module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Connect {
    title: String,
    /// What each program needs.
    lines: Vec<HowTo>,
    rows: Vec<(String, Role)>,
    top: usize,
    height: usize,
}

impl Connect {
    /// The lines for a seat, or why there are none. `program` is how this program is called to reach this instance.
    ///
    /// # Errors
    /// There is no address to connect to, or the seat cannot be one: says what to do.
    pub fn of(snapshot: &Snapshot, program: &[String], seat: &str) -> Result<Self, String> {
        let handle = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        if seat.is_empty() || seat.len() > 64 || !seat.chars().all(handle) {
            return Err(format!("\"{}\" is no seat's handle", text::visible(seat)));
        }
        let Some(address) = &snapshot.listener else {
            return Err(match &snapshot.listener_problem {
                Some(problem) => format!("no agent can connect: {}", text::clean(problem)),
                None => "no agent can connect: the listener is off; start with --listen 127.0.0.1:7420, or set \
                         engine.listen"
                    .to_owned(),
            });
        };
        Ok(Self {
            title: format!("Connect an agent to seat {seat}"),
            lines: howto::lines(program, Some(&text::visible(address)), seat),
            rows: Vec::new(),
            top: 0,
            height: 0,
        })
    }

    /// Fits it into the screen.
    pub fn layout(&mut self, screen: Rect) {
        let width = WIDTH.min(screen.width).saturating_sub(4);
        self.rows.clear();
        for how in &self.lines {
            self.rows.push((how.heading(), Role::Accent));
            self.rows.extend(wrap(&how.text, width).into_iter().map(|part| (part, Role::Text)));
            self.rows.push((String::new(), Role::Text));
        }
        let note = "No line holds the seat's token: the one above \"for what follows\" reads it where it runs.";
        self.rows.extend(wrap(note, width).into_iter().map(|part| (part, Role::Dim)));
        self.height = usize::from(inner(self.area(screen)).height);
        self.top = self.top.min(self.rows.len().saturating_sub(self.height));
    }

    /// Scrolls or copies. `None` when it should close.
    pub fn apply(&mut self, intent: Intent) -> Option<Vec<Effect>> {
        let page = self.height.saturating_sub(1).max(1);
        let most = self.rows.len().saturating_sub(self.height);
        self.top = match intent {
            Intent::Up => self.top.saturating_sub(1),
            Intent::Down => self.top + 1,
            Intent::PageUp => self.top.saturating_sub(page),
            Intent::PageDown => self.top + page,
            Intent::Top => 0,
            Intent::Bottom => most,
            Intent::Copy => return Some(vec![Effect::Copy(self.text())]),
            Intent::Back => return None,
            _ => self.top,
        }
        .min(most);
        Some(Vec::new())
    }

    /// Draws it in the middle of `screen`.
    pub fn render(&self, screen: Rect, buf: &mut Buffer, draw: &Draw<'_>) {
        let area = self.area(screen);
        clear(buf, area);
        let scroll = Some(Scroll { above: self.top, shown: self.height, total: self.rows.len() });
        let panel = Panel { title: &self.title, right: "c copies, Esc closes", focused: true, scroll, heavy: false };
        let inside = panel.render(buf, area, draw.theme);
        let place = Rect { x: inside.x + 1.min(inside.width), width: inside.width.saturating_sub(2), ..inside };
        for (n, (line, role)) in (0..inside.height).zip(self.rows.iter().skip(self.top)) {
            put(buf, row(place, n), line, draw.theme.style(*role));
        }
    }

    fn text(&self) -> Arc<str> {
        let blocks: Vec<String> = self.lines.iter().map(|how| format!("# {}\n{}\n", how.heading(), how.text)).collect();
        blocks.concat().into()
    }

    fn area(&self, screen: Rect) -> Rect {
        centred(screen, WIDTH, to_cells(self.rows.len() + 2))
    }
}
