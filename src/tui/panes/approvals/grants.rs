//! Remembered decisions: who may call what without asking, since when, until when, how often it was used, and why one
//! does not count at the moment. Revoking asks first.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::clock::Precision;
use crate::engine::command::GrantScope;
use crate::engine::snapshot::{GrantView, Snapshot};
use crate::ids::GrantId;
use crate::tui::Draw;
use crate::tui::intent::{Effect, Intent, Question};
use crate::tui::panes::two::{Line, empty, frame, table, title};
use crate::tui::theme::Role;
use crate::tui::widgets::border::inner;
use crate::tui::widgets::cells::to_cells;
use crate::tui::widgets::paint::{Row, Span, line, put_rows, wrap_capped};
use crate::tui::widgets::table::{Column, Selection};

const COLUMNS: [Column; 6] = [
    Column::grows("tool", 16),
    Column::stays("who", 10),
    Column::stays("until", 9),
    Column::number("uses", 4),
    Column::drops("since", 8),
    Column::drops("scope", 13),
];
/// Rows about the selected grant.
const ABOUT: u16 = 4;

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Grants {
    area: Rect,
    pick: Selection<GrantId>,
}

impl Grants {
    pub(super) fn layout(&mut self, area: Rect, snapshot: &Snapshot) {
        self.area = area;
        let height = usize::from(inner(area).height).saturating_sub(1 + usize::from(ABOUT));
        self.pick.layout(&ids(snapshot), to_cells(height));
    }

    pub(super) fn apply(&mut self, intent: Intent, snapshot: &Snapshot) -> Vec<Effect> {
        if intent != Intent::Revoke {
            self.pick.apply(intent, &ids(snapshot));
            return Vec::new();
        }
        let selected = self.selected(snapshot);
        selected.map(|grant| Effect::Ask(Question::revoke(grant))).into_iter().collect()
    }

    pub(super) fn render(&self, buf: &mut Buffer, draw: &Draw<'_>) {
        let grants = &draw.snapshot.grants;
        let count = if grants.is_empty() { Row::new() } else { vec![Span::new(Role::Dim, &grants.len().to_string())] };
        let inside = frame(buf, self.area, (title("Grants", draw), count), draw);
        if grants.is_empty() {
            let more = "On a card, r chooses what may run without asking again, and for how long.";
            return empty(buf, inside, &["Nothing is remembered: every question is asked.", more], draw);
        }
        let visible = grants.get(self.pick.visible()).unwrap_or_default();
        let lines: Vec<Line> = visible
            .iter()
            .map(|grant| Line { cells: cells(grant, draw), selected: self.pick.id() == Some(&grant.id) })
            .collect();
        table(buf, inside, (&COLUMNS, &lines), draw);
        let (Some(grant), Some(top)) = (self.selected(draw.snapshot), inside.height.checked_sub(ABOUT)) else { return };
        let below = line(inside, usize::from(top)).map(|first| Rect { height: ABOUT, ..first }).unwrap_or_default();
        put_rows(buf, below, &about(grant, usize::from(inside.width)), draw.theme);
    }

    fn selected<'s>(&self, snapshot: &'s Snapshot) -> Option<&'s GrantView> {
        let id = self.pick.id()?;
        snapshot.grants.iter().find(|grant| grant.id == *id).map(AsRef::as_ref)
    }
}

fn ids(snapshot: &Snapshot) -> Vec<GrantId> {
    snapshot.grants.iter().map(|grant| grant.id).collect()
}

const fn scope(grant: &GrantView) -> &'static str {
    match grant.scope {
        GrantScope::ThisCall => "this call",
        GrantScope::ThisTool => "any arguments",
    }
}

fn cells(grant: &GrantView, draw: &Draw<'_>) -> Vec<Row> {
    let text = |role, text: &str| vec![Span::new(role, text)];
    let until = match (&grant.suspended, grant.expires_at) {
        (Some(_), _) => text(Role::Warning, "SUSPENDED"),
        (None, Some(at)) => text(Role::Text, &at.time_of_day(draw.zone, Precision::Minutes)),
        (None, None) => text(Role::Text, "the end"),
    };
    let role = if grant.suspended.is_some() { Role::Dim } else { Role::Text };
    vec![
        text(role, &grant.tool),
        text(role, grant.seat.as_ref().map_or("you", |seat| seat.as_str())),
        until,
        text(Role::Text, &grant.uses.to_string()),
        text(Role::Dim, &grant.given_at.time_of_day(draw.zone, Precision::Minutes)),
        text(Role::Text, scope(grant)),
    ]
}

/// The selected grant in words, at most [`ABOUT`] rows.
fn about(grant: &GrantView, width: usize) -> Vec<Row> {
    let mut rows = vec![Row::new()];
    if let Some(why) = &grant.suspended {
        let text = format!("does not count: {why}; the next call asks and shows the difference");
        rows.extend(wrap_capped(&[Span::new(Role::Warning, &text)], width, 2));
    }
    let what = match &grant.arguments {
        Some(arguments) => vec![
            Span::new(Role::Text, &format!("only with the arguments sha256 {}…  ", arguments.digest().short())),
            Span::new(Role::Dim, arguments.canonical()),
        ],
        None => vec![
            Span::new(Role::Text, "with any arguments, on the server "),
            Span::new(Role::Text, grant.connection.as_str()),
        ],
    };
    let room = usize::from(ABOUT).saturating_sub(rows.len());
    rows.extend(wrap_capped(&what, width, room));
    rows
}
