//! What follows from what servers list: the catalog, its names, and what a person is told about both.

use std::sync::Arc;

use super::Core;
use crate::engine::gate::policy;
use crate::engine::servers::Server;
use crate::engine::snapshot::LogLevel;
use crate::tool::Catalog;
use crate::tool::catalog::{Warning, wanted};

impl Core {
    pub(super) fn replace_catalog(&mut self) {
        let sources: Vec<_> = self.servers.iter().filter_map(Server::source).collect();
        let (catalog, warnings) = Catalog::place(&sources, &self.names);
        for warning in warnings {
            if !self.warned.contains(&warning) {
                self.warn(&warning);
                self.warned.insert(warning);
            }
        }
        let catalog = Arc::new(catalog);
        let settings = self.outlets.settings.borrow().clone();
        let answers =
            catalog.entries().iter().map(|entry| (entry.name.clone(), policy::policy(&settings, entry, None)));
        self.snapshot.policies = Arc::new(answers.collect());
        self.snapshot.catalog = catalog.clone();
        self.desk.follow(&catalog);
        self.outlets.catalog.send_replace(catalog);
        self.stale.iter_mut().for_each(|stale| *stale = true);
        self.dirty = true;
        if self.settled {
            self.remember_names();
        }
    }

    /// Once every connection's first attempt is over, names are remembered and rules can be told to match nothing.
    pub(super) fn settle(&mut self) {
        if self.settled || !self.servers.iter().all(Server::has_settled) {
            return;
        }
        self.settled = true;
        self.remember_names();
        let settings = self.outlets.settings.borrow().clone();
        for rule in policy::unmatched(&settings, &self.snapshot.catalog) {
            let text = format!("the approval rule \"{}\" ({}) matches no tool", rule.tool, rule.place);
            tracing::warn!(rule = %rule.tool, place = %rule.place, "approval_rule_unmatched");
            self.notice(LogLevel::Warn, &text);
        }
    }

    fn remember_names(&mut self) {
        let sources: Vec<_> = self.servers.iter().filter_map(Server::source).collect();
        if self.names.remember(&wanted(&sources)) {
            (self.fixed.names_changed)(&self.names);
        }
    }

    fn warn(&mut self, warning: &Warning) {
        let text = match warning {
            Warning::Collision(collision) => {
                tracing::warn!(
                    tool = %collision.wanted, serving = %collision.serving, renamed = %collision.renamed,
                    "tool_name_collision"
                );
                format!(
                    "\"{}\" is {}'s; the tool of {} is called \"{}\"",
                    collision.wanted, collision.serving, collision.server, collision.renamed
                )
            }
            Warning::UnmatchedOverride { server, key } => {
                tracing::warn!(%server, %key, "tool_annotation_unmatched");
                format!("tool_annotations of {server}: \"{key}\" matches none of its tools")
            }
            Warning::SchemaNotAnObject { server, tool } => {
                tracing::warn!(%server, %tool, "mcp_tool_schema_not_an_object");
                return;
            }
        };
        self.notice(LogLevel::Warn, &text);
    }
}
