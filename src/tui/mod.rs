//! The screen: `Msg` (what reached the UI) becomes `Intent` (what the person means) becomes `Effect` (what must be
//! done). Panes are plain structs; the screen reads one immutable snapshot per frame and writes only commands.
//!
//! | module | owns |
//! |---|---|
//! | [`event_loop`] | [`run`]: one loop over keys, snapshots and deadlines |
//! | [`ui`] | the screen's state; what a message changes; the picture |
//! | [`terminal`] | modes and bytes: the only writer to stdout |
//! | [`rows`] | the panes' questions about the company's rows, kept answered |
//! | [`keymap`] | the one table of keys |
//! | [`card`], [`form`], [`editor`], [`workers`] | the layers above the panes: a call to decide, a server's question, a call to make, a seat's workers |
//! | [`compose`], [`choose`], [`act`] | changing the company's rows: what is written or chosen, and the call that it becomes |
//! | [`panes`], [`widgets`], [`theme`] | regions, reusable drawing, styles |

pub mod act;
pub mod answer;
mod asking;
pub mod card;
pub mod choose;
pub mod compose;
pub mod editor;
pub mod event_loop;
pub mod form;
pub mod format;
pub mod frames;
pub mod header;
pub mod intent;
pub mod keymap;
pub mod layout;
pub mod msg;
pub mod panes;
pub mod rows;
pub mod terminal;
pub mod theme;
pub mod ui;
pub mod widgets;
pub mod workers;
mod writing;

pub use event_loop::{Exit, Options, TuiError, run};

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
