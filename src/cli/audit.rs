//! `crewlet-tui audit tail|verify|export|why`: the trail for people and for other programs.
//!
//! Reads beside a running dashboard and changes nothing. Each function returns the process's exit code; what the
//! arguments are called is decided where the command line is defined.

use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use crate::clock::Timestamp;
use crate::engine::audit::line::{Stored, StoredCaller, escape_hidden};
use crate::engine::audit::read::{self, Follow, ReadError};
use crate::engine::audit::verify as verify_chain;
use crate::text;

/// Why an `audit` command failed.
#[derive(Debug, thiserror::Error)]
pub enum AuditCommandError {
    /// The trail.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Standard output.
    #[error("cannot write the output: {0}")]
    Output(#[from] io::Error),
    /// `--since` is no time.
    #[error(
        "\"{0}\" is neither a time such as 2026-11-30T14:00:00Z, nor a day such as 2026-11-30, nor an age such as 90m, 2h or 7d"
    )]
    Since(String),
}

/// Exit code for a chain that does not hold.
const BROKEN: u8 = 1;

/// How `tail` shows a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// One short line a record.
    Words,
    /// The line of the trail.
    Json,
}

/// Shows the last `count` records.
///
/// # Errors
/// When there is no trail or it cannot be read or written out.
pub fn tail(dir: &Path, count: usize, format: Format, out: &mut dyn Write) -> Result<u8, AuditCommandError> {
    for line in read::last_lines(dir, count)? {
        show(&line, format, out)?;
    }
    out.flush()?;
    Ok(0)
}

/// Shows the last `count` records and then each new one, until the output is closed or the process ends.
///
/// # Errors
/// When the trail cannot be read. A closed output is an end in order.
pub fn follow(dir: &Path, count: usize, format: Format, out: &mut dyn Write) -> Result<u8, AuditCommandError> {
    let failed = |source| AuditCommandError::Read(ReadError::io(dir, source));
    // Taken before the last lines are read, so that none is missed in between.
    let mut follow = Follow::new(dir).map_err(failed)?;
    let mut lines = match read::last_lines(dir, count) {
        Err(ReadError::NoTrail { .. }) => Vec::new(),
        lines => lines?,
    };
    let mut shown = 0;
    loop {
        for line in lines {
            // A line that came while the last ones were read is in both.
            let seq = Stored::decode(&line).map_or(u64::MAX, |stored| stored.seq);
            if seq <= shown {
                continue;
            }
            shown = if seq == u64::MAX { shown } else { seq };
            if closed(show(&line, format, out))? {
                return Ok(0);
            }
        }
        if closed(out.flush())? {
            return Ok(0);
        }
        std::thread::sleep(Duration::from_millis(250));
        lines = follow.read().map_err(failed)?;
    }
}

/// Writes all records from `since` on as JSON lines.
///
/// # Errors
/// When there is no trail or it cannot be read or written out.
pub fn export(dir: &Path, since: Option<Timestamp>, out: &mut dyn Write) -> Result<u8, AuditCommandError> {
    let since = since.map(Timestamp::rfc3339);
    let mut result = Ok(());
    read::each_line(dir, |line| {
        // One notation in UTC throughout, so text compares like time. What is no record is not left out.
        let wanted = since.as_ref().is_none_or(|since| Stored::decode(line).map_or(true, |s| s.time >= *since));
        if wanted && result.is_ok() {
            result = show(line, Format::Json, out);
        }
    })?;
    if closed(result.and_then(|()| out.flush()))? {
        return Ok(0);
    }
    Ok(0)
}

/// Checks the chain and says what it found. 0 when it holds, 1 when not.
///
/// # Errors
/// When there is no trail or it cannot be read or written out.
pub fn verify(dir: &Path, out: &mut dyn Write) -> Result<u8, AuditCommandError> {
    let verdict = verify_chain(dir).map_err(|source| ReadError::io(dir, source))?;
    if verdict.files == 0 && verdict.holds() {
        return Err(ReadError::NoTrail { dir: dir.to_path_buf() }.into());
    }
    for place in &verdict.breaks {
        writeln!(out, "broken: {}", text::visible(&place.to_string()))?;
    }
    let more = verdict.broken - verdict.breaks.len() as u64;
    if more > 0 {
        writeln!(out, "broken: and {more} more place(s)")?;
    }
    let (lines, files) = (verdict.lines, verdict.files);
    if verdict.holds() {
        writeln!(out, "the chain holds: {lines} record(s) in {files} file(s)")?;
    } else {
        writeln!(out, "the chain does not hold: {lines} line(s) in {files} file(s), {} break(s)", verdict.broken)?;
    }
    if verdict.torn > 0 {
        writeln!(out, "note: an incomplete last line of {} bytes; the next start sets it aside", verdict.torn)?;
    }
    if verdict.head_lag > 0 {
        writeln!(out, "note: {} record(s) after the head file's last; normal after a crash", verdict.head_lag)?;
    }
    out.flush()?;
    Ok(if verdict.holds() { 0 } else { BROKEN })
}

/// Tells one call's whole story in plain words. `call` may be the beginning of its name.
///
/// # Errors
/// When there is no such call, or more than one.
pub fn why(dir: &Path, call: &str, out: &mut dyn Write) -> Result<u8, AuditCommandError> {
    let records = read::story(dir, call)?;
    if let Some(first) = records.first() {
        writeln!(out, "call {}", safe(first.call.as_deref()))?;
    }
    for record in &records {
        let mut said = said(record).into_iter();
        writeln!(out, "  {}  {}", text::visible(&record.time), said.next().unwrap_or_default())?;
        for more in said {
            writeln!(out, "  {:24}  {more}", "")?;
        }
    }
    if !records.last().is_some_and(ends) {
        writeln!(out, "  it has not ended")?;
    }
    out.flush()?;
    Ok(0)
}

/// Reads `--since`.
///
/// # Errors
/// When it is none of the accepted forms.
pub fn since(argument: &str, now: Timestamp) -> Result<Timestamp, AuditCommandError> {
    let wrong = || AuditCommandError::Since(text::visible(argument).into_owned());
    let units = [("s", 1), ("m", 60), ("h", 3600), ("d", 86400)];
    for (unit, seconds) in units {
        let number = argument.strip_suffix(unit).and_then(|number| number.parse::<i64>().ok());
        if let Some(number) = number.filter(|number| *number >= 0) {
            let millis = number.checked_mul(seconds * 1000).ok_or_else(wrong)?;
            return Ok(Timestamp::from_millis(now.millis().saturating_sub(millis)));
        }
    }
    let at: jiff::Timestamp =
        argument.parse().or_else(|_| format!("{argument}T00:00:00Z").parse()).map_err(|_| wrong())?;
    Ok(Timestamp::from_millis(at.as_millisecond()))
}

fn show(line: &[u8], format: Format, out: &mut dyn Write) -> io::Result<()> {
    let raw = String::from_utf8_lossy(line);
    match (format, Stored::decode(line)) {
        (Format::Words, Ok(record)) => writeln!(out, "{}", words(&record)),
        (Format::Words, Err(_)) => writeln!(out, "not a record: {}", text::visible(&raw)),
        // Our own lines have no hidden characters; a line that somebody else wrote may.
        (Format::Json, _) => writeln!(out, "{}", escape_hidden(&raw)),
    }
}

/// True when nobody reads the output any more.
fn closed(result: io::Result<()>) -> io::Result<bool> {
    match result {
        Ok(()) => Ok(false),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(true),
        Err(error) => Err(error),
    }
}

/// A record as one line.
fn words(record: &Stored) -> String {
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
        _ => safe(record.reason.as_deref()),
    });
    line
}

/// What `why` says about a record, line by line.
fn said(record: &Stored) -> Vec<String> {
    let mut lines = match record.kind.as_str() {
        "received" => received(record),
        "asked" => vec!["a person was asked".to_owned()],
        "decided" => vec![verdict(record)],
        "dispatched" => vec![format!("sent to {}", server(record))],
        "finished" => vec![format!("finished: {}", verdict(record))],
        "refused" => {
            let who = record.caller.as_ref().map_or_else(|| "somebody".to_owned(), who);
            let mut lines = vec![format!("refused: {}", safe(record.reason.as_deref()))];
            lines.push(format!("{who} had asked for {}", what(record)));
            lines.extend(policy(record));
            lines
        }
        other => vec![text::visible(other).into_owned()],
    };
    if record.kind == "asked" {
        lines.extend(policy(record));
    }
    lines
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
    if let Some(args) = &record.args {
        let hash: String = record.args_sha256.iter().flat_map(|hash| hash.chars()).take(8).collect();
        lines.push(format!("arguments {} (sha256 {}…)", text::visible(args.get()), text::visible(&hash)));
    }
    lines.extend(policy(record));
    lines
}

fn policy(record: &Stored) -> Option<String> {
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

fn who(caller: &StoredCaller) -> String {
    let Some(seat) = &caller.seat else { return text::visible(&caller.kind).into_owned() };
    let details: Vec<String> = [("", &caller.client), ("session ", &caller.session)]
        .iter()
        .filter_map(|(label, value)| Some(format!("{label}{}", text::visible(value.as_ref()?))))
        .collect();
    let details = if details.is_empty() { String::new() } else { format!(" ({})", details.join(", ")) };
    format!("{} {}{details}", text::visible(&caller.kind), text::visible(seat))
}

fn what(record: &Stored) -> String {
    match (&record.server, &record.tool, &record.name) {
        (Some(server), Some(tool), _) => format!("{}/{}", text::visible(server), text::visible(tool)),
        (_, _, Some(name)) => text::visible(name).into_owned(),
        _ => String::new(),
    }
}

fn server(record: &Stored) -> String {
    record.server.as_deref().map_or_else(|| "the server".to_owned(), |server| text::visible(server).into_owned())
}

fn ends(record: &Stored) -> bool {
    match record.kind.as_str() {
        "finished" | "refused" => true,
        "decided" => record.decision.as_deref() != Some("approved"),
        _ => false,
    }
}

fn safe(text: Option<&str>) -> String {
    text.map(|text| text::visible(text).into_owned()).unwrap_or_default()
}

fn duration(millis: u64) -> String {
    match millis {
        0..1000 => format!("{millis} ms"),
        1000..60_000 => format!("{}.{} s", millis / 1000, millis % 1000 / 100),
        _ => format!("{} min {} s", millis / 60_000, millis % 60_000 / 1000),
    }
}
