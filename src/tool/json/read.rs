//! The strict reader: one pass, a state instead of recursion, every refusal with its place.

use std::collections::HashSet;

use super::{JsonError, Kind, Node, children, number, unescape};

/// The nodes of a text that holds exactly one value.
pub(super) fn read(text: &str, max_depth: usize) -> Result<Vec<Node>, JsonError> {
    if u32::try_from(text.len()).is_err() {
        return Err(JsonError::TooLong);
    }
    let mut reader = Reader { text, nodes: Vec::new(), at: 0, open: Vec::new(), max_depth };
    let mut state = State::Value;
    while state != State::End {
        reader.skip_space();
        state = reader.step(state)?;
    }
    reader.skip_space();
    match reader.peek() {
        None => Ok(reader.nodes),
        Some(_) => Err(reader.syntax("something follows the value")),
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
    text: &'t str,
    nodes: Vec<Node>,
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
            (State::Colon, Some(b':')) => Ok(self.advance(State::Value)),
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
        let kind = self.open.last().and_then(|at| self.nodes.get(*at)).map(|node| node.kind);
        match (kind, byte) {
            (Some(Kind::Array), b',') => Ok(self.advance(State::Value)),
            (Some(Kind::Object), b',') => Ok(self.advance(State::Key)),
            (Some(Kind::Array), b']') | (Some(Kind::Object), b'}') => self.close(),
            (Some(Kind::Array), _) => Err(self.syntax("a comma or ] is missing")),
            _ => Err(self.syntax("a comma or } is missing")),
        }
    }

    fn open(&mut self, kind: Kind, next: State) -> Result<State, JsonError> {
        if self.open.len() >= self.max_depth {
            return Err(JsonError::TooDeep);
        }
        self.open.push(self.nodes.len());
        self.push(kind, self.at, self.at + 1);
        Ok(self.advance(next))
    }

    fn close(&mut self) -> Result<State, JsonError> {
        self.at += 1;
        let Some(at) = self.open.pop() else { return Ok(State::End) };
        let next = index32(self.nodes.len());
        let kind = self.nodes.get_mut(at).map(|node| {
            node.next = next;
            node.kind
        });
        if kind == Some(Kind::Object) {
            self.check_duplicates(at)?;
        }
        Ok(self.value_done())
    }

    fn check_duplicates(&self, at: usize) -> Result<(), JsonError> {
        let mut seen = HashSet::new();
        for (_, key) in children(&self.nodes, at).step_by(2) {
            let name = unescape(key.source(self.text));
            if seen.contains(&name) {
                // The node starts behind the quote.
                return Err(JsonError::DuplicateKey { key: name.into_owned(), at: key.start as usize - 1 });
            }
            seen.insert(name);
        }
        Ok(())
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
        let text = self.text.get(start..self.at).unwrap_or_default();
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

    fn advance(&mut self, next: State) -> State {
        self.at += 1;
        next
    }

    fn push(&mut self, kind: Kind, start: usize, stop: usize) {
        let next = index32(self.nodes.len() + 1);
        self.nodes.push(Node { kind, start: index32(start), stop: index32(stop), next });
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &'t [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
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
