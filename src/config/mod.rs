//! The configuration: from YAML text to a model that cannot hold nonsense, all problems reported at once.
//!
//! [`load`] reads a document in three steps, each of which reports everything it finds: `read` makes a tree that
//! knows its lines, `shape` checks it against the tables of `keys`, `lower` makes the [`model`] of it. `check`,
//! the start and the reload call it. References such as `${TOKEN}` are only filled in by [`model::Server::resolve`].

pub mod diagnostic;
pub mod expand;
mod find;
mod keys;
mod lower;
pub mod model;
mod read;
pub mod resolve;
mod schema;
pub mod settings;
mod shape;
#[cfg(test)]
mod tests;
mod tree;

use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

pub use diagnostic::{Diagnostic, Severity, render};
pub use expand::{Environment, ProcessEnvironment, Template};
pub use find::find;
pub use model::{Config, Server, Source};
pub use schema::schema;

use diagnostic::{Event, Report};

/// The demo company's document, compiled in.
pub const DEMO: &str = include_str!("../../config.example.yaml");

/// A document that can be used.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// What it says.
    pub config: Config,
    /// What a person should look at: warnings, and remarks of severity `Info`.
    pub warnings: Vec<Diagnostic>,
}

impl Loaded {
    /// Writes the warnings to the log, each under its event name.
    pub fn log(&self) {
        for warning in &self.warnings {
            log(warning);
        }
    }
}

/// Reads a document.
///
/// # Errors
/// Every problem of it, and its warnings, in the order of the document.
pub fn load(text: &str, source: &Source) -> Result<Loaded, Vec<Diagnostic>> {
    let mut report = Report::new(source.file_name());
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let Some(root) = read::read(text, &mut report) else { return Err(report.finish()) };
    shape::Check::new(text, &mut report).section(&root, &keys::ROOT, "");
    let config = lower::config(&root, source, &mut report);
    if report.has_errors() {
        return Err(report.finish());
    }
    Ok(Loaded { config, warnings: report.finish() })
}

/// Reads the document at a path.
///
/// # Errors
/// As [`load`], or that the file cannot be read.
pub fn load_file(path: &Path) -> Result<Loaded, Vec<Diagnostic>> {
    load_source(&Source::File(path.to_owned()))
}

/// Reads a file or the demo.
///
/// # Errors
/// As [`load`], or that the file cannot be read.
pub fn load_source(source: &Source) -> Result<Loaded, Vec<Diagnostic>> {
    load(&read_text(source)?, source)
}

/// The text of a file or of the demo.
///
/// # Errors
/// That the file cannot be read.
pub fn read_text(source: &Source) -> Result<String, Vec<Diagnostic>> {
    let Source::File(path) = source else { return Ok(DEMO.to_owned()) };
    let unreadable = |reason: &str| {
        let shown = diagnostic::shortened(&path.to_string_lossy());
        let help = "name another file with `--config`, or start without one to see the demo";
        vec![Diagnostic::file(source.file_name(), format!("cannot read {shown}: {reason}"), help)]
    };
    let mut bytes = Vec::new();
    // One byte more than may be read, so that a file that is too large is told from one that just fits.
    let limit = u64::try_from(read::MAX_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    // A pipe in its place would be waited for without end.
    let nonblocking = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or_default();
    let opened = std::fs::OpenOptions::new().read(true).custom_flags(nonblocking).open(path);
    let file = opened.map_err(|error| unreadable(&error.to_string()))?;
    if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
        return Err(unreadable("it is no regular file"));
    }
    file.take(limit).read_to_end(&mut bytes).map_err(|error| unreadable(&error.to_string()))?;
    String::from_utf8(bytes).map_err(|error| {
        let lines = error.as_bytes().iter().take(error.utf8_error().valid_up_to()).filter(|byte| **byte == b'\n');
        unreadable(&format!("line {} is not UTF-8", lines.count() + 1))
    })
}

fn log(warning: &Diagnostic) {
    let Event { name, role, server } =
        warning.event.clone().unwrap_or(Event { name: "config_warning", role: None, server: None });
    let (role, server) = (role.as_deref(), server.as_deref());
    let place = format!("{}:{}", warning.file, warning.line);
    match warning.severity {
        Severity::Info => tracing::info!(role, server, place, reason = %warning.message, "{name}"),
        Severity::Warning => tracing::warn!(role, server, place, reason = %warning.message, "{name}"),
        Severity::Error => tracing::error!(role, server, place, reason = %warning.message, "{name}"),
    }
}
