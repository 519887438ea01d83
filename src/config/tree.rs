//! The document as a tree that knows where every key and value stands.
//!
//! Built by [`super::read`], checked by [`super::shape`], read by the lowering. Scalars keep their text: what YAML
//! would make of `no` or `0755` is only asked where a boolean or a number is wanted, or where it would be a trap.

use std::sync::Arc;

/// A position: line and column from 1, the column in characters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) struct Mark {
    pub(super) line: u32,
    pub(super) column: u32,
}

/// A value and its place.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) mark: Mark,
    pub(super) value: Value,
}

#[derive(Clone, Debug)]
pub(super) enum Value {
    Scalar(Scalar),
    // Shared, so that an anchor or an alias costs nothing to copy.
    List(Arc<[Node]>),
    Map(Arc<[Entry]>),
}

#[derive(Clone, Debug)]
pub(super) struct Scalar {
    pub(super) text: Arc<str>,
    pub(super) style: Style,
    /// Characters of the document from its first to behind its last.
    pub(super) span: (usize, usize),
}

/// Whether YAML may take a scalar for something else than text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Style {
    Plain,
    Quoted,
}

/// A key with its value.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) key: Arc<str>,
    pub(super) mark: Mark,
    pub(super) value: Node,
}

/// What YAML takes a plain scalar for, in words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Taken {
    Text,
    Null,
    Boolean,
    Number,
    Date,
}

impl Taken {
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Null => "null",
            Self::Boolean => "a boolean",
            Self::Number => "a number",
            Self::Date => "a date",
        }
    }
}

impl Node {
    /// The value below `key`, unless it is null: null means unset.
    pub(super) fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// The same with the place of the key.
    pub(super) fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| &*entry.key == key && !entry.value.is_null())
    }

    pub(super) fn entries(&self) -> &[Entry] {
        match &self.value {
            Value::Map(entries) => entries,
            _ => &[],
        }
    }

    pub(super) fn items(&self) -> &[Node] {
        match &self.value {
            Value::List(items) => items,
            _ => &[],
        }
    }

    pub(super) const fn scalar(&self) -> Option<&Scalar> {
        match &self.value {
            Value::Scalar(scalar) => Some(scalar),
            _ => None,
        }
    }

    pub(super) fn is_null(&self) -> bool {
        self.taken() == Some(Taken::Null)
    }

    /// The text of a scalar that is not null.
    pub(super) fn text(&self) -> Option<&Arc<str>> {
        self.scalar().filter(|_| !self.is_null()).map(|scalar| &scalar.text)
    }

    pub(super) fn flag(&self) -> Option<bool> {
        let scalar = self.scalar().filter(|scalar| scalar.style == Style::Plain)?;
        match &*scalar.text {
            "true" | "True" | "TRUE" => Some(true),
            "false" | "False" | "FALSE" => Some(false),
            _ => None,
        }
    }

    pub(super) fn number(&self) -> Option<f64> {
        let scalar = self.scalar().filter(|scalar| scalar.style == Style::Plain)?;
        let decimal = scalar.text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.'));
        scalar.text.parse::<f64>().ok().filter(|number| decimal && number.is_finite())
    }

    /// What YAML takes a scalar for; `None` for lists and mappings.
    pub(super) fn taken(&self) -> Option<Taken> {
        let scalar = self.scalar()?;
        Some(if scalar.style == Style::Quoted { Taken::Text } else { taken(&scalar.text) })
    }

    /// What it is, in words.
    pub(super) fn words(&self) -> &'static str {
        match &self.value {
            Value::Scalar(scalar) if scalar.style == Style::Quoted => "quoted text",
            Value::Scalar(scalar) => taken(&scalar.text).words(),
            Value::List(_) => "a list",
            Value::Map(_) => "a mapping",
        }
    }
}

/// The union of what YAML 1.1 and 1.2 readers take plain text for: it is a trap if only one of them does.
fn taken(text: &str) -> Taken {
    match text.to_ascii_lowercase().as_str() {
        "" | "~" | "null" => return Taken::Null,
        "true" | "false" | "yes" | "no" | "on" | "off" | "y" | "n" => return Taken::Boolean,
        ".inf" | "+.inf" | "-.inf" | ".nan" => return Taken::Number,
        _ => {}
    }
    let digits = text.trim_start_matches(['+', '-']);
    if is_date(text) {
        Taken::Date
    } else if is_number(digits) {
        Taken::Number
    } else {
        Taken::Text
    }
}

/// Decimal, octal (`0755`, `0o755`), hexadecimal, binary, exponents, `1_000` and the base-60 `12:30`.
fn is_number(digits: &str) -> bool {
    let radix = |prefix: &str, radix: u32| {
        digits
            .strip_prefix(prefix)
            .is_some_and(|rest| !rest.is_empty() && rest.chars().all(|c| c == '_' || c.is_digit(radix)) && rest != "_")
    };
    if radix("0x", 16) || radix("0X", 16) || radix("0o", 8) || radix("0b", 2) {
        return true;
    }
    if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return false;
    }
    let plain = digits.replace('_', "");
    let mut parts = plain.split(':');
    let whole = parts.next().is_some_and(|part| part.chars().all(|c| c.is_ascii_digit()));
    let sixtieth = |part: &str| matches!(part.split('.').next(), Some(part) if matches!(part.len(), 1 | 2));
    let numeric = |part: &str| part.chars().all(|c| c.is_ascii_digit() || c == '.');
    let sexagesimal = whole && plain.contains(':') && parts.all(|part| sixtieth(part) && numeric(part));
    plain.parse::<f64>().is_ok() || sexagesimal
}

/// `2026-01-01`, alone or before a time.
fn is_date(text: &str) -> bool {
    let date = text.split(['T', 't', ' ']).next().unwrap_or_default();
    let mut parts = date.split('-');
    let mut part = |lengths: std::ops::RangeInclusive<usize>| {
        parts.next().is_some_and(|part| lengths.contains(&part.len()) && part.chars().all(|c| c.is_ascii_digit()))
    };
    part(4..=4) && part(1..=2) && part(1..=2) && parts.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_yaml_readers_take_for_something_else() {
        let table = [
            (Taken::Null, "~|null|Null|NULL|"),
            (Taken::Boolean, "yes|No|ON|off|true|FALSE|y|n"),
            (Taken::Number, "0755|0o17|0x1F|0b101|1e3|1.10|-7|+1|1_000|.5|1.|12:30|190:20:30|.inf|-.INF|.NaN"),
            (Taken::Date, "2026-01-01|2026-1-1|2026-01-01T10:00:00Z|2026-01-01 10:00:00"),
            (Taken::Text, "hello|1.2.3|v1|none|1a|a:b|10.0.0.1|2026-01|e3|-|+|.|0xg|yesno|127.0.0.1:80|1-2-3|inf|nan"),
        ];
        for (expected, texts) in table {
            for text in texts.split('|') {
                assert_eq!(taken(text), expected, "{text:?}");
            }
        }
    }
}
