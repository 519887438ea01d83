//! Credentials that are recognised by their shape. The prefixes are those that vendors publish so that scanners
//! can find leaked keys; they are no knowledge about tools.

use std::sync::LazyLock;

use regex::{Regex, RegexSet};

use super::spans::Spans;

/// The shapes that a single expression describes.
const SHAPES: [(&str, &str); 8] = [
    ("slack-token", r"xox[abeprs]-[A-Za-z0-9-]{20,}"),
    ("aws-key", r"AKIA[A-Z0-9]{16}"),
    ("github-token", r"gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{50,}"),
    ("gitlab-token", r"gl(?:pat|rt|soat|ptt)-[A-Za-z0-9_-]{20,}"),
    ("plane-token", r"plane_api_[A-Za-z0-9_-]{20,}"),
    ("plane-webhook-secret", r"plane_wh_[A-Za-z0-9_-]{20,}"),
    // Our own, also those that count no more: see `super::token`.
    ("crewlet-token", r"crewlet_[0-9a-f]{64}"),
    ("password", PASSWORD),
];

/// The word, a colon or equals sign, and what follows: a quoted text or everything up to white space. Where the word
/// is a quoted key (JSON, also JSON inside a JSON string), the value ends where that notation ends it. Otherwise it
/// ends only before a quote that a comma, a colon or a closing bracket follows: that is the end of a JSON string,
/// and what stands behind it (the other arguments of a call) must not disappear with a password.
const PASSWORD: &str = concat!(
    r#"(?i:password|passwd|pwd)(?:"#,
    r#"\\*["'][ \t]*[:=][ \t]*(?:"(?:[^"\\\r\n]|\\.)*"|'(?:[^'\\\r\n]|\\.)*'|\\+"[^"\r\n]*"|[^\s,}\]"']+)"#,
    r#"|[ \t]*[:=][ \t]*(?:"(?:[^"\\\r\n,:}\]]|\\.)(?:[^"\\\r\n]|\\.)*"|'(?:[^'\\\r\n]|\\.)*'|[^\s"]|"[^\s",:}\]])"#,
    r#"(?:[^\s"]|"[^\s",:}\]])*"#,
    r")",
);

/// The beginning only, so that looking at every candidate takes linear time; [`is_key_char`] says how it goes on.
const API_KEY: &str = r"sk-[A-Za-z0-9_-]{20}";

const KEY_BEGIN: &str = r"-----BEGIN (?:(?:RSA|EC|DSA|OPENSSH|ENCRYPTED) )?PRIVATE KEY-----";
const KEY_END: &str = r"-----END (?:(?:RSA|EC|DSA|OPENSSH|ENCRYPTED) )?PRIVATE KEY-----";
/// Lines of a key whose end is missing.
const KEY_LINES: &str = r"\A(?:(?:\s|\\[nr])*[A-Za-z0-9+/=]{16,})*";

struct Shapes {
    /// Which of [`SHAPES`], `API_KEY` and `KEY_BEGIN` (in this order) occur at all.
    any: RegexSet,
    each: Vec<(&'static str, Regex)>,
    api_key: Regex,
    key_begin: Regex,
    key_end: Regex,
    key_lines: Regex,
}

static COMPILED: LazyLock<Option<Shapes>> = LazyLock::new(|| compile().ok());

fn compile() -> Result<Shapes, regex::Error> {
    let all = SHAPES.iter().map(|(_, expression)| *expression).chain([API_KEY, KEY_BEGIN]);
    let each = SHAPES.iter().map(|(kind, expression)| Ok((*kind, Regex::new(expression)?)));
    Ok(Shapes {
        any: RegexSet::new(all)?,
        each: each.collect::<Result<_, regex::Error>>()?,
        api_key: Regex::new(API_KEY)?,
        key_begin: Regex::new(KEY_BEGIN)?,
        key_end: Regex::new(KEY_END)?,
        key_lines: Regex::new(KEY_LINES)?,
    })
}

/// The shortest text that has one of the shapes, in bytes: `pwd=x`.
const SHORTEST: usize = 5;

/// Adds every place where something has the shape of a credential.
pub(super) fn find(text: &str, spans: &mut Spans) {
    if text.len() < SHORTEST {
        return;
    }
    let Some(shapes) = COMPILED.as_ref() else {
        // The expressions are constants and a test compiles them; without them nothing may pass.
        spans.push(0, text.len(), "secret");
        return;
    };
    let present = shapes.any.matches(text);
    if !present.matched_any() {
        return;
    }
    for (index, (kind, expression)) in shapes.each.iter().enumerate() {
        if present.matched(index) {
            for found in expression.find_iter(text) {
                spans.push(found.start(), found.end(), kind);
            }
        }
    }
    if present.matched(SHAPES.len() + 1) {
        find_private_keys(shapes, text, spans);
    }
    if present.matched(SHAPES.len()) {
        find_api_keys(shapes, text, spans);
    }
}

/// From each beginning to the next end; without an end as far as the lines look like a key's.
fn find_private_keys(shapes: &Shapes, text: &str, spans: &mut Spans) {
    let mut ends = shapes.key_end.find_iter(text).peekable();
    let mut covered = 0;
    for begin in shapes.key_begin.find_iter(text) {
        if begin.start() < covered {
            continue;
        }
        while ends.next_if(|end| end.start() < begin.end()).is_some() {}
        covered = if let Some(end) = ends.peek() {
            end.end()
        } else {
            let rest = text.get(begin.end()..).unwrap_or_default();
            begin.end() + shapes.key_lines.find(rest).map_or(0, |lines| lines.end())
        };
        spans.push(begin.start(), covered, "private-key");
    }
}

/// `sk-` also ends many an ordinary word (`task-`, `risk-`), so in the middle of a word only a random-looking text
/// counts. A word that ends in another secret is no word.
fn find_api_keys(shapes: &Shapes, text: &str, spans: &mut Spans) {
    spans.settle();
    let mut keys = Vec::new();
    let mut from = 0;
    while let Some(found) = shapes.api_key.find_at(text, from) {
        let before = text.get(..found.start()).unwrap_or_default();
        let in_word = before.ends_with(|c: char| c.is_ascii_alphanumeric()) && !escape_ends(before);
        let digit = found.as_str().bytes().any(|byte| byte.is_ascii_digit());
        let capital = found.as_str().bytes().any(|byte| byte.is_ascii_uppercase());
        if !in_word || (digit && capital) || spans.cover_before(found.start()) {
            let rest = text.get(found.end()..).unwrap_or_default();
            from = found.end() + rest.find(|c| !is_key_char(c)).unwrap_or(rest.len());
            keys.push((found.start(), from));
        } else {
            from = found.start() + 1;
        }
    }
    for (start, end) in keys {
        spans.push(start, end, "api-key");
    }
}

fn is_key_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_')
}

/// Whether the last letter belongs to an escape (`\n`, `%3D`) and not to a word.
fn escape_ends(before: &str) -> bool {
    let mut bytes = before.bytes().rev();
    let (last, second, third) = (bytes.next(), bytes.next(), bytes.next());
    let hex = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_hexdigit());
    (matches!(last, Some(b'n' | b'r' | b't')) && second == Some(b'\\'))
        || (hex(last) && hex(second) && third == Some(b'%'))
}

#[cfg(test)]
mod tests {
    use super::super::spans::KINDS;
    use super::*;

    #[test]
    fn every_expression_compiles_and_every_kind_is_listed() {
        compile().unwrap();
        for kind in SHAPES.iter().map(|(kind, _)| *kind).chain(["api-key", "private-key", "secret"]) {
            assert!(KINDS.contains(&kind), "{kind}");
        }
    }
}
