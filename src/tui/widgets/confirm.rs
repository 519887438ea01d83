//! A yes-or-no question that is not an approval: leave? disable? Only `y` says yes.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::cells::{clear, put, put_spans, row, to_cells, wrap};
use super::panel::Panel;
use crate::tui::Draw;
use crate::tui::intent::{Effect, Intent, Question};
use crate::tui::theme::Role;

const WIDTH: u16 = 64;

/// See the module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Confirm {
    question: Question,
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
    /// Asks.
    pub const fn new(question: Question) -> Self {
        Self { question }
    }

    /// The person's answer, when the intent is one.
    pub fn apply(&self, intent: Intent) -> Option<Answer> {
        match intent {
            Intent::Yes => Some(Answer::Yes((*self.question.yes).clone())),
            Intent::No | Intent::Back => Some(Answer::No),
            _ => None,
        }
    }

    /// Draws it in the middle of `screen`.
    pub fn render(&self, screen: Rect, buf: &mut Buffer, draw: &Draw<'_>) {
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
        let (key, words) = (draw.theme.style(Role::Key), draw.theme.style(Role::Dim));
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

    #[test]
    fn only_yes_says_yes() {
        let confirm =
            Confirm::new(Question { title: "Leave?".into(), detail: "".into(), yes: Box::new(Effect::Leave) });
        assert_eq!(confirm.apply(Intent::Yes), Some(Answer::Yes(Effect::Leave)));
        assert_eq!(confirm.apply(Intent::Back), Some(Answer::No));
        assert_eq!(confirm.apply(Intent::Open), None);
        assert_eq!(confirm.apply(Intent::Quit), None);
    }
}
