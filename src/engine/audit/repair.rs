//! Instances, and the calls that an instance left open when it was killed.
//!
//! Each run of the program locks a small file of its own for as long as it lives; the system gives the lock back
//! whatever the end. A file that nobody locks belongs to a run that is gone: its open calls are closed in the
//! trail by whoever starts next. Used by the writer at its start.

use std::collections::HashMap;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use super::chain;
use super::line::{Stored, StoredCaller};
use super::record::{Decision, Kind, Outcome, Record};
use crate::clock::Timestamp;
use crate::engine::snapshot::Caller;
use crate::ids::{CallId, ConnectionName, SeatHandle, ServerName, WorkerId};
use crate::tool::EffectClass;

const FOLDER: &str = "instances";

/// The mark of a running instance; removed when it ends in order.
#[derive(Debug)]
pub(super) struct Alive {
    path: PathBuf,
    _lock: File,
}

impl Alive {
    /// Marks this instance as running. The trail's lock is held.
    pub(super) fn mark(dir: &Path, instance: &str, seq: u64) -> io::Result<Self> {
        let folder = dir.join(FOLDER);
        DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        let path = folder.join(instance);
        let mut lock = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&path)?;
        // Only a second writer under one name could hold it; waiting for it would be waiting for ever.
        lock.try_lock().map_err(|_| io::Error::other(format!("instance \"{instance}\" is running already")))?;
        lock.set_len(0)?;
        writeln!(lock, "{seq}")?;
        Ok(Self { path, _lock: lock })
    }

    /// For an end in order: nothing is left to repair.
    pub(super) fn remove(self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// An instance that is gone without having ended in order.
#[derive(Debug)]
pub(super) struct Gone {
    path: PathBuf,
    name: String,
    /// The last line before its start.
    since: u64,
    // Keeps anybody else from taking it for gone at the same time.
    _lock: File,
}

impl Gone {
    /// Its calls are closed: forget it.
    pub(super) fn forget(self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// The instances that are gone. The trail's lock is held, so no instance is just about to mark itself.
pub(super) fn gone(dir: &Path) -> io::Result<Vec<Gone>> {
    let entries = match fs::read_dir(dir.join(FOLDER)) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut gone = Vec::new();
    for entry in entries {
        let entry = entry?;
        // What cannot be opened or locked is taken for alive: closing a living call would be a lie.
        let Ok(file) = File::open(entry.path()) else { continue };
        if file.try_lock().is_err() {
            continue;
        }
        let since = fs::read_to_string(entry.path()).unwrap_or_default().trim().parse().unwrap_or(0);
        let name = entry.file_name().to_string_lossy().into_owned();
        gone.push(Gone { path: entry.path(), name, since, _lock: file });
    }
    Ok(gone)
}

/// Where a call stood when its instance went away.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Left {
    /// Received or asked, not decided.
    Waiting,
    /// Approved, not sent.
    Approved,
    /// Sent, no answer.
    Dispatched,
}

/// The records that close what the instances left open, in the order in which the calls came in.
pub(super) fn closing_records(dir: &Path, gone: &[Gone]) -> io::Result<Vec<Record>> {
    let Some(since) = gone.iter().map(|gone| gone.since).min() else { return Ok(Vec::new()) };
    let mut open: HashMap<String, (Left, Stored)> = HashMap::new();
    for file in files_since(dir, since)? {
        chain::lines(&File::open(file)?, u64::MAX, |line, _| {
            if let Ok(stored) = Stored::decode(line) {
                follow(&mut open, stored, gone);
            }
        })?;
    }
    let mut left: Vec<(Left, Stored)> = open.into_values().collect();
    left.sort_by_key(|(_, stored)| stored.seq);
    Ok(left.into_iter().map(|(left, stored)| closing(left, stored)).collect())
}

/// The files that may hold lines after number `since`.
fn files_since(dir: &Path, since: u64) -> io::Result<Vec<PathBuf>> {
    let files = chain::files(dir)?;
    let first = |path: &PathBuf| -> Option<u64> {
        path.file_name()?.to_str()?.strip_prefix("audit.")?.strip_suffix(".jsonl")?.parse().ok()
    };
    let start =
        files.iter().rposition(|path| first(path).is_some_and(|first| first <= since.saturating_add(1))).unwrap_or(0);
    Ok(files.into_iter().skip(start).collect())
}

fn follow(open: &mut HashMap<String, (Left, Stored)>, stored: Stored, gone: &[Gone]) {
    let Some(call) = stored.call.clone() else { return };
    let left = match (stored.kind.as_str(), stored.decision.as_deref()) {
        ("received" | "asked", _) => Left::Waiting,
        ("decided", Some("approved")) => Left::Approved,
        ("dispatched", _) => Left::Dispatched,
        // What a server asks during a call says nothing about where the call stands.
        ("elicited" | "answered", _) => return,
        _ => {
            // Ended, by whomever.
            open.remove(&call);
            return;
        }
    };
    if !gone.iter().any(|gone| stored.instance.as_deref() == Some(&gone.name)) {
        return;
    }
    open.entry(call).and_modify(|entry| entry.0 = left).or_insert((left, stored));
}

fn closing(left: Left, stored: Stored) -> Record {
    let (kind, reason) = match left {
        Left::Waiting => (Kind::Decided, "the program ended while the call was waiting"),
        Left::Approved => (Kind::Finished, "the program ended after the approval and before the call was sent"),
        Left::Dispatched => (Kind::Finished, "the program ended after the call was sent and before its answer"),
    };
    Record {
        call: stored.call.map(|call| CallId::new(call.as_str())),
        caller: stored.caller.and_then(caller),
        server: stored.server.map(|server| ServerName::new(server.as_str())),
        connection: stored.connection.map(|connection| ConnectionName::new(connection.as_str())),
        tool: stored.tool.map(Into::into),
        name: stored.name.map(Into::into),
        class: EffectClass::ALL.into_iter().find(|class| Some(class.as_str()) == stored.class.as_deref()),
        args_sha256: stored.args_sha256.as_deref().and_then(chain::parse_digest),
        decision: (left == Left::Waiting).then_some(Decision::Withdrawn),
        outcome: match left {
            Left::Waiting => None,
            Left::Approved => Some(Outcome::Failed),
            Left::Dispatched => Some(Outcome::Unknown),
        },
        reason: Some(reason.into()),
        ..Record::new(Timestamp::now(), kind)
    }
}

/// Who asked, as far as the line says it in words that we know.
fn caller(stored: StoredCaller) -> Option<Caller> {
    let (session, client) = (stored.session.unwrap_or_default().into(), stored.client.unwrap_or_default().into());
    match (stored.kind.as_str(), stored.seat, stored.operator) {
        ("console", ..) => Some(Caller::Console),
        ("worker", Some(seat), _) => {
            let (seat, worker) = (SeatHandle::new(seat.as_str()), WorkerId::new(stored.worker.unwrap_or_default()));
            Some(Caller::Worker { holder: SeatHandle::of_worker(&seat, &worker), seat, session, client })
        }
        ("seat", Some(seat), _) => Some(Caller::Seat { seat: SeatHandle::new(seat.as_str()), session, client }),
        ("operator", _, Some(id)) => Some(Caller::Operator { holder: SeatHandle::of_operator(&id), session, client }),
        ("connector", _, Some(id)) => Some(Caller::Operator { holder: SeatHandle::of_connector(&id), session, client }),
        _ => None,
    }
}
