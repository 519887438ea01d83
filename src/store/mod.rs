//! What the company keeps for itself: work items, pages, comments and inboxes, in one SQLite file of the state folder.
//!
//! [`crate::native`] is the only user. SQLite blocks, so nothing of it runs on the engine's threads: all writing is
//! done by one thread behind a bounded queue, each job in a transaction of its own that is on disk before its caller
//! hears of it; reading is done on a few threads with connections that cannot write. The file is opened at the first
//! use, so a start does not wait for it.
//!
//! **Invariant:** reading and writing are two types. A job of [`Store::read`] gets a [`ReadStore`], which has no
//! method that changes anything, and its connection refuses to write as well. Only [`Store::write`] gives out a
//! [`WriteStore`]. A handler of a read-only tool takes the former, so that a write in it does not compile:
//!
//! ```compile_fail,E0599
//! fn sneaky(store: &crewlet_tui::store::ReadStore<'_>) {
//!     let _ = store.put_project("WEB", "Web", crewlet_tui::clock::Timestamp::now());
//! }
//! ```
//!
//! | file | owns |
//! |---|---|
//! | `error` | what can go wrong with the file, in words |
//! | `schema` | the tables, version by version |
//! | `writer`, `readers` | the threads and their connections |
//! | `items`, `lists`, `pages`, `questions`, `trail` | rows, and reading them |
//! | `heads` | rows without their texts, for lists of a screen |
//! | `change`, `change_tree`, `change_comments`, `change_pages`, `change_questions`, `change_trail` | changing them |
//! | `inbox`, `plans` | the seats' inboxes; what people make of items: orders, pins, views, the catalogue |
//! | `memory` | what seats remember |
//! | `encode` | how values are written into columns |
//! | `seal` | whether the file is still the one that was opened |
//! | `text` | what somebody looks for, as a query of the text index |
//! | `outside` | what other programs change, told |
//! | `backup` | a copy while others go on |

pub mod backup;
mod change;
mod change_comments;
mod change_pages;
mod change_questions;
mod change_trail;
mod change_tree;
mod encode;
mod error;
pub mod heads;
pub mod inbox;
pub mod items;
pub mod lists;
pub mod memory;
#[cfg(test)]
mod model_tests;
mod outside;
pub mod pages;
pub mod plans;
pub mod questions;
mod readers;
mod schema;
#[cfg(test)]
mod schema_tests;
mod schema_tracker;
mod seal;
#[cfg(test)]
mod tests;
mod text;
pub mod trail;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use notify::RecommendedWatcher;
use rusqlite::Connection;
use tokio::sync::{OnceCell, watch};

pub use change::{Changed, ItemChanges, NewItem, Signed};
pub use change_pages::{NewPage, PageChanges};
pub use error::StoreError;
use readers::Readers;
use writer::Writer;

/// The file's name in the state folder.
pub const FILE: &str = "crewlet.db";

/// The company's store. Clones are the same one.
#[derive(Clone, Debug)]
pub struct Store {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    path: PathBuf,
    writer: OnceCell<Writer>,
    readers: Readers,
    changed: watch::Sender<u64>,
    /// Kept while others' changes are to be told.
    outside: OnceLock<Option<RecommendedWatcher>>,
}

/// What a read-only job may do: the methods of this type change nothing.
#[derive(Debug)]
pub struct ReadStore<'c> {
    connection: &'c Connection,
}

/// What a changing job may do: everything, inside one transaction.
#[derive(Debug)]
pub struct WriteStore<'c> {
    read: ReadStore<'c>,
}

impl<'c> std::ops::Deref for WriteStore<'c> {
    type Target = ReadStore<'c>;

    fn deref(&self) -> &ReadStore<'c> {
        &self.read
    }
}

impl Store {
    /// The store in a state folder. Nothing is opened or created yet.
    pub fn new(folder: &Path) -> Self {
        let path = folder.join(FILE);
        let readers = Readers::new(path.clone());
        let changed = watch::Sender::new(0);
        Self { shared: Arc::new(Shared { path, writer: OnceCell::new(), readers, changed, outside: OnceLock::new() }) }
    }

    /// Whether the file exists: without it there is nothing to read, and reading would make it.
    pub fn is_there(&self) -> bool {
        self.shared.path.exists()
    }

    /// Runs a job that changes nothing. All its queries see the same state.
    ///
    /// # Errors
    /// The job's own, or what is wrong with the file.
    pub async fn read<T, E>(&self, job: impl FnOnce(&ReadStore<'_>) -> Result<T, E> + Send + 'static) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        // The writer makes the file and its tables; readers could not.
        let seal = self.writer().await?.seal().clone();
        self.shared.readers.run(seal, job).await
    }

    /// Runs a job in a transaction of its own. It is on disk when this returns `Ok`; after `Err` nothing of it is.
    ///
    /// # Errors
    /// The job's own, or what is wrong with the file.
    pub async fn write<T, E>(&self, job: impl FnOnce(&WriteStore<'_>) -> Result<T, E> + Send + 'static) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        self.writer().await?.run(job).await
    }

    /// The folder that it is in.
    pub fn folder(&self) -> &Path {
        self.shared.path.parent().unwrap_or(Path::new("."))
    }

    /// Counts up with each job of this program's that changed something, once it is on disk. What beside the store
    /// changes what a screen shows of it may count here, too.
    pub fn changed(&self) -> &watch::Sender<u64> {
        &self.shared.changed
    }

    /// From now on changes by other programs count, too. The store has to have been opened.
    pub fn follow_others(&self) {
        self.shared.outside.get_or_init(|| {
            let followed = outside::follow(&self.shared.path, self.shared.changed.clone());
            followed.inspect_err(|error| tracing::warn!(%error, "store_not_watched")).ok()
        });
    }

    /// A failed opening is tried again with the next job.
    async fn writer(&self) -> Result<&Writer, StoreError> {
        let (path, changed) = (self.shared.path.clone(), self.shared.changed.clone());
        self.shared.writer.get_or_try_init(|| Writer::open(path, changed)).await
    }
}
