//! Where the approval card and the call editor join the screen: minimal ones with the shape of the real ones. They
//! show a question and leave it pending; nothing can be decided or called with them.

use std::sync::Arc;
use std::time::Instant;

use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::Draw;
use super::intent::{Effect, Intent};
use super::theme::Role;
use super::widgets::cells::{clear, put, row};
use super::widgets::confirm::centred;
use super::widgets::panel::Panel;
use crate::clock::Timestamp;
use crate::engine::snapshot::{ApprovalView, Snapshot};
use crate::ids::ApprovalId;
use crate::tool::Entry;

/// What a key press on a modal comes to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Outcome {
    /// The modal wants to be closed.
    pub close: bool,
    /// What must be done.
    pub effects: Vec<Effect>,
}

/// Which table of keys holds while a card is up.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CardContext {
    /// The card's own keys.
    Keys,
    /// A text field has the focus.
    Text,
}

/// One question on the screen.
#[derive(Clone, Debug)]
pub struct Card {
    shown: Arc<ApprovalView>,
}

impl Card {
    /// The card of a question.
    pub fn open(approval: Arc<ApprovalView>, _: Timestamp, _: Instant) -> Self {
        Self { shown: approval }
    }

    /// The question that is shown.
    pub fn approval(&self) -> ApprovalId {
        self.shown.id
    }

    /// Fits the card to the screen.
    pub fn layout(&mut self, _: Rect, _: &Snapshot) {}

    /// Handles a key press.
    pub fn key(&mut self, intent: Option<Intent>, _: KeyEvent, _: Instant, snapshot: &Snapshot) -> Outcome {
        let queue = &snapshot.approvals;
        let at = queue.iter().position(|waiting| waiting.id == self.shown.id).unwrap_or(0);
        let to = match intent {
            Some(Intent::Back) => return Outcome { close: true, effects: Vec::new() },
            Some(Intent::Next) => queue.iter().cycle().nth(at + 1),
            Some(Intent::Previous) => queue.iter().cycle().nth(at + queue.len().saturating_sub(1)),
            _ => None,
        };
        Outcome { close: false, effects: to.map(|to| Effect::OpenCard(to.id)).into_iter().collect() }
    }

    /// Takes pasted text.
    pub fn paste(&mut self, _: &str) {}

    /// Which table of keys holds.
    pub const fn context(&self) -> CardContext {
        CardContext::Keys
    }

    /// When the card changes by itself next.
    pub const fn wake_at(&self) -> Option<Instant> {
        None
    }

    /// Draws the card.
    pub fn render(&self, screen: Rect, buf: &mut Buffer, draw: &Draw<'_>, _: Instant) {
        let area = centred(screen, 64, 6);
        clear(buf, area);
        let inside = Panel { title: "Waiting", heavy: true, ..Panel::default() }.render(buf, area, draw.theme);
        put(buf, row(inside, 0), &self.shown.entry.name, draw.theme.style(Role::Text));
        put(buf, row(inside, 1), self.shown.arguments.canonical(), draw.theme.style(Role::Text));
        put(buf, row(inside, 3), "Esc leaves it pending", draw.theme.style(Role::Dim));
    }
}

/// The arguments of a call of the person's own.
#[derive(Clone, Debug)]
pub struct CallEditor {
    entry: Arc<Entry>,
}

impl CallEditor {
    /// An editor for a call of this tool.
    pub const fn open(entry: Arc<Entry>) -> Self {
        Self { entry }
    }

    /// Fits the editor to the screen.
    pub const fn layout(&mut self, _: Rect, _: &Snapshot) {}

    /// Handles a key press.
    pub fn key(&mut self, intent: Option<Intent>, _: KeyEvent, _: Instant, _: &Snapshot) -> Outcome {
        Outcome { close: intent == Some(Intent::Back), effects: Vec::new() }
    }

    /// Takes pasted text.
    pub const fn paste(&mut self, _: &str) {}

    /// When the editor changes by itself next.
    pub const fn wake_at(&self) -> Option<Instant> {
        None
    }

    /// Draws the editor.
    pub fn render(&self, screen: Rect, buf: &mut Buffer, draw: &Draw<'_>, _: Instant) {
        let area = centred(screen, 64, 4);
        clear(buf, area);
        let inside = Panel { title: "Call", focused: true, ..Panel::default() }.render(buf, area, draw.theme);
        put(buf, row(inside, 0), &self.entry.name, draw.theme.style(Role::Text));
    }
}
