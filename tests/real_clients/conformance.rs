//! The protocol's conformance suite, on both sides of the program: against a seat's endpoint with a server behind it
//! that offers what the scenarios want, and with the program as the client of the suite's own servers.
//!
//! What fails and why it may is in `tests/conformance/out-of-scope.yaml`; a scenario in there that passes is a failure
//! too, so the file only ever shrinks.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::Clients;
use crate::door::Door;
use crate::program::{PROGRAM, Serving, run, text};

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance").join(name)
}

fn suite(clients: &Clients, arguments: &[&str]) -> Output {
    let mut command = Command::new(clients.program("conformance"));
    command.args(arguments).env_clear().envs(clients.environment()).env("CREWLET_TUI", PROGRAM);
    command.current_dir(clients.home()).stdin(Stdio::null()).output().expect("the suite runs")
}

/// What the suite says, checked against the list of what is out of scope.
fn judged(clients: &Clients, arguments: &[&str]) -> (bool, String) {
    let (baseline, results) = (file("out-of-scope.yaml"), clients.home().join("results"));
    let more = ["--expected-failures", baseline.to_str().unwrap(), "--output-dir", results.to_str().unwrap()];
    let output = suite(clients, &[arguments, &more].concat());
    (output.status.success(), text(&output.stdout) + &text(&output.stderr))
}

/// Waits until the fixture's tools are offered.
fn until_listed(door: u16) {
    let began = Instant::now();
    loop {
        let mut socket = TcpStream::connect(("127.0.0.1", door)).expect("the door is open");
        write!(socket, "GET /tools HTTP/1.1\r\nHost: 127.0.0.1:{door}\r\n\r\n").expect("asked");
        let mut said = String::new();
        socket.read_to_string(&mut said).expect("answered");
        if said.contains("test_simple_text") {
            return;
        }
        assert!(began.elapsed() < Duration::from_secs(30), "the fixture does not come up: {said}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_seats_endpoint_conforms() {
    let Some(clients) = Clients::find() else { return };
    let (home, server) = (clients.home(), file("server.py"));
    let config = home.join("config.yaml");
    let document = format!(
        "name: Conformance\n\
         mcp_servers: [{{ name: fixture, command: python3, args: [\"{}\"], restart: never }}]\n\
         engine: {{ approvals: {{ read: allow, write: allow, destructive: allow, unknown: allow }} }}\n",
        server.display(),
    );
    std::fs::write(&config, document).expect("a config");
    let config = ["--config", config.to_str().unwrap()];
    let serving = Serving::start(home, &config);
    let token = text(&run(home, &[&config[..], &["token", "show", "default"]].concat()).stdout);
    let door = Door::open(&serving.address, token.trim());
    until_listed(door);
    let url = format!("http://127.0.0.1:{door}/seats/default/mcp");
    let (good, said) = judged(&clients, &["server", "--suite", "all", "--url", &url]);
    assert!(good, "{said}");
    assert_eq!(serving.end(), Some(143));
}

/// The scenario that measures when a client comes back.
const PUNCTUAL: &str = "sse-retry";

fn conforms_as_a_client(clients: &Clients, name: &str) -> Result<(), String> {
    let client = file("client.sh");
    let (good, said) = judged(clients, &["client", "--command", client.to_str().unwrap(), "--scenario", name]);
    if good { Ok(()) } else { Err(format!("== {name}\n{said}")) }
}

#[test]
fn as_a_client_the_program_conforms() {
    let Some(clients) = Clients::find() else { return };
    let listed = text(&suite(&clients, &["list", "--client"]).stdout);
    let names = listed.lines().filter_map(|line| line.trim().strip_prefix("- ")?.split(' ').next());
    let names: Vec<&str> = names.filter(|name| *name != PUNCTUAL).collect();
    assert!(names.contains(&"tools_call"), "{listed}");
    let failed = names.into_iter().filter_map(|name| conforms_as_a_client(&clients, name).err());
    let failed: Vec<String> = failed.collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn as_a_client_the_program_comes_back_when_it_is_told_to() {
    let Some(clients) = Clients::find() else { return };
    conforms_as_a_client(&clients, PUNCTUAL).unwrap_or_else(|said| panic!("{said}"));
}
