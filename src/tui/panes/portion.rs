//! How much of a long list is asked for: a first portion, and more as the selection comes near the end of what is there.

use crate::tui::theme::Role;
use crate::tui::widgets::paint::Span;

/// Rows of a first question, and of each further one.
const ROWS: usize = 200;
/// Rows before the end at which more are asked for.
const NEAR: usize = 50;
/// The most rows that are kept.
const MOST: usize = 5_000;

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Portion {
    most: usize,
    /// What the list was filtered by.
    filter: String,
}

impl Default for Portion {
    fn default() -> Self {
        Self { most: ROWS, filter: String::new() }
    }
}

impl Portion {
    /// Rows to ask for.
    pub(super) const fn most(&self) -> usize {
        self.most
    }

    /// Another list: its first portion.
    pub(super) const fn first(&mut self) {
        self.most = ROWS;
    }

    /// Keeps up with the filter, and with a selection at row `at` of those `here` out of `all`.
    pub(super) fn follow(&mut self, filter: &str, at: usize, (here, all): (usize, usize)) {
        if self.filter != filter {
            filter.clone_into(&mut self.filter);
            self.first();
        }
        if here >= self.most && here < all && at + NEAR >= here {
            self.most = (self.most + ROWS).min(MOST);
        }
    }

    /// How many there are; and how many of them are here, where no more are asked for.
    pub(super) fn count(&self, (here, all): (usize, usize)) -> Span {
        let count = if here < all && self.most == MOST { format!("{here}/{all}") } else { all.to_string() };
        Span::new(Role::Dim, &count)
    }
}
