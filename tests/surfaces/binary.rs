//! The real program with the demo company: `serve`, `token` and `connect`.

use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::program::{Serving, command, run, text};

#[test]
fn serve_token_and_connect_find_each_other_by_the_state_folder() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path();
    assert_eq!(run(state, &["serve", "--listen", "off"]).status.code(), Some(2));
    let nobody = run(state, &["token", "show", "clerk"]);
    assert_eq!(nobody.status.code(), Some(1), "{}", text(&nobody.stderr));
    assert_eq!(run(state, &["token", "show", "nobody"]).status.code(), Some(2));

    let serving = Serving::start(state, &[]);
    let second = run(state, &["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!(second.status.code(), Some(1));
    assert!(text(&second.stderr).contains("in use by process"), "{}", text(&second.stderr));
    let other = state.join("other");
    let taken = run(state, &["serve", "--listen", &serving.address, "--state-dir", other.to_str().unwrap()]);
    assert_eq!(taken.status.code(), Some(1));
    assert!(text(&taken.stderr).contains("cannot listen on"), "{}", text(&taken.stderr));

    let token = text(&run(state, &["token", "show", "clerk"]).stdout);
    let rotated = text(&run(state, &["token", "rotate", "clerk"]).stdout);
    assert!(token.starts_with("crewlet_") && rotated.starts_with("crewlet_") && token != rotated);
    let how = text(&run(state, &["connect", "--seat", "clerk", "--help-agents"]).stdout);
    assert!(how.contains(&serving.address) && !how.contains(rotated.trim()), "{how}");

    let mut agent = command(state, &["connect", "--seat", "clerk"]);
    let mut agent = agent.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = agent.stdin.take().unwrap();
    let client = json!({"name": "t", "version": "1"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    let opening = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
    writeln!(input, "{opening}").unwrap();
    writeln!(input, "{}", json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})).unwrap();
    drop(input);
    let said = text(&agent.wait_with_output().unwrap().stdout);
    let answers: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let listed = answers.iter().find(|answer| answer["id"] == json!(2)).unwrap_or_else(|| panic!("{said}"));
    assert!(listed["result"]["tools"].is_array(), "{listed}");

    assert_eq!(serving.end(), Some(143));
    let silent = text(&run(state, &["connect", "--seat", "clerk", "--help-agents"]).stdout);
    assert!(silent.contains("No instance is running"), "{silent}");
}
