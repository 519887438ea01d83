//! What stands in the card's window: the arguments, an edit of them, the tool's definition, the choices of what to
//! remember, the result. Owns which of them is shown, how far each is scrolled, what has been seen, and the search.
//!
//! It decides nothing; the card asks it whether the end has been on the screen.

use std::sync::Arc;

use super::plan;
use crate::engine::snapshot::{ApprovalView, DiffLine, Known, ResultView};
use crate::tui::intent::Intent;
use crate::tui::widgets::definition::{self, Around};
use crate::tui::widgets::detail::{Detail, Section};
use crate::tui::widgets::diff::DiffView;
use crate::tui::widgets::json_view::{JsonView, Shape};
use crate::tui::widgets::paint::Row;
use crate::tui::widgets::search::Search;
use crate::tui::widgets::text_rows::TextRows;

/// What of the question is on the screen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum View {
    /// Everything, the arguments in a window.
    Whole,
    /// The arguments on all of the card.
    Arguments,
    /// The tool's definition on all of the card.
    Definition,
    /// What can be remembered, to choose from.
    Choices,
}

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Body {
    pub(super) view: View,
    arguments: Detail,
    edited: Option<Detail>,
    result: Option<(Arc<ResultView>, Detail)>,
    definition: Detail,
    choices: Detail,
    seen: Seen,
    pub(super) search: Search,
    /// The row of the last match.
    found: Option<usize>,
    width: usize,
}

/// What has been on the screen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Seen {
    /// The lowest row of the arguments (or of their edit), exclusive.
    to: usize,
    /// Their end.
    end: bool,
    /// The end of the definition's difference.
    change: bool,
}

impl Body {
    pub(super) fn new(approval: &ApprovalView) -> Self {
        let json = JsonView::new(approval.arguments.shared(), Shape::Fields);
        let mut arguments = Detail::default();
        arguments.fill(vec![Section::Json(json)], 0);
        Self {
            view: View::Whole,
            arguments,
            edited: None,
            result: None,
            definition: Detail::default(),
            choices: Detail::default(),
            seen: Seen::default(),
            search: Search::default(),
            found: None,
            width: 0,
        }
    }

    /// Breaks everything into rows of `width` cells.
    pub(super) fn layout(&mut self, approval: &ApprovalView, width: usize) {
        if width == self.width {
            return;
        }
        self.width = width;
        self.arguments.layout(width);
        self.definition.fill(definition_of(approval, width), width);
        self.choices.fill(vec![Section::Rows(plan::choices(approval, width))], width);
        for detail in self.edited.iter_mut().chain(self.result.as_mut().map(|(_, detail)| detail)) {
            detail.layout(width);
        }
    }

    /// Fits the window to `height` rows and notes what is on the screen.
    pub(super) fn resize(&mut self, height: usize, approval: &ApprovalView) {
        self.shown_mut().resize(height);
        if height == 0 {
            return;
        }
        let (bottom, rows) = (self.shown().bottom(), self.shown().rows());
        match self.view {
            View::Whole if self.result.is_some() => {}
            View::Whole | View::Arguments => {
                self.seen.to = self.seen.to.max(bottom);
                self.seen.end |= bottom >= rows;
            }
            View::Definition => self.seen.change |= bottom >= change_rows(approval, self.width).min(rows),
            View::Choices => {}
        }
    }

    /// The arguments as they were sent.
    pub(super) fn json(&self) -> Option<&JsonView> {
        self.arguments.json()
    }

    /// Shows an edit instead of the arguments: all of it is unseen.
    pub(super) fn edit(&mut self, lines: &[DiffLine]) {
        let mut detail = Detail::default();
        detail.fill(vec![Section::Diff(DiffView::new(lines))], self.width);
        self.edited = Some(detail);
        (self.view, self.seen) = (View::Whole, Seen { change: self.seen.change, ..Seen::default() });
    }

    /// Shows the arguments as they were sent again: all of them unseen.
    pub(super) fn forget_edit(&mut self) {
        if self.edited.take().is_some() {
            self.seen = Seen { change: self.seen.change, ..Seen::default() };
        }
    }

    /// Shows what came back.
    pub(super) fn show_result(&mut self, result: &Arc<ResultView>) {
        if self.result.as_ref().is_some_and(|(shown, _)| Arc::ptr_eq(shown, result)) {
            return;
        }
        let mut detail = Detail::default();
        detail.fill(vec![Section::Text(TextRows::new(result.text.clone()))], self.width);
        self.result = Some((result.clone(), detail));
    }

    pub(super) const fn is_edited(&self) -> bool {
        self.edited.is_some()
    }

    pub(super) const fn has_result(&self) -> bool {
        self.result.is_some()
    }

    pub(super) const fn seen_end(&self) -> bool {
        self.seen.end
    }

    pub(super) const fn seen_change(&self) -> bool {
        self.seen.change
    }

    /// Rows of the arguments that have not been on the screen.
    pub(super) fn unseen(&self) -> usize {
        self.edited.as_ref().unwrap_or(&self.arguments).rows().saturating_sub(self.seen.to)
    }

    /// What the window shows: first row, row after the last, rows in all.
    pub(super) fn place(&self) -> (usize, usize, usize) {
        let shown = self.shown();
        (shown.top(), shown.bottom(), shown.rows())
    }

    /// The rows in the window.
    pub(super) fn window(&self) -> Vec<Row> {
        self.shown().window(&self.search)
    }

    /// A row of what is shown, whether or not it is in the window.
    #[cfg(test)]
    pub(super) fn row(&self, index: usize) -> Row {
        self.shown().row(index)
    }

    /// Scrolls.
    pub(super) fn apply(&mut self, intent: Intent) {
        self.shown_mut().apply(intent);
    }

    /// Goes to a match; what there is to say about it.
    pub(super) fn find(&mut self, direction: Intent) -> String {
        if !self.search.is_active() {
            return "nothing is looked for: / searches".to_owned();
        }
        let (search, from) = (std::mem::take(&mut self.search), self.found);
        let found = self.shown_mut().find(&search, (from, direction));
        let place = found.map(|(row, _)| self.shown().place(&search, row));
        self.search = search;
        self.found = found.map(|(row, _)| row);
        let (Some((_, around)), Some((nth, all))) = (found, place) else { return "not found".to_owned() };
        let around = match (around, direction) {
            (false, _) => "",
            (true, Intent::PreviousMatch) => ", on from the end",
            (true, _) => ", on from the beginning",
        };
        format!("match {nth} of {all}{around}")
    }

    /// Shows something else, or the whole card when that is shown already.
    pub(super) fn turn(&mut self, view: View) {
        self.view = if self.view == view { View::Whole } else { view };
        self.found = None;
        self.search = Search::default();
    }

    fn shown(&self) -> &Detail {
        match (self.view, &self.result, &self.edited) {
            (View::Definition, ..) => &self.definition,
            (View::Choices, ..) => &self.choices,
            (View::Whole, Some((_, result)), _) => result,
            (_, _, Some(edited)) => edited,
            _ => &self.arguments,
        }
    }

    fn shown_mut(&mut self) -> &mut Detail {
        match (self.view, &mut self.result, &mut self.edited) {
            (View::Definition, ..) => &mut self.definition,
            (View::Choices, ..) => &mut self.choices,
            (View::Whole, Some((_, result)), _) => result,
            (_, _, Some(edited)) => edited,
            _ => &mut self.arguments,
        }
    }
}

/// The definition whole: how it changed first, then everything about it, then its schemas.
fn definition_of(approval: &ApprovalView, width: usize) -> Vec<Section> {
    let mut sections = difference_of(approval, width);
    let around = Around { schemas: "its schemas stand below", ..Around::default() };
    sections.extend(definition::tool(&approval.entry, around, width));
    sections.push(Section::Rows(vec![Row::new()]));
    sections.extend(definition::schemas(&approval.entry));
    sections
}

fn difference_of(approval: &ApprovalView, width: usize) -> Vec<Section> {
    let Some(change) = &approval.change else { return Vec::new() };
    let words = match change.approved {
        Known::Approved => "changed since a person last approved it",
        Known::Seen => "changed since it was first seen; nobody has approved it yet",
    };
    definition::difference(words, &change.lines, width)
}

/// Rows of the definition up to the end of its difference.
fn change_rows(approval: &ApprovalView, width: usize) -> usize {
    let mut detail = Detail::default();
    detail.fill(difference_of(approval, width), width);
    detail.rows()
}
