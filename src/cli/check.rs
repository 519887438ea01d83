//! `check`: is the configuration valid, and would everything come up?

use std::collections::HashSet;

use serde_json::{Value, json};

use super::{Exit, Global, complain, print, print_json};
use crate::config::diagnostic::{Diagnostic, Severity};
use crate::config::model::{Server, Unresolved};
use crate::config::resolve::Owner;
use crate::engine::snapshot::Snapshot;
use crate::engine::status::ConnectionStatus;
use crate::ids::ConnectionName;
use crate::run::{self, Document};

/// Validates configuration and theme; with `connect` also starts every server and lists its tools.
pub(super) fn run(global: &Global, connect: bool, json: bool) -> Exit {
    let document = match run::load(global) {
        Ok(document) => document,
        Err(diagnostics) => {
            report(global, &diagnostics, None, json);
            return Exit::Config;
        }
    };
    let mut diagnostics = document.warnings().to_vec();
    // One field can be that of several seats' connections.
    let mut seen = HashSet::new();
    let missing = document.unresolved.iter().map(|(_, problem)| problem);
    let missing = missing.filter(|problem| seen.insert((&problem.path, &problem.variable)));
    diagnostics.extend(missing.map(Diagnostic::from));
    if let Err(problem) = run::screen(global, document.config()) {
        diagnostics.push(Diagnostic::file(
            document.config().source.file_name(),
            problem,
            "name a shipped one, or put a file of that name into a themes folder",
        ));
        report(global, &diagnostics, None, json);
        return Exit::Config;
    }
    if !connect {
        report(global, &diagnostics, Some(&declared(&document)), json);
        return if document.unresolved.is_empty() { Exit::Fine } else { Exit::Failed };
    }
    let complete = document.unresolved.is_empty();
    run::one_shot(global, run::Wanted::All, |session| async move {
        let snapshot = session.handle.snapshot();
        report(global, &diagnostics, Some(&connected(&snapshot)), json);
        let down =
            |status: &ConnectionStatus| !matches!(status, ConnectionStatus::Ready { .. } | ConnectionStatus::Disabled);
        let fine = complete && !snapshot.servers.iter().any(|server| down(&server.status));
        if fine { Exit::Fine } else { Exit::Failed }
    })
}

/// The status of a server that could be started and was not.
const UNTRIED: &str = "not started";

struct Row {
    name: String,
    status: &'static str,
    reason: Option<String>,
    next_step: Option<String>,
    tools: Option<usize>,
}

fn declared(document: &Document) -> Vec<Row> {
    let config = document.config();
    let row = |name: String, server: &Server, missing: Option<&Unresolved>| Row {
        name,
        status: match missing {
            Some(_) => "failed",
            None if server.enabled => UNTRIED,
            None => "disabled",
        },
        reason: missing.map(ToString::to_string),
        // What the diagnostic about the same variable says.
        next_step: None,
        tools: None,
    };
    let missing = |owner: &Owner| document.unresolved.iter().find(|(known, _)| known == owner).map(|(_, what)| what);
    let mut rows = Vec::new();
    for server in &config.servers {
        if server.shared {
            rows.push(row(
                server.name.to_string(),
                server,
                missing(&Owner::Connection(ConnectionName::shared(&server.name))),
            ));
            continue;
        }
        for seat in config.org.agents().filter(|seat| seat.credentials_for(&server.name).is_some()) {
            let name = seat.connection(&server.name);
            rows.push(row(name.to_string(), server, missing(&Owner::Connection(name.clone()))));
        }
    }
    rows
}

fn connected(snapshot: &Snapshot) -> Vec<Row> {
    let row = |server: &std::sync::Arc<crate::engine::snapshot::ServerView>| Row {
        name: server.connection.to_string(),
        status: server.status.word(),
        reason: server.status.failure().map(ToString::to_string),
        next_step: server.status.failure().and_then(|failure| failure.next_step.as_ref()).map(ToString::to_string),
        tools: server.status.is_ready().then(|| server.tools()),
    };
    snapshot.servers.iter().map(row).collect()
}

fn report(global: &Global, diagnostics: &[Diagnostic], servers: Option<&[Row]>, json: bool) {
    let errors = diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    let down = servers.is_some_and(|rows| rows.iter().any(|row| row.reason.is_some()));
    if json {
        let row = |row: &Row| {
            let Row { name, status, reason, next_step, tools } = row;
            json!({"name": name, "status": status, "reason": reason, "next_step": next_step, "tools": tools})
        };
        let rows: Vec<Value> = servers.unwrap_or_default().iter().map(row).collect();
        print_json(&json!({"ok": !errors && !down, "diagnostics": diagnostics, "servers": rows}));
        return;
    }
    if !diagnostics.is_empty() {
        complain(&run::explain(global, diagnostics));
    }
    for row in servers.unwrap_or_default() {
        let tools = row.tools.map(|tools| format!("  {tools} tools")).unwrap_or_default();
        let reason = row.reason.as_ref().map(|reason| format!("  {reason}")).unwrap_or_default();
        print(&format!("{:<24} {:<9}{tools}{reason}\n", row.name, row.status));
        if let Some(step) = &row.next_step {
            print(&format!("{:<24} next: {step}\n", ""));
        }
    }
    if let Some(servers) = servers {
        print(&format!("{}\n", verdict(servers, errors)));
    }
}

/// The last line: what came out, and what could be done next.
fn verdict(servers: &[Row], errors: bool) -> String {
    let down = servers.iter().filter(|row| row.reason.is_some()).count();
    match (down, errors) {
        (0, true) => "the configuration is valid, but something named above has no usable value".to_owned(),
        (0, false) if servers.iter().any(|row| row.status == UNTRIED) => {
            "the configuration is valid; --connect also starts every server".to_owned()
        }
        (0, false) => "the configuration is valid".to_owned(),
        (down, _) => {
            format!("the configuration is valid, but not every server comes up: {down} of {} failed", servers.len())
        }
    }
}
