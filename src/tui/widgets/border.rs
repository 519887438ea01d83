//! Frames around panes and the card: thin or heavy, with a title on each side.
//!
//! Draws along the edge of an area and nothing inside it.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::paint::{Row, Span, fit_row, line, put, row_width};
use crate::tui::theme::{Role, Theme};

/// A frame around a region.
#[derive(Clone, Debug)]
pub struct Frame<'f> {
    /// Left in the top border.
    pub title: &'f [Span],
    /// Right in the top border.
    pub right: &'f [Span],
    /// The style of the border.
    pub role: Role,
    /// How thick it is.
    pub weight: Weight,
}

/// The weight of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Weight {
    /// A pane's.
    Thin,
    /// The card's.
    Heavy,
}

const THIN: [&str; 6] = ["╭", "╮", "╰", "╯", "─", "│"];
const HEAVY: [&str; 6] = ["┏", "┓", "┗", "┛", "━", "┃"];

impl Frame<'_> {
    const fn glyphs(&self) -> [&'static str; 6] {
        match self.weight {
            Weight::Thin => THIN,
            Weight::Heavy => HEAVY,
        }
    }

    /// Draws the frame along the edge of `area` and returns what is inside.
    pub fn draw(&self, buf: &mut Buffer, area: Rect, theme: &Theme) -> Rect {
        let inside = inner(area);
        let drawn = area.intersection(*buf.area());
        if drawn != area || area.width < 2 || area.height < 2 {
            return inside.intersection(*buf.area());
        }
        let [top_left, top_right, bottom_left, bottom_right, across, down] = self.glyphs();
        let style = theme.style(self.role);
        let (left, right) = (area.left(), area.right() - 1);
        let (top, bottom) = (area.top(), area.bottom() - 1);
        for x in left..=right {
            buf.set_string(x, top, across, style);
            buf.set_string(x, bottom, across, style);
        }
        for y in top..=bottom {
            buf.set_string(left, y, down, style);
            buf.set_string(right, y, down, style);
        }
        let corners = [(left, top, top_left), (right, top, top_right), (left, bottom, bottom_left)];
        for (x, y, glyph) in corners.into_iter().chain([(right, bottom, bottom_right)]) {
            buf.set_string(x, y, glyph, style);
        }
        self.titles(buf, area, theme);
        inside
    }

    /// A line across, joined to the frame, `at` lines below the top of `area`.
    pub fn rule(&self, buf: &mut Buffer, area: Rect, (at, theme): (usize, &Theme)) {
        let Some(place) = line(area, at) else { return };
        let across = self.glyphs()[4];
        let text = across.repeat(usize::from(area.width.saturating_sub(2)));
        let inside = Rect { x: place.x.saturating_add(1), width: place.width.saturating_sub(2), ..place };
        put(buf, inside, &[Span::drawn(self.role, text)], theme);
    }

    fn titles(&self, buf: &mut Buffer, area: Rect, theme: &Theme) {
        let room = usize::from(area.width).saturating_sub(4);
        let title = padded(fit_row(self.title, room.saturating_sub(2)));
        let used = row_width(&title);
        put(buf, Rect { x: area.x + 1, width: area.width.saturating_sub(2), height: 1, ..area }, &title, theme);
        let right = padded(self.right.to_vec());
        let width = row_width(&right);
        if width > 0 && used + width < room {
            let x = area.right().saturating_sub(u16::try_from(width + 2).unwrap_or(u16::MAX));
            put(buf, Rect { x, width: u16::try_from(width).unwrap_or(0), height: 1, ..area }, &right, theme);
        }
    }
}

fn padded(mut row: Row) -> Row {
    if row_width(&row) > 0 {
        row.insert(0, Span::gap(1));
        row.push(Span::gap(1));
    }
    row
}

/// What is inside a frame along the edge of `area`.
pub fn inner(area: Rect) -> Rect {
    if area.width < 2 || area.height < 2 {
        return Rect { width: 0, height: 0, ..area };
    }
    Rect { x: area.x + 1, y: area.y + 1, width: area.width - 2, height: area.height - 2 }
}
