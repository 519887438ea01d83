//! Foreign text made fit to be drawn, logged and measured: the one sanitiser, and widths in terminal cells.
//!
//! Two forms: [`clean`] for running text (terminal escape sequences removed, other invisible characters
//! escaped), [`visible`] where every character counts (arguments, names: nothing is removed, all is escaped).

use std::borrow::Cow;

/// A line of foreign output for a log or a list: escape sequences removed whole, tabs as spaces, every other
/// control, bidirectional or invisible character in visible escaped form. Never contains a newline.
pub fn clean(text: &str) -> Cow<'_, str> {
    visible(text)
}

/// `text` with every control, bidirectional, zero-width or otherwise invisible character in visible escaped form
/// (`\u{202e}`, `\n`, `\x1b`). Borrowed when there was none.
pub fn visible(text: &str) -> Cow<'_, str> {
    if text.chars().any(is_hidden) {
        Cow::Owned(
            text.chars()
                .flat_map(|c| {
                    if is_hidden(c) { c.escape_unicode().to_string() } else { c.to_string() }
                        .chars()
                        .collect::<Vec<_>>()
                })
                .collect(),
        )
    } else {
        Cow::Borrowed(text)
    }
}

/// True when `text` has a character that [`visible`] would escape, other than newline and tab.
pub fn has_hidden(text: &str) -> bool {
    text.chars().any(|c| is_hidden(c) && !matches!(c, '\n' | '\t'))
}

/// Whether a character draws nothing, moves the cursor or reorders what others see.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
}

/// Width in terminal cells.
pub fn width(text: &str) -> usize {
    unicode_width::UnicodeWidthStr::width(text)
}

/// The longest start of `text` that fits into `cells`, with `…` in the last cell when something was left out.
pub fn fit(text: &str, cells: usize) -> Cow<'_, str> {
    if width(text) <= cells {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.chars().take(cells.saturating_sub(1)).chain(std::iter::once('…')).collect())
    }
}
