//! Log lines as a terminal would have left them, without the terminal: escape sequences removed, progress bars
//! reduced to their last state.

use std::borrow::Cow;

use super::hidden::escapes;
use super::{visible, width};

const ESCAPE: char = '\u{1b}';
/// Where the next tab stop is: every so many cells, as terminals have it.
const TAB: usize = 8;

/// A line of foreign output for a log or a list: escape sequences removed whole, tabs as spaces, of a progress
/// line only what was drawn last, every other control, bidirectional or invisible character in visible escaped
/// form. Never contains a newline.
pub fn clean(text: &str) -> Cow<'_, str> {
    if escapes(text).next().is_none() {
        return Cow::Borrowed(text);
    }
    let text = text.trim_end_matches(['\r', '\n']);
    let mut line = Line::default();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = if let Some((length, effect)) = sequence(rest) {
            line.apply(effect);
            length
        } else {
            line.put(c);
            c.len_utf8()
        };
        rest = rest.get(length..).unwrap_or_default();
    }
    Cow::Owned(visible(&line.text).into_owned())
}

/// The line so far.
#[derive(Default)]
struct Line {
    text: String,
    /// The cursor went back to the start: what comes next replaces what is there.
    restart: bool,
    /// Length in bytes up to the last tab stop, and the cells up to there.
    tab: (usize, usize),
}

impl Line {
    fn apply(&mut self, effect: Effect) {
        match effect {
            Effect::None => {}
            Effect::LineStart => self.restart = true,
            Effect::EraseLine => self.clear(),
        }
    }

    fn put(&mut self, c: char) {
        match c {
            '\r' => self.restart = true,
            '\u{8}' => {
                // A backspace never takes more than this line has.
                if self.text.pop().is_some() && self.text.len() < self.tab.0 {
                    self.tab = (0, 0);
                }
            }
            '\t' => {
                self.begin();
                let column = self.tab.1 + self.text.get(self.tab.0..).map_or(0, width);
                let spaces = TAB - column % TAB;
                self.text.extend(std::iter::repeat_n(' ', spaces));
                self.tab = (self.text.len(), column + spaces);
            }
            _ => {
                self.begin();
                self.text.push(c);
            }
        }
    }

    /// Called when something is about to be drawn.
    fn begin(&mut self) {
        if self.restart {
            self.clear();
        }
    }

    fn clear(&mut self) {
        self.text.clear();
        self.restart = false;
        self.tab = (0, 0);
    }
}

/// What an escape sequence means for a single line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Effect {
    None,
    LineStart,
    EraseLine,
}

/// The length in bytes of the escape sequence that `text` starts with. Of a sequence that does not end only the
/// start is taken, so that it cannot swallow what follows.
fn sequence(text: &str) -> Option<(usize, Effect)> {
    let mut chars = text.chars();
    let first = chars.next()?;
    let (kind, intro) = match first {
        ESCAPE => (chars.next()?, 2),
        // The one-character forms: U+009B is ESC [ and so on.
        '\u{90}' | '\u{98}' | '\u{9b}'..='\u{9f}' => (char::from_u32(u32::from(first) - 0x40)?, first.len_utf8()),
        _ => return None,
    };
    let rest = text.get(intro..)?;
    match kind {
        '[' => {
            let (length, effect) = control_sequence(rest);
            Some((intro + length, effect))
        }
        ']' | 'P' | 'X' | '^' | '_' => Some((intro + string_length(rest), Effect::None)),
        ' '..='/' => {
            let between = rest.bytes().take_while(|byte| matches!(byte, b' '..=b'/')).count();
            let last = rest.as_bytes().get(between).is_some_and(|byte| matches!(byte, b'0'..=b'~'));
            Some((intro + between + usize::from(last), Effect::None))
        }
        '0'..='~' => Some((intro, Effect::None)),
        _ => None,
    }
}

/// The rest of a control sequence behind its introducer: parameters, intermediate bytes, a final byte.
fn control_sequence(rest: &str) -> (usize, Effect) {
    let bytes = rest.as_bytes();
    let parameters = bytes.iter().take_while(|byte| matches!(byte, b'0'..=b'?')).count();
    let between = bytes.iter().skip(parameters).take_while(|byte| matches!(byte, b' '..=b'/')).count();
    let end = parameters + between;
    let effect = match (rest.get(..parameters), bytes.get(end)) {
        (_, Some(b'@'..=b'~')) if between > 0 => Effect::None,
        (Some("" | "0" | "1"), Some(b'G')) => Effect::LineStart,
        (Some("2"), Some(b'K')) => Effect::EraseLine,
        (_, Some(b'@'..=b'~')) => Effect::None,
        _ => return (end, Effect::None),
    };
    (end + 1, effect)
}

/// The rest of a command string (a title, a link) with its terminator; 0 when there is none before the next
/// escape, so that a line of introducers costs linear time.
fn string_length(rest: &str) -> usize {
    let stop =
        |c: char| c == '\u{7}' || c == ESCAPE || c == '\u{18}' || c == '\u{1a}' || ('\u{80}'..='\u{9f}').contains(&c);
    let Some(at) = rest.find(stop) else { return 0 };
    let tail = rest.get(at..).unwrap_or_default();
    ["\u{7}", "\u{1b}\\", "\u{9c}"].iter().find(|end| tail.starts_with(**end)).map_or(0, |end| at + end.len())
}
