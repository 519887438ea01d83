//! Exports: what the person asked for, written to a file of its own in the state folder, off the core's task.
//!
//! The core starts one with `Exports::export` and tells what became of it. Everything comes from a snapshot, whose
//! texts are redacted, and passes the redactor once more.

mod diagnostics;

use std::fmt::Write as _;
use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::task::JoinSet;

use super::command::Export;
use super::core::Core;
use super::snapshot::{LineKind, LogLevel, LogRecord, Snapshot};
use crate::clock::Timestamp;
use crate::config::model::Config;
use crate::ids::ConnectionName;
use crate::secret::Redactor;

/// Exports on their way.
pub(super) struct Exports {
    folder: Option<PathBuf>,
    running: JoinSet<Result<PathBuf, String>>,
}

/// What an export is made from.
struct Source {
    snapshot: Arc<Snapshot>,
    config: Arc<Config>,
    redactor: Redactor,
    folder: PathBuf,
}

impl Exports {
    /// Exports into this state folder.
    pub(super) fn new(folder: Option<PathBuf>) -> Self {
        Self { folder, running: JoinSet::new() }
    }

    /// What became of the next one that ends, for people. Waits for ever while there is none.
    pub(super) async fn next(&mut self) -> Option<(LogLevel, String)> {
        match self.running.join_next().await {
            Some(Ok(Ok(path))) => Some((LogLevel::Info, format!("written to {}", path.display()))),
            Some(Ok(Err(problem))) => Some((LogLevel::Error, format!("nothing was exported: {problem}"))),
            Some(Err(error)) => Some((LogLevel::Error, format!("nothing was exported: {error}"))),
            None => std::future::pending().await,
        }
    }
}

impl Core {
    /// Starts an export of what is known now.
    pub(super) fn export(&mut self, export: Export) {
        let Some(folder) = self.exports.folder.clone() else {
            self.notice(LogLevel::Warn, "nothing was exported: there is no state folder");
            return;
        };
        let source = Source {
            snapshot: Arc::new(self.snapshot.clone()),
            config: self.config.clone(),
            redactor: self.fixed.pipeline.redactor.clone(),
            folder,
        };
        self.exports.running.spawn_blocking(move || source.write(&export));
    }
}

impl Source {
    fn write(&self, export: &Export) -> Result<PathBuf, String> {
        let (name, extension, text) = match export {
            Export::Stderr(connection) => (plain(connection.as_str()), "log", self.stderr(connection)?),
            Export::Log => ("crewlet-tui".to_owned(), "log", self.log()),
            Export::Diagnostics => ("diagnostics".to_owned(), "txt", diagnostics::text(self)),
        };
        let folder = self.folder.join("exports");
        let failed = |error: io::Error| format!("{}: {error}", folder.display());
        DirBuilder::new().recursive(true).mode(0o700).create(&folder).map_err(failed)?;
        let stamp = stamp(Timestamp::now());
        create(&folder, &format!("{name}-{stamp}"), extension, text.as_bytes()).map_err(failed)
    }

    fn stderr(&self, connection: &ConnectionName) -> Result<String, String> {
        let server = self.snapshot.servers.iter().find(|server| server.connection == *connection);
        let server = server.ok_or_else(|| format!("there is no server \"{connection}\""))?;
        let mut text = String::new();
        if server.stderr.first() > 0 {
            let _ = writeln!(text, "# {} earlier lines are not kept any more", server.stderr.first());
        }
        for (_, line) in server.stderr.iter() {
            let mark = match line.kind {
                LineKind::Stderr => "",
                LineKind::Noise => "[stdout] ",
                LineKind::Mark => "[crewlet-tui] ",
            };
            let _ = writeln!(text, "{} {mark}{}", line.at, self.redactor.redact(&line.text));
        }
        Ok(text)
    }

    fn log(&self) -> String {
        let mut text = String::new();
        for (_, record) in self.snapshot.log.iter() {
            let _ = writeln!(text, "{}", self.redactor.redact(&log_line(record)));
        }
        text
    }
}

/// One record on one line.
fn log_line(record: &LogRecord) -> String {
    let level = match record.level {
        LogLevel::Debug => "DEBUG",
        LogLevel::Info => "INFO ",
        LogLevel::Warn => "WARN ",
        LogLevel::Error => "ERROR",
    };
    let server = record.server.as_ref().map(|server| format!(" {server}")).unwrap_or_default();
    format!("{} {level} {}{server} {}", record.at, record.event, record.text)
}

/// A name as a part of a file's name.
fn plain(name: &str) -> String {
    let keep = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') { c } else { '_' };
    name.chars().take(64).map(keep).collect()
}

/// `20260131-235959`, in the person's own time zone.
fn stamp(at: Timestamp) -> String {
    let at = jiff::Timestamp::from_millisecond(at.millis()).unwrap_or_default();
    at.to_zoned_datetime(jiff::tz::TimeZone::system()).strftime("%Y%m%d-%H%M%S").to_string()
}

/// Writes a new file, 0600; a second one of the same second gets a number.
fn create(folder: &Path, name: &str, extension: &str, bytes: &[u8]) -> io::Result<PathBuf> {
    for number in 1..100 {
        let name = if number == 1 { format!("{name}.{extension}") } else { format!("{name}-{number}.{extension}") };
        let path = folder.join(name);
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
            Ok(mut file) => {
                file.write_all(bytes)?;
                file.sync_data()?;
                return Ok(path);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::new(io::ErrorKind::AlreadyExists, "too many exports within one second"))
}
