//! What follows from what servers list: the catalog, its names, and what a person is told about both.

use std::collections::BTreeMap;
use std::collections::HashSet;
use std::sync::Arc;

use super::Core;
use crate::clock::Timestamp;
use crate::engine::first_party::Own;
use crate::engine::gate::diff::diff;
use crate::engine::gate::policy;
use crate::engine::servers::Server;
use crate::engine::snapshot::{DiffLine, LogLevel, ToolChange, ToolChangeKind};
use crate::ids::{ConnectionName, SeatHandle};
use crate::tool::catalog::{Source, Warning, wanted};
use crate::tool::definition::definition;
use crate::tool::{Catalog, Entry};

/// Changes of tools kept in a snapshot.
const CHANGES: usize = 64;
/// Lines of stderr of all servers together weigh at most this many bytes.
const LINES_BYTES: usize = 64 << 20;

impl Core {
    /// What there is to place: the program's own tools, then each server's.
    fn sources(&self) -> Vec<Source> {
        let own = self.fixed.own.iter().flat_map(Own::sources);
        own.cloned().chain(self.servers.iter().filter_map(Server::source)).collect()
    }

    pub(super) fn replace_catalog(&mut self) {
        let sources = self.sources();
        let (catalog, warnings) = self.snapshot.catalog.replaced(&sources, &self.names);
        // What no longer holds is told anew when it comes again, and a server cannot fill this with what it makes up.
        let now: HashSet<&Warning> = warnings.iter().collect();
        self.warned.retain(|warning| now.contains(warning));
        for warning in warnings {
            // Names move until every server has had its first turn; what they end in is told then.
            if self.settled || !matches!(warning, Warning::Collision(_)) {
                self.warn_once(&warning);
            }
        }
        let catalog = Arc::new(catalog);
        for grant in self.grants.follow(&catalog, Timestamp::now()) {
            tracing::warn!(grant = grant.id.0, tool = %grant.entry.name, "grant_suspended");
            let text = format!("{} is suspended: the definition of {} changed", grant.named(), grant.entry.name);
            self.notice(LogLevel::Warn, &text);
        }
        self.see_definitions(&catalog);
        self.snapshot.catalog = catalog.clone();
        // Calls never see a catalog before they see what it means.
        self.stand();
        self.judge_catalog();
        self.desk.follow(&catalog);
        self.outlets.catalog.send_replace(catalog);
        self.servers.iter_mut().for_each(Server::look_again);
        self.dirty = true;
        if self.settled {
            self.remember_names();
            self.save_pins();
        }
    }

    /// Takes note of how the tools are defined now, and says which of them turned milder.
    fn see_definitions(&mut self, catalog: &Catalog) {
        let before = self.pins.milder();
        let redactor = &self.fixed.pipeline.redactor;
        let servers = &self.servers;
        let text = |entry: &Entry| {
            let server = servers.iter().find(|server| server.declared.connection == entry.connection);
            definition(entry, server.map_or("", |server| &server.declared.identity), redactor)
        };
        if !self.pins.see(catalog, &self.snapshot.catalog, text, Timestamp::now()) {
            return;
        }
        self.unsaved_pins = true;
        for ((connection, tool), milder) in self.pins.milder() {
            if before.get(&(connection.clone(), tool.clone())) != Some(&milder) {
                tracing::warn!(server = %connection, %tool, was = %milder.was, "tool_hints_milder");
                let text = format!("{tool} of {connection} says it is milder than before; the next call of it asks");
                self.notice(LogLevel::Warn, &text);
            }
        }
    }

    /// Hands the pins to whoever keeps them, when there is something new.
    pub(super) fn save_pins(&mut self) {
        if std::mem::take(&mut self.unsaved_pins) {
            (self.fixed.pins_changed)(&self.pins);
        }
    }

    /// Once every connection's first attempt is over, names are remembered and rules can be told to match nothing.
    pub(super) fn settle(&mut self) {
        if self.settled || !self.servers.iter().all(Server::has_settled) {
            return;
        }
        self.settled = true;
        self.remember_names();
        self.save_pins();
        self.tell_who_lacks();
        let sources = self.sources();
        for warning in self.snapshot.catalog.replaced(&sources, &self.names).1 {
            self.warn_once(&warning);
        }
        let settings = self.outlets.settings.borrow().clone();
        for rule in policy::unmatched(&settings, &self.snapshot.catalog) {
            let text = format!("the approval rule \"{}\" ({}) matches no tool", rule.tool, rule.place);
            tracing::warn!(rule = %rule.tool, place = %rule.place, "approval_rule_unmatched");
            self.notice(LogLevel::Warn, &text);
        }
    }

    /// Says which agents' seats have none of their own tools although there are servers that give seats their own. Told
    /// once for as long as it stays so.
    fn tell_who_lacks(&mut self) {
        // A command that starts only what it needs says nothing about the others.
        let part = self.fixed.launcher.only.is_some();
        if part || !self.config.servers.iter().any(|server| !server.shared && server.enabled) {
            return self.lacking.clear();
        }
        let own = self.servers.iter().filter(|server| server.listing.is_some());
        let has: HashSet<&SeatHandle> =
            own.filter_map(|own| own.declared.owner.as_ref().map(|own| &own.seat)).collect();
        let config = self.config.clone();
        let without: Vec<_> = config.org.agents().filter(|seat| !has.contains(&seat.handle)).collect();
        let fresh: Vec<_> = without.iter().filter(|seat| !self.lacking.contains(&seat.handle)).collect();
        for seat in &fresh {
            let has_mcp_env = !seat.credentials.is_empty();
            tracing::warn!(role = %seat.name, has_mcp_env, "role_has_no_per_role_mcp_tools");
        }
        let told: Vec<&str> = fresh.iter().map(|seat| seat.handle.as_str()).collect();
        if !told.is_empty() {
            let seats = if told.len() == 1 { "seat" } else { "seats" };
            let text = format!("{seats} without tools of their own: {}; the shared ones are there", told.join(", "));
            self.notice(LogLevel::Warn, &text);
        }
        self.lacking = without.into_iter().map(|seat| seat.handle.clone()).collect();
    }

    fn remember_names(&mut self) {
        let sources = self.sources();
        if self.names.remember(&wanted(&sources)) {
            (self.fixed.names_changed)(&self.names);
        }
    }

    fn warn_once(&mut self, warning: &Warning) {
        if self.warned.insert(warning.clone()) {
            self.warn(warning);
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
            Warning::Refused { server, tool } => {
                let error = "the name is the engine's";
                tracing::warn!(%server, %tool, error, "mcp_tool_refused");
                format!(
                    "{server}: its tool \"{tool}\" has a name of the engine's and is refused; give it a tool_prefix"
                )
            }
            Warning::Hides { server, shared, tool, count } => {
                tracing::warn!(%server, serving = %server, shadowed = %shared, %tool, count, "tool_name_collision");
                let more = if *count == 1 { String::new() } else { format!(" and {} more", count - 1) };
                format!("\"{tool}\"{more} of {shared}: a seat with its own {server} sees {server}'s instead")
            }
            Warning::SchemaNotAnObject { server, tool } => {
                tracing::warn!(%server, %tool, "mcp_tool_schema_not_an_object");
                return;
            }
        };
        self.notice(LogLevel::Warn, &text);
    }
}

impl Core {
    /// Notes what a new list of a connection changed, compared with the catalog before it.
    pub(super) fn note_tool_changes(&mut self, connection: &ConnectionName, before: &Catalog) {
        let now = self.snapshot.catalog.clone();
        let changes = self.compare(connection, before, &now);
        let count = |kind: fn(&ToolChangeKind) -> bool| changes.iter().filter(|change| kind(&change.kind)).count();
        let counts = [
            (count(|kind| matches!(kind, ToolChangeKind::Changed(_))), "changed"),
            (count(|kind| matches!(kind, ToolChangeKind::Added)), "new"),
            (count(|kind| matches!(kind, ToolChangeKind::Removed)), "gone"),
        ];
        let told: Vec<String> =
            counts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect();
        if told.is_empty() {
            return;
        }
        let told = told.join(", ");
        tracing::info!(server = %connection, changes = %told, "tools_changed");
        self.notice(LogLevel::Warn, &format!("{connection}: tools changed: {told}"));
        let all = &mut self.snapshot.tool_changes;
        all.extend(changes.into_iter().map(Arc::new));
        all.drain(..all.len().saturating_sub(CHANGES));
    }

    fn compare(&self, connection: &ConnectionName, before: &Catalog, now: &Catalog) -> Vec<ToolChange> {
        let at = Timestamp::now();
        let of = |catalog: &Catalog| {
            let own = catalog.of_connection(connection).iter();
            own.map(|entry| (entry.raw_name.clone(), entry.clone())).collect::<BTreeMap<_, _>>()
        };
        let (old, new) = (of(before), of(now));
        let change = |entry: &Entry, kind| ToolChange {
            at,
            connection: connection.clone(),
            tool: crate::text::visible(&entry.name).as_ref().into(),
            kind,
        };
        let removed = old.iter().filter(|(raw, _)| !new.contains_key(*raw));
        let mut changes: Vec<ToolChange> = removed.map(|(_, entry)| change(entry, ToolChangeKind::Removed)).collect();
        for (raw, entry) in &new {
            match old.get(raw) {
                None => changes.push(change(entry, ToolChangeKind::Added)),
                // Older ones would fall off at once: they are counted, not compared.
                Some(known) if known.fingerprint != entry.fingerprint => {
                    let lines = if changes.len() < CHANGES { self.difference(known, entry) } else { Vec::new() };
                    changes.push(change(entry, ToolChangeKind::Changed(lines)));
                }
                Some(_) => {}
            }
        }
        changes
    }

    fn difference(&self, before: &Entry, now: &Entry) -> Vec<DiffLine> {
        let server = self.servers.iter().find(|server| server.declared.connection == now.connection);
        let identity = server.map_or("", |server| &server.declared.identity);
        let redactor = &self.fixed.pipeline.redactor;
        diff(&definition(before, identity, redactor), &definition(now, identity, redactor))
    }

    /// Keeps the lines of all servers together within their bound: the server that has most loses its oldest.
    pub(super) fn bound_lines(&mut self) {
        while self.servers.iter().map(Server::stderr_bytes).sum::<usize>() > LINES_BYTES {
            let noisiest = self.servers.iter_mut().max_by_key(|server| server.stderr_bytes());
            if !noisiest.is_some_and(Server::drop_oldest_lines) {
                return;
            }
        }
    }
}
