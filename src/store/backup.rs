//! A copy of the store while others go on writing: one consistent state, one file.

use std::fs;
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::backup::Backup;
use rusqlite::{Connection, OpenFlags};

use super::{FILE, StoreError, schema, writer};

/// All pages at once: what is copied in parts begins anew whenever somebody writes. Nobody waits for it.
const WHOLE: i32 = i32::MAX;

/// Why there is no copy.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// Nothing was ever kept.
    #[error("there is nothing to copy: {} does not exist yet", .0.display())]
    Nothing(PathBuf),
    /// The copy's name is taken.
    #[error("{} exists already; name another file, or move it away", .0.display())]
    Exists(PathBuf),
    /// The copy cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Target {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The store, or the copy, cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Copies the store of a state folder to a file that does not exist yet, mode 0600. Its size in bytes.
///
/// # Errors
/// See [`BackupError`]; no part of a copy is left behind.
pub fn backup(folder: &Path, target: &Path) -> Result<u64, BackupError> {
    let source = folder.join(FILE);
    if !source.exists() {
        return Err(BackupError::Nothing(source));
    }
    let failed = |source: io::Error| match source.kind() {
        io::ErrorKind::AlreadyExists => BackupError::Exists(target.to_path_buf()),
        _ => BackupError::Target { path: target.to_path_buf(), source },
    };
    fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(target).map_err(failed)?;
    copy(&source, target).inspect_err(|_| {
        let _ = fs::remove_file(target);
    })?;
    Ok(fs::metadata(target).map_err(failed)?.len())
}

fn copy(source: &Path, target: &Path) -> Result<(), StoreError> {
    let from = Connection::open_with_flags(source, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    writer::prepare(&from)?;
    schema::check(&from)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut to = Connection::open_with_flags(target, flags)?;
    Backup::new(&from, &mut to)?.run_to_completion(WHOLE, Duration::from_millis(1), None)?;
    // A file of its own, without a log beside it.
    let _: String = to.query_row("PRAGMA journal_mode = DELETE", [], |row| row.get(0))?;
    sound(&to)?;
    to.close().map_err(|(_, error)| error)?;
    fs::File::open(target)?.sync_all()?;
    Ok(())
}

/// Looks through the whole of a store's file.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn verify(file: &Path) -> Result<(), StoreError> {
    let connection =
        Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    schema::check(&connection)?;
    sound(&connection)
}

fn sound(connection: &Connection) -> Result<(), StoreError> {
    let found: String = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    if found != "ok" {
        return Err(StoreError::Damaged(found));
    }
    let orphans = connection.prepare("PRAGMA foreign_key_check")?.exists([])?;
    if orphans { Err(StoreError::Damaged("a row belongs to nothing".to_owned())) } else { Ok(()) }
}
