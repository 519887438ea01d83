//! The workers of one seat on the screen: who they are and until when, making one, ending one. A layer above the panes
//! that the seats view opens.
//!
//! What a worker gets is the guard's word, in the list of tools as on its making. A new worker's token is on the screen
//! only after a key that asks for it, in the layer that made the worker and nowhere else; it is gone with the layer.
//!
//! | file | owns |
//! |---|---|
//! | `listing` | the workers that there are |
//! | `order` | choosing tools, minutes and a task for a new one |
//! | `made` | what a new one is reached by, with its token once it was asked for |

mod listing;
mod made;
mod order;

use crossterm::event::{KeyEvent, KeyEventKind};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::Draw;
use super::card::Outcome;
use super::intent::{Effect, Intent};
use super::keymap::Context;
use super::theme::Role;
use super::widgets::cells::{clear, to_cells};
use super::widgets::confirm::centred;
use super::widgets::paint::{Row, Span, put_rows};
use super::widgets::panel::{Panel, Scroll, text_area};
use super::writing;
use crate::engine::snapshot::Snapshot;
use crate::ids::{SeatHandle, WorkerId};
use crate::secret::Secret;
use listing::Listing;
use made::Made;
use order::Order;

const WIDTH: u16 = 92;
const HEIGHT: u16 = 28;

/// See the module.
#[derive(Clone, Debug)]
pub struct Workers {
    seat: SeatHandle,
    /// The seat's name, for people.
    name: String,
    face: Face,
    screen: Rect,
}

#[derive(Clone, Debug)]
enum Face {
    List(Listing),
    Order(Box<Order>),
    Made(Made),
}

impl Workers {
    /// The workers that a seat has.
    pub fn of(seat: &SeatHandle, snapshot: &Snapshot) -> Self {
        Self::on(seat, snapshot, Face::List(Listing::default()))
    }

    /// A new worker of the seat.
    ///
    /// # Errors
    /// There cannot be one now; why.
    pub fn make(seat: &SeatHandle, snapshot: &Snapshot) -> Result<Self, String> {
        if snapshot.read_only {
            return Err("nothing can be changed here: the dashboard was started with --read-only".to_owned());
        }
        if snapshot.stopped_seats.iter().any(|stopped| stopped.seat == *seat) {
            return Err(format!("seat {seat} is stopped: release it before you make a worker of it"));
        }
        if snapshot.listener.is_none() {
            return Err("a worker comes in over HTTP, and there is no listener; start with --listen 127.0.0.1:7420, \
                        or set engine.listen"
                .to_owned());
        }
        Ok(Self::on(seat, snapshot, Face::Order(Box::default())))
    }

    fn on(seat: &SeatHandle, snapshot: &Snapshot, face: Face) -> Self {
        let known = snapshot.chart.seats().find(|known| known.handle == *seat);
        let name = known.map_or_else(|| seat.to_string(), |known| crate::text::visible(&known.name).into_owned());
        Self { seat: seat.clone(), name, face, screen: Rect::ZERO }
    }

    /// Where its keys are looked up.
    pub const fn context(&self) -> Context {
        match self.face {
            Face::List(_) => Context::Workers,
            Face::Order(_) => Context::WorkerOrder,
            Face::Made(_) => Context::WorkerMade,
        }
    }

    /// Fits it to the screen and takes in what is so now.
    pub fn layout(&mut self, screen: Rect, snapshot: &Snapshot) {
        self.screen = screen;
        if let Face::List(listing) = &mut self.face {
            listing.follow(&self.seat, snapshot);
        }
        let inside = text_area(self.area());
        match &mut self.face {
            Face::List(listing) => listing.layout(inside),
            Face::Order(order) => {
                order.layout(inside, (&self.seat, snapshot));
                let made = order.sent().and_then(|id| snapshot.workers.iter().find(|worker| worker.id == *id));
                if let Some(made) = made.cloned() {
                    self.face = Face::Made(Made::of(made));
                    self.layout(screen, snapshot);
                }
            }
            Face::Made(made) => made.layout(inside, snapshot),
        }
    }

    /// A key press. `intent` is what the keymap makes of it in [`Self::context`].
    pub fn key(&mut self, intent: Option<Intent>, key: KeyEvent, snapshot: &Snapshot) -> Outcome {
        if key.kind == KeyEventKind::Release {
            return Outcome::default();
        }
        let outcome = match (&mut self.face, intent) {
            (Face::Order(order), _) if order.is_leaving() => Outcome { close: order.left(key), effects: Vec::new() },
            (Face::Order(order), Some(Intent::Back)) => Outcome { close: order.leave(), effects: Vec::new() },
            (_, Some(Intent::Back)) => Outcome { close: true, effects: Vec::new() },
            (Face::List(_), Some(Intent::MakeWorker)) => match Self::make(&self.seat, snapshot) {
                Ok(order) => {
                    self.face = order.face;
                    Outcome::default()
                }
                Err(why) => said(Effect::Complain(why.into())),
            },
            (Face::List(listing), Some(intent)) => listing.apply(intent).map(said).unwrap_or_default(),
            (Face::List(_), None) => Outcome::default(),
            (Face::Order(order), intent) => {
                order.key(intent, key, (&self.seat, snapshot)).map(said).unwrap_or_default()
            }
            (Face::Made(made), intent) => intent.and_then(|intent| made.apply(intent)).map(said).unwrap_or_default(),
        };
        self.layout(self.screen, snapshot);
        outcome
    }

    /// True when something is chosen or written that would be lost with the layer.
    pub fn is_changed(&self) -> bool {
        matches!(&self.face, Face::Order(order) if order.is_changed())
    }

    /// The engine has said why it did not do something; it may have been the making of this worker.
    pub fn refused(&mut self, why: &str) {
        if let Face::Order(order) = &mut self.face {
            order.refused(why);
        }
    }

    /// Pasted text, for the field that has the focus.
    pub fn paste(&mut self, pasted: &str) {
        if let Face::Order(order) = &mut self.face {
            order.paste(pasted);
        }
    }

    /// The token that was asked for; `None` when there is none to be had any more.
    pub fn reveal(&mut self, id: &WorkerId, token: Option<Secret>) {
        if let Face::Made(made) = &mut self.face {
            made.reveal(id, token);
        }
    }

    /// Draws it in the middle of what it was laid out for.
    pub fn render(&self, buf: &mut Buffer, draw: &Draw<'_>) {
        let area = self.area().intersection(*buf.area());
        if area.width < 8 || area.height < 4 {
            return;
        }
        clear(buf, area);
        let (what, right, scroll) = match &self.face {
            Face::List(listing) => ("Workers", listing.count(), None),
            Face::Order(order) => ("A worker", order.count(), Some(order.scroll())),
            Face::Made(made) => ("A worker", String::new(), made.scroll()),
        };
        let title = format!("{what} of {} ({})", self.name, self.seat);
        let panel = Panel { title: &title, right: &right, focused: true, scroll, heavy: false };
        panel.render(buf, area, draw.theme);
        let inside = text_area(area);
        match &self.face {
            Face::List(listing) => listing.render(inside, buf, draw),
            Face::Order(order) => order.render(inside, buf, draw),
            Face::Made(made) => made.render(inside, buf, draw),
        }
    }

    fn area(&self) -> Rect {
        let height = match &self.face {
            Face::Made(made) => to_cells(made.rows() + 4).min(HEIGHT),
            Face::List(listing) => to_cells(listing.rows()).min(HEIGHT),
            Face::Order(_) => HEIGHT,
        };
        centred(self.screen, WIDTH, height)
    }
}

fn said(effect: Effect) -> Outcome {
    Outcome { close: false, effects: vec![effect] }
}

/// The last rows of `area`, with keys in them; what is above.
fn foot(area: Rect, keys: &[(&str, &str)], buf: &mut Buffer, draw: &Draw<'_>) -> Rect {
    let rows = writing::keys(keys, 3, usize::from(area.width));
    let height = to_cells(rows.len()).min(area.height);
    let top = area.bottom() - height;
    put_rows(buf, Rect { y: top, height, ..area }, &rows, draw.theme);
    Rect { height: area.height - height, ..area }
}

/// A label and what belongs to it, wrapped beside it.
fn fact(label: &str, spans: &[Span], width: usize) -> Vec<Row> {
    const LABEL: usize = 9;
    let wrapped = super::widgets::paint::wrap(spans, width.saturating_sub(LABEL).max(1)).into_iter();
    let row = |(index, mut row): (usize, Row)| {
        let label = if index == 0 { label } else { "" };
        row.insert(0, Span::new(Role::Dim, &format!("{label:<LABEL$}")));
        row
    };
    wrapped.enumerate().map(row).collect()
}

/// What of a list is on the screen.
const fn scrolled(above: usize, shown: usize, total: usize) -> Scroll {
    Scroll { above, shown, total }
}
