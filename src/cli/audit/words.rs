//! A record of the trail in plain words. Every text in it is foreign and is made visible here.

use crate::engine::audit::line::{Stored, StoredCaller};
use crate::text;

/// A record as one line.
pub(super) fn words(record: &Stored) -> String {
    let mut line = format!("{}  {:<10}", text::visible(&record.time), text::visible(&record.kind));
    let mut add = |part: &str| {
        if !part.is_empty() {
            line.push_str("  ");
            line.push_str(part);
        }
    };
    add(&safe(record.call.as_deref()));
    add(&record.caller.as_ref().map(who).unwrap_or_default());
    add(&what(record));
    add(&safe(record.class.as_deref()));
    add(&match record.kind.as_str() {
        "received" => policy(record).unwrap_or_default(),
        "decided" | "finished" => verdict(record),
        "answered" => answered(record),
        "dispatched" => allowed(record).trim_start_matches(", ").to_owned(),
        "refused" => reason(record),
        _ => safe(record.reason.as_deref()),
    });
    line
}

/// What `why` says about a record, line by line.
pub(super) fn said(record: &Stored) -> Vec<String> {
    match record.kind.as_str() {
        "received" => received(record),
        "asked" => vec!["a person was asked".to_owned()],
        "decided" => [verdict(record)].into_iter().chain(arguments(record)).collect(),
        "dispatched" => {
            let again = record.reason.as_deref().map(|reason| format!(": {}", text::visible(reason)));
            vec![format!("sent to {}{}{}", server(record), allowed(record), again.unwrap_or_default())]
        }
        "elicited" => vec![format!("{} asked the person: {}", server(record), safe(record.reason.as_deref()))],
        "answered" => vec![format!("the question of {}: {}", server(record), answered(record))],
        "finished" => vec![format!("finished: {}", verdict(record))],
        "refused" => vec![format!("refused: {}", reason(record))],
        other => vec![text::visible(other).into_owned()],
    }
}

/// `accepted: name, by person:root after 12.3 s`: what became of a server's question.
fn answered(record: &Stored) -> String {
    let mut words = safe(record.reason.as_deref());
    if let Some(decider) = &record.decider {
        words.extend([", by ", &*text::visible(decider)]);
    }
    if let Some(elapsed) = record.elapsed_ms {
        words.extend([" after ", &*duration(elapsed)]);
    }
    words
}

/// `, allowed by shell:root`
fn allowed(record: &Stored) -> String {
    record.decider.as_ref().map(|decider| format!(", allowed by {}", text::visible(decider))).unwrap_or_default()
}

/// The reason of a refusal. Those that agents were told begin with the word that stands before them here.
fn reason(record: &Stored) -> String {
    let reason = record.reason.as_deref().unwrap_or("no reason is recorded");
    text::visible(reason.strip_prefix("refused: ").unwrap_or(reason)).into_owned()
}

fn received(record: &Stored) -> Vec<String> {
    let who = record.caller.as_ref().map_or_else(|| "somebody".to_owned(), who);
    let mut lines = vec![format!("{who} asked for {}", what(record))];
    let mut class = safe(record.class.as_deref());
    for flag in &record.flags {
        class.extend([", ", &*text::visible(flag)]);
    }
    if !class.is_empty() {
        lines.push(format!("class {class}"));
    }
    for (name, hint) in record.hints.iter().flatten() {
        let part = |key: &str| hint.get(key).and_then(|value| value.as_str()).map_or("?".into(), text::visible);
        let name = text::visible(name).replace('_', " ");
        lines.push(format!("hint {name}: {} ({})", part("value"), part("source")));
    }
    lines.extend(arguments(record));
    lines
}

/// `arguments {…} (sha256 1234abcd…)`: those of a call that comes in, and those that a person put in their place.
fn arguments(record: &Stored) -> Option<String> {
    let args = record.args.as_ref()?;
    let hash: String = record.args_sha256.iter().flat_map(|hash| hash.chars()).take(8).collect();
    Some(format!("arguments {} (sha256 {}…)", text::visible(args.get()), text::visible(&hash)))
}

pub(super) fn policy(record: &Stored) -> Option<String> {
    let policy = record.policy.as_ref()?;
    Some(format!("policy: {} ({})", text::visible(&policy.decision), text::visible(&policy.by)))
}

/// `approved by person:root after 12.3 s: "reason"`, `done after 412 ms`.
fn verdict(record: &Stored) -> String {
    let mut words = safe(record.decision.as_deref().or(record.outcome.as_deref()));
    if record.kind == "finished" {
        let meaning = match record.outcome.as_deref() {
            Some("unknown") => " (sent, and the answer was lost: it may have happened)",
            _ => "",
        };
        words.push_str(meaning);
    }
    if let Some(refusal) = &record.refusal {
        words.extend([" (", &*text::visible(refusal), ")"]);
    }
    if let Some(decider) = &record.decider {
        words.extend([" by ", &*text::visible(decider)]);
    }
    if let Some(elapsed) = record.elapsed_ms {
        words.extend([" after ", &*duration(elapsed)]);
    }
    if let Some(reason) = record.reason.as_ref().filter(|reason| !reason.is_empty()) {
        words.extend([": ", &*text::visible(reason)]);
    }
    words
}

pub(super) fn who(caller: &StoredCaller) -> String {
    let Some(seat) = caller.seat.as_ref().or(caller.operator.as_ref()) else {
        return text::visible(&caller.kind).into_owned();
    };
    let details: Vec<String> = [("", &caller.client), ("session ", &caller.session)]
        .iter()
        .filter_map(|(label, value)| Some(format!("{label}{}", text::visible(value.as_ref()?))))
        .collect();
    let details = if details.is_empty() { String::new() } else { format!(" ({})", details.join(", ")) };
    // A worker is nobody without the seat it works under.
    let worker = caller.worker.as_ref().map(|worker| format!("{} of seat ", text::visible(worker)));
    format!("{} {}{}{details}", text::visible(&caller.kind), worker.unwrap_or_default(), text::visible(seat))
}

pub(super) fn what(record: &Stored) -> String {
    match (record.connection.as_ref().or(record.server.as_ref()), &record.tool, &record.name) {
        (Some(server), Some(tool), _) => format!("{}/{}", text::visible(server), text::visible(tool)),
        (Some(server), None, Some(name)) => format!("{} of {}", text::visible(name), text::visible(server)),
        (_, _, Some(name)) => text::visible(name).into_owned(),
        _ => String::new(),
    }
}

fn server(record: &Stored) -> String {
    let connection = record.connection.as_ref().or(record.server.as_ref());
    connection.map_or_else(|| "the server".to_owned(), |server| text::visible(server).into_owned())
}

pub(super) fn ends(record: &Stored) -> bool {
    match record.kind.as_str() {
        "finished" | "refused" => true,
        "decided" => record.decision.as_deref() != Some("approved"),
        _ => false,
    }
}

pub(super) fn safe(text: Option<&str>) -> String {
    text.map(|text| text::visible(text).into_owned()).unwrap_or_default()
}

fn duration(millis: u64) -> String {
    match millis {
        0..1000 => format!("{millis} ms"),
        1000..60_000 => format!("{}.{} s", millis / 1000, millis % 1000 / 100),
        _ => format!("{} min {} s", millis / 60_000, millis % 60_000 / 1000),
    }
}
