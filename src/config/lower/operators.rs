//! `operators`: who may use the operator surface and the connector.

use std::collections::HashSet;

use super::{Lower, text, texts};
use crate::config::diagnostic::{child, item, quoted};
use crate::config::model::{Operator, Permission, Scope, project_key};
use crate::config::tree::Node;
use crate::org::Org;

impl Lower<'_> {
    /// All operators, in the order of the document.
    pub(super) fn operators(&mut self, root: &Node, org: &Org) -> Vec<Operator> {
        let mut ids = HashSet::new();
        let mut operators = Vec::new();
        for (index, node) in root.get("operators").map(Node::items).unwrap_or_default().iter().enumerate() {
            let path = item("operators", index);
            let Some(id) = text(node, "id") else { continue };
            if !ids.insert(id.clone()) {
                let message = format!("the operator {} stands twice", quoted(&id));
                self.report.error(node.mark, child(&path, "id"), message).help("give each its own id");
            }
            let seat = self.known_seat(node, &path, org);
            let Some(token) = self.token(node, &path) else { continue };
            let scope = |text: &std::sync::Arc<str>| Scope::ALL.iter().find(|(_, name)| **name == **text);
            operators.push(Operator {
                id,
                token,
                scopes: texts(node.get("scopes")).iter().filter_map(scope).map(|(scope, _)| *scope).collect(),
                seat,
                projects: self.projects(node, &path),
                permission: match text(node, "permission").as_deref() {
                    Some("viewer") => Permission::Viewer,
                    Some("member") => Permission::Member,
                    _ => Permission::Admin,
                },
                place: self.place(node.mark),
            });
        }
        operators
    }

    /// The keys of a workspace. What is none would be a workspace that is another one than was meant.
    fn projects(&mut self, node: &Node, path: &str) -> Vec<String> {
        let path = child(path, "projects");
        let named = node.get("projects").map(Node::items).unwrap_or_default();
        let mut keys = Vec::new();
        for (index, (text, node)) in named.iter().filter_map(|node| Some((node.text()?, node))).enumerate() {
            match project_key(text) {
                Some(key) => keys.push(key),
                None => {
                    let message = format!("{} is no project's key", quoted(text));
                    let help = "1 to 16 letters and digits, such as `WEB`; without `projects` the token has all";
                    self.report.error(node.mark, item(&path, index), message).help(help);
                }
            }
        }
        keys
    }
}
