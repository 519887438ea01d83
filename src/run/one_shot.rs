//! Running one command against an engine of its own, and ending it in order.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::parts::{self, Parts};
use super::{Document, document};
use crate::cli::{Exit, Global, attended, complain};
use crate::config::model::{ApprovalSettings, Config};
use crate::engine::audit::Audit;
use crate::engine::command::Command;
use crate::engine::gate::Attendance;
use crate::engine::handle::Handle;
use crate::engine::snapshot::Snapshot;
use crate::engine::status::ConnectionStatus;
use crate::ids::{SeatHandle, ServerName};
use crate::logging::Stderr;
use crate::native::table;
use crate::org::Org;
use crate::tool::Catalog;
use crate::tool::entry::Origin;

/// Which servers a command needs, and what it waits for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Wanted {
    /// All; until each is up or has failed once.
    AllServers,
    /// One; until it is up or has failed once.
    Server(String),
    /// All; until this tool is there, or each server is up or has failed once.
    Tool(String),
}

/// An engine for one command.
#[derive(Debug)]
pub struct OneShot {
    /// The engine.
    pub handle: Handle,
    /// Cancelled by Ctrl-C, SIGTERM and SIGHUP.
    pub interrupted: CancellationToken,
    /// The policy, for showing.
    pub approvals: ApprovalSettings,
    org: Org,
}

impl OneShot {
    /// The agent seat with this handle.
    ///
    /// # Errors
    /// One line that names the seats there are.
    pub fn seat(&self, handle: &str) -> Result<SeatHandle, String> {
        if let Some(seat) = self.org.agents().find(|seat| seat.handle.as_str() == handle) {
            return Ok(seat.handle.clone());
        }
        let known: Vec<String> = self.org.agents().map(|seat| seat.handle.to_string()).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        Err(format!("there is no agent seat \"{}\"; there are: {known}", crate::text::visible(handle)))
    }
}

/// Loads the configuration, starts what the command needs, waits for it, runs the command and ends everything.
pub fn one_shot<F, Fut>(global: &Global, wanted: Wanted, command: F) -> Exit
where
    F: FnOnce(Arc<OneShot>) -> Fut,
    Fut: Future<Output = Exit>,
{
    let document = match document::load(global) {
        Ok(document) => document,
        Err(diagnostics) => {
            complain(&document::explain(global, &diagnostics));
            return Exit::Config;
        }
    };
    let only = match &wanted {
        // The program's own tools need no server; the others are not started for them.
        Wanted::Server(name) if name == ServerName::OURS => Some(ServerName::ours()),
        Wanted::Tool(name) if is_own(document.config(), name) => Some(ServerName::ours()),
        Wanted::Server(name) => match document.config().servers.iter().find(|server| server.name.as_str() == name) {
            Some(server) => Some(server.name.clone()),
            None => {
                complain(&format!(
                    "there is no server \"{}\" in {}",
                    crate::text::visible(name),
                    document.config().source.file_name()
                ));
                return Exit::Failed;
            }
        },
        Wanted::AllServers | Wanted::Tool(_) => None,
    };
    match parts::runtime() {
        Ok(runtime) => {
            let exit = runtime.block_on(run(global, &document, wanted, only, command));
            // A thread may still wait for a line on the terminal; the command has ended all the same.
            runtime.shutdown_background();
            exit
        }
        Err(problem) => {
            complain(&problem);
            Exit::Failed
        }
    }
}

async fn run<F, Fut>(global: &Global, document: &Document, wanted: Wanted, only: Option<ServerName>, command: F) -> Exit
where
    F: FnOnce(Arc<OneShot>) -> Fut,
    Fut: Future<Output = Exit>,
{
    let mut parts = match Parts::open(global, document, Stderr::Quiet) {
        Ok(parts) => parts,
        Err(problem) => {
            complain(&problem);
            return Exit::Failed;
        }
    };
    let attendance = match (global.read_only, attended()) {
        (true, _) => Attendance::ReadOnly,
        (false, true) => Attendance::Person,
        (false, false) => Attendance::Nobody,
    };
    let (handle, engine) = parts.start(document, attendance, only);
    let session = Arc::new(OneShot {
        handle: handle.clone(),
        interrupted: CancellationToken::new(),
        approvals: document.config().engine.approvals.clone(),
        org: document.config().org.clone(),
    });
    let work = async {
        wait_for(&handle, &wanted).await;
        command(session.clone()).await
    };
    let exit = tokio::select! {
        exit = work => exit,
        number = parts::signal() => {
            session.interrupted.cancel();
            Exit::Signal(number)
        }
    };
    end(handle, engine, &parts.audit).await;
    exit
}

/// Ends an engine in order, waits until no child is left, and closes the trail.
pub(super) async fn end(handle: Handle, engine: tokio::task::JoinHandle<()>, audit: &Audit) {
    shut_down(&handle).await;
    // A panic of the core is in the log; its children are ended by the kernel when we are gone.
    let _ = engine.await;
    audit.close().await;
}

/// Tells the engine to end: what waits is answered, the servers stop. Comes back at once.
pub(super) async fn shut_down(handle: &Handle) {
    while handle.send(Command::Shutdown) == Err(crate::engine::handle::SendError::Busy) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn wait_for(handle: &Handle, wanted: &Wanted) {
    let there = |snapshot: &Arc<Snapshot>| match wanted {
        Wanted::Tool(name) if is_callable(snapshot, name) => true,
        _ => all_settled(snapshot),
    };
    // An engine that ended has nothing more to wait for.
    let _ = handle.snapshots().wait_for(there).await;
}

fn is_own(config: &Config, name: &str) -> bool {
    let halves = config.engine.native;
    (halves.tracker || halves.pages) && table::TOOLS.iter().any(|tool| tool.name == name)
}

fn is_callable(snapshot: &Snapshot, name: &str) -> bool {
    let catalog: &Catalog = &snapshot.catalog;
    let Some(entry) = catalog.find(name) else { return false };
    // The program's own tools need no server.
    if entry.origin == Origin::Builtin {
        return true;
    }
    snapshot.servers.iter().any(|server| server.connection == entry.connection && server.status.is_ready())
}

fn all_settled(snapshot: &Snapshot) -> bool {
    let starting = |status: &ConnectionStatus| matches!(status, ConnectionStatus::Starting { .. });
    snapshot.revision > 0 && !snapshot.servers.iter().any(|server| starting(&server.status))
}
