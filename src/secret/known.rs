//! The secret values that were learned, in every spelling in which they can come back.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use aho_corasick::AhoCorasick;

use super::spans::Spans;
use super::{Redactor, Secret};

/// A line of a longer secret (a private key) is a secret of its own from this length on.
const MIN_LINE_CHARS: usize = 16;

/// A piece of base64 that stands for the inner part of a value is looked for from this length on.
const MIN_BASE64_CHARS: usize = 10;

/// An immutable set of values with the automaton that finds them all in one pass.
#[derive(Default)]
pub(super) struct Known {
    spellings: BTreeSet<String>,
    search: Search,
}

#[derive(Default)]
enum Search {
    #[default]
    Nothing,
    Values(AhoCorasick),
    /// The automaton could not be built. Hiding everything is the only answer that cannot leak.
    Everything,
}

impl Known {
    /// These values and more; `None` when there is nothing new.
    pub(super) fn with(&self, values: &[Secret]) -> Option<Self> {
        let mut spellings = self.spellings.clone();
        for value in values {
            add_spellings(value.expose(), &mut spellings);
        }
        self.of(spellings)
    }

    /// Without these values; `None` when none of them is known.
    pub(super) fn without(&self, values: &[Secret]) -> Option<Self> {
        let mut gone = BTreeSet::new();
        for value in values {
            add_spellings(value.expose(), &mut gone);
        }
        self.of(self.spellings.difference(&gone).cloned().collect())
    }

    fn of(&self, spellings: BTreeSet<String>) -> Option<Self> {
        if spellings.len() == self.spellings.len() {
            return None;
        }
        if spellings.is_empty() {
            return Some(Self::default());
        }
        let search = AhoCorasick::new(&spellings).map_or(Search::Everything, Search::Values);
        Some(Self { spellings, search })
    }

    /// Adds every place where a value stands, also where two of them overlap.
    pub(super) fn find(&self, text: &str, spans: &mut Spans) {
        match &self.search {
            Search::Nothing => {}
            Search::Everything if text.is_empty() => {}
            Search::Everything => spans.push(0, text.len(), "secret"),
            Search::Values(automaton) => {
                for found in automaton.find_overlapping_iter(text) {
                    spans.push(found.start(), found.end(), "secret");
                }
            }
        }
    }
}

fn add_spellings(value: &str, all: &mut BTreeSet<String>) {
    let long = |text: &str, least: usize| text.chars().nth(least - 1).is_some();
    let stripped: String = value.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t' | '\r')).collect();
    for whole in [value, value.trim(), stripped.trim()] {
        // White space around a value makes it no longer.
        if long(whole.trim(), Redactor::MIN_CHARS) {
            add_encodings(whole, all);
        }
    }
    if value.trim().contains('\n') {
        for line in value.lines().map(str::trim).filter(|line| long(line, MIN_LINE_CHARS)) {
            add_encodings(line, all);
        }
    }
}

fn add_encodings(value: &str, all: &mut BTreeSet<String>) {
    all.insert(value.to_owned());
    add_percent(value, all);
    add_base64(value.as_bytes(), all);
    let json = json_inside(value, char::is_control);
    all.insert(json.replace('/', "\\/"));
    all.insert(json);
    all.insert(json_inside(value, |c| !(' '..='~').contains(&c)));
}

/// What encoders in use leave alone differs, and so does the case of their digits.
fn add_percent(value: &str, all: &mut BTreeSet<String>) {
    for kept in ["-_.~", "-_.~/", "-_.!~*'()"] {
        let (mut upper, mut lower) = (String::new(), String::new());
        for byte in value.bytes() {
            if byte.is_ascii_alphanumeric() || kept.as_bytes().contains(&byte) {
                upper.push(char::from(byte));
                lower.push(char::from(byte));
            } else {
                let _ = write!(upper, "%{byte:02X}");
                let _ = write!(lower, "%{byte:02x}");
            }
        }
        for encoded in [upper, lower] {
            all.insert(encoded.replace("%20", "+"));
            all.insert(encoded);
        }
    }
}

/// The value alone, and what is always the same of it when something stands before and behind it
/// (`user:password`): the digits that only its own bits decide, for each of the three positions.
fn add_base64(value: &[u8], all: &mut BTreeSet<String>) {
    for alphabet in [b"+/", b"-_"] {
        let alone = base64(value, *alphabet);
        let padding = match value.len() % 3 {
            0 => "",
            1 => "==",
            _ => "=",
        };
        all.insert(format!("{alone}{padding}"));
        all.insert(alone);
        for before in 0..3 {
            let mut shifted = vec![0; before];
            shifted.extend_from_slice(value);
            let first = (8 * before).div_ceil(6);
            let last = 8 * shifted.len() / 6;
            if let Some(inner) = base64(&shifted, *alphabet).get(first..last)
                && inner.len() >= MIN_BASE64_CHARS
            {
                all.insert(inner.to_owned());
            }
        }
    }
}

/// Base64 without padding; `special` are the digits 62 and 63.
fn base64(bytes: &[u8], special: [u8; 2]) -> String {
    let digit = |value: u32| match u8::try_from(value & 63).unwrap_or(0) {
        value @ 0..=25 => b'A' + value,
        value @ 26..=51 => b'a' + value - 26,
        value @ 52..=61 => b'0' + value - 52,
        62 => special[0],
        _ => special[1],
    };
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let bits = chunk.iter().fold(0, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for at in 0..=chunk.len() {
            out.push(char::from(digit(bits >> (18 - 6 * at))));
        }
    }
    out
}

/// The inside of a JSON string, the characters that `escaped` names as `\uXXXX` where JSON has no short form.
fn json_inside(value: &str, escaped: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(value.len());
    for c in value.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if escaped(c) => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_rfc_4648() {
        for (text, expected) in
            [("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(text.as_bytes(), *b"+/"), expected);
        }
        assert_eq!(base64(&[0xfb, 0xff], *b"+/"), "+/8");
        assert_eq!(base64(&[0xfb, 0xff], *b"-_"), "-_8");
    }

    #[test]
    fn an_automaton_that_cannot_be_built_hides_everything() {
        let broken = Known { spellings: BTreeSet::new(), search: Search::Everything };
        let mut spans = Spans::default();
        broken.find("anything", &mut spans);
        assert_eq!(spans.replace("anything"), "[REDACTED:secret]");
    }
}
