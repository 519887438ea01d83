//! The layout of a JSON text: one pass over its bytes with an explicit stack of open containers.
//!
//! Reads text that is known to be JSON (canonical arguments, a serialised schema). Anything else is laid out as it
//! stands, without a claim about its structure.

use super::Shape;
use super::units::{Unit, is_hidden, units};
use crate::tui::widgets::paint::shown;

/// Containers nested deeper than this become running text instead of one line per member.
const MAX_TALL: usize = 8;
/// Texts longer than this are laid out as running text throughout: rows cost memory.
const BIG: usize = 1 << 20;
/// The widest column of field names.
const MAX_KEY: usize = 24;

/// What a piece of the text is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Key,
    Text,
    Scalar,
    Mark,
}

/// A piece of a row: a range of the text, and the blank cells before it.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) kind: Kind,
    /// Drawn character by character.
    pub(super) single: bool,
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) gap: usize,
}

/// Where a row begins.
#[derive(Clone, Debug)]
pub(super) struct Start {
    pub(super) indent: usize,
    pub(super) piece: usize,
}

/// The result.
#[derive(Clone, Debug, Default)]
pub(super) struct Laid {
    pub(super) rows: Vec<Start>,
    pub(super) pieces: Vec<Piece>,
    pub(super) fields: usize,
    pub(super) hidden: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// The outermost object of a list of fields.
    Fields,
    /// One member a line.
    Tall,
    /// Running text.
    Flat,
}

struct Level {
    object: bool,
    mode: Mode,
}

struct Laying<'t> {
    text: &'t str,
    width: usize,
    laid: Laid,
    stack: Vec<Level>,
    tall: usize,
    /// Where the values of a list of fields stand.
    base: usize,
    column: usize,
    gap: usize,
    key_next: bool,
}

/// Lays `text` out in rows of at most `width` cells.
pub(super) fn lay_out(text: &str, shape: Shape, width: usize) -> Laid {
    let fields = shape == Shape::Fields && text.starts_with('{');
    let mut laying = Laying {
        text,
        width,
        laid: Laid::default(),
        stack: Vec::new(),
        tall: 0,
        base: if fields { key_column(text, width) } else { 0 },
        column: 0,
        gap: 0,
        key_next: false,
    };
    if !fields {
        laying.new_row(0);
    }
    let mut at = 0;
    while let Some(byte) = text.as_bytes().get(at) {
        at = laying.token(*byte, at, fields).max(at + 1);
    }
    laying.laid
}

/// The column at which values begin: two cells after the longest name, within reason.
fn key_column(text: &str, width: usize) -> usize {
    let (mut at, mut depth, mut widest) = (0, 0_usize, 1);
    while let Some(byte) = text.as_bytes().get(at) {
        let end = token_end(text, at);
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' if depth == 1 && text.as_bytes().get(end) == Some(&b':') => {
                let (from, to) = bare_key(text, at, end);
                let cells: usize = units(text.get(from..to).unwrap_or_default()).map(|unit| shown(unit.text()).1).sum();
                widest = widest.max(cells);
            }
            _ => {}
        }
        at = end;
    }
    widest.min(MAX_KEY).min(width / 3) + 2
}

/// A key without its quotes, unless something in it could be taken for something else.
fn bare_key(text: &str, from: usize, to: usize) -> (usize, usize) {
    let inside = text.get(from + 1..to.saturating_sub(1)).unwrap_or_default();
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '$' | '@');
    if !inside.is_empty() && inside.chars().all(plain) { (from + 1, to - 1) } else { (from, to) }
}

/// Where the token that begins at `at` ends.
fn token_end(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes().get(at..).unwrap_or_default();
    let length = match bytes.first() {
        Some(b'"') => string_length(bytes),
        Some(b'{' | b'}' | b'[' | b']' | b':' | b',') => 1,
        Some(byte) if byte.is_ascii_whitespace() => 1,
        _ => {
            let ends = |byte: &u8| byte.is_ascii_whitespace() || b"{}[]:,\"".contains(byte);
            bytes.iter().position(ends).unwrap_or(bytes.len())
        }
    };
    at + length.max(1)
}

fn string_length(bytes: &[u8]) -> usize {
    let mut escaped = false;
    for (index, byte) in bytes.iter().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return index + 1,
            _ => {}
        }
    }
    bytes.len()
}

impl Laying<'_> {
    /// Lays one token out and returns where the next one begins.
    fn token(&mut self, byte: u8, at: usize, fields: bool) -> usize {
        let end = token_end(self.text, at);
        match byte {
            b'{' | b'[' => self.open(byte == b'{', at, fields),
            b'}' | b']' => self.close(at),
            b',' => self.comma(at),
            b':' => self.colon(at),
            b'"' if self.key_next => self.key(at, end),
            b'"' => self.scalar(Kind::Text, at, end),
            _ if byte.is_ascii_whitespace() => {}
            _ => self.scalar(Kind::Scalar, at, end),
        }
        end
    }

    fn mode(&self) -> Mode {
        self.stack.last().map_or(Mode::Tall, |level| level.mode)
    }

    fn big(&self) -> bool {
        self.text.len() > BIG
    }

    fn open(&mut self, object: bool, at: usize, fields: bool) {
        let mode = if self.stack.is_empty() && fields {
            Mode::Fields
        } else if self.mode() == Mode::Flat || self.tall >= MAX_TALL || self.big() || self.fits(at) {
            Mode::Flat
        } else {
            Mode::Tall
        };
        self.stack.push(Level { object, mode });
        self.key_next = object;
        if mode == Mode::Fields {
            return;
        }
        self.scalar(Kind::Mark, at, at + 1);
        if mode == Mode::Tall {
            self.tall += 1;
            self.new_row(self.indent());
        }
    }

    fn close(&mut self, at: usize) {
        let mode = self.mode();
        self.stack.pop();
        self.key_next = false;
        match mode {
            Mode::Fields => return,
            Mode::Tall => {
                self.tall = self.tall.saturating_sub(1);
                self.new_row(self.indent());
            }
            Mode::Flat => self.gap = 0,
        }
        self.scalar(Kind::Mark, at, at + 1);
    }

    fn comma(&mut self, at: usize) {
        self.key_next = self.stack.last().is_some_and(|level| level.object);
        match self.mode() {
            Mode::Fields => {}
            Mode::Tall => {
                self.scalar(Kind::Mark, at, at + 1);
                self.new_row(self.indent());
            }
            Mode::Flat => {
                self.scalar(Kind::Mark, at, at + 1);
                self.gap = usize::from(!self.big());
            }
        }
    }

    fn colon(&mut self, at: usize) {
        self.key_next = false;
        if self.mode() != Mode::Fields {
            self.scalar(Kind::Mark, at, at + 1);
            self.gap = usize::from(!self.big());
        }
    }

    fn key(&mut self, at: usize, end: usize) {
        if self.mode() != Mode::Fields {
            self.scalar(Kind::Key, at, end);
            return;
        }
        self.laid.fields += 1;
        self.new_row(0);
        let (from, to) = bare_key(self.text, at, end);
        self.run(Kind::Key, from, to);
        if self.column + 2 > self.base {
            self.new_row(self.base);
        } else {
            self.gap = self.base - self.column;
        }
    }

    /// Where the rows of the current container begin: never past the middle.
    fn indent(&self) -> usize {
        (self.base + 2 * self.tall).min(self.width / 2)
    }

    /// True when the container that begins at `at` fits on what is left of the row.
    fn fits(&self, at: usize) -> bool {
        let room = self.width.saturating_sub(self.column + self.gap + 1);
        let (mut depth, mut end, mut cells) = (0_usize, at, 0_usize);
        while let Some(byte) = self.text.as_bytes().get(end) {
            let next = token_end(self.text, end);
            cells += next - end + usize::from(matches!(byte, b',' | b':'));
            if cells > room {
                return false;
            }
            match byte {
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                return true;
            }
            end = next;
        }
        false
    }

    /// A token that moves to the next row as a whole when that is where it fits.
    fn scalar(&mut self, kind: Kind, from: usize, to: usize) {
        let (length, indent) = (to - from, self.indent());
        let over = self.column + self.gap + length > self.width;
        if over && kind != Kind::Mark && indent + length <= self.width && self.column > indent {
            self.new_row(indent);
        }
        self.run(kind, from, to);
    }

    fn run(&mut self, kind: Kind, from: usize, to: usize) {
        let text = self.text.get(from..to).unwrap_or_default();
        let (mut begin, mut at, mut single) = (from, from, false);
        let hang = self.hang(kind);
        for unit in units(text) {
            let cells = shown(unit.text()).1;
            self.laid.hidden |= is_hidden(unit);
            let escaped = matches!(unit, Unit::Single(_));
            let gap = if at == from { self.gap } else { 0 };
            let over = self.column + gap + cells > self.width && self.column > hang;
            if over || escaped != single {
                self.piece((kind, single), begin, at);
                begin = at;
            }
            if over {
                self.new_row(hang);
            }
            single = escaped;
            self.column += cells + if at == from { self.gap } else { 0 };
            at += unit.text().len();
            // A line break in a string is shown, and is also one on the screen.
            if unit == Unit::Whole("\\n") && at + 1 < to && !self.big() {
                self.piece((kind, single), begin, at);
                begin = at;
                self.new_row(hang);
            }
        }
        self.piece((kind, single), begin, at);
    }

    /// Where a token goes on: text a little further in than the names around it, so that it cannot pass for one.
    fn hang(&self, kind: Kind) -> usize {
        let further = if kind == Kind::Text && self.tall > 0 { 2 } else { 0 };
        (self.indent() + further).min(self.width / 2)
    }

    fn piece(&mut self, (kind, single): (Kind, bool), from: usize, to: usize) {
        if from == to {
            return;
        }
        if self.laid.rows.is_empty() {
            self.laid.rows.push(Start { indent: 0, piece: 0 });
        }
        let gap = std::mem::take(&mut self.gap);
        let row_begins = self.laid.rows.last().map_or(0, |row| row.piece) == self.laid.pieces.len();
        if self.big()
            && gap == 0
            && !row_begins
            && let Some(last) = self.laid.pieces.last_mut()
            && last.to == from
            && (last.single, single) == (false, false)
        {
            last.to = to;
            return;
        }
        self.laid.pieces.push(Piece { kind, single, from, to, gap });
    }

    fn new_row(&mut self, indent: usize) {
        self.laid.rows.push(Start { indent, piece: self.laid.pieces.len() });
        self.column = indent;
        self.gap = 0;
    }
}
