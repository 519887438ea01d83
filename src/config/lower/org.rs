//! `roles` and `units`: where each role sits, what it inherits, and handles that are unique in the whole company.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::{Lower, text, texts};
use crate::config::diagnostic::{child, item, quoted};
use crate::config::model::{Server, Transport};
use crate::config::shape::did_you_mean;
use crate::config::tree::{Mark, Node};
use crate::ids::ServerName;
use crate::org::{Org, Seat, SeatKind, Unit, Variables};

/// The seat of a document without roles.
const IMPLICIT_SEAT: &str = "default";

/// Roles of the root list by the unit they name, each with its index, until the unit takes them.
type Waiting<'n> = HashMap<Arc<str>, Vec<(usize, &'n Node)>>;

/// Servers by name, in an order that does not change.
type ByName<'s> = BTreeMap<&'s str, &'s Server>;

/// What a unit hands down while the tree is walked.
pub(super) struct Above<'a> {
    pub(super) parent: Option<&'a Arc<str>>,
    pub(super) lead: Option<&'a Arc<str>>,
}

impl Lower<'_> {
    /// The company: roles of the root list, then units depth first.
    pub(super) fn org(&mut self, root: &Node, servers: &[Server]) -> Org {
        let mut org = Org::default();
        let mut waiting = Waiting::new();
        for (index, node) in root.get("roles").map(Node::items).unwrap_or_default().iter().enumerate() {
            waiting.entry(text(node, "unit").unwrap_or_default()).or_default().push((index, node));
        }
        let mut units = Org::default();
        self.units(root.get("units"), "units", &Above { parent: None, lead: None }, &mut (&mut units, &mut waiting));
        let mut outside: Vec<_> = waiting.into_values().flatten().collect();
        outside.sort_by_key(|(index, _)| *index);
        for (index, node) in outside {
            let path = item("roles", index);
            self.unplaced(node, &path);
            org.seats.extend(self.seat(node, &path, None));
        }
        org.seats.append(&mut units.seats);
        org.units = units.units;
        self.unique_handles(&org);
        labels(&mut org);
        let by_name = servers.iter().map(|server| (server.name.as_str(), server)).collect();
        self.mcp_env_blocks(root, &by_name);
        self.unused_templates(&org, servers);
        if org.seats.is_empty() {
            org.seats.push(Seat::agent(IMPLICIT_SEAT, IMPLICIT_SEAT));
        }
        org
    }

    fn units<'n>(
        &mut self,
        list: Option<&'n Node>,
        path: &str,
        above: &Above<'_>,
        into: &mut (&mut Org, &mut Waiting<'n>),
    ) {
        for (index, node) in list.map(Node::items).unwrap_or_default().iter().enumerate() {
            let path = item(path, index);
            let Some(name) = text(node, "name") else { continue };
            let lead = text(node, "lead").filter(|lead| !lead.is_empty()).or_else(|| above.lead.cloned());
            let env = node.get("mcp_env").map(|env| self.mcp_env(env, &child(&path, "mcp_env"))).unwrap_or_default();
            into.0.units.push(Unit {
                name: name.clone(),
                kind: text(node, "type").unwrap_or_else(|| "team".into()),
                purpose: text(node, "purpose"),
                lead: lead.clone(),
                goals: texts(node.get("goals")),
                parent: above.parent.cloned(),
                identities: super::roles::integrations(node.get("integrations")),
                place: self.place(node.mark),
            });
            let roles = node.get("roles").map(Node::items).unwrap_or_default();
            for (index, role) in roles.iter().enumerate() {
                let role_path = item(&child(&path, "roles"), index);
                self.placed_twice(role, &name, &role_path);
                into.0.seats.extend(self.seat(role, &role_path, Some((&name, &env))));
            }
            for (index, role) in into.1.remove(&name).unwrap_or_default() {
                into.0.seats.extend(self.seat(role, &item("roles", index), Some((&name, &env))));
            }
            let below = Above { parent: Some(&name), lead: lead.as_ref() };
            self.units(node.get("children"), &child(&path, "children"), &below, into);
        }
    }

    /// A role inside a unit sits there, whatever it says.
    fn placed_twice(&mut self, role: &Node, unit: &Arc<str>, path: &str) {
        let Some(named) = role.get("unit") else { return };
        if named.text().is_some_and(|name| name != unit) {
            let message = format!("the role stands in the unit {} and stays there", quoted(unit));
            self.report
                .warning(named.mark, child(path, "unit"), message)
                .help("`unit` places roles of the root list; remove it here, or move the role");
        }
    }

    fn unplaced(&mut self, role: &Node, path: &str) {
        let Some(unit) = role.get("unit") else { return };
        let Some(name) = unit.text().filter(|name| !name.is_empty()) else { return };
        let message = format!("there is no unit {}; the role stays outside of units", quoted(name));
        self.report
            .warning(unit.mark, child(path, "unit"), message)
            .help("write the unit's name as it stands under `units`")
            .event("role_unit_ref_not_found", text(role, "name").as_ref(), None);
    }

    /// An `mcp_env` mapping as it stands.
    pub(super) fn mcp_env(&self, node: &Node, path: &str) -> Vec<(ServerName, Variables)> {
        let declared = node.entries().iter().filter(|entry| !entry.value.is_null());
        declared
            .map(|entry| (ServerName::new(entry.key.clone()), self.variables(&entry.value, &child(path, &entry.key))))
            .collect()
    }

    fn unique_handles(&mut self, org: &Org) {
        let mut seen: HashMap<&str, &Seat> = HashMap::new();
        for seat in &org.seats {
            let Some(first) = seen.get(seat.handle.as_str()) else {
                seen.insert(seat.handle.as_str(), seat);
                continue;
            };
            let line = |seat: &Seat| seat.place.as_ref().map_or(0, |place| place.line);
            let message = format!(
                "the roles {} (line {}) and {} (line {}) have the same handle `{}`",
                quoted(&first.name),
                line(first),
                quoted(&seat.name),
                line(seat),
                seat.handle
            );
            self.report
                .error(Mark { line: line(seat), column: 1 }, "", message)
                .help("give one of them a `handle:` of its own");
        }
    }

    fn unused_templates(&mut self, org: &Org, servers: &[Server]) {
        let granted: HashSet<&ServerName> =
            org.agents().flat_map(|seat| seat.credentials.iter().map(|(server, _)| server)).collect();
        for (index, server) in servers.iter().enumerate().filter(|(_, server)| !server.shared && server.enabled) {
            if granted.contains(&server.name) {
                continue;
            }
            let mark = Mark { line: server.place.line, column: 1 };
            let message = format!("no role declares `mcp_env` for `{}`, so it is not started", server.name);
            self.report
                .info(mark, item("mcp_servers", index), message)
                .help(format!("add `mcp_env: {{ {}: {{}} }}` to a role, or remove `shared: false`", server.name))
                .event("mcp_server_template_skipped", None, Some(server.name.as_str()));
        }
    }

    /// Every `mcp_env` block of the document, checked where it stands.
    fn mcp_env_blocks(&mut self, root: &Node, servers: &ByName<'_>) {
        self.mcp_env_of_roles(root, "", servers);
        self.mcp_env_of_units(root.get("units"), "units", servers);
    }

    fn mcp_env_of_units(&mut self, units: Option<&Node>, path: &str, servers: &ByName<'_>) {
        for (index, unit) in units.map(Node::items).unwrap_or_default().iter().enumerate() {
            let path = item(path, index);
            self.mcp_env_block(unit, None, &path, servers);
            self.mcp_env_of_roles(unit, &path, servers);
            self.mcp_env_of_units(unit.get("children"), &child(&path, "children"), servers);
        }
    }

    fn mcp_env_of_roles(&mut self, node: &Node, path: &str, servers: &ByName<'_>) {
        for (index, role) in node.get("roles").map(Node::items).unwrap_or_default().iter().enumerate() {
            let path = item(&child(path, "roles"), index);
            self.mcp_env_block(role, text(role, "name").as_ref(), &path, servers);
        }
    }

    fn mcp_env_block(&mut self, node: &Node, role: Option<&Arc<str>>, path: &str, servers: &ByName<'_>) {
        let path = child(path, "mcp_env");
        for entry in node.get("mcp_env").map(Node::entries).unwrap_or_default() {
            let below = child(&path, &entry.key);
            let Some(server) = servers.get(&*entry.key) else {
                let known = servers.keys().copied();
                let otherwise = || "declare the server under `mcp_servers`, or remove these lines".to_owned();
                let help = did_you_mean(self.report, &entry.key, known, otherwise);
                self.report
                    .warning(entry.mark, below, format!("there is no server {}", quoted(&entry.key)))
                    .help(help)
                    .event("mcp_env_unknown_server", role, Some(&entry.key));
                continue;
            };
            if server.shared {
                let message = format!("the server {} is shared; it keeps its own credentials", quoted(&entry.key));
                self.report
                    .warning(entry.mark, below.clone(), message)
                    .help("write `shared: false` on the server to give each seat its own connection")
                    .event("mcp_env_for_shared_server", role, Some(&entry.key));
            }
            match server.transport {
                Transport::Stdio { .. } => self.variable_names(&entry.value, &below),
                Transport::Http { .. } => self.header_names(&entry.value, &below),
            }
        }
    }
}

/// Who sits on a role's seat.
pub(super) fn kind(role: &Node) -> SeatKind {
    match text(role, "kind").as_deref() {
        Some("human") => SeatKind::Human,
        _ => SeatKind::Agent,
    }
}

/// Roles of one name need different names for their own connections: their handles, which are unique.
fn labels(org: &mut Org) {
    let repeated = repeated_labels(org);
    for seat in org.seats.iter_mut().filter(|seat| repeated.contains(&seat.label)) {
        seat.label = seat.handle.as_str().into();
    }
    // A handle can be another role's name.
    if !repeated_labels(org).is_empty() {
        for seat in &mut org.seats {
            seat.label = seat.handle.as_str().into();
        }
    }
}

fn repeated_labels(org: &Org) -> HashSet<Arc<str>> {
    let mut seen = HashSet::new();
    org.seats.iter().map(|seat| &seat.label).filter(|label| !seen.insert(*label)).cloned().collect()
}
