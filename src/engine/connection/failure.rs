//! Turning what went wrong into a [`Failure`]: one line that names the thing and the reason, and a next step.
//!
//! The supervisor calls it with what it saw. Pure; texts are cleaned and redacted by the caller's sink.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::sync::Arc;
use std::time::Duration;

use super::cause;
use super::handshake::HandshakeError;
use super::message::LinkEnd;
use super::stdio::Exit;
use super::{ConnectionSpec, StdioSpec, TransportSpec};
use crate::engine::status::{Failure, FailureKind};

/// Characters of a line that a headline quotes.
const QUOTED_CHARS: usize = 200;

/// What went wrong.
#[derive(Debug)]
pub(super) enum Trouble {
    /// The child could not be started.
    Spawn(io::Error),
    /// No usable endpoint can be made of the configuration.
    Endpoint(String),
    /// Connecting and the handshake took longer than the start limit.
    ConnectTimedOut,
    /// Listing tools took longer than the start limit.
    ListTimedOut,
    /// The handshake failed on an answer.
    Handshake(HandshakeError),
    /// The handshake worked, listing did not.
    Listing(String),
    /// The link ended, or the child did.
    Ended(LinkEnd),
    /// A task of ours panicked.
    Panicked,
}

impl Trouble {
    /// True when another attempt cannot end differently before a person changes something.
    pub fn is_final(&self) -> bool {
        match self {
            Self::Spawn(error) => matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied),
            Self::Handshake(error) => matches!(error, HandshakeError::Version { .. }),
            Self::Ended(end) => matches!(end, LinkEnd::Unauthorized(_)),
            Self::Endpoint(_) | Self::Panicked => true,
            Self::ConnectTimedOut | Self::ListTimedOut | Self::Listing(_) => false,
        }
    }
}

/// The failure that people see. `exit` is the child's end where it came by itself, `tail` its last lines.
pub(super) fn describe(
    spec: &ConnectionSpec,
    trouble: &Trouble,
    exit: Option<Exit>,
    tail: &Arc<[Arc<str>]>,
) -> Failure {
    let limit = spec.startup_timeout.as_secs_f64();
    let raise = "raise its startup_timeout_seconds if it only needs longer";
    let (kind, headline, step) = match trouble {
        Trouble::Spawn(error) => spawn_failure(spec, error),
        Trouble::Endpoint(reason) => (FailureKind::Config, reason.clone(), None),
        Trouble::ConnectTimedOut => {
            let text = format!("did not connect within {limit} s (startup_timeout_seconds)");
            (FailureKind::TimedOut, text, Some(raise.to_owned()))
        }
        Trouble::ListTimedOut => {
            let text = format!("did not list its tools within {limit} s (startup_timeout_seconds)");
            (FailureKind::TimedOut, text, Some(raise.to_owned()))
        }
        Trouble::Handshake(HandshakeError::Ended { reason, .. }) => {
            ended(spec, &LinkEnd::Broken(reason.to_string()), exit, tail)
        }
        Trouble::Handshake(error @ HandshakeError::Version { .. }) => (FailureKind::Version, error.to_string(), None),
        Trouble::Handshake(error) => (FailureKind::Handshake, error.to_string(), None),
        Trouble::Listing(reason) => {
            (FailureKind::Listing, format!("initialize worked, listing tools failed: {reason}"), None)
        }
        Trouble::Ended(end) => ended(spec, end, exit, tail),
        Trouble::Panicked => {
            let text = "a task of this program panicked; the log has the details".to_owned();
            (FailureKind::Internal, text, Some("restart the server; please report this".to_owned()))
        }
    };
    let clean = |text: &str| Arc::from(spec.redactor.redact(&crate::text::clean(text)).as_ref());
    Failure { kind, headline: clean(&headline), next_step: step.as_deref().map(clean), tail: tail.clone() }
}

type Parts = (FailureKind, String, Option<String>);

fn spawn_failure(spec: &ConnectionSpec, error: &io::Error) -> Parts {
    let TransportSpec::Stdio(stdio) = &spec.transport else {
        return (FailureKind::Spawn, error.to_string(), None);
    };
    let command = stdio.command.to_string_lossy();
    if let Some(cwd) = stdio.cwd.as_ref().filter(|cwd| !cwd.is_dir()) {
        let text = format!("cannot start \"{command}\": its working directory \"{}\" is no folder", cwd.display());
        return (FailureKind::Spawn, text, Some("correct its cwd, or make the folder".to_owned()));
    }
    let (reason, step) = match error.kind() {
        io::ErrorKind::NotFound if command.contains('/') => {
            ("no such file (or its interpreter is missing)".to_owned(), "correct its command")
        }
        io::ErrorKind::NotFound => ("not found in PATH".to_owned(), "install it, or give the full path as its command"),
        io::ErrorKind::PermissionDenied => {
            ("permission denied".to_owned(), "make it executable, or correct its command")
        }
        _ => (error.to_string(), "press r to try again"),
    };
    (FailureKind::Spawn, format!("cannot start \"{command}\": {reason}"), Some(step.to_owned()))
}

/// What to do about a credential that a server misses.
fn set(name: &str, spec: &ConnectionSpec) -> String {
    let empty = |stdio: &StdioSpec| stdio.env.iter().any(|(key, value)| **key == *name && value.expose().is_empty());
    match &spec.transport {
        // As `${NAME:-}` leaves it: the file is right, and it may be one that is built in.
        TransportSpec::Stdio(stdio) if empty(stdio) => format!("export {name} (or set it under its env), start again"),
        _ => format!("set {name} under its env in the configuration (saving restarts it)"),
    }
}

fn ended(spec: &ConnectionSpec, end: &LinkEnd, exit: Option<Exit>, tail: &[Arc<str>]) -> Parts {
    match end {
        LinkEnd::TooLarge(limit) => {
            let text = format!("message over limit: more than {} MiB in one message", limit >> 20);
            return (FailureKind::TooLarge, text, None);
        }
        LinkEnd::Unauthorized(reason) => {
            let step = "check the credentials in its headers".to_owned();
            return (FailureKind::Unauthorized, reason.clone(), Some(step));
        }
        LinkEnd::Internal => return (FailureKind::Internal, "a task of this program ended early".to_owned(), None),
        LinkEnd::Closed | LinkEnd::Broken(_) => {}
    }
    if let Some(exit) = exit {
        // A process that was killed from outside did not say why; whatever it wrote last is not the reason.
        let killed = exit.status.is_some_and(|status| matches!(status.signal(), Some(9 | 15)));
        let line = if killed { cause::error_line(tail) } else { cause::telling_line(tail) };
        let step = line.and_then(|line| cause::named_credential(line)).map(|name| set(name, spec));
        let why = line.map(|line| format!(": {}", line.trim().chars().take(QUOTED_CHARS).collect::<String>()));
        return (FailureKind::Exited, exit_text(exit) + &why.unwrap_or_default(), step);
    }
    match end {
        LinkEnd::Broken(reason) => {
            let step = match reason.as_str() {
                reason if reason.starts_with("cannot connect") => Some("check its url, and that the server runs"),
                reason if reason.contains("redirects to") => {
                    Some("set its url to where it redirects to, if you trust it")
                }
                _ => None,
            };
            (FailureKind::Transport, reason.clone(), step.map(str::to_owned))
        }
        _ => (FailureKind::Transport, "it closed its output and kept running".to_owned(), None),
    }
}

/// `exit 1 after 0.8 s`, `killed by signal 9 (SIGKILL) after 12 s`.
pub(super) fn exit_text(exit: Exit) -> String {
    let after = seconds(exit.after);
    match exit.status {
        Some(status) => match (status.code(), status.signal()) {
            (Some(code), _) => format!("exit {code} after {after}"),
            (None, Some(signal)) => format!("killed by {} after {after}", signal_text(signal)),
            (None, None) => format!("ended after {after}"),
        },
        None => format!("ended after {after}"),
    }
}

fn signal_text(number: i32) -> String {
    let name = match number {
        1 => "SIGHUP",
        2 => "SIGINT",
        4 => "SIGILL",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        15 => "SIGTERM",
        _ => return format!("signal {number}"),
    };
    format!("signal {number} ({name})")
}

fn seconds(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    if seconds < 10.0 { format!("{seconds:.1} s") } else { format!("{seconds:.0} s") }
}
