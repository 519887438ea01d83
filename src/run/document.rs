//! Finding and reading what the person wrote: the configuration and the theme.

use std::path::PathBuf;
use std::sync::Arc;

use crate::cli::Global;
use crate::config::diagnostic::Diagnostic;
use crate::config::expand::{Environment, ProcessEnvironment};
use crate::config::model::{Config, Source, Unresolved};
use crate::config;
use crate::ids::ServerName;
use crate::tui::theme::Theme;

/// Longest theme file that is read, in bytes.
const LONGEST_THEME: u64 = 64 << 10;

/// A valid configuration with what should be said about it.
#[derive(Clone, Debug)]
pub struct Document {
    /// The configuration.
    pub config: Arc<Config>,
    /// Warnings.
    pub warnings: Vec<Diagnostic>,
    /// Variables without a value, with the server that needs them.
    pub unresolved: Vec<(ServerName, Unresolved)>,
}

/// Finds, reads and validates the configuration.
///
/// # Errors
/// Every problem of the document at once.
pub fn load(global: &Global) -> Result<Document, Vec<Diagnostic>> {
    let source = config::find(global.config.as_deref(), &ProcessEnvironment);
    let loaded = config::load_source(&source)?;
    let enabled = loaded.config.servers.iter().filter(|server| server.enabled && server.shared);
    let unresolved = enabled
        .flat_map(|server| {
            let missing = server.resolve(&ProcessEnvironment).err().unwrap_or_default();
            missing.into_iter().map(|missing| (server.name.clone(), missing))
        })
        .collect();
    Ok(Document { unresolved, warnings: loaded.warnings, config: Arc::new(loaded.config) })
}

/// The theme that the command line, the configuration and the terminal ask for.
///
/// # Errors
/// One line that names the theme and what is wrong with it.
pub fn theme(global: &Global, config: &Config) -> Result<Theme, String> {
    let set = |name: &str| ProcessEnvironment.get(name).filter(|value| !value.is_empty());
    let asked = global.theme.as_deref().or(config.tui.theme.as_deref());
    let theme = match asked {
        None => Theme::default_for(set("COLORFGBG").as_deref()),
        Some(name) => match Theme::builtin(name) {
            Some(theme) => theme,
            None => read_theme(name, config)?,
        },
    };
    let plain = set("NO_COLOR").is_some() || set("TERM").as_deref() == Some("dumb");
    let mut theme = if plain { Theme::plain() } else { theme };
    theme.ascii = theme.ascii || config.tui.ascii;
    Ok(theme)
}

fn read_theme(name: &str, config: &Config) -> Result<Theme, String> {
    let shown = crate::text::visible(name).into_owned();
    if name.contains(['/', '\\']) || name.starts_with('.') {
        return Err(format!("theme \"{shown}\": a theme is named without a path and without .yaml"));
    }
    let folders = theme_folders(config);
    let files: Vec<PathBuf> = folders.iter().map(|folder| folder.join(format!("{name}.yaml"))).collect();
    let Some(file) = files.iter().find(|file| file.is_file()) else {
        let places: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
        let shipped = crate::tui::theme::NAMES.join(", ");
        return Err(format!("there is no theme \"{shown}\": shipped are {shipped}; looked in {}", places.join(" and ")));
    };
    let too_long = std::fs::metadata(file).is_ok_and(|metadata| metadata.len() > LONGEST_THEME);
    if too_long {
        return Err(format!("{}: longer than {LONGEST_THEME} bytes", file.display()));
    }
    let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    Theme::parse(&text).map_err(|error| format!("{}: {error}", file.display()))
}

fn theme_folders(config: &Config) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    let home = |name: &str| ProcessEnvironment.get(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if let Some(base) = home("XDG_CONFIG_HOME").or_else(|| home("HOME").map(|home| home.join(".config"))) {
        folders.push(base.join("crewlet-tui/themes"));
    }
    if let Source::File(path) = &config.source
        && let Some(folder) = path.parent()
    {
        folders.push(folder.join("themes"));
    }
    folders
}
