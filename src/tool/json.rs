//! A strict JSON reader and a canonical writer, both without recursion.
//!
//! [`super::arguments`] uses them so that what is shown, hashed and sent is one text. The reader refuses what two
//! receivers could read differently: duplicate keys, lone surrogates, numbers that a 64-bit integer or a double
//! would change. It repairs nothing and knows nothing about tools.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::HashSet;

use serde_json::Value;

use super::number;

/// Why a text was refused. Offsets are in bytes, from 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum JsonError {
    /// Not JSON.
    Syntax {
        /// What is wrong.
        reason: &'static str,
        /// Where.
        at: usize,
    },
    /// One object has this key twice.
    DuplicateKey {
        /// The key, unescaped, in full.
        key: String,
        /// Where the second one starts.
        at: usize,
    },
    /// A number that neither a 64-bit integer nor a double keeps exactly.
    InexactNumber {
        /// The number as written, in full.
        number: String,
        /// Where it starts.
        at: usize,
    },
    /// More levels than allowed.
    TooDeep,
    /// More bytes than the reader can address (4 GiB).
    TooLong,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// `null`, `true`, `false` or a number: written as it was read.
    Plain,
    String,
    Array,
    Object,
}

/// One value, or one key. 16 bytes, because a text of 16 MiB can hold eight million of them.
#[derive(Clone, Copy, Debug)]
struct Node {
    kind: Kind,
    /// Byte range in the text; of a string without its quotes, of a container only the start counts.
    start: u32,
    stop: u32,
    /// Index of the first node after this one and everything in it.
    next: u32,
}

/// A text that was read and found to be strict JSON: its nodes in order, keys before their values.
#[derive(Debug)]
pub struct Document<'t> {
    text: &'t str,
    nodes: Vec<Node>,
}

impl<'t> Document<'t> {
    /// Reads a text that holds exactly one value, nested at most `max_depth` containers deep.
    ///
    /// # Errors
    /// See [`JsonError`].
    pub fn parse(text: &'t str, max_depth: usize) -> Result<Self, JsonError> {
        if u32::try_from(text.len()).is_err() {
            return Err(JsonError::TooLong);
        }
        let mut reader = Reader { document: Document { text, nodes: Vec::new() }, at: 0, open: Vec::new(), max_depth };
        let mut state = State::Value;
        while state != State::End {
            reader.skip_space();
            state = reader.step(state)?;
        }
        reader.skip_space();
        match reader.peek() {
            None => Ok(reader.document),
            Some(_) => Err(reader.syntax("something follows the value")),
        }
    }

    /// Whether the value is an object.
    pub fn is_object(&self) -> bool {
        self.nodes.first().is_some_and(|node| node.kind == Kind::Object)
    }

    /// The same value in canonical form: keys in RFC 8785 order (UTF-16 code units), the escapes of RFC 8785, no
    /// white space, numbers exactly as written.
    pub fn canonical(&self) -> String {
        enum Todo<'d> {
            Node(usize),
            Key(Cow<'d, str>),
            Text(&'static str),
        }
        let mut out = String::with_capacity(self.text.len());
        let mut todo = vec![Todo::Node(0)];
        while let Some(next) = todo.pop() {
            let at = match next {
                Todo::Node(at) => at,
                Todo::Key(key) => {
                    write_string(&mut out, &key);
                    continue;
                }
                Todo::Text(text) => {
                    out.push_str(text);
                    continue;
                }
            };
            let Some(node) = self.nodes.get(at) else { continue };
            match node.kind {
                Kind::Plain => out.push_str(self.source(*node)),
                Kind::String => write_string(&mut out, &self.string(*node)),
                Kind::Array => {
                    out.push('[');
                    todo.push(Todo::Text("]"));
                    let items: Vec<usize> = self.children(at).collect();
                    for (index, item) in items.into_iter().enumerate().rev() {
                        todo.push(Todo::Node(item));
                        if index > 0 {
                            todo.push(Todo::Text(","));
                        }
                    }
                }
                Kind::Object => {
                    out.push('{');
                    todo.push(Todo::Text("}"));
                    let mut members: Vec<_> = self.members(at).collect();
                    members.sort_by(|a, b| utf16_order(&a.0, &b.0));
                    for (index, (key, value)) in members.into_iter().enumerate().rev() {
                        todo.push(Todo::Node(value));
                        todo.push(Todo::Text(":"));
                        todo.push(Todo::Key(key));
                        if index > 0 {
                            todo.push(Todo::Text(","));
                        }
                    }
                }
            }
        }
        out
    }

    fn source(&self, node: Node) -> &'t str {
        self.text.get(node.start as usize..node.stop as usize).unwrap_or_default()
    }

    fn string(&self, node: Node) -> Cow<'t, str> {
        unescape(self.source(node))
    }

    /// The direct children of a container, keys and values alike.
    fn children(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        let end = self.nodes.get(at).map_or(0, |node| node.next as usize);
        let mut child = at + 1;
        std::iter::from_fn(move || {
            let here = child;
            child = self.nodes.get(here).filter(|_| here < end)?.next as usize;
            Some(here)
        })
    }

    /// The members of an object: key and index of the value.
    fn members(&self, at: usize) -> impl Iterator<Item = (Cow<'t, str>, usize)> + '_ {
        let mut children = self.children(at);
        std::iter::from_fn(move || {
            let key = self.nodes.get(children.next()?)?;
            Some((self.string(*key), children.next()?))
        })
    }

    fn check_duplicates(&self, at: usize) -> Result<(), JsonError> {
        let mut seen = HashSet::new();
        let mut children = self.children(at);
        while let (Some(key), Some(_)) = (children.next(), children.next()) {
            let Some(node) = self.nodes.get(key) else { break };
            let key = self.string(*node);
            if seen.contains(&key) {
                // One less: the node starts after the quote.
                return Err(JsonError::DuplicateKey { key: key.into_owned(), at: node.start as usize - 1 });
            }
            seen.insert(key);
        }
        Ok(())
    }
}

/// What the reader is ready for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Value,
    FirstItem,
    FirstKey,
    Key,
    Colon,
    AfterValue,
    End,
}

struct Reader<'t> {
    document: Document<'t>,
    at: usize,
    /// Node indices of the containers that are not closed yet.
    open: Vec<usize>,
    max_depth: usize,
}

impl<'t> Reader<'t> {
    fn step(&mut self, state: State) -> Result<State, JsonError> {
        match (state, self.peek()) {
            (_, None) => Err(self.syntax("the text ends early")),
            (State::FirstItem, Some(b']')) | (State::FirstKey, Some(b'}')) => self.close(),
            (State::Value | State::FirstItem, Some(first)) => self.value(first),
            (State::FirstKey | State::Key, Some(b'"')) => {
                self.string()?;
                Ok(State::Colon)
            }
            (State::FirstKey | State::Key, Some(_)) => Err(self.syntax("a key in double quotes is missing")),
            (State::Colon, Some(b':')) => self.advance(State::Value),
            (State::Colon, Some(_)) => Err(self.syntax("a colon is missing")),
            (State::AfterValue, Some(byte)) => self.after_value(byte),
            (State::End, Some(_)) => Ok(State::End),
        }
    }

    fn value(&mut self, first: u8) -> Result<State, JsonError> {
        match first {
            b'{' => self.open(Kind::Object, State::FirstKey),
            b'[' => self.open(Kind::Array, State::FirstItem),
            b'"' => {
                self.string()?;
                Ok(self.value_done())
            }
            b't' => self.word("true"),
            b'f' => self.word("false"),
            b'n' => self.word("null"),
            b'-' | b'0'..=b'9' => self.number(),
            _ => Err(self.syntax("a value is missing")),
        }
    }

    fn after_value(&mut self, byte: u8) -> Result<State, JsonError> {
        let kind = self.open.last().and_then(|at| self.document.nodes.get(*at)).map(|node| node.kind);
        match (kind, byte) {
            (Some(Kind::Array), b',') => self.advance(State::Value),
            (Some(Kind::Object), b',') => self.advance(State::Key),
            (Some(Kind::Array), b']') | (Some(Kind::Object), b'}') => self.close(),
            (Some(Kind::Array), _) => Err(self.syntax("a comma or ] is missing")),
            _ => Err(self.syntax("a comma or } is missing")),
        }
    }

    fn open(&mut self, kind: Kind, next: State) -> Result<State, JsonError> {
        if self.open.len() >= self.max_depth {
            return Err(JsonError::TooDeep);
        }
        self.open.push(self.document.nodes.len());
        self.push(kind, self.at, self.at + 1);
        self.advance(next)
    }

    fn close(&mut self) -> Result<State, JsonError> {
        self.at += 1;
        let Some(at) = self.open.pop() else { return Ok(State::End) };
        let next = index32(self.document.nodes.len());
        let kind = self.document.nodes.get_mut(at).map(|node| {
            node.next = next;
            node.kind
        });
        if kind == Some(Kind::Object) {
            self.document.check_duplicates(at)?;
        }
        Ok(self.value_done())
    }

    fn word(&mut self, word: &'static str) -> Result<State, JsonError> {
        if !self.rest().starts_with(word.as_bytes()) {
            return Err(self.syntax("an unknown word"));
        }
        self.push(Kind::Plain, self.at, self.at + word.len());
        self.at += word.len();
        Ok(self.value_done())
    }

    fn number(&mut self) -> Result<State, JsonError> {
        let length =
            number::scan(self.rest()).map_err(|(reason, offset)| JsonError::Syntax { reason, at: self.at + offset })?;
        let start = self.at;
        self.at += length;
        let text = self.document.text.get(start..self.at).unwrap_or_default();
        if !number::is_exact(text) {
            return Err(JsonError::InexactNumber { number: text.to_owned(), at: start });
        }
        self.push(Kind::Plain, start, self.at);
        Ok(self.value_done())
    }

    /// Reads a string whose opening quote is the current byte.
    fn string(&mut self) -> Result<(), JsonError> {
        let start = self.at + 1;
        self.at = start;
        loop {
            match self.peek() {
                None => return Err(self.syntax("a string is not closed")),
                Some(b'"') => break,
                Some(0..=0x1f) => return Err(self.syntax("a control character in a string is not escaped")),
                Some(b'\\') => self.escape()?,
                Some(_) => self.at += 1,
            }
        }
        self.push(Kind::String, start, self.at);
        self.at += 1;
        Ok(())
    }

    fn escape(&mut self) -> Result<(), JsonError> {
        match self.rest().get(1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 2,
            Some(b'u') => {
                let unit = hex4(self.rest()).ok_or_else(|| self.syntax("four hexadecimal digits are missing"))?;
                let low = self.rest().get(6..).and_then(hex4);
                match (unit, low) {
                    (0xd800..=0xdbff, Some(0xdc00..=0xdfff)) => self.at += 12,
                    (0xd800..=0xdfff, _) => return Err(self.syntax("a lone surrogate is not a character")),
                    _ => self.at += 6,
                }
            }
            _ => return Err(self.syntax("an unknown escape")),
        }
        Ok(())
    }

    fn value_done(&self) -> State {
        if self.open.is_empty() { State::End } else { State::AfterValue }
    }

    fn advance(&mut self, next: State) -> Result<State, JsonError> {
        self.at += 1;
        Ok(next)
    }

    fn push(&mut self, kind: Kind, start: usize, stop: usize) {
        let next = index32(self.document.nodes.len() + 1);
        self.document.nodes.push(Node { kind, start: index32(start), stop: index32(stop), next });
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.document.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &'t [u8] {
        self.document.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    fn syntax(&self, reason: &'static str) -> JsonError {
        JsonError::Syntax { reason, at: self.at }
    }
}

/// Indices fit: a text is at most `u32::MAX` bytes and every node takes at least one of them.
fn index32(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

/// The code unit of `\uXXXX` at the start of `bytes`.
fn hex4(bytes: &[u8]) -> Option<u16> {
    let digits = bytes.strip_prefix(b"\\u")?.get(..4)?;
    digits.iter().try_fold(0_u16, |unit, digit| {
        let digit = char::from(*digit).to_digit(16)?;
        Some(unit << 4 | u16::try_from(digit).ok()?)
    })
}

/// The characters of a string's inside that the reader has accepted.
pub(super) fn unescape(inside: &str) -> Cow<'_, str> {
    if !inside.contains('\\') {
        return Cow::Borrowed(inside);
    }
    let mut out = String::with_capacity(inside.len());
    let mut rest = inside;
    while let Some((plain, tail)) = rest.split_once('\\') {
        out.push_str(plain);
        let mut chars = tail.chars();
        match chars.next() {
            Some('u') => {
                let (character, used) = escaped_unit(tail);
                out.push(character);
                chars = tail.get(used..).unwrap_or_default().chars();
            }
            Some('b') => out.push('\u{8}'),
            Some('f') => out.push('\u{c}'),
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some('t') => out.push('\t'),
            Some(same) => out.push(same),
            None => {}
        }
        rest = chars.as_str();
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The character of an escape whose backslash was taken off, and how many bytes after the backslash it covers.
fn escaped_unit(tail: &str) -> (char, usize) {
    let unit = |text: Option<&str>| text.and_then(|digits| u16::from_str_radix(digits, 16).ok());
    let Some(first) = unit(tail.get(1..5)) else { return (char::REPLACEMENT_CHARACTER, 1) };
    let second = if (0xd800..0xdc00).contains(&first) { unit(tail.get(7..11)) } else { None };
    let used = if second.is_some() { 11 } else { 5 };
    let decoded = char::decode_utf16(std::iter::once(first).chain(second)).next();
    (decoded.and_then(Result::ok).unwrap_or(char::REPLACEMENT_CHARACTER), used)
}

/// The order of object keys in RFC 8785.
pub(super) fn utf16_order(a: &str, b: &str) -> Ordering {
    a.encode_utf16().cmp(b.encode_utf16())
}

/// Writes a string as RFC 8785 does: the short escapes, `\u00xx` for other control characters below U+0020,
/// everything else as it is.
fn write_string(out: &mut String, text: &str) {
    out.push('"');
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c < ' ' || c == '"' || c == '\\') {
        let (plain, tail) = rest.split_at(at);
        out.push_str(plain);
        let mut chars = tail.chars();
        match chars.next() {
            Some('"') => out.push_str("\\\""),
            Some('\\') => out.push_str("\\\\"),
            Some('\u{8}') => out.push_str("\\b"),
            Some('\u{c}') => out.push_str("\\f"),
            Some('\n') => out.push_str("\\n"),
            Some('\r') => out.push_str("\\r"),
            Some('\t') => out.push_str("\\t"),
            Some(other) => out.push_str(&format!("\\u{:04x}", u32::from(other))),
            None => {}
        }
        rest = chars.as_str();
    }
    out.push_str(rest);
    out.push('"');
}

/// A value that is already in memory in the same canonical form, for fingerprints: the order of keys does not
/// change it. Numbers are written as `serde_json` writes them.
pub fn canonical_value(value: &Value) -> String {
    enum Todo<'v> {
        Value(&'v Value),
        Key(&'v str),
        Text(&'static str),
    }
    let mut out = String::new();
    let mut todo = vec![Todo::Value(value)];
    while let Some(next) = todo.pop() {
        match next {
            Todo::Text(text) => out.push_str(text),
            Todo::Key(key) => write_string(&mut out, key),
            Todo::Value(Value::String(text)) => write_string(&mut out, text),
            Todo::Value(Value::Array(items)) => {
                out.push('[');
                todo.push(Todo::Text("]"));
                for (index, item) in items.iter().enumerate().rev() {
                    todo.push(Todo::Value(item));
                    if index > 0 {
                        todo.push(Todo::Text(","));
                    }
                }
            }
            Todo::Value(Value::Object(object)) => {
                out.push('{');
                todo.push(Todo::Text("}"));
                let mut members: Vec<_> = object.iter().collect();
                members.sort_by(|a, b| utf16_order(a.0, b.0));
                for (index, (key, value)) in members.into_iter().enumerate().rev() {
                    todo.extend([Todo::Value(value), Todo::Text(":"), Todo::Key(key)]);
                    if index > 0 {
                        todo.push(Todo::Text(","));
                    }
                }
            }
            Todo::Value(plain) => out.push_str(&plain.to_string()),
        }
    }
    out
}

#[cfg(test)]
#[path = "tests/json.rs"]
pub(super) mod tests;
