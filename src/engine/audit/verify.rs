//! The check of the whole chain, for `crewlet-tui audit verify`. Changes nothing.

use std::fmt;
use std::io;
use std::path::Path;

use super::chain::{Ending, Link, START, freeze, lines, parse_digest};
use super::line::Stored;
use crate::tool::Digest;

/// What a check of the chain found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Verdict {
    /// Whole lines read.
    pub lines: u64,
    /// Files read.
    pub files: usize,
    /// The first places where the chain does not hold, oldest first, at most 20.
    pub breaks: Vec<Break>,
    /// All such places.
    pub broken: u64,
    /// Lines after the one that the head file names: normal after a crash.
    pub head_lag: u64,
    /// Bytes of an incomplete last line: a crash; the next start sets it aside.
    pub torn: u64,
}

impl Verdict {
    /// True when the chain holds.
    pub const fn holds(&self) -> bool {
        self.broken == 0
    }
}

/// A place where the chain does not hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Break {
    /// The file's name.
    pub file: String,
    /// The line in it, from 1.
    pub line: u64,
    /// Why.
    pub reason: String,
}

impl fmt::Display for Break {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.reason)
    }
}

/// Checks the whole chain of a state folder.
///
/// # Errors
/// When the folder or a file of the trail cannot be read.
pub fn verify(dir: &Path) -> io::Result<Verdict> {
    let frozen = freeze(dir)?;
    let mut check = Check::new(frozen.head);
    for (path, file, length) in &frozen.files {
        check.verdict.files += 1;
        check.file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        check.line = 0;
        lines(file, *length, |line, ending| check.take(line, ending))?;
    }
    Ok(check.finish())
}

/// The state of a check between two lines.
#[derive(Debug)]
struct Check {
    verdict: Verdict,
    head: Option<Link>,
    file: String,
    line: u64,
    last: Link,
    last_place: (String, u64),
    /// A line whose `prev` does not fit: whether it or the one before it was changed shows with the next one.
    doubt: Option<(String, u64)>,
}

impl Check {
    fn new(head: Option<Link>) -> Self {
        Self {
            verdict: Verdict::default(),
            head,
            file: String::new(),
            line: 0,
            last: START,
            last_place: (String::new(), 0),
            doubt: None,
        }
    }

    fn take(&mut self, line: &[u8], ending: Ending) {
        self.line += 1;
        if ending == Ending::Torn {
            self.verdict.torn = line.len() as u64;
            return;
        }
        self.verdict.lines += 1;
        let hash = Digest::of(line);
        let here = (self.file.clone(), self.line);
        let seq = match Stored::decode(line) {
            Ok(stored) => {
                let follows = parse_digest(&stored.prev) == Some(self.last.hash);
                self.settle(if follows { Fit::Follows } else { Fit::Differs });
                let expected = self.last.seq.saturating_add(1);
                if stored.seq != expected {
                    self.report(&here, number_reason(expected, stored.seq));
                } else if !follows {
                    self.doubt = Some(here.clone());
                }
                stored.seq
            }
            Err(reason) => {
                self.settle(Fit::Differs);
                self.report(&here, reason);
                self.last.seq.saturating_add(1)
            }
        };
        self.last = Link { seq, hash };
        self.last_place = here;
        if let Some(head) = self.head
            && head.seq == seq
        {
            self.settle(if head.hash == hash { Fit::Follows } else { Fit::Differs });
            if head.hash != hash {
                let place = self.last_place.clone();
                self.report(&place, "it was changed after it was written: the head file has another hash".to_owned());
            }
        }
    }

    /// Decides an open doubt about the last line by what came after it.
    fn settle(&mut self, next: Fit) {
        let Some((file, line)) = self.doubt.take() else { return };
        match next {
            Fit::Follows if line > 1 => {
                self.report(
                    &(file, line - 1),
                    "it was changed after it was written: the next line has another hash".to_owned(),
                );
            }
            _ => self.report(&(file, line), "its `prev` is not the hash of the line before it".to_owned()),
        }
    }

    fn report(&mut self, place: &(String, u64), reason: String) {
        let (file, line) = place.clone();
        let place = Break { file, line, reason };
        // A doubt is settled one line later, by then another break of that line may have been named.
        if self.verdict.breaks.last().is_some_and(|last| last.file == place.file && last.line == place.line) {
            return;
        }
        self.verdict.broken += 1;
        if self.verdict.breaks.len() < 20 {
            self.verdict.breaks.push(place);
        }
    }

    fn finish(mut self) -> Verdict {
        self.settle(Fit::Differs);
        let end = self.last_place.clone();
        match self.head {
            Some(head) if head.seq > self.last.seq => {
                let missing = head.seq - self.last.seq;
                self.report(
                    &(end.0, end.1 + 1),
                    format!("{missing} line(s) at the end are missing: the head file names line number {}", head.seq),
                );
            }
            Some(head) => self.verdict.head_lag = self.last.seq - head.seq,
            None if self.last.seq > 0 => self.report(&end, "the head file is missing or unreadable".to_owned()),
            None => {}
        }
        self.verdict
    }
}

/// Whether a line names the hash of the one before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fit {
    Follows,
    Differs,
}

fn number_reason(expected: u64, found: u64) -> String {
    if found > expected {
        format!("number {found} follows number {}: {} line(s) are missing", expected - 1, found - expected)
    } else {
        format!("number {found} stands where number {expected} belongs: lines were moved or repeated")
    }
}
