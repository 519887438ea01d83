//! Work items as a screen asks for them and gets them.

use std::sync::Arc;

use crate::clock::Timestamp;

/// Which work items are wanted; what is empty does not matter. Words match from their beginning, capitals or not.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Wanted {
    /// Words of title and body, or a key.
    pub text: String,
    /// With a status that begins so.
    pub status: Option<String>,
    /// Assigned to a handle that begins so.
    pub assignee: Option<String>,
    /// In a project whose key begins so.
    pub project: Option<String>,
    /// With a label that begins so.
    pub label: Option<String>,
    /// What is in the trash, instead of what is not.
    pub trash: bool,
    /// At most so many.
    pub most: usize,
}

/// Work items, what is worked on first, then by priority, then newest first.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Listed {
    /// Those asked for.
    pub items: Vec<Head>,
    /// How many there are.
    pub all: usize,
    /// All projects, by key.
    pub projects: Vec<Project>,
}

/// A project.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Project {
    /// Upper case letters and digits.
    pub key: Arc<str>,
    /// For people.
    pub name: Arc<str>,
}

/// A work item in a list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Head {
    /// `WEB-12`.
    pub key: Arc<str>,
    /// One line.
    pub title: Arc<str>,
    /// A word of the tracker's.
    pub status: Arc<str>,
    /// A word of the tracker's.
    pub priority: &'static str,
    /// The handle of who works on it.
    pub assignee: Option<Arc<str>>,
    /// Free words.
    pub labels: Vec<Arc<str>>,
    /// A day: `2026-12-24`.
    pub due: Option<Arc<str>>,
    /// When it was changed last.
    pub updated: Timestamp,
    /// When it was put into the trash.
    pub removed: Option<Timestamp>,
}

/// A work item and everything that belongs to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Item {
    /// As in a list.
    pub head: Head,
    /// What it is: a word of the tracker's.
    pub kind: Arc<str>,
    /// Fields of the company's own, with what they hold.
    pub fields: Vec<(Arc<str>, Arc<str>)>,
    /// Text; may be empty.
    pub body: Arc<str>,
    /// `seat:release`.
    pub reporter: Arc<str>,
    /// The item above it.
    pub parent: Option<Link>,
    /// Items directly below it, oldest first; bounded.
    pub children: Vec<Link>,
    /// Other items, each with how it stands to this one: `blocks`, `blocked by`; bounded.
    pub links: Vec<(Arc<str>, Link)>,
    /// Counts up with each change.
    pub version: i64,
    /// When it was made.
    pub created: Timestamp,
    /// The last comments, oldest first; bounded.
    pub comments: Vec<Comment>,
    /// Comments before those.
    pub earlier_comments: usize,
    /// The last changes, newest first; bounded.
    pub history: Vec<Change>,
}

/// Another item.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Link {
    /// `WEB-12`.
    pub key: Arc<str>,
    /// One line.
    pub title: Arc<str>,
    /// A word of the tracker's.
    pub status: Arc<str>,
}

/// A comment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Comment {
    /// `seat:release`.
    pub author: Arc<str>,
    /// When.
    pub at: Timestamp,
    /// Text.
    pub body: Arc<str>,
}

/// A change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// When.
    pub at: Timestamp,
    /// `seat:release`.
    pub actor: Arc<str>,
    /// `created`, `updated`, `commented`, …
    pub what: Arc<str>,
    /// Names of fields that changed.
    pub detail: Arc<str>,
}
