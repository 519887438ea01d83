//! A child process that speaks the protocol over its pipes: spawning it, and taking it down with everything it left.
//!
//! The supervisor opens one for each start. Every child leads a session and process group of its own, so that it has
//! no terminal and can be signalled together with its descendants.

use std::io;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use rustix::process::Signal;
use tokio::process::{Child, ChildStderr, Command};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

use super::lines::LineSink;
use super::link::Link;
use super::reaper::Group;
use super::stderr::{self, Tail};
use super::{StdioSpec, environment, wire};
use crate::engine::state_dir::original_umask;
use crate::ids::ConnectionName;

/// Time between the steps of the ladder: input closed, SIGTERM, SIGKILL.
const STEP: Duration = Duration::from_secs(2);
/// Time that descendants have after SIGTERM when their leader has gone.
const SWEEP: Duration = Duration::from_millis(500);
/// Time that stderr has to end once the leader has gone.
const DRAIN: Duration = Duration::from_secs(2);

/// A running child.
pub(super) struct Process {
    child: Child,
    group: Group,
    tail: Tail,
    stderr: Option<JoinHandle<()>>,
    started: Instant,
    exit: Option<Exit>,
    name: ConnectionName,
}

/// How a child ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Exit {
    /// Its status, where it could be read.
    pub status: Option<std::process::ExitStatus>,
    /// From spawn to the end.
    pub after: Duration,
}

impl Process {
    /// Starts the child and the tasks on its pipes.
    ///
    /// # Errors
    /// The system's, from spawning.
    pub fn spawn(spec: &StdioSpec, name: &ConnectionName, sink: &Arc<LineSink>) -> io::Result<(Self, Link)> {
        let mut child = command(spec).spawn()?;
        let started = Instant::now();
        let lost = || io::Error::other("the child ended before it could be watched");
        let group = child.id().and_then(Group::register).ok_or_else(lost)?;
        let (Some(stdin), Some(stdout), Some(err)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(lost());
        };
        let tail = Tail::default();
        let stderr = Some(start_drain(err, name, sink, &tail));
        let stdin = wire::Writer::Pipe(Arc::new(wire::Pipe::new(stdin.into_owned_fd()?)?));
        let link = wire::spawn(stdin, stdout, sink.clone());
        Ok((Self { child, group, tail, stderr, started, exit: None, name: name.clone() }, link))
    }

    /// Its process id, while it runs.
    pub fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// Waits for its end.
    pub async fn exited(&mut self) -> Exit {
        if let Some(exit) = self.exit {
            return exit;
        }
        let status = self.child.wait().await.ok();
        let exit = Exit { status, after: self.started.elapsed() };
        self.exit = Some(exit);
        exit
    }

    /// How it ended, where that has been seen.
    pub const fn exit(&self) -> Option<Exit> {
        self.exit
    }

    /// The last lines of its stderr.
    pub fn tail(&self) -> &Tail {
        &self.tail
    }

    /// Takes it down; its stdin has been closed. Two seconds, SIGTERM, two seconds, SIGKILL, each to the group, then
    /// what is left of the group, whatever happened before. Afterwards no process of it is left.
    pub async fn take_down(mut self) {
        let mut clean = true;
        let mut exit = timeout(STEP, self.exited()).await;
        for signal in [Signal::TERM, Signal::KILL] {
            if exit.is_err() {
                clean = false;
                self.group.signal(signal);
                exit = timeout(STEP, self.exited()).await;
            }
        }
        self.sweep(clean).await;
        self.end_stderr().await;
    }

    /// Ends descendants that outlived their leader.
    async fn sweep(&self, clean_close: bool) {
        if !self.group.is_alive() {
            return;
        }
        self.group.signal(Signal::TERM);
        let deadline = Instant::now() + SWEEP;
        while self.group.is_alive() && Instant::now() < deadline {
            sleep(Duration::from_millis(10)).await;
        }
        self.group.signal(Signal::KILL);
        tracing::debug!(server = %self.name, pgid = self.group.id(), clean_close, "server_tree_reaped");
    }

    /// A descendant that left the group may hold the pipe; then the reader is ended by force.
    async fn end_stderr(&mut self) {
        let Some(mut stderr) = self.stderr.take() else { return };
        if timeout(DRAIN, &mut stderr).await.is_err() {
            stderr.abort();
            tracing::warn!(server = %self.name, pgid = self.group.id(), "server_stderr_reader_forced");
        }
    }
}

fn start_drain(err: ChildStderr, name: &ConnectionName, sink: &Arc<LineSink>, tail: &Tail) -> JoinHandle<()> {
    tokio::spawn(stderr::drain(err, name.as_str().into(), sink.clone(), tail.clone()))
}

fn command(spec: &StdioSpec) -> Command {
    let mut command = Command::new(&spec.command);
    command
        .args(spec.args.iter().map(crate::secret::Secret::expose))
        .env_clear()
        .envs(environment::of_child(std::env::vars_os(), spec))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    if let Some(cwd) = &spec.cwd {
        command.current_dir(cwd);
    }
    prepare_in_child(&mut command);
    command
}

/// What happens in the child between fork and exec.
#[expect(unsafe_code, reason = "pre_exec is the only way to give the child a session and a parent-death signal")]
fn prepare_in_child(command: &mut Command) {
    let parent = rustix::process::getpid();
    let umask = original_umask();
    let hook = move || {
        // A session of its own: no controlling terminal to draw on or read from, and a group to signal.
        rustix::process::setsid()?;
        #[cfg(target_os = "linux")]
        {
            // Should we die without a word, the child gets SIGTERM. It may have happened already.
            rustix::process::set_parent_process_death_signal(Some(Signal::TERM))?;
            if rustix::process::getppid() != Some(parent) {
                return Err(io::Error::from(rustix::io::Errno::SRCH));
            }
        }
        if let Some(mask) = umask {
            // Ours is stricter than what the child's user chose.
            rustix::process::umask(rustix::fs::Mode::from_raw_mode(mask));
        }
        Ok(())
    };
    // SAFETY: between fork and exec only async-signal-safe functions may run. The hook makes plain system calls,
    // takes no lock and does not allocate.
    unsafe {
        command.pre_exec(hook);
    }
}
