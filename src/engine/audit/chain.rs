//! The files of the trail and the chain through them: names, the head file, and the check of the whole chain.
//!
//! `audit.jsonl` is the file that is written; files that were full are `audit.<number of their first line>.jsonl`
//! and the chain goes on from one to the next. Every line names the SHA-256 of the line before it, and the head
//! file that of the last one, so that neither a change, nor a missing line, nor a cut end goes unnoticed.

use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::Deserialize;

use super::line::{NO_PREVIOUS, Stored};
use crate::tool::Digest;

pub(super) const CURRENT: &str = "audit.jsonl";
pub(super) const HEAD: &str = "audit.head";
pub(super) const LOCK: &str = "audit.lock";

/// A line's number and hash.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Link {
    pub(super) seq: u64,
    pub(super) hash: Digest,
}

/// Before the first line.
pub(super) const START: Link = Link { seq: 0, hash: NO_PREVIOUS };

#[derive(Deserialize)]
struct StoredHead {
    seq: u64,
    hash: String,
}

/// Reads the head file. `None` when there is none yet or it cannot be read as one.
pub(super) fn read_head(dir: &Path) -> io::Result<Option<Link>> {
    let text = match fs::read_to_string(dir.join(HEAD)) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        // Not text: as good as none.
        Err(error) if error.kind() == io::ErrorKind::InvalidData => return Ok(None),
        Err(error) => return Err(error),
    };
    let head: Option<StoredHead> = serde_json::from_str(&text).ok();
    Ok(head.and_then(|head| Some(Link { seq: head.seq, hash: parse_digest(&head.hash)? })))
}

/// Writes the head file. One write of a fixed length, so that a killed process leaves the old or the new head.
pub(super) fn write_head(dir: &Path, head: Link) -> io::Result<()> {
    let text = format!("{{\"seq\":{},\"hash\":\"{}\"}}", head.seq, head.hash);
    let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(dir.join(HEAD))?;
    file.write_all_at(format!("{text:<110}\n").as_bytes(), 0)
}

/// 64 hexadecimal digits in lower case.
pub(super) fn parse_digest(hex: &str) -> Option<Digest> {
    let digit = |byte: u8| char::from(byte).to_digit(16).filter(|_| !byte.is_ascii_uppercase());
    let mut bytes = [0_u8; 32];
    let pairs = hex.as_bytes().chunks_exact(2);
    if hex.len() != 64 {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(pairs) {
        let [high, low] = pair else { return None };
        *byte = u8::try_from(digit(*high)? << 4 | digit(*low)?).ok()?;
    }
    Some(Digest(bytes))
}

/// The name of a full file.
pub(super) fn rolled_name(first: u64) -> String {
    format!("audit.{first:012}.jsonl")
}

/// The files of the trail, oldest first; `audit.jsonl`, when it exists, is the last.
pub(super) fn files(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut rolled = Vec::new();
    let mut current = None;
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        let number = name.strip_prefix("audit.").and_then(|rest| rest.strip_suffix(".jsonl"));
        if name == CURRENT {
            current = Some(path);
        } else if let Some(first) = number.and_then(|number| number.parse::<u64>().ok()) {
            rolled.push((first, path));
        }
    }
    rolled.sort();
    Ok(rolled.into_iter().map(|(_, path)| path).chain(current).collect())
}

/// The trail as it was at one moment: open files with the length up to which they are read.
#[derive(Debug)]
pub(super) struct Frozen {
    pub(super) files: Vec<(PathBuf, File, u64)>,
    pub(super) head: Option<Link>,
}

/// Takes hold of the trail between two batches of whoever writes it.
pub(super) fn freeze(dir: &Path) -> io::Result<Frozen> {
    // Held until the end of this function only: reading may take long and writers must not wait for it.
    let lock = File::open(dir.join(LOCK)).ok();
    if let Some(lock) = &lock {
        acquire(|| lock.try_lock_shared())?;
    }
    let open = |path: PathBuf| {
        let file = File::open(&path)?;
        let length = file.metadata()?.len();
        Ok((path, file, length))
    };
    let files = files(dir)?.into_iter().map(open).collect::<io::Result<_>>()?;
    Ok(Frozen { files, head: read_head(dir)? })
}

/// Waits for a file lock, but not for ever: a stopped process may hold it.
pub(super) fn acquire(mut attempt: impl FnMut() -> Result<(), TryLockError>) -> io::Result<()> {
    let deadline = Instant::now() + Duration::from_secs(5);
    let mut pause = Duration::from_micros(200);
    loop {
        match attempt() {
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if Instant::now() >= deadline => {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "another process has held the lock for 5 s"));
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(pause),
        }
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// Reads line after line of a file, without newlines. The last one may be torn: it has no newline in the file.
pub(super) fn lines(file: &File, length: u64, mut each: impl FnMut(&[u8], Ending)) -> io::Result<()> {
    let mut reader = BufReader::with_capacity(1 << 16, file.take(length));
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line)? > 0 {
        match line.strip_suffix(b"\n") {
            Some(whole) => each(whole, Ending::Whole),
            None => each(&line, Ending::Torn),
        }
        line.clear();
    }
    Ok(())
}

/// Whether a line has its newline.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ending {
    Whole,
    Torn,
}

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
