//! The state folder: where it is, who owns it, and how small files in it are replaced.
//!
//! The composition root opens it; the audit, the name map and the listener keep their files in it. One dashboard
//! or `serve` owns the folder at a time; one-shot commands work beside the owner. What the files contain is the
//! business of those who write them.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::Mode;
use serde::{Deserialize, Serialize};

use crate::config::expand::Environment;
use crate::config::model::Source;
use crate::tool::Digest;

static ORIGINAL_UMASK: OnceLock<u32> = OnceLock::new();

/// Makes every file that this process creates private to its user. Called first in `main`, before any thread.
pub fn set_umask() {
    let before = rustix::process::umask(Mode::from_raw_mode(0o077));
    // A second call would only see our own mask.
    let _ = ORIGINAL_UMASK.set(before.as_raw_mode());
}

/// The umask that the process was started with, for children; `None` while [`set_umask`] has not been called.
pub fn original_umask() -> Option<u32> {
    ORIGINAL_UMASK.get().copied()
}

/// Why the state folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StateDirError {
    /// Neither `XDG_STATE_HOME` nor `HOME` says where state belongs.
    #[error("no place for the state folder: neither XDG_STATE_HOME nor HOME is an absolute path; pass --state-dir")]
    NoHome,
    /// The folder or a file in it cannot be used.
    #[error("the state folder cannot be used: {}: {source}", path.display())]
    Io {
        /// The folder or file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Another dashboard or `serve` owns it.
    #[error("the state folder {} is in use by {holder}; end it first, or pass another --state-dir", path.display())]
    Held {
        /// The folder.
        path: PathBuf,
        /// `process 4711 (crewlet-tui serve)`.
        holder: String,
    },
}

/// An existing state folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StateDir {
    path: Arc<Path>,
}

/// How to reach the running owner: `run.json`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RunInfo {
    /// The owner's process.
    pub pid: u32,
    /// Address of its listener, when it has one: `127.0.0.1:7420`.
    pub address: Option<String>,
}

/// Ownership of the folder, until it is dropped or the process ends.
#[derive(Debug)]
pub struct OwnerLock {
    file: File,
}

impl StateDir {
    /// `$XDG_STATE_HOME/crewlet-tui/<slug of the company>-<hash of the configuration's absolute path>`.
    ///
    /// # Errors
    /// When neither `XDG_STATE_HOME` nor `HOME` is an absolute path.
    pub fn default_path(
        company: &str,
        source: &Source,
        environment: &dyn Environment,
    ) -> Result<PathBuf, StateDirError> {
        let absolute = |name: &str| environment.get(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let base = absolute("XDG_STATE_HOME")
            .or_else(|| absolute("HOME").map(|home| home.join(".local/state")))
            .ok_or(StateDirError::NoHome)?;
        let place = match source {
            // Symbolic links and `..` are followed, so that one file has one folder however it is named.
            Source::File(path) => fs::canonicalize(path).or_else(|_| std::path::absolute(path)).unwrap_or(path.clone()),
            Source::Demo => PathBuf::from("demo"),
        };
        let hash = Digest::of(place.as_os_str().as_encoded_bytes()).short();
        Ok(base.join("crewlet-tui").join(format!("{}-{hash}", slug(company))))
    }

    /// Opens the folder; creates it, 0700, with its parents where it does not exist.
    ///
    /// # Errors
    /// When it cannot be created, is no folder, or belongs to another user.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, StateDirError> {
        let path = path.into();
        let failed = |source| StateDirError::Io { path: path.clone(), source };
        DirBuilder::new().recursive(true).mode(0o700).create(&path).map_err(failed)?;
        let metadata = fs::metadata(&path).map_err(failed)?;
        let us = rustix::process::geteuid().as_raw();
        if metadata.uid() != us && us != 0 {
            return Err(failed(io::Error::new(io::ErrorKind::PermissionDenied, "it belongs to another user")));
        }
        // A folder that was made by hand may be open to others; tokens and the audit lie in it.
        if metadata.mode() & 0o077 != 0 {
            fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).map_err(failed)?;
        }
        let absolute = std::path::absolute(&path).map_err(failed)?;
        Ok(Self { path: absolute.into() })
    }

    /// Where it is, absolute.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A file or folder in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The folder of our own diagnostics.
    pub fn logs(&self) -> PathBuf {
        self.file("logs")
    }

    /// The folder that the demo servers keep their files in.
    pub fn demo(&self) -> PathBuf {
        self.file("demo")
    }

    /// Takes ownership for a command such as `crewlet-tui serve`, whose name the second comer is told.
    ///
    /// # Errors
    /// When somebody holds it, or the lock file cannot be used.
    pub fn own(&self, command: &str) -> Result<OwnerLock, StateDirError> {
        let path = self.file("lock");
        let failed = |source| StateDirError::Io { path: path.clone(), source };
        // Not truncated at opening: until we hold the lock it is the holder's text.
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                // Unreadable or still empty: then we cannot say more than that it is held.
                let _ = io::Read::by_ref(&mut file).take(512).read_to_string(&mut text);
                return Err(StateDirError::Held { path: self.path.to_path_buf(), holder: holder(&text) });
            }
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        file.set_len(0).and_then(|()| writeln!(file, "{} {command}", std::process::id())).map_err(failed)?;
        Ok(OwnerLock { file })
    }

    /// Whether a running program owns the folder now.
    pub fn is_owned(&self) -> bool {
        // Only looked at: the lock is given back at once.
        let Ok(file) = File::open(self.file("lock")) else { return false };
        matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
    }

    /// Writes `run.json`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_run(&self, info: &RunInfo) -> io::Result<()> {
        self.write_atomic("run.json", &serde_json::to_vec(info)?)
    }

    /// Reads `run.json`; `None` when there is none or it is unreadable. The instance may be gone all the same.
    pub fn read_run(&self) -> Option<RunInfo> {
        serde_json::from_slice(&fs::read(self.file("run.json")).ok()?).ok()
    }

    /// Removes `run.json` at an orderly end.
    pub fn clear_run(&self) {
        let _ = fs::remove_file(self.file("run.json"));
    }

    /// Replaces a file in the folder, mode 0600: whoever reads sees the old or the new content, never a mixture.
    ///
    /// # Errors
    /// When it cannot be written; the old content then still stands.
    pub fn write_atomic(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let temporary = self.file(&format!(".{name}.{}.{number}", std::process::id()));
        let write = || {
            let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
            file.write_all(bytes)?;
            file.sync_data()?;
            fs::rename(&temporary, self.file(name))
        };
        write().inspect_err(|_| {
            let _ = fs::remove_file(&temporary);
        })
    }
}

impl Drop for OwnerLock {
    fn drop(&mut self) {
        // The file stays: removing it would let two owners lock two files of the same name.
        let _ = self.file.set_len(0).and_then(|()| self.file.rewind());
        let _ = self.file.unlock();
    }
}

/// `4711 crewlet-tui serve` for people.
fn holder(text: &str) -> String {
    match text.trim().split_once(' ') {
        Some((pid, command)) if pid.bytes().all(|byte| byte.is_ascii_digit()) => {
            format!("process {pid} ({})", crate::text::visible(command))
        }
        _ => "another process".to_owned(),
    }
}

/// The folder's name for a company: lower-case letters and digits, every other run one `-`; at most 40 bytes.
fn slug(company: &str) -> String {
    let mut slug = String::new();
    for c in company.chars().flat_map(char::to_lowercase) {
        if c.is_ascii_alphanumeric() {
            slug.push(c);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
        if slug.len() >= 40 {
            break;
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { "company".to_owned() } else { slug.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Variables(&'static [(&'static str, &'static str)]);

    impl Environment for Variables {
        fn get(&self, name: &str) -> Option<String> {
            self.0.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        }
    }

    fn default(company: &str, variables: &'static [(&'static str, &'static str)]) -> Option<String> {
        let path = StateDir::default_path(company, &Source::Demo, &Variables(variables)).ok()?;
        Some(path.to_string_lossy().into_owned())
    }

    #[test]
    fn the_default_path_follows_xdg_and_falls_back_to_home() {
        let hash = Digest::of(b"demo").short();
        let xdg: &[_] = &[("XDG_STATE_HOME", "/x"), ("HOME", "/h")];
        assert_eq!(default("Acme & Söhne", xdg), Some(format!("/x/crewlet-tui/acme-s-hne-{hash}")));
        assert_eq!(default("…", &[("HOME", "/h")]), Some(format!("/h/.local/state/crewlet-tui/company-{hash}")));
        let relative: &[_] = &[("XDG_STATE_HOME", "x"), ("HOME", "/h")];
        assert_eq!(default("A", relative), Some(format!("/h/.local/state/crewlet-tui/a-{hash}")));
        assert_eq!(default("A", &[]), None);
    }

    #[test]
    fn one_configuration_has_one_folder_however_it_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("config.yaml");
        fs::write(&file, "").unwrap();
        let roundabout = dir.path().join(".").join("config.yaml");
        let path = |file: &Path| {
            StateDir::default_path("A", &Source::File(file.to_path_buf()), &Variables(&[("HOME", "/h")])).unwrap()
        };
        assert_eq!(path(&file), path(&roundabout));
        assert_ne!(path(&file), path(&dir.path().join("other.yaml")));
    }

    #[test]
    fn folder_and_files_are_private() {
        let dir = tempfile::tempdir().unwrap();
        let open = dir.path().join("made/by/hand");
        fs::create_dir_all(&open).unwrap();
        fs::set_permissions(&open, fs::Permissions::from_mode(0o755)).unwrap();
        let state = StateDir::open(&open).unwrap();
        state.write_atomic("names.json", b"{}").unwrap();
        state.write_atomic("names.json", b"[1]").unwrap();
        assert_eq!(fs::metadata(&open).unwrap().mode() & 0o777, 0o700);
        assert_eq!(fs::metadata(state.file("names.json")).unwrap().mode() & 0o777, 0o600);
        assert_eq!(fs::read(state.file("names.json")).unwrap(), b"[1]");
        assert_eq!(fs::read_dir(&open).unwrap().count(), 1, "no temporary file is left");
    }

    #[test]
    fn a_failed_replacement_leaves_the_old_content_and_no_rubbish() {
        let dir = tempfile::tempdir().unwrap();
        let state = StateDir::open(dir.path()).unwrap();
        fs::create_dir(state.file("names.json")).unwrap();
        fs::write(state.file("names.json").join("kept"), "").unwrap();
        assert!(state.write_atomic("names.json", b"{}").is_err());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn the_second_owner_is_told_who_holds_it() {
        let dir = tempfile::tempdir().unwrap();
        let state = StateDir::open(dir.path()).unwrap();
        let first = state.own("crewlet-tui serve").unwrap();
        let refused = state.own("crewlet-tui").unwrap_err().to_string();
        assert!(refused.contains(&format!("process {} (crewlet-tui serve)", std::process::id())), "{refused}");
        drop(first);
        state.own("crewlet-tui").unwrap();
    }

    #[test]
    fn run_info_comes_back() {
        let dir = tempfile::tempdir().unwrap();
        let state = StateDir::open(dir.path()).unwrap();
        assert_eq!(state.read_run(), None);
        let info = RunInfo { pid: 7, address: Some("127.0.0.1:7420".to_owned()) };
        state.write_run(&info).unwrap();
        assert_eq!(state.read_run(), Some(info));
        state.clear_run();
        assert_eq!(state.read_run(), None);
    }
}
