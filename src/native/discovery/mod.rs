//! The discovery pair: what a server of the seat has, and making one of its tools active. Under progressive discovery
//! an agent begins with the program's own tools and these two.
//!
//! Both are pure over a [`Sight`]: whose they are, what there is, and which connections are up. A name that the seat
//! cannot reach is as unknown as one that does not exist.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use serde_json::{Value, json};

use super::active::{Activated, Set};
use super::request::{Class, Refusal};
use super::tool::{Ask, Running};
use crate::engine::first_party::World;
use crate::engine::snapshot::Caller;
use crate::ids::{ConnectionName, SeatHandle, ServerName};
use crate::tool::entry::Origin;
use crate::tool::{Catalog, Entry, Flag};

/// Longest reason that is repeated from elsewhere, in columns.
const REASON: usize = 200;
/// Longest name of the caller's that is repeated, in columns.
const ECHO: usize = 80;

/// What whoever asks can see.
#[derive(Debug)]
pub(super) struct Sight<'w> {
    /// Whose seat it is.
    pub(super) seat: &'w SeatHandle,
    /// Everything that is listed.
    pub(super) catalog: &'w Catalog,
    /// The connections that the seat's calls can go over, in the order of the configuration; none of the program's own.
    pub(super) servers: Vec<Reach<'w>>,
    /// What the session holds; `None` where that is everything.
    pub(super) active: Option<&'w Set>,
}

/// One server as the seat reaches it.
#[derive(Debug)]
pub(super) struct Reach<'w> {
    pub(super) server: &'w ServerName,
    pub(super) connection: &'w ConnectionName,
    /// Why calls cannot be sent now.
    pub(super) down: Option<&'w str>,
}

/// `list_mcp_server_tools`.
pub(super) fn run_list(ask: Ask) -> Running {
    Box::pin(async move {
        let (seat, active) = ask.seat()?;
        let sight = Sight::of(&seat, &ask.world, active.as_deref());
        list(&sight, ask.request.need("server")?).map(Value::String)
    })
}

/// `activate_tool`.
pub(super) fn run_activate(ask: Ask) -> Running {
    Box::pin(async move {
        let (seat, active) = ask.seat()?;
        let Some(active) = active else {
            let message = "the session that this was to be active for is over".to_owned();
            return Err(Refusal { class: Class::Unavailable, message });
        };
        let sight = Sight::of(&seat, &ask.world, Some(&active));
        let (answer, news) = activate(&sight, ask.request.need("name")?)?;
        if let (Some((tool_name, iteration)), Caller::Seat { seat: agent, session, .. }) = (news, &ask.caller) {
            let turn = ask.native.shared().turns.current(agent, session);
            let turn_id = turn.as_ref().map_or(&**session, |turn| turn.id.as_str());
            tracing::info!(phase = "session", %tool_name, %turn_id, iteration, %agent, "phase.tool_activated");
        }
        Ok(answer)
    })
}

impl Ask {
    /// Whose seat asks, and what its session holds.
    fn seat(&self) -> Result<(SeatHandle, Option<Arc<Set>>), Refusal> {
        let seat = self.caller.seat().ok_or_else(|| Refusal::forbidden("only a seat's agent has tools to activate"))?;
        Ok((seat.clone(), self.native.shared().active.of(&self.caller)))
    }
}

impl<'w> Sight<'w> {
    fn of(seat: &'w SeatHandle, world: &'w World, active: Option<&'w Set>) -> Self {
        let reach = |(server, connection, down): (_, _, Option<&'w Arc<str>>)| Reach {
            server,
            connection,
            down: down.map(AsRef::as_ref),
        };
        let servers = world.connections(seat).into_iter().map(reach).collect();
        Self { seat, catalog: &world.catalog, servers, active }
    }
}

/// The tools of one server, as text: one line each, sorted by name, none left out.
pub(super) fn list(sight: &Sight<'_>, server: &str) -> Result<String, Refusal> {
    let reach = sight.servers.iter().find(|reach| reach.server.as_str() == server);
    let reach = reach.ok_or_else(|| no_server(sight, server))?;
    let all = sight.catalog.of_connection(reach.connection);
    let mut tools: Vec<&Entry> =
        all.iter().map(AsRef::as_ref).filter(|entry| sight.catalog.is_visible(Some(sight.seat), entry)).collect();
    let rejected: Vec<_> =
        sight.catalog.rejected().iter().filter(|rejected| rejected.connection == *reach.connection).collect();
    let down = reach.down.map(reason);
    match (&down, all.len() + rejected.len()) {
        (Some(down), _) if tools.is_empty() => {
            let message = format!("server \"{server}\" is configured but not running: {down}");
            return Err(Refusal { class: Class::NotRunning, message });
        }
        (None, count) if tools.is_empty() && count > 0 => {
            let why = rejected.first().map_or("they have the names of tools of your own", |first| &first.reason);
            let message =
                format!("server \"{server}\" is yours, but none of its {count} tools can be used: {}", reason(why));
            return Err(Refusal { class: Class::Unavailable, message });
        }
        _ => {}
    }
    tools.sort_by(|a, b| a.exposed.cmp(&b.exposed));
    let count = match tools.len() {
        1 => "1 tool".to_owned(),
        count => format!("{count} tools"),
    };
    let head = match down {
        None => format!("{server}: {count}"),
        Some(down) => format!("{server}: {count}. It is not running now ({down}); calls fail until it does"),
    };
    let line = |tool: &Entry| {
        let active = if sight.active.is_none_or(|active| active.holds(tool)) { " (active)" } else { "" };
        format!("- {}{active}: {}", tool.exposed, one_line(&tool.description))
    };
    let lines: Vec<String> = std::iter::once(head).chain(tools.into_iter().map(line)).collect();
    Ok(lines.join("\n"))
}

/// What became active, and how many tools have been by now; `None` where nothing did.
type News = Option<(Arc<str>, usize)>;

/// Makes a tool active for the session.
pub(super) fn activate(sight: &Sight<'_>, name: &str) -> Result<(Value, News), Refusal> {
    let Some(entry) = sight.catalog.find(Some(sight.seat), name) else { return Err(no_tool(sight, name)) };
    let exposed = &entry.exposed;
    let answer = |outcome: &str, message: String| {
        // Without hints: the list has them, and what is not said there is not said here.
        let tool = json!({"name": &**exposed, "description": &*entry.description, "inputSchema": schema(entry)});
        json!({"outcome": outcome, "message": message, "tool": tool})
    };
    let activated = sight.active.map_or(Activated::Already, |active| active.activate(entry, sight.catalog));
    let reach = sight.servers.iter().find(|reach| *reach.connection == entry.connection);
    let down = reach.and_then(|reach| reach.down).map(reason);
    match activated {
        Activated::Full => Err(Refusal {
            class: Class::Unavailable,
            message: "this session has as many active tools as it may; begin another one".to_owned(),
        }),
        Activated::Already => Ok((answer("already_active", format!("\"{exposed}\" is active already")), None)),
        Activated::Now(count) => {
            let message = match down {
                None => format!("\"{exposed}\" is active; call it by this name"),
                Some(down) => format!("\"{exposed}\" is active, but its server is not running now: {down}"),
            };
            Ok((answer("activated", message), Some((exposed.clone(), count))))
        }
    }
}

/// The servers that the seat reaches, for texts.
pub(super) fn names(sight: &Sight<'_>) -> String {
    let names: Vec<&str> = sight.servers.iter().map(|reach| reach.server.as_str()).collect();
    names.join(", ")
}

fn no_server(sight: &Sight<'_>, asked: &str) -> Refusal {
    let asked = echo(asked);
    let message = match sight.servers.as_slice() {
        [] => format!("there is no server \"{asked}\": this seat has no servers"),
        _ => format!("there is no server \"{asked}\" for this seat; there are: {}", names(sight)),
    };
    Refusal { class: Class::NotFound, message }
}

/// Why there is nothing to activate: the name is kept for something, cannot be used, or is nobody's.
fn no_tool(sight: &Sight<'_>, asked: &str) -> Refusal {
    let (catalog, shown) = (sight.catalog, echo(asked));
    if let Some(own) = catalog.awaited(sight.seat, asked) {
        let reach = sight.servers.iter().find(|reach| reach.connection == own);
        let (server, down) = match reach {
            Some(reach) => (reach.server.as_str(), reach.down.map(reason)),
            None => (own.as_str(), None),
        };
        let down = down.unwrap_or_else(|| "it has not listed its tools yet".to_owned());
        let message = format!("\"{shown}\" is a tool of your server \"{server}\", which cannot be used now: {down}");
        return Refusal { class: Class::NotRunning, message };
    }
    let mut rejected = catalog.rejected().iter().filter(|rejected| rejected.name.as_deref() == Some(asked));
    let of_seat = rejected.find(|rejected| sight.servers.iter().any(|reach| *reach.connection == rejected.connection));
    if let Some(rejected) = of_seat {
        let message =
            format!("\"{shown}\" of server \"{}\" cannot be used: {}", rejected.server, reason(&rejected.reason));
        return Refusal { class: Class::Unavailable, message };
    }
    let hidden = catalog.find(None, asked).filter(|entry| entry.seat.is_none() && entry.origin != Origin::Builtin);
    if let Some(entry) = hidden {
        let message = format!("\"{shown}\" of server \"{}\" is hidden by a tool of your own", entry.server);
        return Refusal { class: Class::Unavailable, message };
    }
    let next = match sight.servers.as_slice() {
        [] => "this seat has no servers".to_owned(),
        _ => format!("list_mcp_server_tools says what a server has; your servers: {}", names(sight)),
    };
    Refusal { class: Class::NotFound, message: format!("there is no tool \"{shown}\"; {next}") }
}

/// As the tool list shows it.
fn schema(entry: &Entry) -> Value {
    if entry.flags.contains(&Flag::SchemaNotAnObject) {
        json!({"type": "object"})
    } else {
        (*entry.input_schema).clone()
    }
}

/// A description as one line, whole: nothing in it can pass for another tool's.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn reason(text: &str) -> String {
    crate::text::fit(&crate::text::visible(&one_line(text)), REASON).into_owned()
}

fn echo(text: &str) -> String {
    crate::text::fit(&crate::text::visible(text), ECHO).into_owned()
}
