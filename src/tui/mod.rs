//! The screen: `Msg` (what reached the UI) becomes `Intent` (what the person means) becomes `Effect` (what must be
//! done). Panes are plain structs; the screen reads one immutable snapshot per frame and writes only commands.

pub mod card;
pub mod editor;
pub mod intent;
pub mod panes;
pub mod theme;
pub mod widgets;

use jiff::tz::TimeZone;

use crate::clock::Timestamp;
use crate::engine::snapshot::Snapshot;
use theme::Theme;

/// What a `render` function may look at besides its own state.
#[derive(Clone, Copy, Debug)]
pub struct Draw<'a> {
    /// What is true.
    pub snapshot: &'a Snapshot,
    /// Styles, glyphs and borders.
    pub theme: &'a Theme,
    /// The time that this frame shows.
    pub now: Timestamp,
    /// The zone that times are shown in.
    pub zone: &'a TimeZone,
    /// Whether the pane has the focus.
    pub focused: bool,
}
