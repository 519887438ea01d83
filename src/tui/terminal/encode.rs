//! Changed cells as bytes for a terminal.
//!
//! After a character whose width terminals disagree about, the cursor is placed anew: then a border stands in its
//! column even where an emoji was drawn wider or narrower than we think. A row with a cluster of several characters is
//! erased and written whole whenever anything in it changes: a terminal that draws such a cluster wider than we think
//! would leave parts of it in cells that we hold for blank. Cells without colours never cause a colour sequence.

use std::io::Write as _;

use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier};

use crate::text::width;

/// Appends the bytes that make `after` of what `before` says is on the screen. Both have the same area.
pub fn encode_changes(out: &mut Vec<u8>, before: &Buffer, after: &Buffer) {
    let Rect { width: wide, .. } = after.area;
    let mut whole = Vec::new();
    let mut seen = None;
    let changes = before.diff_iter(after).filter(|(_, y, _)| {
        // They come row by row.
        if seen != Some(*y) {
            seen = Some(*y);
            if is_doubtful(before, *y) || is_doubtful(after, *y) {
                whole.push(*y);
            }
        }
        whole.last() != Some(y)
    });
    encode(out, changes);
    for y in whole {
        let _ = write!(out, "\x1b[{};1H\x1b[2K", u32::from(y) + 1);
        let mut free = 0;
        let cells = (0..wide).filter_map(|x| Some((x, y, after.cell((x, y))?)));
        // What stands behind a wide character belongs to it.
        encode(
            out,
            cells.filter(|(x, _, cell)| {
                let shown = *x >= free;
                if shown {
                    free = x.saturating_add(u16::try_from(width(cell.symbol())).unwrap_or(u16::MAX).max(1));
                }
                shown
            }),
        );
    }
}

/// Whether a row has a cluster whose width is anybody's guess: several characters, or half a flag.
fn is_doubtful(buffer: &Buffer, y: u16) -> bool {
    let half_a_flag = |c: char| ('\u{1f1e6}'..='\u{1f1ff}').contains(&c);
    (0..buffer.area.width).filter_map(|x| buffer.cell((x, y))).any(|cell| {
        let mut characters = cell.symbol().chars();
        cell.symbol().len() > 1 && (characters.next().is_some_and(half_a_flag) || characters.next().is_some())
    })
}

/// Appends the bytes that draw `changes`, which come row by row.
fn encode<'c>(out: &mut Vec<u8>, changes: impl Iterator<Item = (u16, u16, &'c Cell)>) {
    let mut cursor = None;
    let mut pen = Pen::default();
    for (x, y, cell) in changes {
        if cursor != Some((x, y)) {
            let _ = write!(out, "\x1b[{};{}H", u32::from(y) + 1, u32::from(x) + 1);
        }
        pen.set(out, cell);
        out.extend_from_slice(cell.symbol().as_bytes());
        cursor = is_plain(cell.symbol()).then(|| (x.saturating_add(1), y));
    }
    pen.lift(out);
}

/// One character that every terminal draws in one cell.
fn is_plain(symbol: &str) -> bool {
    let mut characters = symbol.chars();
    match (characters.next(), characters.next()) {
        (Some(c), None) => c < '\u{300}' || ('\u{2500}'..='\u{259f}').contains(&c) || c == '…',
        _ => false,
    }
}

#[derive(PartialEq, Default)]
struct Pen {
    fg: Color,
    bg: Color,
    modifier: Modifier,
}

const MODIFIERS: [(Modifier, &str); 7] = [
    (Modifier::BOLD, ";1"),
    (Modifier::DIM, ";2"),
    (Modifier::ITALIC, ";3"),
    (Modifier::UNDERLINED, ";4"),
    (Modifier::SLOW_BLINK, ";5"),
    (Modifier::REVERSED, ";7"),
    (Modifier::CROSSED_OUT, ";9"),
];

impl Pen {
    fn set(&mut self, out: &mut Vec<u8>, cell: &Cell) {
        let wanted = Self { fg: cell.fg, bg: cell.bg, modifier: cell.modifier };
        if *self == wanted {
            return;
        }
        out.extend_from_slice(b"\x1b[0");
        for (modifier, code) in MODIFIERS {
            if wanted.modifier.contains(modifier) {
                out.extend_from_slice(code.as_bytes());
            }
        }
        colour(out, wanted.fg, 30);
        colour(out, wanted.bg, 40);
        out.push(b'm');
        *self = wanted;
    }

    fn lift(&self, out: &mut Vec<u8>) {
        if *self != Self::default() {
            out.extend_from_slice(b"\x1b[0m");
        }
    }
}

/// `base` is 30 for the foreground and 40 for the background.
fn colour(out: &mut Vec<u8>, color: Color, base: u8) {
    let number = match color {
        Color::Reset => return,
        Color::Rgb(r, g, b) => {
            let _ = write!(out, ";{};2;{r};{g};{b}", base + 8);
            return;
        }
        Color::Indexed(index) => {
            let _ = write!(out, ";{};5;{index}", base + 8);
            return;
        }
        Color::Black => 0,
        Color::Red => 1,
        Color::Green => 2,
        Color::Yellow => 3,
        Color::Blue => 4,
        Color::Magenta => 5,
        Color::Cyan => 6,
        Color::Gray => 7,
        Color::DarkGray => 60,
        Color::LightRed => 61,
        Color::LightGreen => 62,
        Color::LightYellow => 63,
        Color::LightBlue => 64,
        Color::LightMagenta => 65,
        Color::LightCyan => 66,
        Color::White => 67,
    };
    let _ = write!(out, ";{}", base + number);
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::buffer::Buffer;
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    fn bytes(before: &Buffer, after: &Buffer) -> String {
        let mut out = Vec::new();
        encode_changes(&mut out, before, after);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn only_changes_are_written() {
        let before = Buffer::with_lines(["abcdef"]);
        let after = Buffer::with_lines(["abXYef"]);
        assert_eq!(bytes(&before, &after), "\x1b[1;3HXY");
        assert_eq!(bytes(&after, &after), "");
    }

    #[test]
    fn the_cursor_is_placed_anew_after_doubtful_widths() {
        let before = Buffer::empty(Rect::new(0, 0, 4, 1));
        let after = Buffer::with_lines(["♻\u{fe0f}|x"]);
        assert!(bytes(&Buffer::empty(Rect::new(0, 0, 3, 1)), &Buffer::with_lines(["a●b"])).contains("●\x1b[1;3Hb"));
        assert!(bytes(&before, &after).contains("\x1b[1;3H|x"));
    }

    #[test]
    fn a_row_with_a_doubtful_cluster_is_erased_and_written_whole() {
        let flags = Buffer::with_lines(["x🇩🇪 ab", "cdefgh"]);
        let blank = Buffer::with_lines(["x   ab", "cdefgh"]);
        for (before, after) in [(&Buffer::empty(flags.area), &flags), (&flags, &blank)] {
            let written = bytes(before, after);
            assert!(written.contains("\x1b[1;1H\x1b[2K"), "{written:?}");
            assert_eq!(written.contains("🇩🇪\x1b[1;4H ab"), after == &flags, "{written:?}");
            assert_eq!(written.contains("x   ab"), after == &blank, "{written:?}");
        }
        assert_eq!(bytes(&flags, &Buffer::with_lines(["x🇩🇪 ab", "cdefgX"])), "\x1b[2;6HX", "the other rows stay");
        assert_eq!(bytes(&flags, &flags), "");
    }

    #[test]
    fn no_colour_is_written_that_no_style_has() {
        let before = Buffer::empty(Rect::new(0, 0, 3, 1));
        let mut after = Buffer::with_lines(["abc"]);
        after.set_style(Rect::new(1, 0, 1, 1), Style::new().bold());
        assert_eq!(bytes(&before, &after), "\x1b[1;1Ha\x1b[0;1mb\x1b[0mc");
        after.set_style(Rect::new(2, 0, 1, 1), Style::new().fg(Color::Indexed(208)).bg(Color::LightRed));
        assert!(bytes(&before, &after).ends_with("\x1b[0;38;5;208;101mc\x1b[0m"));
    }
}
