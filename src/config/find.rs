//! Which document the program reads: the search order, and nothing about what is in it.

use std::path::{Path, PathBuf};

use super::expand::Environment;
use super::model::Source;

/// The document to read: the one named on the command line, `$CREWLET_CONFIG`, `./config.yaml`, the user's own
/// (`$XDG_CONFIG_HOME/crewlet-tui/config.yaml`, by default below `~/.config`), else the demo. A file that was named
/// is returned whether or not it exists: that it is missing has to be said.
pub fn find(explicit: Option<&Path>, environment: &dyn Environment) -> Source {
    let named = explicit.map(Path::to_owned).or_else(|| variable(environment, "CREWLET_CONFIG"));
    if let Some(path) = named {
        return Source::File(path);
    }
    let home = variable(environment, "XDG_CONFIG_HOME")
        .filter(|path| path.is_absolute())
        .or_else(|| variable(environment, "HOME").map(|home| home.join(".config")));
    let own = home.map(|home| home.join("crewlet-tui").join("config.yaml"));
    let candidates = [Some(PathBuf::from("config.yaml")), own];
    candidates.into_iter().flatten().find(|path| path.exists()).map_or(Source::Demo, Source::File)
}

fn variable(environment: &dyn Environment, name: &str) -> Option<PathBuf> {
    environment.get(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn the_first_named_or_existing_file_is_taken() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("crewlet-tui");
        let own = folder.join("config.yaml");
        let xdg = ("XDG_CONFIG_HOME".to_owned(), home.path().to_string_lossy().into_owned());
        let named = ("CREWLET_CONFIG".to_owned(), "/nowhere/c.yaml".to_owned());
        let environment = HashMap::from([xdg.clone()]);
        assert_eq!(find(None, &environment), Source::Demo);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(&own, "name: x").unwrap();
        assert_eq!(find(None, &environment), Source::File(own));
        let environment = HashMap::from([xdg, named]);
        assert_eq!(find(None, &environment), Source::File("/nowhere/c.yaml".into()));
        assert_eq!(find(Some(Path::new("x.yaml")), &environment), Source::File("x.yaml".into()));
        assert_eq!(find(None, &HashMap::from([("XDG_CONFIG_HOME".to_owned(), String::new())])), Source::Demo);
    }
}
