//! The files of the trail and the chain through them: names, the head file, a view of all files at one moment.
//!
//! `audit.jsonl` is the file that is written; files that were full are `audit.<number of their first line>.jsonl`
//! and the chain goes on from one to the next. Every line names the SHA-256 of the line before it, and the head
//! file that of the last one, so that neither a change, nor a missing line, nor a cut end goes unnoticed.

use std::fs::{self, File, TryLockError};
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::Deserialize;

use super::line::NO_PREVIOUS;
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
pub(super) fn write_head(file: &File, head: Link) -> io::Result<()> {
    let text = format!("{{\"seq\":{},\"hash\":\"{}\"}}", head.seq, head.hash);
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
