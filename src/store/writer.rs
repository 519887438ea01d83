//! The one thread that changes the store: jobs come over a bounded queue and run one after another, each in a
//! transaction that is on disk before its caller hears of it.
//!
//! A job that panics is rolled back and takes nothing along; the thread goes on.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, TransactionBehavior};
use tokio::sync::{mpsc, oneshot, watch};

use super::seal::Seal;
use super::{ReadStore, StoreError, WriteStore, schema};

/// Jobs that may wait; whoever comes then waits for a place.
const QUEUE: usize = 256;
/// How long another lock on the file is waited for; a test that holds one does not wait as long.
pub(super) const PATIENCE: Duration = if cfg!(test) { Duration::from_millis(500) } else { Duration::from_secs(5) };
/// The log of changes is cut back to this size when it has been taken into the file, in bytes.
const LOG_BYTES: i64 = 16 << 20;

type Job = Box<dyn FnOnce(&mut Connection) + Send>;

/// The way to the thread; it ends with the last of these.
#[derive(Debug)]
pub(super) struct Writer {
    jobs: mpsc::Sender<Job>,
    seal: Seal,
    changed: watch::Sender<u64>,
}

impl Writer {
    /// Starts the thread, which opens the file and brings its tables up to date.
    pub(super) async fn open(path: PathBuf, changed: watch::Sender<u64>) -> Result<Self, StoreError> {
        let (jobs, mut queue) = mpsc::channel::<Job>(QUEUE);
        let (tell, opened) = oneshot::channel::<Result<Seal, StoreError>>();
        let work = move || {
            let mut connection = match open(&path) {
                Ok(connection) => connection,
                Err(error) => {
                    // Whoever asked has gone: the next one is told.
                    let _ = tell.send(Err(error));
                    return;
                }
            };
            let _ = tell.send(Ok(Seal::of(&path)));
            while let Some(job) = queue.blocking_recv() {
                if catch_unwind(AssertUnwindSafe(|| job(&mut connection))).is_err() {
                    tracing::error!("store_job_panicked");
                }
            }
        };
        std::thread::Builder::new().name("store".to_owned()).spawn(work)?;
        let seal = opened.await.map_err(|_| StoreError::Fault)??;
        Ok(Self { jobs, seal, changed })
    }

    /// Of the file that it opened.
    pub(super) const fn seal(&self) -> &Seal {
        &self.seal
    }

    /// Runs one job in a transaction.
    pub(super) async fn run<T, E>(
        &self,
        job: impl FnOnce(&WriteStore<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let (reply, done) = oneshot::channel();
        let (changed, seal) = (self.changed.clone(), self.seal.clone());
        let work: Job = Box::new(move |connection| {
            let before = connection.total_changes();
            let result = seal.holds().map_err(E::from).and_then(|()| transact(connection, job));
            if result.is_ok() && connection.total_changes() != before {
                changed.send_modify(|count| *count = count.wrapping_add(1));
            }
            // A caller that has gone hears nothing; what was done stands.
            let _ = reply.send(result);
        });
        self.jobs.send(work).await.map_err(|_| StoreError::Fault)?;
        done.await.map_err(|_| StoreError::Fault)?
    }
}

fn transact<T, E: From<StoreError>>(
    connection: &mut Connection,
    job: impl FnOnce(&WriteStore<'_>) -> Result<T, E>,
) -> Result<T, E> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(StoreError::from)?;
    // Dropped before its end it is rolled back, also by a panic.
    let result = job(&WriteStore { read: ReadStore { connection: &transaction } })?;
    transaction.commit().map_err(StoreError::from)?;
    Ok(result)
}

/// Opens the file for writing; makes it, mode 0600, where there is none.
fn open(path: &Path) -> Result<Connection, StoreError> {
    // SQLite gives its side files the mode of this one.
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    prepare(&connection)?;
    schema::check(&connection)?;
    let mode: String = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
    if mode != "wal" {
        return Err(StoreError::Unusable(format!("its file system cannot hold a log of changes (mode {mode})")));
    }
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "journal_size_limit", LOG_BYTES)?;
    schema::migrate(&mut connection)?;
    Ok(connection)
}

/// What holds for every connection.
pub(super) fn prepare(connection: &Connection) -> Result<(), StoreError> {
    connection.busy_timeout(PATIENCE)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(())
}
