//! The corpus of documents: every file of `configs/invalid` has one mistake and the text that it gives beside it,
//! every file of `configs/valid` loads, with the warnings beside it where it has any.
//!
//! `UPDATE_GOLDEN=1 cargo nextest run --test config_corpus` writes the texts anew; read the difference.

// Helpers of a test may panic as the test itself may.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use crewlet_tui::config::{self, Source, render};

fn corpus(kind: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/configs").join(kind);
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    files.sort();
    files
}

/// What a document says, as people see it: its errors, or its warnings.
fn said(path: &Path) -> (bool, String) {
    match config::load_file(path) {
        Ok(loaded) => (true, render(&loaded.warnings)),
        Err(problems) => (false, render(&problems)),
    }
}

/// Compares with the text beside the file; an absent one counts as empty.
fn compare(path: &Path, text: &str, differences: &mut Vec<String>) {
    let golden = path.with_extension("stderr");
    let expected = std::fs::read_to_string(&golden).unwrap_or_default();
    if expected == text {
        return;
    }
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        if text.is_empty() {
            std::fs::remove_file(&golden).unwrap();
        } else {
            std::fs::write(&golden, text).unwrap();
        }
    } else {
        differences.push(format!("{}\n--- expected\n{expected}--- found\n{text}", path.display()));
    }
}

#[test]
fn every_mistake_gives_its_text() {
    let files = corpus("invalid");
    assert!(files.len() >= 35, "{} files", files.len());
    let mut differences = Vec::new();
    for path in files {
        let (ok, text) = said(&path);
        assert!(!ok, "{} was accepted", path.display());
        compare(&path, &text, &mut differences);
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn every_valid_document_loads() {
    let files = corpus("valid");
    assert!(files.len() >= 10, "{} files", files.len());
    let mut differences = Vec::new();
    for path in files {
        let (ok, text) = said(&path);
        assert!(ok, "{}:\n{text}", path.display());
        compare(&path, &text, &mut differences);
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// The schema that editors use and the check that the program uses agree; an independent YAML reader makes the JSON.
#[test]
fn every_valid_document_fits_the_schema() {
    let validator = jsonschema::validator_for(&config::schema()).unwrap();
    for path in corpus("valid") {
        let text = std::fs::read_to_string(&path).unwrap();
        let mut value: serde_yaml::Value = serde_yaml::from_str(text.trim_start_matches('\u{feff}')).unwrap();
        value.apply_merge().unwrap();
        let json = serde_json::to_value(value).unwrap();
        let problems: Vec<_> = validator.iter_errors(&json).map(|e| format!("{}: {e}", e.instance_path())).collect();
        assert!(problems.is_empty(), "{}: {problems:#?}", path.display());
    }
}

#[test]
fn the_schema_refuses_what_no_single_field_allows() {
    let validator = jsonschema::validator_for(&config::schema()).unwrap();
    let refused = [
        serde_json::json!({"mcp_servers": [{"name": "a", "comand": "x"}]}),
        serde_json::json!({"mcp_servers": [{"command": "x"}]}),
        serde_json::json!({"mcp_servers": [{"name": "a", "command": "x", "env": {"A": 1}}]}),
        serde_json::json!({"units": [{"name": "u", "children": [{"nmae": "v"}]}]}),
        serde_json::json!({"engine": {"approvals": {"read": "maybe"}}}),
        serde_json::json!({"rolls": []}),
    ];
    for document in refused {
        assert!(!validator.is_valid(&document), "{document}");
    }
}

#[test]
fn the_demo_loads_without_a_word() {
    let loaded = config::load_source(&Source::Demo).unwrap_or_else(|problems| panic!("{}", render(&problems)));
    assert_eq!(render(&loaded.warnings), "");
}

#[test]
fn a_file_that_is_not_there_is_said() {
    let problems = config::load_file(Path::new("/nowhere/config.yaml")).unwrap_err();
    assert!(render(&problems).starts_with("config.yaml: error: cannot read /nowhere/config.yaml: "), "{problems:?}");
}
