//! Picking the one line of a dead child's stderr that says why, and the advice that follows from it: pure.
//!
//! [`super::failure`] puts them into the headline. The line may stand first, in the middle or last, before pages of
//! usage or stack frames.

use std::sync::Arc;

/// Words of lines that say why something ended, in lower case.
const TELLING: [&str; 21] = [
    "error",
    "exception",
    "fatal",
    "panic",
    "missing",
    "required",
    "not found",
    "not set",
    "no module",
    "no such",
    "cannot",
    "can't",
    "could not",
    "unable",
    "failed",
    "invalid",
    "denied",
    "refused",
    "unauthorized",
    "must ",
    "already in use",
];
/// Endings of variable names that a person has to fill.
const CREDENTIALS: [&str; 12] = [
    "_TOKEN",
    "_KEY",
    "_SECRET",
    "_PASSWORD",
    "_URL",
    "_USERNAME",
    "_USER",
    "_EMAIL",
    "_ID",
    "_HOST",
    "_DSN",
    "_CREDENTIALS",
];

/// The most telling line: the last one that names an error, else the last one that says anything.
pub(super) fn telling_line(tail: &[Arc<str>]) -> Option<&Arc<str>> {
    error_line(tail).or_else(|| tail.iter().rev().find(|line| !is_furniture(line)))
}

/// The last line that names an error.
pub(super) fn error_line(tail: &[Arc<str>]) -> Option<&Arc<str>> {
    let names_an_error = |line: &&Arc<str>| {
        let lower = line.to_lowercase();
        !is_furniture(line) && TELLING.iter().any(|word| lower.contains(word))
    };
    tail.iter().rev().find(names_an_error)
}

/// Lines that never say why: blanks, rules, braces, stack frames, usage, the interpreter's signature.
fn is_furniture(line: &str) -> bool {
    let text = line.trim();
    let lower = text.to_lowercase();
    !text.chars().any(char::is_alphanumeric)
        || ["at ", "file \"", "traceback", "usage:", "options:", "-", "node.js v", "^", "npm error a complete log"]
            .iter()
            .any(|start| lower.starts_with(start))
        || ["note: run with `rust_backtrace", "throw ", "raise ", "sys.exit", "process.exit"]
            .iter()
            .any(|start| lower.starts_with(start))
}

/// A credential that the line names: what the person should set.
pub(super) fn named_credential(line: &str) -> Option<&str> {
    line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).find(|word| {
        word.len() <= 64
            && word.starts_with(|c: char| c.is_ascii_uppercase())
            && !word.chars().any(|c| c.is_ascii_lowercase())
            && CREDENTIALS.iter().any(|ending| word.ends_with(ending))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tail(text: &str) -> Vec<Arc<str>> {
        text.lines().map(Arc::from).collect()
    }

    #[test]
    fn the_line_that_says_why_is_found() {
        let cases = [
            (
                "Traceback (most recent call last):\n  File \"a.py\", line 1\n    import mcp\nModuleNotFoundError: No module named 'mcp'",
                "ModuleNotFoundError: No module named 'mcp'",
            ),
            (
                "node:internal/modules:1\n  throw err;\n  ^\n\nError: Cannot find module 'x'\n    at Function._resolve (a.js:1)\n  code: 'MODULE',\n  requireStack: []\n}\n\nNode.js v20.1.0",
                "Error: Cannot find module 'x'",
            ),
            (
                "Please set SLACK_BOT_TOKEN; it is required\nusage: server [options]\n  --port N   port\n  --help     this text",
                "Please set SLACK_BOT_TOKEN; it is required",
            ),
            ("loading\nlistening nowhere\n\n}", "listening nowhere"),
        ];
        for (text, expected) in cases {
            assert_eq!(telling_line(&tail(text)).map(|line| &**line), Some(expected));
        }
        assert_eq!(telling_line(&tail("\n  ^^^\n-----")), None);
        assert_eq!(telling_line(&[]), None);
    }

    #[test]
    fn credentials_are_recognised_by_shape() {
        assert_eq!(named_credential("Please set SLACK_BOT_TOKEN and go"), Some("SLACK_BOT_TOKEN"));
        assert_eq!(named_credential("KeyError: 'JIRA_URL'"), Some("JIRA_URL"));
        assert_eq!(named_credential("code: 'ERR_MODULE_NOT_FOUND'"), None);
        assert_eq!(named_credential("my_token is bad"), None);
    }
}
