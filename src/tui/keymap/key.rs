//! One key with its modifiers: compared, written for people, and read from `tui.keys`.

use std::fmt;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// A key press without anything that terminals disagree about: Shift is part of the character.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Key {
    code: KeyCode,
    modifiers: KeyModifiers,
}

impl Key {
    /// A plain key.
    pub const fn code(code: KeyCode) -> Self {
        Self { code, modifiers: KeyModifiers::NONE }
    }

    /// A character, Shift included.
    pub const fn char(c: char) -> Self {
        Self::code(KeyCode::Char(c))
    }

    /// A character with Ctrl.
    pub const fn ctrl(c: char) -> Self {
        Self { code: KeyCode::Char(c), modifiers: KeyModifiers::CONTROL }
    }

    /// True when Ctrl is part of it.
    pub const fn has_ctrl(self) -> bool {
        self.modifiers.contains(KeyModifiers::CONTROL)
    }

    /// Reads `ctrl-c`, `shift-tab`, `pageup`, `f5`, `space`, `/`.
    ///
    /// # Errors
    /// The part that is no key.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut modifiers = KeyModifiers::NONE;
        let mut rest = text;
        while let Some((name, after)) = rest.split_once('-') {
            let modifier = match name.to_ascii_lowercase().as_str() {
                "ctrl" => KeyModifiers::CONTROL,
                "alt" => KeyModifiers::ALT,
                "shift" => KeyModifiers::SHIFT,
                _ => break,
            };
            modifiers |= modifier;
            rest = after;
        }
        let code = code_of(rest).ok_or_else(|| rest.to_owned())?;
        Ok(Self::normal(code, modifiers))
    }

    fn normal(code: KeyCode, mut modifiers: KeyModifiers) -> Self {
        let code = match code {
            KeyCode::Char(c) if modifiers.contains(KeyModifiers::CONTROL) => KeyCode::Char(c.to_ascii_lowercase()),
            KeyCode::Char(c) if modifiers.contains(KeyModifiers::SHIFT) && c.is_ascii_lowercase() => {
                KeyCode::Char(c.to_ascii_uppercase())
            }
            KeyCode::Tab if modifiers.contains(KeyModifiers::SHIFT) => KeyCode::BackTab,
            code => code,
        };
        if matches!(code, KeyCode::Char(_) | KeyCode::BackTab) {
            modifiers.remove(KeyModifiers::SHIFT);
        }
        let known = KeyModifiers::CONTROL | KeyModifiers::ALT | KeyModifiers::SHIFT;
        Self { code, modifiers: modifiers & known }
    }
}

impl From<KeyEvent> for Key {
    fn from(event: KeyEvent) -> Self {
        Self::normal(event.code, event.modifiers)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (modifier, name) in
            [(KeyModifiers::CONTROL, "Ctrl-"), (KeyModifiers::ALT, "Alt-"), (KeyModifiers::SHIFT, "Shift-")]
        {
            if self.modifiers.contains(modifier) {
                f.write_str(name)?;
            }
        }
        match self.code {
            KeyCode::Char(' ') => f.write_str("Space"),
            KeyCode::Char(c) if self.has_ctrl() => write!(f, "{}", c.to_ascii_uppercase()),
            KeyCode::Char(c) => write!(f, "{c}"),
            KeyCode::F(number) => write!(f, "F{number}"),
            code => f.write_str(NAMES.iter().find(|(_, _, named)| *named == code).map_or("?", |(_, shown, _)| shown)),
        }
    }
}

/// As written in the configuration, as shown, and the code.
const NAMES: [(&str, &str, KeyCode); 15] = [
    ("up", "↑", KeyCode::Up),
    ("down", "↓", KeyCode::Down),
    ("left", "←", KeyCode::Left),
    ("right", "→", KeyCode::Right),
    ("pageup", "PgUp", KeyCode::PageUp),
    ("pagedown", "PgDn", KeyCode::PageDown),
    ("home", "Home", KeyCode::Home),
    ("end", "End", KeyCode::End),
    ("tab", "Tab", KeyCode::Tab),
    ("backtab", "Shift-Tab", KeyCode::BackTab),
    ("enter", "Enter", KeyCode::Enter),
    ("esc", "Esc", KeyCode::Esc),
    ("insert", "Ins", KeyCode::Insert),
    ("delete", "Del", KeyCode::Delete),
    ("backspace", "Backspace", KeyCode::Backspace),
];

fn code_of(text: &str) -> Option<KeyCode> {
    let mut characters = text.chars();
    if let (Some(only), None) = (characters.next(), characters.next()) {
        return Some(KeyCode::Char(only));
    }
    let lower = text.to_ascii_lowercase();
    if lower == "space" {
        return Some(KeyCode::Char(' '));
    }
    if let Some(number) = lower.strip_prefix('f').and_then(|digits| digits.parse().ok()) {
        return (1..=24).contains(&number).then_some(KeyCode::F(number));
    }
    NAMES.iter().find(|(name, _, _)| *name == lower).map(|(_, _, code)| *code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_and_written() {
        for (text, shown) in [
            ("ctrl-c", "Ctrl-C"),
            ("Ctrl-C", "Ctrl-C"),
            ("shift-tab", "Shift-Tab"),
            ("pageup", "PgUp"),
            ("f5", "F5"),
            ("space", "Space"),
            ("/", "/"),
            ("-", "-"),
            ("ctrl--", "Ctrl--"),
            ("shift-g", "G"),
            ("alt-x", "Alt-x"),
        ] {
            assert_eq!(Key::parse(text).map(|key| key.to_string()).as_deref(), Ok(shown), "{text}");
        }
        for text in ["", "ctrl-", "f0", "f99", "hyper-x", "enterr"] {
            assert!(Key::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn terminals_that_report_shift_agree_with_those_that_do_not() {
        let with = KeyEvent::new(KeyCode::Char('G'), KeyModifiers::SHIFT);
        let without = KeyEvent::new(KeyCode::Char('G'), KeyModifiers::NONE);
        assert_eq!(Key::from(with), Key::from(without));
        assert_eq!(Key::from(KeyEvent::new(KeyCode::Tab, KeyModifiers::SHIFT)), Key::code(KeyCode::BackTab));
    }
}
