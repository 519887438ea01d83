//! Finding and reading what the person wrote: the configuration and the theme.

use std::path::PathBuf;
use std::sync::Arc;

use crate::cli::Global;
use crate::config::diagnostic::{self, Diagnostic};
use crate::config::expand::{Environment, ProcessEnvironment};
use crate::config::model::{Config, Source, TuiSettings, Unresolved};
use crate::config::resolve::Owner;
use crate::config::{self, Loaded};
use crate::tui;
use crate::tui::theme::load::NAMES;

/// Longest theme file that is read, in bytes.
const LONGEST_THEME: u64 = 64 << 10;

/// A valid configuration with what should be said about it.
#[derive(Clone, Debug)]
pub struct Document {
    /// The text it was read from.
    pub text: Arc<str>,
    /// The configuration and its warnings.
    pub loaded: Arc<Loaded>,
    /// Variables without a value, with what needs them.
    pub unresolved: Vec<(Owner, Unresolved)>,
}

impl Document {
    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.loaded.config
    }

    /// Warnings.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.loaded.warnings
    }
}

/// Finds, reads and validates the configuration.
///
/// # Errors
/// Every problem of the document at once.
pub fn load(global: &Global) -> Result<Document, Vec<Diagnostic>> {
    let source = config::find(global.config.as_deref(), &ProcessEnvironment);
    let text = config::read_text(&source)?;
    let loaded = config::load(&text, &source)?;
    Ok(Document {
        text: text.into(),
        unresolved: loaded.config.unresolved(&ProcessEnvironment),
        loaded: Arc::new(loaded),
    })
}

/// Problems of a document for people. Their lines name the file without its folder; where that does not say which
/// file it is, the first line does.
pub fn explain(global: &Global, problems: &[Diagnostic]) -> String {
    let text = diagnostic::render(problems);
    let text = text.trim_end();
    match config::find(global.config.as_deref(), &ProcessEnvironment) {
        Source::File(path) if path.parent().is_some_and(|folder| !folder.as_os_str().is_empty()) => {
            format!("in {}:\n{text}", crate::text::visible(&path.display().to_string()))
        }
        _ => text.to_owned(),
    }
}

/// The screen that the command line, the configuration and the terminal ask for.
///
/// # Errors
/// One line that names the theme or key and what is wrong with it.
pub fn screen(global: &Global, config: &Config) -> Result<tui::Options, String> {
    let asked = global.theme.as_deref().or(config.tui.theme.as_deref()).map(Arc::<str>::from);
    let own = match asked.as_deref() {
        Some(name) if !NAMES.contains(&name) => Some(read_theme(name, config)?),
        _ => None,
    };
    let settings = TuiSettings { theme: asked, ..config.tui.clone() };
    tui::Options::new(settings, &ProcessEnvironment, own.as_deref()).map_err(|error| error.to_string())
}

fn read_theme(name: &str, config: &Config) -> Result<String, String> {
    let shown = crate::text::visible(name).into_owned();
    if name.contains(['/', '\\']) || name.starts_with('.') {
        return Err(format!("theme \"{shown}\": a theme is named without a path and without .yaml"));
    }
    let folders = theme_folders(config);
    let files: Vec<PathBuf> = folders.iter().map(|folder| folder.join(format!("{name}.yaml"))).collect();
    let Some(file) = files.iter().find(|file| file.is_file()) else {
        let places: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
        let shipped = NAMES.join(", ");
        return Err(format!(
            "there is no theme \"{shown}\"; shipped are {shipped}; looked in {}",
            places.join(" and ")
        ));
    };
    if std::fs::metadata(file).is_ok_and(|metadata| metadata.len() > LONGEST_THEME) {
        return Err(format!("{}: longer than {LONGEST_THEME} bytes", file.display()));
    }
    std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))
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
