//! Watching the configuration file: a save becomes a reload of the engine.
//!
//! The folders are watched, not the file: editors rename a new file over the old one, or delete and re-create it.
//! Nothing is polled; the kernel tells. The file is read when it has been quiet for a moment, so a burst of saves
//! ends in a few loads and the last state counts. What a valid file changes is the engine's business.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use notify::event::{AccessKind, AccessMode};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

use crate::config::diagnostic::{Diagnostic, Severity};
use crate::config::model::Source;
use crate::config::{self, Loaded};
use crate::engine::handle::{Handle, Reload};
use crate::engine::snapshot::LogLevel;

/// The file is read when nothing happened to it for this long,
const QUIET: Duration = Duration::from_millis(200);
/// and no later than this after the first change.
const LATEST: Duration = Duration::from_secs(1);

/// Watches the file of `source` and hands every change to the engine, until it ends. `text` is what the engine was
/// started with, `known` what was said about it. Returns at once for the demo, which cannot change.
///
/// # Errors
/// One line when the folder cannot be watched.
pub async fn watch(source: Source, text: Arc<str>, known: Arc<Loaded>, engine: Handle) -> Result<(), String> {
    let Source::File(path) = &source else { return Ok(()) };
    let mut watched = Watched::new(path)?;
    let mut follower = Follower { seen: Some(text.clone()), good: text, warned: told(&known.warnings) };
    loop {
        // At first as well: the file may have changed since it was read.
        watched.follow(path)?;
        let read = {
            let source = source.clone();
            tokio::task::spawn_blocking(move || config::read_text(&source))
        };
        let read = read.await.map_err(|error| error.to_string())?;
        if let Some(reload) = follower.look(&source, read)
            && engine.reload(reload).await.is_err()
        {
            return Ok(());
        }
        watched.quiet().await;
    }
}

/// What the watcher knows about the file's text.
struct Follower {
    /// The text that was looked at last; `None` when it could not be read.
    seen: Option<Arc<str>>,
    /// The text that the engine goes by.
    good: Arc<str>,
    /// What a person was told about it.
    warned: BTreeSet<String>,
}

impl Follower {
    /// What the text means for the engine; `None` when it is the one that was looked at before.
    fn look(&mut self, source: &Source, read: Result<String, Vec<Diagnostic>>) -> Option<Reload> {
        let text: Arc<str> = match read {
            Ok(text) => text.into(),
            Err(_) if self.seen.is_none() => return None,
            Err(problems) => {
                self.seen = None;
                return Some(refused(&problems));
            }
        };
        if self.seen.as_ref() == Some(&text) {
            return None;
        }
        self.seen = Some(text.clone());
        if let Some(line) = cut_off(&self.good, &text) {
            let problem = format!(
                "{}:{line}: the file ends in the middle of a line that was longer; end the line to use it",
                source.file_name()
            );
            return Some(Reload::Invalid { problem: problem.into(), more: 0 });
        }
        match config::load(&text, source) {
            Err(problems) => Some(refused(&problems)),
            Ok(loaded) => {
                self.good = text;
                loaded.log();
                let now = told(&loaded.warnings);
                let fresh = loaded.warnings.iter().filter(|warning| !self.warned.contains(&key(warning)));
                let notices = fresh.map(notice).collect();
                self.warned = now;
                Some(Reload::Valid { config: Arc::new(loaded.config), notices })
            }
        }
    }
}

/// The line at which `now` looks like a part of `before` that is still being written; `None` when it does not.
fn cut_off(before: &str, now: &str) -> Option<usize> {
    let rest = before.strip_prefix(now)?;
    let at_line_end = now.is_empty() || now.ends_with('\n') || rest.is_empty() || rest.starts_with(['\n', '\r']);
    (!at_line_end).then(|| now.lines().count())
}

fn refused(problems: &[Diagnostic]) -> Reload {
    let errors = || problems.iter().filter(|problem| problem.severity == Severity::Error);
    let first = errors().next().map(ToString::to_string).unwrap_or_default();
    let problem = first.lines().next().unwrap_or_default().into();
    Reload::Invalid { problem, more: errors().count().saturating_sub(1) }
}

fn notice(warning: &Diagnostic) -> (LogLevel, Arc<str>) {
    let level = if warning.severity == Severity::Info { LogLevel::Info } else { LogLevel::Warn };
    (level, warning.to_string().lines().next().unwrap_or_default().into())
}

/// What a warning says, wherever it stands.
fn key(warning: &Diagnostic) -> String {
    format!("{} {}", warning.path, warning.message)
}

fn told(warnings: &[Diagnostic]) -> BTreeSet<String> {
    warnings.iter().map(key).collect()
}

/// The kernel's word on the file.
struct Watched {
    watcher: RecommendedWatcher,
    changed: Arc<Notify>,
    /// The names that the file has in the folders: its own, and that of what it links to.
    names: Arc<Mutex<BTreeSet<OsString>>>,
    folders: BTreeSet<PathBuf>,
}

impl Watched {
    fn new(path: &Path) -> Result<Self, String> {
        let changed = Arc::new(Notify::new());
        let names = Arc::new(Mutex::new(BTreeSet::new()));
        let (tell, known) = (changed.clone(), names.clone());
        let take = move |event: notify::Result<Event>| {
            let known = known.lock().unwrap_or_else(PoisonError::into_inner);
            // An error may stand for lost events: better to look.
            if event.is_err() || event.is_ok_and(|event| concerns(&event, &known)) {
                tell.notify_one();
            }
        };
        let watcher = notify::recommended_watcher(take).map_err(|error| cannot(path, &error))?;
        Ok(Self { watcher, changed, names, folders: BTreeSet::new() })
    }

    /// Watches the folder of the file and, where it is a link, that of what it links to now.
    fn follow(&mut self, path: &Path) -> Result<(), String> {
        let absolute = std::path::absolute(path).map_err(|error| cannot(path, &error))?;
        let mut places = vec![absolute.clone()];
        places.extend(std::fs::canonicalize(&absolute));
        for place in places {
            let (Some(folder), Some(name)) = (place.parent(), place.file_name()) else { continue };
            self.names.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned());
            if !self.folders.contains(folder) {
                self.watcher.watch(folder, RecursiveMode::NonRecursive).map_err(|error| cannot(path, &error))?;
                self.folders.insert(folder.to_owned());
            }
        }
        Ok(())
    }

    /// Waits for a change, and then until it is over.
    async fn quiet(&self) {
        self.changed.notified().await;
        let latest = Instant::now() + LATEST;
        loop {
            tokio::select! {
                () = self.changed.notified(), if Instant::now() < latest => {}
                () = sleep(QUIET) => return,
            }
        }
    }
}

/// Whether an event can have changed what the file says. Reading it is an event as well.
fn concerns(event: &Event, names: &BTreeSet<OsString>) -> bool {
    let changes = match event.kind {
        EventKind::Access(kind) => kind == AccessKind::Close(AccessMode::Write),
        _ => true,
    };
    let named = |path: &PathBuf| path.file_name().is_some_and(|name| names.contains(name));
    changes && (event.need_rescan() || event.paths.iter().any(named))
}

fn cannot(path: &Path, error: &dyn std::fmt::Display) -> String {
    format!("changes of {} are not seen: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "name: Acme\nmcp_servers:\n  - name: a\n    command: python3\n";

    fn follower() -> Follower {
        Follower { seen: Some(GOOD.into()), good: GOOD.into(), warned: BTreeSet::new() }
    }

    fn source() -> Source {
        Source::File("/etc/config.yaml".into())
    }

    #[test]
    fn a_text_is_looked_at_once_and_a_bad_one_names_its_first_problem() {
        let mut follower = follower();
        assert!(follower.look(&source(), Ok(GOOD.to_owned())).is_none(), "nothing new");
        for bad in ["", "name: [", "name: Acme\nmcp_servers:\n  - comand: x\n"] {
            let Some(Reload::Invalid { problem, .. }) = follower.look(&source(), Ok(bad.to_owned())) else {
                panic!("{bad:?} was taken")
            };
            assert!(problem.starts_with("config.yaml:") && !problem.contains("help:"), "{problem}");
            assert!(follower.look(&source(), Ok(bad.to_owned())).is_none(), "told once");
        }
        assert!(matches!(follower.look(&source(), Ok(GOOD.to_owned())), Some(Reload::Valid { .. })), "good again");
        let missing = || config::read_text(&Source::File("/nowhere/config.yaml".into()));
        assert!(matches!(follower.look(&source(), missing()), Some(Reload::Invalid { .. })));
        assert!(follower.look(&source(), missing()).is_none(), "told once");
    }

    #[test]
    fn a_text_that_ends_in_the_middle_of_a_line_is_not_taken() {
        for (now, line) in [
            (GOOD, None),
            ("", None),
            ("name: Acme\n", None),
            ("name: Acme", None),
            ("name: Ac", Some(1)),
            ("name: Acme\nmcp_servers:\n  - name: a\n    command: pyth", Some(4)),
            ("name: Other\nmcp", None),
        ] {
            assert_eq!(cut_off(GOOD, now), line, "{now:?}");
        }
    }
}
