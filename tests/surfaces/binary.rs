//! The real program with the demo company: `serve`, `token` and `connect`.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const PROGRAM: &str = env!("CARGO_BIN_EXE_crewlet-tui");

fn command(state: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    // An empty folder, so that the company is the demo.
    command.args(arguments).current_dir(state).env_clear();
    for name in ["PATH", "LD_LIBRARY_PATH"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command.env("HOME", state).env("XDG_STATE_HOME", state).stdin(Stdio::null());
    command
}

fn run(state: &Path, arguments: &[&str]) -> Output {
    command(state, arguments).output().expect("it runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A running `serve`, ended when the test ends.
pub struct Serving {
    pub child: Child,
    pub address: String,
}

impl Serving {
    pub fn start(state: &Path) -> Self {
        let mut command = command(state, &["serve", "--listen", "127.0.0.1:0"]);
        let mut child = command.stderr(Stdio::piped()).spawn().expect("it starts");
        let mut said = String::new();
        let mut stderr = child.stderr.take().unwrap();
        let mut byte = [0_u8];
        while !said.ends_with('\n') && stderr.read(&mut byte).unwrap() == 1 {
            said.push(char::from(byte[0]));
        }
        let address = said.trim().rsplit("http://").next().unwrap().to_owned();
        assert!(said.contains("serving on http://127.0.0.1:"), "{said}");
        Self { child, address }
    }

    fn end(mut self) -> Option<i32> {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        let until = Instant::now() + Duration::from_secs(20);
        loop {
            match self.child.try_wait().unwrap() {
                Some(status) => return status.code(),
                None if Instant::now() > until => panic!("it does not end"),
                None => std::thread::yield_now(),
            }
        }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn serve_token_and_connect_find_each_other_by_the_state_folder() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path();
    assert_eq!(run(state, &["serve", "--listen", "off"]).status.code(), Some(2));
    let nobody = run(state, &["token", "show", "default"]);
    assert_eq!(nobody.status.code(), Some(1), "{}", text(&nobody.stderr));
    assert_eq!(run(state, &["token", "show", "nobody"]).status.code(), Some(2));

    let serving = Serving::start(state);
    let second = run(state, &["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!(second.status.code(), Some(1));
    assert!(text(&second.stderr).contains("in use by process"), "{}", text(&second.stderr));
    let other = state.join("other");
    let taken = run(state, &["serve", "--listen", &serving.address, "--state-dir", other.to_str().unwrap()]);
    assert_eq!(taken.status.code(), Some(1));
    assert!(text(&taken.stderr).contains("cannot listen on"), "{}", text(&taken.stderr));

    let token = text(&run(state, &["token", "show", "default"]).stdout);
    let rotated = text(&run(state, &["token", "rotate", "default"]).stdout);
    assert!(token.starts_with("crewlet_") && rotated.starts_with("crewlet_") && token != rotated);
    let how = text(&run(state, &["connect", "--seat", "default", "--help-agents"]).stdout);
    assert!(how.contains(&serving.address) && !how.contains(rotated.trim()), "{how}");

    let mut agent = command(state, &["connect", "--seat", "default"]);
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
    let silent = text(&run(state, &["connect", "--seat", "default", "--help-agents"]).stdout);
    assert!(silent.contains("No instance is running"), "{silent}");
}
