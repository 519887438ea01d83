//! Which characters a person could not see, and how they are shown instead.
//!
//! What is escaped: controls, everything that reorders or joins text without drawing (bidirectional controls,
//! zero-width characters, tags, fillers, other format characters), and combining marks that have no base or
//! are more than [`MAX_MARKS`] on one. What stays although it draws nothing alone: the joiner between two emoji
//! and the emoji variation selector behind one, because without them the emoji would fall apart.

use std::borrow::Cow;
use std::fmt::Write as _;

use unicode_width::UnicodeWidthChar as _;

use super::width::is_halfwidth_sound_mark;

/// Combining marks on one base that are still drawn. Real scripts stay well below; more climb into other lines.
pub const MAX_MARKS: usize = 8;

const JOINER: char = '\u{200d}';
const EMOJI_SELECTOR: char = '\u{fe0f}';
const KEYCAP: char = '\u{20e3}';

/// Characters that draw nothing or change how others are drawn, apart from the controls: default ignorable code
/// points, the other format characters that do not draw, line and paragraph separators, noncharacters of the
/// basic plane. Sorted.
const HIDDEN: &[(u32, u32)] = &[
    (0x00ad, 0x00ad),
    (0x034f, 0x034f),
    (0x061c, 0x061c),
    (0x070f, 0x070f),
    (0x115f, 0x1160),
    (0x17b4, 0x17b5),
    (0x180b, 0x180f),
    (0x200b, 0x200f),
    (0x2028, 0x202e),
    (0x2060, 0x206f),
    (0x3164, 0x3164),
    (0xfdd0, 0xfdef),
    (0xfe00, 0xfe0f),
    (0xfeff, 0xfeff),
    (0xffa0, 0xffa0),
    (0xfff0, 0xfffb),
    (0x13430, 0x13455),
    (0x1bca0, 0x1bca3),
    (0x1d173, 0x1d17a),
    (0xe0000, 0xe0fff),
];

/// Characters without a width that do not join the one before them either, so that the screen library would leave
/// them out: marks that belong to what follows, and reserved ones. Sorted.
const LOOSE: &[(u32, u32)] = &[
    (0x05c8, 0x05c9),
    (0x0605, 0x0605),
    (0x0890, 0x0891),
    (0x08e2, 0x08e2),
    (0x0b53, 0x0b54),
    (0x0d4e, 0x0d4e),
    (0x1ade, 0x1adf),
    (0x1aec, 0x1af0),
    (0xa8fa, 0xa8fa),
    (0x10ecb, 0x10ecf),
    (0x10ef0, 0x10ef9),
    (0x111c2, 0x111c3),
    (0x113d1, 0x113d1),
    (0x1193f, 0x1193f),
    (0x11941, 0x11941),
    (0x11a84, 0x11a89),
    (0x11d46, 0x11d46),
    (0x11df0, 0x11df0),
    (0x11f02, 0x11f02),
    (0x1d127, 0x1d128),
    (0x1d250, 0x1d252),
    (0x1d25b, 0x1d25c),
    (0x1d25f, 0x1d25f),
    (0x1d280, 0x1d281),
];

/// The characters with the property Extended Pictographic. Sorted.
#[rustfmt::skip]
const PICTOGRAPHIC: &[(u32, u32)] = &[
    (0xa9, 0xa9), (0xae, 0xae), (0x203c, 0x203c), (0x2049, 0x2049), (0x2122, 0x2122), (0x2139, 0x2139),
    (0x2194, 0x2199), (0x21a9, 0x21aa), (0x231a, 0x231b), (0x2328, 0x2328), (0x2388, 0x2388), (0x23cf, 0x23cf),
    (0x23e9, 0x23f3), (0x23f8, 0x23fa), (0x24c2, 0x24c2), (0x25aa, 0x25ab), (0x25b6, 0x25b6), (0x25c0, 0x25c0),
    (0x25fb, 0x25fe), (0x2600, 0x2605), (0x2607, 0x2612), (0x2614, 0x2685), (0x2690, 0x2705), (0x2708, 0x2712),
    (0x2714, 0x2714), (0x2716, 0x2716), (0x271d, 0x271d), (0x2721, 0x2721), (0x2728, 0x2728), (0x2733, 0x2734),
    (0x2744, 0x2744), (0x2747, 0x2747), (0x274c, 0x274c), (0x274e, 0x274e), (0x2753, 0x2755), (0x2757, 0x2757),
    (0x2763, 0x2767), (0x2795, 0x2797), (0x27a1, 0x27a1), (0x27b0, 0x27b0), (0x27bf, 0x27bf), (0x2934, 0x2935),
    (0x2b05, 0x2b07), (0x2b1b, 0x2b1c), (0x2b50, 0x2b50), (0x2b55, 0x2b55), (0x3030, 0x3030), (0x303d, 0x303d),
    (0x3297, 0x3297), (0x3299, 0x3299), (0x1f000, 0x1f0ff), (0x1f10d, 0x1f10f), (0x1f12f, 0x1f12f),
    (0x1f16c, 0x1f171), (0x1f17e, 0x1f17f), (0x1f18e, 0x1f18e), (0x1f191, 0x1f19a), (0x1f1ad, 0x1f1e5),
    (0x1f201, 0x1f20f), (0x1f21a, 0x1f21a), (0x1f22f, 0x1f22f), (0x1f232, 0x1f23a), (0x1f23c, 0x1f23f),
    (0x1f249, 0x1f3fa), (0x1f400, 0x1f53d), (0x1f546, 0x1f64f), (0x1f680, 0x1f6ff), (0x1f774, 0x1f77f),
    (0x1f7d5, 0x1f7ff), (0x1f80c, 0x1f80f), (0x1f848, 0x1f84f), (0x1f85a, 0x1f85f), (0x1f888, 0x1f88f),
    (0x1f8ae, 0x1f8ff), (0x1f90c, 0x1f93a), (0x1f93c, 0x1f945), (0x1f947, 0x1faff), (0x1fc00, 0x1fffd),
];

/// Whether a character draws nothing, moves the cursor or reorders what others see. It looks at the character
/// alone: inside an emoji [`visible`] keeps the joiner and the emoji variation selector all the same.
pub fn is_hidden(c: char) -> bool {
    match u32::from(c) {
        0x20..=0x7e => false,
        code => c.is_control() || code & 0xfffe == 0xfffe || contains(HIDDEN, code) || contains(LOOSE, code),
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
pub(super) fn escapes(text: &str) -> impl Iterator<Item = (usize, char)> + '_ {
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

fn is_pictographic(c: char) -> bool {
    contains(PICTOGRAPHIC, u32::from(c))
}

fn contains(ranges: &[(u32, u32)], code: u32) -> bool {
    let after = ranges.partition_point(|(first, _)| *first <= code);
    after > 0 && ranges.get(after - 1).is_some_and(|(_, last)| code <= *last)
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

    #[test]
    fn tables_are_sorted() {
        for table in [HIDDEN, LOOSE, PICTOGRAPHIC] {
            assert!(table.iter().all(|(first, last)| first <= last));
            assert!(table.windows(2).all(|pair| pair[0].1 < pair[1].0));
        }
    }
}
