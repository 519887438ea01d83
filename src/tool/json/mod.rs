//! A strict JSON reader and a canonical writer, both without recursion.
//!
//! [`super::arguments`] uses them so that what is shown, hashed and sent is one text. The reader refuses what two
//! receivers could read differently: duplicate keys, lone surrogates, numbers that a 64-bit integer or a double
//! would change. It repairs nothing and knows nothing about tools.

mod number;
mod read;
mod write;

use std::borrow::Cow;

use serde_json::Value;

use write::Shape;
pub(super) use write::utf16_order;

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
        read::read(text, max_depth).map(|nodes| Self { text, nodes })
    }

    /// Whether the value is an object.
    pub fn is_object(&self) -> bool {
        self.nodes.first().is_some_and(|node| node.kind == Kind::Object)
    }

    /// The same value in canonical form: keys in RFC 8785 order (UTF-16 code units), the escapes of RFC 8785, no
    /// white space, numbers exactly as written.
    pub fn canonical(&self) -> String {
        write::canonical(0, |at| self.shape(at))
    }

    /// The canonical form with strings replaced: `edit` is given each string's key, where it stands under one, and
    /// each key itself; `None` keeps it.
    pub fn edited(&self, edit: impl Fn(Option<&str>, &str) -> Option<String>) -> String {
        write::canonical((0, None::<Cow<'t, str>>), |(at, key)| match self.shape(at) {
            Shape::Plain(text) => Shape::Plain(text),
            Shape::String(text) => Shape::String(edit(key.as_deref(), &text).map_or(text, Cow::Owned)),
            Shape::Array(items) => Shape::Array(items.into_iter().map(|item| (item, None)).collect()),
            Shape::Object(members) => {
                let named = members.into_iter().map(|(key, value)| {
                    let shown = edit(None, &key).map_or_else(|| key.clone(), Cow::Owned);
                    (shown, (value, Some(key)))
                });
                Shape::Object(named.collect())
            }
        })
    }

    fn shape(&self, at: usize) -> Shape<'t, usize> {
        let Some(node) = self.nodes.get(at) else { return Shape::Plain("".into()) };
        match node.kind {
            Kind::Plain => Shape::Plain(node.source(self.text).into()),
            Kind::String => Shape::String(unescape(node.source(self.text))),
            Kind::Array => Shape::Array(children(&self.nodes, at).map(|(child, _)| child).collect()),
            Kind::Object => {
                let mut children = children(&self.nodes, at);
                let members = std::iter::from_fn(|| {
                    let (_, key) = children.next()?;
                    let (value, _) = children.next()?;
                    Some((unescape(key.source(self.text)), value))
                });
                Shape::Object(members.collect())
            }
        }
    }
}

impl Node {
    fn source<'t>(&self, text: &'t str) -> &'t str {
        text.get(self.start as usize..self.stop as usize).unwrap_or_default()
    }
}

/// The direct children of the container at `at` with their places; of an object keys and values in turn.
fn children(nodes: &[Node], at: usize) -> impl Iterator<Item = (usize, &Node)> {
    let end = nodes.get(at).map_or(0, |node| node.next as usize);
    let mut child = at + 1;
    std::iter::from_fn(move || {
        let here = child;
        let node = nodes.get(here).filter(|_| here < end)?;
        child = node.next as usize;
        Some((here, node))
    })
}

/// A value that is already in memory in the same canonical form, for fingerprints: the order of keys does not
/// change it. Numbers are written as `serde_json` writes them.
pub fn canonical_value(value: &Value) -> String {
    write::canonical(value, |value| match value {
        Value::String(text) => Shape::String(text.into()),
        Value::Array(items) => Shape::Array(items.iter().collect()),
        Value::Object(object) => Shape::Object(object.iter().map(|(key, value)| (key.into(), value)).collect()),
        plain => Shape::Plain(plain.to_string().into()),
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
