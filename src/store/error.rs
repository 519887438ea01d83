//! What can go wrong with the store's file, in words that say what to do.

use rusqlite::ErrorCode;

/// Why the store could not do a job. Nothing of the job was kept.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum StoreError {
    /// No room on the disk.
    #[error(
        "the store is full: no room is left on the disk of the state folder; nothing was kept. Make room and try again"
    )]
    Full,
    /// Somebody else holds the file for longer than is waited for.
    #[error("the store is locked by another program; nothing was kept. Try again, or end what holds crewlet.db")]
    Busy,
    /// The file is not what we wrote.
    #[error(
        "the store is damaged ({0}); end this program, then restore crewlet.db from a backup, or move it away to begin anew, \
         each time with its -wal and -shm files"
    )]
    Damaged(String),
    /// The file is not where it was.
    #[error(
        "crewlet.db in the state folder is not the file that this program opened: it was moved away or replaced; nothing \
         was kept. Put it back, or end the program and start it again"
    )]
    Moved,
    /// A later version of this program made it.
    #[error(
        "the store was made by a later version of this program (format {found}, this one knows {known}); update it"
    )]
    Newer {
        /// The file's format.
        found: i64,
        /// The latest format that is known here.
        known: i64,
    },
    /// The file is somebody else's.
    #[error("crewlet.db in the state folder is another program's database; move it away")]
    Foreign,
    /// The file cannot be opened, read or written.
    #[error("the store cannot be used: {0}; nothing was kept. Look at crewlet.db in the state folder and its disk")]
    Unusable(String),
    /// A fault of ours; nothing was kept.
    #[error("a fault of this program ended the job; nothing was kept, and the log says where")]
    Fault,
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        let text = match &error {
            // Our own query is nothing that whoever asks could mend.
            rusqlite::Error::SqlInputError { msg, .. } => msg.clone(),
            error => error.to_string(),
        };
        let text = crate::text::visible(&text).into_owned();
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::Full,
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Damaged(text),
            _ => Self::Unusable(text),
        }
    }
}

impl From<std::io::Error> for StoreError {
    fn from(error: std::io::Error) -> Self {
        if error.kind() == std::io::ErrorKind::StorageFull { Self::Full } else { Self::Unusable(error.to_string()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_query_is_not_shown_to_whoever_asked() {
        let connection = rusqlite::Connection::open_in_memory().unwrap();
        let failed = StoreError::from(connection.prepare("SELECT secret FROM nowhere").unwrap_err()).to_string();
        assert!(failed.contains("no such table: nowhere; nothing was kept") && !failed.contains("SELECT"), "{failed}");
    }
}
