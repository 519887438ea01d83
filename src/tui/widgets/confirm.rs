//! A yes-or-no question that is not an approval: leave? disable? Only `y` says yes, and only a moment after the
//! question appeared, so that a key meant for something else, or one that is held down, does not answer it.

use std::time::{Duration, Instant};

use crossterm::event::{KeyEvent, KeyEventKind};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::cells::{clear, put, put_spans, row, to_cells, wrap};
use super::panel::Panel;
use crate::tui::Draw;
use crate::tui::intent::{Effect, Intent, Question};
use crate::tui::theme::Role;

const WIDTH: u16 = 64;
/// No key answers for this long after the question appears.
pub const DEAD_TIME: Duration = Duration::from_millis(300);
/// The same for a question over a card, which may have opened by itself under keys that were meant for a list.
pub const OVER_A_CARD: Duration = Duration::from_millis(1000);
/// The same key again within this time is a held key.
const HELD: Duration = Duration::from_millis(120);

/// See the module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Confirm {
    question: Question,
    dead: Duration,
    live_at: Instant,
    /// Whether it has been told that its keys are alive.
    woken: bool,
    last_key: Option<(KeyEvent, Instant)>,
}

/// What came of a key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// Yes: this is to be done.
    Yes(Effect),
    /// No.
    No,
}

impl Confirm {
    /// Asks. No key answers for as long as `dead`.
    pub fn new(question: Question, dead: Duration, at: Instant) -> Self {
        Self { question, dead, live_at: at + dead, woken: false, last_key: None }
    }

    /// The person was away: the dead time begins anew.
    pub fn interrupt(&mut self, at: Instant) {
        (self.live_at, self.woken) = (at + self.dead, false);
    }

    /// When it changes by itself: its keys come to life.
    pub fn wake_at(&self) -> Option<Instant> {
        (!self.woken).then_some(self.live_at)
    }

    /// Tells it that time has passed.
    pub fn tick(&mut self, at: Instant) {
        self.woken |= at >= self.live_at;
    }

    /// The person's answer, when the key gives one.
    pub fn key(&mut self, intent: Option<Intent>, key: KeyEvent, at: Instant) -> Option<Answer> {
        let held = key.kind == KeyEventKind::Repeat
            || self.last_key.is_some_and(|(last, then)| last == key && at.saturating_duration_since(then) < HELD);
        self.last_key = Some((key, at));
        if held || at < self.live_at {
            return None;
        }
        self.apply(intent?)
    }

    fn apply(&self, intent: Intent) -> Option<Answer> {
        match intent {
            Intent::Yes => Some(Answer::Yes((*self.question.yes).clone())),
            Intent::No | Intent::Back => Some(Answer::No),
            _ => None,
        }
    }

    /// Draws it in the middle of `screen`.
    pub fn render(&self, screen: Rect, buf: &mut Buffer, draw: &Draw<'_>, at: Instant) {
        let width = WIDTH.min(screen.width);
        let lines = wrap(&crate::text::clean(&self.question.detail), width.saturating_sub(4));
        let height = to_cells(lines.len()).saturating_add(4).min(screen.height);
        let area = centred(screen, width, height);
        clear(buf, area);
        let panel = Panel { title: &self.question.title, focused: true, ..Panel::default() };
        let inside = panel.render(buf, area, draw.theme);
        let text = Rect { x: inside.x + 1.min(inside.width), width: inside.width.saturating_sub(2), ..inside };
        for (n, line) in (0_u16..).zip(&lines) {
            put(buf, row(text, n), line, draw.theme.style(Role::Text));
        }
        let alive = if at < self.live_at { Role::KeyDead } else { Role::Key };
        let (key, words) = (draw.theme.style(alive), draw.theme.style(Role::Dim));
        let keys = row(text, inside.height.saturating_sub(1));
        put_spans(buf, keys, &[("y", key), (" yes    ", words), ("n", key), (" no", words)]);
    }
}

/// An area of this size in the middle of `screen`.
pub fn centred(screen: Rect, width: u16, height: u16) -> Rect {
    let (width, height) = (width.min(screen.width), height.min(screen.height));
    Rect { x: screen.x + (screen.width - width) / 2, y: screen.y + (screen.height - height) / 2, width, height }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossterm::event::{KeyCode, KeyModifiers};

    fn asked(at: Instant) -> Confirm {
        Confirm::new(
            Question { title: "Leave?".into(), detail: "".into(), yes: Box::new(Effect::Leave) },
            DEAD_TIME,
            at,
        )
    }

    #[test]
    fn only_yes_says_yes() {
        let confirm = asked(Instant::now());
        assert_eq!(confirm.apply(Intent::Yes), Some(Answer::Yes(Effect::Leave)));
        assert_eq!(confirm.apply(Intent::Back), Some(Answer::No));
        assert_eq!(confirm.apply(Intent::Open), None);
        assert_eq!(confirm.apply(Intent::Quit), None);
    }

    #[test]
    fn a_key_that_comes_at_once_or_is_held_answers_nothing() {
        let start = Instant::now();
        let mut confirm = asked(start);
        let y = KeyEvent::new(KeyCode::Char('y'), KeyModifiers::NONE);
        let mut press = |millis| confirm.key(Some(Intent::Yes), y, start + Duration::from_millis(millis));
        for millis in [250, 299, 340, 400, 480] {
            assert_eq!(press(millis), None, "{millis}");
        }
        assert_eq!(press(600), Some(Answer::Yes(Effect::Leave)));
        confirm.interrupt(start + Duration::from_secs(9));
        assert_eq!(confirm.key(Some(Intent::Yes), y, start + Duration::from_millis(9_299)), None);
    }
}
