//! A list and its detail, which most panes are: side by side where there is room, else one at a time; which of them has
//! the keys, what is selected and what the list is filtered by.
//!
//! A pane says what its rows are and what stands in its detail; moving, filtering, scrolling and drawing is the same in
//! all of them and done here. The frame and the table are for panes without a detail, too.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::filter::{Field, Filter};
use crate::tui::Draw;
use crate::tui::intent::Intent;
use crate::tui::theme::Role;
use crate::tui::widgets::border::{Frame, Weight, inner};
use crate::tui::widgets::cells::to_cells;
use crate::tui::widgets::detail::Detail;
use crate::tui::widgets::paint::{Row, Span, fit_row, line, put, put_rows, row_width, wrap};
use crate::tui::widgets::table::{Align, Column, Places, Selection, bar, headings};

/// From this width on list and detail stand side by side.
const SIDE_BY_SIDE: u16 = 100;

/// Which of the two has the keys.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Focus {
    /// The list.
    #[default]
    List,
    /// The detail.
    Detail,
}

/// Where list and detail stand; an empty area is not drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Split {
    list: Rect,
    detail: Rect,
}

impl Split {
    /// Divides an area.
    const fn of(area: Rect, focus: Focus) -> Self {
        let none = Rect { width: 0, height: 0, ..area };
        if area.width >= SIDE_BY_SIDE {
            // Tables need a little more than half.
            let left = area.width / 16 * 9;
            let list = Rect { width: left, ..area };
            let detail = Rect { x: area.x.saturating_add(left), width: area.width - left, ..area };
            return Self { list, detail };
        }
        match focus {
            Focus::List => Self { list: area, detail: none },
            Focus::Detail => Self { list: none, detail: area },
        }
    }
}

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Two<Id> {
    area: Rect,
    split: Split,
    pub(super) focus: Focus,
    pub(super) filter: Filter,
    pub(super) pick: Selection<Id>,
    pub(super) detail: Detail,
}

impl<Id> Default for Two<Id> {
    fn default() -> Self {
        Self {
            area: Rect::ZERO,
            split: Split::default(),
            focus: Focus::List,
            filter: Filter::default(),
            pick: Selection::default(),
            detail: Detail::default(),
        }
    }
}

impl<Id: Clone + PartialEq> Two<Id> {
    /// Fits both to an area and to the rows that there are now.
    pub(super) fn layout(&mut self, area: Rect, ids: &[Id]) {
        (self.area, self.split) = (area, Split::of(area, self.focus));
        // Both are laid out, whichever is on the screen.
        let height = |place: Rect| usize::from(inner(place).height);
        let used = 1 + usize::from(self.filter.typing());
        self.pick.layout(ids, to_cells(height(Split::of(area, Focus::List).list).saturating_sub(used)));
        self.detail.resize(height(Split::of(area, Focus::Detail).detail));
    }

    /// The same, but what is read stays selected also when it is not among the rows any more.
    pub(super) fn hold(&mut self, area: Rect, ids: &[Id]) {
        let held = self.pick.id().filter(|_| self.focus == Focus::Detail).cloned();
        self.layout(area, ids);
        if let Some(held) = held {
            self.pick.select(held);
        }
    }

    /// Where they were laid out.
    pub(super) const fn area(&self) -> Rect {
        self.area
    }

    /// Cells for text in the detail: with the border and a margin taken off.
    pub(super) fn width(&self) -> usize {
        usize::from(Split::of(self.area, Focus::Detail).detail.width).saturating_sub(4)
    }

    /// Whether the detail is on the screen.
    pub(super) fn shows_detail(&self) -> bool {
        !self.split.detail.is_empty()
    }

    /// Gives the keys to the list.
    pub(super) const fn focus_list(&mut self) {
        self.focus = Focus::List;
    }

    /// What Esc does, in a word, while the detail has the keys.
    pub(super) const fn way_back(&self) -> Option<&'static str> {
        match self.focus {
            Focus::List => None,
            Focus::Detail => Some("list"),
        }
    }

    /// The filter line, while it is open.
    pub(super) fn field(&mut self) -> Option<&mut dyn Field> {
        if self.filter.typing() { Some(&mut self.filter) } else { None }
    }

    /// Opens the filter line.
    pub(super) fn search(&mut self) {
        self.focus_list();
        self.filter.begin();
    }

    /// Acts on an intent that means the same in all panes of this kind. True when the selection was moved.
    pub(super) fn apply(&mut self, intent: Intent, ids: &[Id]) -> bool {
        match (intent, self.focus) {
            (Intent::Next | Intent::Previous, Focus::List) => self.focus = Focus::Detail,
            (Intent::Back, _) if self.filter.typing() => self.filter.forget(),
            (Intent::Next | Intent::Previous | Intent::Back, Focus::Detail) => self.focus = Focus::List,
            (Intent::Back, Focus::List) => _ = self.filter.clear(),
            (Intent::Submit, _) => self.filter.keep(),
            (_, Focus::Detail) => self.detail.apply(intent),
            (_, Focus::List) => return self.pick.apply(intent, ids),
        }
        false
    }

    /// How list and detail are drawn: the one with the keys as focused.
    pub(super) fn draws<'d>(&self, draw: &Draw<'d>) -> [Draw<'d>; 2] {
        [Focus::List, Focus::Detail].map(|part| Draw { focused: draw.focused && self.focus == part, ..*draw })
    }

    /// What the list is filtered by, for the right end of its frame; while it is typed it stands below that.
    pub(super) fn filtered(&self) -> Row {
        let shown = Some(self.filter.text()).filter(|text| !text.is_empty() && !self.filter.typing());
        shown.map(|text| Span::new(Role::Accent, &format!("{text}  "))).into_iter().collect()
    }

    /// Draws the frame of the list, and the filter while it is typed. What is left for rows, where the list is on the
    /// screen.
    pub(super) fn list(&self, buf: &mut Buffer, (name, right): (&str, Row), draw: &Draw<'_>) -> Option<Rect> {
        if self.split.list.is_empty() {
            return None;
        }
        let inside = frame(buf, self.split.list, (title(name, draw), right), draw);
        if !self.filter.typing() {
            return Some(inside);
        }
        put(buf, line(inside, 0).unwrap_or_default(), &self.filter.line(draw.theme), draw.theme);
        Some(Rect { y: inside.y.saturating_add(1), height: inside.height.saturating_sub(1), ..inside })
    }

    /// Draws the rows that are visible, out of all rows; `row` says what a row is about and what its cells are.
    pub(super) fn rows<T>(
        &self,
        buf: &mut Buffer,
        (inside, columns): (Rect, &[Column]),
        (all, row): (impl Iterator<Item = T>, impl FnMut(T) -> (Id, Vec<Row>)),
        draw: &Draw<'_>,
    ) {
        let window = self.pick.visible();
        let visible = all.skip(window.start).take(window.len()).map(row);
        let lines: Vec<Line> =
            visible.map(|(id, cells)| Line { cells, selected: self.pick.id() == Some(&id) }).collect();
        table(buf, inside, (columns, &lines), draw);
    }

    /// Draws the frame of the detail with how far it is scrolled. What is inside, where it is on the screen.
    pub(super) fn beside(&self, buf: &mut Buffer, name: Row, draw: &Draw<'_>) -> Option<Rect> {
        let right = vec![Span::new(Role::Dim, &self.detail.position())];
        self.shows_detail().then(|| frame(buf, self.split.detail, (name, right), draw))
    }

    /// Draws the detail of what has this name; of nothing where it has none, then under this title.
    pub(super) fn about(&self, buf: &mut Buffer, (name, none): (Option<&str>, &str), draw: &Draw<'_>) {
        let Some(inside) = self.beside(buf, title(name.unwrap_or(none), draw), draw) else { return };
        match name {
            Some(_) => self.detail.render(buf, inside, draw),
            None => empty(buf, inside, &["Nothing is selected."], draw),
        }
    }
}

/// Draws a pane's frame and returns what is inside, less a margin of one cell at each side.
pub(super) fn frame(buf: &mut Buffer, area: Rect, (title, right): (Row, Row), draw: &Draw<'_>) -> Rect {
    let role = if draw.focused { Role::BorderFocused } else { Role::Border };
    let frame = Frame { title: &title, right: &right, role, weight: Weight::Thin };
    let inside = frame.draw(buf, area, draw.theme);
    Rect { x: inside.x.saturating_add(1), width: inside.width.saturating_sub(2), ..inside }
}

/// The title of a pane: bold where the focus is.
pub(super) fn title(text: &str, draw: &Draw<'_>) -> Row {
    vec![Span::new(if draw.focused { Role::Title } else { Role::Dim }, text)]
}

/// A row of a table.
pub(super) struct Line {
    /// Its cells, in the order of the columns.
    pub(super) cells: Vec<Row>,
    /// Whether it is selected.
    pub(super) selected: bool,
}

/// Draws headings and rows, over the margin that [`frame`] left: the bar of the selection stands there.
pub(super) fn table(buf: &mut Buffer, area: Rect, (columns, lines): (&[Column], &[Line]), draw: &Draw<'_>) {
    let area = Rect { x: area.x.saturating_sub(1), width: area.width.saturating_add(2), ..area };
    let area = area.intersection(*buf.area());
    let places = Places::of(columns, area.width);
    headings(buf, line(area, 0).unwrap_or_default(), columns, draw.theme);
    for (down, entry) in lines.iter().enumerate() {
        let Some(place) = line(area, down + 1) else { return };
        for (index, (cell, column)) in entry.cells.iter().zip(columns).enumerate() {
            let at = places.cell(place, index);
            let fitted = fit_row(cell, usize::from(at.width));
            let blank = usize::from(at.width).saturating_sub(row_width(&fitted));
            let x = if column.align == Align::Right { at.x + to_cells(blank) } else { at.x };
            put(buf, Rect { x, width: at.right().saturating_sub(x), ..at }, &fitted, draw.theme);
        }
        if entry.selected {
            bar(buf, place, draw.theme);
        }
    }
}

/// Draws an explanation where there is nothing to list.
pub(super) fn empty(buf: &mut Buffer, area: Rect, texts: &[&str], draw: &Draw<'_>) {
    let rows: Vec<Row> =
        texts.iter().flat_map(|text| wrap(&[Span::new(Role::Dim, text)], usize::from(area.width))).collect();
    put_rows(buf, area, &rows, draw.theme);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_stays_selected_when_its_row_goes() {
        let (mut two, area) = (Two::default(), Rect::new(0, 0, 120, 10));
        two.hold(area, &["a", "b", "c"]);
        two.apply(Intent::Down, &["a", "b", "c"]);
        two.apply(Intent::Next, &["a", "b", "c"]);
        two.hold(area, &["a", "c"]);
        assert_eq!(two.pick.id(), Some(&"b"));
        two.apply(Intent::Back, &["a", "c"]);
        two.hold(area, &["a", "c"]);
        assert_eq!(two.pick.id(), Some(&"c"), "the nearest, once nobody reads it");
    }
}
