//! Starting an engine: from a configuration to supervised connections, a core and a handle.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::mpsc;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::audit::Audit;
use super::call::running::Running;
use super::call::{CallEvent, Pipeline};
use super::calls::Calls;
use super::command::Command;
use super::connection::{Connector, NamedEvent};
use super::core::doors::Doors;
use super::core::questions::Questions;
use super::core::{Core, Fixed, Inlets, Outlets, first_snapshot};
use super::export::Exports;
use super::first_party::{FirstParty, Own};
use super::forms::{Asking, Forms, Inbox};
use super::gate::Attendance;
use super::gate::desk::Desk;
use super::gate::grants::Grants;
use super::gate::pins::Pins;
use super::handle::{Handle, Reload, SurfaceNews};
pub use super::launch::{Eras, ErasChanged, Only};
use super::launch::{Launcher, Plan};
use super::library::{Library, PromptNames};
use super::servers::Server;
use super::snapshot::{CallView, LogLevel, LogRecord};
use super::workers::Workers;
use crate::config::expand::Environment;
use crate::config::model::Config;
use crate::ids::ServerName;
use crate::secret::Redactor;
use crate::tool::names::Names;

const COMMANDS: usize = 64;
const EVENTS: usize = 1024;
const SURFACE: usize = 64;
const RELOADS: usize = 4;

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
    /// Start only these connections.
    pub only: Option<Only>,
    /// Variables added to the environment of every child of ours that is the running executable.
    pub own_children: Vec<(Arc<str>, Arc<str>)>,
    /// In-memory links, by server or, for one seat's own connection, by its name; tests bring them.
    pub connectors: HashMap<ServerName, Arc<dyn Connector>>,
    /// Told on the screen once, at the start.
    pub first_notices: Vec<(LogLevel, Arc<str>)>,
    /// What is kept between runs, beside names and the trail; a test needs none of it.
    pub kept: Kept,
}

/// What the engine keeps in the state folder.
#[derive(Default)]
pub struct Kept {
    /// The folder itself; without one nothing can be exported.
    pub folder: Option<PathBuf>,
    /// The protocol era of each connection in earlier runs.
    pub eras: Eras,
    /// Called when eras have to be remembered.
    pub eras_changed: Option<ErasChanged>,
    /// The program's own tools over what is kept.
    pub tools: Option<Arc<dyn FirstParty>>,
    /// What prompts are called.
    pub prompts: PromptNames,
    /// Workers under seats, as the program's own tools and the surfaces know them.
    pub workers: Workers,
}

/// Starts the engine. It ends after [`super::command::Command::Shutdown`], or when every handle is gone; the task
/// ends when no child process is left.
pub fn start(config: &Config, options: Options) -> (Handle, JoinHandle<()>) {
    let (core, handle) = assemble(config, options);
    (handle, tokio::spawn(core.run()))
}

/// Everything that [`start`] sets going: supervisors started, the core not yet.
#[allow(clippy::too_many_lines, reason = "one value with all of its parts")]
pub(super) fn assemble(config: &Config, mut options: Options) -> (Core, Handle) {
    let shutdown = CancellationToken::new();
    let (forms, asking) = inbox(options.attendance);
    let (inlets, senders) = inlets(&mut options, asking);
    let snapshot = first_snapshot(config, options.attendance);
    let outlets = Outlets::new(&snapshot, config);
    let launcher = launcher(&options, (senders.connections.clone(), forms.clone()), &shutdown);
    let (servers, tasks) = start_servers(&launcher, config, &options.kept.eras);
    let pipeline = Pipeline {
        catalog: outlets.catalog.subscribe(),
        links: outlets.links.subscribe(),
        settings: outlets.settings.subscribe(),
        standing: outlets.standing.subscribe(),
        audit: options.audit,
        core: senders.call_events.clone(),
        ends: senders.ends.clone(),
        redactor: options.redactor,
        attendance: options.attendance,
        person: options.person,
        forms,
    };
    let running = Running::new(pipeline.clone());
    let library = Library::new(&pipeline, std::mem::take(&mut options.kept.prompts));
    let handle = senders.handle(&outlets, (&running, library), &options.kept);
    let mut core = Core {
        snapshot,
        config: Arc::new(config.clone()),
        servers,
        names: options.names,
        inlets,
        outlets,
        fixed: Fixed {
            pipeline,
            launcher,
            own: options.kept.tools.map(Own::new),
            workers: options.kept.workers,
            names_changed: options.names_changed,
            pins_changed: options.pins_changed,
            eras_changed: options.kept.eras_changed,
            log_dropped: options.log_dropped,
            shutdown,
        },
        eras: options.kept.eras,
        exports: Exports::new(options.kept.folder),
        connections: tasks,
        desk: Desk::default(),
        forms: Forms::default(),
        stories: JoinSet::new(),
        refused_forms: Doors::default(),
        grants: Grants::default(),
        pins: options.pins,
        unsaved_pins: false,
        calls: Calls::default(),
        running,
        doors: Doors::default(),
        warned: HashSet::new(),
        lacking: HashSet::new(),
        gone: HashSet::new(),
        settled: false,
        dirty: true,
        published: Instant::now(),
    };
    core.tell_all(&options.first_notices);
    (core, handle)
}

/// The other ends of the core's inlets.
struct Senders {
    commands: mpsc::Sender<Command>,
    surface: mpsc::Sender<SurfaceNews>,
    call_events: mpsc::Sender<CallEvent>,
    ends: mpsc::Sender<Box<CallView>>,
    connections: mpsc::Sender<NamedEvent>,
    reloads: mpsc::Sender<Reload>,
}

/// Where servers' questions are handed in. Servers are told that they may ask only where somebody is there to answer.
fn inbox(attendance: Attendance) -> (Option<Inbox>, mpsc::Receiver<Asking>) {
    let (inbox, asking) = Inbox::new();
    ((attendance == Attendance::Person).then_some(inbox), asking)
}

/// What connections tell the core by.
type Ways = (mpsc::Sender<NamedEvent>, Option<Inbox>);

fn launcher(options: &Options, (events, forms): Ways, shutdown: &CancellationToken) -> Launcher {
    Launcher {
        environment: options.environment.clone(),
        redactor: options.redactor.clone(),
        own_children: options.own_children.clone(),
        connectors: options.connectors.clone(),
        only: options.only.clone(),
        events,
        forms,
        shutdown: shutdown.clone(),
    }
}

impl Senders {
    fn handle(&self, outlets: &Outlets, (running, library): (&Running, Library), kept: &Kept) -> Handle {
        Handle {
            commands: self.commands.clone(),
            running: running.clone(),
            surface: self.surface.clone(),
            reloads: self.reloads.clone(),
            snapshots: outlets.snapshots.subscribe(),
            catalog: outlets.catalog.subscribe(),
            settings: outlets.settings.subscribe(),
            org: outlets.org.subscribe(),
            library,
            workers: kept.workers.clone(),
        }
    }
}

fn inlets(options: &mut Options, asking: mpsc::Receiver<Asking>) -> (Inlets, Senders) {
    // What is left behind is a feed that has ended.
    let log = std::mem::replace(&mut options.log, mpsc::channel(1).1);
    let (commands_in, commands) = mpsc::channel(COMMANDS);
    let (call_events_in, call_events) = mpsc::channel(EVENTS);
    let (ends_in, ends) = mpsc::channel(super::core::ENDS);
    let (connections_in, connections) = mpsc::channel(EVENTS);
    let (reloads_in, reloads) = mpsc::channel(RELOADS);
    let (surface_in, surface) = mpsc::channel(SURFACE);
    let inlets = Inlets {
        commands,
        surface,
        call_events,
        ends,
        connections,
        asking,
        reloads,
        log,
        audit: options.audit.health(),
        questions: Questions::of(options.kept.tools.as_ref()),
    };
    let senders = Senders {
        commands: commands_in,
        surface: surface_in,
        call_events: call_events_in,
        ends: ends_in,
        connections: connections_in,
        reloads: reloads_in,
    };
    (inlets, senders)
}

/// The servers of the configuration, each started as it says, and their supervisors.
fn start_servers(launcher: &Launcher, config: &Config, eras: &Eras) -> (Vec<Server>, JoinSet<()>) {
    let mut tasks = JoinSet::new();
    let mut start = |plan: Plan| {
        let (initially, era) = (plan.initially(), eras.get(&plan.declared.connection).copied());
        let launched = launcher.launch(plan.clone(), initially, era, &mut tasks);
        Server::new(plan, launched)
    };
    // What everybody shares comes up first; the order of the list is the configuration's.
    let mut started: Vec<(usize, Server)> = Vec::new();
    let (shared, own): (Vec<_>, Vec<_>) =
        launcher.plans(config).into_iter().enumerate().partition(|(_, plan)| plan.declared.owner.is_none());
    for (index, plan) in shared.into_iter().chain(own) {
        started.push((index, start(plan)));
    }
    started.sort_by_key(|(index, _)| *index);
    (started.into_iter().map(|(_, server)| server).collect(), tasks)
}
