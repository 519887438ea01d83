//! Which characters a person could not see, and how they are shown instead.
//!
//! What is escaped: controls, everything that reorders or joins text without drawing (bidirectional controls,
//! zero-width characters, tags, fillers, other format characters), and combining marks that have no base or
//! are more than [`MAX_MARKS`] on one. What stays although it draws nothing alone: the joiner between two emoji
//! and the emoji variation selector behind one, because without them the emoji would fall apart.

use std::borrow::Cow;
use std::fmt::Write as _;

use unicode_width::UnicodeWidthChar as _;

use super::tables::{is_listed, is_pictographic};
use super::width::is_halfwidth_sound_mark;

/// Combining marks on one base that are still drawn. Real scripts stay well below; more climb into other lines.
pub const MAX_MARKS: usize = 8;

const JOINER: char = '\u{200d}';
const EMOJI_SELECTOR: char = '\u{fe0f}';
const KEYCAP: char = '\u{20e3}';

/// Whether a character draws nothing, moves the cursor or reorders what others see. It looks at the character
/// alone: inside an emoji [`visible`] keeps the joiner and the emoji variation selector all the same.
pub fn is_hidden(c: char) -> bool {
    match u32::from(c) {
        0x20..=0x7e => false,
        code => c.is_control() || code & 0xfffe == 0xfffe || is_listed(c),
    }
}

/// `text` with every control, bidirectional, zero-width or otherwise invisible character in visible escaped form
/// (`\u{202e}`, `\n`, `\x1b`). Borrowed when there was none.
pub fn visible(text: &str) -> Cow<'_, str> {
    let mut escapes = escapes(text).peekable();
    if escapes.peek().is_none() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut from = 0;
    for (at, c) in escapes {
        out.push_str(text.get(from..at).unwrap_or_default());
        push_escape(&mut out, c);
        from = at + c.len_utf8();
    }
    out.push_str(text.get(from..).unwrap_or_default());
    Cow::Owned(out)
}

/// True when `text` has a character that [`visible`] would escape, other than newline and tab.
pub fn has_hidden(text: &str) -> bool {
    escapes(text).any(|(_, c)| !matches!(c, '\n' | '\t'))
}

fn push_escape(out: &mut String, c: char) {
    match c {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        // Two digits only below 0x80: `\x9b` would look like a byte, and the character is two of them.
        '\0'..='\x7f' => drop(write!(out, "\\x{:02x}", u32::from(c))),
        _ => drop(write!(out, "\\u{{{:x}}}", u32::from(c))),
    }
}

/// The characters of `text` that have to be escaped, with their byte offsets.
pub fn escapes(text: &str) -> impl Iterator<Item = (usize, char)> + '_ {
    let mut chars = text.char_indices().peekable();
    let mut before = Before::default();
    std::iter::from_fn(move || {
        while let Some((at, c)) = chars.next() {
            if c.is_ascii() && !c.is_ascii_control() {
                before = Before { base: Some(c), last: Some(c), pictograph: false, marks: 0 };
            } else if !before.admits(c, chars.peek().map(|(_, next)| *next)) {
                before = Before::default();
                return Some((at, c));
            }
        }
        None
    })
}

/// What stands before a character, as far as it decides whether the character may stay.
#[derive(Default)]
struct Before {
    /// The last character that is drawn and can carry a mark or a selector.
    base: Option<char>,
    /// The character right before, whatever it is.
    last: Option<char>,
    /// An emoji, with selectors and modifiers perhaps, stands right before.
    pictograph: bool,
    /// Marks since the last base.
    marks: usize,
}

impl Before {
    /// Whether `c` may stay, and if so takes it in.
    fn admits(&mut self, c: char, next: Option<char>) -> bool {
        let admitted = self.weighs(c, next);
        self.last = Some(c);
        admitted
    }

    fn weighs(&mut self, c: char, next: Option<char>) -> bool {
        match c {
            JOINER => {
                let joins = self.pictograph && next.is_some_and(is_pictographic);
                *self = Self { marks: MAX_MARKS, ..Self::default() };
                joins
            }
            EMOJI_SELECTOR => {
                let keycap = next == Some(KEYCAP) && matches!(self.base, Some('0'..='9' | '#' | '*'));
                let selects = keycap || (self.marks == 0 && self.base.is_some_and(is_pictographic));
                // A second selector finds no base.
                self.base = if keycap { self.base } else { None };
                selects
            }
            _ if is_hidden(c) => false,
            _ if is_mark(c) => {
                let carried = self.base.is_some() || self.pictograph;
                let joins = !is_conjoining(c) || self.last.is_some_and(|last| joins_syllable(last, c));
                self.marks += 1;
                self.pictograph = false;
                carried && joins && self.marks <= MAX_MARKS
            }
            _ => {
                let modifier = matches!(c, '\u{1f3fb}'..='\u{1f3ff}') && self.pictograph;
                *self = Self { base: Some(c), last: None, pictograph: modifier || is_pictographic(c), marks: 0 };
                true
            }
        }
    }
}

/// A character that is drawn onto the one before it.
fn is_mark(c: char) -> bool {
    c.width() == Some(0) && !is_halfwidth_sound_mark(c)
}

/// A vowel or final consonant of Hangul that is drawn into the syllable before it.
fn is_conjoining(c: char) -> bool {
    is_vowel(c) || is_final(c)
}

fn is_vowel(c: char) -> bool {
    matches!(c, '\u{1160}'..='\u{11a7}' | '\u{d7b0}'..='\u{d7c6}')
}

fn is_final(c: char) -> bool {
    matches!(c, '\u{11a8}'..='\u{11ff}' | '\u{d7cb}'..='\u{d7fb}')
}

/// The rules by which conjoining Hangul forms one cluster.
fn joins_syllable(last: char, c: char) -> bool {
    let syllable = matches!(last, '\u{ac00}'..='\u{d7a3}');
    // Every 28th syllable has no final consonant yet.
    let open = syllable && (u32::from(last) - 0xac00).is_multiple_of(28);
    let leading = matches!(last, '\u{1100}'..='\u{115e}' | '\u{a960}'..='\u{a97c}');
    if is_vowel(c) { leading || open || is_vowel(last) } else { syllable || is_vowel(last) || is_final(last) }
}

#[cfg(test)]
pub(super) mod tests {
    use regex::Regex;

    use super::*;

    fn every_char() -> impl Iterator<Item = char> {
        (0..=0x0010_ffff).filter_map(char::from_u32)
    }

    fn differing(ours: fn(char) -> bool, pattern: &str) -> Vec<String> {
        let theirs = Regex::new(pattern).unwrap();
        let differ = every_char().filter(|c| ours(*c) != theirs.is_match(c.encode_utf8(&mut [0; 4])));
        differ.map(|c| format!("{:x}", u32::from(c))).collect()
    }

    #[test]
    fn pictographs_are_those_of_unicode() {
        assert_eq!(differing(is_pictographic, r"\p{Extended_Pictographic}"), Vec::<String>::new());
    }

    #[test]
    fn every_format_and_ignorable_character_is_hidden() {
        // The prepended marks of category Cf (Arabic number signs and the like) are drawn, so they stay.
        let drawn = r"\u{600}-\u{605}\u{6dd}\u{890}\u{891}\u{8e2}\u{110bd}\u{110cd}";
        let hidden =
            Regex::new(&format!(r"[[\p{{Cf}}\p{{Cc}}\p{{Zl}}\p{{Zp}}\p{{Default_Ignorable_Code_Point}}]--[{drawn}]]"))
                .unwrap();
        let missed: Vec<_> =
            every_char().filter(|c| hidden.is_match(c.encode_utf8(&mut [0; 4])) && !is_hidden(*c)).collect();
        assert_eq!(missed, Vec::<char>::new());
    }

    #[test]
    fn what_has_no_width_joins_what_stands_before_or_is_escaped() {
        use unicode_segmentation::UnicodeSegmentation as _;
        let loose = |c: &char| is_mark(*c) && !is_hidden(*c) && format!("a{c}").graphemes(true).count() > 1;
        let left: Vec<char> = every_char().filter(loose).collect();
        assert!(left.iter().all(|c| is_conjoining(*c)), "{left:x?}");
    }
}
