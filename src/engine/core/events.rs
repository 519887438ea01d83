//! The log lines of a connection's life, as on-call staff search for them.

use crate::engine::connection::ConnectionEvent;
use crate::engine::servers::Declared;
use crate::engine::snapshot::TransportFacts;
use crate::engine::status::ConnectionStatus;

/// Names of tools in one log line.
const NAMES: usize = 50;

/// Logs what an event says about the connection as a whole. `tools`: what it offers now.
pub(super) fn log(declared: &Declared, event: &ConnectionEvent, tools: usize) {
    let server = &declared.connection;
    match event {
        ConnectionEvent::Status(ConnectionStatus::Ready { .. }) => {
            let transport = match declared.transport {
                TransportFacts::Stdio { .. } => "stdio",
                TransportFacts::Http { .. } => "http",
                TransportFacts::Other => "other",
            };
            match &declared.owner {
                None => tracing::info!(%server, transport, tools, "mcp_server_started"),
                Some(owner) => {
                    tracing::info!(%server, role = %owner.role, transport, tools, "mcp_role_server_started");
                }
            }
        }
        ConnectionEvent::Status(status) => {
            if let Some(failure) = status.failure() {
                match &declared.owner {
                    None => tracing::error!(%server, error = %failure, "mcp_server_failed"),
                    Some(owner) => {
                        tracing::error!(%server, role = %owner.role, error = %failure, "mcp_role_server_failed");
                    }
                }
            }
        }
        ConnectionEvent::Listed(listing) => {
            let names: Vec<&str> = listing.tools.iter().take(NAMES).map(|tool| &*tool.raw_name).collect();
            let tool_count = listing.tools.len();
            tracing::info!(%server, tool_count, tool_names = %names.join(","), "tools_discovered");
        }
        ConnectionEvent::OfferChanged(offer) => tracing::info!(%server, list = offer.as_str(), "list_changed"),
        ConnectionEvent::Identified(_) | ConnectionEvent::Lines { .. } | ConnectionEvent::Ended => {}
    }
}
