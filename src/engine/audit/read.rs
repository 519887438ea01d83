//! Reading the trail back, beside whoever writes it: the last lines, all lines, new lines, one call's records.
//!
//! Used by the `audit` command. Whether the chain holds is not looked at here; see [`super::chain::verify`].

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::chain::{self, CURRENT, Ending};
use super::line::Stored;

/// Why the trail cannot be read, or has no answer.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// A file of it cannot be read.
    #[error("the audit in {} cannot be read: {source}", dir.display())]
    Io {
        /// The state folder.
        dir: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// There is none.
    #[error("there is no audit in {}; is this the right --state-dir or --config?", dir.display())]
    NoTrail {
        /// The state folder.
        dir: PathBuf,
    },
    /// No call of that name.
    #[error("the audit has no call \"{prefix}\"")]
    NoSuchCall {
        /// What was asked for.
        prefix: String,
    },
    /// Several calls.
    #[error("\"{prefix}\" fits several calls: {}; give more of the name", calls.join(", "))]
    Ambiguous {
        /// What was asked for.
        prefix: String,
        /// The first few of them.
        calls: Vec<String>,
    },
}

impl ReadError {
    /// Wraps what the system says about a folder's trail.
    pub fn io(dir: &Path, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::NotFound => Self::NoTrail { dir: dir.to_path_buf() },
            _ => Self::Io { dir: dir.to_path_buf(), source },
        }
    }
}

/// Hands over each whole line, oldest first, without its newline.
///
/// # Errors
/// When there is no trail or a file of it cannot be read.
pub fn each_line(dir: &Path, mut each: impl FnMut(&[u8])) -> Result<(), ReadError> {
    let frozen = frozen(dir)?;
    for (_, file, length) in &frozen.files {
        let whole = |line: &[u8], ending| {
            if ending == Ending::Whole {
                each(line);
            }
        };
        chain::lines(file, *length, whole).map_err(|source| ReadError::io(dir, source))?;
    }
    Ok(())
}

/// The last `count` whole lines, oldest first.
///
/// # Errors
/// When there is no trail or a file of it cannot be read.
pub fn last_lines(dir: &Path, count: usize) -> Result<Vec<Vec<u8>>, ReadError> {
    let frozen = frozen(dir)?;
    let mut last: VecDeque<Vec<u8>> = VecDeque::new();
    for (_, file, length) in frozen.files.iter().rev() {
        let wanted = count.saturating_sub(last.len());
        if wanted == 0 {
            break;
        }
        let mut of_file = VecDeque::new();
        let keep = |line: &[u8], ending| {
            if ending == Ending::Whole {
                of_file.push_back(line.to_vec());
                if of_file.len() > wanted {
                    of_file.pop_front();
                }
            }
        };
        chain::lines(file, *length, keep).map_err(|source| ReadError::io(dir, source))?;
        of_file.append(&mut last);
        last = of_file;
    }
    Ok(last.into())
}

/// All records of the one call whose name is `prefix` or begins with it, in their order.
///
/// # Errors
/// When there is no trail, no such call or more than one.
pub fn story(dir: &Path, prefix: &str) -> Result<Vec<Stored>, ReadError> {
    let mut records: Vec<Stored> = Vec::new();
    each_line(dir, |line| {
        if let Ok(stored) = Stored::decode(line)
            && stored.call.as_deref().is_some_and(|call| call.starts_with(prefix))
        {
            records.push(stored);
        }
    })?;
    let exact = |stored: &Stored| stored.call.as_deref() == Some(prefix);
    if records.iter().any(exact) {
        records.retain(exact);
    }
    let mut calls: Vec<String> = records.iter().filter_map(|stored| stored.call.clone()).collect();
    calls.sort();
    calls.dedup();
    match calls.len() {
        0 => Err(ReadError::NoSuchCall { prefix: prefix.to_owned() }),
        1 => Ok(records),
        _ => {
            calls.truncate(5);
            Err(ReadError::Ambiguous { prefix: prefix.to_owned(), calls })
        }
    }
}

/// Follows the trail from its present end on.
#[derive(Debug)]
pub struct Follow {
    dir: PathBuf,
    file: Option<File>,
    offset: u64,
}

impl Follow {
    /// Starts after the last line that is there now.
    ///
    /// # Errors
    /// When the current file cannot be read; that there is none yet is no error.
    pub fn new(dir: &Path) -> io::Result<Self> {
        let mut follow = Self { dir: dir.to_path_buf(), file: None, offset: 0 };
        follow.file = follow.open_current()?;
        follow.read()?;
        Ok(follow)
    }

    /// The whole lines that came since the last time.
    ///
    /// # Errors
    /// When the trail cannot be read.
    pub fn read(&mut self) -> io::Result<Vec<Vec<u8>>> {
        let mut lines = self.rest()?;
        // A full file was renamed: what we hold is finished, go on with the new one.
        let current = self.open_current()?;
        let inode = |file: &Option<File>| -> io::Result<Option<u64>> {
            file.as_ref().map(|file| Ok(file.metadata()?.ino())).transpose()
        };
        if current.is_some() && inode(&current)? != inode(&self.file)? {
            lines.extend(self.rest()?);
            self.file = current;
            self.offset = 0;
            lines.extend(self.rest()?);
        }
        Ok(lines)
    }

    fn open_current(&self) -> io::Result<Option<File>> {
        match File::open(self.dir.join(CURRENT)) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn rest(&mut self) -> io::Result<Vec<Vec<u8>>> {
        let Some(file) = &mut self.file else { return Ok(Vec::new()) };
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(self.offset))?;
        file.read_to_end(&mut bytes)?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        bytes.truncate(whole);
        self.offset += whole as u64;
        Ok(bytes.split_inclusive(|byte| *byte == b'\n').map(|line| line.trim_ascii_end().to_vec()).collect())
    }
}

fn frozen(dir: &Path) -> Result<chain::Frozen, ReadError> {
    let frozen = chain::freeze(dir).map_err(|source| ReadError::io(dir, source))?;
    if frozen.files.is_empty() { Err(ReadError::NoTrail { dir: dir.to_path_buf() }) } else { Ok(frozen) }
}
