//! The sizes of a card: where it stands on the screen, how many rows the arguments get, whether all of it fits.
//!
//! Sizes follow from the screen's size and the card's words, never from where the decision stands, so a card does
//! not change its size while it is up. Pure.

use ratatui::layout::Rect;

use super::body::View;
use super::face::Face;

/// The widest card.
const MAX_WIDTH: u16 = 100;
/// The highest card.
const MAX_HEIGHT: u16 = 30;
/// Narrower cards cannot be approved: lines of words fall apart.
const MIN_WIDTH: u16 = 44;
/// The arguments get at least this many rows.
const MIN_WINDOW: usize = 3;
/// From this width on the keys need four rows, below it six.
const WIDE: u16 = 78;
/// Rows of keys while only a part is shown.
const FEW_KEYS: usize = 2;
/// Rows of what became of it, and of keys, when there is a result to read.
const END_KEYS: usize = 3;
/// Rows of keys, at most, where the question does not fit: what it is about needs the room.
const CRAMPED_KEYS: usize = 5;
/// What is advised to somebody whose terminal is too narrow.
pub(super) const USUAL_WIDTH: u16 = 80;

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Frame {
    /// The screen it was measured for.
    pub(super) screen: Rect,
    /// What it gives its room to.
    pub(super) space: Space,
    /// The card, border included.
    pub(super) area: Rect,
    /// Rows of arguments on the screen.
    pub(super) window: usize,
    /// Rows of keys and messages.
    pub(super) keys: usize,
    /// True when everything that a decision needs is on the screen.
    pub(super) fits: bool,
    /// The size at which it would be, in cells.
    pub(super) needs: (usize, usize),
}

/// The card's width on a screen.
pub(super) fn width(screen: Rect) -> u16 {
    screen.width.min(MAX_WIDTH)
}

/// Cells for text inside the border and its margin.
pub(super) fn text_width(width: u16) -> usize {
    usize::from(width).saturating_sub(4)
}

/// What the card gives its room to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Space {
    /// The question whole.
    #[default]
    Question,
    /// One part of it.
    Part,
    /// What came back.
    Result,
}

impl Space {
    pub(super) const fn of(view: View) -> Self {
        match view {
            View::Whole => Self::Question,
            View::Arguments | View::Definition | View::Choices => Self::Part,
        }
    }
}

impl Frame {
    pub(super) fn of(screen: Rect, face: &Face, space: Space) -> Self {
        let needed = needed_height(width(screen), face);
        let area = area(screen, needed);
        let height = usize::from(area.height);
        let fits = area.width >= MIN_WIDTH && needed <= height;
        let window = match space {
            _ if area.width < 8 => 0,
            Space::Question if fits => height + MIN_WINDOW - needed,
            Space::Question => 0,
            // Border, one row about the arguments, a rule above the keys.
            Space::Part => height.saturating_sub(face.what.len() + 1 + 1 + FEW_KEYS + 2),
            Space::Result => height.saturating_sub(face.what.len() + 1 + 1 + END_KEYS + 2),
        };
        let keys = match space {
            Space::Question if fits => key_rows(area.width),
            Space::Question => key_rows(area.width).min(CRAMPED_KEYS),
            Space::Part => FEW_KEYS,
            Space::Result => END_KEYS,
        };
        Self { screen, space, area, window, keys, fits, needs: (usize::from(area.width), needed) }
    }
}

/// The card's place: in the middle, all of a small screen, higher than usual only when its words need it.
fn area(screen: Rect, needed: usize) -> Rect {
    let width = width(screen);
    let wanted = u16::try_from(needed).unwrap_or(u16::MAX).max(MAX_HEIGHT);
    let height = screen.height.min(wanted);
    Rect { x: screen.x + (screen.width - width) / 2, y: screen.y + (screen.height - height) / 2, width, height }
}

const fn key_rows(width: u16) -> usize {
    if width >= WIDE { 4 } else { 6 }
}

/// Rows for all that a decision needs: border, words, a few arguments and a row about them, a rule, keys.
pub(super) fn needed_height(width: u16, face: &Face) -> usize {
    2 + face.head.len() + MIN_WINDOW + 1 + face.tail.len() + 1 + key_rows(width)
}
