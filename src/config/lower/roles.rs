//! One role: its handle, its profile and the credentials it declares or inherits.

use std::num::NonZeroU32;
use std::sync::Arc;

use super::org::kind;
use super::{Lower, text, texts};
use crate::config::diagnostic::{child, quoted};
use crate::config::resolve::names_a_credential;
use crate::config::tree::{Node, Value};
use crate::ids::{SeatHandle, ServerName};
use crate::org::{self, Identity, Profile, Seat, SeatKind, Variables, WorkerTemplate};

/// The unit that a role sits in: its name and its own `mcp_env`.
type InUnit<'a> = Option<(&'a Arc<str>, &'a Vec<(ServerName, Variables)>)>;

impl Lower<'_> {
    /// The seat of a role; `None` when it has no name or no handle can be made of it.
    pub(super) fn seat(&mut self, node: &Node, path: &str, unit: InUnit<'_>) -> Option<Seat> {
        let name = text(node, "name").filter(|name| !name.trim().is_empty())?;
        let handle = self.handle(node, &name, path)?;
        let kind = kind(node);
        let own = node.get("mcp_env").map(|env| self.mcp_env(env, &child(path, "mcp_env"))).unwrap_or_default();
        let credentials = match kind {
            SeatKind::Human => {
                self.human_has_no_credentials(node, path);
                Vec::new()
            }
            SeatKind::Agent => unit.map_or_else(|| own.clone(), |(_, base)| org::env::inherit(base, &own)),
        };
        Some(Seat {
            kind,
            unit: unit.map(|(name, _)| name.clone()),
            credentials,
            token: self.token(node, path),
            profile: profile(node),
            place: Some(self.place(node.mark)),
            ..Seat::agent(handle.as_str(), name)
        })
    }

    fn handle(&mut self, node: &Node, name: &str, path: &str) -> Option<SeatHandle> {
        let explicit = node.get("handle").filter(|handle| handle.text().is_some_and(|text| !text.is_empty()));
        let Some(explicit) = explicit else {
            let slug = org::handle::slug(name);
            if slug.is_empty() {
                let message = format!("no handle can be made of the name {}", quoted(name));
                self.report.error(node.mark, child(path, "name"), message).help("add a `handle:`");
                return None;
            }
            return Some(SeatHandle::new(slug));
        };
        let text = explicit.text()?;
        if org::handle::is_valid(text) {
            return Some(SeatHandle::new(text.clone()));
        }
        let mut help = "lower-case letters, digits and `-`, the first one no `-`".to_owned();
        let slug = org::handle::slug(text);
        if !slug.is_empty() {
            help = format!("{help}; such as `{slug}`");
        }
        self.report.error(explicit.mark, child(path, "handle"), format!("{} is no handle", quoted(text))).help(help);
        None
    }

    fn human_has_no_credentials(&mut self, node: &Node, path: &str) {
        let Some(entry) = node.entry("mcp_env") else { return };
        self.report
            .error(entry.mark, child(path, "mcp_env"), "a human's seat has no connections, so it takes no `mcp_env`")
            .help("remove it, or write `kind: agent`");
    }
}

fn profile(node: &Node) -> Profile {
    let identities = node.get("identities").map(Node::entries).unwrap_or_default();
    let identities = identities
        .iter()
        .filter_map(|entry| Some(Identity { system: entry.key.clone(), id: entry.value.text()?.clone() }));
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    // The shape check has refused what is no number from 0 to u32::MAX, and the cast saturates.
    let budget = node.get("token_budget").and_then(Node::number).map(|number| number as u32);
    let worker = |node: &Node| Some(WorkerTemplate { name: text(node, "name")?, tools: texts(node.get("tools")) });
    let workers = node.get("workers").map(Node::items).unwrap_or_default();
    Profile {
        email: text(node, "email"),
        goal: text(node, "goal"),
        backstory: text(node, "backstory"),
        responsibilities: texts(node.get("responsibilities")),
        manages: texts(node.get("manages")),
        availability: text(node, "availability"),
        identities: identities.chain(integrations(node.get("integrations"))).collect(),
        token_budget: budget.and_then(NonZeroU32::new),
        sandbox: node.get("sandbox").and_then(|sandbox| sandbox.get("enabled")?.flag()).unwrap_or(false),
        workers: workers.iter().filter_map(worker).collect(),
    }
}

/// An `integrations` block as identity: its plain fields by dotted name. Credentials and references are left out:
/// nothing here may become one.
pub(super) fn integrations(node: Option<&Node>) -> Vec<Identity> {
    let mut found = Vec::new();
    if let Some(node) = node {
        collect(node, "", &mut found);
    }
    found
}

fn collect(node: &Node, path: &str, found: &mut Vec<Identity>) {
    for entry in node.entries() {
        let path = if path.is_empty() { entry.key.to_string() } else { format!("{path}.{}", entry.key) };
        match &entry.value.value {
            Value::Map(_) => collect(&entry.value, &path, found),
            Value::List(_) => {}
            Value::Scalar(scalar) => {
                let credential = names_a_credential(&entry.key) || scalar.text.contains("${");
                if !credential && !entry.value.is_null() {
                    found.push(Identity { system: path.into(), id: scalar.text.clone() });
                }
            }
        }
    }
}
