//! Every shipped theme is complete, listed, and leaves body text to the terminal.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use crewlet_tui::tui::theme::load::NAMES;
use crewlet_tui::tui::theme::{Role, Theme};
use ratatui::style::Style;

#[test]
fn every_theme_file_is_shipped_and_complete() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/themes");
    let mut files: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path())
        .inspect(|path| assert_eq!(path.extension().and_then(|e| e.to_str()), Some("yaml"), "{}", path.display()))
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    files.sort();
    let mut names = NAMES.map(str::to_owned);
    names.sort();
    assert_eq!(files, names);
    for name in NAMES {
        let text = std::fs::read_to_string(format!("{folder}/{name}.yaml")).unwrap();
        assert!(Theme::parse(&text).is_ok(), "{name}: {:?}", Theme::parse(&text).err());
    }
}

#[test]
fn body_text_is_the_terminals_own_and_what_must_be_loud_is() {
    for name in NAMES {
        let theme = Theme::builtin(name).unwrap();
        assert_eq!(theme.style(Role::Text), Style::new(), "{name}");
        for role in [Role::Alert, Role::ClassDestructive, Role::Selection, Role::Match] {
            assert_ne!(theme.style(role), Style::new(), "{name}: {}", role.name());
        }
        assert_ne!(
            theme.style(Role::ClassUnknown),
            theme.style(Role::Dim),
            "{name}: unknown is a question, not a blank"
        );
    }
}

#[test]
fn every_role_stands_apart_by_name() {
    let mut names: Vec<&str> = Role::ALL.iter().map(|role| role.name()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), Role::ALL.len());
    for (index, role) in Role::ALL.iter().enumerate() {
        assert_eq!(*role as usize, index);
    }
}
