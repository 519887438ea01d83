//! All tools of the company in one place: found by name, listed in a stable order.

use std::collections::HashMap;
use std::sync::Arc;

use super::entry::{Entry, Rejected};

/// An immutable set of entries and of what was rejected.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    entries: Vec<Arc<Entry>>,
    rejected: Vec<Rejected>,
    by_name: HashMap<Arc<str>, usize>,
}

impl Catalog {
    /// A catalog of these entries, in this order. Of two entries with one name the first keeps it.
    pub fn new(entries: Vec<Arc<Entry>>, rejected: Vec<Rejected>) -> Self {
        let mut by_name = HashMap::new();
        for (index, entry) in entries.iter().enumerate() {
            by_name.entry(entry.name.clone()).or_insert(index);
        }
        for (index, entry) in entries.iter().enumerate() {
            by_name.entry(entry.exposed.clone()).or_insert(index);
        }
        Self { entries, rejected, by_name }
    }

    /// The entry with this catalogue or exposed name.
    pub fn find(&self, name: &str) -> Option<&Arc<Entry>> {
        self.entries.get(*self.by_name.get(name)?)
    }

    /// All entries, servers in configuration order, tools in the server's order.
    pub fn entries(&self) -> &[Arc<Entry>] {
        &self.entries
    }

    /// What was listed and is not usable.
    pub fn rejected(&self) -> &[Rejected] {
        &self.rejected
    }
}
