//! Starting an engine: from a configuration to supervised connections, a core and a handle.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use tokio::sync::{mpsc, watch};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::audit::Audit;
use super::call::Pipeline;
use super::calls::Calls;
use super::connection::{self, ConnectionSpec, Connector, HttpSpec, Initially, NamedEvent, StdioSpec, TransportSpec};
use super::core::{Core, Fixed, Inlets, Outlets, adopt, first_snapshot};
use super::gate::Attendance;
use super::gate::desk::Desk;
use super::gate::grants::Grants;
use super::gate::pins::Pins;
use super::handle::Handle;
use super::servers::{Declared, Server};
use super::snapshot::{CredentialView, LogLevel, LogRecord, TransportFacts};
use super::status::{ConnectionStatus, Failure, FailureKind};
use crate::clock::Timestamp;
use crate::config::expand::Environment;
use crate::config::model::{self, Config, Unresolved};
use crate::config::resolve::{Resolved, ResolvedTransport};
use crate::ids::{ConnectionName, ServerName};
use crate::secret::{Redactor, Secret};
use crate::tool::Catalog;
use crate::tool::names::Names;

const COMMANDS: usize = 64;
const CALLS: usize = 256;
const EVENTS: usize = 1024;
const SURFACE: usize = 64;

/// What an engine needs beside the configuration.
pub struct Options {
    /// Where `${VAR}` comes from.
    pub environment: Arc<dyn Environment>,
    /// Whether somebody is there to decide.
    pub attendance: Attendance,
    /// Who decides, for the audit: `person:root`.
    pub person: Arc<str>,
    /// The trail.
    pub audit: Audit,
    /// Remembered names.
    pub names: Names,
    /// Called when names have to be remembered.
    pub names_changed: Box<dyn Fn(&Names) + Send>,
    /// Remembered definitions.
    pub pins: Pins,
    /// Called when definitions have to be remembered.
    pub pins_changed: Box<dyn Fn(&Pins) + Send>,
    /// Cleans every text; learns the secrets that are resolved here.
    pub redactor: Redactor,
    /// Our own diagnostics, for the log pane.
    pub log: mpsc::Receiver<LogRecord>,
    /// How many of them were dropped.
    pub log_dropped: Arc<dyn Fn() -> u64 + Send + Sync>,
    /// Start only this server.
    pub only: Option<ServerName>,
    /// Variables added to the environment of every child of ours that is the running executable.
    pub own_children: Vec<(Arc<str>, Arc<str>)>,
    /// In-memory links, by server; tests bring them.
    pub connectors: HashMap<ServerName, Arc<dyn Connector>>,
    /// Told on the screen once, at the start.
    pub first_notices: Vec<(LogLevel, Arc<str>)>,
}

/// Starts the engine. It ends after [`super::command::Command::Shutdown`], or when every handle is gone; the task
/// ends when no child process is left.
pub fn start(config: &Config, options: Options) -> (Handle, JoinHandle<()>) {
    let (core, handle) = assemble(config, options);
    (handle, tokio::spawn(core.run()))
}

/// Everything that [`start`] sets going: supervisors started, the core not yet.
#[allow(clippy::too_many_lines, reason = "one list of the parts and of what joins them")]
pub(super) fn assemble(config: &Config, options: Options) -> (Core, Handle) {
    let shutdown = CancellationToken::new();
    let (commands_in, commands) = mpsc::channel(COMMANDS);
    let (calls_in, calls) = mpsc::channel(CALLS);
    let (surface_in, surface) = mpsc::channel(SURFACE);
    let (call_events_in, call_events) = mpsc::channel(EVENTS);
    let (connections_in, connection_events) = mpsc::channel(EVENTS);
    let read_only = options.attendance == Attendance::ReadOnly;
    let snapshot = first_snapshot(config.company.clone(), config.source.file_name(), read_only);
    let (snapshots_in, snapshots) = watch::channel(Arc::new(snapshot.clone()));
    let (catalog_in, catalog) = watch::channel(Arc::new(Catalog::default()));
    let (links_in, links) = watch::channel(Arc::new(HashMap::new()));
    let settings = Arc::new(config.engine.approvals.clone());
    let (settings_in, settings_out) = watch::channel(settings.clone());
    let (standing_in, standing) = watch::channel(Arc::default());
    let mut tasks = JoinSet::new();
    let servers = start_servers(config, &options, &connections_in, &shutdown, &mut tasks);
    let (catalog_out, settings_read) = (catalog.clone(), settings_out.clone());
    let pipeline = Pipeline {
        catalog,
        links,
        settings: settings_out,
        standing,
        audit: options.audit.clone(),
        core: call_events_in,
        redactor: options.redactor,
        attendance: options.attendance,
        person: options.person,
    };
    let mut core = Core {
        snapshot,
        stale: vec![true; servers.len()],
        servers,
        names: options.names,
        inlets: Inlets {
            commands,
            calls,
            surface,
            call_events,
            connections: connection_events,
            log: options.log,
            audit: options.audit.health(),
        },
        outlets: Outlets {
            snapshots: snapshots_in,
            catalog: catalog_in,
            links: links_in,
            settings: settings_in,
            standing: standing_in,
        },
        fixed: Fixed {
            pipeline,
            names_changed: options.names_changed,
            pins_changed: options.pins_changed,
            log_dropped: options.log_dropped,
            shutdown,
        },
        connections: tasks,
        desk: Desk::default(),
        grants: Grants::default(),
        pins: options.pins,
        unsaved_pins: false,
        calls: Calls::default(),
        running: JoinSet::new(),
        cancels: HashMap::new(),
        warned: HashSet::new(),
        settled: false,
        dirty: true,
        published: Instant::now(),
    };
    for (level, text) in options.first_notices {
        core.notice(level, &text);
    }
    let handle = Handle {
        commands: commands_in,
        calls: calls_in,
        surface: surface_in,
        snapshots,
        catalog: catalog_out,
        settings: settings_read,
    };
    (core, handle)
}

fn start_servers(
    config: &Config,
    options: &Options,
    events: &mpsc::Sender<NamedEvent>,
    shutdown: &CancellationToken,
    tasks: &mut JoinSet<()>,
) -> Vec<Server> {
    let wanted = |server: &&model::Server| options.only.as_ref().is_none_or(|only| *only == server.name);
    let mut servers = Vec::new();
    // Templates have no connection of their own; they get one for each seat that declares credentials.
    for server in config.servers.iter().filter(wanted).filter(|server| server.shared) {
        let declared = declare(server, options.environment.as_ref());
        let resolved = match options.connectors.get(&server.name) {
            Some(connector) => Ok((TransportSpec::Custom(connector.clone()), Vec::new())),
            None => server.resolve(options.environment.as_ref()).map(|resolved| specify(server, resolved, options)),
        };
        let (transport, secrets) = match resolved {
            Ok(resolved) => resolved,
            Err(missing) => {
                servers.push(Server::new(declared, None, unresolved(&missing)));
                continue;
            }
        };
        options.redactor.learn(secrets);
        let spec = ConnectionSpec {
            name: declared.connection.clone(),
            server: server.name.clone(),
            transport,
            startup_timeout: server.startup_timeout,
            request_timeout: server.request_timeout,
            restart: server.restart,
            known_era: None,
            redactor: options.redactor.clone(),
        };
        let (initially, status) = if server.enabled {
            (Initially::Enabled, ConnectionStatus::Starting { since: Timestamp::now() })
        } else {
            (Initially::Disabled, ConnectionStatus::Disabled)
        };
        let (link, task) = connection::start(spec, initially, events.clone(), shutdown.clone());
        adopt(tasks, declared.connection.clone(), task, events.clone());
        servers.push(Server::new(declared, Some(link), status));
    }
    servers
}

fn declare(server: &model::Server, environment: &dyn Environment) -> Declared {
    let shown: Arc<str> = crate::text::visible(&server.display()).into();
    let (transport, identity) = match &server.transport {
        model::Transport::Stdio { .. } => (TransportFacts::Stdio { command: shown.clone() }, shown),
        model::Transport::Http { url, .. } => (TransportFacts::Http { url: shown }, url.text().into()),
    };
    let credentials = server.credentials(environment).into_iter();
    Declared {
        connection: ConnectionName::shared(&server.name),
        server: server.name.clone(),
        transport,
        identity,
        prefix: server.tool_prefix.clone(),
        overrides: server.tool_annotations.iter().map(|block| (block.tool.clone(), block.hints.clone())).collect(),
        credentials: credentials
            .map(|credential| CredentialView {
                field: credential.field,
                variables: credential.variables,
                set: credential.set,
            })
            .collect(),
        limits: (server.startup_timeout, server.request_timeout),
    }
}

fn specify(server: &model::Server, resolved: Resolved, options: &Options) -> (TransportSpec, Vec<Secret>) {
    let transport = match resolved.transport {
        ResolvedTransport::Stdio { command, args, mut env, cwd, inherit_env, display } => {
            if server.is_ours() {
                let added = options.own_children.iter();
                env.extend(added.map(|(name, value)| (name.clone(), Secret::new(value.clone()))));
            }
            TransportSpec::Stdio(StdioSpec { command, args, display, env, cwd, inherit_env })
        }
        ResolvedTransport::Http { url, display, headers } => TransportSpec::Http(HttpSpec { url, display, headers }),
    };
    (transport, resolved.secrets)
}

fn unresolved(missing: &[Unresolved]) -> ConnectionStatus {
    let texts: Vec<String> = missing.iter().map(ToString::to_string).collect();
    let names: Vec<&str> = missing.iter().map(|missing| &*missing.variable).collect();
    for problem in missing {
        tracing::warn!(config = %problem.place, path = %problem.path, names = %problem.variable, "config_reference_unresolved");
    }
    ConnectionStatus::Failed {
        reason: Failure {
            kind: FailureKind::Config,
            headline: texts.join("; ").into(),
            next_step: Some(format!("set {} and start the dashboard anew", names.join(" and ")).into()),
            tail: Arc::new([]),
        },
    }
}
