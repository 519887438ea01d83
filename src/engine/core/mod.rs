//! The engine's one owner of state: it takes commands, calls and events one after another and publishes snapshots.
//!
//! Connections and calls run in tasks of their own and talk to it over bounded channels. Nothing in here waits
//! for a server.

mod approvals;
mod connections;
pub(super) mod doors;
mod ending;
mod events;
mod forms;
pub(super) mod questions;
mod reload;
#[cfg(test)]
mod tests;
mod tools;
mod workers;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::call::{CallEvent, Link, Pipeline};
use super::calls::Calls;
use super::command::Command;
use super::connection::{Control, NamedEvent};
use super::export::Exports;
use super::first_party::Own;
use super::forms::{Asking, Forms};
use super::gate::Attendance;
use super::gate::desk::Desk;
use super::gate::grants::Grants;
use super::gate::pins::Pins;
use super::gate::standing::Standing;
use super::handle::{CallRequest, Consent, Hold, Reload, Submitted, SurfaceNews};
use super::launch::{Eras, ErasChanged, Launcher};
use super::ring::Ring;
use super::servers::Server;
use super::snapshot::{
    AuditHealth, Board, CallPhase, CallView, Caller, LogLevel, LogRecord, Notice, Snapshot, Withdrawal,
};
use super::status::ConnectionStatus;
use super::workers::Workers;
use crate::clock::Timestamp;
use crate::config::model::{ApprovalSettings, Config};
use crate::engine::call::running::Running;
use crate::ids::{CallId, ConnectionName, SeatHandle};
use crate::org::Org;
use crate::tool::Catalog;
use crate::tool::catalog::Warning;
use crate::tool::names::Names;

pub(super) use ending::adopt;

/// The shortest time between two snapshots.
const PUBLISH_EVERY: Duration = Duration::from_millis(33);
/// Log records kept for the log pane.
const LOG_RECORDS: usize = 5_000;
/// What they may weigh.
const LOG_BYTES: usize = 8 << 20;
/// Notices kept in a snapshot.
const NOTICES: usize = 64;
/// Calls that are over and of which the core has not taken note yet; who brings one more waits.
pub(super) const ENDS: usize = 4096;
/// Events of calls that are taken before anything else has its turn.
const EVENTS_AT_ONCE: usize = 64;

/// Everything that reaches the core from outside.
pub(super) struct Inlets {
    pub(super) commands: mpsc::Receiver<Command>,
    pub(super) surface: mpsc::Receiver<SurfaceNews>,
    pub(super) call_events: mpsc::Receiver<CallEvent>,
    pub(super) ends: mpsc::Receiver<Box<CallView>>,
    pub(super) connections: mpsc::Receiver<NamedEvent>,
    pub(super) asking: mpsc::Receiver<Asking>,
    pub(super) reloads: mpsc::Receiver<Reload>,
    pub(super) log: mpsc::Receiver<LogRecord>,
    pub(super) audit: watch::Receiver<AuditHealth>,
    pub(super) questions: questions::Questions,
}

/// Everything that the core tells others.
pub(super) struct Outlets {
    pub(super) snapshots: watch::Sender<Arc<Snapshot>>,
    pub(super) catalog: watch::Sender<Arc<Catalog>>,
    pub(super) links: watch::Sender<Arc<HashMap<ConnectionName, Link>>>,
    pub(super) settings: watch::Sender<Arc<ApprovalSettings>>,
    pub(super) standing: watch::Sender<Arc<Standing>>,
    /// Changed once the rest goes by it.
    pub(super) org: watch::Sender<Arc<Org>>,
}

impl Outlets {
    /// With no tools and no connections yet.
    pub(super) fn new(snapshot: &Snapshot, config: &Config) -> Self {
        Self {
            snapshots: watch::channel(Arc::new(snapshot.clone())).0,
            catalog: watch::channel(Arc::default()).0,
            links: watch::channel(Arc::default()).0,
            settings: watch::channel(Arc::new(config.engine.approvals.clone())).0,
            standing: watch::channel(Arc::default()).0,
            org: watch::channel(Arc::new(config.org.clone())).0,
        }
    }
}

/// What does not change over the run.
pub(super) struct Fixed {
    pub(super) pipeline: Pipeline,
    pub(super) launcher: Launcher,
    /// The program's own tools.
    pub(super) own: Option<Own>,
    pub(super) workers: Workers,
    pub(super) names_changed: Box<dyn Fn(&Names) + Send>,
    pub(super) pins_changed: Box<dyn Fn(&Pins) + Send>,
    pub(super) eras_changed: Option<ErasChanged>,
    pub(super) log_dropped: Arc<dyn Fn() -> u64 + Send + Sync>,
    pub(super) shutdown: CancellationToken,
}

/// See the module.
pub(super) struct Core {
    pub(super) snapshot: Snapshot,
    pub(super) servers: Vec<Server>,
    pub(super) names: Names,
    pub(super) inlets: Inlets,
    pub(super) outlets: Outlets,
    pub(super) fixed: Fixed,
    pub(super) connections: JoinSet<()>,
    pub(super) desk: Desk,
    pub(super) forms: Forms,
    /// The records of servers' questions that are being written, and the answers that follow them.
    pub(super) stories: JoinSet<()>,
    pub(super) refused_forms: doors::Doors<(ConnectionName, Arc<str>)>,
    pub(super) grants: Grants,
    pub(super) pins: Pins,
    /// The pins have changed since they were handed to whoever keeps them.
    pub(super) unsaved_pins: bool,
    pub(super) calls: Calls,
    pub(super) running: Running,
    pub(super) doors: doors::Doors<&'static str>,
    pub(super) warned: HashSet<Warning>,
    /// Seats that were told to have none of their own tools.
    pub(super) lacking: HashSet<SeatHandle>,
    /// Seats that are stopped because the configuration has them no more.
    pub(super) gone: HashSet<SeatHandle>,
    pub(super) settled: bool,
    pub(super) config: Arc<Config>,
    pub(super) eras: Eras,
    pub(super) exports: Exports,
    pub(super) dirty: bool,
    pub(super) published: Instant,
}

impl Core {
    /// Runs until `Command::Shutdown` or until every handle is gone, then ends everything in order.
    pub(super) async fn run(mut self) {
        self.published = Instant::now();
        self.follow_links();
        if self.fixed.own.is_some() {
            self.replace_catalog();
        }
        self.draw_chart();
        self.publish();
        while self.step().await {}
        self.end().await;
    }

    /// One event. False when the engine is to end.
    async fn step(&mut self) -> bool {
        let publish_at = self.published + PUBLISH_EVERY;
        let expiries = [self.desk.next_expiry(), self.forms.next_expiry(), self.grants.next_expiry()];
        let expiry = expiries.into_iter().flatten().min();
        tokio::select! {
            biased;
            () = tokio::time::sleep_until(publish_at), if self.dirty => self.publish(),
            command = self.inlets.commands.recv() => match command {
                Some(command) => return self.command(command),
                None => return false,
            },
            Some(event) = self.inlets.call_events.recv() => self.call_events(event),
            // The first one says that there is something to show; those that follow until then wake nobody.
            Some(view) = self.inlets.ends.recv(), if !self.dirty => self.ended(*view),
            () = tokio::time::sleep_until(expiry.unwrap_or_else(Instant::now)), if expiry.is_some() => {
                self.desk.expire(Instant::now());
                self.forms.expire(Instant::now());
                if self.grants.expire(Instant::now()) {
                    self.stand();
                }
                self.dirty = true;
            }
            Some(event) = self.inlets.connections.recv() => self.connection_events(event),
            Some(asking) = self.inlets.asking.recv() => self.asking(asking),
            Ok(()) = self.inlets.audit.changed() => self.audit_changed(),
            () = self.inlets.questions.changed() => self.questions_changed(),
            Some(reload) = self.inlets.reloads.recv() => self.reload(reload),
            Some((level, text)) = self.exports.next() => self.notice(level, &text),
            Some(record) = self.inlets.log.recv() => {
                let bytes = size_of::<LogRecord>() + record.text.len();
                self.snapshot.log.push_weighing(record, bytes);
                self.dirty = true;
            }
            Some(news) = self.inlets.surface.recv() => self.surface_news(news),
            Some(_) = self.stories.join_next(), if !self.stories.is_empty() => {}
            Some(_) = self.connections.join_next(), if !self.connections.is_empty() => {}
        }
        true
    }

    fn command(&mut self, command: Command) -> bool {
        if self.snapshot.read_only && !matches!(command, Command::Shutdown) {
            self.notice(LogLevel::Warn, "nothing was done: the dashboard is read-only");
            return true;
        }
        match command {
            Command::Restart(connection) => self.control(&connection, Control::Restart),
            Command::Disable(connection) => self.control(&connection, Control::Disable),
            Command::Enable(connection) => self.control(&connection, Control::Enable),
            Command::Decide(shown, verdict) => self.decide(shown, verdict),
            Command::DecideAll(all, verdict) => self.decide_all(&all, &verdict),
            Command::AnswerForm(form, answer) => self.answer_form(form, answer),
            Command::Revoke(grant) => self.revoke(grant),
            Command::StopSeat(seat) => self.stop_seat(seat),
            Command::ReleaseSeat(seat) => self.release_seat(&seat),
            Command::MintWorker(order) => self.mint_worker(order),
            Command::EndWorker(worker) => self.end_worker(&worker),
            Command::Call { call, tool, arguments } => {
                let request = CallRequest {
                    caller: Caller::Console,
                    tool,
                    arguments,
                    consent: Consent::None,
                    cancel: CancellationToken::new(),
                };
                // It is closed only once this loop has ended.
                let submitted = Submitted { request, hold: Hold::default(), refused: None };
                let _ = self.running.start(call, submitted);
            }
            Command::Cancel(call) => self.running.cancel(&call),
            Command::Export(export) => self.export(export),
            Command::Shutdown => return false,
        }
        true
    }

    fn control(&mut self, connection: &ConnectionName, control: Control) {
        let Some(server) = self.servers.iter().find(|server| server.declared.connection == *connection) else { return };
        if control == Control::Restart && server.status == ConnectionStatus::Disabled {
            self.notice(LogLevel::Warn, &format!("{connection} is disabled; enable it first"));
            return;
        }
        let taken = server.link.as_ref().map(|link| link.control(control));
        match taken {
            Some(true) => {}
            Some(false) => self.notice(LogLevel::Warn, &format!("{connection} is busy; press the key again")),
            None if control != Control::Disable && self.start_anew(connection) => {}
            None => {
                let text = format!("{connection} cannot be started: mend its configuration");
                self.notice(LogLevel::Warn, &text);
            }
        }
    }

    /// A fault of ours ended a call: its question ends, and it is told as what it is, unknown.
    fn lose_call(&mut self, call: &CallId) {
        self.desk.withdraw_call(call, Withdrawal::ServerGone);
        let lost = self.calls.views().into_iter().find(|view| view.id == *call);
        if let Some(view) = lost.filter(|view| !view.phase.is_over()) {
            let reason: Arc<str> = "a fault of this program ended the call; the log says where".into();
            self.put_call(CallView { phase: CallPhase::Unknown { reason }, ..(*view).clone() });
        }
    }

    fn surface_news(&mut self, news: SurfaceNews) {
        match news {
            SurfaceNews::Listening(address) => {
                self.snapshot.listener = Some(address);
                self.snapshot.listener_problem = None;
            }
            SurfaceNews::NotListening(problem) => {
                self.notice(LogLevel::Error, &problem);
                self.snapshot.listener = None;
                self.snapshot.listener_problem = Some(problem);
            }
            SurfaceNews::Sessions(sessions) => self.snapshot.sessions = sessions,
            // What there is now is looked at when the snapshot is made.
            SurfaceNews::Workers => {}
            SurfaceNews::TurnedAway(reason) => self.turned_away(reason),
            SurfaceNews::Notice(level, text) => self.notice(level, &text),
        }
        self.dirty = true;
    }

    /// An event and those that came with it.
    fn call_events(&mut self, first: CallEvent) {
        self.call_event(first);
        for _ in 0..EVENTS_AT_ONCE {
            let Ok(event) = self.inlets.call_events.try_recv() else { break };
            self.call_event(event);
        }
    }

    fn call_event(&mut self, event: CallEvent) {
        self.dirty = true;
        match event {
            CallEvent::Changed(view) => self.put_call(*view),
            CallEvent::Withdraw(call, why) => self.desk.withdraw_call(&call, why),
            CallEvent::Ask(question, view) => {
                // What it is told of earlier calls is whole.
                self.catch_up();
                self.ask(*question, *view);
            }
            CallEvent::GrantUsed(grant) => self.grant_used(grant),
            CallEvent::Stopped(seat) => self.count_stopped(&seat),
            CallEvent::Lost(call) => self.lose_call(&call),
        }
    }

    fn ended(&mut self, view: CallView) {
        self.dirty = true;
        self.put_call(view);
    }

    /// Takes note of the calls that ended since it last looked.
    fn catch_up(&mut self) {
        for _ in 0..ENDS {
            let Ok(view) = self.inlets.ends.try_recv() else { break };
            self.put_call(*view);
        }
    }

    fn put_call(&mut self, view: CallView) {
        let (ran, connection) = (view.ran, view.connection.clone());
        if !self.calls.put(view) {
            return;
        }
        self.refresh_histories();
        let known = self.servers.iter().position(|known| Some(&known.declared.connection) == connection.as_ref());
        if let (Some(ran), Some(index)) = (ran, known)
            && let Some(server) = self.servers.get_mut(index)
        {
            server.count_call(ran);
            self.dirty = true;
        }
    }

    fn audit_changed(&mut self) {
        let health = self.inlets.audit.borrow_and_update().clone();
        if let AuditHealth::Broken { reason } = &health {
            let text = format!("the audit cannot be written: {reason}. Only proven reads run until it can");
            self.notice(LogLevel::Error, &text);
        }
        self.snapshot.audit = health;
        self.dirty = true;
    }

    pub(super) fn tell_all(&mut self, notices: &[(LogLevel, Arc<str>)]) {
        for (level, text) in notices {
            self.notice(*level, text);
        }
    }

    pub(super) fn notice(&mut self, level: LogLevel, text: &str) {
        let sequence = self.snapshot.notices.last().map_or(0, |notice| notice.sequence + 1);
        let text = crate::text::visible(&self.fixed.pipeline.redactor.redact(text)).as_ref().into();
        self.snapshot.notices.push(Notice { sequence, at: Timestamp::now(), level, text });
        if self.snapshot.notices.len() > NOTICES {
            self.snapshot.notices.remove(0);
        }
        self.dirty = true;
    }

    fn publish(&mut self) {
        self.catch_up();
        self.dirty = false;
        self.snapshot.revision += 1;
        self.snapshot.approvals = self.desk.views();
        self.snapshot.forms = self.forms.views();
        self.snapshot.grants = self.grants.views();
        self.snapshot.calls = self.calls.views();
        self.snapshot.workers = self.fixed.workers.views();
        self.snapshot.log_dropped = (self.fixed.log_dropped)();
        let catalog = self.snapshot.catalog.clone();
        self.snapshot.servers = self.servers.iter_mut().map(|server| server.shown(&catalog)).collect();
        self.outlets.snapshots.send_replace(Arc::new(self.snapshot.clone()));
        // From its end on, so that a slow one leaves time for events before the next.
        self.published = Instant::now();
    }
}

/// An empty snapshot of a company.
pub(super) fn first_snapshot(config: &Config, attendance: Attendance) -> Snapshot {
    Snapshot {
        revision: 0,
        company: config.company.clone(),
        config_file: config.source.file_name(),
        read_only: attendance == Attendance::ReadOnly,
        seats: config.org.agents().map(|seat| seat.handle.clone()).collect(),
        chart: Arc::default(),
        servers: Vec::new(),
        catalog: Arc::new(Catalog::default()),
        approvals: Vec::new(),
        forms: Vec::new(),
        questions: Board::default(),
        grants: Vec::new(),
        stopped_seats: Vec::new(),
        policies: Arc::default(),
        tool_changes: Vec::new(),
        calls: Vec::new(),
        log: Ring::bounded(LOG_RECORDS, LOG_BYTES),
        log_dropped: 0,
        notices: Vec::new(),
        audit: AuditHealth::Good,
        listener: None,
        listener_problem: None,
        config_problem: None,
        sessions: Vec::new(),
        workers: Vec::new(),
        stopping: false,
    }
}
