//! Lines to paste for connecting an agent to a seat, for the screen's `:connect` and the shell's `--help-agents`. Pure.
//!
//! No line holds a seat's token: `connect` finds it by itself, and over HTTP it is read from the environment where the
//! line runs, so that it stands in no file, no address and no process list. A worker's token exists nowhere else, so the
//! line that sets the variable holds it, once the person asked to see it.

use std::fmt::Write as _;

/// The variable that the lines over HTTP take the token from.
const VARIABLE: &str = "CREWLET_TOKEN";

/// Lines for one kind of client.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HowTo {
    /// The client.
    pub client: &'static str,
    /// What to do with the text: `run`, or the file that it belongs into.
    pub place: &'static str,
    /// The text.
    pub text: String,
}

impl HowTo {
    /// Client and place in a line.
    pub fn heading(&self) -> String {
        format!("{} ({})", self.client, self.place)
    }
}

/// For a seat of an instance that listens at `address`; without one, only what works over stdio.
///
/// `program` is how this very program is called so that it finds the instance from any folder and environment: agents
/// start their servers in folders of their own, and many with hardly any variables.
pub fn lines(program: &[String], address: Option<&str>, seat: &str) -> Vec<HowTo> {
    let mut all = over_stdio(program, seat);
    if let Some(address) = address {
        all.extend(over_http(program, address, seat));
    }
    all
}

/// What there is to connect to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Instance<'a> {
    /// None.
    Absent,
    /// One that takes no connections.
    WithoutListener,
    /// One that listens at this address.
    At(&'a str),
}

/// The same as text for a terminal.
pub fn text(program: &[String], instance: Instance<'_>, seat: &str) -> String {
    let (address, missing) = match instance {
        Instance::At(address) => (Some(address), ""),
        Instance::Absent => (None, "No instance is running now: start the dashboard, or `crewlet-tui serve`"),
        Instance::WithoutListener => (None, "An instance runs, but without a listener: start it again"),
    };
    let mut text = joined(&lines(program, address, seat));
    if address.is_none() {
        let _ = writeln!(text, "\n{missing}, with --listen 127.0.0.1:7420 or with engine.listen set.");
    }
    text
}

/// Each with its heading, a blank line between two.
fn joined(all: &[HowTo]) -> String {
    let blocks = all.iter().map(|how| format!("{}\n  {}\n", how.heading(), how.text));
    blocks.collect::<Vec<_>>().join("\n")
}

const fn how(client: &'static str, place: &'static str, text: String) -> HowTo {
    HowTo { client, place, text }
}

/// Words as one line for a shell.
fn shell<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    let plain =
        |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "/._-+:=@%,".contains(c));
    let quoted = |word: &str| if plain(word) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) };
    words.into_iter().map(quoted).collect::<Vec<_>>().join(" ")
}

fn over_stdio(program: &[String], seat: &str) -> Vec<HowTo> {
    let words = || program.iter().map(String::as_str).chain(["connect", "--seat", seat]);
    let relay = shell(words());
    let quoted: Vec<String> = words().map(|word| serde_json::Value::from(word).to_string()).collect();
    let (command, arguments) = quoted.split_first().map_or(("", [].as_slice()), |(first, rest)| (first.as_str(), rest));
    let json = format!(r#"{{"command": {command}, "args": [{}]}}"#, arguments.join(", "));
    vec![
        how("Claude Code", "run", format!("claude mcp add crewlet -- {relay}")),
        how("Codex", "run", format!("codex mcp add crewlet -- {relay}")),
        // It takes no `--`; what follows the name is the command as it is.
        how("Gemini CLI", "run", format!("gemini mcp add crewlet {relay}")),
        how("VS Code", ".vscode/mcp.json", format!(r#"{{"servers": {{"crewlet": {json}}}}}"#)),
        how("Cursor", "~/.cursor/mcp.json", format!(r#"{{"mcpServers": {{"crewlet": {json}}}}}"#)),
        // Before the `--`, or the inspector takes flags of ours for its own.
        how(
            "MCP inspector",
            "run",
            format!("npx @modelcontextprotocol/inspector --cli --method tools/list -- {relay}"),
        ),
    ]
}

/// For a worker that comes in at `url`: the usual programs that run a line. `token`: once it may stand there.
pub fn for_worker(url: &str, worker: &str, token: Option<&str>) -> Vec<HowTo> {
    let token = token.unwrap_or("…");
    let name = format!("crewlet-{worker}");
    let mut all = vec![how("The token, for what follows", "run", format!("export {VARIABLE}='{token}'"))];
    all.extend(by_url(&name, url));
    all
}

/// The programs that take a line: each reads the token from the variable when it connects.
fn by_url(name: &str, url: &str) -> [HowTo; 3] {
    // In quotes that keep the variable's name: each client fills it in when it connects.
    let claude = format!("--header 'Authorization: Bearer ${{{VARIABLE}}}'");
    let gemini = format!("-H 'Authorization: Bearer ${VARIABLE}'");
    [
        how("Claude Code over HTTP", "run", format!("claude mcp add --transport http {name} {url} {claude}")),
        how("Codex over HTTP", "run", format!("codex mcp add {name} --url {url} --bearer-token-env-var {VARIABLE}")),
        how("Gemini CLI over HTTP", "run", format!("gemini mcp add -t http {gemini} {name} {url}")),
    ]
}

fn over_http(program: &[String], address: &str, seat: &str) -> Vec<HowTo> {
    let url = format!("http://{address}/seats/{seat}/mcp");
    let json = |kind: &str, variable: &str| {
        format!(r#"{{{kind}"url": "{url}", "headers": {{"Authorization": "Bearer {variable}"}}}}"#)
    };
    let cursor = json("", &format!("${{env:{VARIABLE}}}"));
    let code = json(r#""type": "http", "#, "${input:crewlet}");
    let asked = r#"[{"type": "promptString", "id": "crewlet", "description": "The seat's token", "password": true}]"#;
    let show = shell(program.iter().map(String::as_str).chain(["token", "show", seat]));
    let [claude, codex, gemini] = by_url("crewlet", &url);
    // By standard input the token is in no process list; `printf` is the shell's own.
    let header = format!("printf 'Authorization: Bearer %s' \"${VARIABLE}\"");
    vec![
        how("The token, for what follows", "run", format!("export {VARIABLE}=\"$({show})\"")),
        claude,
        codex,
        gemini,
        how(
            "VS Code over HTTP",
            ".vscode/mcp.json",
            format!(r#"{{"inputs": {asked}, "servers": {{"crewlet": {code}}}}}"#),
        ),
        how("Cursor over HTTP", "~/.cursor/mcp.json", format!(r#"{{"mcpServers": {{"crewlet": {cursor}}}}}"#)),
        how("curl", "run", format!("{header} | curl -sH @- http://{address}/tools")),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(more: &[&str]) -> Vec<String> {
        ["crewlet-tui"].iter().chain(more).map(|&word| word.to_owned()).collect()
    }

    #[test]
    fn files_hold_json_and_every_line_leads_to_the_seat() {
        for how in lines(&program(&["--config", "/a \"b\"/c.yaml"]), Some("127.0.0.1:7420"), "release") {
            assert!(how.text.contains("release") || how.text.contains(VARIABLE), "{how:?}");
            if how.place != "run" {
                serde_json::from_str::<serde_json::Value>(&how.text).unwrap();
            }
        }
        let told = |instance| text(&program(&[]), instance, "release");
        assert!(told(Instance::Absent).contains("start the dashboard"));
        assert!(told(Instance::WithoutListener).contains("without a listener: start it again, with --listen"));
        assert!(!told(Instance::Absent).contains("http://"));
    }

    #[test]
    fn a_token_is_only_ever_named() {
        for how in lines(&program(&[]), Some("127.0.0.1:7420"), "release") {
            for (at, word) in how.text.match_indices("Bearer ") {
                let named = how.text.get(at + word.len()..).unwrap();
                assert!(named.starts_with('$') || named.starts_with("%s"), "{how:?}");
            }
        }
    }

    #[test]
    fn what_leads_to_the_instance_is_in_every_line_that_starts_the_program() {
        let program = program(&["--config", "/my files/it's.yaml"]);
        for how in lines(&program, Some("127.0.0.1:7420"), "release") {
            if how.text.contains("crewlet-tui") {
                assert!(how.text.contains("/my files/it"), "{how:?}");
            }
        }
        let claude = &lines(&program, None, "release").remove(0).text;
        let relay = r"crewlet-tui --config '/my files/it'\''s.yaml' connect --seat release";
        assert_eq!(claude, &format!("claude mcp add crewlet -- {relay}"));
    }
}
