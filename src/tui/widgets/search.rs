//! A search through lines: what is looked for, where it stands in a line, and the field it is written in.
//!
//! Plain text, not patterns; capitals matter only when there are some.

use std::ops::Range;

use crossterm::event::KeyEvent;
use regex::{Regex, RegexBuilder};

use super::input::Input;

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Search {
    field: Option<Input>,
    wanted: Option<Regex>,
    text: String,
}

impl Search {
    /// Opens the field; it starts empty.
    pub fn open(&mut self) {
        self.field = Some(Input::default());
    }

    /// The field, while it is open.
    pub const fn field(&self) -> Option<&Input> {
        self.field.as_ref()
    }

    /// Takes a key for the field; matches are marked while it is typed.
    pub fn key(&mut self, key: KeyEvent) {
        if let Some(field) = &mut self.field
            && field.key(key)
        {
            let text = field.text();
            self.look_for(&text);
        }
    }

    /// Takes pasted text for the field.
    pub fn paste(&mut self, pasted: &str) {
        if let Some(field) = &mut self.field {
            field.paste(pasted);
            let text = field.text();
            self.look_for(&text);
        }
    }

    /// Closes the field and keeps what is looked for.
    pub fn keep(&mut self) {
        self.field = None;
    }

    /// Closes the field, or forgets what was looked for when it is closed. False when there was neither.
    pub fn leave(&mut self) -> bool {
        let something = self.field.is_some() || self.wanted.is_some();
        self.field = None;
        self.look_for("");
        something
    }

    /// What is looked for; empty when nothing is.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// True when something is looked for.
    pub const fn is_active(&self) -> bool {
        self.wanted.is_some()
    }

    /// True when it stands in `line`.
    pub fn is_in(&self, line: &str) -> bool {
        self.wanted.as_ref().is_some_and(|wanted| wanted.is_match(line))
    }

    /// Where it stands in `line`.
    pub fn places(&self, line: &str) -> Vec<Range<usize>> {
        self.wanted.as_ref().map_or_else(Vec::new, |wanted| wanted.find_iter(line).map(|found| found.range()).collect())
    }

    fn look_for(&mut self, text: &str) {
        text.clone_into(&mut self.text);
        let exact = text.chars().any(char::is_uppercase);
        self.wanted = (!text.is_empty())
            .then(|| RegexBuilder::new(&regex::escape(text)).case_insensitive(!exact).build().ok())
            .flatten();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(text: &str) -> Search {
        let mut search = Search::default();
        search.open();
        search.paste(text);
        search.keep();
        search
    }

    #[test]
    fn capitals_matter_only_when_written() {
        assert_eq!(search("err").places("Error err"), [0..3, 6..9]);
        assert_eq!(search("Err").places("Error err err").first(), Some(&(0..3)));
        assert_eq!(search("Err").places("Error err err").len(), 1);
    }

    #[test]
    fn what_is_written_is_no_pattern() {
        assert!(search("a.b").is_in("xa.bx"));
        assert!(!search("a.b").is_in("xacbx"));
        assert!(search("(").is_in("f("));
    }

    #[test]
    fn leaving_forgets() {
        let mut search = search("x");
        assert!(search.is_active());
        assert!(search.leave());
        assert!(!search.leave());
        assert!(!search.is_in("x"));
    }
}
