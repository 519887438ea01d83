//! `tools`: the catalogue as a table for people or as JSON for scripts.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::{Exit, Global, complain, print, print_json};
use crate::config::model::ApprovalSettings;
use crate::engine::gate::policy;
use crate::engine::snapshot::Snapshot;
use crate::engine::status::ConnectionStatus;
use crate::ids::SeatHandle;
use crate::run::{self, OneShot};
use crate::text;
use crate::tool::worker::may_hold;
use crate::tool::{Entry, HintName, Rejected};

/// Starts the servers, waits until each is up or has failed once, and prints what they offer.
pub(super) fn run(global: &Global, seat: Option<&str>, json: bool) -> Exit {
    let wanted = seat.map_or(run::Wanted::All, |seat| run::Wanted::HeldBy(seat.to_owned()));
    run::one_shot(global, wanted, |session| async move { print_tools(&session, seat, json) })
}

fn print_tools(session: &OneShot, seat: Option<&str>, json: bool) -> Exit {
    let seat = match seat.map(|seat| session.seat(seat)).transpose() {
        Ok(seat) => seat,
        Err(problem) => {
            complain(&problem);
            return Exit::Usage;
        }
    };
    let snapshot = session.handle.snapshot();
    let mut up = 0;
    for server in &snapshot.servers {
        match &server.status {
            ConnectionStatus::Ready { .. } => up += 1,
            ConnectionStatus::Disabled => {}
            status => {
                let why = status.failure().map_or_else(|| status.word().to_owned(), ToString::to_string);
                complain(&format!("{}: {why}", server.connection));
            }
        }
    }
    if json {
        print_json(&as_json(&snapshot, &session.approvals, seat.as_ref()));
    } else {
        print(&as_table(&snapshot, seat.as_ref()));
    }
    if up == 0 && !snapshot.servers.is_empty() { Exit::Failed } else { Exit::Fine }
}

fn as_json(snapshot: &Snapshot, approvals: &ApprovalSettings, seat: Option<&SeatHandle>) -> Value {
    let entries = held(snapshot, seat).into_iter().map(|entry| entry_json(entry, approvals, seat));
    let rejected = snapshot.catalog.rejected().iter().map(rejected_json);
    Value::Array(entries.chain(rejected).collect())
}

/// What a seat holds; without one everything there is.
fn held<'s>(snapshot: &'s Snapshot, seat: Option<&SeatHandle>) -> Vec<&'s Entry> {
    let entries = snapshot.catalog.entries().iter();
    entries.filter(|entry| snapshot.catalog.is_visible(seat, entry)).map(AsRef::as_ref).collect()
}

fn entry_json(entry: &Entry, approvals: &ApprovalSettings, seat: Option<&SeatHandle>) -> Value {
    let mut sources = Map::new();
    let mut annotations = Map::new();
    for name in HintName::ALL {
        let hint = entry.hints.effective.get(name);
        annotations.insert(name.snake().to_owned(), hint.as_str().into());
        if hint != crate::tool::Hint::Unknown {
            sources.insert(name.snake().to_owned(), entry.hints.source(name).to_string().into());
        }
    }
    let seat = seat.or(entry.seat.as_ref());
    let answer = policy(approvals, entry, seat);
    let by = answer.by.strip_prefix("class ").map_or(&*answer.by, |_| &answer.by);
    let worker = may_hold(entry).err().map_or(entry.worker.reason, |barred| barred.why());
    let mut row = json!({
        "name": &*entry.name,
        "server": entry.server,
        "raw_name": &*entry.raw_name,
        "seat": seat,
        "connection": entry.connection,
        "title": &*entry.title,
        "description": &*entry.description,
        "class": entry.class().as_str(),
        "annotations": annotations,
        "sources": sources,
        "flags": entry.flags.iter().map(|flag| flag.as_str()).collect::<Vec<_>>(),
        "worker": {"allowed": may_hold(entry).is_ok(), "reason": worker},
        "delivery": {"counts": entry.delivery.surface.is_some(), "surface": entry.delivery.surface},
        "decision": {"policy": answer.decision.as_str(), "by": by},
        "fingerprint": entry.fingerprint.to_string(),
        "input_schema": &*entry.input_schema,
    });
    if entry.exposed != entry.name
        && let Some(row) = row.as_object_mut()
    {
        row.insert("exposed".to_owned(), (*entry.exposed).into());
    }
    row
}

fn rejected_json(rejected: &Rejected) -> Value {
    json!({
        "name": rejected.name.as_deref(),
        "server": rejected.server,
        "connection": rejected.connection,
        "index": rejected.index,
        "rejected": &*rejected.reason,
    })
}

fn as_table(snapshot: &Snapshot, seat: Option<&SeatHandle>) -> String {
    let entries = held(snapshot, seat);
    let width = |entry: &&Entry| text::width(entry.connection.as_str());
    let server_width = entries.iter().map(width).max().unwrap_or(16).clamp(16, 48);
    let name_width = entries.iter().map(|entry| text::width(&entry.name)).max().unwrap_or(4).clamp(4, 48);
    let mut table = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(table, "{:<name_width$}  {:<11}  {:<server_width$}  hints", "name", "class", "server");
    for entry in entries {
        let name = text::visible(&entry.name);
        let name = text::fit(&name, name_width).into_owned();
        let gap = " ".repeat(name_width.saturating_sub(text::width(&name)));
        let hints: Vec<String> = HintName::ALL
            .into_iter()
            .filter(|hint| entry.hints.effective.get(*hint) != crate::tool::Hint::Unknown)
            .map(|hint| format!("{} {} ({})", hint.words(), entry.hints.effective.get(hint), entry.hints.source(hint)))
            .collect();
        let mut hints = if hints.is_empty() { "nobody said".to_owned() } else { hints.join(", ") };
        for flag in &entry.flags {
            let _ = write!(hints, "  ! {}", flag.as_str().replace('_', " "));
        }
        let _ = writeln!(table, "{name}{gap}  {:<11}  {:<server_width$}  {hints}", entry.class(), entry.connection);
    }
    for rejected in snapshot.catalog.rejected() {
        let name = rejected.name.as_deref().map_or_else(|| format!("tool {}", rejected.index), str::to_owned);
        let _ = writeln!(table, "rejected: {} of {}: {}", text::visible(&name), rejected.server, rejected.reason);
    }
    table
}
