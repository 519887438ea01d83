//! The approvals view: the calls that wait for a person, oldest first, what servers ask, then the seats that were
//! stopped; behind them the remembered decisions.
//!
//! It lists; approving happens on the card only. Denying everything, stopping and releasing ask first.

mod grants;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use self::grants::Grants;
use super::two::{Line, empty, frame, table, title};
use crate::clock::Precision;
use crate::engine::snapshot::{ApprovalView, FormView, Snapshot, StoppedSeat};
use crate::ids::{ApprovalId, FormId, SeatHandle};
use crate::tui::Draw;
use crate::tui::format::plural;
use crate::tui::intent::{Effect, Intent, Question};
use crate::tui::theme::Role;
use crate::tui::widgets::badge;
use crate::tui::widgets::border::inner;
use crate::tui::widgets::cells::to_cells;
use crate::tui::widgets::paint::{Row, Span, clock};
use crate::tui::widgets::table::{Column, Selection};

const COLUMNS: [Column; 6] = [
    Column::grows("tool", 16),
    Column::stays("class", 11),
    Column::number("expires", 7),
    Column::number("waiting", 7),
    Column::drops("who", 12),
    Column::drops("arguments", 24),
];
/// Arguments in a row are cut; they are whole on the card.
const SHORT_ARGUMENTS: usize = 120;

/// What a row is about.
#[derive(Clone, PartialEq, Eq, Debug)]
enum RowId {
    Question(ApprovalId),
    Form(FormId),
    Stopped(SeatHandle),
}

/// What the view shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Page {
    /// What waits.
    #[default]
    Waiting,
    /// What is remembered.
    Grants,
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct ApprovalsPane {
    area: Rect,
    page: Page,
    pick: Selection<RowId>,
    grants: Grants,
}

impl ApprovalsPane {
    /// Fits the pane to its area and the snapshot.
    pub fn layout(&mut self, area: Rect, snapshot: &Snapshot) {
        self.area = area;
        let height = usize::from(inner(area).height).saturating_sub(1);
        self.pick.layout(&ids(snapshot), to_cells(height));
        self.grants.layout(area, snapshot);
    }

    /// Shows what waits.
    pub const fn to_list(&mut self) {
        self.page = Page::Waiting;
    }

    /// What it shows.
    pub const fn page(&self) -> Page {
        self.page
    }

    /// Acts on what the person means.
    pub fn apply(&mut self, intent: Intent, snapshot: &Snapshot) -> Vec<Effect> {
        let changes = matches!(intent, Intent::StopSeat | Intent::ReleaseSeat | Intent::DenyAll | Intent::Revoke);
        match (intent, self.page) {
            (Intent::Grants, Page::Waiting) => self.page = Page::Grants,
            (Intent::Grants | Intent::Back, Page::Grants) => self.page = Page::Waiting,
            _ if changes && snapshot.read_only => {
                let words = "nothing can be changed here: the dashboard was started with --read-only";
                return vec![Effect::Complain(words.into())];
            }
            (_, Page::Grants) => return self.grants.apply(intent, snapshot),
            (Intent::Open | Intent::StopSeat | Intent::ReleaseSeat | Intent::DenyAll, Page::Waiting) => {
                return self.act(intent, snapshot).into_iter().collect();
            }
            _ => _ = self.pick.apply(intent, &ids(snapshot)),
        }
        Vec::new()
    }

    fn act(&self, intent: Intent, snapshot: &Snapshot) -> Option<Effect> {
        if intent == Intent::DenyAll {
            return Question::deny_all(snapshot).map(Effect::Ask);
        }
        let complain = |words: &str| Some(Effect::Complain(words.into()));
        match self.pick.id()? {
            RowId::Question(id) => {
                let question = snapshot.approvals.iter().find(|waiting| waiting.id == *id)?;
                match (intent, question.caller.seat()) {
                    (Intent::Open, _) => Some(Effect::OpenCard(*id)),
                    (Intent::StopSeat, Some(seat)) => Some(Effect::Ask(Question::stop_seat(seat, snapshot))),
                    (Intent::StopSeat, None) => complain("this is a call of your own: there is no seat to stop"),
                    _ => complain("this row is a waiting call; stopped seats are listed below the calls"),
                }
            }
            RowId::Form(id) if intent == Intent::Open => Some(Effect::OpenForm(*id)),
            RowId::Form(_) => complain("this row is a server's question: Enter opens its form"),
            RowId::Stopped(_) if intent == Intent::StopSeat => complain("this seat is stopped already"),
            RowId::Stopped(seat) if snapshot.read_only => {
                complain(&format!("seat {seat} cannot be released under --read-only"))
            }
            RowId::Stopped(seat) => Some(Effect::Ask(Question::release_seat(seat))),
        }
    }

    /// Draws the pane.
    pub fn render(&self, buf: &mut Buffer, draw: &Draw<'_>) {
        if self.page == Page::Grants {
            return self.grants.render(buf, draw);
        }
        let (waiting, stopped) = (&draw.snapshot.approvals, &draw.snapshot.stopped_seats);
        let asked = &draw.snapshot.forms;
        let mut count = Row::new();
        if !stopped.is_empty() {
            count.push(Span::new(Role::Warning, &format!("{} stopped  ", plural(stopped.len(), "seat"))));
        }
        if waiting.len() + asked.len() > 0 {
            count.push(Span::new(Role::Dim, &(waiting.len() + asked.len()).to_string()));
        }
        let inside = frame(buf, self.area, (title("Approvals", draw), count), draw);
        if waiting.is_empty() && asked.is_empty() && stopped.is_empty() {
            let more = if draw.snapshot.read_only {
                "Under --read-only nobody is asked: calls that would need a person are refused."
            } else {
                "A call that may delete or overwrite, or that nobody has classified, waits here until you decide."
            };
            let grants = match draw.snapshot.grants.len() {
                0 => String::new(),
                count => format!("{} in force (g).", plural(count, "remembered decision")),
            };
            return empty(buf, inside, &["Nothing waits for you.", more, &grants], draw);
        }
        let questions = waiting.iter().map(|approval| (RowId::Question(approval.id), cells(approval, draw)));
        let seats = stopped.iter().map(|seat| (RowId::Stopped(seat.seat.clone()), stopped_cells(seat, draw)));
        let asked = asked.iter().map(|form| (RowId::Form(form.id), form_cells(form, draw)));
        let window = self.pick.visible();
        let visible = questions.chain(asked).chain(seats).skip(window.start).take(window.len());
        let lines: Vec<Line> =
            visible.map(|(id, cells)| Line { cells, selected: self.pick.id() == Some(&id) }).collect();
        table(buf, inside, (&COLUMNS, &lines), draw);
    }
}

fn ids(snapshot: &Snapshot) -> Vec<RowId> {
    let questions = snapshot.approvals.iter().map(|waiting| RowId::Question(waiting.id));
    let asked = snapshot.forms.iter().map(|form| RowId::Form(form.id));
    questions.chain(asked).chain(snapshot.stopped_seats.iter().map(|seat| RowId::Stopped(seat.seat.clone()))).collect()
}

fn stopped_cells(stopped: &StoppedSeat, draw: &Draw<'_>) -> Vec<Row> {
    let since = stopped.since.time_of_day(draw.zone, Precision::Minutes);
    let refused = plural(usize::try_from(stopped.refused).unwrap_or(usize::MAX), "call");
    vec![
        vec![Span::new(Role::Text, &format!("every call of seat {}", stopped.seat))],
        vec![Span::new(Role::Warning, "STOPPED")],
        Row::new(),
        vec![Span::new(Role::Text, &since)],
        vec![Span::new(Role::Text, stopped.seat.as_str())],
        vec![Span::new(Role::Dim, &format!("{refused} refused; R releases it"))],
    ]
}

/// What a server asks: its words are quoted, so that they are not taken for ours.
fn form_cells(form: &FormView, draw: &Draw<'_>) -> Vec<Row> {
    let left = form.expires_at.since(draw.now);
    let soon = if left.as_secs() < 60 { Role::Warning } else { Role::Text };
    let who = match form.during.as_slice() {
        [call] => badge::caller_short(&call.caller),
        _ => "",
    };
    let words = form.form.message.first().map_or("", |line| line);
    vec![
        vec![Span::new(Role::Text, &format!("{} asks you", form.server))],
        vec![Span::new(Role::Warning, "question")],
        vec![Span::new(soon, &clock(left))],
        vec![Span::new(Role::Text, &clock(draw.now.since(form.asked_at)))],
        vec![Span::new(Role::Text, who)],
        vec![Span::new(Role::Dim, &format!("\"{words}\""))],
    ]
}

fn cells(approval: &ApprovalView, draw: &Draw<'_>) -> Vec<Row> {
    let text = |role, text: &str| vec![Span::new(role, text)];
    let start: String = approval.arguments.canonical().chars().take(SHORT_ARGUMENTS).collect();
    let left = approval.expires_at.since(draw.now);
    let soon = if left.as_secs() < 60 { Role::Warning } else { Role::Text };
    vec![
        text(Role::Text, &approval.entry.name),
        vec![badge::class(approval.entry.class())],
        text(soon, &clock(left)),
        text(Role::Text, &clock(draw.now.since(approval.asked_at))),
        text(Role::Text, badge::caller_short(&approval.caller)),
        text(Role::Dim, &start),
    ]
}

#[cfg(test)]
mod tests;
