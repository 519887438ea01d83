//! The workers that a seat has, and everything about the selected one.

use std::sync::Arc;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{fact, foot};
use crate::clock::Precision;
use crate::engine::command::Command;
use crate::engine::snapshot::{Snapshot, WorkerView};
use crate::ids::{SeatHandle, WorkerId};
use crate::tui::Draw;
use crate::tui::format::{by_minutes, plural};
use crate::tui::intent::{Effect, Intent, Question};
use crate::tui::theme::Role;
use crate::tui::widgets::cells::to_cells;
use crate::tui::widgets::paint::{Row, Span, fit_row, line, put_rows, wrap};
use crate::tui::widgets::table::{Selection, bar};

/// Rows about the selected worker, at most.
const ABOUT: u16 = 10;
/// Rows of keys.
const KEYS: u16 = 1;

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Listing {
    pick: Selection<WorkerId>,
    workers: Vec<Arc<WorkerView>>,
    read_only: bool,
}

impl Listing {
    /// Takes in what there is now.
    pub(super) fn follow(&mut self, seat: &SeatHandle, snapshot: &Snapshot) {
        self.read_only = snapshot.read_only;
        self.workers = snapshot.workers.iter().filter(|worker| worker.seat == *seat).cloned().collect();
    }

    pub(super) fn layout(&mut self, inside: Rect) {
        self.pick.layout(&self.ids(), height(inside));
    }

    /// Rows that the layer takes, its frame and keys included.
    pub(super) fn rows(&self) -> usize {
        let content = if self.workers.is_empty() { 3 } else { self.workers.len() + 1 + usize::from(ABOUT) };
        content + usize::from(KEYS) + 3
    }

    pub(super) fn apply(&mut self, intent: Intent) -> Option<Effect> {
        if intent != Intent::EndWorker {
            let ids = self.ids();
            self.pick.apply(intent, &ids);
            return None;
        }
        if self.read_only {
            let words = "nothing can be changed here: the dashboard was started with --read-only";
            return Some(Effect::Complain(words.into()));
        }
        self.selected().map(|worker| Effect::Ask(ending(worker)))
    }

    pub(super) fn count(&self) -> String {
        if self.workers.is_empty() { String::new() } else { self.workers.len().to_string() }
    }

    pub(super) fn render(&self, inside: Rect, buf: &mut Buffer, draw: &Draw<'_>) {
        let keys: &[(&str, &str)] = match (self.read_only, self.workers.is_empty()) {
            (true, _) => &[("Esc", "close")],
            (false, true) => &[("m", "make one…"), ("Esc", "close")],
            (false, false) => &[("m", "make one…"), ("x", "end it…"), ("Esc", "close")],
        };
        let body = foot(inside, keys, buf, draw);
        let width = usize::from(body.width);
        if self.workers.is_empty() {
            let words = "It has no workers. A worker is a sub-agent with a few of the seat's tools, a token of its own \
                         and an end; agents make their own with the tool delegate.";
            return put_rows(buf, body, &wrap(&[Span::new(Role::Dim, words)], width), draw.theme);
        }
        let visible = self.pick.visible();
        let rows = self.workers.get(visible.clone()).unwrap_or_default();
        for (down, worker) in rows.iter().enumerate() {
            let Some(place) = line(body, down) else { return };
            put_rows(buf, place, &[fit_row(&cells(worker, draw), width)], draw.theme);
            if self.pick.id() == Some(&worker.id) {
                bar(buf, place, draw.theme);
            }
        }
        let used = to_cells(rows.len() + 1);
        let below = Rect { y: body.y.saturating_add(used), height: body.height.saturating_sub(used), ..body };
        if let Some(worker) = self.selected() {
            put_rows(buf, below, &about(worker, width, draw), draw.theme);
        }
    }

    fn selected(&self) -> Option<&Arc<WorkerView>> {
        self.workers.iter().find(|worker| Some(&worker.id) == self.pick.id())
    }

    fn ids(&self) -> Vec<WorkerId> {
        self.workers.iter().map(|worker| worker.id.clone()).collect()
    }
}

/// Rows for the list: at least three, and what the selected one leaves of a higher layer.
fn height(inside: Rect) -> u16 {
    inside.height.saturating_sub(KEYS + 1 + ABOUT).max(3)
}

fn ending(worker: &WorkerView) -> Question {
    Question {
        title: format!("End worker {}?", worker.id).into(),
        detail: "It does not come in any more, and what it asked for is given up. Its token counts no more.".into(),
        yes: Box::new(Effect::Send(Command::EndWorker(worker.id.clone()))),
    }
}

/// `  w7f3a2c9d   12 min left   2 tools   claude-code 2.1 · session 7c1e`
fn cells(worker: &WorkerView, draw: &Draw<'_>) -> Row {
    let left = format!("{} left", by_minutes(worker.ends.since(draw.now)));
    vec![
        Span::gap(2),
        Span::new(Role::Text, worker.id.as_str()),
        Span::new(Role::Text, &format!("  {left:>11}")),
        Span::new(Role::Dim, &format!("  {:>8}  ", plural(worker.tools.len(), "tool"))),
        Span::new(Role::Dim, &worker.by),
    ]
}

fn about(worker: &WorkerView, width: usize, draw: &Draw<'_>) -> Vec<Row> {
    let at = |at: crate::clock::Timestamp| at.time_of_day(draw.zone, Precision::Minutes);
    let calls = draw.snapshot.calls.iter().filter(|call| {
        let by = call.caller.session().map(|(holder, _)| holder.as_str());
        by == Some(SeatHandle::of_worker(&worker.seat, &worker.id).as_str())
    });
    let mut rows = Vec::new();
    let mut add = |label: &str, role, text: &str, most: usize| {
        rows.extend(fact(label, &[Span::new(role, text)], width).into_iter().take(most));
    };
    if !worker.task.is_empty() {
        add("task", Role::Text, &worker.task.replace('\n', " "), 4);
    }
    add("made", Role::Text, &format!("{} by {}, until {}", at(worker.since), worker.by, at(worker.ends)), 2);
    add("calls", Role::Text, &calls.count().to_string(), 1);
    let tools = if worker.tools.is_empty() { "none".to_owned() } else { worker.tools.join(", ") };
    add("tools", Role::Text, &tools, 4);
    for (name, barred) in &worker.barred {
        add("refused", Role::Dim, &format!("{name}: {barred}"), 2);
    }
    rows
}
