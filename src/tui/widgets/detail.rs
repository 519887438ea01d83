//! What is known about one thing, whole: sections of rows, JSON and long text below each other, scrolled as one.
//!
//! The card and the tools and calls panes fill it when what they show changes. It can be searched: plain text, across
//! the places where a row was broken.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::diff::DiffView;
use super::json_view::JsonView;
use super::paint::{Row, Span, put_rows, row_text};
use super::search::Search;
use super::text_rows::TextRows;
use crate::tui::Draw;
use crate::tui::intent::Intent;
use crate::tui::theme::Role;

/// A part of a detail.
#[derive(Clone, Debug)]
pub enum Section {
    /// Rows that are already broken.
    Rows(Vec<Row>),
    /// A JSON value.
    Json(JsonView),
    /// Long text.
    Text(TextRows),
    /// A difference.
    Diff(DiffView),
}

impl Section {
    const fn len(&self) -> usize {
        match self {
            Self::Rows(rows) => rows.len(),
            Self::Json(view) => view.rows(),
            Self::Text(text) => text.rows(),
            Self::Diff(diff) => diff.rows(),
        }
    }

    fn row(&self, index: usize) -> Row {
        match self {
            Self::Rows(rows) => rows.get(index).cloned().unwrap_or_default(),
            Self::Json(view) => view.row(index),
            Self::Text(text) => text.row(index),
            Self::Diff(diff) => diff.row(index),
        }
    }
}

/// Sections and how far they are scrolled.
#[derive(Clone, Debug, Default)]
pub struct Detail {
    sections: Vec<Section>,
    top: usize,
    height: usize,
}

impl Detail {
    /// Shows other sections of the same thing; the scroll position stays where it can.
    pub fn fill(&mut self, sections: Vec<Section>, width: usize) {
        self.sections = sections;
        self.layout(width);
    }

    /// Breaks everything that is not broken already into rows of at most `width` cells.
    pub fn layout(&mut self, width: usize) {
        for section in &mut self.sections {
            match section {
                Section::Rows(_) => {}
                Section::Json(view) => view.layout(width),
                Section::Text(text) => text.layout(width),
                Section::Diff(diff) => diff.layout(width),
            }
        }
        self.clamp();
    }

    /// The first JSON section.
    pub fn json(&self) -> Option<&JsonView> {
        self.sections.iter().find_map(|section| match section {
            Section::Json(view) => Some(view),
            _ => None,
        })
    }

    /// Back to the first row, for another thing.
    pub const fn rewind(&mut self) {
        self.top = 0;
    }

    /// Fits the window to `height` rows.
    pub fn resize(&mut self, height: usize) {
        self.height = height;
        self.clamp();
    }

    /// Scrolls.
    pub fn apply(&mut self, intent: Intent) {
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
    pub fn position(&self) -> String {
        let total = self.rows();
        if total <= self.height {
            return String::new();
        }
        format!("{}-{}/{total}", self.top + 1, total.min(self.top + self.height))
    }

    /// Draws the rows in the window.
    pub fn render(&self, buf: &mut Buffer, area: Rect, draw: &Draw<'_>) {
        let rows: Vec<Row> = (self.top..self.rows().min(self.top + self.height)).map(|index| self.row(index)).collect();
        put_rows(buf, area, &rows, draw.theme);
    }

    /// Rows in all.
    pub fn rows(&self) -> usize {
        self.sections.iter().map(Section::len).sum()
    }

    /// The row after the last one in the window.
    pub fn bottom(&self) -> usize {
        self.rows().min(self.top + self.height)
    }

    /// The first row in the window.
    pub const fn top(&self) -> usize {
        self.top
    }

    /// The rows in the window, with what is looked for marked.
    pub fn window(&self, search: &Search) -> Vec<Row> {
        (self.top..self.bottom()).map(|index| marked(self.row(index), search)).collect()
    }

    /// Goes to the next match after `from`, or the one before it, around the end if need be. `None` when there is
    /// none; else its row, and whether the search went around.
    pub fn find(&mut self, search: &Search, (from, direction): (Option<usize>, Intent)) -> Option<(usize, bool)> {
        let total = self.rows();
        let hit = |index: &usize| self.begins_in(*index, search);
        let found = if direction == Intent::PreviousMatch {
            let before = from.unwrap_or(self.top);
            let near = (0..before).rev().find(hit).map(|row| (row, false));
            near.or_else(|| (before..total).rev().find(hit).map(|row| (row, true)))
        } else {
            let after = from.map_or(self.top, |row| row + 1);
            let near = (after..total).find(hit).map(|row| (row, false));
            near.or_else(|| (0..after.min(total)).find(hit).map(|row| (row, true)))
        }?;
        if !(self.top..self.bottom()).contains(&found.0) {
            self.top = found.0.saturating_sub(self.height / 2);
            self.clamp();
        }
        Some(found)
    }

    /// Which of the rows with a match a row is, from 1, and how many there are.
    pub fn place(&self, search: &Search, row: usize) -> (usize, usize) {
        let rows = (0..self.rows()).filter(|index| self.begins_in(*index, search));
        rows.fold((0, 0), |(nth, all), index| (nth + usize::from(index <= row), all + 1))
    }

    /// True when a match begins in a row; it may go on in the following ones.
    fn begins_in(&self, index: usize, search: &Search) -> bool {
        let mut text = row_text(&self.row(index));
        let own = text.len();
        for next in index + 1..self.rows() {
            if text.len() >= own + search.text().len() {
                break;
            }
            text.push_str(row_text(&self.row(next)).trim_start());
        }
        search.places(&text).iter().any(|place| place.start < own)
    }

    /// One row, from 0; empty past the end.
    pub fn row(&self, index: usize) -> Row {
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
        self.top = self.top.min(self.rows().saturating_sub(self.height));
    }
}

/// The row with its matches in the role of matches.
fn marked(row: Row, search: &Search) -> Row {
    if !search.is_active() {
        return row;
    }
    let places = search.places(&row_text(&row));
    let mut out = Row::new();
    let mut at = 0;
    for span in row {
        let (start, end) = (at, at + span.text().len());
        let mut done = start;
        for place in &places {
            let (from, to) = (place.start.clamp(done, end), place.end.clamp(done, end));
            let piece =
                |from: usize, to: usize| span.text().get(from - start..to - start).unwrap_or_default().to_owned();
            out.extend([Span::drawn(span.role, piece(done, from)), Span::drawn(Role::Match, piece(from, to))]);
            done = to;
        }
        let rest = span.text().get(done - start..).unwrap_or_default().to_owned();
        out.push(Span::drawn(span.role, rest));
        at = end;
    }
    out.retain(|span| !span.text().is_empty());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_match_is_found_across_a_break_and_around_the_end() {
        let text = "aaaa bbbb cccc needle dddd eeee";
        let mut detail = Detail::default();
        detail.resize(1);
        detail.fill(vec![Section::Text(TextRows::new(text.into()))], 10);
        let looking_for = |text: &str| {
            let mut search = Search::default();
            search.open();
            search.paste(text);
            search.keep();
            search
        };
        let search = looking_for("cccc needle");
        assert_eq!(detail.find(&search, (None, Intent::NextMatch)), Some((1, false)), "{detail:?}");
        assert_eq!(detail.find(&search, (Some(1), Intent::NextMatch)), Some((1, true)), "around");
        let search = looking_for("eeee");
        let (row, _) = detail.find(&search, (None, Intent::NextMatch)).unwrap();
        assert!(detail.window(&search).concat().iter().any(|span| span.role == Role::Match), "shown: {row}");
        let search = looking_for("nowhere");
        assert_eq!(detail.find(&search, (None, Intent::PreviousMatch)), None);
    }
}
