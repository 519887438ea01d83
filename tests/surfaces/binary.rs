//! The real program with the demo company: `serve`, `token` and `connect`; and what `check` ends with.

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

#[test]
fn check_tells_the_next_step_of_what_failed_and_ends_with_a_verdict() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path();
    let untried = run(state, &["check"]);
    assert_eq!(untried.status.code(), Some(0));
    let said = text(&untried.stdout);
    assert!(said.ends_with("the configuration is valid; --connect also starts every server\n"), "{said}");
    // The demo has a server that fails on purpose.
    let tried = run(state, &["check", "--connect"]);
    assert_eq!(tried.status.code(), Some(1));
    let said = text(&tried.stdout);
    assert!(said.contains("next: export LEDGER_API_TOKEN"), "{said}");
    assert!(said.ends_with("but not every server comes up: 1 of 8 failed\n"), "{said}");
}

#[test]
fn check_fails_for_an_operator_that_nobody_could_come_in_as_whether_servers_start_or_not() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path();
    let document = "name: A\nmcp_servers: []\noperators: [ { id: bridge, token: '${BRIDGE_TOKEN}' } ]\n";
    std::fs::write(state.join("config.yaml"), document).unwrap();
    for (value, problem) in [(None, "is not set"), (Some("short"), "is shorter than 16 characters")] {
        for arguments in [&["check"][..], &["check", "--connect"]] {
            let mut check = command(state, arguments);
            check.envs(value.map(|value| ("BRIDGE_TOKEN", value)));
            let output = check.output().unwrap();
            let said = text(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{arguments:?} {said}");
            assert!(
                said.contains(&format!(
                    "config.yaml:3:35: error: operators[0].token: environment variable BRIDGE_TOKEN {problem}"
                )),
                "{said}"
            );
            assert!(text(&output.stdout).ends_with("but something named above has no usable value\n"));
        }
    }
}

#[test]
fn what_cannot_be_found_is_told_with_the_command_that_lists_it() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path();
    let said = |arguments: &[&str]| text(&run(state, arguments).stderr);
    assert!(said(&["call", "nope"]).contains("`crewlet-tui tools` lists what there is"));
    assert!(said(&["skill", "show", "clerk", "nope"]).contains("`crewlet-tui skill list SEAT` names them"));
    let missing = said(&["skill", "add", "clerk", "x", "nowhere.md"]);
    assert!(missing.contains("cannot read nowhere.md") && missing.contains("or - for standard input"), "{missing}");
    assert!(said(&[]).contains("`crewlet-tui serve`"));
    let help = text(&run(state, &["--help"]).stdout);
    assert!(help.contains("Without a command the dashboard starts"), "{help}");
}
