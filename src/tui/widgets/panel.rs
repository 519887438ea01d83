//! The frame around a pane: border, titles, and the scroll position in the right border.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

pub use super::border::inner;
use super::border::{Frame, Weight};
use super::cells::{row, to_cells};
use super::paint::Span;
use crate::tui::theme::{Role, Theme};

/// A pane's frame.
#[derive(Clone, Copy, Debug, Default)]
pub struct Panel<'a> {
    /// Left in the upper border; carries state: `stderr · github`.
    pub title: &'a str,
    /// Right in the upper border; carries counts: `14/78`.
    pub right: &'a str,
    /// Whether the pane has the focus.
    pub focused: bool,
    /// What part of the content is shown.
    pub scroll: Option<Scroll>,
    /// A heavier line, for a modal.
    pub heavy: bool,
}

/// What part of some content is shown, in rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scroll {
    /// Rows above what is shown.
    pub above: usize,
    /// Rows shown.
    pub shown: usize,
    /// All rows.
    pub total: usize,
}

impl Panel<'_> {
    /// Draws the frame and returns what is inside, which is left alone.
    pub fn render(&self, buf: &mut Buffer, area: Rect, theme: &Theme) -> Rect {
        let (role, weight) = match (self.heavy, self.focused) {
            (true, _) => (Role::CardBorder, Weight::Heavy),
            (false, true) => (Role::BorderFocused, Weight::Thin),
            (false, false) => (Role::Border, Weight::Thin),
        };
        let words = if self.focused || self.heavy { Role::Title } else { Role::Dim };
        let (title, right) = ([Span::new(words, self.title)], [Span::new(words, self.right)]);
        let inside = Frame { title: &title, right: &right, role, weight }.draw(buf, area, theme);
        if let Some(scroll) = self.scroll.filter(|_| area.width > 1 && area.height > 1) {
            thumb(buf, area, scroll, theme.style(role));
        }
        inside
    }
}

/// A line across a frame at row `y` of `area`, joined to its borders, with an optional word in it.
pub fn divider(buf: &mut Buffer, area: Rect, y: u16, style: Style) {
    let line = row(Rect { y: 0, height: u16::MAX, ..area }, y);
    for x in line.left()..line.right() {
        let symbol = if x == line.left() {
            "├"
        } else if x + 1 == line.right() {
            "┤"
        } else {
            "─"
        };
        set(buf, x, y, symbol, style);
    }
}

fn thumb(buf: &mut Buffer, area: Rect, scroll: Scroll, style: Style) {
    let track = usize::from(area.height.saturating_sub(2));
    if scroll.total <= scroll.shown || track == 0 {
        return;
    }
    let length = (track * scroll.shown / scroll.total).clamp(1, track);
    let free = scroll.total - scroll.shown;
    let start = (track - length) * scroll.above.min(free) / free;
    for offset in start..start + length {
        set(buf, area.right() - 1, area.y + 1 + to_cells(offset), "┃", style);
    }
}

fn set(buf: &mut Buffer, x: u16, y: u16, symbol: &str, style: Style) {
    if let Some(cell) = buf.cell_mut(Position::new(x, y)) {
        cell.set_symbol(symbol).set_style(style);
    }
}

/// What is inside, with a blank at either side of it.
pub fn text_area(area: Rect) -> Rect {
    let inside = inner(area);
    Rect { x: inside.x + 1.min(inside.width), width: inside.width.saturating_sub(2), ..inside }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_of_any_size_draws_without_harm() {
        let theme = Theme::plain();
        for width in 0..12 {
            for height in 0..6 {
                let area = Rect::new(1, 1, width, height);
                let mut buf = Buffer::empty(Rect::new(0, 0, 14, 8));
                let scroll = Some(Scroll { above: 3, shown: 2, total: 9 });
                Panel { title: "title", right: "3/9", focused: true, scroll, heavy: false }
                    .render(&mut buf, area, &theme);
                for position in buf.area.positions() {
                    assert!(area.contains(position) || buf[position].symbol() == " ");
                }
            }
        }
    }

    #[test]
    fn the_thumb_reaches_both_ends() {
        let rows = |above| {
            let mut buf = Buffer::empty(Rect::new(0, 0, 4, 6));
            let scroll = Some(Scroll { above, shown: 4, total: 16 });
            Panel { scroll, ..Panel::default() }.render(&mut buf, Rect::new(0, 0, 4, 6), &Theme::plain());
            (1..5).filter(|y| buf[(3, *y)].symbol() == "┃").collect::<Vec<u16>>()
        };
        assert_eq!(rows(0), [1]);
        assert_eq!(rows(12), [4]);
    }
}
