//! A second process that outlives this one by a moment: when we die without a word (SIGKILL, the kernel short of
//! memory), it ends the process groups of our children.
//!
//! It is this executable again, told of each group on its standard input. The end of that input is our death. On
//! every orderly way out all groups are gone by then and it has nothing to do. A descendant that opened a session of
//! its own is in no group of ours and is not found.

use std::collections::BTreeSet;
use std::io::{self, BufRead, Write};
use std::os::unix::process::CommandExt;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

/// The command that makes this executable the watchdog.
pub const COMMAND: &str = "watchdog";
/// How long the groups have to end by themselves before they are killed.
const GRACE: Duration = Duration::from_secs(2);

static WATCHDOG: Mutex<Option<ChildStdin>> = Mutex::new(None);

/// What happened to a group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Change {
    /// Its leader was started.
    Born,
    /// Nothing of it is left.
    Gone,
}

/// Starts the watchdog of this process. Only the real program calls this: in a test the executable is another one.
///
/// # Errors
/// When the process cannot be started; everything else goes on without it.
pub fn start() -> io::Result<()> {
    let mut command = Command::new(std::env::current_exe()?);
    // A group of its own: the terminal's Ctrl-C and hang-up are for us.
    command.arg(COMMAND).process_group(0).env_clear();
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    if let Some(stdin) = child.stdin.take() {
        // It must never hold us up: what does not fit into the pipe is not told.
        rustix::fs::fcntl_setfl(&stdin, rustix::fs::OFlags::NONBLOCK)?;
        *WATCHDOG.lock().unwrap_or_else(PoisonError::into_inner) = Some(stdin);
    }
    Ok(())
}

/// Tells the watchdog, if there is one.
pub(super) fn tell(change: Change, group: i32) {
    let sign = match change {
        Change::Born => '+',
        Change::Gone => '-',
    };
    let mut watchdog = WATCHDOG.lock().unwrap_or_else(PoisonError::into_inner);
    let failed = watchdog.as_mut().is_some_and(|stdin| stdin.write_all(format!("{sign}{group}\n").as_bytes()).is_err());
    if failed {
        // It is gone or stuck; a stale list would be worse than none.
        *watchdog = None;
        tracing::warn!("watchdog_lost");
    }
}

/// The watchdog itself: waits for the end of its input, then ends what is left.
pub fn run() {
    let mut groups = BTreeSet::new();
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        let Some((sign, Ok(group))) = line.split_at_checked(1).map(|(sign, group)| (sign, group.parse::<i32>())) else {
            continue;
        };
        // 0 and 1 are our own group and everybody's.
        match sign {
            "+" if group > 1 => _ = groups.insert(group),
            _ => _ = groups.remove(&group),
        }
    }
    let signal = |signal: Signal| {
        for group in groups.iter().copied().filter_map(Pid::from_raw) {
            let _ = kill_process_group(group, signal);
        }
    };
    let left = || groups.iter().copied().filter_map(Pid::from_raw).any(|group| test_kill_process_group(group).is_ok());
    signal(Signal::TERM);
    let began = std::time::Instant::now();
    while left() && began.elapsed() < GRACE {
        std::thread::sleep(Duration::from_millis(20));
    }
    signal(Signal::KILL);
}
