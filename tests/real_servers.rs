//! Real third-party servers, driven by the real binary: connect, list, call, refuse, approve, fail with a tail.
//!
//! `tests/support/install_real_servers.sh` installs them. Where they are not installed each test says so and ends.

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
use std::net::{TcpListener, TcpStream};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

fn home() -> PathBuf {
    let chosen = std::env::var_os("CREWLET_REAL_SERVERS").map(PathBuf::from);
    chosen.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("target/real-servers"))
}

/// The path of an installed server, or `None` after saying that the test is skipped.
fn installed(path: &str) -> Option<PathBuf> {
    let path = home().join(path);
    if path.exists() {
        return Some(path);
    }
    eprintln!("skipped: {} is not installed (tests/support/install_real_servers.sh)", path.display());
    None
}

fn npm(name: &str) -> Option<PathBuf> {
    installed(&format!("npm/node_modules/.bin/{name}"))
}

fn pypi(name: &str) -> Option<PathBuf> {
    installed(&format!("py/{name}/bin/{name}"))
}

/// A company with one server, in a folder of its own. `{mark}` in its text stands for that folder: set as a
/// variable, it finds every process that works for it.
struct Company {
    folder: tempfile::TempDir,
}

impl Company {
    fn new(server: &str) -> Self {
        let indented: Vec<String> = server.lines().map(|line| format!("    {line}")).collect();
        Self::of(&format!("name: Real\nmcp_servers:\n  - name: real\n{}\n", indented.join("\n")))
    }

    /// A whole configuration.
    fn of(config: &str) -> Self {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let config = config.replace("{mark}", &folder.path().display().to_string());
        fs::write(folder.path().join("config.yaml"), config).expect("a config");
        Self { folder }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_crewlet-tui"));
        command
            .args(["--config", &self.path().join("config.yaml").display().to_string()])
            .args(["--state-dir", &self.path().join("state").display().to_string()])
            .args(arguments);
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).stdin(Stdio::null()).output().expect("the binary runs")
    }

    fn tools(&self) -> Vec<Value> {
        let output = self.run(&["tools", "--json"]);
        assert!(output.status.success(), "{}", told(&output));
        serde_json::from_slice(&output.stdout).expect("a JSON array")
    }

    fn call(&self, tool: &str, arguments: &str, more: &[&str]) -> (i32, Value) {
        let output = self.run(&[&["call", tool, "--json", "--args", arguments], more].concat());
        let code = output.status.code().expect("an exit code");
        (code, serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", told(&output))))
    }

    fn audit(&self) -> String {
        fs::read_to_string(self.path().join("state/audit.jsonl")).expect("a trail")
    }
}

fn told(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn text(report: &Value) -> &str {
    report["content"][0]["text"].as_str().unwrap_or_default()
}

fn tool<'t>(tools: &'t [Value], name: &str) -> &'t Value {
    tools.iter().find(|tool| tool["name"] == name).unwrap_or_else(|| panic!("no tool {name}"))
}

#[test]
fn everything_lists_and_answers() {
    let Some(command) = npm("mcp-server-everything") else { return };
    let company = Company::new(&format!("command: {}\nargs: [stdio]", command.display()));
    let tools = company.tools();
    assert!(tools.len() >= 8, "{} tools", tools.len());
    assert!(tools.iter().all(|tool| tool["annotations"]["destructive"] != Value::Null));
    let (code, report) = company.call("echo", r#"{"message":"grüße 👋"}"#, &["--approve"]);
    assert_eq!(code, 0, "{report}");
    assert!(text(&report).contains("grüße 👋"), "{report}");
}

#[test]
fn filesystem_asks_before_it_overwrites_and_does_what_was_approved() {
    let Some(command) = npm("mcp-server-filesystem") else { return };
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let scratch = scratch.path().canonicalize().expect("a real path");
    let company = Company::new(&format!("command: {}\nargs: [\"{}\"]", command.display(), scratch.display()));
    let tools = company.tools();
    assert_eq!(tool(&tools, "read_text_file")["class"], "read");
    assert_eq!(tool(&tools, "write_file")["class"], "destructive");
    assert_eq!(tool(&tools, "write_file")["sources"]["destructive"], "server");
    let file = scratch.join("note.txt");
    let arguments = serde_json::json!({"path": file.display().to_string(), "content": "approved"}).to_string();
    let (code, report) = company.call("write_file", &arguments, &[]);
    assert_eq!((code, report["outcome"].as_str()), (3, Some("refused")), "{report}");
    assert!(!file.exists(), "a refused call does nothing");
    let (code, report) = company.call("write_file", &arguments, &["--approve"]);
    assert_eq!((code, report["outcome"].as_str()), (0, Some("done")), "{report}");
    assert_eq!(fs::read_to_string(&file).expect("written"), "approved");
    let read = serde_json::json!({"path": file.display().to_string()}).to_string();
    let (code, report) = company.call("real/read_text_file", &read, &[]);
    assert_eq!((code, text(&report)), (0, "approved"), "{report}");
    let trail = company.audit();
    assert_eq!(trail.lines().filter(|line| line.contains(r#""kind":"dispatched""#)).count(), 2);
    let verified = company.run(&["audit", "verify"]);
    assert!(verified.status.success(), "{}", told(&verified));
}

#[test]
fn memory_keeps_its_graph_where_it_is_told() {
    let Some(command) = npm("mcp-server-memory") else { return };
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let file = scratch.path().join("graph.json");
    let company =
        Company::new(&format!("command: {}\nenv: {{ MEMORY_FILE_PATH: \"{}\" }}", command.display(), file.display()));
    let entity = r#"{"entities":[{"name":"Ada","entityType":"person","observations":["likes proofs"]}]}"#;
    let (code, report) = company.call("create_entities", entity, &["--approve"]);
    assert_eq!(code, 0, "{report}");
    assert!(fs::read_to_string(file).expect("written").contains("likes proofs"));
}

#[test]
fn git_reports_a_scratch_repository() {
    let Some(command) = pypi("mcp-server-git") else { return };
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let repository = scratch.path().display().to_string();
    let git =
        |arguments: &[&str]| Command::new("git").arg("-C").arg(&repository).args(arguments).output().expect("git");
    assert!(git(&["init", "-q"]).status.success());
    fs::write(scratch.path().join("new.txt"), "new").expect("written");
    let company = Company::new(&format!("command: {}\nargs: [--repository, \"{repository}\"]", command.display()));
    let arguments = serde_json::json!({"repo_path": repository}).to_string();
    let (code, report) = company.call("git_status", &arguments, &["--approve"]);
    assert_eq!(code, 0, "{report}");
    assert!(text(&report).contains("new.txt"), "{report}");
}

#[test]
fn time_answers_and_says_what_is_wrong() {
    let Some(command) = pypi("mcp-server-time") else { return };
    let company = Company::new(&format!("command: {}", command.display()));
    let (code, report) = company.call("get_current_time", r#"{"timezone":"UTC"}"#, &["--approve"]);
    assert_eq!(code, 0, "{report}");
    let (code, report) = company.call("get_current_time", r#"{"timezone":"Nowhere/Land"}"#, &["--approve"]);
    assert_eq!((code, report["is_error"].as_bool()), (1, Some(true)), "{report}");
}

#[test]
fn a_slow_server_with_many_tools_comes_up() {
    let Some(command) = pypi("mcp-atlassian") else { return };
    let company = Company::new(&format!(
        "command: {}\nenv:\n  JIRA_URL: https://jira.invalid\n  JIRA_USERNAME: nobody\n  JIRA_API_TOKEN: not-a-token\n  CONFLUENCE_URL: https://wiki.invalid\n  CONFLUENCE_USERNAME: nobody\n  CONFLUENCE_API_TOKEN: not-a-token\n  MARK: \"{{mark}}\"",
        command.display()
    ));
    let tools = company.tools();
    assert!(tools.len() >= 60, "{} tools", tools.len());
    assert!(tools.iter().any(|tool| tool["class"] == "read"));
    assert_no_process(&company);
}

#[test]
fn a_wrapper_is_gone_with_its_server() {
    let Some(_) = npm("tavily-mcp") else { return };
    let company = Company::new(&format!(
        "command: npm\nargs: [exec, --offline, --, tavily-mcp]\ncwd: \"{}\"\nenv: {{ TAVILY_API_KEY: not-a-key, MARK: \"{{mark}}\" }}",
        home().join("npm").display(),
    ));
    let tools = company.tools();
    assert!(!tools.is_empty());
    assert_no_process(&company);
}

#[test]
fn a_server_without_credentials_fails_and_says_why() {
    let Some(command) = npm("mcp-server-slack") else { return };
    let company = Company::new(&format!("command: {}\nrestart: never", command.display()));
    let output = company.run(&["check", "--connect", "--json"]);
    assert_eq!(output.status.code(), Some(1), "{}", told(&output));
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(report["servers"][0]["status"], "failed");
    let reason = report["servers"][0]["reason"].as_str().unwrap_or_default();
    assert!(reason.contains("exit 1") && reason.contains("SLACK_BOT_TOKEN"), "{reason}");
    assert_eq!(tails(&company), 1, "exactly one tail for the failed start");
}

#[test]
fn a_server_that_dies_at_import_says_what_is_missing() {
    let Some(command) = pypi("mcp-linear") else { return };
    let company = Company::new(&format!("command: {}\nrestart: never", command.display()));
    let output = company.run(&["check", "--connect", "--json"]);
    assert_eq!(output.status.code(), Some(1), "{}", told(&output));
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let reason = report["servers"][0]["reason"].as_str().unwrap_or_default();
    assert!(reason.contains("Error"), "the last line of the traceback: {reason}");
    assert_eq!(tails(&company), 1);
}

/// A server that somebody else runs, as a remote one is. It ends with the test.
struct Remote {
    child: Child,
    port: u16,
}

impl Remote {
    /// Starts `command`, which is told its port, and waits until something listens there.
    fn start(command: impl FnOnce(u16) -> Command) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("its number").port();
        Self::start_at(port, command)
    }

    fn start_at(port: u16, command: impl FnOnce(u16) -> Command) -> Self {
        let mut command = command(port);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        let remote = Self { child: command.spawn().expect("it starts"), port };
        let began = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() && TcpStream::connect(("::1", port)).is_err() {
            assert!(began.elapsed() < Duration::from_secs(120), "nothing listens on {port}");
            std::thread::sleep(Duration::from_millis(50));
        }
        remote
    }

    fn company(&self, path: &str) -> Company {
        self.company_with(path, r#"X-Test: "1""#)
    }

    fn company_with(&self, path: &str, header: &str) -> Company {
        let port = self.port;
        Company::new(&format!("transport: http\nurl: http://127.0.0.1:{port}{path}\nheaders: {{ {header} }}"))
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        let group = rustix::process::Pid::from_child(&self.child);
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        let _ = self.child.wait();
    }
}

#[test]
fn everything_lists_and_answers_over_both_http_transports() {
    let Some(everything) = npm("mcp-server-everything") else { return };
    for (mode, path) in [("streamableHttp", "/mcp"), ("sse", "/sse")] {
        let remote = Remote::start(|port| {
            let mut command = Command::new(&everything);
            command.arg(mode).env("PORT", port.to_string());
            command
        });
        let company = remote.company(path);
        assert!(company.tools().len() >= 8, "{mode}");
        let (code, report) = company.call("echo", r#"{"message":"grüße 👋"}"#, &["--approve"]);
        assert_eq!(code, 0, "{mode}: {report}");
        assert!(text(&report).contains("grüße 👋"), "{mode}: {report}");
    }
}

const SMALL_SERVER: &str = r#"
import sys
from fastmcp import FastMCP
server = FastMCP("small")

@server.tool(annotations={"readOnlyHint": True})
def add(a: int, b: int) -> int:
    return a + b

@server.tool
def fail(why: str) -> str:
    raise ValueError(why)

stateless = sys.argv[2] == "stateless"
server.run(transport="http", host="127.0.0.1", port=int(sys.argv[1]), show_banner=False,
           stateless_http=stateless, json_response=stateless)
"#;

#[test]
fn a_small_fastmcp_server_answers_with_sessions_and_without() {
    let Some(python) = installed("py/mcp-atlassian/bin/python") else { return };
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let script = scratch.path().join("small.py");
    fs::write(&script, SMALL_SERVER).expect("a script");
    for mode in ["sessions", "stateless"] {
        let remote = Remote::start(|port| {
            let mut command = Command::new(&python);
            command.arg(&script).arg(port.to_string()).arg(mode);
            command
        });
        let company = remote.company("/mcp");
        let tools = company.tools();
        assert_eq!(tool(&tools, "add")["class"], "read", "{mode}");
        let (code, report) = company.call("add", r#"{"a":40,"b":2}"#, &[]);
        assert_eq!((code, text(&report)), (0, "42"), "{mode}: {report}");
        let (code, report) = company.call("fail", r#"{"why":"on purpose"}"#, &["--approve"]);
        assert_eq!((code, report["is_error"].as_bool()), (1, Some(true)), "{mode}: {report}");
        let there = remote.company("/nowhere").run(&["check", "--connect", "--json"]);
        assert_eq!(there.status.code(), Some(1), "{}", told(&there));
        assert!(told(&there).contains("HTTP 404"), "{}", told(&there));
    }
}

#[test]
fn a_server_that_wants_credentials_is_told_apart_and_lists_with_them_over_http() {
    let Some(command) = pypi("mcp-atlassian") else { return };
    let remote = Remote::start(|port| {
        let mut server = Command::new(&command);
        server.args(["--transport", "streamable-http", "--host", "127.0.0.1", "--port", &port.to_string()]);
        for (name, value) in [
            ("JIRA_URL", "https://jira.invalid"),
            ("JIRA_USERNAME", "nobody"),
            ("JIRA_API_TOKEN", "not-a-token"),
            ("CONFLUENCE_URL", "https://wiki.invalid"),
            ("CONFLUENCE_USERNAME", "nobody"),
            ("CONFLUENCE_API_TOKEN", "not-a-token"),
        ] {
            server.env(name, value);
        }
        server
    });
    let refused = remote.company("/mcp").run(&["check", "--connect", "--json"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(told(&refused).contains("HTTP 401: unauthorized"), "{}", told(&refused));
    // nobody:nothing
    let company = remote.company_with("/mcp", r#"Authorization: "Basic bm9ib2R5Om5vdGhpbmc=""#);
    let tools = company.tools();
    assert!(tools.len() >= 60, "{} tools", tools.len());
}

/// `server_stderr_tail` events in the log file.
fn tails(company: &Company) -> usize {
    let logs = fs::read_dir(company.path().join("state/logs")).expect("a log folder");
    let texts = logs.map(|file| fs::read_to_string(file.expect("a log file").path()).expect("readable"));
    texts.map(|text| text.matches("server_stderr_tail").count()).sum()
}

/// No process is left that has the company's mark in its environment.
fn assert_no_process(company: &Company) {
    let mark = company.path().display().to_string();
    let processes = fs::read_dir("/proc").expect("/proc");
    for process in processes.flatten() {
        let Ok(environment) = fs::read(process.path().join("environ")) else { continue };
        let left = String::from_utf8_lossy(&environment).contains(&format!("MARK={mark}"));
        assert!(!left, "left behind: {}", process.path().display());
    }
}

/// Each message on its own line to `connect`, and the answers to those with an id, in order.
fn relayed(company: &Company, seat: &str, messages: &[Value]) -> Vec<Value> {
    use std::io::{BufRead as _, BufReader, Write as _};
    let mut relay = company
        .command(&["connect", "--seat", seat])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the relay starts");
    let (mut input, output) = (relay.stdin.take().expect("a pipe"), relay.stdout.take().expect("a pipe"));
    let mut lines = BufReader::new(output).lines();
    let mut answers = Vec::new();
    for message in messages {
        writeln!(input, "{message}").expect("the relay reads");
        while !message["id"].is_null() {
            let line = lines.next().expect("an answer").expect("text");
            let answer: Value = serde_json::from_str(&line).expect("JSON");
            if answer["id"] == message["id"] {
                answers.push(answer);
                break;
            }
        }
    }
    drop(input);
    relay.wait().expect("the relay ends");
    answers
}

fn ask(id: u32, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

fn hello() -> Value {
    let client = json!({"name": "test", "version": "1"});
    ask(0, "initialize", &json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}))
}

/// Ends a `serve` in order.
fn end(serve: &mut Child) {
    let pid = rustix::process::Pid::from_child(serve);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("it runs");
    serve.wait().expect("it ends");
}

#[test]
fn everything_s_resources_and_prompts_reach_an_agent() {
    let Some(command) = npm("mcp-server-everything") else { return };
    let company = Company::new(&format!("command: {}\nargs: [stdio]", command.display()));
    let mut serve =
        company.command(&["--listen", "127.0.0.1:0", "serve"]).stdin(Stdio::null()).spawn().expect("it starts");
    let hello = hello();
    let lists = [hello.clone(), ask(1, "resources/list", &json!({})), ask(2, "prompts/list", &json!({}))];
    let deadline = Instant::now() + Duration::from_secs(60);
    let listed = loop {
        let listed = relayed(&company, "default", &lists);
        let some = |at: usize, list: &str| listed[at]["result"][list].as_array().is_some_and(|all| !all.is_empty());
        if some(1, "resources") && some(2, "prompts") {
            break listed;
        }
        assert!(Instant::now() < deadline, "{listed:?}");
    };
    let uri = &listed[1]["result"]["resources"][0]["uri"];
    assert!(uri.as_str().is_some_and(|uri| uri.starts_with("crewlet://real/")), "{uri}");
    let prompts = listed[2]["result"]["prompts"].as_array().unwrap();
    let simple = prompts.iter().find(|prompt| prompt["arguments"].as_array().is_none_or(Vec::is_empty)).expect("one");
    let messages = [
        hello,
        ask(1, "resources/read", &json!({"uri": uri})),
        ask(2, "prompts/get", &json!({"name": simple["name"]})),
        ask(3, "resources/templates/list", &json!({})),
    ];
    let read = relayed(&company, "default", &messages);
    assert_eq!(&read[1]["result"]["contents"][0]["uri"], uri, "{read:?}");
    assert!(read[2]["result"]["messages"].as_array().is_some_and(|all| !all.is_empty()), "{read:?}");
    let templates = read[3]["result"]["resourceTemplates"].as_array().expect("templates");
    let filled = templates[0]["uriTemplate"].as_str().unwrap().split('{').next().unwrap().to_owned() + "1";
    let again = relayed(&company, "default", &[messages[0].clone(), ask(1, "resources/read", &json!({"uri": filled}))]);
    assert_eq!(again[1]["result"]["contents"][0]["uri"], Value::from(filled), "{again:?}");
    end(&mut serve);
    assert!(company.audit().contains(r#""name":"resources/read""#));
}

/// The environments of the processes that work for a company.
fn environments(company: &Company) -> Vec<String> {
    let mark = format!("MARK={}", company.path().display());
    let processes = fs::read_dir("/proc").expect("/proc").flatten();
    let environments = processes.filter_map(|process| fs::read(process.path().join("environ")).ok());
    let texts = environments.map(|environment| String::from_utf8_lossy(&environment).into_owned());
    texts.filter(|text| text.split('\0').any(|variable| variable == mark)).collect()
}

#[test]
fn two_seats_of_one_template_have_their_own_processes_credentials_and_tools() {
    let Some(command) = pypi("mcp-atlassian") else { return };
    let company = Company::of(&format!(
        r#"
name: Real
roles:
  - name: Ada Lead
    handle: ada
    mcp_env:
      atlassian: {{ JIRA_URL: "https://jira.invalid", JIRA_USERNAME: ada, JIRA_API_TOKEN: "${{ADA_TOKEN}}" }}
  - name: Bob
    mcp_env:
      atlassian: {{ CONFLUENCE_URL: "https://wiki.invalid", CONFLUENCE_USERNAME: bob, CONFLUENCE_API_TOKEN: "${{BOB_TOKEN}}" }}
  - name: Cy
mcp_servers:
  - {{ name: atlassian, shared: false, command: "{}", env: {{ MARK: "{{mark}}" }} }}
"#,
        command.display()
    ));
    let tokens = ["dummy-token-of-ada-0123456789", "dummy-token-of-bob-0123456789"];
    let program = |arguments: &[&str]| {
        let mut command = company.command(arguments);
        command.env("ADA_TOKEN", tokens[0]).env("BOB_TOKEN", tokens[1]).stdin(Stdio::null());
        command
    };
    let mut serve = program(&["--listen", "127.0.0.1:0", "serve"]).spawn().expect("it starts");
    let deadline = Instant::now() + Duration::from_secs(120);
    let listing = |seat: &str| loop {
        let listed = relayed(&company, seat, &[hello(), ask(1, "tools/list", &json!({}))]).pop().expect("an answer");
        let names = listed["result"]["tools"].as_array().expect("tools").iter();
        let names: Vec<String> = names.map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect();
        let theirs: Vec<String> =
            names.into_iter().filter(|name| name.starts_with("jira_") || name.starts_with("confluence_")).collect();
        if !theirs.is_empty() || seat == "cy" {
            return theirs;
        }
        assert!(Instant::now() < deadline, "{seat}: {listed}");
    };
    let (ada, bob) = (listing("ada"), listing("bob"));
    assert!(ada.iter().all(|name| name.starts_with("jira_")), "{ada:?}");
    assert!(bob.iter().all(|name| name.starts_with("confluence_")), "{bob:?}");
    assert_eq!(listing("cy"), Vec::<String>::new(), "a role without credentials has none of its tools");
    let environments = environments(&company);
    assert!(environments.len() >= 2, "a process for each seat");
    for (own, other) in [(tokens[0], tokens[1]), (tokens[1], tokens[0])] {
        let of_seat: Vec<_> = environments.iter().filter(|text| text.contains(own)).collect();
        assert!(!of_seat.is_empty(), "nobody has {own}");
        assert!(of_seat.iter().all(|text| !text.contains(other)), "{other} beside {own}");
    }
    end(&mut serve);
    assert_no_process(&company);
    let output = program(&["tools", "--seat", "ada", "--json"]).output().expect("the binary runs");
    let tools: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", told(&output)));
    let theirs: Vec<&Value> = tools.iter().filter(|tool| tool["server"] == "atlassian").collect();
    assert!(theirs.iter().all(|tool| tool["connection"] == "atlassian::Ada_Lead" && tool["seat"] == "ada"));
    for class in ["read", "destructive"] {
        assert!(theirs.iter().any(|tool| tool["class"] == class), "no {class} among {} tools", theirs.len());
    }
    for trace in [company.audit(), told(&output)] {
        assert!(tokens.iter().all(|token| !trace.contains(token)), "a credential was written down");
    }
}
