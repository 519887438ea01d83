//! Whether the store's path still means the file that was opened. SQLite goes on with an open file that was moved away,
//! deleted or replaced, and what it keeps there is gone with the program.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::StoreError;

/// A path and the file that it meant when this was made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Seal {
    path: PathBuf,
    file: Option<(u64, u64)>,
}

impl Seal {
    /// The file that a path means now.
    pub(super) fn of(path: &Path) -> Self {
        Self { path: path.to_path_buf(), file: meant(path) }
    }

    /// # Errors
    /// The path means another file now, or none.
    pub(super) fn holds(&self) -> Result<(), StoreError> {
        if meant(&self.path) == self.file { Ok(()) } else { Err(StoreError::Moved) }
    }
}

/// Device and number of the file behind a path.
fn meant(path: &Path) -> Option<(u64, u64)> {
    fs::metadata(path).ok().map(|file| (file.dev(), file.ino()))
}
