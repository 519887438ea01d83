//! Appending to the trail: one batch at a time under a file lock, because one-shot commands append beside the
//! dashboard.
//!
//! Used by the writer only. Files stay open between batches, and are opened anew when another file stands in their
//! place: a folder that was moved away is noticed with the next batch, and so is its return.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Durability;
use super::chain::{self, CURRENT, HEAD, LOCK, Link, START};
use super::line::{Place, Stored, encode};
use super::record::{Kind, Record};
use super::writer::LATER;
use crate::clock::Timestamp;
use crate::tool::Digest;

/// Where bytes of an incomplete last line are kept.
const TORN: &str = "audit.torn";

/// About as long as a line is, in bytes.
const LINE: usize = 1024;

/// How long the places of the files are taken as they were: a folder that was moved away is noticed after that.
const LOOKED: Duration = LATER;

/// The trail as this process last saw it.
#[derive(Debug)]
pub(super) struct Trail {
    dir: PathBuf,
    instance: Arc<str>,
    /// A file that reached this length is set aside and a new one begun.
    roll_at: u64,
    lock: Kept,
    current: Kept,
    head: Kept,
    seen: Option<Seen>,
    /// What was mended and is not yet said in the trail.
    mended: Vec<String>,
    /// When the head file was last written.
    head_written: Option<Instant>,
    /// The head file names an earlier line than the last one.
    head_lags: bool,
}

/// The end of the current file after our last batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Seen {
    inode: u64,
    length: u64,
    last: Link,
}

/// What the last line is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Found {
    /// There is none.
    Nothing,
    /// A record.
    Record(Link),
    /// Not a record; with the number it would have.
    Garbage(Link),
}

/// The trail while we hold its lock; everything else that appends waits.
#[derive(Debug)]
pub(super) struct Locked<'a> {
    trail: &'a mut Trail,
    file: Arc<File>,
    inode: u64,
    length: u64,
    last: Link,
    /// What is wrong with the trail as it is now.
    wrong: Vec<String>,
    _lock: Held,
}

/// The file lock, released when this is dropped.
#[derive(Debug)]
struct Held(Arc<File>);

impl Drop for Held {
    fn drop(&mut self) {
        // What cannot be unlocked is unlocked when the process ends.
        let _ = self.0.unlock();
    }
}

/// A file that stays open while it stands where it was opened.
#[derive(Debug, Default)]
struct Kept(Option<(Instant, u64, Arc<File>)>);

impl Kept {
    /// The file at this path, with its number and its length.
    fn get(&mut self, path: &Path, options: &OpenOptions) -> io::Result<(Arc<File>, u64, u64)> {
        if let (Some((_, inode, file)), Ok(there)) = (&self.0, fs::metadata(path))
            && there.ino() == *inode
        {
            return Ok((file.clone(), *inode, there.len()));
        }
        self.0 = None;
        let file = Arc::new(options.open(path)?);
        let there = file.metadata()?;
        self.0 = Some((Instant::now(), there.ino(), file.clone()));
        Ok((file, there.ino(), there.len()))
    }

    /// The file that stood at this path a moment ago.
    fn recent(&mut self, path: &Path, options: &OpenOptions) -> io::Result<Arc<File>> {
        match &self.0 {
            Some((looked, _, file)) if looked.elapsed() < LOOKED => return Ok(file.clone()),
            _ => {}
        }
        let (file, inode, _) = self.get(path, options)?;
        self.0 = Some((Instant::now(), inode, file.clone()));
        Ok(file)
    }
}

impl Trail {
    pub(super) fn new(dir: PathBuf, instance: Arc<str>, roll_at: u64) -> Self {
        let (lock, current, head) = (Kept::default(), Kept::default(), Kept::default());
        Self {
            dir,
            instance,
            roll_at,
            lock,
            current,
            head,
            seen: None,
            mended: Vec::new(),
            head_written: None,
            head_lags: false,
        }
    }

    /// Takes the lock and looks at the end of the trail.
    pub(super) fn lock(&mut self) -> io::Result<Locked<'_>> {
        let lock = self.lock_file()?;
        named(LOCK, chain::acquire(|| lock.try_lock()))?;
        self.locked(Held(lock))
    }

    /// The same without waiting: `None` when another process has it.
    pub(super) fn lock_at_once(&mut self) -> io::Result<Option<Locked<'_>>> {
        let lock = self.lock_file()?;
        match lock.try_lock() {
            Ok(()) => self.locked(Held(lock)).map(Some),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => named(LOCK, Err(error)),
        }
    }

    fn lock_file(&mut self) -> io::Result<Arc<File>> {
        let path = self.dir.join(LOCK);
        named(LOCK, self.lock.recent(&path, private().create(true).truncate(false)))
    }

    fn locked(&mut self, lock: Held) -> io::Result<Locked<'_>> {
        let (file, inode, length) = named(CURRENT, self.open_current())?;
        let known = self.seen.map(|seen| seen.last);
        let mut locked = Locked { trail: self, file, inode, length, last: START, wrong: Vec::new(), _lock: lock };
        match locked.trail.seen {
            Some(seen) if seen.inode == inode && seen.length == length => locked.last = seen.last,
            _ => named(CURRENT, locked.look(known))?,
        }
        Ok(locked)
    }

    /// The file that is written, its number and its length.
    fn open_current(&mut self) -> io::Result<(Arc<File>, u64, u64)> {
        // Others append beside us, and set full files aside.
        self.current.get(&self.dir.join(CURRENT), private().read(true).append(true).create(true))
    }

    fn write_head(&mut self, last: Link) -> io::Result<()> {
        let file = self.head.recent(&self.dir.join(HEAD), private().create(true).truncate(false))?;
        chain::write_head(&file, last)?;
        self.head_written = Some(Instant::now());
        Ok(())
    }

    /// Whether the head file is behind and nothing is on its way that would change that.
    pub(super) const fn head_lags(&self) -> bool {
        self.head_lags
    }
}

impl Locked<'_> {
    /// The number of the last line.
    pub(super) const fn last_seq(&self) -> u64 {
        self.last.seq
    }

    /// The folder of the trail.
    pub(super) fn dir(&self) -> &Path {
        &self.trail.dir
    }

    /// What will be noted before the next batch.
    pub(super) fn notes(&self) -> Vec<String> {
        self.trail.mended.iter().chain(&self.wrong).cloned().collect()
    }

    /// Appends records as one write, one part after the other. `Err` means that none of them is in the trail.
    pub(super) fn append(&mut self, parts: &[&[Record]], durability: Durability) -> io::Result<()> {
        if self.length >= self.trail.roll_at {
            named(CURRENT, self.roll())?;
        }
        let now = Timestamp::now();
        let note = |note: String| Record { reason: Some(note.into()), ..Record::new(now, Kind::Repaired) };
        let notes: Vec<Record> = self.notes().into_iter().map(note).collect();
        let mut last = self.last;
        let records = notes.iter().chain(parts.iter().copied().flatten());
        let mut text = String::with_capacity(LINE * records.clone().count());
        for record in records {
            let place = Place { seq: last.seq.saturating_add(1), prev: last.hash, instance: &self.trail.instance };
            let start = text.len();
            encode(&mut text, record, place);
            let line = text.get(start..).unwrap_or_default();
            last = Link { seq: place.seq, hash: Digest::of(line.as_bytes()) };
            text.push('\n');
        }
        if text.is_empty() {
            // Nobody else may come for hours, and until then a cut of these lines would not be noticed.
            if self.trail.head_lags {
                self.write_head();
            }
            return Ok(());
        }
        named(CURRENT, self.write(&text, durability))?;
        self.trail.mended.clear();
        self.wrong.clear();
        self.length += text.len() as u64;
        self.last = last;
        self.trail.seen = Some(Seen { inode: self.inode, length: self.length, last });
        self.trail.head_lags = true;
        // Of many batches in a short time the last one counts; the writer comes back for it.
        let recent = |at: Instant| at.elapsed() < LATER;
        if durability == Durability::Synced || !self.trail.head_written.is_some_and(recent) {
            self.write_head();
        }
        Ok(())
    }

    /// The lines are in the trail. A head that lags behind them is what a crash leaves too, so a failure here is none of
    /// the batch.
    fn write_head(&mut self) {
        match self.trail.write_head(self.last) {
            Ok(()) => self.trail.head_lags = false,
            Err(error) => tracing::warn!(error = %error, "audit_head_not_written"),
        }
    }

    fn write(&mut self, text: &str, durability: Durability) -> io::Result<()> {
        let written = (&*self.file).write_all(text.as_bytes()).and_then(|()| match durability {
            Durability::Written => Ok(()),
            Durability::Synced => self.sync(),
        });
        written.inspect_err(|_| {
            // Take a part of a line back. Should that fail too, the next look finds a torn line and sets it aside.
            let _ = self.file.set_len(self.length);
            self.trail.seen = None;
        })
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync_data()?;
        // A file that was just created is on disk only when its folder is.
        if self.length == 0 { File::open(&self.trail.dir)?.sync_all() } else { Ok(()) }
    }

    /// Sets a full file aside and begins a new one; the chain goes on.
    fn roll(&mut self) -> io::Result<()> {
        let first = self.first_seq()?;
        let full = self.trail.dir.join(chain::rolled_name(first));
        if full.exists() {
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, format!("{} exists already", full.display())));
        }
        fs::rename(self.trail.dir.join(CURRENT), full)?;
        self.trail.seen = None;
        (self.file, self.inode, self.length) = self.trail.open_current()?;
        Ok(())
    }

    fn first_seq(&mut self) -> io::Result<u64> {
        let mut first = None;
        (&*self.file).seek(SeekFrom::Start(0))?;
        let mut reader = io::BufReader::new(&*self.file);
        let mut line = Vec::new();
        if io::BufRead::read_until(&mut reader, b'\n', &mut line)? > 0 {
            first = Stored::decode(line.trim_ascii_end()).ok().map(|stored| stored.seq);
        }
        // A first line that is no record: any number that keeps the order of the files will do.
        Ok(first.unwrap_or(self.last.seq))
    }

    /// Reads the end of the trail anew and compares it with what we or the head file know of it.
    fn look(&mut self, known: Option<Link>) -> io::Result<()> {
        self.set_torn_line_aside()?;
        let found = match self.last_line()? {
            Found::Nothing => self.last_rolled_line()?,
            found => found,
        };
        let head = chain::read_head(&self.trail.dir)?;
        let known = [known, head].into_iter().flatten().max_by_key(|link| link.seq);
        let lags = |found: Link| head.is_none_or(|head| head.seq < found.seq);
        self.trail.head_lags = matches!(found, Found::Record(found) if lags(found));
        self.last = match (found, known) {
            (Found::Nothing, None) => START,
            (Found::Record(found), None) => found,
            (Found::Record(found), Some(known)) if found == known || found.seq > known.seq => found,
            // From here on the chain goes on from what the head says, so that a check of it keeps showing the gap.
            (Found::Record(found), Some(known)) if found.seq == known.seq => {
                self.wrong.push(format!("line number {} was changed after it was written", found.seq));
                known
            }
            (Found::Record(found), Some(known)) => {
                self.wrong.push(format!("lines after number {} up to number {} are missing", found.seq, known.seq));
                known
            }
            (Found::Nothing, Some(known)) => {
                self.wrong.push(format!("all lines up to number {} are missing", known.seq));
                known
            }
            (Found::Garbage(broken), known) => {
                self.wrong.push("the last line was not a record".to_owned());
                known.unwrap_or(broken)
            }
        };
        Ok(())
    }

    /// Moves bytes after the last newline into a file of their own.
    fn set_torn_line_aside(&mut self) -> io::Result<()> {
        let end = self.newline_before(self.length)?.map_or(0, |at| at + 1);
        if end == self.length {
            return Ok(());
        }
        let mut torn = vec![0; usize::try_from(self.length - end).unwrap_or(0)];
        (&*self.file).seek(SeekFrom::Start(end))?;
        (&*self.file).read_exact(&mut torn)?;
        let mut aside = private().append(true).create(true).open(self.trail.dir.join(TORN))?;
        torn.push(b'\n');
        aside.write_all(&torn)?;
        self.file.set_len(end)?;
        self.length = end;
        self.trail.mended.push(format!("an incomplete last line of {} bytes was set aside in {TORN}", torn.len() - 1));
        Ok(())
    }

    /// The last line of the current file; when it is not a record, with the number it would have.
    fn last_line(&mut self) -> io::Result<Found> {
        let Some(end) = self.length.checked_sub(1) else { return Ok(Found::Nothing) };
        let start = self.newline_before(end)?.map_or(0, |at| at + 1);
        let mut line = vec![0; usize::try_from(end - start).unwrap_or(0)];
        (&*self.file).seek(SeekFrom::Start(start))?;
        (&*self.file).read_exact(&mut line)?;
        let hash = Digest::of(&line);
        Ok(match Stored::decode(&line) {
            Ok(stored) => Found::Record(Link { seq: stored.seq, hash }),
            Err(_) => Found::Garbage(Link { seq: self.count_to_the_end()?, hash }),
        })
    }

    fn last_rolled_line(&self) -> io::Result<Found> {
        let rolled = chain::files(&self.trail.dir)?.into_iter().rfind(|path| !path.ends_with(CURRENT));
        let Some(path) = rolled else { return Ok(Found::Nothing) };
        let file = File::open(path)?;
        let mut found = Found::Nothing;
        let mut seq = 0_u64;
        chain::lines(&file, u64::MAX, |line, _| {
            let hash = Digest::of(line);
            let stored = Stored::decode(line).ok().map(|stored| stored.seq);
            seq = stored.unwrap_or_else(|| seq.saturating_add(1));
            let link = Link { seq, hash };
            found = if stored.is_some() { Found::Record(link) } else { Found::Garbage(link) };
        })?;
        Ok(found)
    }

    /// The number that the last line would have, counted from the last line before it that is a record.
    fn count_to_the_end(&self) -> io::Result<u64> {
        let mut seq = 0_u64;
        chain::lines(&self.file_from_start()?, self.length, |line, _| {
            seq = Stored::decode(line).map_or(seq.saturating_add(1), |stored| stored.seq);
        })?;
        Ok(seq)
    }

    fn file_from_start(&self) -> io::Result<File> {
        File::open(self.trail.dir.join(CURRENT))
    }

    /// Offset of the last newline before `end`.
    fn newline_before(&mut self, end: u64) -> io::Result<Option<u64>> {
        let mut end = end;
        let mut block = vec![0; 1 << 16];
        while end > 0 {
            let start = end.saturating_sub(block.len() as u64);
            let length = usize::try_from(end - start).unwrap_or(0);
            let Some(part) = block.get_mut(..length) else { return Ok(None) };
            (&*self.file).seek(SeekFrom::Start(start))?;
            (&*self.file).read_exact(part)?;
            if let Some(at) = part.iter().rposition(|byte| *byte == b'\n') {
                return Ok(Some(start + at as u64));
            }
            end = start;
        }
        Ok(None)
    }
}

/// To write, for us alone.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).mode(0o600);
    options
}

/// Names the file that an error is about.
fn named<T>(file: &str, result: io::Result<T>) -> io::Result<T> {
    result.map_err(|error| io::Error::new(error.kind(), format!("{file}: {error}")))
}
