//! The house rules that a test can see: which module may mention what, file sizes, file headers, and that the
//! logic names no vendor.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stderr,
    reason = "a test that cannot go on says why"
)]

use std::fs;
use std::path::{Path, PathBuf};

fn sources(folder: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)];
    while let Some(folder) = folders.pop() {
        for item in fs::read_dir(&folder).expect("a source folder can be read") {
            let path = item.expect("a folder entry can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).expect("a source file can be read");
                found.push((path, text));
            }
        }
    }
    assert!(!found.is_empty(), "{folder} holds no sources");
    found
}

/// The code of a file: without comments, and without its test module where that stands at the end.
fn code(text: &str) -> String {
    let end = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    let lines = text[..end].lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

fn is_test_file(path: &Path) -> bool {
    let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
    name.ends_with("tests") || path.components().any(|part| part.as_os_str() == "tests")
}

fn offenders(folders: &[&str], words: &[&str], allowed: &[&str]) -> Vec<String> {
    let mut offenders = Vec::new();
    for folder in folders {
        for (path, text) in sources(folder) {
            if is_test_file(&path) || allowed.iter().any(|allowed| path.ends_with(allowed)) {
                continue;
            }
            let code = code(&text);
            for word in words.iter().filter(|word| code.contains(**word)) {
                offenders.push(format!("{} mentions {word}", path.display()));
            }
        }
    }
    offenders
}

#[test]
fn the_engine_does_not_know_the_screen() {
    let found = offenders(
        &["src/engine", "src/tool", "src/config", "src/org", "src/demo", "src/surface", "src/native", "src/store"],
        &["ratatui", "crossterm", "tui_textarea", "crate::tui"],
        &[],
    );
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn the_screen_does_not_know_the_protocol_or_the_disk() {
    let words = ["rmcp", "reqwest", "std::fs", "tokio::fs", "crate::engine::connection", "crate::engine::audit"];
    assert_eq!(offenders(&["src/tui"], &words, &[]), Vec::<String>::new());
}

#[test]
fn only_the_store_knows_the_database() {
    let folders = ["src/engine", "src/native", "src/surface", "src/run", "src/cli", "src/tui", "src/tool"];
    assert_eq!(offenders(&folders, &["rusqlite"], &[]), Vec::<String>::new());
    // What it keeps is its business; who asks for it is not.
    let others = ["crate::engine", "crate::native", "crate::surface", "crate::config"];
    assert_eq!(offenders(&["src/store"], &others, &[]), Vec::<String>::new());
    assert_eq!(offenders(&["src/engine", "src/tui"], &["crate::native", "crate::store"], &[]), Vec::<String>::new());
}

#[test]
fn surfaces_reach_tools_through_the_handle_only() {
    let words = ["engine::connection", "engine::audit", "engine::call", "engine::core", "gate::desk", "gate::permit"];
    assert_eq!(offenders(&["src/surface"], &words, &[]), Vec::<String>::new());
    assert_eq!(offenders(&["src/engine", "src/tui"], &["crate::surface"], &[]), Vec::<String>::new());
}

#[test]
fn pure_modules_do_no_io_and_know_no_clock() {
    let words = ["tokio", "std::fs", "std::env", "std::process", "Instant::now", "Timestamp::now", "rmcp"];
    assert_eq!(offenders(&["src/tool", "src/org"], &words, &[]), Vec::<String>::new());
}

#[test]
fn only_the_protocol_files_know_the_protocol_crate() {
    let found: Vec<String> = sources("src")
        .into_iter()
        .filter(|(path, text)| !is_test_file(path) && code(text).contains("rmcp::"))
        .map(|(path, _)| path.display().to_string())
        .filter(|path| !path.contains("src/engine/connection/"))
        .collect();
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn only_the_terminal_writes_to_standard_output_while_the_screen_is_up() {
    let found = offenders(
        &["src/tui", "src/engine"],
        &["std::io::stdout", "io::stdout()", "io::stderr()"],
        &["tui/terminal.rs"],
    );
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn only_the_theme_names_colours() {
    // The terminal's encoder has to know every colour to write its code; it chooses none.
    let allowed = ["theme/mod.rs", "theme/load.rs", "theme/color.rs", "terminal/encode.rs"];
    let found = offenders(&["src/tui"], &["Color::"], &allowed);
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn the_logic_names_no_vendor() {
    // Shapes of secrets in `secret` are no knowledge of a tool.
    let words = ["slack_", "jira_", "github_", "confluence", "atlassian", "linear", "notion", "gitlab_", "copilot"];
    let words: Vec<String> = words.iter().map(|word| format!("\"{word}")).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let found = offenders(&["src"], &words, &["secret.rs", "secret/patterns.rs"]);
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn unsafe_code_stands_in_one_place() {
    let found: Vec<String> = sources("src")
        .into_iter()
        .filter(|(_, text)| ["allow(unsafe_code", "expect(unsafe_code"].iter().any(|word| code(text).contains(word)))
        .map(|(path, _)| path.display().to_string())
        .collect();
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn files_open_with_what_they_own_and_stay_short() {
    let mut found = Vec::new();
    for (path, text) in sources("src") {
        if !text.starts_with("//!") {
            found.push(format!("{} does not open with //!", path.display()));
        }
        let lines = text.lines().count();
        let limit = if is_test_file(&path) { 700 } else { 500 };
        if lines > limit {
            found.push(format!("{} has {lines} lines, more than {limit}", path.display()));
        }
    }
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn nothing_is_left_behind() {
    let marks = ["todo!(", "unimplemented!(", "#[ignore", concat!("TO", "DO"), concat!("FIX", "ME")];
    let found: Vec<String> = ["src", "tests"]
        .into_iter()
        .flat_map(sources)
        .filter(|(path, _)| !path.ends_with("tidy.rs"))
        .flat_map(|(path, text)| {
            let hits = marks.iter().filter(move |mark| text.contains(**mark));
            hits.map(|mark| format!("{}: {mark}", path.display())).collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(found, Vec::<String>::new());
}

/// What stands between two marks of the README is this table.
fn shown_in_the_readme(mark: &str, table: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = fs::read_to_string(&path).expect("README.md");
    let start =
        readme.find(&format!("<!-- {mark}")).and_then(|at| Some(at + readme[at..].find('\n')? + 1)).expect("the mark");
    let end = readme.find(&format!("<!-- /{mark} -->")).expect("the end mark");
    let table = format!("{}\n\n", table.trim());
    if std::env::var_os("UPDATE_README").is_some() {
        fs::write(&path, format!("{}\n{table}{}", &readme[..start], &readme[end..])).expect("README.md is written");
        return;
    }
    assert_eq!(readme[start..end].trim(), table.trim(), "UPDATE_README=1 cargo test --test tidy");
}

#[test]
fn the_readme_shows_the_keys_of_the_program() {
    shown_in_the_readme("keys", &crewlet_tui::tui::keymap::markdown());
}

#[test]
fn the_readme_shows_the_tools_of_the_program() {
    shown_in_the_readme("tools", &crewlet_tui::native::table::markdown());
}

#[test]
fn nothing_names_what_is_not_part_of_the_project() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = fs::read_to_string(root.join("README.md")).expect("README.md");
    for link in readme.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
        let local = !link.starts_with("http") && !link.starts_with('#');
        assert!(!local || root.join(link).exists(), "README.md links to {link}, which is not there");
    }
}
