//! Text into cells: cleaned once more, cut between graphemes, never outside the line it was given.
//!
//! Everything on the screen is written through these functions, so that no foreign text can move a border. They
//! know nothing of panes or the engine.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use unicode_segmentation::UnicodeSegmentation as _;

use crate::text;
use crate::tui::format;

/// Writes `content` from the left of `line` (only its first row is used), cut with `…` when it does not fit.
/// Returns the number of cells used.
pub fn put(buf: &mut Buffer, line: Rect, content: &str, style: Style) -> u16 {
    put_spans(buf, line, &[(content, style)])
}

/// Writes `content` against the right end of `line`. Returns the number of cells used.
pub fn put_right(buf: &mut Buffer, line: Rect, content: &str, style: Style) -> u16 {
    let content = text::clean(content);
    let cells = to_cells(text::width(&content)).min(line.width);
    let x = line.right().saturating_sub(cells);
    put(buf, Rect { x, width: cells, ..line }, &content, style)
}

/// Writes runs of differently styled text one after another, cut with `…` when they do not fit.
pub fn put_spans(buf: &mut Buffer, line: Rect, spans: &[(&str, Style)]) -> u16 {
    let cleaned: Vec<_> = spans.iter().map(|(content, style)| (text::clean(content), *style)).collect();
    let whole: usize = cleaned.iter().map(|(content, _)| width(content)).sum();
    let mut writer = Writer::new(buf, line, 0);
    if whole > usize::from(line.width) {
        writer.end = writer.end.saturating_sub(1);
    }
    for (content, style) in &cleaned {
        for grapheme in content.graphemes(true) {
            if !writer.write(grapheme, *style) {
                writer.end = line.right();
                writer.write("…", *style);
                return writer.x.saturating_sub(line.x);
            }
        }
    }
    writer.x.saturating_sub(line.x)
}

/// Writes runs of styled text after leaving out their first `skip` cells, for sideways scrolling: what does not fit
/// is simply not shown, and half a wide character is a blank. The runs must be cleaned already.
pub fn put_window(buf: &mut Buffer, line: Rect, skip: usize, spans: &[(&str, Style)]) -> u16 {
    let mut writer = Writer::new(buf, line, skip);
    for (content, style) in spans {
        for grapheme in content.graphemes(true) {
            if !writer.write(grapheme, *style) {
                return writer.x.saturating_sub(line.x);
            }
        }
    }
    writer.x.saturating_sub(line.x)
}

/// Blanks an area, so that what lies below a modal does not shine through.
pub fn clear(buf: &mut Buffer, area: Rect) {
    for position in area.intersection(buf.area).positions() {
        if let Some(cell) = buf.cell_mut(position) {
            cell.reset();
        }
    }
    // A wide character cut in half by the left edge would spill into the area.
    if let Some(left) = area.x.checked_sub(1) {
        for y in area.top()..area.bottom() {
            if let Some(cell) = buf.cell_mut(Position::new(left, y))
                && text::width(cell.symbol()) > 1
            {
                cell.set_symbol(" ");
            }
        }
    }
}

/// `content` in lines of at most `cells` cells, broken after spaces where possible. Never empty.
pub fn wrap(content: &str, cells: u16) -> Vec<String> {
    let cells = usize::from(cells.max(1));
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut used = 0;
    for word in bound(content) {
        let wide = width(word);
        if used + wide > cells && !(word == " " && used == cells) {
            if used > 0 && wide <= cells {
                lines.push(std::mem::take(&mut line).trim_end().to_owned());
                used = 0;
            }
            if wide > cells {
                hard_break(word, cells, (&mut line, &mut used), &mut lines);
                continue;
            }
        }
        if used == 0 && word == " " && !lines.is_empty() {
            continue;
        }
        line.push_str(word);
        used += wide;
    }
    if !line.is_empty() || lines.is_empty() {
        lines.push(line.trim_end().to_owned());
    }
    lines
}

/// Words and what is between them; a number stays with its unit (`12 ms`).
fn bound(content: &str) -> Vec<&str> {
    let mut pieces: Vec<&str> = Vec::new();
    let mut at = 0;
    for piece in content.split_word_bounds() {
        let start = at;
        at += piece.len();
        if piece.starts_with(|c: char| c.is_ascii_digit()) && pieces.last() == Some(&"<") {
            pieces.pop();
            pieces.extend(content.get(start - 1..at));
            continue;
        }
        let [.., number, " "] = pieces.as_slice() else {
            pieces.push(piece);
            continue;
        };
        let joined = start.saturating_sub(number.len() + 1)..at;
        if format::ends_in_number(number) && format::begins_with_unit(piece) {
            pieces.truncate(pieces.len() - 2);
            pieces.extend(content.get(joined));
        } else {
            pieces.push(piece);
        }
    }
    pieces
}

fn hard_break(word: &str, cells: usize, (line, used): (&mut String, &mut usize), lines: &mut Vec<String>) {
    for grapheme in word.graphemes(true) {
        let wide = text::width(grapheme);
        if *used + wide > cells && *used > 0 {
            lines.push(std::mem::take(line).trim_end().to_owned());
            *used = 0;
        }
        line.push_str(grapheme);
        *used += wide;
    }
}

/// Width of a text as it is drawn: the sum over its graphemes.
pub fn width(content: &str) -> usize {
    if content.is_ascii() { content.len() } else { content.graphemes(true).map(text::width).sum() }
}

/// A width as the terminal counts it.
pub fn to_cells(width: usize) -> u16 {
    u16::try_from(width).unwrap_or(u16::MAX)
}

/// The `n`-th row of an area; empty when there is none.
pub fn row(area: Rect, n: u16) -> Rect {
    if n >= area.height {
        return Rect { height: 0, width: 0, ..area };
    }
    Rect { y: area.y.saturating_add(n), height: 1, ..area }
}

struct Writer<'b> {
    buf: &'b mut Buffer,
    x: u16,
    y: u16,
    end: u16,
    skip: usize,
}

impl<'b> Writer<'b> {
    fn new(buf: &'b mut Buffer, line: Rect, skip: usize) -> Self {
        let end = if line.height == 0 { line.x } else { line.right() };
        Self { buf, x: line.x, y: line.y, end, skip }
    }

    /// False when the grapheme does not fit any more.
    fn write(&mut self, grapheme: &str, style: Style) -> bool {
        let wide = text::width(grapheme);
        if wide == 0 || grapheme.chars().any(char::is_control) {
            return true;
        }
        if self.skip >= wide {
            self.skip -= wide;
            return true;
        }
        if self.skip > 0 {
            let rest = wide - self.skip;
            self.skip = 0;
            return (0..rest).all(|_| self.write(" ", style));
        }
        let cells = to_cells(wide);
        if self.x.saturating_add(cells) > self.end {
            return false;
        }
        for offset in 0..cells {
            if let Some(cell) = self.buf.cell_mut(Position::new(self.x + offset, self.y)) {
                if offset == 0 {
                    cell.set_symbol(grapheme);
                } else {
                    cell.set_symbol(" ");
                }
                cell.set_style(style);
            }
        }
        self.x += cells;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn drawn(content: &str, cells: u16) -> String {
        let mut buf = Buffer::empty(Rect::new(0, 0, cells + 1, 1));
        put(&mut buf, Rect::new(0, 0, cells, 1), content, Style::new());
        let mut line = String::new();
        let mut x = 0;
        while x < cells {
            let symbol = buf[(x, 0)].symbol();
            line.push_str(symbol);
            x += to_cells(text::width(symbol).max(1));
        }
        line
    }

    #[test]
    fn text_is_cut_between_characters() {
        assert_eq!(drawn("abcdef", 6), "abcdef");
        assert_eq!(drawn("abcdefg", 6), "abcde…");
        assert_eq!(drawn("漢字漢字", 8), "漢字漢字");
        assert_eq!(drawn("漢字漢字", 7), "漢字漢…");
        assert_eq!(drawn("漢字漢字", 6), "漢字… ");
        assert_eq!(drawn("", 2), "  ");
        assert_eq!(drawn("ab", 1), "…");
    }

    #[test]
    fn a_sideways_window_never_shows_half_a_character() {
        let mut buf = Buffer::empty(Rect::new(0, 0, 5, 1));
        put_window(&mut buf, Rect::new(0, 0, 5, 1), 1, &[("漢字ab", Style::new())]);
        assert_eq!((buf[(0, 0)].symbol(), buf[(1, 0)].symbol(), buf[(3, 0)].symbol()), (" ", "字", "a"));
    }

    #[test]
    fn wrapping_breaks_after_spaces_and_inside_long_words() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("abcdefgh", 3), ["abc", "def", "gh"]);
        assert_eq!(wrap("", 3), [""]);
        assert_eq!(wrap("ab cdef", 2), ["ab", "cd", "ef"]);
        assert_eq!(wrap("a 漢字漢", 4), ["a 漢", "字漢"]);
    }

    proptest! {
        #[test]
        fn nothing_is_written_outside_the_line(content in "\\PC{0,60}", x in 0_u16..6, cells in 0_u16..40, skip in 0_usize..20) {
            let mut buf = Buffer::empty(Rect::new(0, 0, 50, 3));
            put(&mut buf, Rect::new(x, 1, cells, 1), &content, Style::new());
            put_window(&mut buf, Rect::new(x, 1, cells, 1), skip, &[(&content, Style::new())]);
            for position in buf.area.positions() {
                let outside = position.y != 1 || position.x < x || position.x >= x + cells;
                prop_assert!(!outside || buf[position].symbol() == " ");
            }
        }

        #[test]
        fn wrapped_lines_fit(content in "\\PC{0,80}", cells in 2_u16..30) {
            for line in wrap(&content, cells) {
                prop_assert!(width(&line) <= usize::from(cells) || line.graphemes(true).count() == 1, "{line:?}");
            }
        }
    }
}
