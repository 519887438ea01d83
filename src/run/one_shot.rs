//! Running one command against an engine of its own, and ending it in order.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::parts::{self, Parts};
use super::{Document, document};
use crate::cli::{Exit, Global, attended, complain};
use crate::config::model::{ApprovalSettings, Config, Server};
use crate::engine::audit::Audit;
use crate::engine::command::Command;
use crate::engine::gate::Attendance;
use crate::engine::handle::Handle;
use crate::engine::snapshot::Snapshot;
use crate::engine::start::Only;
use crate::engine::status::ConnectionStatus;
use crate::ids::{ConnectionName, SeatHandle, ServerName};
use crate::logging::Stderr;
use crate::native::{Company, table};
use crate::org::{Org, Seat};
use crate::tool::entry::Origin;

/// Which connections a command needs, and what it waits for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Wanted {
    /// All; until each is up or has failed once.
    All,
    /// What this seat holds; until each is up or has failed once.
    HeldBy(String),
    /// What it takes to call a tool, by its name as the seat calls it, where one is named: for `server/raw_name` that
    /// server's connection, else all that the seat holds, and so for a shared server of which the seat's own tools may
    /// hide something; until the tool is there, or each is up or has failed once.
    Tool {
        /// The name.
        name: String,
        /// The seat that calls.
        seat: Option<String>,
    },
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
        seat_of(&self.org, handle).map(|seat| seat.handle.clone())
    }

    /// The seats that may have connections of their own.
    pub fn seats_with_own(&self) -> Vec<&str> {
        let own = self.org.agents().filter(|seat| !seat.credentials.is_empty());
        own.map(|seat| seat.handle.as_str()).collect()
    }
}

fn seat_of<'o>(org: &'o Org, handle: &str) -> Result<&'o Seat, String> {
    if let Some(seat) = org.agents().find(|seat| seat.handle.as_str() == handle) {
        return Ok(seat);
    }
    let known: Vec<String> = org.agents().map(|seat| seat.handle.to_string()).collect();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    Err(format!("there is no agent seat \"{}\"; there are: {known}", crate::text::visible(handle)))
}

/// Why a command cannot be run at all.
enum Refused {
    /// It names a seat that there is not.
    Usage(String),
    /// It names a server that cannot be called like this.
    Server(String),
}

impl Wanted {
    /// The connections to start.
    fn only(&self, config: &Config) -> Result<Option<Only>, Refused> {
        let seat_of = |handle: &String| seat_of(&config.org, handle).map_err(Refused::Usage);
        match self {
            Self::All => Ok(None),
            Self::HeldBy(seat) => Ok(Some(Only::HeldBy(Some(seat_of(seat)?.handle.clone())))),
            Self::Tool { name, seat } => {
                let seat = seat.as_ref().map(seat_of).transpose()?;
                if is_own(config, name) {
                    return Ok(Some(Only::Connection(ConnectionName::shared(&ServerName::ours()))));
                }
                if name.contains('/') {
                    let connection = connection_of(config, name, seat)?;
                    let is_its_own =
                        |seat: &Seat| config.servers.iter().any(|s| seat.connection(&s.name) == connection);
                    if seat.is_none_or(|seat| seat.credentials.is_empty() || is_its_own(seat)) {
                        return Ok(Some(Only::Connection(connection)));
                    }
                }
                Ok(Some(Only::HeldBy(seat.map(|seat| seat.handle.clone()))))
            }
        }
    }
}

/// The connection that a tool's name with a `/` says.
fn connection_of(config: &Config, tool: &str, seat: Option<&Seat>) -> Result<ConnectionName, Refused> {
    let begins = |name: &str| tool.strip_prefix(name).is_some_and(|rest| rest.starts_with('/'));
    for server in &config.servers {
        if server.shared {
            if begins(server.name.as_str()) {
                return Ok(ConnectionName::shared(&server.name));
            }
            continue;
        }
        let own = config.org.agents().filter(|seat| seat.credentials_for(&server.name).is_some());
        let own: Vec<(&SeatHandle, ConnectionName)> =
            own.map(|seat| (&seat.handle, seat.connection(&server.name))).collect();
        let may = |holder: &SeatHandle| seat.is_none_or(|seat| seat.handle == *holder);
        if let Some((_, said)) = own.iter().find(|(holder, name)| begins(name.as_str()) && may(holder)) {
            return Ok(said.clone());
        }
        if begins(server.name.as_str()) {
            let found = own.iter().find(|(holder, _)| seat.is_some_and(|seat| seat.handle == **holder));
            return found.map(|(_, name)| name.clone()).ok_or_else(|| Refused::Server(not_of(server, seat, &own)));
        }
    }
    let server = tool.split_once('/').map_or(tool, |(server, _)| server);
    let (server, file) = (crate::text::visible(server), config.source.file_name());
    Err(Refused::Server(format!("there is no server \"{server}\" in {file}")))
}

/// Why a server whose connections belong to seats cannot be called by this seat, or by nobody's name.
fn not_of(server: &Server, seat: Option<&Seat>, own: &[(&SeatHandle, ConnectionName)]) -> String {
    let names: Vec<&str> = own.iter().map(|(_, name)| name.as_str()).collect();
    let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    match seat {
        Some(seat) => {
            format!("seat \"{}\" has no connection to {}; name the server in its `mcp_env`", seat.handle, server.name)
        }
        None => {
            format!("the connections to {} belong to seats: name a seat (--seat), or one of them: {names}", server.name)
        }
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
    let only = match wanted.only(document.config()) {
        Ok(only) => only,
        Err(Refused::Usage(problem)) => {
            complain(&problem);
            return Exit::Usage;
        }
        Err(Refused::Server(problem)) => {
            complain(&problem);
            return Exit::Failed;
        }
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

async fn run<F, Fut>(global: &Global, document: &Document, wanted: Wanted, only: Option<Only>, command: F) -> Exit
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
        (false, true) => Attendance::Prompt,
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
        Wanted::Tool { name, seat } if is_callable(snapshot, name, seat.as_deref().map(SeatHandle::from).as_ref()) => {
            true
        }
        _ => all_settled(snapshot),
    };
    // An engine that ended has nothing more to wait for.
    let _ = handle.snapshots().wait_for(there).await;
}

/// Whether a tool is the program's own, by its name with or without ours before it: it needs no server.
fn is_own(config: &Config, name: &str) -> bool {
    let begins = |rest: &str| rest.starts_with('/');
    name.strip_prefix(ServerName::OURS).is_some_and(begins)
        || table::named(name).is_some_and(|tool| Company::of(config).is_open(tool.part))
}

/// Whether the tool is there. A seat's own connections may still bring one of that name, so they are waited for.
fn is_callable(snapshot: &Snapshot, name: &str, seat: Option<&SeatHandle>) -> bool {
    let Some(entry) = snapshot.catalog.find(seat, name) else { return false };
    // The program's own tools need no server.
    if entry.origin == Origin::Builtin {
        return true;
    }
    let own = snapshot.servers.iter().filter(|server| server.seat.is_some());
    if entry.seat.is_none() && own.into_iter().any(|server| is_starting(&server.status)) {
        return false;
    }
    snapshot.servers.iter().any(|server| server.connection == entry.connection && server.status.is_ready())
}

fn all_settled(snapshot: &Snapshot) -> bool {
    snapshot.revision > 0 && !snapshot.servers.iter().any(|server| is_starting(&server.status))
}

const fn is_starting(status: &ConnectionStatus) -> bool {
    matches!(status, ConnectionStatus::Starting { .. })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::model::Source;

    #[test]
    fn a_shared_servers_tool_by_its_full_name_is_looked_up_among_all_that_a_seat_with_its_own_holds() {
        let document = "
name: Acme
mcp_servers:
  - { name: wiki, command: x }
  - { name: jira, shared: false, command: x }
roles:
  - { name: Alice, mcp_env: { jira: { K: a } } }
  - { name: Carol }
";
        let config = crate::config::load(document, &Source::File("config.yaml".into())).unwrap().config;
        let only = |seat: Option<&str>, name: &str| {
            let wanted = Wanted::Tool { name: name.to_owned(), seat: seat.map(str::to_owned) };
            wanted.only(&config).ok().flatten()
        };
        let connection = |name: &str| Some(Only::Connection(name.into()));
        // What Alice's own jira hides of wiki shows only when it is there.
        assert_eq!(only(Some("alice"), "wiki/get"), Some(Only::HeldBy(Some("alice".into()))));
        assert_eq!(only(Some("alice"), "jira/get"), connection("jira::Alice"));
        assert_eq!(only(Some("carol"), "wiki/get"), connection("wiki"));
        assert_eq!(only(None, "wiki/get"), connection("wiki"));
        assert_eq!(only(None, "jira::Alice/get"), connection("jira::Alice"));
        assert_eq!(only(Some("carol"), "jira/get"), None, "refused");
    }
}
