//! Text for the terminal's clipboard: OSC 52, which also works through ssh. Bounded; the text is cleaned, since
//! somebody will paste it elsewhere. Reading the clipboard is never asked for.

use crate::text;

/// Longest text that is handed over, in bytes; terminals drop longer ones without a word.
const MOST: usize = 64 << 10;

/// What became of a copy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Copied {
    /// Handed to the terminal, which may still ignore it. How many lines.
    Lines(usize),
    /// Only this many lines: the others would have been too much.
    Cut(usize),
    /// This terminal has no clipboard for us.
    Unsupported,
}

/// The sequence for a text, cut after a whole line when it is too long.
pub fn sequence(wanted: &str) -> (String, Copied) {
    let mut cleaned = String::new();
    let mut lines = 0;
    for line in wanted.lines() {
        let line = text::clean(line);
        if cleaned.len() + line.len() + 1 > MOST {
            return (osc(&cleaned), Copied::Cut(lines));
        }
        cleaned.push_str(&line);
        cleaned.push('\n');
        lines += 1;
    }
    (osc(&cleaned), Copied::Lines(lines))
}

fn osc(text: &str) -> String {
    format!("\x1b]52;c;{}\x1b\\", base64(text.as_bytes()))
}

fn base64(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let group = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4_usize {
            let six = u8::try_from(group >> (18 - 6 * place) & 63).unwrap_or(0);
            out.push(if place > chunk.len() { '=' } else { digit(six) });
        }
    }
    out
}

const fn digit(six: u8) -> char {
    (match six {
        0..26 => b'A' + six,
        26..52 => b'a' + six - 26,
        52..62 => b'0' + six - 52,
        62 => b'+',
        _ => b'/',
    }) as char
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_rfc_4648() {
        for (text, encoded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foobar", "Zm9vYmFy"),
            ("\u{fb}\u{ff}>?", "w7vDvz4/"),
        ] {
            assert_eq!(base64(text.as_bytes()), encoded, "{text}");
        }
    }

    #[test]
    fn a_copy_is_clean_and_bounded() {
        let (sequence, copied) = sequence("one\n\u{1b}]52;c;evil\u{7}two\n");
        assert_eq!(copied, Copied::Lines(2));
        assert_eq!(sequence.matches('\x1b').count(), 2, "{sequence:?}");
        let (sequence, copied) = super::sequence(&"0123456789\n".repeat(10_000));
        assert!(matches!(copied, Copied::Cut(lines) if (5_000..6_000).contains(&lines)), "{copied:?}");
        assert!(sequence.len() < 90_000);
    }
}
