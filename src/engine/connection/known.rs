//! What a connection remembers of the tools it listed: enough to tell whether one is still the same.
//!
//! [`super::tools`] fills it; [`super::Connection::call`] compares before a refused call is sent again on a new
//! session, and [`super::call`] asks which arguments an endpoint wants among the headers.

use std::collections::HashMap;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use crate::tool::mirror::Mirrored;

/// The tools of one complete listing, by their names on the wire.
#[derive(Clone, Default, Debug)]
pub(super) struct KnownTools(HashMap<Arc<str>, KnownTool>);

/// One of them.
#[derive(Clone, Debug)]
pub(super) struct KnownTool {
    /// Stands for the whole definition as the server sent it: what is not byte for byte the same counts as changed.
    pub definition: Definition,
    /// Arguments that go among the headers as well.
    pub mirrored: Arc<[Mirrored]>,
}

/// A digest of a tool's definition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Definition([u8; 32]);

impl KnownTools {
    /// Remembers the first tool of a name, like the listing does.
    pub fn note(&mut self, name: &Arc<str>, item: &str, mirrored: Vec<Mirrored>) {
        let definition = Definition(Sha256::digest(item).into());
        self.0.entry(name.clone()).or_insert_with(|| KnownTool { definition, mirrored: mirrored.into() });
    }

    /// The tool of this name.
    pub fn get(&self, name: &str) -> Option<&KnownTool> {
        self.0.get(name)
    }

    /// Its definition.
    pub fn definition(&self, name: &str) -> Option<Definition> {
        self.get(name).map(|tool| tool.definition)
    }
}
