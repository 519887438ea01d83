//! The sessions view: which agents use the surfaces, and the calls of the selected one. Below them stand the seats that
//! are stopped and have no session left.
//!
//! Stopping and releasing are about the seat, ask first, and are done by the engine; nothing is predicted here.

pub(super) mod about;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use jiff::tz::TimeZone;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::two::{Focus, Two, empty};
use crate::clock::Precision;
use crate::engine::snapshot::{SessionView, Snapshot, StoppedSeat};
use crate::ids::SeatHandle;
use crate::tui::Draw;
use crate::tui::format::{plural, span};
use crate::tui::intent::{Effect, Intent, Question};
use crate::tui::theme::Role;
use crate::tui::widgets::paint::{Row, Span};
use crate::tui::widgets::table::{Align, Column, Width};

const COLUMNS: [Column; 8] = [
    Column::grows("client", 16),
    Column::stays("seat", 9),
    // Never goes: it is what the view is looked at for.
    Column { title: "waiting", width: Width::Cells(7), align: Align::Right, rank: 0 },
    Column::drops("reached", 14),
    Column::number("calls", 5),
    Column::number("last seen", 9),
    Column::drops("since", 5),
    Column::drops("era", 6),
];

/// What a row is about.
#[derive(Clone, PartialEq, Eq, Debug)]
enum RowId {
    /// A seat's session by its short id.
    Session(SeatHandle, Arc<str>),
    /// A stopped seat without a session.
    Stopped(SeatHandle),
}

impl RowId {
    fn of(session: &SessionView) -> Self {
        Self::Session(session.seat.clone(), session.id.clone())
    }

    const fn seat(&self) -> &SeatHandle {
        match self {
            Self::Session(seat, _) | Self::Stopped(seat) => seat,
        }
    }
}

/// See the module.
#[derive(Clone, Debug)]
pub struct SessionsPane {
    two: Two<RowId>,
    zone: TimeZone,
    /// What the detail is about.
    made: Option<RowId>,
}

impl SessionsPane {
    /// Nothing selected yet; times are shown in this zone.
    pub fn new(zone: TimeZone) -> Self {
        Self { two: Two::default(), zone, made: None }
    }

    /// Fits the pane to its area and the snapshot.
    pub fn layout(&mut self, area: Rect, snapshot: &Snapshot) {
        let ids = ids(snapshot);
        if ids.is_empty() {
            self.to_list();
        }
        self.two.layout(area, &ids);
        self.describe(snapshot);
    }

    /// Acts on what the person means.
    pub fn apply(&mut self, intent: Intent, snapshot: &Snapshot) -> Vec<Effect> {
        let mut effects = Vec::new();
        match intent {
            Intent::StopSeat | Intent::ReleaseSeat => effects.extend(self.act(intent, snapshot)),
            Intent::Open => self.two.focus = Focus::Detail,
            _ => _ = self.two.apply(intent, &ids(snapshot)),
        }
        self.layout(self.two.area(), snapshot);
        effects
    }

    /// Gives the keys to the list.
    pub const fn to_list(&mut self) {
        self.two.focus_list();
    }

    /// What Esc does, in a word, while the detail has the keys.
    pub const fn way_back(&self) -> Option<&'static str> {
        self.two.way_back()
    }

    fn act(&self, intent: Intent, snapshot: &Snapshot) -> Option<Effect> {
        Some(Question::about_seat(intent, self.two.pick.id()?.seat(), snapshot))
    }

    /// Draws the pane.
    pub fn render(&self, buf: &mut Buffer, draw: &Draw<'_>) {
        let [list, detail] = self.two.draws(draw);
        self.render_list(buf, &list);
        let name = self.made.as_ref().map(|row| match row {
            RowId::Session(seat, session) => format!("seat {seat} · session {session}"),
            RowId::Stopped(seat) => format!("seat {seat}"),
        });
        self.two.about(buf, (name.as_deref(), "Session"), &detail);
    }

    fn render_list(&self, buf: &mut Buffer, draw: &Draw<'_>) {
        let (snapshot, sessions) = (draw.snapshot, &draw.snapshot.sessions);
        let mut count = Row::new();
        if !snapshot.stopped_seats.is_empty() {
            let words = format!("{} stopped  ", plural(snapshot.stopped_seats.len(), "seat"));
            count.push(Span::new(Role::Warning, &words));
        }
        if !sessions.is_empty() {
            count.push(Span::new(Role::Dim, &sessions.len().to_string()));
        }
        let Some(inside) = self.two.list(buf, ("Sessions", count), draw) else { return };
        if self.two.pick.id().is_none() {
            let texts = nobody(snapshot);
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            return empty(buf, inside, &texts, draw);
        }
        let agents = sessions.iter().map(|session| (RowId::of(session), cells(session, draw)));
        let seats = silent(snapshot).map(|seat| (RowId::Stopped(seat.seat.clone()), stopped_cells(seat, draw)));
        self.two.rows(buf, (inside, &COLUMNS), (agents.chain(seats), |row| row), draw);
    }

    fn describe(&mut self, snapshot: &Snapshot) {
        let width = self.two.width();
        if self.made.as_ref() != self.two.pick.id() {
            self.two.detail.rewind();
        }
        self.made = self.two.pick.id().cloned();
        let sections = match &self.made {
            Some(RowId::Session(seat, id)) => {
                let session = snapshot.sessions.iter().find(|session| session.seat == *seat && session.id == *id);
                session.map(|session| about::session(session, snapshot, &self.zone, width))
            }
            Some(RowId::Stopped(seat)) => stopped(snapshot, seat).map(|seat| about::seat(seat, &self.zone, width)),
            None => None,
        };
        self.two.detail.fill(sections.unwrap_or_default(), width);
    }
}

/// The mark of a seat that a person stopped.
pub(super) fn stopped<'s>(snapshot: &'s Snapshot, seat: &SeatHandle) -> Option<&'s StoppedSeat> {
    snapshot.stopped_seats.iter().find(|stopped| stopped.seat == *seat)
}

/// Stopped seats that no session speaks for.
fn silent(snapshot: &Snapshot) -> impl Iterator<Item = &StoppedSeat> {
    let spoken_for = |seat: &SeatHandle| snapshot.sessions.iter().any(|session| session.seat == *seat);
    snapshot.stopped_seats.iter().filter(move |stopped| !spoken_for(&stopped.seat))
}

fn ids(snapshot: &Snapshot) -> Vec<RowId> {
    let sessions = snapshot.sessions.iter().map(|session| RowId::of(session));
    sessions.chain(silent(snapshot).map(|seat| RowId::Stopped(seat.seat.clone()))).collect()
}

/// What is said where no agent is: how one comes in, or why none can.
fn nobody(snapshot: &Snapshot) -> Vec<String> {
    match (&snapshot.listener, &snapshot.listener_problem) {
        (Some(address), _) => vec![
            "No agent is connected.".to_owned(),
            format!("Agents reach their seat at http://{}/seats/SEAT/mcp.", crate::text::visible(address)),
            "Type :connect for lines to paste into the usual programs, :connect SEAT for another seat.".to_owned(),
        ],
        (None, Some(problem)) => {
            vec!["No agent can connect: there is no listener.".to_owned(), crate::text::clean(problem).into_owned()]
        }
        (None, None) => vec![
            "No agent can connect: the listener is off.".to_owned(),
            "Start with --listen 127.0.0.1:7420, or set engine.listen in the configuration; then :connect shows how."
                .to_owned(),
        ],
    }
}

fn cells(session: &SessionView, draw: &Draw<'_>) -> Vec<Row> {
    let text = |role, text: &str| vec![Span::new(role, text)];
    let stopped = stopped(draw.snapshot, &session.seat).is_some();
    let waiting = match (stopped, about::waiting(session, draw.snapshot)) {
        (true, _) => text(Role::Warning, "STOPPED"),
        (false, 0) => text(Role::Dim, "0"),
        (false, waiting) => text(Role::Alert, &waiting.to_string()),
    };
    vec![
        text(Role::Text, about::client(session)),
        text(if stopped { Role::Warning } else { Role::Text }, session.holder().as_str()),
        waiting,
        about::reached(session),
        text(Role::Text, &session.calls.to_string()),
        text(Role::Text, &span(draw.now.since(session.last_seen))),
        text(Role::Dim, &session.since.time_of_day(draw.zone, Precision::Minutes)),
        text(Role::Dim, session.era.as_str()),
    ]
}

fn stopped_cells(stopped: &StoppedSeat, draw: &Draw<'_>) -> Vec<Row> {
    vec![
        vec![Span::new(Role::Dim, "no session")],
        vec![Span::new(Role::Warning, stopped.seat.as_str())],
        vec![Span::new(Role::Warning, "STOPPED")],
        Row::new(),
        Row::new(),
        Row::new(),
        vec![Span::new(Role::Dim, &stopped.since.time_of_day(draw.zone, Precision::Minutes))],
        Row::new(),
    ]
}
