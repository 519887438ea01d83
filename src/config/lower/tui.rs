//! `tui`: settings of the screen. Which actions and keys exist is the screen's business.

use super::{Lower, text, texts};
use crate::config::model::{OpenCards, TuiSettings};
use crate::config::tree::Node;

impl Lower<'_> {
    /// `tui`, or its defaults.
    pub(super) fn tui(&mut self, node: Option<&Node>) -> TuiSettings {
        let defaults = TuiSettings::default();
        let Some(node) = node else { return defaults };
        let flag = |key: &str, default| node.get(key).and_then(Node::flag).unwrap_or(default);
        let keys = node.get("keys").map(Node::entries).unwrap_or_default();
        let keys = keys.iter().filter(|entry| !entry.value.is_null()).map(|entry| {
            let one = entry.value.text().cloned().into_iter();
            let several = texts(Some(&entry.value));
            (entry.key.clone(), one.chain(several).collect(), self.place(entry.mark))
        });
        TuiSettings {
            theme: text(node, "theme"),
            mouse: flag("mouse", defaults.mouse),
            bell: flag("bell", defaults.bell),
            open_cards: match text(node, "open_cards").as_deref() {
                Some("badge") => OpenCards::Badge,
                _ => OpenCards::Auto,
            },
            keys: keys.collect(),
            ascii: flag("ascii", defaults.ascii),
        }
    }
}
