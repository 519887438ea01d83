//! Changes that other programs make: a command at the shell writes into the same file. The kernel tells when the log of
//! changes was written to; nothing is polled. What this program writes itself is told twice then, which costs one more
//! look.

use std::path::Path;

use notify::event::ModifyKind;
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::watch;

/// Counts on `changed` whenever the log of changes beside the store's file is written to, for as long as what comes back
/// is kept. The log has to be there: it is once the store has been opened.
///
/// # Errors
/// The kernel does not watch it.
pub(super) fn follow(file: &Path, changed: watch::Sender<u64>) -> notify::Result<RecommendedWatcher> {
    let mut log = file.as_os_str().to_owned();
    log.push("-wal");
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
        if event.is_ok_and(|event| matches!(event.kind, EventKind::Modify(ModifyKind::Data(_) | ModifyKind::Any))) {
            changed.send_modify(|count| *count = count.wrapping_add(1));
        }
    })?;
    watcher.watch(Path::new(&log), RecursiveMode::NonRecursive)?;
    Ok(watcher)
}
