//! `call`: one call by the person at the shell, through the same gate as everybody.

use std::io::{IsTerminal, Read};
use std::sync::Arc;

use serde_json::{Value, json};

use super::{CallArgs, Exit, Global, complain, print_foreign, print_json, prompt};
use crate::config::model::PolicyDecision;
use crate::engine::handle::{CallReport, CallRequest, Consent};
use crate::engine::snapshot::{CallPhase, Caller};
use crate::ids::SeatHandle;
use crate::run::{self, OneShot, Wanted};
use crate::tool::Arguments;
use crate::tool::output;

/// Longest arguments that are read from a file or standard input, in bytes.
const LONGEST: u64 = Arguments::MAX_BYTES as u64 + 1;

/// Runs one call and prints what came back.
pub(super) fn run(global: &Global, call: &CallArgs) -> Exit {
    if global.read_only {
        complain("refused: --read-only lets you look, not call");
        return Exit::Refused;
    }
    let arguments = match arguments(call.args.as_deref()) {
        Ok(arguments) => arguments,
        Err(problem) => {
            complain(&problem);
            return Exit::Usage;
        }
    };
    let wanted = Wanted::Tool { name: call.tool.clone(), seat: call.seat.clone() };
    run::one_shot(global, wanted, |session| async move { call_with(&session, call, arguments).await })
}

async fn call_with(session: &OneShot, call: &CallArgs, arguments: Arguments) -> Exit {
    let caller = match call.seat.as_deref().map(|seat| session.seat(seat)).transpose() {
        Ok(None) => Caller::Console,
        Ok(Some(seat)) => Caller::Seat { seat, session: "shell".into(), client: "crewlet-tui call".into() },
        Err(problem) => {
            complain(&problem);
            return Exit::Usage;
        }
    };
    let consent = if call.approve { Consent::Shell(run::user()) } else { Consent::None };
    let request = CallRequest {
        caller,
        tool: Arc::from(call.tool.as_str()),
        arguments,
        consent,
        cancel: session.interrupted.clone(),
    };
    let report = tokio::select! {
        report = session.handle.call(request) => report,
        never = prompt::answer_questions(&session.handle) => match never {},
    };
    match report {
        Ok(report) => {
            let exit = finish(&report, call.json);
            if let Some(hint) = hint(session, call, &report) {
                complain(&hint);
            }
            exit
        }
        Err(error) => {
            complain(&error.to_string());
            Exit::Failed
        }
    }
}

/// What may help the person at the shell, beyond the message that every caller gets.
fn hint(session: &OneShot, call: &CallArgs, report: &CallReport) -> Option<String> {
    let CallPhase::Refused { .. } = &report.phase else { return None };
    match &report.policy {
        Some((PolicyDecision::Ask, _)) if !call.approve && !attended() => {
            Some("to consent to this one call, add --approve".to_owned())
        }
        Some(_) => None,
        None => {
            let snapshot = session.handle.snapshot();
            let seat = call.seat.as_deref().map(SeatHandle::from);
            let entries = snapshot.catalog.entries().iter();
            let held = entries.filter(|entry| match &seat {
                Some(_) => snapshot.catalog.is_visible(seat.as_ref(), entry),
                None => entry.seat.is_none(),
            });
            let names = held.map(|entry| &*entry.name);
            let close = |name: &&str| strsim::jaro_winkler(name, &call.tool) > 0.85;
            let found: Vec<&str> = names.filter(close).take(3).collect();
            if !found.is_empty() {
                return Some(format!("did you mean {}?", crate::text::visible(&found.join(" or "))));
            }
            let seats = session.seats_with_own();
            let own = if seat.is_none() && !seats.is_empty() {
                format!("; a tool of a seat's own connection needs --seat: {}", seats.join(", "))
            } else {
                String::new()
            };
            Some(format!("`crewlet-tui tools` lists what there is{own}"))
        }
    }
}

fn finish(report: &CallReport, json: bool) -> Exit {
    let exit = match &report.phase {
        CallPhase::Done { is_error: false } => Exit::Fine,
        CallPhase::Denied { .. } | CallPhase::Expired | CallPhase::Withdrawn(_) => Exit::Refused,
        CallPhase::Refused { .. } if report.policy.is_some() => Exit::Refused,
        _ => Exit::Failed,
    };
    if json {
        print_json(&as_json(report));
    } else if let Some(output) = &report.output {
        print_foreign(&output::as_text(output));
    }
    if exit != Exit::Fine && report.output.is_none() {
        complain(&report.message);
    }
    exit
}

fn as_json(report: &CallReport) -> Value {
    let output = report.output.as_ref();
    let content = output.map_or_else(
        || json!([{"type": "text", "text": &*report.message}]),
        |output| Value::Array(output.content.clone()),
    );
    let decision = report.policy.as_ref().map(|(decision, by)| json!({"policy": decision.as_str(), "by": &**by}));
    json!({
        "call": report.call,
        "outcome": report.phase.word(),
        "is_error": report.phase != CallPhase::Done { is_error: false },
        "content": content,
        "structured": output.and_then(|output| output.structured.clone()),
        "decision": decision,
        "elapsed_ms": u64::try_from(report.elapsed.as_millis()).unwrap_or(u64::MAX),
    })
}

fn arguments(given: Option<&str>) -> Result<Arguments, String> {
    let text = match given {
        None => return Ok(Arguments::empty()),
        Some("-") => read_all(std::io::stdin().lock()).map_err(|error| format!("standard input: {error}"))?,
        Some(given) => match given.strip_prefix('@') {
            Some(file) => std::fs::File::open(file)
                .and_then(read_all)
                .map_err(|error| format!("--args: cannot read {}: {error}", crate::text::visible(file)))?,
            None => given.to_owned(),
        },
    };
    Arguments::parse(&text).map_err(|error| format!("--args: {error}"))
}

fn read_all(source: impl Read) -> std::io::Result<String> {
    let mut text = String::new();
    source.take(LONGEST).read_to_string(&mut text)?;
    Ok(text)
}

/// Whether a person can be asked on this terminal.
pub(crate) fn attended() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}
