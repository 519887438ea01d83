//! From the checked tree to the model: what several fields mean together, and the problems that only shows.
//!
//! Every function here may meet a field of the wrong type: the shape check has reported it, and the lowering takes
//! the default, so that all problems of a document come out in one go. Nothing of it is used when there was an error.

mod annotations;
mod approvals;
mod engine;
mod operators;
mod org;
mod roles;
mod server;
mod tui;

use std::sync::Arc;
use std::time::Duration;

use super::diagnostic::{Report, child};
use super::expand::Template;
use super::keys;
use super::model::{Config, Source};
use super::resolve::token_problem;
use super::shape::{MAX_SECONDS, Shape};
use super::tree::{Mark, Node, Taken};
use crate::org::Variables;
use crate::tool::ConfigRef;

/// The company's name where the document gives none.
const NAMELESS: &str = "company";

/// Makes the model of a document.
pub(super) fn config(root: &Node, source: &Source, report: &mut Report) -> Config {
    let mut lower = Lower { report };
    let unused = lower.unused(root);
    let servers = lower.servers(root);
    let org = lower.org(root, &servers);
    let engine = lower.engine(root.get("engine"), &servers, &org);
    let operators = lower.operators(root, &org);
    Config {
        company: root.get("name").and_then(Node::text).map_or_else(|| NAMELESS.into(), |name| name.trim().into()),
        source: source.clone(),
        servers,
        org,
        engine,
        operators,
        tui: lower.tui(root.get("tui")),
        unused_root_keys: unused,
    }
}

/// What the lowering of every section needs.
struct Lower<'r> {
    report: &'r mut Report,
}

impl Lower<'_> {
    fn unused(&mut self, root: &Node) -> Vec<Arc<str>> {
        let unused = |key: &str| keys::ROOT.keys.iter().any(|k| k.name == key && matches!(k.shape, Shape::Any));
        let entries: Vec<_> = root.entries().iter().filter(|entry| unused(&entry.key)).collect();
        if let Some(first) = entries.first() {
            let names = entries.iter().map(|entry| format!("`{}`", entry.key)).collect::<Vec<_>>().join(", ");
            self.report.info(first.mark, "", format!("not used by this program: {names}")).event(
                "config_keys_unused",
                None,
                None,
            );
        }
        entries.iter().map(|entry| entry.key.clone()).collect()
    }

    fn place(&self, mark: Mark) -> ConfigRef {
        ConfigRef { file: self.report.file().clone(), line: mark.line }
    }

    /// A template; `None` where the shape check has refused the text.
    fn template(&self, node: &Node, path: &str) -> Option<Template> {
        Template::new(node.text()?, path, (self.place(node.mark), node.mark.column)).ok()
    }

    /// The template below a key.
    fn template_at(&self, node: &Node, key: &str, path: &str) -> Option<Template> {
        self.template(node.get(key)?, &child(path, key))
    }

    /// A bearer token. An empty one would let anybody in, and with a short one nobody gets in.
    fn token(&mut self, node: &Node, path: &str) -> Option<Template> {
        let token = node.get("token")?;
        if token.text().is_some_and(|text| text.trim().is_empty()) {
            self.report
                .error(token.mark, child(path, "token"), "is empty: anybody would be let in")
                .help("write a reference such as `${CREWLET_TOKEN}`");
        }
        let template = self.template(token, &child(path, "token"));
        // What is no text, or empty, has been refused.
        let is_text = token.taken() == Some(Taken::Text);
        let written = template.as_ref().and_then(Template::literal).filter(|text| is_text && !text.trim().is_empty());
        if let Some(problem) = written.as_deref().and_then(token_problem) {
            self.report
                .error(token.mark, child(path, "token"), problem)
                .help("write a longer random one, better as a reference such as `${CREWLET_TOKEN}`");
        }
        template
    }

    /// Variables or headers with their values.
    fn variables(&self, node: &Node, path: &str) -> Variables {
        let variable = |entry: &super::tree::Entry| {
            Some((entry.key.clone(), self.template(&entry.value, &child(path, &entry.key))?))
        };
        node.entries().iter().filter_map(variable).collect()
    }
}

/// The texts of a list.
fn texts(node: Option<&Node>) -> Vec<Arc<str>> {
    node.map(Node::items).unwrap_or_default().iter().filter_map(Node::text).cloned().collect()
}

/// The text below a key.
fn text(node: &Node, key: &str) -> Option<Arc<str>> {
    node.get(key).and_then(Node::text).cloned()
}

/// The duration below a key, in seconds.
fn seconds(node: &Node) -> Option<Duration> {
    let number = node.number().filter(|number| (0.0..=MAX_SECONDS).contains(number))?;
    Duration::try_from_secs_f64(number).ok()
}
