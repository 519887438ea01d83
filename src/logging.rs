//! Our own diagnostics: where `tracing` events go.
//!
//! `main` calls [`init`] once. Every event becomes a JSON line in a daily file and a record for the log pane;
//! one-shot commands also print warnings to stderr. Convention: the message is the event's name, everything else
//! is fields, and the field `server` names the server it is about. Each string passes the redactor and the
//! sanitiser here, so that no event has to think of it. Nothing here touches the terminal's screen.

mod fields;

use std::io::Write as _;
use std::panic::PanicHookInfo;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::mpsc;
use tracing::level_filters::LevelFilter;
use tracing::{Event, Level, Subscriber};
use tracing_appender::non_blocking::{ErrorCounter, NonBlocking, NonBlockingBuilder, WorkerGuard};
use tracing_appender::rolling::{RollingFileAppender, Rotation};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};

use crate::clock::Timestamp;
use crate::engine::snapshot::{LogLevel, LogRecord};
use crate::secret::Redactor;
use fields::{Fields, word};

/// Records that may wait for the log pane.
const PANE_QUEUE: usize = 1024;
/// Lines that may wait for the file.
const FILE_QUEUE: usize = 8192;
/// Days of files that are kept.
const DAYS: usize = 7;

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
        let mut fields = Fields::new(&self.redactor);
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

const fn level(level: Level) -> LogLevel {
    match level {
        Level::ERROR => LogLevel::Error,
        Level::WARN => LogLevel::Warn,
        Level::INFO => LogLevel::Info,
        _ => LogLevel::Debug,
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
