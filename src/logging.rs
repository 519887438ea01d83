//! Our own diagnostics: where `tracing` events go.
//!
//! `main` calls [`init`] once. Every event becomes a JSON line in a daily file and a record for the log pane;
//! one-shot commands also print warnings to stderr. Convention: the message is the event's name, everything else
//! is fields, and the field `server` names the server it is about. Each string passes the redactor and the
//! sanitiser here, so that no event has to think of it. Nothing here touches the terminal's screen.

use std::fmt::Write as _;
use std::io::Write as _;
use std::panic::PanicHookInfo;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Map, Value};
use tokio::sync::mpsc;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::{Event, Level, Subscriber};
use tracing_appender::non_blocking::{ErrorCounter, NonBlocking, NonBlockingBuilder, WorkerGuard};
use tracing_appender::rolling::{RollingFileAppender, Rotation};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};

use crate::clock::Timestamp;
use crate::engine::snapshot::{LogLevel, LogRecord};
use crate::secret::Redactor;
use crate::text;

/// Records that may wait for the log pane.
const PANE_QUEUE: usize = 1024;
/// Lines that may wait for the file.
const FILE_QUEUE: usize = 8192;
/// Days of files that are kept.
const DAYS: usize = 7;
/// The longest field that is logged, in bytes: room for 50 lines of stderr, not for a flood.
const FIELD: usize = 64 << 10;

/// What to set up.
#[derive(Debug)]
pub struct Options<'a> {
    /// The folder of the log files; `None` writes none.
    pub dir: Option<&'a Path>,
    /// How much is logged.
    pub detail: Detail,
    /// The program's redactor.
    pub redactor: Redactor,
    /// Whether warnings and errors are printed: for one-shot commands, never beside a screen.
    pub stderr: Stderr,
}

/// How much is logged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Detail {
    /// From `info` on.
    Normal,
    /// From `debug` on: `--debug`. Libraries stay at `warn`, they log whole messages below it.
    Debug,
}

/// What is printed to stderr.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stderr {
    /// Nothing.
    Quiet,
    /// Warnings and errors, a line each.
    Warnings,
}

/// The receiving end. Keep it until the process ends: dropping it writes out what waits for the file.
#[derive(Debug)]
pub struct Logging {
    /// Records for the log pane. To be taken out by whoever shows them; when nobody reads, they count as dropped.
    pub records: mpsc::Receiver<LogRecord>,
    /// Counts what was dropped because a reader or the disk could not keep up.
    pub dropped: Dropped,
    /// Why there is no log file although one was asked for.
    pub problem: Option<String>,
    _file: Option<WorkerGuard>,
}

/// Counts of records that were dropped. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Dropped {
    pane: Arc<AtomicU64>,
    file: Option<ErrorCounter>,
}

impl Dropped {
    /// Records that did not reach the log pane.
    pub fn pane(&self) -> u64 {
        self.pane.load(Ordering::Relaxed)
    }

    /// Lines that did not reach the file.
    pub fn file(&self) -> u64 {
        self.file.as_ref().map_or(0, |counter| counter.dropped_lines() as u64)
    }
}

/// Sends all events of the process to the file, the log pane and, if asked, stderr.
pub fn init(options: &Options<'_>) -> Logging {
    let (sink, mut logging) = Sink::new(options);
    let subscriber = tracing_subscriber::registry().with(sink.with_filter(levels(options.detail)));
    if tracing::subscriber::set_global_default(subscriber).is_err() {
        logging.problem.get_or_insert_with(|| "another subscriber was installed before".to_owned());
    }
    if let Some(problem) = &logging.problem {
        tracing::warn!(reason = %problem, "log_file_unavailable");
    }
    logging
}

/// Logs every panic, wherever it happens, and then runs `after`: restoring the terminal is its business, and only
/// when the screen's own thread panicked.
pub fn install_panic_hook(after: impl Fn(&PanicHookInfo<'_>) + Send + Sync + 'static) {
    std::panic::set_hook(Box::new(move |info| {
        log_panic(info);
        after(info);
    }));
}

/// Logs a panic: thread, place and message.
pub fn log_panic(info: &PanicHookInfo<'_>) {
    let payload = info.payload();
    let message = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    let location = info.location().map(ToString::to_string).unwrap_or_default();
    let current = std::thread::current();
    let thread = current.name().unwrap_or("unnamed");
    let backtrace = std::backtrace::Backtrace::capture();
    if backtrace.status() == std::backtrace::BacktraceStatus::Captured {
        tracing::error!(thread, location, reason = message, backtrace = %backtrace, "panic");
    } else {
        tracing::error!(thread, location, reason = message, "panic");
    }
}

fn levels(detail: Detail) -> Targets {
    let ours = match detail {
        Detail::Normal => LevelFilter::INFO,
        Detail::Debug => LevelFilter::DEBUG,
    };
    Targets::new().with_default(LevelFilter::WARN).with_target(env!("CARGO_CRATE_NAME"), ours)
}

/// Where events arrive.
#[derive(Debug)]
struct Sink {
    redactor: Redactor,
    file: Option<NonBlocking>,
    pane: mpsc::Sender<LogRecord>,
    dropped: Arc<AtomicU64>,
    stderr: Stderr,
}

impl Sink {
    fn new(options: &Options<'_>) -> (Self, Logging) {
        let (pane, records) = mpsc::channel(PANE_QUEUE);
        let (mut file, mut guard, mut problem) = (None, None, None);
        match options.dir.map(appender).transpose() {
            Ok(Some(appender)) => {
                let builder = NonBlockingBuilder::default().lossy(true).buffered_lines_limit(FILE_QUEUE);
                let (writer, keep) = builder.thread_name("log").finish(appender);
                (file, guard) = (Some(writer), Some(keep));
            }
            Ok(None) => {}
            Err(error) => problem = Some(error),
        }
        let dropped = Arc::new(AtomicU64::new(0));
        let counters = Dropped { pane: dropped.clone(), file: file.as_ref().map(NonBlocking::error_counter) };
        let sink = Self { redactor: options.redactor.clone(), file, pane, dropped, stderr: options.stderr };
        (sink, Logging { records, dropped: counters, problem, _file: guard })
    }

    fn take(&self, event: &Event<'_>) {
        let mut fields = Fields { redactor: &self.redactor, event: None, server: None, rest: Map::new() };
        event.record(&mut fields);
        let metadata = event.metadata();
        let at = Timestamp::now();
        let level = level(*metadata.level());
        let line = fields.json(at, level, metadata.target());
        let record = fields.record(at, level);
        if let Some(file) = &self.file {
            // Lossy: it never blocks, and what it drops it counts itself.
            let _ = file.clone().write_all(line.as_bytes());
        }
        if self.stderr == Stderr::Warnings && level >= LogLevel::Warn {
            let _ = std::io::stderr().write_all(compact(&record).as_bytes());
        }
        // A feed that nobody took or that has ended is no overload.
        if let Err(mpsc::error::TrySendError::Full(_)) = self.pane.try_send(record) {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl<S: Subscriber> Layer<S> for Sink {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        self.take(event);
    }
}

fn appender(dir: &Path) -> Result<RollingFileAppender, String> {
    use std::os::unix::fs::DirBuilderExt as _;
    let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", dir.display());
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(|error| failed(&error))?;
    RollingFileAppender::builder()
        .rotation(Rotation::DAILY)
        .filename_prefix(env!("CARGO_PKG_NAME"))
        .filename_suffix("log")
        .max_log_files(DAYS)
        .build(dir)
        .map_err(|error| failed(&error))
}

/// The fields of one event, redacted and sanitised.
struct Fields<'a> {
    redactor: &'a Redactor,
    event: Option<String>,
    server: Option<String>,
    rest: Map<String, Value>,
}

impl Fields<'_> {
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

    fn json(&self, at: Timestamp, level: LogLevel, target: &str) -> String {
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

    fn record(self, at: Timestamp, level: LogLevel) -> LogRecord {
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

const fn level(level: Level) -> LogLevel {
    match level {
        Level::ERROR => LogLevel::Error,
        Level::WARN => LogLevel::Warn,
        Level::INFO => LogLevel::Info,
        _ => LogLevel::Debug,
    }
}

const fn word(level: LogLevel) -> &'static str {
    match level {
        LogLevel::Debug => "debug",
        LogLevel::Info => "info",
        LogLevel::Warn => "warn",
        LogLevel::Error => "error",
    }
}

/// `warn server_stopped_with_exit_status github: reason=…`
fn compact(record: &LogRecord) -> String {
    let mut line = format!("{} {}", word(record.level), record.event);
    if let Some(server) = &record.server {
        line.extend([" ", server]);
    }
    if !record.text.is_empty() {
        line.extend([": ", &record.text]);
    }
    line.push('\n');
    line
}

#[cfg(test)]
mod tests;
