//! `connector.jsonl`: one line of exactly five fields for each invocation, read or write, allowed or denied.
//!
//! Appended as one write each, mode 0600. The line of a change is written before the change is kept, so that nothing
//! is changed that is not in it. Nothing is kept open between lines: a folder that moved away is noticed.
//!
//! Once somebody looks at the trail, its last lines are kept in memory, too, and each new one is told.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use tokio::sync::watch;

use super::recent::Recent;
use crate::clock::Timestamp;
use crate::config::model::Scope;
use crate::engine::ring::Ring;
use crate::rows::trail::Record;
use crate::secret::Redactor;

/// The file's name in the state folder.
pub const FILE: &str = "connector.jsonl";
/// A file this long is set aside and a new one begun, in bytes.
const ROLL_AT: u64 = 64 << 20;

/// How an invocation ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It ran.
    Success,
    /// One of the checks refused it.
    Denied,
    /// Its arguments make no sense, or it could not run.
    Error,
}

impl Outcome {
    /// The word in the file.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Denied => "denied",
            Self::Error => "error",
        }
    }
}

/// The connector's trail. Clones write to the same file.
#[derive(Clone, Debug)]
pub struct Trail {
    path: PathBuf,
    /// The last lines, since somebody looked for the first time. Held while a line is written, so that none is missed
    /// and none is told twice.
    recent: Arc<Mutex<Option<Recent>>>,
    told: watch::Sender<u64>,
}

#[derive(Serialize)]
struct Line<'l> {
    tool: &'l str,
    outcome: &'static str,
    reason: &'l str,
    scopes_provided: Vec<&'static str>,
    timestamp: String,
}

impl Trail {
    /// In this state folder. `told` counts up with each line that somebody may be looking at.
    pub fn new(folder: &Path, told: watch::Sender<u64>) -> Self {
        Self { path: folder.join(FILE), recent: Arc::default(), told }
    }

    /// The last lines, oldest first, without secrets. Blocks; reads the end of the file when nobody has looked before.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn recent(&self, redactor: &Redactor) -> io::Result<Ring<Arc<Record>>> {
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(recent) = &*recent {
            return Ok(recent.lines().clone());
        }
        let read = Recent::read(&self.path, redactor.clone())?;
        let lines = read.lines().clone();
        *recent = Some(read);
        Ok(lines)
    }

    /// Appends one line. Blocks.
    ///
    /// # Errors
    /// When it is not in the file.
    pub fn append(&self, tool: &str, outcome: Outcome, reason: &str, scopes: &[Scope]) -> io::Result<()> {
        let at = Timestamp::now();
        let line = Line {
            tool,
            outcome: outcome.as_str(),
            reason,
            scopes_provided: scopes.iter().map(|scope| scope.as_str()).collect(),
            timestamp: at.rfc3339_seconds(),
        };
        let mut text = serde_json::to_string(&line)?;
        text.push('\n');
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        self.write(&text)?;
        if let Some(recent) = &mut *recent {
            recent.push(at, (tool, outcome.as_str(), reason), &line.scopes_provided);
            self.told.send_modify(|count| *count = count.wrapping_add(1));
        }
        Ok(())
    }

    fn write(&self, text: &str) -> io::Result<()> {
        let mut file = OpenOptions::new().append(true).create(true).mode(0o600).open(&self.path)?;
        let length = file.metadata()?.len();
        if length >= ROLL_AT {
            drop(file);
            let aside = format!("connector.{}.jsonl", Timestamp::now().millis());
            fs::rename(&self.path, self.path.with_file_name(aside))?;
            return self.write(text);
        }
        file.write_all(text.as_bytes()).inspect_err(|_| {
            // A part of a line would spoil the next one.
            let _ = file.set_len(length);
        })
    }
}
