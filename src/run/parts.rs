//! The parts that every engine of this program is put together from: process, state folder, log, audit, names.

use std::path::PathBuf;
use std::sync::Arc;

use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal as listen};
use tokio::task::JoinHandle;

use super::Document;
use super::saver::Saver;
use crate::cli::{Exit, Global};
use crate::config::diagnostic::Severity;
use crate::config::expand::{Environment, ProcessEnvironment};
use crate::engine::audit::{self, Audit, Opened};
use crate::engine::connection::watchdog;
use crate::engine::first_party::FirstParty;
use crate::engine::gate::Attendance;
use crate::engine::gate::pins::Pins;
use crate::engine::handle::Handle;
use crate::engine::library::PromptNames;
use crate::engine::snapshot::LogLevel;
use crate::engine::start::{self, Eras, Kept, Only, Options};
use crate::engine::state_dir::{self, StateDir};
use crate::engine::status::Era;
use crate::ids::{CallId, ConnectionName, ServerName};
use crate::logging::{self, Logging};
use crate::native::Native;
use crate::native::reader::RowReader;
use crate::secret::Redactor;
use crate::store::Store;
use crate::tool::names::Names;

/// Remembered names of tools, in the state folder.
const NAMES_FILE: &str = "names.json";
/// Remembered names of prompts, in the state folder.
const PROMPTS_FILE: &str = "prompts.json";
/// Remembered definitions of tools, in the state folder.
const PINS_FILE: &str = "pins.json";
/// The longest file of remembered definitions that is read, in bytes.
const MOST_PINS: u64 = 512 << 20;
const ERAS_FILE: &str = "eras.json";

/// What has to hold before anything else happens: files are made private, TLS has a provider.
pub fn prepare_process() {
    state_dir::set_umask();
    // Fails only when one is installed already, which serves as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// The runtime of one run: two workers, so that a busy one holds nobody up.
pub(super) fn runtime() -> Result<Runtime, String> {
    let built = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    built.map_err(|error| format!("the runtime cannot be started: {error}"))
}

/// Waits for SIGTERM, SIGINT or SIGHUP and gives its number.
pub(super) async fn signal() -> u8 {
    let (Ok(mut terminate), Ok(mut interrupt), Ok(mut hangup)) =
        (listen(SignalKind::terminate()), listen(SignalKind::interrupt()), listen(SignalKind::hangup()))
    else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = terminate.recv() => 15,
        _ = interrupt.recv() => 2,
        _ = hangup.recv() => 1,
    }
}

/// The user at this terminal, for the audit.
pub fn user() -> Arc<str> {
    let named = |name: &&str| ProcessEnvironment.get(name).filter(|name| !name.is_empty());
    if let Some(name) = ["USER", "LOGNAME"].iter().find_map(named) {
        return name.into();
    }
    let id = rustix::process::getuid().as_raw();
    let accounts = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    account(&accounts, id).map_or_else(|| format!("uid:{id}").into(), Arc::from)
}

/// The name of an account in the text of `/etc/passwd`.
fn account(accounts: &str, id: u32) -> Option<&str> {
    accounts.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next().filter(|name| !name.is_empty())?;
        (fields.nth(1)?.parse() == Ok(id)).then_some(name)
    })
}

/// State folder, log and audit of one run.
pub(super) struct Parts {
    pub(super) state: StateDir,
    pub(super) redactor: Redactor,
    pub(super) logging: Logging,
    pub(super) audit: Audit,
    /// The program's own tools, over the store, which is not opened before it is used.
    pub(super) native: Arc<Native>,
    pub(super) first_notices: Vec<(LogLevel, Arc<str>)>,
}

/// Where the state folder of this configuration is.
pub(super) fn state_path(global: &Global, document: &Document) -> Result<PathBuf, String> {
    let config = document.config();
    match global.state_dir.clone().or_else(|| config.engine.state_dir.clone()) {
        Some(path) => Ok(path),
        None => StateDir::default_path(&config.company, &config.source, &ProcessEnvironment)
            .map_err(|error| error.to_string()),
    }
}

/// Where the state folder is, for commands that read it without an engine.
///
/// # Errors
/// When it depends on a configuration that is invalid, or on a home folder that there is not.
pub fn state_folder(global: &Global) -> Result<PathBuf, (Exit, String)> {
    if let Some(path) = &global.state_dir {
        return Ok(path.clone());
    }
    let document = super::load(global).map_err(|problems| (Exit::Config, super::explain(global, &problems)))?;
    state_path(global, &document).map_err(|problem| (Exit::Failed, problem))
}

impl Parts {
    /// Opens what one run needs.
    pub(super) fn open(global: &Global, document: &Document, stderr: logging::Stderr) -> Result<Self, String> {
        let state = StateDir::open(state_path(global, document)?).map_err(|error| error.to_string())?;
        let redactor = Redactor::default();
        let logs = state.logs();
        let logging = logging::init(&logging::Options {
            dir: Some(&logs),
            detail: if global.debug { logging::Detail::Debug } else { logging::Detail::Normal },
            redactor: redactor.clone(),
            stderr,
        });
        document.loaded.log();
        let (audit, opened) = audit::open(&state, &audit::new_instance()).map_err(|error| error.to_string())?;
        let mut first_notices = mended(&opened);
        for warning in document.warnings() {
            let level = if warning.severity == Severity::Info { LogLevel::Info } else { LogLevel::Warn };
            first_notices.push((level, warning.to_string().lines().next().unwrap_or_default().into()));
        }
        let native = Native::open(document.config(), Store::new(state.path()));
        Ok(Self { state, redactor, logging, audit, native, first_notices })
    }

    /// Starts the engine on these parts.
    pub(super) fn start(
        &mut self,
        document: &Document,
        attendance: Attendance,
        only: Option<Only>,
    ) -> (Handle, JoinHandle<()>) {
        let state = self.state.clone();
        let names = Saver::new({
            let state = state.clone();
            move |names: &Names| write_names(&state, NAMES_FILE, names)
        });
        let prompts = Saver::new({
            let state = state.clone();
            move |names: &Names| write_names(&state, PROMPTS_FILE, names)
        });
        let eras = Saver::new({
            let state = state.clone();
            move |eras: &Eras| write_eras(&state, eras)
        });
        let pins = Saver::new({
            let state = state.clone();
            move |pins: &Pins| write_pins(&state, pins)
        });
        let demo = self.state.demo();
        if let Err(error) = watchdog::start() {
            tracing::warn!(%error, "watchdog_not_started");
        }
        let dropped = self.logging.dropped.clone();
        // What is left behind is a feed that has ended.
        let log = std::mem::replace(&mut self.logging.records, tokio::sync::mpsc::channel(1).1);
        let kept = Kept {
            folder: Some(state.path().to_path_buf()),
            eras: read_eras(&state),
            eras_changed: Some(Box::new(move |changed| eras.save(changed.clone()))),
            tools: only.as_ref().is_none_or(has_ours).then(|| self.native.clone() as Arc<dyn FirstParty>),
            prompts: PromptNames {
                names: read_names(&state, PROMPTS_FILE),
                changed: Some(Box::new(move |changed| prompts.save(changed.clone()))),
            },
        };
        let options = Options {
            environment: Arc::new(ProcessEnvironment),
            attendance,
            person: format!("person:{}", user()).into(),
            audit: self.audit.clone(),
            names: read_names(&self.state, NAMES_FILE),
            names_changed: Box::new(move |changed| names.save(changed.clone())),
            pins: self.read_pins(),
            pins_changed: Box::new(move |changed| pins.save(changed.clone())),
            redactor: self.redactor.clone(),
            log,
            log_dropped: Arc::new(move || dropped.pane()),
            only,
            own_children: vec![(crate::demo::DIR_VARIABLE.into(), demo.display().to_string().into())],
            connectors: std::collections::HashMap::new(),
            first_notices: std::mem::take(&mut self.first_notices),
            kept,
        };
        start::start(document.config(), options)
    }

    /// What the screen reads the company's rows with.
    pub(super) fn reader(&self) -> Arc<RowReader> {
        Arc::new(self.native.reader(self.redactor.clone()))
    }

    /// The remembered definitions. Without them every tool is taken as it is, so a person is told when there should
    /// have been some.
    fn read_pins(&mut self) -> Pins {
        let read = || -> std::io::Result<Option<Pins>> {
            let file = match std::fs::File::open(self.state.file(PINS_FILE)) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
                file => file?,
            };
            let mut text = String::new();
            std::io::Read::read_to_string(&mut std::io::Read::take(file, MOST_PINS), &mut text)?;
            Ok(Some(serde_json::from_str(&text)?))
        };
        match read() {
            Ok(pins) => pins.unwrap_or_default(),
            Err(error) => {
                tracing::warn!(file = PINS_FILE, %error, "pins_unreadable");
                // Set aside, so that somebody can look at it; in its place nothing would be found at the next start.
                let aside = self.state.file(&format!("{PINS_FILE}.broken"));
                if let Err(error) = std::fs::rename(self.state.file(PINS_FILE), &aside) {
                    tracing::warn!(file = PINS_FILE, %error, "pins_not_set_aside");
                }
                let text = format!(
                    "{PINS_FILE} cannot be read ({error}); it was set aside. What tools were before is not known, so \
                     each asks once before it runs"
                );
                self.first_notices.push((LogLevel::Error, text.into()));
                Pins::unreadable()
            }
        }
    }
}

/// Whether the program's own tools are among what is wanted: every seat holds them.
fn has_ours(only: &Only) -> bool {
    match only {
        Only::Connection(name) => *name == ConnectionName::shared(&ServerName::ours()),
        Only::HeldBy(_) => true,
    }
}

fn write_pins(state: &StateDir, pins: &Pins) {
    let written = serde_json::to_vec(pins).map_err(std::io::Error::from);
    if let Err(error) = written.and_then(|bytes| state.write_atomic(PINS_FILE, &bytes)) {
        tracing::warn!(file = PINS_FILE, %error, "pins_not_written");
    }
}

/// What was found and mended in the trail, for people.
fn mended(opened: &Opened) -> Vec<(LogLevel, Arc<str>)> {
    let count = |calls: &[CallId], what: &str| match calls {
        [] => None,
        [call] => Some(format!("an earlier run ended while call {call} {what}")),
        calls => Some(format!("an earlier run ended while {} calls {what}", calls.len())),
    };
    let calls = [
        count(&opened.unknown, "was on its way: its outcome is unknown"),
        count(&opened.withdrawn, "waited for a decision: withdrawn"),
        count(&opened.unsent, "was approved and not yet sent: it did not run"),
    ];
    let broken = opened.broken.as_ref().map(ToString::to_string);
    let texts = calls.into_iter().flatten().chain(opened.notes.iter().cloned()).chain(broken);
    texts.map(|text| (LogLevel::Warn, text.into())).collect()
}

fn read_names(state: &StateDir, file: &str) -> Names {
    let Ok(text) = std::fs::read_to_string(state.file(file)) else { return Names::default() };
    serde_json::from_str(&text).unwrap_or_else(|error| {
        tracing::warn!(file, %error, "names_unreadable");
        Names::default()
    })
}

fn write_names(state: &StateDir, file: &str, names: &Names) {
    let written = serde_json::to_vec_pretty(names).map_err(std::io::Error::from);
    if let Err(error) = written.and_then(|bytes| state.write_atomic(file, &bytes)) {
        tracing::warn!(file, %error, "names_not_written");
    }
}

/// What is no era of ours counts as not known: the server is asked again.
fn read_eras(state: &StateDir) -> Eras {
    let Ok(text) = std::fs::read_to_string(state.file(ERAS_FILE)) else { return Eras::new() };
    let words: std::collections::BTreeMap<String, String> = serde_json::from_str(&text).unwrap_or_else(|error| {
        tracing::warn!(file = ERAS_FILE, %error, "eras_unreadable");
        std::collections::BTreeMap::default()
    });
    let era = |word: &str| [Era::Modern, Era::Legacy].into_iter().find(|era| era.as_str() == word);
    words.into_iter().filter_map(|(name, word)| Some((ConnectionName::new(name), era(&word)?))).collect()
}

fn write_eras(state: &StateDir, eras: &Eras) {
    let words: std::collections::BTreeMap<_, _> =
        eras.iter().map(|(name, era)| (name.as_str(), era.as_str())).collect();
    let written = serde_json::to_vec_pretty(&words).map_err(std::io::Error::from);
    if let Err(error) = written.and_then(|bytes| state.write_atomic(ERAS_FILE, &bytes)) {
        tracing::warn!(file = ERAS_FILE, %error, "eras_not_written");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_found_by_its_number() {
        let accounts = "root:x:0:0:root:/root:/bin/sh\n\nbroken\nada:x:1000:1000:Ada:/home/ada:/bin/sh\n";
        let found = [0, 1000, 7].map(|id| account(accounts, id));
        assert_eq!(found, [Some("root"), Some("ada"), None]);
    }

    #[test]
    fn eras_come_back_and_nonsense_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let state = StateDir::open(folder.path()).unwrap();
        assert!(read_eras(&state).is_empty());
        let eras = Eras::from([("a".into(), Era::Legacy), ("b".into(), Era::Modern)]);
        write_eras(&state, &eras);
        assert_eq!(read_eras(&state), eras);
        std::fs::write(state.file(ERAS_FILE), r#"{"a":"legacy","c":"bronze"}"#).unwrap();
        assert_eq!(read_eras(&state), Eras::from([("a".into(), Era::Legacy)]));
        std::fs::write(state.file(ERAS_FILE), "[").unwrap();
        assert!(read_eras(&state).is_empty());
    }
}
