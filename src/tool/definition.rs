//! A tool's definition as lines of text: what a person agrees to when they approve a call, in a form that can be
//! kept, compared and drawn.
//!
//! Covers what the fingerprint covers, in a stable order: two definitions with one fingerprint give the same lines.
//! Every line is sanitised and redacted. The engine keeps these texts and compares them.

use super::annotations::HintName;
use super::entry::Entry;
use super::json::canonical_value;
use crate::secret::Redactor;
use crate::text;

/// The longest definition that is kept, in bytes.
const MOST_BYTES: usize = 64 << 10;
/// The longest line that is kept, in bytes.
const LINE_BYTES: usize = 4 << 10;

/// The lines of a tool's definition, joined by newlines. `identity` is the server's command line or URL as
/// configured.
pub fn definition(entry: &Entry, identity: &str, redactor: &Redactor) -> String {
    let mut out = Lines::default();
    out.push(&format!("tool: {}", entry.raw_name));
    out.push(&format!("server: {} ({identity})", entry.server));
    out.push(&format!("title: {}", entry.title));
    out.push("description:");
    entry.description.lines().for_each(|line| out.push(&format!("  {line}")));
    out.push("hints:");
    for name in HintName::ALL {
        let malformed = if entry.hints.malformed.contains(&name) { " (stated with a wrong type)" } else { "" };
        out.push(&format!("  {}: {}{malformed}", name.words(), entry.hints.effective.get(name)));
    }
    out.push("input schema:");
    pretty(&canonical_value(&entry.input_schema), |line| out.push(line));
    if let Some(schema) = &entry.output_schema {
        out.push("output schema:");
        pretty(&canonical_value(schema), |line| out.push(line));
    }
    if out.cut > 0 {
        let note = format!("… {} bytes more, covered by {}", out.cut, entry.fingerprint);
        out.text.push('\n');
        out.text.push_str(&note);
    }
    // Once over the whole, since thousands of tools can come at once.
    redactor.redact(&out.text).into_owned()
}

#[derive(Default)]
struct Lines {
    text: String,
    cut: usize,
}

impl Lines {
    fn push(&mut self, line: &str) {
        if self.text.len() + line.len().min(LINE_BYTES) > MOST_BYTES {
            self.cut += line.len();
            return;
        }
        let line = text::visible(line);
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        let mut end = line.len().min(LINE_BYTES);
        while !line.is_char_boundary(end) {
            end -= 1;
        }
        self.text.push_str(line.get(..end).unwrap_or_default());
        self.cut += line.len() - end;
    }
}

/// Canonical JSON, one member or item a line, indented by two spaces; without recursion, since schemas are foreign.
fn pretty(canonical: &str, mut line: impl FnMut(&str)) {
    /// Deeper levels are not moved further to the right.
    const DEEPEST: usize = 32;
    let indent = |depth: usize| "  ".repeat(depth.min(DEEPEST) + 1);
    let (mut depth, mut quoted, mut escaped, mut current) = (0_usize, false, false, indent(0));
    let mut characters = canonical.chars().peekable();
    while let Some(c) = characters.next() {
        if quoted {
            current.push(c);
            quoted = escaped || c != '"';
            escaped = c == '\\' && !escaped;
            continue;
        }
        match c {
            '"' => {
                quoted = true;
                current.push(c);
            }
            '{' | '[' if characters.peek().is_some_and(|next| matches!(next, '}' | ']')) => {
                current.push(c);
                current.extend(characters.next());
            }
            '{' | '[' => {
                current.push(c);
                line(&current);
                depth += 1;
                current = indent(depth);
            }
            '}' | ']' => {
                line(&current);
                depth = depth.saturating_sub(1);
                current = indent(depth);
                current.push(c);
            }
            ',' => {
                current.push(c);
                line(&current);
                current = indent(depth);
            }
            ':' => current.push_str(": "),
            _ => current.push(c),
        }
    }
    line(&current);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(json: &str) -> Vec<String> {
        let mut lines = Vec::new();
        pretty(json, |line| lines.push(line.to_owned()));
        lines
    }

    #[test]
    fn json_is_laid_out_line_by_line_and_strings_are_left_alone() {
        assert_eq!(
            lines(r#"{"a":{},"b":[1,"x,{\"y\\"],"c":[]}"#),
            [
                "  {",
                r#"    "a": {},"#,
                r#"    "b": ["#,
                "      1,",
                r#"      "x,{\"y\\""#,
                "    ],",
                r#"    "c": []"#,
                "  }"
            ]
        );
        assert_eq!(lines("true"), ["  true"]);
    }

    #[test]
    fn nesting_costs_no_stack_and_bounded_width() {
        let deep = format!("{}1{}", "[".repeat(50_000), "]".repeat(50_000));
        assert!(lines(&deep).iter().all(|line| line.len() < 80));
    }
}
