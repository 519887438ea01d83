//! Plain lists for the views of tools, approvals and calls, with the shape of the real panes.

use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::engine::snapshot::Snapshot;
use crate::tui::Draw;
use crate::tui::intent::{Effect, Intent};
use crate::tui::theme::Role;
use crate::tui::widgets::cells::{put, row, to_cells};
use crate::tui::widgets::panel::{Panel, inner};
use crate::tui::widgets::table::{Selection, bar, line_of};

macro_rules! list_pane {
    ($(#[$doc:meta])* $name:ident, $title:literal, $rows:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default)]
        pub struct $name {
            selection: Selection<String>,
            area: Rect,
        }

        impl $name {
            /// Fits the pane to its area and to what there is.
            pub fn layout(&mut self, area: Rect, snapshot: &Snapshot) {
                self.area = area;
                let rows: fn(&Snapshot) -> Vec<(String, String)> = $rows;
                let ids: Vec<String> = rows(snapshot).into_iter().map(|(id, _)| id).collect();
                self.selection.layout(&ids, inner(area).height);
            }

            /// Acts on an intent.
            pub fn apply(&mut self, intent: Intent, snapshot: &Snapshot) -> Vec<Effect> {
                let rows: fn(&Snapshot) -> Vec<(String, String)> = $rows;
                let ids: Vec<String> = rows(snapshot).into_iter().map(|(id, _)| id).collect();
                self.selection.apply(intent, &ids);
                Vec::new()
            }

            /// True while a text field is open.
            pub const fn typing(&self) -> bool {
                false
            }

            /// A key for the text field.
            pub fn text(&mut self, _: KeyEvent, _: &Snapshot) -> Vec<Effect> {
                Vec::new()
            }

            /// Pasted text for the text field.
            pub fn paste(&mut self, _: &str) {}

            /// Draws the pane.
            pub fn render(&self, buf: &mut Buffer, draw: &Draw<'_>) {
                let rows: fn(&Snapshot) -> Vec<(String, String)> = $rows;
                let rows = rows(draw.snapshot);
                let (count, scroll) = (rows.len().to_string(), Some(self.selection.scroll_state()));
                let panel = Panel { title: $title, right: &count, focused: draw.focused, scroll, heavy: false };
                let inside = panel.render(buf, self.area, draw.theme);
                let visible = self.selection.visible();
                for index in visible.clone() {
                    let Some((id, text)) = rows.get(index) else { break };
                    let line = line_of(inside, &visible, index);
                    let text_at = Rect { x: line.x + 2.min(line.width), width: line.width.saturating_sub(4), ..line };
                    put(buf, row(text_at, 0), text, draw.theme.style(Role::Text));
                    if self.selection.id() == Some(id) {
                        bar(buf, Rect { width: line.width.min(to_cells(usize::MAX)), ..line }, draw.theme);
                    }
                }
            }
        }
    };
}

list_pane!(
    /// The catalogue.
    ToolsPane,
    "Tools",
    |snapshot| {
        let entries = snapshot.catalog.entries().iter();
        entries.map(|entry| (entry.name.to_string(), format!("{}  {}", entry.name, entry.class()))).collect()
    }
);
list_pane!(
    /// Waiting questions.
    ApprovalsPane,
    "Approvals",
    |snapshot| {
        let approvals = snapshot.approvals.iter();
        approvals.map(|approval| (approval.id.0.to_string(), approval.entry.name.to_string())).collect()
    }
);
list_pane!(
    /// Calls.
    CallsPane,
    "Calls",
    |snapshot| {
        let calls = snapshot.calls.iter();
        calls.map(|call| (call.id.to_string(), format!("{}  {}", call.name, call.phase.word()))).collect()
    }
);
