//! The approvals view: the questions that wait for a person, oldest first.
//!
//! It lists; deciding happens on the card only.

use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::columns::{Column, Kind, fit, row};
use super::pick::Pick;
use super::two::{Line, empty, frame, table, title};
use crate::engine::snapshot::{ApprovalView, Snapshot};
use crate::ids::ApprovalId;
use crate::tui::Draw;
use crate::tui::intent::{Effect, Intent};
use crate::tui::theme::Role;
use crate::tui::widgets::badge;
use crate::tui::widgets::border::inner;
use crate::tui::widgets::paint::{Row, Span, clock};

const COLUMNS: [Column; 6] = [
    Column { title: "tool", width: 16, kind: Kind::Grows },
    Column { title: "class", width: 11, kind: Kind::Stays },
    Column { title: "expires", width: 7, kind: Kind::Number },
    Column { title: "waiting", width: 7, kind: Kind::Number },
    Column { title: "who", width: 12, kind: Kind::Drops },
    Column { title: "arguments", width: 24, kind: Kind::Drops },
];
/// Arguments in a row are cut; they are whole on the card.
const SHORT_ARGUMENTS: usize = 120;

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct ApprovalsPane {
    area: Rect,
    pick: Pick<ApprovalId>,
}

impl ApprovalsPane {
    /// Fits the pane to its area and the snapshot.
    pub fn layout(&mut self, area: Rect, snapshot: &Snapshot) {
        self.area = area;
        let height = usize::from(inner(area).height).saturating_sub(1);
        self.pick.layout(&ids(snapshot), height);
    }

    /// Acts on what the person means.
    pub fn apply(&mut self, intent: Intent, snapshot: &Snapshot) -> Vec<Effect> {
        if intent != Intent::Open {
            self.pick.apply(intent, &ids(snapshot));
            return Vec::new();
        }
        let selected = self.pick.selected().filter(|id| snapshot.approvals.iter().any(|waiting| waiting.id == **id));
        selected.map(|id| Effect::OpenCard(*id)).into_iter().collect()
    }

    /// Whether a text field has the keys: never.
    pub const fn typing(&self) -> bool {
        false
    }

    /// A key for a text field; there is none.
    pub fn text(&mut self, _key: KeyEvent, _snapshot: &Snapshot) -> Vec<Effect> {
        Vec::new()
    }

    /// Pasted text, for which there is no field.
    pub const fn paste(&mut self, _text: &str) {}

    /// Draws the pane.
    pub fn render(&self, buf: &mut Buffer, draw: &Draw<'_>) {
        let waiting = &draw.snapshot.approvals;
        let count =
            if waiting.is_empty() { Row::new() } else { vec![Span::new(Role::Dim, &waiting.len().to_string())] };
        let inside = frame(buf, self.area, (title("Approvals", draw), count), draw);
        if waiting.is_empty() {
            let more = if draw.snapshot.read_only {
                "Under --read-only nobody is asked: calls that would need a person are refused."
            } else {
                "A call that may delete or overwrite, or that nobody has classified, waits here until you decide."
            };
            empty(buf, inside, &["Nothing waits for you.", more], draw);
            return;
        }
        let places = fit(&COLUMNS, usize::from(inside.width).saturating_sub(2));
        let visible = waiting.get(self.pick.window()).unwrap_or_default();
        let lines: Vec<Line> = visible
            .iter()
            .map(|approval| Line {
                row: row(cells(approval, draw), &places),
                selected: self.pick.selected() == Some(&approval.id),
            })
            .collect();
        table(buf, inside, (&COLUMNS, &lines), draw);
    }
}

fn ids(snapshot: &Snapshot) -> Vec<ApprovalId> {
    snapshot.approvals.iter().map(|waiting| waiting.id).collect()
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
mod tests {
    use super::*;
    use crate::engine::snapshot::CallPhase;
    use crate::engine::snapshot::Tier;
    use crate::tui::card::fixtures::{
        approval, assert_clean, delete_branch, drawing, ended, screen, screen_text, snapshot,
    };

    fn queue(count: u64) -> Snapshot {
        let arguments = r#"{"branch":"main","repo":"acme/api"}"#;
        snapshot((1..=count).map(|id| approval(id, delete_branch(), arguments, Tier::Arm)).collect())
    }

    fn shown(pane: &mut ApprovalsPane, snapshot: &Snapshot, (width, height): (u16, u16)) -> String {
        let area = screen(width, height);
        pane.layout(area, snapshot);
        let mut buf = Buffer::empty(area);
        drawing(snapshot, |draw| pane.render(&mut buf, draw));
        assert_clean(&buf);
        screen_text(&buf)
    }

    #[test]
    fn opening_is_about_the_selected_question_whatever_arrives() {
        let mut pane = ApprovalsPane::default();
        let three = queue(3);
        pane.layout(screen(80, 24), &three);
        pane.apply(Intent::Down, &three);
        let many = queue(50);
        pane.layout(screen(80, 24), &many);
        assert_eq!(pane.apply(Intent::Open, &many), [Effect::OpenCard(ApprovalId(2))]);
        let gone = ended(&many, 1, CallPhase::Expired);
        assert_eq!(pane.apply(Intent::Open, &gone), [], "what has gone cannot be opened");
        pane.layout(screen(80, 24), &gone);
        assert_eq!(pane.apply(Intent::Open, &gone), [Effect::OpenCard(ApprovalId(3))]);
    }

    #[test]
    fn an_empty_queue_explains_itself() {
        let mut pane = ApprovalsPane::default();
        let mut none = queue(0);
        assert!(shown(&mut pane, &none, (80, 24)).contains("Nothing waits for you."));
        assert_eq!(pane.apply(Intent::Open, &none), []);
        none.read_only = true;
        assert!(shown(&mut pane, &none, (80, 24)).contains("--read-only"));
    }

    #[test]
    fn golden_screens() {
        for size in [(120, 40), (80, 24), (40, 12)] {
            let text = shown(&mut ApprovalsPane::default(), &queue(3), size);
            insta::assert_snapshot!(format!("approvals_{}x{}", size.0, size.1), text);
        }
    }

    #[test]
    fn every_size_is_survived() {
        let many = queue(40);
        let mut pane = ApprovalsPane::default();
        for width in 0..60 {
            for height in 0..14 {
                shown(&mut pane, &many, (width, height));
                pane.apply(Intent::PageDown, &many);
            }
        }
    }
}
