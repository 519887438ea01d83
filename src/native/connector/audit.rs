//! `connector.jsonl`: one line of exactly five fields for each invocation, read or write, allowed or denied.
//!
//! Appended as one write each, mode 0600. The line of a change is written before the change is kept, so that nothing
//! is changed that is not in it. Nothing is kept open between lines: a folder that moved away is noticed.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::clock::Timestamp;
use crate::config::model::Scope;

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
    /// In this state folder.
    pub fn new(folder: &Path) -> Self {
        Self { path: folder.join(FILE) }
    }

    /// Appends one line. Blocks.
    ///
    /// # Errors
    /// When it is not in the file.
    pub fn append(&self, tool: &str, outcome: Outcome, reason: &str, scopes: &[Scope]) -> io::Result<()> {
        let line = Line {
            tool,
            outcome: outcome.as_str(),
            reason,
            scopes_provided: scopes.iter().map(|scope| scope.as_str()).collect(),
            timestamp: Timestamp::now().rfc3339_seconds(),
        };
        let mut text = serde_json::to_string(&line)?;
        text.push('\n');
        let mut file = OpenOptions::new().append(true).create(true).mode(0o600).open(&self.path)?;
        let length = file.metadata()?.len();
        if length >= ROLL_AT {
            drop(file);
            let aside = format!("connector.{}.jsonl", Timestamp::now().millis());
            fs::rename(&self.path, self.path.with_file_name(aside))?;
            return self.append(tool, outcome, reason, scopes);
        }
        file.write_all(text.as_bytes()).inspect_err(|_| {
            // A part of a line would spoil the next one.
            let _ = file.set_len(length);
        })
    }
}
