//! The smallest pieces of a JSON text that a layout may move: escapes, clusters, single characters.
//!
//! Dividing is the same from any boundary on, so that a row is drawn exactly as it was measured.

use unicode_segmentation::UnicodeSegmentation;

use crate::text;
use crate::tui::widgets::paint::shown;

/// What is never divided between two rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unit<'t> {
    /// A JSON escape or a grapheme cluster that is drawn as it is.
    Whole(&'t str),
    /// One character of a cluster that is drawn escaped: such a cluster may be longer than a row.
    Single(&'t str),
}

impl<'t> Unit<'t> {
    pub(crate) const fn text(self) -> &'t str {
        match self {
            Self::Whole(text) | Self::Single(text) => text,
        }
    }
}

/// The units of a text from a boundary between two of them.
pub(crate) fn units(text: &str) -> impl Iterator<Item = Unit<'_>> {
    let (mut rest, mut singles) = (text, 0_usize);
    std::iter::from_fn(move || {
        if singles == 0
            && let Some(length) = whole_length(rest)
        {
            let (unit, after) = rest.split_at_checked(length)?;
            rest = after;
            return Some(Unit::Whole(unit));
        }
        if singles == 0 {
            singles = rest.graphemes(true).next()?.chars().count();
        }
        let (unit, after) = rest.split_at_checked(rest.chars().next()?.len_utf8())?;
        (rest, singles) = (after, singles.saturating_sub(1));
        Some(Unit::Single(unit))
    })
}

/// The length of the unit at the start of `rest` when it is drawn as it is.
fn whole_length(rest: &str) -> Option<usize> {
    match rest.as_bytes() {
        [] => None,
        [b'\\', b'u', a, b, c, d, ..] if [a, b, c, d].iter().all(|byte| byte.is_ascii_hexdigit()) => Some(6),
        [b'\\', second, ..] if second.is_ascii() => Some(2),
        [first, second, ..] if (b' '..=b'~').contains(first) && second.is_ascii() => Some(1),
        _ => {
            let cluster = rest.graphemes(true).next()?;
            (shown(cluster).0 == cluster).then_some(cluster.len())
        }
    }
}

/// True for an escape or a character that would not be seen; line breaks and tabs are ordinary.
pub(super) fn is_hidden(unit: Unit<'_>) -> bool {
    match (unit, unit.text().as_bytes()) {
        (Unit::Single(_), _) | (_, [b'\\', b'b' | b'f' | b'r' | b'u', ..]) => true,
        (_, text) => !text.is_ascii() && text::has_hidden(unit.text()),
    }
}
