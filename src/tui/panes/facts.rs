//! Rows of a label and what it says, for details. The sessions and seats panes fill them.

use crate::tui::theme::Role;
use crate::tui::widgets::paint::{Row, Span, flow, wrap};

/// Cells of the column of labels.
const LABEL: usize = 10;

/// Rows being written.
pub(super) struct Facts {
    pub(super) rows: Vec<Row>,
    width: usize,
}

impl Facts {
    /// For rows of this many cells.
    pub(super) const fn new(width: usize) -> Self {
        Self { rows: Vec::new(), width }
    }

    /// A label, and beside it as many rows as the words take.
    pub(super) fn add(&mut self, label: &str, spans: &[Span]) {
        let room = self.room();
        self.beside(label, wrap(spans, room));
    }

    /// A label, and beside it items with dots between them, none of them broken where it fits into a row.
    pub(super) fn items(&mut self, label: &str, items: &[Row]) {
        let room = self.room();
        self.beside(label, flow(items, &Span::new(Role::Dim, " · "), (0, room)));
    }

    /// The same with one text in the body's role, where there is one.
    pub(super) fn say(&mut self, label: &str, text: Option<&str>) {
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            self.add(label, &[Span::new(Role::Text, text)]);
        }
    }

    /// One label before several texts, each from a row of its own on.
    pub(super) fn list<T: AsRef<str>>(&mut self, label: &str, texts: &[T]) {
        for (index, text) in texts.iter().enumerate() {
            self.say(if index == 0 { label } else { "" }, Some(text.as_ref()));
        }
    }

    /// Words over the whole width.
    pub(super) fn plain(&mut self, spans: &[Span]) {
        self.rows.extend(wrap(spans, self.width.max(1)));
    }

    /// An empty row.
    pub(super) fn gap(&mut self) {
        self.rows.push(Row::new());
    }

    fn room(&self) -> usize {
        self.width.saturating_sub(LABEL).max(1)
    }

    fn beside(&mut self, label: &str, rows: Vec<Row>) {
        for (index, mut row) in rows.into_iter().enumerate() {
            let label = if index == 0 { label } else { "" };
            row.insert(0, Span::new(Role::Dim, &format!("{label:<LABEL$}")));
            self.rows.push(row);
        }
    }
}
