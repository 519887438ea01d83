//! One line of text that a person edits: characters, paste, a cursor. Knows no meaning and no limits but its length.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use unicode_segmentation::UnicodeSegmentation as _;

use super::cells::{put_window, width};
use crate::text;

/// The longest text that is taken, in characters; a longer paste is cut there.
const LONGEST: usize = 4096;

/// See the module.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Input {
    before: String,
    after: String,
}

impl Input {
    /// A field that holds `text`, the cursor behind it.
    pub fn with(text: &str) -> Self {
        let mut input = Self::default();
        input.paste(text);
        input
    }

    /// The text.
    pub fn text(&self) -> String {
        format!("{}{}", self.before, self.after)
    }

    /// True when it holds nothing.
    pub const fn is_empty(&self) -> bool {
        self.before.is_empty() && self.after.is_empty()
    }

    /// Takes a key. True when it was one for a text field.
    pub fn key(&mut self, key: KeyEvent) -> bool {
        let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('u') if ctrl => self.before.clear(),
            KeyCode::Char('k') if ctrl => self.after.clear(),
            KeyCode::Char('w') if ctrl => self.delete_word(),
            KeyCode::Char('a') if ctrl => self.home(),
            KeyCode::Char('e') if ctrl => self.end(),
            KeyCode::Char(c) if !ctrl && !key.modifiers.contains(KeyModifiers::ALT) => self.insert(c),
            KeyCode::Backspace => _ = pop(&mut self.before),
            KeyCode::Delete => _ = take_first(&mut self.after),
            KeyCode::Left => {
                if let Some(last) = pop(&mut self.before) {
                    self.after.insert_str(0, &last);
                }
            }
            KeyCode::Right => {
                if let Some(first) = take_first(&mut self.after) {
                    self.before.push_str(&first);
                }
            }
            KeyCode::Home => self.home(),
            KeyCode::End => self.end(),
            _ => return false,
        }
        true
    }

    /// Takes pasted text; line ends and other controls become spaces.
    pub fn paste(&mut self, pasted: &str) {
        for c in pasted.trim_end_matches(['\r', '\n']).replace("\r\n", " ").chars() {
            self.insert(if c.is_control() { ' ' } else { c });
        }
    }

    /// Draws it with its cursor, scrolled so that the cursor is visible.
    pub fn render(&self, buf: &mut Buffer, line: Rect, style: Style) {
        let cursor = style.add_modifier(Modifier::REVERSED);
        let mut rest = self.after.graphemes(true);
        let under = rest.next().map_or(" ".into(), text::visible);
        let (before, after) = (text::visible(&self.before), text::visible(rest.as_str()).into_owned());
        let skip = (width(&before) + width(&under)).saturating_sub(usize::from(line.width));
        put_window(buf, line, skip, &[(&before, style), (&under, cursor), (&after, style)]);
    }

    fn insert(&mut self, c: char) {
        if self.before.len() + self.after.len() < LONGEST {
            self.before.push(c);
        }
    }

    fn home(&mut self) {
        self.after.insert_str(0, &std::mem::take(&mut self.before));
    }

    fn end(&mut self) {
        self.before.push_str(&std::mem::take(&mut self.after));
    }

    fn delete_word(&mut self) {
        let kept = self.before.trim_end().split_word_bound_indices().next_back().map_or(0, |(at, _)| at);
        self.before.truncate(kept);
    }
}

fn pop(text: &mut String) -> Option<String> {
    let last = text.graphemes(true).next_back()?.to_owned();
    text.truncate(text.len() - last.len());
    Some(last)
}

fn take_first(text: &mut String) -> Option<String> {
    let first = text.graphemes(true).next()?.to_owned();
    text.replace_range(..first.len(), "");
    Some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(input: &mut Input, codes: &[KeyCode]) {
        for code in codes {
            assert!(input.key(KeyEvent::new(*code, KeyModifiers::NONE)), "{code:?}");
        }
    }

    #[test]
    fn editing_goes_by_whole_characters() {
        let mut input = Input::with("a👨‍👩‍👧b");
        press(&mut input, &[KeyCode::Left, KeyCode::Backspace, KeyCode::Char('x')]);
        assert_eq!(input.text(), "axb");
        press(&mut input, &[KeyCode::Home, KeyCode::Delete, KeyCode::End, KeyCode::Char('é')]);
        assert_eq!(input.text(), "xbé");
    }

    #[test]
    fn words_go_with_ctrl_w_and_all_with_ctrl_u() {
        let ctrl = |c| KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL);
        let mut input = Input::with("one two  ");
        input.key(ctrl('w'));
        assert_eq!(input.text(), "one ");
        input.key(ctrl('u'));
        assert!(input.is_empty());
        assert!(!input.key(ctrl('x')));
    }

    #[test]
    fn a_paste_stays_on_one_line_and_is_bounded() {
        let mut input = Input::with("a\r\nb\tc\u{7}\n");
        assert_eq!(input.text(), "a b c ");
        input.paste(&"x".repeat(10_000));
        assert_eq!(input.text().len(), LONGEST);
    }

    #[test]
    fn the_cursor_stays_in_view() {
        let mut buf = Buffer::empty(Rect::new(0, 0, 5, 1));
        Input::with("abcdefgh").render(&mut buf, Rect::new(0, 0, 5, 1), Style::new());
        assert_eq!(buf[(0, 0)].symbol(), "e");
        assert!(buf[(4, 0)].modifier.contains(Modifier::REVERSED));
    }
}
