//! Rows of columns that drop from the right as the screen narrows, and a selection that stays on the same thing.
//!
//! A caller draws only the rows that are visible. Nothing here knows what a row is about.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

use super::cells::{put, put_right, row};
use super::panel::Scroll;
use crate::tui::intent::Intent;
use crate::tui::theme::{Role, Theme};

/// How wide a column is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Width {
    /// This many cells.
    Cells(u16),
    /// What the others leave, at least this many cells.
    Rest(u16),
}

/// A column.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its heading.
    pub title: &'static str,
    /// Its width.
    pub width: Width,
    /// Where its text stands; numbers stand right.
    pub align: Align,
    /// Columns with the highest number go first when room is short; 0 never goes.
    pub rank: u8,
}

impl Column {
    const fn new(title: &'static str, width: Width, align: Align, rank: u8) -> Self {
        Self { title, width, align, rank }
    }

    /// Takes what the others leave, at least so many cells; never goes.
    pub const fn grows(title: &'static str, least: u16) -> Self {
        Self::new(title, Width::Rest(least), Align::Left, 0)
    }

    /// Never goes.
    pub const fn stays(title: &'static str, cells: u16) -> Self {
        Self::new(title, Width::Cells(cells), Align::Left, 0)
    }

    /// Goes when there is no room, the rightmost first.
    pub const fn drops(title: &'static str, cells: u16) -> Self {
        Self::new(title, Width::Cells(cells), Align::Left, 1)
    }

    /// A number that goes when there is no room, as [`Self::drops`].
    pub const fn number(title: &'static str, cells: u16) -> Self {
        Self::new(title, Width::Cells(cells), Align::Right, 1)
    }
}

/// Where text stands in its column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Align {
    /// At the left.
    Left,
    /// At the right.
    Right,
}

/// Cells between two columns.
const GAP: u16 = 2;
/// Cells that the bar of the selection takes at each side.
const BAR: u16 = 1;

/// The columns that fit, with their places in a line.
#[derive(Clone, Debug, Default)]
pub struct Places(Vec<Option<(u16, u16)>>);

impl Places {
    /// Places columns in a line of this width.
    pub fn of(columns: &[Column], width: u16) -> Self {
        let room = width.saturating_sub(2 * BAR);
        let mut kept: Vec<bool> = vec![true; columns.len()];
        let needed = |kept: &[bool]| -> u16 {
            let widths = columns.iter().zip(kept).filter(|(_, kept)| **kept).map(|(column, _)| match column.width {
                Width::Cells(cells) | Width::Rest(cells) => cells.saturating_add(GAP),
            });
            widths.fold(0_u16, u16::saturating_add).saturating_sub(GAP)
        };
        while needed(&kept) > room {
            let droppable = columns.iter().enumerate().filter(|(at, c)| c.rank > 0 && kept.get(*at) == Some(&true));
            let Some((at, _)) = droppable.max_by_key(|(at, column)| (column.rank, *at)) else { break };
            if let Some(slot) = kept.get_mut(at) {
                *slot = false;
            }
        }
        let spare = room.saturating_sub(needed(&kept));
        let mut x = BAR;
        let mut given = false;
        let place = |(column, kept): (&Column, &bool)| {
            if !kept {
                return None;
            }
            let cells = match column.width {
                Width::Rest(least) if !std::mem::replace(&mut given, true) => least + spare,
                Width::Cells(cells) | Width::Rest(cells) => cells,
            };
            let at = x;
            x = x.saturating_add(cells).saturating_add(GAP);
            Some((at, cells))
        };
        Self(columns.iter().zip(&kept).map(place).collect())
    }

    /// The cell of column `column` in a line; empty when the column was dropped.
    pub fn cell(&self, line: Rect, column: usize) -> Rect {
        match self.0.get(column).copied().flatten() {
            Some((x, width)) => Rect { x: line.x.saturating_add(x), width, ..line }.intersection(line),
            None => Rect { width: 0, height: 0, ..line },
        }
    }

    /// True when the column is shown.
    pub fn shows(&self, column: usize) -> bool {
        self.0.get(column).is_some_and(Option::is_some)
    }
}

/// Draws the headings.
pub fn headings(buf: &mut Buffer, line: Rect, columns: &[Column], theme: &Theme) {
    let places = Places::of(columns, line.width);
    for (index, column) in columns.iter().enumerate() {
        cell(buf, places.cell(line, index), column.align, (column.title, theme.style(Role::Dim)));
    }
}

/// Draws one cell's text.
pub fn cell(buf: &mut Buffer, area: Rect, align: Align, (content, style): (&str, Style)) {
    if area.width == 0 || area.height == 0 {
        return;
    }
    match align {
        Align::Left => put(buf, area, content, style),
        Align::Right => put_right(buf, area, content, style),
    };
}

/// Marks a line as selected: a bar at each end, and the selection's style across.
pub fn bar(buf: &mut Buffer, line: Rect, theme: &Theme) {
    if line.width == 0 || line.height == 0 {
        return;
    }
    let style = theme.style(Role::Selection);
    buf.set_style(line.intersection(buf.area), style);
    for (x, symbol) in [(line.x, "▌"), (line.right() - 1, "▐")] {
        if let Some(cell) = buf.cell_mut(Position::new(x, line.y)) {
            cell.set_symbol(symbol);
        }
    }
}

/// A selection by identity. It stays on the same thing while rows move, and on the nearest row when the thing goes.
#[derive(Clone, Debug)]
pub struct Selection<Id> {
    id: Option<Id>,
    index: usize,
    top: usize,
    height: usize,
    total: usize,
}

impl<Id> Default for Selection<Id> {
    fn default() -> Self {
        Self { id: None, index: 0, top: 0, height: 0, total: 0 }
    }
}

impl<Id: Clone + PartialEq> Selection<Id> {
    /// Finds the selected thing among the rows that there are now, and scrolls so that it is visible.
    pub fn layout(&mut self, ids: &[Id], height: u16) {
        self.total = ids.len();
        self.height = usize::from(height);
        let found = self.id.as_ref().and_then(|id| ids.iter().position(|other| other == id));
        self.index = found.unwrap_or(self.index).min(ids.len().saturating_sub(1));
        self.id = ids.get(self.index).cloned();
        self.scroll();
    }

    /// The same, but a thing that is not among the rows any more stays selected: somebody is reading it.
    pub fn hold(&mut self, ids: &[Id], height: u16) {
        let held = self.id.clone();
        self.layout(ids, height);
        self.id = held.or_else(|| self.id.take());
    }

    /// Moves by an intent. True when the intent was one that moves.
    pub fn apply(&mut self, intent: Intent, ids: &[Id]) -> bool {
        let page = self.height.saturating_sub(1).max(1);
        let last = ids.len().saturating_sub(1);
        let to = match intent {
            Intent::Up => self.index.saturating_sub(1),
            Intent::Down => self.index.saturating_add(1),
            Intent::PageUp => self.index.saturating_sub(page),
            Intent::PageDown => self.index.saturating_add(page),
            Intent::Top => 0,
            Intent::Bottom => last,
            _ => return false,
        };
        self.index = to.min(last);
        self.id = ids.get(self.index).cloned();
        self.scroll();
        true
    }

    /// Selects a thing, if it is there at the next layout.
    pub fn select(&mut self, id: Id) {
        self.id = Some(id);
    }

    /// The selected thing.
    pub const fn id(&self) -> Option<&Id> {
        self.id.as_ref()
    }

    /// Its row, from 0.
    pub const fn index(&self) -> usize {
        self.index
    }

    /// The rows that are visible.
    pub fn visible(&self) -> std::ops::Range<usize> {
        self.top..self.total.min(self.top + self.height)
    }

    /// For the border.
    pub const fn scroll_state(&self) -> Scroll {
        Scroll { above: self.top, shown: self.height, total: self.total }
    }

    fn scroll(&mut self) {
        let most = self.total.saturating_sub(self.height);
        let least = (self.index + 1).saturating_sub(self.height);
        self.top = self.top.clamp(least.min(most), most).min(self.index);
    }
}

/// The line of a visible row below a heading line.
pub fn line_of(area: Rect, selection: &std::ops::Range<usize>, index: usize) -> Rect {
    row(area, u16::try_from(index.saturating_sub(selection.start)).unwrap_or(u16::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const COLUMNS: [Column; 4] = [
        Column { title: "name", width: Width::Rest(8), align: Align::Left, rank: 0 },
        Column { title: "tools", width: Width::Cells(5), align: Align::Right, rank: 3 },
        Column { title: "p50", width: Width::Cells(6), align: Align::Right, rank: 2 },
        Column { title: "status", width: Width::Cells(4), align: Align::Left, rank: 0 },
    ];

    #[test]
    fn columns_drop_by_rank_and_the_rest_grows() {
        let shown = |width| {
            let places = Places::of(&COLUMNS, width);
            (0..4).map(|at| places.cell(Rect::new(0, 0, width, 1), at).width).collect::<Vec<_>>()
        };
        assert_eq!(shown(40), [17, 5, 6, 4]);
        assert_eq!(shown(31), [8, 5, 6, 4]);
        assert_eq!(shown(30), [14, 0, 6, 4]);
        assert_eq!(shown(17), [9, 0, 0, 4]);
        assert_eq!(shown(10), [8, 0, 0, 0]);
    }

    #[test]
    fn the_selection_follows_the_thing() {
        let mut selection = Selection::default();
        selection.layout(&["a", "b", "c", "d"], 2);
        selection.apply(Intent::Down, &["a", "b", "c", "d"]);
        assert_eq!(selection.id(), Some(&"b"));
        selection.layout(&["x", "y", "a", "b", "c"], 2);
        assert_eq!((selection.id(), selection.index(), selection.visible()), (Some(&"b"), 3, 2..4));
        selection.layout(&["x", "y"], 2);
        assert_eq!(selection.id(), Some(&"y"));
        selection.layout(&[], 2);
        assert_eq!((selection.id(), selection.visible()), (None, 0..0));
    }

    #[test]
    fn what_is_read_stays_selected_when_its_row_goes() {
        let mut selection = Selection::default();
        selection.hold(&["a", "b", "c"], 2);
        selection.apply(Intent::Down, &["a", "b", "c"]);
        selection.hold(&["a", "c"], 2);
        assert_eq!(selection.id(), Some(&"b"));
        selection.layout(&["a", "c"], 2);
        assert_eq!(selection.id(), Some(&"c"), "the nearest, once nobody reads it");
    }

    proptest! {
        #[test]
        fn the_selected_row_is_visible_wherever_rows_go(steps in proptest::collection::vec((0_usize..30, 0_u16..8, 0_u8..6), 1..30)) {
            let mut selection = Selection::default();
            for (count, height, step) in steps {
                let ids: Vec<usize> = (0..count).collect();
                selection.layout(&ids, height);
                let intents = [Intent::Up, Intent::Down, Intent::PageUp, Intent::PageDown, Intent::Top, Intent::Bottom];
                selection.apply(intents[usize::from(step)], &ids);
                selection.layout(&ids, height);
                if count > 0 && height > 0 {
                    prop_assert!(selection.visible().contains(&selection.index()), "{selection:?}");
                    prop_assert_eq!(selection.visible().len(), count.min(usize::from(height)));
                }
            }
        }
    }
}
