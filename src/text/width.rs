//! Widths in terminal cells, and cutting, padding and wrapping by them.
//!
//! A width is the sum over grapheme clusters, which is how the screen library lays out a line. Nothing here ever
//! splits a cluster that fits or half a wide character. Text should have gone through [`super::visible`] or
//! [`super::clean()`] first: controls have no width.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Width in terminal cells.
pub fn width(text: &str) -> usize {
    if is_plain(text) { text.len() } else { text.graphemes(true).map(cells_of).sum() }
}

/// The longest start of `text` that fits into `cells`, with `…` in the last cell when something was left out.
pub fn fit(text: &str, cells: usize) -> Cow<'_, str> {
    if text.len() <= cells && is_plain(text) {
        return Cow::Borrowed(text);
    }
    let (mut used, mut cut) = (0, 0);
    for (at, grapheme) in text.grapheme_indices(true) {
        let end = at + grapheme.len();
        used += cells_of(grapheme);
        if used > cells {
            let start = text.get(..cut).unwrap_or_default();
            return if cells == 0 { Cow::Borrowed("") } else { Cow::Owned(format!("{start}…")) };
        }
        if used < cells {
            cut = end;
        }
    }
    Cow::Borrowed(text)
}

/// `text` in exactly `cells` cells: cut as [`fit`] does, or filled up with spaces.
pub fn pad(text: &str, cells: usize) -> String {
    let mut out = fit(text, cells).into_owned();
    let missing = cells.saturating_sub(width(&out));
    out.extend(std::iter::repeat_n(' ', missing));
    out
}

/// `text` in pieces of at most `cells` cells; together they are the text again. Only a single character that is
/// wider than `cells` makes a wider piece. An empty text is one empty piece; newlines are not looked for.
pub fn wrap(text: &str, cells: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    if is_plain(text) && !text.is_empty() {
        let mut rest = text;
        while let Some((piece, tail)) = rest.split_at_checked(cells.max(1)) {
            pieces.push(piece);
            rest = tail;
        }
        pieces.extend((!rest.is_empty()).then_some(rest));
        return pieces;
    }
    let (mut start, mut used) = (0, 0);
    let mut place = |at: usize, size: usize| {
        if used > 0 && used + size > cells {
            pieces.push(text.get(start..at).unwrap_or_default());
            (start, used) = (at, 0);
        }
        used += size;
    };
    for (at, grapheme) in text.grapheme_indices(true) {
        let size = cells_of(grapheme);
        if size <= cells {
            place(at, size);
        } else {
            // A cluster that no line can hold would be clipped, and what is clipped is not seen.
            for (offset, group) in with_marks(grapheme) {
                place(at + offset, cells_of(group));
            }
        }
    }
    pieces.push(text.get(start..).unwrap_or_default());
    pieces
}

/// Cells of one cluster, as the screen library lays it out: it gives the halfwidth sound marks of Katakana a cell on
/// top of what the tables of widths say. Counting less than it does would let a line run over its end.
fn cells_of(cluster: &str) -> usize {
    cluster.width() + cluster.matches(is_halfwidth_sound_mark).count()
}

/// U+FF9E and U+FF9F.
pub(super) fn is_halfwidth_sound_mark(c: char) -> bool {
    matches!(c, '\u{ff9e}' | '\u{ff9f}')
}

/// The characters of a cluster, each together with the ones behind it that have no width of their own.
fn with_marks(cluster: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut rest = cluster;
    std::iter::from_fn(move || {
        let at = cluster.len() - rest.len();
        let first = rest.chars().next()?.len_utf8();
        let marks = rest.get(first..)?.find(|c: char| c.width() != Some(0) || is_halfwidth_sound_mark(c));
        let (group, tail) = rest.split_at_checked(marks.map_or(rest.len(), |marks| first + marks))?;
        rest = tail;
        Some((at, group))
    })
}

/// Printable ASCII only: one cell a byte.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, 0x20..=0x7e))
}
