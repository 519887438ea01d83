//! How this program is called so that it reaches an instance, for the lines that people paste into their agents.

use std::path::Path;

use super::Document;
use super::parts::state_path;
use crate::cli::{Exit, Global};
use crate::config::Source;
use crate::config::expand::{Environment, ProcessEnvironment};
use crate::engine::state_dir::StateDir;

/// How this program is called so that it finds this configuration and this state folder from any folder and with no
/// variable but `HOME`: its name, and the flags that this takes. Made fit to be shown.
///
/// # Errors
/// Those of [`super::state_folder`].
pub fn program(global: &Global) -> Result<Vec<String>, (Exit, String)> {
    let document = super::load(global).map_err(|problems| (Exit::Config, super::explain(global, &problems)))?;
    program_for(global, &document).map_err(|problem| (Exit::Failed, problem))
}

/// The same for a document that has been read.
pub(super) fn program_for(global: &Global, document: &Document) -> Result<Vec<String>, String> {
    let config = document.config();
    let mut words = vec!["crewlet-tui".to_owned()];
    let mut flag = |name: &str, path: &Path| {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        words.extend([name.to_owned(), crate::text::visible(&path.display().to_string()).into_owned()]);
    };
    if let Source::File(path) = &config.source {
        flag("--config", path);
    }
    let state = state_path(global, document)?;
    if StateDir::default_path(&config.company, &config.source, &OnlyHome).ok().as_ref() != Some(&state) {
        flag("--state-dir", &state);
    }
    Ok(words)
}

/// What programs that agents start can count on.
struct OnlyHome;

impl Environment for OnlyHome {
    fn get(&self, name: &str) -> Option<String> {
        (name == "HOME").then(|| ProcessEnvironment.get(name)).flatten()
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        global: Global,
    }

    fn words(arguments: &[&str]) -> Vec<String> {
        let line = Line::try_parse_from(["crewlet-tui"].iter().chain(arguments)).unwrap();
        program(&line.global).unwrap()
    }

    #[test]
    fn files_and_folders_are_named_from_the_root() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.yaml");
        std::fs::write(&file, "name: Acme\n").unwrap();
        let config = file.to_str().unwrap();
        assert_eq!(words(&["--config", config, "--state-dir", "here"])[..3], ["crewlet-tui", "--config", config]);
        let state = words(&["--config", config, "--state-dir", "here"]).pop().unwrap();
        assert_eq!(Path::new(&state), std::env::current_dir().unwrap().join("here"));
    }
}
