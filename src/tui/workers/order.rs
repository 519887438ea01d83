//! What a new worker should have: tools out of those that its seat reaches, minutes, a task.
//!
//! The guard's answer stands beside each tool, so nothing is asked for in vain; what a worker may not hold cannot be
//! chosen. A key makes the worker that no other field knows: typing and Enter never do.

use std::sync::Arc;

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{foot, scrolled};
use crate::engine::command::{Command, WorkerOrder};
use crate::engine::snapshot::Snapshot;
use crate::engine::workers::{MINUTES, MOST_MINUTES, MOST_TOOLS};
use crate::ids::{SeatHandle, WorkerId};
use crate::tool::worker::{Barred, may_hold};
use crate::tool::{Catalog, Entry, ToolKey};
use crate::tui::Draw;
use crate::tui::intent::{Effect, Intent};
use crate::tui::theme::Role;
use crate::tui::widgets::badge;
use crate::tui::widgets::cells::to_cells;
use crate::tui::widgets::input::Input;
use crate::tui::widgets::paint::{Row, Span, fit_row, line, put_rows};
use crate::tui::widgets::panel::Scroll;
use crate::tui::widgets::table::{Selection, bar};

/// Rows that are no tools: filter, minutes, task, what is said, keys.
const AROUND: u16 = 6;
const LABEL: u16 = 9;

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Order {
    filter: Input,
    minutes: Input,
    task: Input,
    focus: Field,
    /// What is chosen, in that order.
    chosen: Vec<ToolKey>,
    pick: Selection<ToolKey>,
    rows: Vec<Choice>,
    /// What the rows were made of.
    of: Option<(Arc<Catalog>, String)>,
    said: Option<String>,
    sent: Option<WorkerId>,
    /// It was asked for and nobody has said no.
    waits: bool,
    /// Esc was pressed with something chosen or written: the next key answers.
    leaving: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Field {
    Tools,
    Minutes,
    Task,
}

#[derive(Clone, Debug)]
struct Choice {
    entry: Arc<Entry>,
    key: ToolKey,
    barred: Option<Barred>,
}

impl Default for Order {
    fn default() -> Self {
        Self {
            filter: Input::default(),
            minutes: Input::with(&MINUTES.to_string()),
            task: Input::default(),
            focus: Field::Tools,
            chosen: Vec::new(),
            pick: Selection::default(),
            rows: Vec::new(),
            of: None,
            said: None,
            sent: None,
            waits: false,
            leaving: false,
        }
    }
}

impl Order {
    /// True when something is chosen or written.
    pub(super) fn is_changed(&self) -> bool {
        !self.chosen.is_empty() || !self.task.text().trim().is_empty()
    }

    /// Closes the sheet; false when it asks first.
    pub(super) fn leave(&mut self) -> bool {
        self.leaving = self.is_changed();
        !self.leaving
    }

    pub(super) const fn is_leaving(&self) -> bool {
        self.leaving
    }

    /// The answer to that.
    pub(super) fn left(&mut self, key: KeyEvent) -> bool {
        self.leaving = false;
        matches!(key.code, KeyCode::Char('y' | 'Y'))
    }

    /// The engine has said why it did not do something.
    pub(super) fn refused(&mut self, why: &str) {
        if std::mem::take(&mut self.waits) {
            self.said = Some(why.to_owned());
        }
    }

    /// The worker that was asked for.
    pub(super) const fn sent(&self) -> Option<&WorkerId> {
        self.sent.as_ref()
    }

    pub(super) fn layout(&mut self, inside: Rect, (seat, snapshot): (&SeatHandle, &Snapshot)) {
        let filter = self.filter.text().trim().to_lowercase();
        let same =
            |(catalog, known): &(Arc<Catalog>, String)| Arc::ptr_eq(catalog, &snapshot.catalog) && *known == filter;
        if !self.of.as_ref().is_some_and(same) {
            self.rows = choices(seat, &snapshot.catalog, &filter);
            let may = |key: &ToolKey| snapshot.catalog.get(key).is_some_and(|entry| may_hold(entry).is_ok());
            self.chosen.retain(may);
            self.of = Some((snapshot.catalog.clone(), filter));
        }
        let keys: Vec<ToolKey> = self.rows.iter().map(|row| row.key.clone()).collect();
        self.pick.layout(&keys, inside.height.saturating_sub(AROUND).max(1));
    }

    pub(super) fn key(
        &mut self,
        intent: Option<Intent>,
        key: KeyEvent,
        (seat, snapshot): (&SeatHandle, &Snapshot),
    ) -> Option<Effect> {
        match (intent, self.focus) {
            (Some(Intent::Submit), _) => return self.submit(seat, snapshot),
            (Some(Intent::Next), _) => self.focus = self.focus.next(),
            (Some(Intent::Previous), _) => self.focus = self.focus.next().next(),
            (Some(Intent::Toggle), Field::Tools) => self.toggle(),
            (Some(Intent::Up | Intent::Down | Intent::PageUp | Intent::PageDown), _) => {
                let keys: Vec<ToolKey> = self.rows.iter().map(|row| row.key.clone()).collect();
                intent.map(|intent| self.pick.apply(intent, &keys));
            }
            _ => _ = self.input().key(key),
        }
        self.said = None;
        None
    }

    pub(super) fn paste(&mut self, pasted: &str) {
        self.input().paste(pasted);
    }

    pub(super) fn count(&self) -> String {
        format!("{} chosen", self.chosen.len())
    }

    pub(super) const fn scroll(&self) -> Scroll {
        let state = self.pick.scroll_state();
        scrolled(state.above, state.shown, state.total)
    }

    fn input(&mut self) -> &mut Input {
        match self.focus {
            Field::Tools => &mut self.filter,
            Field::Minutes => &mut self.minutes,
            Field::Task => &mut self.task,
        }
    }

    fn toggle(&mut self) {
        let Some(row) = self.rows.iter().find(|row| Some(&row.key) == self.pick.id()) else { return };
        if let Some(at) = self.chosen.iter().position(|key| *key == row.key) {
            self.chosen.remove(at);
        } else if row.barred.is_none() && self.chosen.len() < MOST_TOOLS {
            self.chosen.push(row.key.clone());
        }
    }

    fn submit(&mut self, seat: &SeatHandle, snapshot: &Snapshot) -> Option<Effect> {
        // Another press would make another worker, whose token nobody could ask for.
        if self.waits {
            return None;
        }
        let minutes = self.minutes.text().trim().parse().ok().filter(|minutes| (1..=MOST_MINUTES).contains(minutes));
        let Some(minutes) = minutes else {
            self.focus = Field::Minutes;
            self.said = Some(format!("minutes is a whole number from 1 to {MOST_MINUTES}"));
            return None;
        };
        if self.chosen.is_empty() {
            self.focus = Field::Tools;
            self.said = Some("choose at least one tool: Space on it".to_owned());
            return None;
        }
        let tools = self.chosen.iter().filter_map(|key| snapshot.catalog.get(key)).map(|entry| entry.reference());
        let worker = WorkerId::fresh();
        self.said = Some("asked for: waiting for it".to_owned());
        (self.sent, self.waits) = (Some(worker.clone()), true);
        Some(Effect::Send(Command::MintWorker(WorkerOrder {
            worker,
            seat: seat.clone(),
            task: self.task.text().trim().to_owned(),
            tools: tools.collect(),
            minutes,
        })))
    }

    pub(super) fn render(&self, inside: Rect, buf: &mut Buffer, draw: &Draw<'_>) {
        let keys = [("Ctrl-S", "make it"), ("Space", "choose"), ("Tab", "next field"), ("Esc", "close")];
        let keys: &[(&str, &str)] =
            if self.leaving { &[("y", "close without making it"), ("any other key", "no")] } else { &keys };
        let body = foot(inside, keys, buf, draw);
        self.field((body, 0), ("tools", &self.filter, Field::Tools, "type to filter"), buf, draw);
        let visible = self.pick.visible();
        let width = usize::from(body.width);
        for (down, choice) in self.rows.get(visible).unwrap_or_default().iter().enumerate() {
            let Some(place) = line(body, down + 1) else { return };
            put_rows(buf, place, &[fit_row(&self.cells(choice), width)], draw.theme);
            if self.focus == Field::Tools && self.pick.id() == Some(&choice.key) {
                bar(buf, place, draw.theme);
            }
        }
        if self.rows.is_empty() {
            let words = if self.filter.is_empty() { "the seat has no tools" } else { "no tool matches" };
            put_rows(
                buf,
                line(body, 1).unwrap_or_default(),
                &[vec![Span::gap(2), Span::new(Role::Dim, words)]],
                draw.theme,
            );
        }
        let below = usize::from(body.height).saturating_sub(3);
        let bounds = format!("1 to {MOST_MINUTES}");
        self.field((body, below), ("minutes", &self.minutes, Field::Minutes, &bounds), buf, draw);
        self.field((body, below + 1), ("task", &self.task, Field::Task, "what it is for; may stay empty"), buf, draw);
        if let (Some(said), Some(place)) = (&self.said, line(body, below + 2)) {
            put_rows(buf, place, &[vec![Span::new(Role::Warning, said)]], draw.theme);
        }
    }

    /// A label and a line of text; with nothing in it, what belongs there.
    fn field(
        &self,
        (body, down): (Rect, usize),
        (label, input, field, about): (&str, &Input, Field, &str),
        buf: &mut Buffer,
        draw: &Draw<'_>,
    ) {
        let Some(place) = line(body, down) else { return };
        let role = if self.focus == field { Role::Key } else { Role::Dim };
        put_rows(buf, place, &[vec![Span::new(role, label)]], draw.theme);
        let left = LABEL.min(place.width);
        let text = Rect { x: place.x + left, width: place.width - left, ..place };
        if self.focus == field {
            input.render(buf, text, draw.theme.style(Role::Text));
            let after = to_cells(about.len()).min(text.width);
            let hint = Rect { x: text.right() - after, width: after, ..text };
            if input.is_empty() && text.width > after + 2 {
                put_rows(buf, hint, &[vec![Span::new(Role::Dim, about)]], draw.theme);
            }
        } else if input.is_empty() {
            put_rows(buf, text, &[vec![Span::new(Role::Dim, about)]], draw.theme);
        } else {
            let written = crate::text::visible(&input.text()).into_owned();
            put_rows(buf, text, &[fit_row(&[Span::new(Role::Text, &written)], usize::from(text.width))], draw.theme);
        }
    }

    fn cells(&self, choice: &Choice) -> Row {
        let name = &*choice.entry.exposed;
        match choice.barred {
            Some(barred) => {
                vec![Span::gap(3), Span::new(Role::Dim, "–  "), Span::new(Role::Dim, &format!("{name}  {barred}"))]
            }
            None => {
                let mark = if self.chosen.contains(&choice.key) { "[x] " } else { "[ ] " };
                let class = badge::class(choice.entry.class());
                vec![Span::gap(2), Span::new(Role::Key, mark), Span::new(Role::Text, name), Span::gap(2), class]
            }
        }
    }
}

impl Field {
    const fn next(self) -> Self {
        match self {
            Self::Tools => Self::Minutes,
            Self::Minutes => Self::Task,
            Self::Task => Self::Tools,
        }
    }
}

/// What the seat reaches and the filter lets through: first what a worker may hold, then what it may not, each in the
/// catalogue's order.
fn choices(seat: &SeatHandle, catalog: &Catalog, filter: &str) -> Vec<Choice> {
    let shown = |entry: &&Arc<Entry>| {
        let line = format!("{} {} {}", entry.exposed, entry.connection, entry.class()).to_lowercase();
        filter.split_whitespace().all(|word| line.contains(word))
    };
    let of = |entry: &Arc<Entry>| Choice { entry: entry.clone(), key: entry.key(), barred: may_hold(entry).err() };
    let (may, may_not): (Vec<Choice>, Vec<Choice>) =
        catalog.of_seat(seat).filter(shown).map(of).partition(|choice| choice.barred.is_none());
    may.into_iter().chain(may_not).collect()
}
