//! Lines to paste for connecting an agent to a seat, for the screen's `:connect` and the shell's `--help-agents`. Pure.
//!
//! No line holds a token: `connect` finds it by itself, and over HTTP it is read from the environment where the line
//! runs, so that it stands in no file, no address and no process list.

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
pub fn lines(address: Option<&str>, seat: &str) -> Vec<HowTo> {
    let mut all = over_stdio(seat);
    if let Some(address) = address {
        all.extend(over_http(address, seat));
    }
    all
}

/// The same as text for a terminal.
pub fn text(address: Option<&str>, seat: &str) -> String {
    let mut text = joined(&lines(address, seat));
    if address.is_none() {
        text.push_str("\nNo instance is running now: start the dashboard, or `crewlet-tui serve`, with a listener.\n");
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

fn over_stdio(seat: &str) -> Vec<HowTo> {
    let relay = format!("crewlet-tui connect --seat {seat}");
    let json = format!(r#"{{"command": "crewlet-tui", "args": ["connect", "--seat", "{seat}"]}}"#);
    vec![
        how("Claude Code", "run", format!("claude mcp add crewlet -- {relay}")),
        how("Codex", "run", format!("codex mcp add crewlet -- {relay}")),
        how("VS Code", ".vscode/mcp.json", format!(r#"{{"servers": {{"crewlet": {json}}}}}"#)),
        how("Cursor", "~/.cursor/mcp.json", format!(r#"{{"mcpServers": {{"crewlet": {json}}}}}"#)),
        how("MCP inspector", "run", format!("npx @modelcontextprotocol/inspector --cli {relay} --method tools/list")),
    ]
}

fn over_http(address: &str, seat: &str) -> Vec<HowTo> {
    let url = format!("http://{address}/seats/{seat}/mcp");
    let json = |kind: &str, variable: &str| {
        format!(r#"{{{kind}"url": "{url}", "headers": {{"Authorization": "Bearer {variable}"}}}}"#)
    };
    let typed = r#""type": "http", "#;
    let claude = json(typed, &format!("${{{VARIABLE}}}"));
    let cursor = json("", &format!("${{env:{VARIABLE}}}"));
    let code = json(typed, "${input:crewlet}");
    let asked = r#"[{"type": "promptString", "id": "crewlet", "description": "The seat's token", "password": true}]"#;
    // By standard input the token is in no process list; `printf` is the shell's own.
    let header = format!("printf 'Authorization: Bearer %s' \"${VARIABLE}\"");
    vec![
        how("The token, for what follows", "run", format!("export {VARIABLE}=\"$(crewlet-tui token show {seat})\"")),
        how("Claude Code over HTTP", ".mcp.json", format!(r#"{{"mcpServers": {{"crewlet": {claude}}}}}"#)),
        how("Codex over HTTP", "run", format!("codex mcp add crewlet --url {url} --bearer-token-env-var {VARIABLE}")),
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

    #[test]
    fn files_hold_json_and_every_line_leads_to_the_seat() {
        for how in lines(Some("127.0.0.1:7420"), "release") {
            assert!(how.text.contains("release") || how.text.contains(VARIABLE), "{how:?}");
            if how.place != "run" {
                serde_json::from_str::<serde_json::Value>(&how.text).unwrap();
            }
        }
        assert!(text(None, "release").contains("start the dashboard"));
        assert!(!text(None, "release").contains("http://"));
    }

    #[test]
    fn a_token_is_only_ever_named() {
        for how in lines(Some("127.0.0.1:7420"), "release") {
            for (at, word) in how.text.match_indices("Bearer ") {
                let named = how.text.get(at + word.len()..).unwrap();
                assert!(named.starts_with('$') || named.starts_with("%s"), "{how:?}");
            }
        }
    }
}
