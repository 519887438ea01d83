//! Reading: a few connections that cannot write, each used by one job at a time on a thread for blocking work.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, OpenFlags};
use tokio::sync::Semaphore;

use super::seal::Seal;
use super::{ReadStore, StoreError, writer};

/// Jobs that read at the same time; further ones wait.
const AT_ONCE: usize = 4;

/// See the module.
#[derive(Debug)]
pub(super) struct Readers {
    path: PathBuf,
    places: Arc<Semaphore>,
    idle: Arc<Mutex<Vec<Connection>>>,
}

impl Readers {
    /// Opens nothing yet.
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, places: Arc::new(Semaphore::new(AT_ONCE)), idle: Arc::default() }
    }

    /// Runs one job on a consistent view, while the seal holds.
    pub(super) async fn run<T, E>(
        &self,
        seal: Seal,
        job: impl FnOnce(&ReadStore<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let place = self.places.clone().acquire_owned().await.map_err(|_| StoreError::Fault)?;
        let (path, idle) = (self.path.clone(), self.idle.clone());
        let work = move || {
            let _place = place;
            seal.holds()?;
            let waiting = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let connection = match waiting {
                Some(connection) => connection,
                None => open(&path)?,
            };
            // With a job that panics its connection goes, too.
            let result = look(&connection, job);
            idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
            result
        };
        tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| {
            tracing::error!(%error, "store_read_failed");
            Err(StoreError::Fault.into())
        })
    }
}

fn look<T, E: From<StoreError>>(
    connection: &Connection,
    job: impl FnOnce(&ReadStore<'_>) -> Result<T, E>,
) -> Result<T, E> {
    let view = connection.unchecked_transaction().map_err(StoreError::from)?;
    job(&ReadStore { connection: &view })
}

fn open(path: &std::path::Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    writer::prepare(&connection)?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}
