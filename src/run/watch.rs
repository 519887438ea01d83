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

use super::Document;
use crate::config::diagnostic::{Diagnostic, Severity};
use crate::config::model::Source;
use crate::config::{self, Loaded};
use crate::engine::handle::{Handle, Reload};
use crate::engine::snapshot::LogLevel;

/// The file is read when nothing happened to it for this long,
const QUIET: Duration = Duration::from_millis(200);
/// and no later than this after the first change.
const LATEST: Duration = Duration::from_secs(1);
/// A text that is the beginning of the one before is read once more after this long.
const HALF_WRITTEN: Duration = Duration::from_secs(2);

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
        let mut read = read_now(&source).await?;
        if read.as_ref().is_ok_and(|text| may_be_half(&follower.good, text)) {
            // What is missing at the end can be a rule that asks: a slow writer gets the time to finish.
            sleep(HALF_WRITTEN).await;
            read = read_now(&source).await?;
        }
        if let Some(reload) = follower.look(&source, read)
            && engine.reload(reload).await.is_err()
        {
            return Ok(());
        }
        watched.quiet().await;
    }
}

async fn read_now(source: &Source) -> Result<Result<String, Vec<Diagnostic>>, String> {
    let source = source.clone();
    tokio::task::spawn_blocking(move || config::read_text(&source)).await.map_err(|error| error.to_string())
}

/// Keeps an engine at what the configuration file says, and says so where it cannot. For a task of its own.
pub(super) async fn keep_up(document: Document, engine: Handle) {
    let source = document.config().source.clone();
    if let Err(problem) = watch(source, document.text, document.loaded, engine.clone()).await {
        tracing::warn!(reason = %problem, "config_not_watched");
        // An engine that has ended needs no word of it.
        let _ = engine.reload(Reload::Unwatched { problem: problem.into() }).await;
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

/// Whether `now` is the beginning of `before`: as after lines were deleted at its end, and as while it is written.
fn may_be_half(before: &str, now: &str) -> bool {
    now.len() < before.len() && before.starts_with(now)
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
    places: Arc<Mutex<Places>>,
}

/// What is looked for among the kernel's events.
#[derive(Default)]
struct Places {
    /// The names that the file has in its folders: its own, and that of what it links to; and of folders that are
    /// not there now.
    names: BTreeSet<OsString>,
    /// The folders that are watched: they can go as well.
    folders: BTreeSet<PathBuf>,
}

impl Watched {
    fn new(path: &Path) -> Result<Self, String> {
        let changed = Arc::new(Notify::new());
        let places = Arc::new(Mutex::new(Places::default()));
        let (tell, known) = (changed.clone(), places.clone());
        let take = move |event: notify::Result<Event>| {
            let known = known.lock().unwrap_or_else(PoisonError::into_inner);
            // An error may stand for lost events: better to look.
            if event.is_err() || event.is_ok_and(|event| known.concern(&event)) {
                tell.notify_one();
            }
        };
        let watcher = notify::recommended_watcher(take).map_err(|error| cannot(path, &error))?;
        Ok(Self { watcher, changed, places })
    }

    /// Watches the folder of the file and, where it is a link, that of what it links to now; for a folder that is
    /// not there the nearest one above it. Done for every load: a folder may be another one of the same name.
    fn follow(&mut self, path: &Path) -> Result<(), String> {
        let absolute = std::path::absolute(path).map_err(|error| cannot(path, &error))?;
        let mut files = vec![absolute.clone()];
        files.extend(std::fs::canonicalize(&absolute));
        for file in files {
            let mut place = file.as_path();
            while let (Some(folder), Some(name)) = (place.parent(), place.file_name()) {
                let there = folder.is_dir();
                {
                    let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
                    places.names.insert(name.to_owned());
                    places.folders.insert(folder.to_owned());
                }
                if there {
                    self.watcher.watch(folder, RecursiveMode::NonRecursive).map_err(|error| cannot(path, &error))?;
                    break;
                }
                place = folder;
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

impl Places {
    /// Whether an event can have changed what the file says. Reading it is an event as well.
    fn concern(&self, event: &Event) -> bool {
        let changes = match event.kind {
            EventKind::Access(kind) => kind == AccessKind::Close(AccessMode::Write),
            _ => true,
        };
        let named = |path: &PathBuf| {
            self.folders.contains(path) || path.file_name().is_some_and(|name| self.names.contains(name))
        };
        changes && (event.need_rescan() || event.paths.iter().any(named))
    }
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
    fn a_beginning_of_the_text_may_be_half_of_it() {
        for (now, half) in [(GOOD, false), ("", true), ("name: Acme\n", true), ("name: Other\n", false)] {
            assert_eq!(may_be_half(GOOD, now), half, "{now:?}");
        }
        assert!(!may_be_half("name: Acme\n", GOOD), "longer");
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
