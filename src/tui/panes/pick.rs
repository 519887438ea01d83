//! A selection that stays on the same thing while rows come, go and move, and a window that follows it.
//!
//! The tools, approvals and calls panes use it. It knows rows by their ids only.

use std::ops::Range;

use crate::tui::intent::Intent;

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Pick<K> {
    selected: Option<K>,
    index: usize,
    top: usize,
    height: usize,
    count: usize,
}

impl<K> Default for Pick<K> {
    fn default() -> Self {
        Self { selected: None, index: 0, top: 0, height: 0, count: 0 }
    }
}

impl<K: Clone + PartialEq> Pick<K> {
    /// Fits the selection to the rows there are and the window to `height` rows. When the selected thing is gone its
    /// place keeps the selection.
    pub(super) fn layout(&mut self, ids: &[K], height: usize) {
        self.height = height;
        self.count = ids.len();
        let found = self.selected.as_ref().and_then(|selected| {
            let near = ids.get(self.index).filter(|id| *id == selected).map(|_| self.index);
            near.or_else(|| ids.iter().position(|id| id == selected))
        });
        self.index = found.unwrap_or(self.index).min(ids.len().saturating_sub(1));
        self.selected = ids.get(self.index).cloned();
        self.show();
    }

    /// Moves the selection; false when the intent is none of those that move it.
    pub(super) fn apply(&mut self, intent: Intent, ids: &[K]) -> bool {
        let (page, last) = (self.height.saturating_sub(1).max(1), ids.len().saturating_sub(1));
        self.index = match intent {
            Intent::Up => self.index.saturating_sub(1),
            Intent::Down => self.index.saturating_add(1),
            Intent::PageUp => self.index.saturating_sub(page),
            Intent::PageDown => self.index.saturating_add(page),
            Intent::Top => 0,
            Intent::Bottom => last,
            _ => return false,
        }
        .min(last);
        self.selected = ids.get(self.index).cloned();
        self.show();
        true
    }

    /// Selects a thing, which may appear only later.
    pub(super) fn select(&mut self, id: K) {
        self.selected = Some(id);
    }

    /// What is selected.
    pub(super) const fn selected(&self) -> Option<&K> {
        self.selected.as_ref()
    }

    /// The rows in the window.
    pub(super) fn window(&self) -> Range<usize> {
        self.top..self.count.min(self.top + self.height)
    }

    fn show(&mut self) {
        let last = self.count.saturating_sub(self.height);
        let lowest = (self.index + 1).saturating_sub(self.height);
        self.top = self.top.max(lowest).min(self.index).min(last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_selection_stays_on_the_same_thing() {
        let mut pick = Pick::default();
        pick.layout(&[1, 2, 3, 4], 2);
        pick.apply(Intent::Down, &[1, 2, 3, 4]);
        pick.layout(&[9, 8, 1, 2, 3, 4], 2);
        assert_eq!(pick.selected(), Some(&2));
        assert!(pick.window().contains(&3));
        pick.layout(&[9, 8, 1, 3, 4], 2);
        assert_eq!(pick.selected(), Some(&3), "its place keeps the selection");
        pick.layout(&[], 2);
        assert_eq!(pick.selected(), None);
    }

    proptest! {
        #[test]
        fn the_selected_row_is_always_in_the_window(
            steps in prop::collection::vec((0_usize..30, 0_usize..8, 0_usize..6), 1..30),
        ) {
            let mut pick = Pick::default();
            let moves = [Intent::Up, Intent::Down, Intent::PageUp, Intent::PageDown, Intent::Top, Intent::Bottom];
            for (count, height, step) in steps {
                let ids: Vec<usize> = (0..count).map(|id| id * 7 % 31).collect();
                pick.layout(&ids, height);
                pick.apply(moves[step], &ids);
                prop_assert!(pick.window().end <= count);
                if height > 0 && count > 0 {
                    prop_assert!(pick.window().contains(&pick.index));
                    prop_assert_eq!(pick.selected(), ids.get(pick.index));
                }
            }
        }
    }
}
