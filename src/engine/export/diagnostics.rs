//! The diagnostic bundle: one text that says how the program is set up and what went wrong, without a value.

use std::fmt::Write as _;

use super::{Source, log_line};
use crate::config::model::{Config, Server, Transport};
use crate::engine::audit;
use crate::engine::snapshot::{AuditHealth, ServerView, Snapshot};
use crate::tool::EffectClass;

/// Log records at the end of it.
const LOG_RECORDS: u64 = 500;
/// Notices in it.
const NOTICES: usize = 20;

/// The whole bundle. Redacted line by line.
pub(super) fn text(source: &Source) -> String {
    let (snapshot, config) = (&source.snapshot, &source.config);
    let mut text = String::new();
    let out = &mut text;
    section(out, "program");
    let _ = writeln!(
        out,
        "crewlet-tui {} on {} {}",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::OS,
        std::env::consts::ARCH
    );
    let _ = writeln!(out, "at {}, revision {}", crate::clock::Timestamp::now(), snapshot.revision);
    section(out, "configuration");
    configuration(out, config);
    section(out, "servers");
    for server in &snapshot.servers {
        one_server(out, server, snapshot);
    }
    section(out, "calls");
    calls(out, snapshot);
    section(out, "audit");
    trail(out, source);
    section(out, "notices");
    for notice in snapshot.notices.iter().rev().take(NOTICES).rev() {
        let _ = writeln!(out, "{} {}", notice.at, notice.text);
    }
    section(out, "log");
    let _ = writeln!(out, "{} records dropped", snapshot.log_dropped);
    for (_, record) in snapshot.log.iter_from(snapshot.log.end().saturating_sub(LOG_RECORDS)) {
        let _ = writeln!(out, "{}", log_line(record));
    }
    let clean = |line: &str| source.redactor.redact(&crate::text::visible(line)).into_owned();
    text.lines().map(clean).fold(String::new(), |all, line| all + &line + "\n")
}

fn section(out: &mut String, name: &str) {
    let _ = writeln!(out, "\n== {name} ==");
}

/// Names, numbers and references; literals of variables and headers only as "literal".
fn configuration(out: &mut String, config: &Config) {
    let _ = writeln!(out, "{} ({}), {} seats", config.source.file_name(), config.company, config.org.seats.len());
    let _ = writeln!(out, "listen {:?}, {} approval rules", config.engine.listen, config.engine.approvals.rules.len());
    for server in &config.servers {
        one_declaration(out, server);
    }
}

fn one_declaration(out: &mut String, server: &Server) {
    let kind = match &server.transport {
        Transport::Stdio { args, .. } => format!("stdio, {} arguments", args.len()),
        Transport::Http { .. } => "http".to_owned(),
    };
    let _ = writeln!(
        out,
        "{}: {kind}, {}, {}, prefix \"{}\", limits {:?} {:?}, {:?}, {} annotated tools",
        server.name,
        if server.enabled { "enabled" } else { "disabled" },
        if server.shared { "shared" } else { "a template" },
        server.tool_prefix,
        server.startup_timeout,
        server.request_timeout,
        server.restart,
        server.tool_annotations.len(),
    );
    let (fields, url) = match &server.transport {
        Transport::Stdio { env, .. } => (env, None),
        Transport::Http { url, headers } => (headers, Some(url)),
    };
    let named = fields.iter().map(|(name, value)| (&**name, value)).chain(url.map(|url| ("url", url)));
    for (name, value) in named {
        let variables: Vec<&str> = value.variables().map(|name| &**name).collect();
        let from = if variables.is_empty() { "a literal".to_owned() } else { variables.join(", ") };
        let _ = writeln!(out, "  {name} from {from}");
    }
}

fn one_server(out: &mut String, server: &ServerView, snapshot: &Snapshot) {
    let _ = writeln!(
        out,
        "{}: {}, {} restarts, {} calls, p50 {:?}, {} lines kept, {} fell off, {} dropped, {} lines of noise",
        server.connection,
        server.status.word(),
        server.restarts,
        server.calls,
        server.p50,
        server.stderr.len(),
        server.stderr.first(),
        server.stderr_dropped,
        server.noise,
    );
    if let Some(peer) = &server.peer {
        let (name, version) = (peer.name.as_deref().unwrap_or("unknown"), peer.version.as_deref().unwrap_or(""));
        let (era, revision) = (peer.era.as_str(), &peer.protocol_version);
        let _ = writeln!(out, "  is {name} {version}, {era} {revision}, handshake {:?}", peer.took);
    }
    let by_class = EffectClass::ALL.iter().zip(server.tools_by_class).map(|(class, count)| format!("{count} {class}"));
    let _ = writeln!(out, "  tools: {}; {} rejected", by_class.collect::<Vec<_>>().join(", "), server.rejected);
    if let Some(cut) = &server.list_cut {
        let _ = writeln!(out, "  the list was cut: {cut}");
    }
    let own = snapshot.catalog.entries().iter().filter(|entry| entry.connection == server.connection);
    for entry in own.filter(|entry| !entry.flags.is_empty()) {
        let _ = writeln!(out, "  {}: {:?}", entry.raw_name, entry.flags);
    }
    if let Some((at, failure)) = &server.last_failure {
        let _ = writeln!(out, "  failed {at}: {:?}: {}", failure.kind, failure.headline);
        for line in failure.tail.iter() {
            let _ = writeln!(out, "    {line}");
        }
    }
}

/// How many calls ended how: no arguments and no results.
fn calls(out: &mut String, snapshot: &Snapshot) {
    let mut count = std::collections::BTreeMap::new();
    for call in &snapshot.calls {
        *count.entry(call.phase.word()).or_insert(0_usize) += 1;
    }
    for (word, number) in count {
        let _ = writeln!(out, "{number} {word}");
    }
    let _ = writeln!(out, "{} questions wait, {} grants", snapshot.approvals.len(), snapshot.grants.len());
}

fn trail(out: &mut String, source: &Source) {
    let health = match &source.snapshot.audit {
        AuditHealth::Good => "can be written".to_owned(),
        AuditHealth::Broken { reason } => format!("cannot be written: {reason}"),
    };
    let _ = writeln!(out, "{health}");
    let checked = match audit::verify(&source.folder) {
        Ok(verdict) if verdict.holds() => {
            format!("{} lines in {} files, the chain holds", verdict.lines, verdict.files)
        }
        Ok(verdict) => {
            let first = verdict.breaks.first().map(ToString::to_string).unwrap_or_default();
            format!("{} lines, broken in {} places, first {first}", verdict.lines, verdict.broken)
        }
        Err(error) => format!("cannot be read: {error}"),
    };
    let _ = writeln!(out, "{checked}");
}
