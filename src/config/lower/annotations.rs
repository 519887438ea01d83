//! `tool_annotations`: both spellings of each hint, with the line that states it.

use super::{Lower, text};
use crate::config::diagnostic::{child, quoted};
use crate::config::model::ToolOverride;
use crate::config::tree::Node;
use crate::tool::{Annotations, Hint, HintName, HintOverride};

impl Lower<'_> {
    /// The overrides of a server, in the order of the document. A null block says nothing.
    pub(super) fn tool_annotations(&mut self, server: &Node, path: &str) -> Vec<ToolOverride> {
        let path = child(path, "tool_annotations");
        let Some(blocks) = server.get("tool_annotations") else { return Vec::new() };
        let mut overrides = Vec::new();
        for entry in blocks.entries().iter().filter(|entry| !entry.value.is_null()) {
            let hints = self.hints(&entry.value, &child(&path, &entry.key));
            overrides.push(ToolOverride { tool: entry.key.clone(), hints, place: self.place(entry.mark) });
        }
        overrides
    }

    fn hints(&mut self, block: &Node, path: &str) -> HintOverride {
        let title = text(block, "title").map(|title| title.to_string()).unwrap_or_default();
        let mut hints =
            HintOverride { annotations: Annotations { title, ..Annotations::default() }, places: [const { None }; 4] };
        for (name, place) in HintName::ALL.into_iter().zip(&mut hints.places) {
            // The protocol's spelling is looked at first, and the first boolean decides.
            let stated = [name.camel(), name.snake()].map(|key| block.entry(key).filter(|e| e.value.flag().is_some()));
            let Some(entry) = stated.into_iter().flatten().next() else { continue };
            let value = entry.value.flag();
            if let [Some(camel), Some(snake)] = stated
                && camel.value.flag() != snake.value.flag()
            {
                let message = format!(
                    "{} and {} disagree; {} counts",
                    quoted(&camel.key),
                    quoted(&snake.key),
                    quoted(&camel.key)
                );
                self.report.warning(snake.mark, child(path, &snake.key), message).help("keep one of them");
            }
            hints.annotations.set(name, value.map_or(Hint::Unknown, Hint::from));
            *place = Some(self.place(entry.mark));
        }
        hints
    }
}
