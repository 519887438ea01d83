//! The canonical writer: RFC 8785's key order and escapes, with a stack of open containers instead of recursion.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt::Write as _;

/// One level of a value: what the writer has to know, whatever holds the value.
pub(super) enum Shape<'v, N> {
    /// `null`, a boolean or a number, as it is to be written.
    Plain(Cow<'v, str>),
    String(Cow<'v, str>),
    Array(Vec<N>),
    Object(Vec<(Cow<'v, str>, N)>),
}

/// A container that is being written.
struct Open<I> {
    items: I,
    close: char,
    first: bool,
}

/// What is left of a container; array items have no key.
enum Items<'v, N> {
    Array(std::vec::IntoIter<N>),
    Object(std::vec::IntoIter<(Cow<'v, str>, N)>),
}

impl<'v, N> Iterator for Items<'v, N> {
    type Item = (Option<Cow<'v, str>>, N);

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Array(items) => items.next().map(|value| (None, value)),
            Self::Object(members) => members.next().map(|(key, value)| (Some(key), value)),
        }
    }
}

/// Writes the value at `root`; `shape` says what each value is.
pub(super) fn canonical<'v, N>(root: N, shape: impl Fn(N) -> Shape<'v, N>) -> String {
    let mut out = String::new();
    let mut stack: Vec<Open<Items<'v, N>>> = Vec::new();
    let mut value = Some(root);
    loop {
        match value.take().map(&shape) {
            None => {}
            Some(Shape::Plain(text)) => out.push_str(&text),
            Some(Shape::String(text)) => string(&mut out, &text),
            Some(Shape::Array(items)) => {
                out.push('[');
                stack.push(Open { items: Items::Array(items.into_iter()), close: ']', first: true });
            }
            Some(Shape::Object(mut members)) => {
                out.push('{');
                members.sort_by(|a, b| utf16_order(&a.0, &b.0));
                stack.push(Open { items: Items::Object(members.into_iter()), close: '}', first: true });
            }
        }
        let Some(open) = stack.last_mut() else { return out };
        if let Some((key, next)) = open.items.next() {
            if !std::mem::take(&mut open.first) {
                out.push(',');
            }
            if let Some(key) = key {
                string(&mut out, &key);
                out.push(':');
            }
            value = Some(next);
        } else {
            out.push(open.close);
            stack.pop();
        }
    }
}

/// The order of object keys in RFC 8785: by UTF-16 code units.
pub fn utf16_order(a: &str, b: &str) -> Ordering {
    a.encode_utf16().cmp(b.encode_utf16())
}

/// Writes a string as RFC 8785 does: the short escapes, `\u00xx` for other control characters below U+0020,
/// everything else as it is.
fn string(out: &mut String, text: &str) {
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
            Some(other) => drop(write!(out, "\\u{:04x}", u32::from(other))),
            None => {}
        }
        rest = chars.as_str();
    }
    out.push_str(rest);
    out.push('"');
}
