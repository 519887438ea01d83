//! Lines to paste for connecting an agent. None of them holds a token: it is read where the line runs.

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

/// For a seat of an instance that listens at `address`; without one, only what works over stdio.
pub fn lines(address: Option<&str>, seat: &str) -> Vec<HowTo> {
    let relay = format!("crewlet-tui connect --seat {seat}");
    let json = format!(r#"{{"command": "crewlet-tui", "args": ["connect", "--seat", "{seat}"]}}"#);
    let how = |client, place, text| HowTo { client, place, text };
    let mut all = vec![
        how("Claude Code", "run", format!("claude mcp add crewlet -- {relay}")),
        how("Codex", "run", format!("codex mcp add crewlet -- {relay}")),
        how("VS Code", ".vscode/mcp.json", format!(r#"{{"servers": {{"crewlet": {json}}}}}"#)),
        how("Cursor", "~/.cursor/mcp.json", format!(r#"{{"mcpServers": {{"crewlet": {json}}}}}"#)),
        how("MCP inspector", "run", format!("npx @modelcontextprotocol/inspector --cli {relay} --method tools/list")),
    ];
    if let Some(address) = address {
        let url = format!("http://{address}/seats/{seat}/mcp");
        let header = format!("\"Authorization: Bearer $(crewlet-tui token show {seat})\"");
        all.push(how(
            "Claude Code over HTTP",
            "run",
            format!("claude mcp add --transport http crewlet {url} --header {header}"),
        ));
        // By standard input the token is in no process list.
        let by_input = format!("crewlet-tui token show {seat} | sed 's/^/Authorization: Bearer /' | curl -sH @-");
        all.push(how("curl", "run", format!("{by_input} http://{address}/tools")));
    }
    all
}

/// The same as text for a terminal.
pub fn text(address: Option<&str>, seat: &str) -> String {
    let blocks =
        lines(address, seat).into_iter().map(|how| format!("{} ({})\n  {}\n", how.client, how.place, how.text));
    let mut text = blocks.collect::<Vec<_>>().join("\n");
    if address.is_none() {
        text.push_str("\nNo instance is running now: start the dashboard, or `crewlet-tui serve`, with a listener.\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_hold_json_and_every_line_names_the_seat() {
        for how in lines(Some("127.0.0.1:7420"), "release") {
            assert!(how.text.contains("release") || how.client == "curl", "{how:?}");
            if how.place != "run" {
                serde_json::from_str::<serde_json::Value>(&how.text).unwrap();
            }
        }
        assert!(text(None, "release").contains("start the dashboard"));
        assert!(!text(None, "release").contains("http://"));
    }
}
