//! The seats view: the company's chart as a tree, and everything about the selected seat or unit.
//!
//! What is declared comes with the chart; what is so now (connections, sessions, stops) from the rest of the snapshot.
//! Stopping and releasing ask first and are done by the engine; nothing is predicted here.

mod about;
mod held;
mod memory;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use jiff::tz::TimeZone;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::sessions::stopped;
use super::two::{Focus, Two, empty};
use crate::engine::snapshot::{ChartNode, ChartRow, SeatView, ServerView, SessionView, Snapshot, UnitView};
use crate::ids::SeatHandle;
use crate::org::SeatKind;
use crate::rows::memory::{Kept, Remembered, Wanted};
use crate::rows::{Answer, Ask, Found};
use crate::tui::Draw;
use crate::tui::format::plural;
use crate::tui::intent::{Effect, Intent, Question, Target};
use crate::tui::theme::Role;
use crate::tui::widgets::paint::{Row, Span};
use crate::tui::widgets::table::{Align, Column, Width};
use held::Holdings;

const COLUMNS: [Column; 5] = [
    Column::grows("unit or seat", 12),
    Column::stays("who", 5),
    // Never goes: it is what the view is looked at for.
    Column { title: "now", width: Width::Cells(9), align: Align::Left, rank: 0 },
    Column::number("servers", 7),
    Column::number("tools", 5),
];
/// Levels that move a row to the right; deeper ones stand below each other.
const LEVELS: usize = 6;

/// What a row is about.
#[derive(Clone, PartialEq, Eq, Debug)]
enum RowId {
    /// A unit by its id.
    Unit(Arc<str>),
    /// A seat.
    Seat(SeatHandle),
}

impl RowId {
    fn of(row: &ChartRow) -> Self {
        match &row.node {
            ChartNode::Unit(unit) => Self::Unit(unit.id.clone()),
            ChartNode::Seat(seat) => Self::Seat(seat.handle.clone()),
        }
    }
}

/// See the module.
#[derive(Clone, Debug)]
pub struct SeatsPane {
    two: Two<RowId>,
    zone: TimeZone,
    /// What the detail is about.
    made: Option<RowId>,
    /// Which part of its memory it shows; `None`: everything else about it.
    kept: Option<Kept>,
    /// The last answer about that, and what the detail was filled with: the answer's number and the width.
    remembered: Option<(Wanted, Result<Remembered, Arc<str>>)>,
    answers: u64,
    filled: Option<(u64, usize)>,
    holdings: Holdings,
}

impl SeatsPane {
    /// Nothing selected yet; times are shown in this zone.
    pub fn new(zone: TimeZone) -> Self {
        Self {
            two: Two::default(),
            zone,
            made: None,
            kept: None,
            remembered: None,
            answers: 0,
            filled: None,
            holdings: Holdings::default(),
        }
    }

    /// Fits the pane to its area and the snapshot.
    pub fn layout(&mut self, area: Rect, snapshot: &Snapshot) {
        let ids = ids(snapshot);
        if ids.is_empty() {
            self.to_list();
        }
        self.holdings.follow(snapshot);
        self.two.layout(area, &ids);
        self.describe(snapshot);
    }

    /// Acts on what the person means.
    pub fn apply(&mut self, intent: Intent, snapshot: &Snapshot) -> Vec<Effect> {
        let mut effects = Vec::new();
        match intent {
            Intent::StopSeat
            | Intent::ReleaseSeat
            | Intent::ShowTools
            | Intent::ShowWorkerTools
            | Intent::Workers
            | Intent::MakeWorker => {
                effects.extend(self.act(intent, snapshot));
            }
            Intent::Memory => effects.extend(self.next_part(snapshot)),
            Intent::Open => self.two.focus = Focus::Detail,
            Intent::Back => (self.two.focus, self.kept) = (Focus::List, None),
            _ => _ = self.two.apply(intent, &ids(snapshot)),
        }
        self.layout(self.two.area(), snapshot);
        effects
    }

    /// What is selected, by a name that no other row has.
    pub fn marked(&self) -> Option<Arc<str>> {
        self.two.pick.id().map(|id| match id {
            RowId::Unit(unit) => format!("unit {unit}").into(),
            RowId::Seat(seat) => seat.as_str().into(),
        })
    }

    /// Gives the keys to the list; the detail is about the seat, not about what it remembers.
    pub const fn to_list(&mut self) {
        self.two.focus_list();
        self.kept = None;
    }

    /// What it wants to know of the seats' memories.
    pub fn wants(&self) -> Vec<Ask> {
        self.wanted().map(Ask::Memory).into_iter().collect()
    }

    fn wanted(&self) -> Option<Wanted> {
        match (&self.made, self.kept) {
            (Some(RowId::Seat(seat)), Some(kept)) => Some(Wanted { seat: seat.clone(), kept }),
            _ => None,
        }
    }

    /// Takes an answer in; one that is late for its question is dropped.
    pub fn take(&mut self, answer: Answer) {
        if let Ask::Memory(wanted) = answer.ask
            && Some(&wanted) == self.wanted().as_ref()
        {
            let remembered = |found| if let Found::Memory(found) = found { found } else { Remembered::default() };
            self.remembered = Some((wanted, answer.found.map(remembered)));
            self.answers += 1;
        }
    }

    /// To the next part of what the selected seat remembers, and after the last one back to everything else.
    fn next_part(&mut self, snapshot: &Snapshot) -> Option<Effect> {
        match selected(self.two.pick.id()?, snapshot)? {
            ChartNode::Seat(seat) if seat.kind == SeatKind::Agent => {}
            ChartNode::Seat(seat) => {
                return Some(Effect::Complain(format!("{} is a human: nothing is kept here", seat.name).into()));
            }
            ChartNode::Unit(unit) => {
                let words = format!("{} is a unit: go to one of its seats", unit.unit.name);
                return Some(Effect::Complain(words.into()));
            }
        }
        self.kept = match self.kept {
            None => Some(Kept::Diary),
            Some(Kept::Diary) => Some(Kept::Skills),
            Some(Kept::Skills) => Some(Kept::Turns),
            Some(Kept::Turns) => None,
        };
        if self.kept.is_some() {
            self.two.focus = Focus::Detail;
        }
        self.two.detail.rewind();
        None
    }

    /// What Esc does, in a word, while the detail has the keys.
    pub const fn way_back(&self) -> Option<&'static str> {
        match self.two.way_back() {
            None if self.kept.is_some() => Some("about the seat"),
            way => way,
        }
    }

    /// What a key about a seat comes to.
    fn act(&self, intent: Intent, snapshot: &Snapshot) -> Option<Effect> {
        let complain = |words: String| Some(Effect::Complain(words.into()));
        let seat = match selected(self.two.pick.id()?, snapshot)? {
            ChartNode::Seat(seat) => seat,
            ChartNode::Unit(unit) => return complain(format!("{} is a unit: go to one of its seats", unit.unit.name)),
        };
        if seat.kind == SeatKind::Human {
            return complain(format!("{} is a human: there are no tools and nothing to stop", seat.name));
        }
        Some(match intent {
            Intent::ShowTools => Effect::Show(Target::ToolsOfSeat(seat.handle.clone())),
            Intent::ShowWorkerTools => Effect::Show(Target::ToolsOfWorker(seat.handle.clone())),
            Intent::Workers => Effect::OpenWorkers(seat.handle.clone()),
            Intent::MakeWorker => Effect::OrderWorker(seat.handle.clone()),
            intent => Question::about_seat(intent, &seat.handle, snapshot),
        })
    }

    /// Draws the pane.
    pub fn render(&self, buf: &mut Buffer, draw: &Draw<'_>) {
        let [list, detail] = self.two.draws(draw);
        self.render_list(buf, &list);
        let name = self.made.as_ref().and_then(|id| selected(id, draw.snapshot)).map(|node| match (node, self.kept) {
            (ChartNode::Seat(seat), Some(kept)) => format!("{}: {}", seat.handle, memory::title(kept)),
            (ChartNode::Seat(seat), None) => format!("seat {}", seat.handle),
            (ChartNode::Unit(unit), _) => format!("unit {}", unit.unit.name),
        });
        self.two.about(buf, (name.as_deref(), "Seat"), &detail);
    }

    fn render_list(&self, buf: &mut Buffer, draw: &Draw<'_>) {
        let chart = &draw.snapshot.chart;
        let mut count = Row::new();
        if !draw.snapshot.stopped_seats.is_empty() {
            let words = format!("{} stopped  ", plural(draw.snapshot.stopped_seats.len(), "seat"));
            count.push(Span::new(Role::Warning, &words));
        }
        count.push(Span::new(Role::Dim, &chart.seats().count().to_string()));
        let Some(inside) = self.two.list(buf, ("Seats", count), draw) else { return };
        if chart.rows.is_empty() {
            return empty(buf, inside, &["The configuration has not been read yet."], draw);
        }
        let row = |row: &ChartRow| (RowId::of(row), self.cells(row, draw));
        self.two.rows(buf, (inside, &COLUMNS), (chart.rows.iter(), row), draw);
    }

    fn cells(&self, row: &ChartRow, draw: &Draw<'_>) -> Vec<Row> {
        let indent = Span::gap(2 * row.depth.min(LEVELS));
        match &row.node {
            ChartNode::Unit(unit) => unit_cells(unit, indent),
            ChartNode::Seat(seat) => self.seat_cells(seat, indent, draw),
        }
    }

    fn seat_cells(&self, seat: &SeatView, indent: Span, draw: &Draw<'_>) -> Vec<Row> {
        let name = vec![indent, Span::new(Role::Text, &seat.name), Span::new(Role::Dim, &format!("  {}", seat.handle))];
        if seat.kind == SeatKind::Human {
            return vec![name, vec![Span::new(Role::Dim, "human")]];
        }
        let number = |text: &str| vec![Span::new(Role::Dim, text)];
        let all = connections(&seat.handle, draw.snapshot).count();
        let ready = connections(&seat.handle, draw.snapshot).filter(|server| server.status.is_ready()).count();
        let tools = self.holdings.get(&seat.handle).map_or(0, |held| held.tools());
        vec![
            name,
            vec![Span::new(Role::Text, "agent")],
            vec![now(seat, draw.snapshot)],
            number(&format!("{ready}/{all}")),
            number(&tools.to_string()),
        ]
    }

    fn describe(&mut self, snapshot: &Snapshot) {
        let width = self.two.width();
        if self.made.as_ref() != self.two.pick.id() {
            self.two.detail.rewind();
        }
        self.made = self.two.pick.id().cloned();
        if self.wanted().is_some() && self.has_memory(snapshot) {
            return self.remember(width);
        }
        self.filled = None;
        let sections = match self.made.as_ref().and_then(|id| selected(id, snapshot)) {
            Some(ChartNode::Unit(unit)) => about::unit(unit, width),
            Some(ChartNode::Seat(seat)) => {
                let held = self.holdings.get(&seat.handle).map(AsRef::as_ref);
                about::seat(seat, held, (snapshot, &self.zone), width)
            }
            None => Vec::new(),
        };
        self.two.detail.fill(sections, width);
    }

    fn has_memory(&self, snapshot: &Snapshot) -> bool {
        let node = self.made.as_ref().and_then(|id| selected(id, snapshot));
        matches!(node, Some(ChartNode::Seat(seat)) if seat.kind == SeatKind::Agent)
    }

    /// Fills the detail with what was answered, once: long texts are not laid out anew for each key.
    fn remember(&mut self, width: usize) {
        let wanted = self.wanted();
        let known = self.remembered.as_ref().filter(|(known, _)| Some(known) == wanted.as_ref());
        let number = known.map_or(0, |_| self.answers);
        if self.filled == Some((number, width)) {
            return;
        }
        let sections = match (known, self.kept) {
            (Some((_, Ok(found))), Some(kept)) => memory::sections(kept, found, &self.zone, width),
            (Some((_, Err(problem))), _) => memory::problem(problem, width),
            _ => Vec::new(),
        };
        self.two.detail.fill(sections, width);
        self.filled = Some((number, width));
    }
}

fn ids(snapshot: &Snapshot) -> Vec<RowId> {
    snapshot.chart.rows.iter().map(RowId::of).collect()
}

fn selected<'s>(id: &RowId, snapshot: &'s Snapshot) -> Option<&'s ChartNode> {
    snapshot.chart.rows.iter().find(|row| RowId::of(row) == *id).map(|row| &row.node)
}

/// The connections that a seat calls by: its own, and those that all agents' seats share.
fn connections<'s>(seat: &SeatHandle, snapshot: &'s Snapshot) -> impl Iterator<Item = &'s ServerView> {
    let seat = seat.clone();
    let of_seat = move |server: &&Arc<ServerView>| server.seat.as_ref().is_none_or(|owner| *owner == seat);
    snapshot.servers.iter().filter(of_seat).map(AsRef::as_ref)
}

/// The sessions that drive a seat themselves; its workers' are none of them.
fn drivers<'s>(seat: &'s SeatHandle, snapshot: &'s Snapshot) -> impl Iterator<Item = &'s Arc<SessionView>> {
    snapshot.sessions.iter().filter(move |session| session.seat == *seat && session.worker.is_none())
}

/// How many questions of a seat wait for a person.
fn waiting(seat: &SeatHandle, snapshot: &Snapshot) -> usize {
    snapshot.approvals.iter().filter(|question| question.caller.seat() == Some(seat)).count()
}

/// What matters most about a seat, in a word.
fn now(seat: &SeatView, snapshot: &Snapshot) -> Span {
    if stopped(snapshot, &seat.handle).is_some() {
        return Span::new(Role::Warning, "STOPPED");
    }
    match waiting(&seat.handle, snapshot) {
        0 => {}
        waiting => return Span::new(Role::Alert, &format!("⚑{waiting} waits")),
    }
    match drivers(&seat.handle, snapshot).count() {
        0 => Span::new(Role::Dim, "–"),
        1 => Span::new(Role::Ready, "connected"),
        more => Span::new(Role::Ready, &format!("{more} agents")),
    }
}

fn unit_cells(view: &UnitView, indent: Span) -> Vec<Row> {
    let name = Span::new(Role::Title, &view.unit.name);
    vec![vec![indent, name, Span::new(Role::Dim, &format!("  {}", view.unit.kind))]]
}
