//! What connections say: taken in several events at a time, so that many servers which come up together cost one
//! placing of the catalog and not one each.

use std::sync::Arc;

use super::{Core, events};
use crate::engine::call::Link;
use crate::engine::connection::{ConnectionEvent, NamedEvent};
use crate::engine::first_party::Own;
use crate::engine::forms::Why;
use crate::engine::servers::{Effect, Server};
use crate::engine::snapshot::{ApprovalView, FormView, Withdrawal};
use crate::engine::status::ConnectionStatus;
use crate::ids::ConnectionName;

/// Events taken in before what follows from them is done, and others have their turn.
const AT_ONCE: usize = 256;

/// What follows from the events that were taken in.
#[derive(Default)]
struct Due {
    /// Whether calls can be sent may have changed.
    links: bool,
    /// The tools changed.
    tools: bool,
    /// Connections whose tools changed and were known before.
    changed: Vec<ConnectionName>,
    /// Connections that were heard of.
    heard: Vec<ConnectionName>,
}

impl Core {
    /// Takes in an event and those that wait behind it, in their order.
    pub(super) fn connection_events(&mut self, first: NamedEvent) {
        let mut due = Due::default();
        let mut left = AT_ONCE;
        let mut next = Some(first);
        while let Some((connection, event)) = next {
            if let Some(index) = self.take_in(&connection, event, &mut due) {
                // Its place in the list may be somebody else's afterwards: what came before is done first.
                self.follow(&std::mem::take(&mut due));
                self.connection_ended(index);
                self.settle();
            }
            left -= 1;
            next = if left > 0 { self.inlets.connections.try_recv().ok() } else { None };
        }
        self.follow(&due);
    }

    /// Takes in one event. Where a supervisor has ended: which server's.
    fn take_in(&mut self, connection: &ConnectionName, event: ConnectionEvent, due: &mut Due) -> Option<usize> {
        let index = self.servers.iter().position(|server| server.declared.connection == *connection)?;
        let server = self.servers.get_mut(index)?;
        events::log(&server.declared, &event, server.listing.as_ref().map_or(0, |listing| listing.tools.len()));
        let effect = server.apply(event);
        let gone = matches!(
            server.status,
            ConnectionStatus::Failed { .. } | ConnectionStatus::Disabled | ConnectionStatus::Stopped
        );
        let ready = server.status.is_ready();
        self.dirty = true;
        match effect {
            Effect::View => {}
            Effect::Status => {
                due.links = true;
                if !ready {
                    let lost = |view: &FormView| view.connection == *connection;
                    self.forms.withdraw_where(|view| lost(view).then_some(Why::ServerGone));
                }
                if gone {
                    let lost = |view: &ApprovalView| view.entry.connection == *connection;
                    self.desk.withdraw_where(|view| lost(view).then_some(Withdrawal::ServerGone));
                }
            }
            Effect::Tools(known) => {
                due.tools = true;
                if known && !due.changed.contains(connection) {
                    due.changed.push(connection.clone());
                }
            }
            Effect::Ended => return Some(index),
        }
        if !due.heard.contains(connection) {
            due.heard.push(connection.clone());
        }
        None
    }

    fn follow(&mut self, due: &Due) {
        self.bound_lines();
        if due.tools {
            let before = self.snapshot.catalog.clone();
            self.replace_catalog();
            for connection in &due.changed {
                self.note_tool_changes(connection, &before);
            }
        }
        // After the catalog: nobody finds a connection up before its tools are there.
        if due.links {
            self.follow_links();
        }
        for connection in &due.heard {
            self.remember_era(connection);
        }
        self.settle();
    }

    pub(super) fn follow_links(&mut self) {
        let link =
            |(place, server): (usize, &Server)| (server.declared.connection.clone(), Link { place, ..server.link() });
        let links = self.servers.iter().enumerate().map(link);
        let own = self.fixed.own.iter().flat_map(Own::links);
        self.outlets.links.send_replace(Arc::new(links.chain(own).collect()));
    }
}
