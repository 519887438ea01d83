//! What a well-formed document looks like: tables of keys, and the one check that walks a document along them.
//!
//! The tables are in [`super::keys`]; the JSON Schema of [`super::schema()`] is made from the same ones. The check
//! reports unknown keys, missing keys, wrong types and values out of range; what several fields mean together is the
//! lowering's business, which may rely on everything that this check passed.

use super::diagnostic::{Report, child, item, quoted};
use super::expand;
use super::tree::{Mark, Node, Taken, Value};

/// The shape of a value.
#[derive(Debug)]
pub(super) enum Shape {
    /// Text as written, whatever YAML would make of it.
    Text,
    /// Text that is not blank.
    Name,
    /// Text with `${VAR}` references.
    Template,
    /// The same for values that YAML must not read as something else; never shown in a message.
    Value,
    /// `true` or `false`.
    Flag,
    /// Seconds, also fractions: from 0 to a week.
    Seconds,
    /// A whole number from 0.
    Count,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// Text, or a list of texts.
    Texts,
    /// A list.
    List(&'static Shape),
    /// A mapping whose keys are the user's.
    Map(&'static Shape),
    /// A mapping whose keys are ours.
    Section(&'static Section),
    /// Not looked into.
    Any,
}

/// A mapping whose keys are ours.
#[derive(Debug)]
pub(super) struct Section {
    /// Its name in the JSON Schema.
    pub(super) title: &'static str,
    pub(super) keys: &'static [Key],
    pub(super) also: Also,
}

/// Keys of a section that are let through without a look.
#[derive(Clone, Copy, Debug)]
pub(super) enum Also {
    Nothing,
    /// Whatever there is.
    Anything,
    /// Whatever begins with this.
    Prefix(&'static str),
    /// Whatever ends with this.
    Suffix(&'static str),
}

impl Also {
    fn allows(self, key: &str) -> bool {
        match self {
            Self::Nothing => false,
            Self::Anything => true,
            Self::Prefix(prefix) => key.starts_with(prefix),
            Self::Suffix(suffix) => key.ends_with(suffix),
        }
    }
}

/// A key of a section.
#[derive(Debug)]
pub(super) struct Key {
    pub(super) name: &'static str,
    pub(super) shape: Shape,
    /// One sentence for editors.
    pub(super) doc: &'static str,
    pub(super) presence: Presence,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Presence {
    Optional,
    Required,
}

impl Key {
    pub(super) const fn optional(name: &'static str, shape: Shape, doc: &'static str) -> Self {
        Self { name, shape, doc, presence: Presence::Optional }
    }

    pub(super) const fn required(name: &'static str, shape: Shape, doc: &'static str) -> Self {
        Self { name, shape, doc, presence: Presence::Required }
    }
}

/// The longest time that may be configured: a week.
pub(super) const MAX_SECONDS: f64 = 604_800.0;

/// Walks a document along a shape.
pub(super) struct Check<'d> {
    text: &'d str,
    report: &'d mut Report,
    /// What the key that is being looked at means.
    doc: &'static str,
}

impl<'d> Check<'d> {
    /// A check of a document with this text.
    pub(super) fn new(text: &'d str, report: &'d mut Report) -> Self {
        Self { text, report, doc: "A document holds keys such as `name:` and `mcp_servers:`." }
    }

    /// Checks a section and everything below it.
    pub(super) fn section(&mut self, node: &Node, section: &Section, path: &str) {
        let Value::Map(entries) = &node.value else { return self.wrong(node, path, "a mapping") };
        for entry in entries.iter() {
            let below = child(path, &entry.key);
            match section.keys.iter().find(|key| *key.name == *entry.key) {
                Some(key) => {
                    let outer = std::mem::replace(&mut self.doc, key.doc);
                    self.value(&entry.value, &key.shape, &below);
                    self.doc = outer;
                }
                None if section.also.allows(&entry.key) => {}
                None => self.unknown(entry.mark, &entry.key, section, path),
            }
        }
        for key in section.keys.iter().filter(|key| key.presence == Presence::Required) {
            let there = node.entries().iter().any(|entry| &*entry.key == key.name);
            // A null where a value has to be quoted has been reported as such.
            let reported = there && matches!(key.shape, Shape::Value);
            if node.get(key.name).is_none() && !reported && !misspelt(node, key.name) {
                let message = format!("`{}` is missing", key.name);
                let help = format!("add `{}:`. {}", key.name, key.doc);
                self.report.error(node.mark, child(path, key.name), message).help(help);
            }
        }
    }

    /// Null means unset, so it fits every shape except [`Shape::Value`] and the items of a list.
    fn value(&mut self, node: &Node, shape: &Shape, path: &str) {
        if node.is_null() && !matches!(shape, Shape::Value) {
            return;
        }
        match shape {
            Shape::Any => {}
            Shape::Text | Shape::Name => self.text(node, shape, path),
            Shape::Template => {
                if node.text().is_some() {
                    self.references(node, path);
                } else {
                    self.wrong(node, path, "text");
                }
            }
            Shape::Value => self.secret(node, path),
            Shape::Flag => self.flag(node, path),
            Shape::Seconds => self.number(node, path, MAX_SECONDS),
            Shape::Count => self.number(node, path, f64::from(u32::MAX)),
            Shape::OneOf(words) => self.one_of(node, words, path),
            Shape::Texts if node.scalar().is_some() => {}
            Shape::Texts => self.list(node, &Shape::Text, path),
            Shape::List(shape) => self.list(node, shape, path),
            Shape::Map(shape) => self.map(node, shape, path),
            Shape::Section(section) => self.section(node, section, path),
        }
    }

    fn text(&mut self, node: &Node, shape: &Shape, path: &str) {
        match node.text() {
            None => self.wrong(node, path, "text"),
            Some(text) if matches!(shape, Shape::Name) && text.trim().is_empty() => {
                self.report.error(node.mark, path, "is blank").help("write a name");
            }
            Some(_) => {}
        }
    }

    fn secret(&mut self, node: &Node, path: &str) {
        match node.taken() {
            None => self.wrong(node, path, "text"),
            Some(Taken::Text) => self.references(node, path),
            Some(taken) => {
                let message = format!("YAML takes this value for {}, and what arrives would be a guess", taken.words());
                let help = match taken {
                    Taken::Null => "quote it: write `\"\"` for an empty value, or remove the line",
                    _ => "quote it: put the value between double quotes",
                };
                self.report.error(node.mark, path, message).help(help);
            }
        }
    }

    fn references(&mut self, node: &Node, path: &str) {
        let Some(scalar) = node.scalar() else { return };
        if scalar.text.contains('\0') {
            self.report
                .error(node.mark, path, "has a NUL character")
                .help("neither a process nor a header can take it");
        }
        if let Err(malformed) = expand::parse(&scalar.text) {
            // Finding the place reads the document from its start.
            let exact = self.report.wants_advice();
            let at = if exact { self.locate(node, malformed.dollar_brace) } else { node.mark };
            self.report
                .error(at, path, malformed.problem)
                .help("a reference is `${NAME}` or `${NAME:-default}`; write `$${` for a literal `${`");
        }
    }

    fn flag(&mut self, node: &Node, path: &str) {
        if node.flag().is_some() {
            return;
        }
        let found = found(node);
        self.report
            .error(node.mark, path, format!("expected true or false, found {found}"))
            .help("write `true` or `false`, without quotes");
    }

    fn number(&mut self, node: &Node, path: &str, highest: f64) {
        let Some(number) = node.number() else {
            let found = found(node);
            self.report
                .error(node.mark, path, format!("expected a number, found {found}"))
                .help("write it without quotes and without a unit");
            return;
        };
        if !(0.0..=highest).contains(&number) {
            self.report
                .error(node.mark, path, format!("{number} is out of range"))
                .help(format!("a number from 0 to {highest}"));
        }
    }

    fn one_of(&mut self, node: &Node, words: &[&str], path: &str) {
        let Some(text) = node.text() else { return self.wrong(node, path, "text") };
        if words.contains(&&**text) {
            return;
        }
        let all = words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
        let help = match closest(text, words.iter().copied()) {
            Some(word) => format!("did you mean `{word}`? One of {all}"),
            None => format!("one of {all}"),
        };
        self.report.error(node.mark, path, format!("{} is not known here", quoted(text))).help(help);
    }

    fn list(&mut self, node: &Node, shape: &Shape, path: &str) {
        let Value::List(items) = &node.value else {
            let message = format!("expected a list, found {}", node.words());
            let help = format!("write a list, such as `[one, two]`. {}", self.doc);
            self.report.error(node.mark, path, message).help(help);
            return;
        };
        for (index, one) in items.iter().enumerate() {
            let path = item(path, index);
            if one.is_null() {
                self.report
                    .error(one.mark, path, "an item of the list is empty")
                    .help("remove the dash, or write `\"\"`");
            } else {
                self.value(one, shape, &path);
            }
        }
    }

    fn map(&mut self, node: &Node, shape: &Shape, path: &str) {
        let Value::Map(entries) = &node.value else { return self.wrong(node, path, "a mapping") };
        for entry in entries.iter() {
            self.value(&entry.value, shape, &child(path, &entry.key));
        }
    }

    fn wrong(&mut self, node: &Node, path: &str, expected: &str) {
        self.report.error(node.mark, path, format!("expected {expected}, found {}", node.words())).help(self.doc);
    }

    fn unknown(&mut self, mark: Mark, key: &str, section: &Section, path: &str) {
        let known = || section.keys.iter().filter(|key| !matches!(key.shape, Shape::Any)).map(|key| key.name);
        let otherwise = || format!("known here: {}", known().collect::<Vec<_>>().join(", "));
        let help = did_you_mean(self.report, key, known(), otherwise);
        self.report.error(mark, child(path, key), format!("the key {} is not known here", quoted(key))).help(help);
    }

    /// Where the `nth` (from 0) `${` of a scalar stands in the document.
    fn locate(&self, node: &Node, nth: usize) -> Mark {
        let Some(scalar) = node.scalar() else { return node.mark };
        let (from, to) = scalar.span;
        let mut at = node.mark;
        let mut seen = 0;
        let mut characters = self.text.chars().skip(from).take(to.saturating_sub(from)).peekable();
        while let Some(c) = characters.next() {
            if c == '$' && characters.peek() == Some(&'{') {
                if seen == nth {
                    return at;
                }
                seen += 1;
            }
            at = if c == '\n' {
                Mark { line: at.line + 1, column: 1 }
            } else {
                Mark { line: at.line, column: at.column + 1 }
            };
        }
        node.mark
    }
}

/// What stands where a boolean or a number is wanted.
fn found(node: &Node) -> String {
    match node.text() {
        Some(text) if node.taken() == Some(Taken::Text) => format!("the text {}", quoted(text)),
        Some(text) => quoted(text),
        None => node.words().to_owned(),
    }
}

/// Whether a mapping has a key that is reported with this one as the suggestion.
pub(super) fn misspelt(node: &Node, key: &str) -> bool {
    node.entries().iter().any(|entry| *entry.key != *key && closest(&entry.key, std::iter::once(key)).is_some())
}

/// The help for a word that is not known.
pub(super) fn did_you_mean<'w>(
    report: &Report,
    written: &str,
    known: impl Iterator<Item = &'w str>,
    otherwise: impl FnOnce() -> String,
) -> String {
    let near = if report.wants_advice() { closest(written, known) } else { None };
    near.map_or_else(otherwise, |word| format!("did you mean `{word}`?"))
}

/// The known word that is probably meant.
pub(super) fn closest<'w>(written: &str, known: impl Iterator<Item = &'w str>) -> Option<&'w str> {
    if written.len() > 64 {
        return None;
    }
    let written = written.to_lowercase().replace('-', "_");
    known
        .filter(|word| word.len().abs_diff(written.len()) <= word.len() / 3)
        .map(|word| (strsim::osa_distance(&written, word), word))
        .filter(|(distance, word)| *distance <= word.len() / 3)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, word)| word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggestions_are_near_or_none() {
        let known = ["command", "args", "env", "url"];
        let table = [
            ("comand", Some("command")),
            ("Command", Some("command")),
            ("arg", Some("args")),
            ("zzz", None),
            ("", None),
        ];
        for (written, expected) in table {
            assert_eq!(closest(written, known.into_iter()), expected, "{written}");
        }
    }
}
