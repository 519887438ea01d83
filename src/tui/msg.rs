//! What reaches the screen: keys, pasted text, sizes, snapshots, time.

use std::time::Instant;

use crossterm::event::KeyEvent;
use ratatui::layout::Rect;

use crate::clock::Timestamp;
use crate::engine::handle::SendError;
use crate::ids::{CallId, WorkerId};
use crate::rows::Answer;
use crate::secret::Secret;
use crate::tui::intent::Intent;
use crate::tui::terminal::clipboard::Copied;

/// One thing that happened.
#[derive(Clone, Debug)]
pub enum Msg {
    /// A key was pressed.
    Key(KeyEvent),
    /// Text was pasted.
    Paste(String),
    /// The mouse wheel moved: up or down.
    Wheel(Intent),
    /// The terminal has this size now.
    Resize(Rect),
    /// There is a new snapshot.
    Snapshot,
    /// Something that a pane wanted to know has been read.
    Rows(Box<Answer>),
    /// A deadline passed.
    Wake,
    /// The engine did not take a command; the call that it was, where it was one.
    NotSent(Option<CallId>, SendError),
    /// Text went to the terminal's clipboard, or did not.
    Copied(Copied),
    /// The token of a new worker that the person asked for; `None` when it was given out already.
    Revealed(WorkerId, Option<Secret>),
    /// We have the terminal again after it was the shell's.
    Resumed,
}

/// One moment by two clocks: what people read, and what deadlines go by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Moment {
    /// The wall clock.
    pub now: Timestamp,
    /// The steady clock.
    pub at: Instant,
}

impl Moment {
    /// Now.
    pub fn now() -> Self {
        Self { now: Timestamp::now(), at: Instant::now() }
    }
}
