//! The filter line of a list: free words and `key:value` terms, typed or set by a key.
//!
//! It holds text and splits it; what a term means is for the pane.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use crate::tui::theme::{Role, Theme};
use crate::tui::widgets::paint::{Row, Span};
use crate::tui::widgets::search::Search;

/// The longest filter, in characters.
const MAX: usize = 200;

/// What can stand before a colon; what a pane does not know matters nothing there.
const KEYS: [&str; 11] =
    ["class", "server", "seat", "worker", "hint", "phase", "status", "assignee", "project", "label", "container"];

/// A text field of a pane, while it is open.
pub trait Field {
    /// A key press.
    fn key(&mut self, key: KeyEvent);

    /// Pasted text.
    fn paste(&mut self, pasted: &str);
}

impl Field for Search {
    fn key(&mut self, key: KeyEvent) {
        Self::key(self, key);
    }

    fn paste(&mut self, pasted: &str) {
        Self::paste(self, pasted);
    }
}

impl Field for Filter {
    fn key(&mut self, key: KeyEvent) {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            _ if key.kind == KeyEventKind::Release => {}
            KeyCode::Enter => self.keep(),
            KeyCode::Esc => self.forget(),
            KeyCode::Backspace => {
                self.text.pop();
            }
            KeyCode::Char('u') if control => self.text.clear(),
            KeyCode::Char(c) if !control && !key.modifiers.contains(KeyModifiers::ALT) => {
                self.insert(c.encode_utf8(&mut [0; 4]));
            }
            _ => {}
        }
    }

    fn paste(&mut self, pasted: &str) {
        self.insert(pasted);
    }
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Filter {
    text: String,
    /// What stood there before typing began, while it lasts.
    before: Option<String>,
}

/// One word of a filter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Term {
    /// Text to be found, lower case.
    Word(String),
    /// `key:value`, both lower case.
    Pair(String, String),
}

impl Filter {
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) const fn typing(&self) -> bool {
        self.before.is_some()
    }

    /// Begins typing.
    pub(super) fn begin(&mut self) {
        if self.before.is_none() {
            self.before = Some(self.text.clone());
        }
    }

    /// Ends typing and keeps what was written.
    pub(super) fn keep(&mut self) {
        self.before = None;
    }

    /// Ends typing as if it had not begun.
    pub(super) fn forget(&mut self) {
        if let Some(before) = self.before.take() {
            self.text = before;
        }
    }

    /// Removes everything; false when there was nothing.
    pub(super) fn clear(&mut self) -> bool {
        let had = !self.text.is_empty();
        self.text.clear();
        had
    }

    /// Adds text on one line.
    pub(super) fn insert(&mut self, text: &str) {
        let room = MAX.saturating_sub(self.text.chars().count());
        self.text.extend(text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(room));
    }

    /// The words.
    pub(super) fn terms(&self) -> Vec<Term> {
        let words = self.text.split_whitespace().map(str::to_lowercase);
        words
            .map(|word| match word.split_once(':') {
                Some((key, value)) if KEYS.contains(&key) => Term::Pair(key.to_owned(), value.to_owned()),
                _ => Term::Word(word),
            })
            .collect()
    }

    /// The words that are not `key:value`.
    pub(super) fn words(&self) -> String {
        let words = self.terms().into_iter().filter_map(|term| match term {
            Term::Word(word) => Some(word),
            Term::Pair(..) => None,
        });
        words.collect::<Vec<_>>().join(" ")
    }

    /// The value of the first `key:value` term.
    pub(super) fn value(&self, key: &str) -> Option<String> {
        self.terms().into_iter().find_map(|term| match term {
            Term::Pair(known, value) if known == key => Some(value),
            _ => None,
        })
    }

    /// The text without the terms of these keys.
    pub(super) fn without(&self, keys: &[&str]) -> String {
        let named = |word: &str| keys.iter().any(|key| word.to_lowercase().starts_with(&format!("{key}:")));
        let others: Vec<&str> = self.text.split_whitespace().filter(|word| !named(word)).collect();
        others.join(" ")
    }

    /// Puts `key:value` in the place of an earlier one, or takes it away.
    pub(super) fn set(&mut self, key: &str, value: Option<&str>) {
        self.text = self.without(&[key]);
        if let Some(value) = value {
            let term = format!("{key}:{value}");
            self.text = if self.text.is_empty() { term } else { format!("{} {term}", self.text) };
        }
    }

    /// Steps the value of `key` through `values` and back to none.
    pub(super) fn cycle(&mut self, key: &str, values: &[&str]) {
        let now = self.value(key);
        let next = match now.and_then(|now| values.iter().position(|value| value.eq_ignore_ascii_case(&now))) {
            None => values.first(),
            Some(at) => values.get(at + 1),
        };
        self.set(key, next.copied());
    }

    /// The line while typing.
    pub(super) fn line(&self, theme: &Theme) -> Row {
        vec![
            Span::new(Role::Key, "/"),
            Span::new(Role::Text, &self.text),
            Span::new(Role::Accent, if theme.ascii { "_" } else { "▏" }),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_pairs_are_told_apart() {
        let mut filter = Filter::default();
        filter.insert("Branch class:Destructive http://x server:github::release");
        let word = |text: &str| Term::Word(text.to_owned());
        let pair = |key: &str, value: &str| Term::Pair(key.to_owned(), value.to_owned());
        let expected =
            [word("branch"), pair("class", "destructive"), word("http://x"), pair("server", "github::release")];
        assert_eq!(filter.terms(), expected);
    }

    #[test]
    fn a_value_steps_through_and_away() {
        let mut filter = Filter::default();
        filter.insert("issue");
        let mut seen = Vec::new();
        for _ in 0..4 {
            filter.cycle("class", &["read", "write"]);
            seen.push(filter.text().to_owned());
        }
        assert_eq!(seen, ["issue class:read", "issue class:write", "issue", "issue class:read"]);
    }

    #[test]
    fn leaving_brings_back_what_was_there() {
        let press = |filter: &mut Filter, code| filter.key(KeyEvent::new(code, KeyModifiers::NONE));
        let mut filter = Filter::default();
        filter.begin();
        press(&mut filter, KeyCode::Char('a'));
        press(&mut filter, KeyCode::Enter);
        assert_eq!((filter.text(), filter.typing()), ("a", false));
        filter.begin();
        press(&mut filter, KeyCode::Char('b'));
        press(&mut filter, KeyCode::Esc);
        assert_eq!((filter.text(), filter.typing()), ("a", false));
    }
}
