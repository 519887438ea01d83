//! `crewlet-tui audit tail|verify|export|why`: the trail for people and for other programs.
//!
//! Reads beside a running dashboard and changes nothing. Each function returns the process's exit code; what the
//! arguments are called is decided where the command line is defined.

mod words;

use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::Duration;

use crate::clock::Timestamp;
use crate::engine::audit::line::{Stored, escape_hidden};
use crate::engine::audit::read::{self, Follow, ReadError};
use crate::engine::audit::{Verdict, verify as verify_chain};
use crate::text;
use words::{ends, policy, safe, said, what, who, words};

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
    let lines = read::last_lines(dir, count)?;
    let mut out = BufWriter::new(out);
    closed(lines.iter().try_for_each(|line| show(line, format, &mut out)).and_then(|()| out.flush()))?;
    Ok(0)
}

/// Shows the last `count` records and then each new one, until the output is closed or the process ends.
///
/// # Errors
/// When the trail cannot be read. A closed output is an end in order.
pub fn follow(dir: &Path, count: usize, format: Format, out: &mut dyn Write) -> Result<u8, AuditCommandError> {
    let failed = |source| AuditCommandError::Read(ReadError::io(dir, source));
    if !dir.is_dir() {
        return Err(ReadError::NoTrail { dir: dir.to_path_buf() }.into());
    }
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
    let mut out = BufWriter::new(out);
    let mut result = Ok(());
    read::each_line(dir, |line| {
        // One notation in UTC throughout, so text compares like time. What is no record is not left out.
        let wanted = since.as_ref().is_none_or(|since| Stored::decode(line).map_or(true, |s| s.time >= *since));
        if wanted && result.is_ok() {
            result = show(line, Format::Json, &mut out);
        }
    })?;
    closed(result.and_then(|()| out.flush()))?;
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
    closed(tell(&verdict, out))?;
    Ok(if verdict.holds() { 0 } else { BROKEN })
}

fn tell(verdict: &Verdict, out: &mut dyn Write) -> io::Result<()> {
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
        writeln!(
            out,
            "note: the head file does not know the last {} record(s) yet; normal while the program runs, and after a crash",
            verdict.head_lag
        )?;
    }
    out.flush()
}

/// Tells one call's whole story in plain words. `call` may be the beginning of its name.
///
/// # Errors
/// When there is no such call, or more than one.
pub fn why(dir: &Path, call: &str, out: &mut dyn Write) -> Result<u8, AuditCommandError> {
    let records = read::story(dir, call)?;
    closed(tell_story(&records, out))?;
    Ok(0)
}

fn tell_story(records: &[Stored], out: &mut dyn Write) -> io::Result<()> {
    if let Some(first) = records.first() {
        writeln!(out, "call {}", safe(first.call.as_deref()))?;
    }
    let (mut who_asked, mut policy_said) = (None, None);
    for record in records {
        let mut said = said(record);
        // Each is told once, with the first record that states it.
        if record.caller.is_some() && who_asked.is_none() {
            who_asked = record.caller.as_ref().map(who);
            if record.kind != "received" {
                said.push(format!("{} had asked for {}", who_asked.as_deref().unwrap_or_default(), what(record)));
            }
        }
        let policy = policy(record);
        if policy.is_some() && policy != policy_said {
            said.extend(policy.clone());
            policy_said = policy;
        }
        let mut said = said.into_iter();
        writeln!(out, "  {}  {}", text::visible(&record.time), said.next().unwrap_or_default())?;
        for more in said {
            writeln!(out, "  {:24}  {more}", "")?;
        }
    }
    if !records.last().is_some_and(ends) {
        writeln!(out, "  it has not ended")?;
    }
    out.flush()
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
