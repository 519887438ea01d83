//! Figures of the surfaces and the engine in Prometheus' text form.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::engine::snapshot::Snapshot;

/// What the surfaces count.
#[derive(Debug, Default)]
pub(super) struct Metrics {
    pub(super) requests: AtomicU64,
    pub(super) forbidden: AtomicU64,
    pub(super) unauthorised: AtomicU64,
    pub(super) lists: AtomicU64,
    pub(super) calls: AtomicU64,
    pub(super) reads: AtomicU64,
    pub(super) refused: AtomicU64,
    pub(super) unknown_tools: AtomicU64,
}

/// What there is now, counted by its owners.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counted {
    pub(super) sessions: usize,
    pub(super) parked: usize,
    pub(super) tasks: usize,
    pub(super) workers: usize,
    pub(super) turns_lost: u64,
}

impl Metrics {
    /// All figures.
    pub(super) fn render(&self, snapshot: &Snapshot, counted: Counted) -> String {
        let Counted { sessions, parked, tasks, workers, turns_lost } = counted;
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let ready = snapshot.servers.iter().filter(|server| server.status.is_ready()).count();
        let server_calls: u64 = snapshot.servers.iter().map(|server| server.calls).sum();
        let gauge = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        let rows = [
            ("http_requests_total", "counter", "HTTP requests", of(&self.requests)),
            ("http_forbidden_total", "counter", "requests refused for their Host or Origin", of(&self.forbidden)),
            ("http_unauthorised_total", "counter", "requests refused for their token", of(&self.unauthorised)),
            ("tool_lists_total", "counter", "tool lists given out", of(&self.lists)),
            ("tool_calls_total", "counter", "calls that agents made", of(&self.calls)),
            ("reads_total", "counter", "lists and reads of resources and prompts", of(&self.reads)),
            ("tool_arguments_refused_total", "counter", "calls refused for their arguments", of(&self.refused)),
            ("tool_unknown_total", "counter", "calls of names that the seat does not have", of(&self.unknown_tools)),
            ("server_calls_total", "counter", "calls that were sent to servers", server_calls),
            ("sessions", "gauge", "agents that use the surfaces", gauge(sessions)),
            ("turns_lost_total", "counter", "ended turns that nobody wrote down in time", turns_lost),
            ("approvals_waiting", "gauge", "calls that wait for a person", gauge(snapshot.approvals.len())),
            ("calls_parked", "gauge", "calls whose caller left while a person is asked", gauge(parked)),
            ("tasks", "gauge", "calls that their clients follow as tasks, finished ones included", gauge(tasks)),
            ("workers", "gauge", "workers under seats that may still come in", gauge(workers)),
            ("servers", "gauge", "connections", gauge(snapshot.servers.len())),
            ("servers_ready", "gauge", "connections that are up", gauge(ready)),
            ("tools", "gauge", "tools in the catalogue", gauge(snapshot.catalog.entries().len())),
        ];
        let mut text = String::new();
        for (name, kind, help, value) in rows {
            // Writing to a String cannot fail.
            let _ =
                writeln!(text, "# HELP crewlet_{name} {help}\n# TYPE crewlet_{name} {kind}\ncrewlet_{name} {value}");
        }
        text
    }
}
