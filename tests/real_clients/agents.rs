//! The lines that the program prints for agents, pasted into the agents' own programs as they are: each of them then
//! sees the seat, over `connect` and over HTTP. None of them needs an account for that, and none gets out of here.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::Clients;
use crate::program::{Serving, run, text};

/// A company in a folder that nobody looks into by itself, with its state in a folder of its own.
struct Company<'t> {
    clients: &'t Clients,
    printed: String,
    _serving: Serving,
}

impl<'t> Company<'t> {
    fn new(clients: &'t Clients) -> Self {
        let folder = clients.home().join("my company");
        std::fs::create_dir_all(&folder).expect("a folder");
        let config = folder.join("config.yaml");
        let document =
            "name: Agents\nmcp_servers: [{ name: notes, command: crewlet-tui, args: [demo-server, notes] }]\n";
        std::fs::write(&config, document).expect("a config");
        let config = ["--config", config.to_str().unwrap()];
        let serving = Serving::start(clients.home(), &config);
        let how = [&config[..], &["connect", "--seat", "default", "--help-agents"]].concat();
        let printed = text(&run(clients.home(), &how).stdout);
        Self { clients, printed, _serving: serving }
    }

    /// The text under a heading.
    fn line(&self, heading: &str) -> &str {
        let (_, rest) = self.printed.split_once(&format!("{heading} (run)\n")).unwrap_or_else(|| panic!("{heading}"));
        rest.lines().next().unwrap().trim()
    }

    /// What is pasted into a shell before `then` runs in it.
    fn shell(&self, client: &str, then: &str) -> Command {
        let mut script = vec!["set -e", self.line("The token, for what follows"), self.line(client), then];
        if !client.ends_with("HTTP") {
            script.remove(1);
        }
        let folder = self.clients.home().join(client);
        let project = folder.join("project");
        std::fs::create_dir_all(&project).expect("a folder");
        let mut command = Command::new("sh");
        command.arg("-c").arg(script.join("\n")).current_dir(&project);
        command.env_clear().envs(self.clients.environment()).env("HOME", &folder).env("CODEX_HOME", &folder);
        command.env("GEMINI_CLI_TRUST_WORKSPACE", "true").stdin(Stdio::null());
        command
    }

    /// The program itself says that it is connected.
    fn connects(&self, client: &str, program: &str) {
        let output = self.shell(client, &format!("{program} mcp list")).output().expect("it runs");
        let said = text(&output.stdout) + &text(&output.stderr);
        let line = said.lines().find(|line| line.contains("crewlet:")).unwrap_or_else(|| panic!("{client}: {said}"));
        assert!(line.ends_with("Connected"), "{client}: {said}");
    }
}

#[test]
fn claude_code_takes_the_printed_lines_and_connects() {
    let Some(clients) = Clients::find() else { return };
    let Some(_) = clients.agent("claude") else { return };
    let company = Company::new(&clients);
    company.connects("Claude Code", "claude");
    company.connects("Claude Code over HTTP", "claude");
}

#[test]
fn gemini_takes_the_printed_lines_and_connects() {
    let Some(clients) = Clients::find() else { return };
    let Some(_) = clients.agent("gemini") else { return };
    let company = Company::new(&clients);
    company.connects("Gemini CLI", "gemini");
    company.connects("Gemini CLI over HTTP", "gemini");
}

/// Codex lists without connecting, so its server for editors is asked what it sees.
#[test]
fn codex_takes_the_printed_lines_and_sees_the_tools() {
    let Some(clients) = Clients::find() else { return };
    let Some(_) = clients.agent("codex") else { return };
    let company = Company::new(&clients);
    for client in ["Codex", "Codex over HTTP"] {
        let mut command = company.shell(client, "exec codex app-server");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("it starts");
        let (mut input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let name = json!({"clientInfo": {"name": "test", "version": "1"}});
        for message in [
            json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": name}),
            json!({"jsonrpc": "2.0", "method": "initialized"}),
            json!({"jsonrpc": "2.0", "id": 2, "method": "mcpServerStatus/list", "params": {}}),
        ] {
            writeln!(input, "{message}").expect("written");
        }
        let lines = BufReader::new(output).lines().map_while(Result::ok);
        let mut messages = lines.filter_map(|line| serde_json::from_str::<Value>(&line).ok());
        let answer = messages.find(|message| message["id"] == json!(2));
        let status = &answer.as_ref().expect("an answer")["result"]["data"][0];
        assert_eq!(status["name"], json!("crewlet"), "{client}: {answer:?}");
        assert!(status["tools"].get("list_notes").is_some(), "{client}: {status}");
        child.kill().expect("killed");
        child.wait().expect("gone");
    }
}
