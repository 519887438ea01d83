//! What is known about one thing, whole: sections of rows, JSON and long text below each other, scrolled as one.
//!
//! The tools and calls panes fill it when what they show changes.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::tui::Draw;
use crate::tui::intent::Intent;
use crate::tui::widgets::json_view::JsonView;
use crate::tui::widgets::paint::{Row, put_rows};
use crate::tui::widgets::text_rows::TextRows;

/// A part of a detail.
#[derive(Clone, Debug)]
pub(super) enum Section {
    /// Rows that are already broken.
    Rows(Vec<Row>),
    /// A JSON value.
    Json(JsonView),
    /// Long text.
    Text(TextRows),
}

impl Section {
    const fn len(&self) -> usize {
        match self {
            Self::Rows(rows) => rows.len(),
            Self::Json(view) => view.rows(),
            Self::Text(text) => text.rows(),
        }
    }

    fn row(&self, index: usize) -> Row {
        match self {
            Self::Rows(rows) => rows.get(index).cloned().unwrap_or_default(),
            Self::Json(view) => view.row(index),
            Self::Text(text) => text.row(index),
        }
    }
}

/// Sections and how far they are scrolled.
#[derive(Clone, Debug, Default)]
pub(super) struct Detail {
    sections: Vec<Section>,
    top: usize,
    height: usize,
}

impl Detail {
    /// Shows other sections of the same thing; the scroll position stays where it can.
    pub(super) fn fill(&mut self, sections: Vec<Section>, width: usize) {
        self.sections = sections;
        for section in &mut self.sections {
            match section {
                Section::Rows(_) => {}
                Section::Json(view) => view.layout(width),
                Section::Text(text) => text.layout(width),
            }
        }
        self.clamp();
    }

    /// Back to the first row, for another thing.
    pub(super) const fn rewind(&mut self) {
        self.top = 0;
    }

    /// Fits the window to `height` rows.
    pub(super) fn resize(&mut self, height: usize) {
        self.height = height;
        self.clamp();
    }

    /// Scrolls.
    pub(super) fn apply(&mut self, intent: Intent) {
        let page = self.height.saturating_sub(1).max(1);
        self.top = match intent {
            Intent::Up => self.top.saturating_sub(1),
            Intent::Down => self.top.saturating_add(1),
            Intent::PageUp => self.top.saturating_sub(page),
            Intent::PageDown => self.top.saturating_add(page),
            Intent::Top => 0,
            Intent::Bottom => usize::MAX,
            _ => self.top,
        };
        self.clamp();
    }

    /// Where it is scrolled to, when not all of it is on screen: `13-40/200`.
    pub(super) fn position(&self) -> String {
        let total = self.len();
        if total <= self.height {
            return String::new();
        }
        format!("{}-{}/{total}", self.top + 1, total.min(self.top + self.height))
    }

    /// Draws the rows in the window.
    pub(super) fn render(&self, buf: &mut Buffer, area: Rect, draw: &Draw<'_>) {
        let rows: Vec<Row> = (self.top..self.len().min(self.top + self.height)).map(|index| self.row(index)).collect();
        put_rows(buf, area, &rows, draw.theme);
    }

    fn len(&self) -> usize {
        self.sections.iter().map(Section::len).sum()
    }

    fn row(&self, index: usize) -> Row {
        let mut index = index;
        for section in &self.sections {
            match index.checked_sub(section.len()) {
                None => return section.row(index),
                Some(rest) => index = rest,
            }
        }
        Row::new()
    }

    fn clamp(&mut self) {
        self.top = self.top.min(self.len().saturating_sub(self.height));
    }
}
