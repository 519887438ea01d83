//! Rows of styled text that are safe to draw: every piece passes [`text::visible`] when it is made, is measured in
//! terminal cells and is clipped to its area.
//!
//! The card, the editor and the tools, approvals and calls panes draw with it. It knows nothing of the engine.

use std::borrow::Cow;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation};

use crate::text;
use crate::tui::format;
use crate::tui::theme::{Role, Theme};

/// More characters than this in one cluster (a letter under a tower of marks; the longest emoji have ten) are shown escaped, one by one.
const MAX_CLUSTER: usize = 16;

/// A piece of a row: text that is fit to be drawn, and what it means.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Span {
    /// What it means.
    pub role: Role,
    text: String,
}

impl Span {
    /// A piece of any text, foreign text included: hidden characters become their visible escapes.
    pub fn new(role: Role, text: &str) -> Self {
        let text = if text.is_ascii() && !text.bytes().any(|byte| byte.is_ascii_control()) {
            text.to_owned()
        } else {
            text.graphemes(true).map(|cluster| shown(cluster).0).collect()
        };
        Self { role, text }
    }

    /// A piece that was put together from [`shown`] clusters.
    pub(super) const fn drawn(role: Role, text: String) -> Self {
        Self { role, text }
    }

    /// Blank cells.
    pub fn gap(cells: usize) -> Self {
        Self { role: Role::Text, text: " ".repeat(cells) }
    }

    /// The text as drawn.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text with the glyphs of hints in the theme's set; such pieces never hold foreign text.
    fn drawn_text(&self, theme: &Theme) -> Cow<'_, str> {
        match self.role {
            Role::HintYes | Role::HintNo if theme.ascii => Cow::Owned(self.text.replace('✓', "y").replace('✗', "n")),
            _ => Cow::Borrowed(&self.text),
        }
    }

    /// Width in cells.
    pub fn width(&self) -> usize {
        text::width(&self.text)
    }
}

/// A row of pieces.
pub type Row = Vec<Span>;

/// The width of a row in cells.
pub fn row_width(row: &[Span]) -> usize {
    row.iter().map(Span::width).sum()
}

/// The text of a row.
pub fn row_text(row: &[Span]) -> String {
    row.iter().map(Span::text).collect()
}

/// One grapheme cluster as it is drawn, and its width in cells (at least 1). What draws nothing, moves the cursor
/// or piles up marks is escaped.
pub fn shown(cluster: &str) -> (Cow<'_, str>, usize) {
    let visible = text::visible(cluster);
    let width = text::width(&visible);
    if width == 0 || cluster.chars().count() > MAX_CLUSTER {
        let escaped: String = cluster.chars().map(escape_unless_plain).collect();
        let width = text::width(&escaped).max(1);
        return (Cow::Owned(escaped), width);
    }
    (visible, width)
}

fn escape_unless_plain(c: char) -> String {
    if !text::is_hidden(c) && unicode_width::UnicodeWidthChar::width(c).unwrap_or(0) > 0 {
        c.to_string()
    } else {
        c.escape_unicode().to_string()
    }
}

/// Breaks pieces into rows of at most `width` cells, at spaces where there are some. Nothing is left out except the
/// spaces at which a row was broken. At least one row comes back.
pub fn wrap(spans: &[Span], width: usize) -> Vec<Row> {
    let mut wrapping = Wrapping { width: width.max(1), rows: Vec::new(), row: Vec::new(), used: 0 };
    for span in spans {
        for word in words(&span.text) {
            wrapping.word(span.role, word);
        }
    }
    wrapping.end_row();
    wrapping.rows
}

/// Words with the blanks after them; a number stays with its unit (`12 ms`), so that no row begins with a unit.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let mut end = after_word(rest, 0)?;
        while format::ends_in_number(rest.get(..end)?) && format::begins_with_unit(rest.get(end..)?) {
            end = after_word(rest, end)?;
        }
        let (word, left) = rest.split_at_checked(end)?;
        rest = left;
        Some(word)
    })
}

/// The end of the word that begins at `from`, its blank included; `None` past the end. A blank that carries marks is no
/// place to break: the marks would be drawn on whatever stands before the next row.
fn after_word(text: &str, from: usize) -> Option<usize> {
    let rest = text.get(from..).filter(|rest| !rest.is_empty())?;
    let mut blanks = rest.match_indices(' ').map(|(at, blank)| from + at + blank.len());
    let parts = |end: &usize| GraphemeCursor::new(*end, text.len(), true).is_boundary(text, 0).unwrap_or(true);
    Some(blanks.find(parts).unwrap_or(text.len()))
}

/// Sets items side by side with `between` after each but the last of a row, whole items only: one that does not fit
/// goes to the next row, which begins with `indent` blank cells, and is broken only when it is wider than a row.
pub fn flow(items: &[Row], between: &Span, (indent, width): (usize, usize)) -> Vec<Row> {
    let mut rows = vec![Row::new()];
    let (mut used, mut fresh) = (0, true);
    for item in items {
        let cells = row_width(item);
        if !fresh && used + between.width() + cells > width {
            rows.push(vec![Span::gap(indent)]);
            (used, fresh) = (indent, true);
        }
        let Some(row) = rows.last_mut() else { return rows };
        if !fresh {
            row.push(between.clone());
            used += between.width();
        }
        row.extend(item.iter().cloned());
        (used, fresh) = (used + cells, false);
    }
    rows.iter().flat_map(|row| if row_width(row) > width { wrap(row, width) } else { vec![row.clone()] }).collect()
}

/// As [`wrap`], but at most `max_rows` rows: when more are needed the last one ends by saying how many cells of text
/// are missing, so that a cut is never silent.
pub fn wrap_capped(spans: &[Span], width: usize, max_rows: usize) -> Vec<Row> {
    let mut rows = wrap(spans, width);
    if rows.len() <= max_rows || max_rows == 0 {
        return rows;
    }
    let rest: usize = rows.iter().skip(max_rows).map(|row| row_text(row).chars().count()).sum();
    rows.truncate(max_rows);
    if let Some(last) = rows.last_mut() {
        let reserve = format!("… +{} chars", rest + width).len();
        let kept = cut(last, width.saturating_sub(reserve));
        let missing = rest + row_text(last).chars().count() - row_text(&kept).chars().count();
        *last = kept;
        last.push(Span::new(Role::Warning, &format!("… +{missing} chars")));
    }
    rows
}

/// The start of a row that fits into `cells`, without a mark.
pub fn cut(row: &[Span], cells: usize) -> Row {
    let mut left = cells;
    let mut kept = Row::new();
    for span in row {
        let mut text = String::new();
        for cluster in span.text.graphemes(true) {
            let width = text::width(cluster);
            if width > left {
                kept.push(Span { role: span.role, text });
                return kept;
            }
            left -= width;
            text.push_str(cluster);
        }
        kept.push(Span { role: span.role, text });
    }
    kept
}

/// The row in exactly `cells` cells or less; `…` marks a cut.
pub fn fit_row(row: &[Span], cells: usize) -> Row {
    if row_width(row) <= cells {
        return row.to_vec();
    }
    let mut kept = cut(row, cells.saturating_sub(1));
    let role = kept.last().map_or(Role::Text, |span| span.role);
    kept.push(Span { role, text: "…".to_owned() });
    kept
}

struct Wrapping {
    width: usize,
    rows: Vec<Row>,
    row: Row,
    used: usize,
}

impl Wrapping {
    fn word(&mut self, role: Role, word: &str) {
        let bare = text::width(word.trim_end_matches(' '));
        if self.used > 0 && self.used + bare > self.width {
            self.end_row();
        }
        if bare > self.width {
            for cluster in word.graphemes(true) {
                self.piece(role, cluster);
            }
            return;
        }
        let full = text::width(word);
        let piece = if self.used + full > self.width { word.trim_end_matches(' ') } else { word };
        self.push(role, piece);
    }

    fn piece(&mut self, role: Role, cluster: &str) {
        let width = text::width(cluster);
        if self.used > 0 && self.used + width > self.width {
            self.end_row();
        }
        self.push(role, cluster);
    }

    fn push(&mut self, role: Role, text: &str) {
        self.used += text::width(text);
        match self.row.last_mut() {
            Some(last) if last.role == role => last.text.push_str(text),
            _ => self.row.push(Span { role, text: text.to_owned() }),
        }
    }

    fn end_row(&mut self) {
        self.rows.push(std::mem::take(&mut self.row));
        self.used = 0;
    }
}

/// Draws a row into the first line of `area`; what does not fit is clipped.
pub fn put(buf: &mut Buffer, area: Rect, row: &[Span], theme: &Theme) {
    let area = area.intersection(*buf.area());
    if area.is_empty() {
        return;
    }
    let mut x = area.x;
    for span in row {
        let left = usize::from(area.right().saturating_sub(x));
        if left == 0 {
            return;
        }
        let style = theme.style(span.role);
        // What a pane is about stands out also where a theme gives it no colour.
        let style = if span.role == Role::Title { style.add_modifier(Modifier::BOLD) } else { style };
        x = buf.set_stringn(x, area.y, span.drawn_text(theme), left, style).0;
    }
}

/// The line of `area` that is `down` lines below its top, or nothing.
pub fn line(area: Rect, down: usize) -> Option<Rect> {
    let down = u16::try_from(down).ok().filter(|down| *down < area.height)?;
    Some(Rect { y: area.y.saturating_add(down), height: 1, ..area })
}

/// Draws rows one below the other, clipped to `area`.
pub fn put_rows<'r>(buf: &mut Buffer, area: Rect, rows: impl IntoIterator<Item = &'r Row>, theme: &Theme) {
    for (down, row) in rows.into_iter().enumerate() {
        let Some(place) = line(area, down) else { return };
        put(buf, place, row, theme);
    }
}

/// Minutes and seconds: `0:18`, `4:42`, `1:02:03`.
pub fn clock(duration: std::time::Duration) -> String {
    let seconds = duration.as_secs();
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") }
}

/// How long something took: `<1 ms`, `412 ms`, `3.2 s`, `4 min 05 s`, `2 h 04 min`.
pub fn took(duration: std::time::Duration) -> String {
    let (millis, seconds) = (duration.as_millis(), duration.as_secs());
    match seconds {
        0 if millis == 0 => "<1 ms".to_owned(),
        0 => format!("{millis} ms"),
        1..60 => format!("{seconds}.{} s", millis / 100 % 10),
        60..3600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} min", seconds / 3600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn hidden_characters_and_towers_of_marks_are_escaped() {
        assert_eq!(Span::new(Role::Text, "a\u{1b}[31m").text(), text::visible("a\u{1b}[31m"));
        let tower = format!("e{}", "\u{301}".repeat(200));
        let span = Span::new(Role::Text, &tower);
        assert_eq!(span.text().matches("\\u{301}").count(), 200);
        assert!(Span::new(Role::Text, "e\u{301}").text().chars().count() == 2, "an ordinary accent stays");
    }

    #[test]
    fn a_capped_text_says_what_is_missing() {
        let rows = wrap_capped(&[Span::new(Role::Text, &"word ".repeat(40))], 20, 2);
        assert_eq!(rows.len(), 2);
        let last = row_text(&rows[1]);
        assert!(last.contains("… +") && last.ends_with("chars"), "{last}");
        assert!(row_width(&rows[1]) <= 20);
    }

    #[test]
    fn a_number_is_never_parted_from_its_unit() {
        let text = "waited 1 min 02 s, ran 3 ms, up <1 min";
        for width in 10..30 {
            let rows: Vec<String> =
                wrap(&[Span::new(Role::Text, text)], width).iter().map(|row| row_text(row)).collect();
            let of_cells = crate::tui::widgets::cells::wrap(text, u16::try_from(width).unwrap());
            for row in rows.iter().chain(&of_cells) {
                assert!(
                    !["min", "s,", "ms"].iter().any(|unit| row.starts_with(unit)),
                    "{width}: {rows:?} {of_cells:?}"
                );
            }
        }
    }

    #[test]
    fn durations_read_well() {
        let seconds = std::time::Duration::from_secs;
        assert_eq!(clock(seconds(18)), "0:18");
        assert_eq!(clock(seconds(3723)), "1:02:03");
        assert_eq!(took(std::time::Duration::from_millis(412)), "412 ms");
        assert_eq!(took(std::time::Duration::from_millis(3240)), "3.2 s");
        assert_eq!(took(seconds(62)), "1 min 02 s");
        assert_eq!(took(seconds(7440)), "2 h 04 min");
        assert_eq!(took(std::time::Duration::ZERO), "<1 ms");
    }

    #[test]
    fn a_row_never_begins_with_the_marks_of_a_blank() {
        let rows = wrap(&[Span::new(Role::Text, "ab \u{11a8f}cd ef")], 4);
        let texts: Vec<String> = rows.iter().map(|row| row.iter().map(|span| span.text.as_str()).collect()).collect();
        assert!(texts.iter().all(|text| !text.starts_with('\u{11a8f}')), "{texts:?}");
        assert!(texts.len() > 1, "{texts:?}");
    }

    proptest! {
        #[test]
        fn wrapping_keeps_every_character_but_the_spaces_at_breaks(text in "\\PC{0,60}", width in 1_usize..40) {
            let span = Span::new(Role::Text, &text);
            let rows = wrap(std::slice::from_ref(&span), width);
            let squeeze = |text: &str| text.replace(' ', "");
            let joined: String = rows.iter().map(|row| row_text(row)).collect();
            prop_assert_eq!(squeeze(&joined), squeeze(span.text()));
            for row in rows.iter().filter(|row| row_text(row).graphemes(true).count() > 1) {
                prop_assert!(row_width(row) <= width.max(2), "{:?}", row);
            }
        }
    }
}
