//! The fields of one event, as a JSON line and as a record for the log pane. Redacts and sanitises each text.

use std::fmt::Write as _;

use serde_json::{Map, Value};
use tracing::field::{Field, Visit};

use crate::clock::Timestamp;
use crate::engine::snapshot::{LogLevel, LogRecord};
use crate::secret::Redactor;
use crate::text;

/// The longest field that is logged, in bytes: room for 50 lines of stderr, not for a flood.
pub(super) const FIELD: usize = 64 << 10;

/// The fields of one event, redacted and sanitised.
pub(super) struct Fields<'a> {
    redactor: &'a Redactor,
    event: Option<String>,
    server: Option<String>,
    rest: Map<String, Value>,
}

impl<'a> Fields<'a> {
    pub(super) fn new(redactor: &'a Redactor) -> Self {
        Self { redactor, event: None, server: None, rest: Map::new() }
    }

    fn put(&mut self, field: &Field, text: &str) {
        let text = safe(text, self.redactor);
        match field.name() {
            "message" => self.event = Some(text),
            "server" => self.server = Some(text),
            name => {
                self.rest.insert(name.to_owned(), Value::String(text));
            }
        }
    }

    pub(super) fn json(&self, at: Timestamp, level: LogLevel, target: &str) -> String {
        let mut line = Map::new();
        line.insert("time".to_owned(), at.rfc3339().into());
        line.insert("level".to_owned(), word(level).into());
        line.insert("event".to_owned(), self.event.as_deref().unwrap_or("unnamed").into());
        line.insert("target".to_owned(), target.into());
        line.insert("pid".to_owned(), std::process::id().into());
        if let Some(server) = &self.server {
            line.insert("server".to_owned(), server.as_str().into());
        }
        for (name, value) in &self.rest {
            // An event's own field must not pass for one of ours.
            let name = if line.contains_key(name) { format!("field.{name}") } else { name.clone() };
            line.insert(name, value.clone());
        }
        let mut line = Value::Object(line).to_string();
        line.push('\n');
        line
    }

    pub(super) fn record(self, at: Timestamp, level: LogLevel) -> LogRecord {
        let mut text = String::new();
        for (name, value) in &self.rest {
            let space = if text.is_empty() { "" } else { " " };
            // Writing into a `String` cannot fail.
            let _ = match value {
                Value::String(value) => write!(text, "{space}{name}={value}"),
                other => write!(text, "{space}{name}={other}"),
            };
        }
        LogRecord {
            at,
            level,
            event: self.event.unwrap_or_else(|| "unnamed".to_owned()).into(),
            server: self.server.map(Into::into),
            text: text.into(),
        }
    }
}

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.put(field, &format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, value);
    }

    fn record_error(&mut self, field: &Field, value: &(dyn std::error::Error + 'static)) {
        self.put(field, &value.to_string());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.rest.insert(field.name().to_owned(), value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.rest.insert(field.name().to_owned(), value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.rest.insert(field.name().to_owned(), value.into());
    }
}

/// `text` without secrets, on one line, of bounded length. Redacted first and whole: a cut or an escape inside a
/// secret would hide it from the redactor.
fn safe(text: &str, redactor: &Redactor) -> String {
    let redacted = redactor.redact(text);
    let clean = text::clean(&redacted);
    if clean.len() <= FIELD {
        return clean.into_owned();
    }
    let end = (0..=FIELD).rev().find(|at| clean.is_char_boundary(*at)).unwrap_or(0);
    let (kept, cut) = clean.split_at(end);
    format!("{kept}… ({} more bytes)", cut.len())
}

/// The level's word.
pub(super) const fn word(level: LogLevel) -> &'static str {
    match level {
        LogLevel::Debug => "debug",
        LogLevel::Info => "info",
        LogLevel::Warn => "warn",
        LogLevel::Error => "error",
    }
}
