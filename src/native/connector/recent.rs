//! The end of the connector's trail as records, for the screen. Reads only. A line that is no record is left out: the
//! file is the person's, and what else stands in it says nothing about an invocation.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;

use crate::clock::Timestamp;
use crate::engine::ring::Ring;
use crate::rows::trail::Record;
use crate::secret::Redactor;
use crate::text;

/// Records that are kept.
const KEPT: usize = 2_000;
/// The end of the file that is read, in bytes.
const READ: u64 = 512 << 10;
/// The longest text of a record, in cells: our own are shorter.
const LONGEST: usize = 400;

#[derive(Deserialize)]
struct Line {
    tool: String,
    outcome: String,
    reason: String,
    scopes_provided: Vec<String>,
    timestamp: String,
}

/// The last records, without secrets.
#[derive(Debug)]
pub(super) struct Recent {
    lines: Ring<Arc<Record>>,
    redactor: Redactor,
}

impl Recent {
    /// Those of the file; none where there is no file.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) fn read(path: &Path, redactor: Redactor) -> io::Result<Self> {
        let mut recent = Self { lines: Ring::new(KEPT), redactor };
        let mut file = match File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(recent),
            file => file?,
        };
        let from = file.metadata()?.len().saturating_sub(READ);
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        file.take(READ).read_to_end(&mut bytes)?;
        let lines = bytes.split(|byte| *byte == b'\n');
        // Where reading did not begin at the beginning, the first line is a part of one.
        for line in lines.skip(usize::from(from > 0)) {
            let Ok(line) = serde_json::from_slice::<Line>(line) else { continue };
            let at = line.timestamp.parse::<jiff::Timestamp>().map_or(0, jiff::Timestamp::as_millisecond);
            let scopes: Vec<&str> = line.scopes_provided.iter().map(String::as_str).collect();
            recent.push(Timestamp::from_millis(at), (&line.tool, &line.outcome, &line.reason), &scopes);
        }
        Ok(recent)
    }

    /// The records, oldest first.
    pub(super) const fn lines(&self) -> &Ring<Arc<Record>> {
        &self.lines
    }

    /// One more.
    pub(super) fn push(&mut self, at: Timestamp, (tool, outcome, reason): (&str, &str, &str), scopes: &[&str]) {
        let say = |said: &str| Arc::from(text::fit(&self.redactor.redact(said), LONGEST));
        let (tool, outcome, reason) = (say(tool), say(outcome), say(reason));
        self.lines.push(Arc::new(Record { at, tool, outcome, reason, scopes: say(&scopes.join(" ")) }));
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::watch;

    use super::super::audit::{Outcome, Trail};
    use super::*;
    use crate::config::model::Scope;

    #[test]
    fn the_end_of_the_file_is_read_once_and_new_lines_follow_it() {
        let folder = tempfile::tempdir().unwrap();
        let told = watch::Sender::new(0);
        let trail = Trail::new(folder.path(), told.clone());
        assert!(trail.recent(&Redactor::default()).unwrap().is_empty(), "no file yet");
        let scopes = [Scope::IssuesRead, Scope::IssuesWrite];
        let before = Trail::new(folder.path(), watch::Sender::new(0));
        before.append("get_issue", Outcome::Denied, "not_found", &scopes).unwrap();
        assert_eq!(*told.borrow(), 0);
        std::fs::OpenOptions::new().append(true).open(folder.path().join("connector.jsonl")).unwrap();
        let trail = Trail::new(folder.path(), told.clone());
        trail.append("list_issues", Outcome::Success, "", &scopes).unwrap();
        assert_eq!(*told.borrow(), 0, "nobody has looked yet");
        assert_eq!(trail.recent(&Redactor::default()).unwrap().len(), 2);
        trail.clone().append("delete_issue", Outcome::Denied, "destructive_flag_missing", &scopes).unwrap();
        let recent = trail.recent(&Redactor::default()).unwrap();
        let lines: Vec<String> =
            recent.iter().map(|(_, r)| format!("{} {} {} [{}]", r.tool, r.outcome, r.reason, r.scopes)).collect();
        assert_eq!(
            lines,
            [
                "get_issue denied not_found [issues:read issues:write]",
                "list_issues success  [issues:read issues:write]",
                "delete_issue denied destructive_flag_missing [issues:read issues:write]"
            ]
        );
        assert_eq!(*told.borrow(), 1);
    }

    #[test]
    fn what_is_no_record_and_what_is_cut_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("connector.jsonl");
        let line =
            r#"{"tool":"x","outcome":"success","reason":"","scopes_provided":[],"timestamp":"2026-11-30T14:03:00Z"}"#;
        let long = line.replace("\"x\"", &format!("\"{}\"", "y".repeat(9_000)));
        std::fs::write(&path, format!("{{\n\u{1b}[2J\n{line}\nnull\n{long}\n{line}")).unwrap();
        let recent = Recent::read(&path, Redactor::default()).unwrap().lines;
        assert_eq!(recent.len(), 3);
        assert!(recent.iter().all(|(_, record)| record.tool.len() < 500 && record.at.millis() == 1_796_047_380_000));
        std::fs::write(&path, format!("{line}\n").repeat(20_000)).unwrap();
        let recent = Recent::read(&path, Redactor::default()).unwrap().lines;
        assert!((KEPT..KEPT + 600).contains(&recent.len()), "{}", recent.len());
    }
}
