//! The built-in demo MCP servers: `crewlet-tui demo-server NAME`, over stdin and stdout.
//!
//! Small, and honest: their tools do what they say, on files in a scratch folder or on made-up data, and none of
//! them uses a network. They are written by hand and share nothing with the engine's client, so that the demo
//! also shows that the client speaks with servers that are not its own. Each ends when its input is closed.

mod broken;
mod chatty;
mod inventory;
mod notes;
mod protocol;
mod weather;

use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use protocol::{Demo, serve};

/// The demo servers by name.
pub const NAMES: [&str; 5] = ["notes", "inventory", "weather", "broken", "chatty"];

/// The variable that names the scratch folder.
pub const DIR_VARIABLE: &str = "CREWLET_DEMO_DIR";

/// Why a demo server could not run.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    /// No demo server of that name.
    #[error("there is no demo server \"{}\"; there are {}", .0.escape_debug(), NAMES.join(", "))]
    UnknownName(String),
    /// The scratch folder cannot be used.
    #[error("the demo folder {} cannot be used: {source}", dir.display())]
    Folder {
        /// The folder.
        dir: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Standard input or output broke.
    #[error("the connection broke: {0}")]
    Connection(#[from] io::Error),
}

/// Runs a demo server until its input is closed.
///
/// `dir` is the scratch folder; without it, `CREWLET_DEMO_DIR`, else a folder of this user below the system's
/// temporary one.
///
/// # Errors
/// When there is no such server, its folder cannot be used, or its output cannot be written.
pub fn run(name: &str, dir: Option<PathBuf>) -> Result<ExitCode, DemoError> {
    let mut demo: Box<dyn Demo> = match name {
        "notes" => Box::new(in_folder(dir, notes::Notes::open)?),
        "inventory" => Box::new(in_folder(dir, |dir| inventory::Inventory::open(dir, setting(inventory::NAME)))?),
        "weather" => Box::new(weather::Weather::default()),
        "broken" => match broken::start(setting(broken::TOKEN).as_deref(), &mut io::stderr())? {
            Some(ledger) => Box::new(ledger),
            None => return Ok(ExitCode::FAILURE),
        },
        "chatty" => Box::new(chatty::Chatty::start()?),
        other => return Err(DemoError::UnknownName(other.to_owned())),
    };
    serve(&mut *demo, BufReader::new(io::stdin()), io::stdout())?;
    Ok(ExitCode::SUCCESS)
}

/// A setting of a demo server, from its environment.
fn setting(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}

fn in_folder<T>(dir: Option<PathBuf>, open: impl FnOnce(&Path) -> io::Result<T>) -> Result<T, DemoError> {
    let named = || std::env::var_os(DIR_VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from);
    let dir = dir.or_else(named).unwrap_or_else(|| {
        let user = rustix::process::geteuid().as_raw();
        std::env::temp_dir().join(format!("crewlet-tui-demo-{user}"))
    });
    make_private(&dir).and_then(|()| open(&dir)).map_err(|source| DemoError::Folder { dir, source })
}

/// Creates the folder for this user alone. In a temporary folder of all users somebody else may have been first.
fn make_private(dir: &Path) -> io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    let metadata = std::fs::symlink_metadata(dir)?;
    if metadata.is_dir() && metadata.uid() == rustix::process::geteuid().as_raw() {
        Ok(())
    } else {
        Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is not a folder of this user"))
    }
}

#[cfg(test)]
mod tests;
