//! A changed configuration applied to the running engine: only what differs, each connection for itself.
//!
//! The file is read and checked elsewhere; an invalid one arrives here only as a problem to tell. A connection that
//! has to go down is waited for by its [`ConnectionEvent::Ended`](crate::engine::connection::ConnectionEvent), so
//! that no two processes of one server run side by side.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Core;
use crate::config::model::{ApprovalSettings, Config, PlacedDecision};
use crate::engine::connection::Initially;
use crate::engine::handle::Reload;
use crate::engine::launch::Plan;
use crate::engine::servers::{Adapted, After, Server};
use crate::engine::snapshot::{ApprovalView, Chart, LogLevel, Withdrawal};
use crate::ids::{ConnectionName, SeatHandle};

/// What a reload did, for people.
#[derive(Default)]
struct Summary {
    started: Vec<ConnectionName>,
    restarted: Vec<ConnectionName>,
    stopped: Vec<ConnectionName>,
    came: Vec<SeatHandle>,
    left: Vec<SeatHandle>,
    policy: bool,
    tools: bool,
}

impl Core {
    pub(super) fn reload(&mut self, reload: Reload) {
        match reload {
            Reload::Unwatched { problem } => self.notice(LogLevel::Warn, &problem),
            Reload::Invalid { problem, more } => {
                tracing::warn!(reason = %problem, more, "config_reload_refused");
                let more = if more == 0 { String::new() } else { format!(" (and {more} more; `check` lists them)") };
                let problem = format!("nothing was changed: {problem}{more}");
                self.notice(LogLevel::Error, &problem);
                self.snapshot.config_problem = Some(problem.into());
            }
            Reload::Valid { config, notices } => {
                self.snapshot.config_problem = None;
                let before = std::mem::replace(&mut self.config, config.clone());
                let summary = self.apply(&before, &config);
                let later = needs_a_restart(&before, &config);
                let done = summary.told(!later.is_empty());
                tracing::info!(done = %done, later = %later.join(" "), "config_reloaded");
                self.notice(LogLevel::Info, &format!("{}: {done}", config.source.file_name()));
                if !later.is_empty() {
                    let text = format!("takes effect at the next start: {}", later.join(", "));
                    self.notice(LogLevel::Warn, &text);
                }
                for (level, text) in notices {
                    self.notice(level, &text);
                }
            }
        }
    }

    fn apply(&mut self, previous: &Config, config: &Config) -> Summary {
        let mut summary = Summary::default();
        let mut before = std::mem::take(&mut self.servers);
        for plan in self.fixed.launcher.plans(config) {
            let name = plan.declared.connection.clone();
            let server = match before.iter().position(|known| known.declared.connection == name) {
                Some(known) => self.adapt(before.remove(known), plan, &mut summary),
                None => {
                    summary.started.push(name);
                    self.start_server(plan)
                }
            };
            self.servers.push(server);
        }
        for mut server in before {
            if server.leave() {
                summary.stopped.push(server.declared.connection.clone());
            }
            // Shown, last, until no process of it is left.
            if server.link.is_some() {
                self.servers.push(server);
            }
        }
        self.snapshot.company = config.company.clone();
        self.snapshot.seats = config.org.agents().map(|seat| seat.handle.clone()).collect();
        self.draw_chart();
        let policy_before = self.outlets.settings.borrow().clone();
        summary.policy = !same_policy(&policy_before, &config.engine.approvals);
        self.settings_changed(config.engine.approvals.clone());
        self.seats_changed(previous, config, &mut summary);
        self.follow_links();
        self.replace_catalog();
        self.fixed.own.iter().for_each(|own| own.follow(&config.org));
        self.outlets.org.send_replace(Arc::new(config.org.clone()));
        // Rules and names are looked at again once everything that was started has been listed.
        self.settled = false;
        self.settle();
        summary
    }

    /// A seat that no agent has any more asks for nothing any more, unless it comes back.
    fn seats_changed(&mut self, previous: &Config, config: &Config, summary: &mut Summary) {
        let handles =
            |config: &Config| -> BTreeSet<SeatHandle> { config.org.agents().map(|seat| seat.handle.clone()).collect() };
        let (before, now) = (handles(previous), handles(config));
        summary.came.extend(now.difference(&before).cloned());
        summary.left.extend(before.difference(&now).cloned());
        for seat in &summary.left {
            // One that a person stopped stays stopped, whatever the file says.
            if !self.snapshot.stopped_seats.iter().any(|stopped| stopped.seat == *seat) {
                self.gone.insert(seat.clone());
            }
            self.stop_seat(seat.clone());
        }
        let back: Vec<_> = summary.came.iter().filter(|seat| self.gone.remove(*seat)).collect();
        self.snapshot.stopped_seats.retain(|stopped| !back.contains(&&stopped.seat));
        if !back.is_empty() {
            self.stand();
        }
    }

    /// Makes the chart anew, once for each configuration.
    pub(super) fn draw_chart(&mut self) {
        let environment = self.fixed.launcher.environment.as_ref();
        let chart = Chart::of(&self.config.org, &self.fixed.pipeline.redactor, environment);
        self.snapshot.chart = Arc::new(chart);
    }

    fn adapt(&mut self, mut server: Server, plan: Plan, summary: &mut Summary) -> Server {
        let name = server.declared.connection.clone();
        let enabled = plan.needs.enabled;
        let placed = (server.declared.prefix.clone(), server.declared.overrides.clone());
        if server.adapt(plan) == Adapted::Restarts {
            if enabled { &mut summary.restarted } else { &mut summary.stopped }.push(name.clone());
            // What was asked about would go to something else than what the person was shown.
            let lost = |view: &ApprovalView| view.entry.connection == name;
            self.desk.withdraw_where(|view| lost(view).then_some(Withdrawal::ServerGone));
        }
        summary.tools |= placed != (server.declared.prefix.clone(), server.declared.overrides.clone());
        // Nothing runs that would have to end first.
        if server.link.is_none() && server.is_leaving() {
            self.follow_up(&mut server);
        }
        server
    }

    /// The supervisor of the connection at `index` has ended.
    pub(super) fn connection_ended(&mut self, index: usize) {
        if self.snapshot.stopping || index >= self.servers.len() {
            return;
        }
        let mut server = self.servers.remove(index);
        let stays = if server.is_leaving() {
            self.follow_up(&mut server)
        } else {
            server.abandoned();
            true
        };
        if stays {
            self.servers.insert(index, server);
        }
        self.follow_links();
        self.replace_catalog();
    }

    /// Starts a connection that has no supervisor, where its configuration can be used now. False when it cannot.
    pub(super) fn start_anew(&mut self, connection: &ConnectionName) -> bool {
        let plans = self.fixed.launcher.plans(&self.config);
        let plan = plans.into_iter().find(|plan| plan.declared.connection == *connection);
        let Some(plan) = plan.filter(|plan| plan.unresolved().is_none()) else { return false };
        let launched = self.fixed.launcher.launch(plan.clone(), Initially::Enabled, None, &mut self.connections);
        if let Some(server) = self.servers.iter_mut().find(|server| server.declared.connection == *connection) {
            server.relaunched(plan, launched);
        }
        self.follow_links();
        self.dirty = true;
        true
    }

    /// Does what has to follow the end of a connection. False when it is gone for good.
    fn follow_up(&mut self, server: &mut Server) -> bool {
        match server.take_after() {
            Some(After::Anew(plan, initially)) => {
                // What an earlier program spoke says nothing about another one.
                let launched = self.fixed.launcher.launch((*plan).clone(), initially, None, &mut self.connections);
                server.mark("the configuration changed");
                server.relaunched(*plan, launched);
                true
            }
            Some(After::Gone) => false,
            None => true,
        }
    }

    fn start_server(&mut self, plan: Plan) -> Server {
        let era = self.eras.get(&plan.declared.connection).copied();
        let launched = self.fixed.launcher.launch(plan.clone(), plan.initially(), era, &mut self.connections);
        Server::new(plan, launched)
    }

    /// Remembers the era of a connection when it is another one than before.
    pub(super) fn remember_era(&mut self, connection: &ConnectionName) {
        let server = self.servers.iter().find(|server| server.declared.connection == *connection);
        let Some(era) = server.filter(|server| server.status.is_ready()).and_then(Server::era) else { return };
        if self.eras.insert(connection.clone(), era) == Some(era) {
            return;
        }
        if let Some(changed) = &self.fixed.eras_changed {
            changed(&self.eras);
        }
    }
}

impl Summary {
    /// `started a; restarted b, c; the policy changed`. `later`: something else waits for the next start.
    fn told(&self, later: bool) -> String {
        let parts = [
            listed("new seats:", &self.came),
            listed("seats are gone:", &self.left),
            listed("started", &self.started),
            listed("restarted", &self.restarted),
            listed("stopped", &self.stopped),
            self.tools.then(|| "tools were placed anew".to_owned()),
            self.policy.then(|| "the policy changed".to_owned()),
        ];
        let told: Vec<String> = parts.into_iter().flatten().collect();
        match (told.is_empty(), later) {
            (false, _) => told.join("; "),
            (true, false) => "saved; nothing had to change".to_owned(),
            (true, true) => "saved; nothing changes before the next start".to_owned(),
        }
    }
}

fn listed(word: &str, names: &[impl ToString]) -> Option<String> {
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    (!names.is_empty()).then(|| format!("{word} {}", names.join(", ")))
}

/// Whether both say the same, wherever in the file they say it.
fn same_policy(a: &ApprovalSettings, b: &ApprovalSettings) -> bool {
    let placed = |settings: &ApprovalSettings| {
        [&settings.read, &settings.write, &settings.destructive, &settings.unknown, &settings.connector]
            .map(|PlacedDecision { decision, .. }| *decision)
    };
    let rules = |settings: &ApprovalSettings| {
        let rules = settings.rules.iter();
        rules.map(|rule| (rule.tool.clone(), rule.seat.clone(), rule.decision)).collect::<Vec<_>>()
    };
    placed(a) == placed(b)
        && rules(a) == rules(b)
        && (a.wait, a.hold, &a.hold_by_client) == (b.wait, b.hold, &b.hold_by_client)
}

/// What differs and is only looked at when the program starts.
fn needs_a_restart(before: &Config, now: &Config) -> Vec<&'static str> {
    let (a, b) = (&before.engine, &now.engine);
    let keys = |config: &Config| {
        let keys = config.tui.keys.iter();
        keys.map(|(action, keys, _)| (action.clone(), keys.clone())).collect::<Vec<_>>()
    };
    let look = |config: &Config| {
        let tui = &config.tui;
        (tui.theme.clone(), tui.mouse, tui.bell, tui.open_cards, tui.ascii)
    };
    let operators = |config: &Config| {
        let operators = config.operators.iter();
        operators
            .map(|operator| {
                let token = operator.token.text().to_owned();
                (
                    operator.id.clone(),
                    token,
                    operator.scopes.clone(),
                    operator.seat.clone(),
                    operator.projects.clone(),
                    operator.permission,
                )
            })
            .collect::<Vec<_>>()
    };
    let differs = [
        ("engine.listen", a.listen != b.listen),
        ("engine.state_dir", a.state_dir != b.state_dir),
        ("engine.discovery", a.discovery != b.discovery),
        ("engine.turn_tools", a.turn_tools != b.turn_tools),
        ("engine.native", a.native != b.native),
        ("engine.autopilots", a.autopilots != b.autopilots),
        ("operators", operators(before) != operators(now)),
        ("tui", look(before) != look(now) || keys(before) != keys(now)),
    ];
    differs.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| name).collect()
}
