//! Problems with the document, for people and for scripts, and the report that collects them.
//!
//! The reader, the shape check and the lowering write into one `Report`; `check`, the start-up message and the
//! reload notice show what comes out. Values of the document that may be secret never get into a message.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use serde::{Serialize, Serializer};

use super::model::{Problem, Unresolved};
use super::tree::Mark;
use crate::text;

/// More problems than this are counted, not listed.
pub const MAX_DIAGNOSTICS: usize = 100;
/// Kept of each kind while reading: problems come out of order, and the first ones in the document are listed.
const MAX_KEPT: usize = MAX_DIAGNOSTICS * 10;

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// The document cannot be used.
    Error,
    /// It can be used, and probably not as it was meant.
    Warning,
    /// Nothing is wrong; a person may want to know.
    Info,
}

impl Severity {
    /// `error`, `warning` or `info`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Info => "info",
        }
    }
}

impl Serialize for Severity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// The log event that goes with a warning.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Event {
    /// Its name: `mcp_env_unknown_server`.
    pub name: &'static str,
    /// The role it is about.
    pub role: Option<Arc<str>>,
    /// The server it is about.
    pub server: Option<Arc<str>>,
}

/// One problem. Serialises to the object that `check --json` prints.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// The file's name, without its folder.
    pub file: Arc<str>,
    /// Line, from 1; 0 when the problem is about the file as a whole.
    pub line: u32,
    /// Column in characters, from 1; 0 when the problem is about the file as a whole.
    pub column: u32,
    /// The field: `mcp_servers[2].url`; empty when it is about the document.
    pub path: String,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// The log event that goes with it.
    #[serde(skip)]
    pub event: Option<Event>,
}

impl Diagnostic {
    /// A problem with a file as a whole: it cannot be read.
    pub fn file(file: Arc<str>, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            file,
            line: 0,
            column: 0,
            path: String::new(),
            message: message.into(),
            help: Some(help.into()),
            event: None,
        }
    }
}

/// A reference that cannot be filled in, as a problem for `check`.
impl From<&Unresolved> for Diagnostic {
    fn from(unresolved: &Unresolved) -> Self {
        let help = match unresolved.problem {
            Problem::Missing | Problem::Empty => {
                format!("set {0} before you start, or write `${{{0}:-default}}`", unresolved.variable)
            }
            Problem::Unusable(_) => format!("mend the value of {}", unresolved.variable),
        };
        Self {
            severity: Severity::Error,
            file: unresolved.place.file.clone(),
            line: unresolved.place.line,
            column: unresolved.column,
            path: unresolved.path.to_string(),
            message: format!("environment variable {} {}", unresolved.variable, unresolved.problem),
            help: Some(help),
            event: Some(Event { name: "config_reference_unresolved", role: None, server: None }),
        }
    }
}

/// `config.yaml:12:5: error: mcp_servers[2].url: …` and, on a line of its own, the help.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text::visible(&self.file))?;
        if self.line > 0 {
            write!(f, ":{}:{}", self.line, self.column)?;
        }
        write!(f, ": {}: ", self.severity.as_str())?;
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)?;
        if let Some(help) = &self.help {
            write!(f, "\n  help: {help}")?;
        }
        Ok(())
    }
}

/// All problems, one after the other, each with its help line; ends with a newline unless empty.
pub fn render(diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().fold(String::new(), |text, diagnostic| text + &diagnostic.to_string() + "\n")
}

/// Foreign text inside a message: in backquotes, nothing invisible, at most 60 characters.
pub(super) fn quoted(foreign: &str) -> String {
    format!("`{}`", shortened(foreign))
}

/// Foreign text without backquotes, nothing invisible, at most 60 characters.
pub(super) fn shortened(foreign: &str) -> String {
    const LONGEST: usize = 60;
    let mut short: String = foreign.chars().take(LONGEST).collect();
    if foreign.chars().nth(LONGEST).is_some() {
        short.push('…');
    }
    text::visible(&short).into_owned()
}

/// The path of a field below `path`.
pub(super) fn child(path: &str, key: &str) -> String {
    let plain = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    match (plain, path.is_empty()) {
        (true, true) => shortened(key),
        (true, false) => format!("{path}.{}", shortened(key)),
        (false, _) => format!("{path}[\"{}\"]", shortened(key)),
    }
}

/// The path of an item of a list.
pub(super) fn item(path: &str, index: usize) -> String {
    format!("{path}[{index}]")
}

/// Collects problems while a document is read.
#[derive(Debug)]
pub(super) struct Report {
    file: Arc<str>,
    items: Vec<Diagnostic>,
    seen: HashSet<(u32, u32, String)>,
    errors: usize,
    /// Problems that were not kept.
    left_out: usize,
}

impl Report {
    pub(super) fn new(file: Arc<str>) -> Self {
        Self { file, items: Vec::new(), seen: HashSet::new(), errors: 0, left_out: 0 }
    }

    pub(super) const fn file(&self) -> &Arc<str> {
        &self.file
    }

    pub(super) fn error(&mut self, mark: Mark, path: impl Into<String>, message: impl Into<String>) -> Note<'_> {
        self.add(Severity::Error, mark, path.into(), message.into())
    }

    pub(super) fn warning(&mut self, mark: Mark, path: impl Into<String>, message: impl Into<String>) -> Note<'_> {
        self.add(Severity::Warning, mark, path.into(), message.into())
    }

    pub(super) fn info(&mut self, mark: Mark, path: impl Into<String>, message: impl Into<String>) -> Note<'_> {
        self.add(Severity::Info, mark, path.into(), message.into())
    }

    /// The same problem of an aliased node is reported once, at the place where the node stands.
    fn add(&mut self, severity: Severity, mark: Mark, path: String, message: String) -> Note<'_> {
        // Errors have a cap of their own, so that no flood of warnings makes a broken document look valid.
        let others = self.items.len() - self.errors.min(self.items.len());
        let full = if severity == Severity::Error { self.errors >= MAX_KEPT } else { others >= MAX_KEPT };
        if full {
            self.left_out += 1;
            return Note(None);
        }
        if !self.seen.insert((mark.line, mark.column, message.clone())) {
            return Note(None);
        }
        self.errors += usize::from(severity == Severity::Error);
        let file = self.file.clone();
        let (line, column) = (mark.line, mark.column);
        self.items.push(Diagnostic { severity, file, line, column, path, message, help: None, event: None });
        Note(self.items.last_mut())
    }

    /// True when the document cannot be used.
    pub(super) const fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// False once there are more problems than are listed: nothing dear need be worked out for another one.
    pub(super) const fn wants_advice(&self) -> bool {
        self.items.len() < MAX_DIAGNOSTICS
    }

    /// Everything in the order of the document; remarks only when nothing is wrong.
    pub(super) fn finish(mut self) -> Vec<Diagnostic> {
        if self.has_errors() {
            self.items.retain(|item| item.severity != Severity::Info);
        }
        self.items.sort_by_key(|item| (item.line, item.column));
        let cut = self.items.len().saturating_sub(MAX_DIAGNOSTICS);
        if cut > 0 {
            // Warnings make room first, so that a document is never refused without a visible reason.
            self.items.sort_by_key(|item| item.severity);
            self.items.truncate(MAX_DIAGNOSTICS);
            self.items.sort_by_key(|item| (item.line, item.column));
        }
        let more = cut + self.left_out;
        if more > 0 {
            let severity = if self.has_errors() { Severity::Error } else { Severity::Warning };
            let message = format!("and {more} more problems");
            let mut last = Diagnostic::file(self.file, message, "mend these first, then check again");
            last.severity = severity;
            self.items.push(last);
        }
        self.items
    }
}

/// A problem just reported, to which help or a log event may be added. Holds nothing for a repeated problem.
pub(super) struct Note<'r>(Option<&'r mut Diagnostic>);

impl Note<'_> {
    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        if let Some(diagnostic) = &mut self.0 {
            diagnostic.help = Some(help.into());
        }
        self
    }

    pub(super) fn event(mut self, name: &'static str, role: Option<&Arc<str>>, server: Option<&str>) -> Self {
        if let Some(diagnostic) = &mut self.0 {
            diagnostic.event = Some(Event { name, role: role.cloned(), server: server.map(Into::into) });
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(line: u32, column: u32) -> Mark {
        Mark { line, column }
    }

    #[test]
    fn problems_come_out_in_the_order_of_the_document_and_once() {
        let mut report = Report::new("config.yaml".into());
        report.error(mark(9, 1), "b", "second");
        report.error(mark(2, 5), "a", "first").help("do this");
        report.error(mark(2, 5), "other.path", "first");
        let text = render(&report.finish());
        assert_eq!(text, "config.yaml:2:5: error: a: first\n  help: do this\nconfig.yaml:9:1: error: b: second\n");
    }

    #[test]
    fn a_flood_is_cut_and_counted_and_keeps_its_errors() {
        let mut report = Report::new("config.yaml".into());
        for line in 1..=5_000 {
            report.warning(mark(line, 1), "a", "careful");
        }
        assert!(!report.has_errors());
        report.error(mark(9_000, 1), "b", "broken");
        assert!(report.has_errors());
        assert!(report.finish().iter().any(|item| item.message == "broken"));
        let mut report = Report::new("config.yaml".into());
        for line in 1..=150 {
            report.warning(mark(line, 1), "a", "careful");
        }
        report.error(mark(900, 1), "b", "broken");
        let all = report.finish();
        assert_eq!(all.len(), MAX_DIAGNOSTICS + 1);
        assert!(all.iter().any(|item| item.message == "broken"));
        assert_eq!(all.last().map(|item| item.message.as_str()), Some("and 51 more problems"));
    }

    #[test]
    fn json_has_the_documented_members() {
        let mut report = Report::new("config.yaml".into());
        report.error(mark(12, 5), "mcp_servers[2].url", "is missing").help("add it");
        let json = serde_json::to_value(report.finish()).unwrap();
        assert_eq!(
            json,
            serde_json::json!([{"severity": "error", "file": "config.yaml", "line": 12, "column": 5,
                "path": "mcp_servers[2].url", "message": "is missing", "help": "add it"}])
        );
    }

    #[test]
    fn paths_quote_odd_keys() {
        assert_eq!(child("env", "A_B"), "env.A_B");
        assert_eq!(child("env", "a.b"), "env[\"a.b\"]");
        assert_eq!(child("", "name"), "name");
    }
}
