//! A text of many lines while a person writes it, and the frame of the sheets that it is written on.
//!
//! Sheets own one for each long text. How long a text may be and what becomes of it is theirs to say.

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::widgets::Widget as _;
use tui_textarea::{CursorMove, TextArea, WrapMode};

use super::Draw;
use super::editor::{escape, plain, text_area};
use super::theme::Role;
use super::widgets::border::{Frame, Weight};
use super::widgets::cells::clear;
use super::widgets::paint::{Row, Span, flow};
use crate::text;

/// What is said when something of a pasted text was not taken.
pub const LEFT_OUT: &str = "characters that cannot be seen were left out";

/// See the module.
#[derive(Clone, Debug)]
pub struct Writing(Box<TextArea<'static>>);

impl Writing {
    /// Begins with this text.
    pub fn new(text: &str) -> Self {
        let mut area = text_area(text);
        area.set_wrap_mode(WrapMode::WordOrGlyph);
        Self(Box::new(area))
    }

    /// What is written.
    pub fn text(&self) -> String {
        self.0.lines().join("\n")
    }

    /// True while there are only blanks.
    pub fn is_blank(&self) -> bool {
        self.0.lines().iter().all(|line| line.trim().is_empty())
    }

    /// Characters, line breaks among them.
    pub fn length(&self) -> usize {
        self.0.lines().iter().map(|line| line.chars().count() + 1).sum()
    }

    /// Takes a key press; what could not be seen is not written.
    pub fn key(&mut self, key: KeyEvent) {
        match key.code {
            // Marks come together with what stands before them: only what can be seen is written.
            KeyCode::Char(c) if plain(key) => self.insert(&seen(c.encode_utf8(&mut [0; 4])).0),
            _ => _ = self.0.input(key),
        }
    }

    /// Takes what [`seen`] has let through.
    pub fn insert(&mut self, seen: &str) {
        self.0.insert_str(seen);
    }

    /// Shows the cursor or hides it.
    pub fn focus(&mut self, has_keys: bool) {
        let style = if has_keys { Style::new().add_modifier(Modifier::REVERSED) } else { Style::new() };
        self.0.set_cursor_style(style);
    }

    /// Goes behind what is written.
    pub fn go_behind(&mut self) {
        self.0.move_cursor(CursorMove::Bottom);
        self.0.move_cursor(CursorMove::End);
    }

    /// Draws it.
    pub fn render(&self, area: Rect, buf: &mut Buffer, draw: &Draw<'_>) {
        (&*self.0).render(area, buf);
        escape(buf, area, draw);
    }
}

/// Text from outside without what would not be seen, line breaks aside; and whether anything was left out.
pub fn seen(written: &str) -> (String, bool) {
    let written = written.replace("\r\n", "\n").replace('\r', "\n").replace('\t', "  ");
    let mut seen = String::with_capacity(written.len());
    let mut from = 0;
    for (at, c) in text::escapes(&written).filter(|(_, c)| *c != '\n') {
        seen.push_str(written.get(from..at).unwrap_or_default());
        from = at + c.len_utf8();
    }
    seen.push_str(written.get(from..).unwrap_or_default());
    let is_less = seen.len() < written.len();
    (seen, is_less)
}

/// Draws the frame of a sheet over whatever is there. What is inside, less a margin of one cell at each side.
pub fn sheet(buf: &mut Buffer, area: Rect, (title, right): (&str, &[Span]), draw: &Draw<'_>) -> Rect {
    clear(buf, area);
    let title = [Span::new(Role::Title, title)];
    let frame = Frame { title: &title, right, role: Role::BorderFocused, weight: Weight::Thin };
    let inside = frame.draw(buf, area, draw.theme);
    Rect { x: inside.x + 1, width: inside.width.saturating_sub(2), ..inside }
}

/// Keys with what they do, as many in a row as there is room for.
pub fn keys(keys: &[(&str, &str)], gap: usize, width: usize) -> Vec<Row> {
    let key =
        |(key, words): &(&str, &str)| vec![Span::new(Role::Key, key), Span::new(Role::Text, &format!(" {words}"))];
    flow(&keys.iter().map(key).collect::<Vec<_>>(), &Span::gap(gap), (0, width))
}
