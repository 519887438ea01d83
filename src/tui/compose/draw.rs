//! Drawing a sheet to write on.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{Field, Sheet, Size};
use crate::tui::Draw;
use crate::tui::theme::Role;
use crate::tui::widgets::cells::to_cells;
use crate::tui::widgets::confirm::centred;
use crate::tui::widgets::paint::{Row, Span, line, put, put_rows, wrap_capped};
use crate::tui::writing;

/// The widest sheet, and the highest.
const MOST: (u16, u16) = (96, 30);
/// Cells of the column of labels.
const LABEL: u16 = 10;

impl Sheet {
    /// Draws it over whatever is there.
    pub fn render(&self, screen: Rect, buf: &mut Buffer, draw: &Draw<'_>) {
        let screen = self.screen.intersection(screen).intersection(*buf.area());
        let area = centred(screen, MOST.0, MOST.1.min(screen.height.saturating_sub(2).max(10)));
        if area.width < 8 || area.height < 4 {
            return;
        }
        let inside = writing::sheet(buf, area, (&self.draft.title, &[]), draw);
        let foot = self.foot(usize::from(inside.width));
        let below = to_cells(foot.len()).min(inside.height.saturating_sub(1));
        let top = Rect { height: inside.height - below, ..inside };
        put_rows(buf, Rect { y: top.bottom(), height: below, ..inside }, &foot, draw.theme);
        self.blanks(buf, top, draw);
    }

    fn blanks(&self, buf: &mut Buffer, area: Rect, draw: &Draw<'_>) {
        let alone = self.fields.len() == 1;
        let mut rest = area;
        for (at, (blank, field)) in self.draft.blanks.iter().zip(&self.fields).enumerate() {
            let role = if at == self.focus { Role::Key } else { Role::Dim };
            let label = [Span::new(role, blank.label)];
            match field {
                Field::Line(input) => {
                    let Some(place) = line(rest, 0) else { return };
                    put(buf, place, &label, draw.theme);
                    let skip = LABEL.min(place.width);
                    let text = Rect { x: place.x + skip, width: place.width - skip, ..place };
                    if at == self.focus {
                        input.render(buf, text, draw.theme.style(Role::Text));
                    } else {
                        put(buf, text, &[Span::new(Role::Text, &input.text())], draw.theme);
                    }
                    rest = below(rest, 1);
                }
                Field::Text(editing) => {
                    if !alone && rest.height > 3 {
                        put(buf, line(rest, 1).unwrap_or_default(), &label, draw.theme);
                        rest = below(rest, 2);
                    }
                    if !rest.is_empty() {
                        editing.render(rest, buf, draw);
                    }
                    return;
                }
            }
        }
    }

    fn foot(&self, width: usize) -> Vec<Row> {
        let mut rows = Vec::new();
        if let Some(message) = &self.message {
            rows.extend(wrap_capped(&[Span::new(Role::Failed, message)], width, 3));
        }
        if self.leaving {
            let ask = "close without sending? what you wrote is lost: y yes, any other key no";
            rows.extend(wrap_capped(&[Span::new(Role::Alert, ask)], width, 2));
            return rows;
        }
        let several = self.fields.len() > 1;
        let undo = matches!(self.draft.blanks.get(self.focus), Some(blank) if blank.size == Size::Text);
        let keys = [
            ("Ctrl-S", "send", true),
            ("Tab", "next field", several),
            ("Ctrl-U", "undo", undo),
            ("Esc", "close", true),
        ];
        let keys = keys.into_iter().filter(|(.., shown)| *shown).map(|(key, words, _)| (key, words));
        rows.extend(writing::keys(&keys.collect::<Vec<_>>(), 2, width));
        rows
    }
}

/// What is left of an area below its first lines.
fn below(area: Rect, lines: u16) -> Rect {
    let lines = lines.min(area.height);
    Rect { y: area.y + lines, height: area.height - lines, ..area }
}
