//! JSON text laid out for people: as a list of fields (arguments) or as an indented document (schemas), wrapped to a
//! width, drawn row by row.
//!
//! The view never changes or leaves out a character of the text except the outermost punctuation of a list of
//! fields; long strings are wrapped, deep nesting turns into running text, hidden characters are escaped. Laying out
//! is iterative, so nesting of any depth is safe. Only places in the text are kept, not copies.

mod laying;
#[cfg(test)]
mod tests;
pub(super) mod units;

use std::sync::Arc;

use super::paint::{Row, Span, shown};
use crate::tui::theme::Role;
use laying::{Kind, Laid};
use units::units;

/// How the outermost value is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// The members of the outermost object as a list of fields, without its braces and commas.
    Fields,
    /// The whole text as it is.
    Document,
}

/// A JSON text and its rows at the current width.
#[derive(Clone, Debug)]
pub struct JsonView {
    text: Arc<str>,
    shape: Shape,
    width: usize,
    laid: Laid,
}

impl JsonView {
    /// Narrower areas are laid out as if they had this many cells.
    pub const MIN_WIDTH: usize = 20;

    /// A view of a JSON text, not yet laid out.
    pub fn new(text: Arc<str>, shape: Shape) -> Self {
        Self { text, shape, width: 0, laid: Laid::default() }
    }

    /// Breaks the text into rows of at most `width` cells. Does nothing when the width is the same as before.
    pub fn layout(&mut self, width: usize) {
        let width = width.max(Self::MIN_WIDTH);
        if width != self.width {
            self.width = width;
            self.laid = laying::lay_out(&self.text, self.shape, width);
        }
    }

    /// Number of rows at the current width.
    pub const fn rows(&self) -> usize {
        self.laid.rows.len()
    }

    /// Number of members of the outermost object.
    pub const fn fields(&self) -> usize {
        self.laid.fields
    }

    /// True when the text holds characters that draw nothing, move the cursor or reorder what others see. Line
    /// breaks and tabs do not count.
    pub const fn hidden(&self) -> bool {
        self.laid.hidden
    }

    /// One row, from 0; empty past the end.
    pub fn row(&self, index: usize) -> Row {
        let Some(start) = self.laid.rows.get(index) else { return Row::new() };
        let end = self.laid.rows.get(index + 1).map_or(self.laid.pieces.len(), |next| next.piece);
        let mut row = Row::new();
        if start.indent > 0 {
            row.push(Span::gap(start.indent));
        }
        for piece in self.laid.pieces.get(start.piece..end).unwrap_or_default() {
            if piece.gap > 0 {
                row.push(Span::gap(piece.gap));
            }
            let text = self.text.get(piece.from..piece.to).unwrap_or_default();
            let drawn = if piece.single {
                text.split_inclusive(|_: char| true).map(|c| shown(c).0).collect()
            } else {
                units(text).map(|unit| shown(unit.text()).0).collect()
            };
            row.push(Span::drawn(role(piece.kind), drawn));
        }
        row
    }
}

const fn role(kind: Kind) -> Role {
    match kind {
        Kind::Key => Role::Accent,
        Kind::Text | Kind::Scalar => Role::Text,
        Kind::Mark => Role::Dim,
    }
}
