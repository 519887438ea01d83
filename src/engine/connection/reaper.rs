//! Process groups of children: signalling them, and never leaving one behind.
//!
//! [`super::stdio`] registers each child's group. [`kill_all_groups`] is for the panic hook and abnormal exits, where
//! nothing can be awaited.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError, TryLockError};

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

use super::watchdog::{self, Change};

static GROUPS: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

/// Sends SIGKILL to every process group of a child that is still registered. Synchronous and safe to call from a
/// panic hook, at any time and more than once.
pub fn kill_all_groups() {
    // The panicking thread may itself hold the lock; then it is not waited for for ever.
    for _ in 0..100 {
        let groups = match GROUPS.try_lock() {
            Ok(groups) => groups,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                std::thread::yield_now();
                continue;
            }
        };
        for group in groups.iter().copied().filter_map(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        return;
    }
}

/// A child's process group. Dropping it kills what is left of it.
#[derive(Debug)]
pub(super) struct Group(Pid);

impl Group {
    /// Registers the group that the process `pid` leads. `None` when that is no process id.
    pub fn register(pid: u32) -> Option<Self> {
        let pid = Pid::from_raw(i32::try_from(pid).ok()?)?;
        GROUPS.lock().unwrap_or_else(PoisonError::into_inner).insert(pid.as_raw_nonzero().get());
        watchdog::tell(Change::Born, pid.as_raw_nonzero().get());
        Some(Self(pid))
    }

    /// The group's number, which is its leader's process id.
    pub fn id(&self) -> i32 {
        self.0.as_raw_nonzero().get()
    }

    /// Sends a signal to all of it.
    pub fn signal(&self, signal: Signal) {
        if let Err(error) = kill_process_group(self.0, signal)
            && error != rustix::io::Errno::SRCH
        {
            tracing::warn!(pgid = self.id(), %error, "server_group_kill_failed");
        }
    }

    /// Whether a process of it is left.
    pub fn is_alive(&self) -> bool {
        test_kill_process_group(self.0) != Err(rustix::io::Errno::SRCH)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = kill_process_group(self.0, Signal::KILL);
        GROUPS.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id());
        watchdog::tell(Change::Gone, self.id());
    }
}
