//! `broken`: ends at once, with the reason on stderr, as servers do whose credential is missing. It can be mended:
//! with the credential set it runs.

use std::io::{self, Write};

use serde_json::{Map, Value, json};

use super::protocol::{Answer, Demo, Era, tool};

/// The credential that is missing.
pub(super) const TOKEN: &str = "LEDGER_API_TOKEN";

/// What runs once the credential is set.
pub(super) struct Ledger;

/// Starts, or says why not.
pub(super) fn start(token: Option<&str>, stderr: &mut dyn Write) -> io::Result<Option<Ledger>> {
    if token.is_some() {
        return Ok(Some(Ledger));
    }
    let version = env!("CARGO_PKG_VERSION");
    for line in [
        format!("ledger {version}: starting"),
        "ledger: reading settings from the environment".to_owned(),
        format!("ledger: error: {TOKEN} is not set"),
        "ledger:   this demo server fails on purpose until it is; any value will do:".to_owned(),
        format!("ledger:   {TOKEN}=anything crewlet-tui"),
        "ledger: giving up".to_owned(),
    ] {
        writeln!(stderr, "{line}")?;
    }
    Ok(None)
}

impl Demo for Ledger {
    fn name(&self) -> &'static str {
        "broken"
    }

    fn era(&self) -> Era {
        Era::Older
    }

    fn instructions(&self) -> &'static str {
        "A made-up ledger, to show a server that fails until its credential is set."
    }

    fn tools(&self) -> Vec<Value> {
        let hints = json!({"readOnlyHint": true, "openWorldHint": false});
        vec![tool("balance", "The balance of the made-up ledger.", &[], Some(hints))]
    }

    fn call(&mut self, tool: &str, _: &Map<String, Value>) -> Option<Answer> {
        (tool == "balance").then(|| Answer::Data("42.00".to_owned(), json!({"balance": "42.00"})))
    }
}
