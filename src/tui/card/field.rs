//! A one-line text field with the cursor at its end: the reason of a denial, the typed name of a tool.
//!
//! It holds text and nothing else; what Enter or Ctrl-Y mean is for the card.

use crossterm::event::{KeyCode, KeyModifiers};

/// The longest text, in characters.
const MAX: usize = 400;

/// Reasons at hand, picked by their number.
pub(super) const CHIPS: [&str; 5] = ["wrong target", "not now", "needs discussion", "wrong values", "too broad"];

/// See the module.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Field {
    text: String,
}

impl Field {
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Adds text at the end on one line; says so when some was left out.
    pub(super) fn insert(&mut self, text: &str) -> Option<&'static str> {
        let room = MAX.saturating_sub(self.text.chars().count());
        let one_line = text.chars().map(|c| if matches!(c, '\n' | '\r' | '\t') { ' ' } else { c });
        self.text.extend(one_line.take(room));
        (text.chars().count() > room).then_some("the text is full: 400 characters")
    }

    /// Handles a key of an ordinary text field.
    pub(super) fn edit(&mut self, code: KeyCode, modifiers: KeyModifiers) -> Option<&'static str> {
        let control = modifiers.contains(KeyModifiers::CONTROL);
        match code {
            KeyCode::Backspace => {
                self.text.pop();
            }
            KeyCode::Char('u') if control => self.text.clear(),
            KeyCode::Char('h') if control => {
                self.text.pop();
            }
            KeyCode::Char('w') if control => {
                let kept = self.text.trim_end().rfind(' ').map_or(0, |space| space + 1);
                self.text.truncate(kept);
            }
            KeyCode::Char(c) if !control && !modifiers.contains(KeyModifiers::ALT) => {
                return self.insert(c.encode_utf8(&mut [0; 4]));
            }
            _ => {}
        }
        None
    }

    /// Picks a reason by its digit while nothing else has been written.
    pub(super) fn chip(&mut self, code: KeyCode) -> bool {
        let KeyCode::Char(c) = code else { return false };
        if !self.text.is_empty() && !CHIPS.contains(&self.text.as_str()) {
            return false;
        }
        let number = c.to_digit(10).and_then(|digit| digit.checked_sub(1));
        let Some(chip) = number.and_then(|index| CHIPS.get(usize::try_from(index).unwrap_or(usize::MAX))) else {
            return false;
        };
        (*chip).clone_into(&mut self.text);
        true
    }
}
