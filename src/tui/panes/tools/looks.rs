//! As whom the catalogue is looked at: everybody at once, a seat, or a worker of a seat; and the list to choose from.
//!
//! It is kept in the filter, as `seat:` and `worker:`, so that typing and choosing are the same.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::engine::snapshot::Snapshot;
use crate::ids::SeatHandle;
use crate::tui::Draw;
use crate::tui::intent::Intent;
use crate::tui::panes::filter::Filter;
use crate::tui::panes::two::{Line, frame, table, title};
use crate::tui::theme::Role;
use crate::tui::widgets::border::inner;
use crate::tui::widgets::cells::{clear, to_cells};
use crate::tui::widgets::confirm::centred;
use crate::tui::widgets::paint::{Row, Span};
use crate::tui::widgets::table::{Column, Selection};

/// Cells of the list's frame.
const WIDTH: u16 = 46;

/// As whom.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Look {
    /// As nobody: all tools of all seats.
    Everything,
    /// As an agent on this seat.
    Seat(SeatHandle),
    /// As a worker of this seat that was given all it may hold.
    Worker(SeatHandle),
}

impl Look {
    /// What the filter says, where it names one seat.
    pub(super) fn of(filter: &Filter, seats: &[SeatHandle]) -> Self {
        let named = |key| {
            let value = filter.value(key)?;
            seats.iter().find(|seat| seat.as_str() == value).cloned()
        };
        match (named("worker"), named("seat")) {
            (Some(seat), None) => Self::Worker(seat),
            (None, Some(seat)) => Self::Seat(seat),
            _ => Self::Everything,
        }
    }

    /// Puts it into the filter.
    pub(super) fn into(&self, filter: &mut Filter) {
        let (seat, worker) = match self {
            Self::Everything => (None, None),
            Self::Seat(seat) => (Some(seat.as_str()), None),
            Self::Worker(seat) => (None, Some(seat.as_str())),
        };
        filter.set("seat", seat);
        filter.set("worker", worker);
    }

    /// The end of the pane's title, where it is not everything.
    pub(super) fn words(&self) -> Option<String> {
        match self {
            Self::Everything => None,
            Self::Seat(seat) => Some(format!("as seat {seat}")),
            Self::Worker(seat) => Some(format!("as a worker of {seat}")),
        }
    }

    fn all(snapshot: &Snapshot) -> Vec<Self> {
        let of_seat = |seat: &SeatHandle| [Self::Seat(seat.clone()), Self::Worker(seat.clone())];
        std::iter::once(Self::Everything).chain(snapshot.seats.iter().flat_map(of_seat)).collect()
    }

    fn row(&self) -> Row {
        match self {
            Self::Everything => vec![Span::new(Role::Text, "everything")],
            Self::Seat(seat) => vec![Span::new(Role::Dim, "seat "), Span::new(Role::Text, seat.as_str())],
            Self::Worker(seat) => {
                vec![Span::new(Role::Dim, "  a worker of "), Span::new(Role::Text, seat.as_str())]
            }
        }
    }
}

/// The list while it is open.
#[derive(Clone, Debug)]
pub(super) struct Chooser {
    area: Rect,
    pick: Selection<Look>,
}

impl Chooser {
    /// Open, on what is looked at now.
    pub(super) fn on(look: Look) -> Self {
        let mut pick = Selection::default();
        pick.select(look);
        Self { area: Rect::ZERO, pick }
    }

    /// Fits it into the middle of an area.
    pub(super) fn layout(&mut self, area: Rect, snapshot: &Snapshot) {
        let all = Look::all(snapshot);
        // A frame and a line of headings.
        self.area = centred(area, WIDTH, to_cells(all.len()).saturating_add(3));
        self.pick.layout(&all, inner(self.area).height.saturating_sub(1));
    }

    /// Moves the selection.
    pub(super) fn apply(&mut self, intent: Intent, snapshot: &Snapshot) {
        self.pick.apply(intent, &Look::all(snapshot));
    }

    /// What is selected.
    pub(super) const fn chosen(&self) -> Option<&Look> {
        self.pick.id()
    }

    pub(super) fn render(&self, buf: &mut Buffer, draw: &Draw<'_>) {
        clear(buf, self.area);
        let all = Look::all(draw.snapshot);
        let count = vec![Span::new(Role::Dim, &format!("{}/{}", self.pick.index() + 1, all.len()))];
        let inside = frame(buf, self.area, (title("Look at the tools as", draw), count), draw);
        let window = self.pick.visible();
        let visible = all.iter().skip(window.start).take(window.len());
        let line = |look: &Look| Line { cells: vec![look.row()], selected: self.pick.id() == Some(look) };
        let lines: Vec<Line> = visible.map(line).collect();
        table(buf, inside, (&[Column::grows("", 8)], &lines), draw);
    }
}
