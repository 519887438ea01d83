//! Pages as a screen asks for them and gets them.

use std::sync::Arc;

use super::work::Comment;
use crate::clock::Timestamp;

/// Which pages are wanted; what is empty does not matter. Words match from their beginning, capitals or not.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Wanted {
    /// Words of title and text.
    pub text: String,
    /// In a container whose name begins so.
    pub container: Option<String>,
    /// With a label that begins so.
    pub label: Option<String>,
    /// At most so many.
    pub most: usize,
}

/// Pages by container, then by title.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Listed {
    /// Those asked for.
    pub pages: Vec<Head>,
    /// How many there are.
    pub all: usize,
}

/// A page in a list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Head {
    /// What tools call it.
    pub id: Arc<str>,
    /// Where it belongs.
    pub container: Arc<str>,
    /// One line.
    pub title: Arc<str>,
    /// Free words.
    pub labels: Vec<Arc<str>>,
    /// Counts up with each change.
    pub version: i64,
    /// `seat:release`: who wrote this version.
    pub author: Arc<str>,
    /// When it was changed last.
    pub updated: Timestamp,
}

/// A page, whole.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Page {
    /// As in a list, of the version that is shown.
    pub head: Head,
    /// The version that it is at.
    pub newest: i64,
    /// The text of the version that is shown.
    pub body: Arc<str>,
    /// The title of the page above it.
    pub parent: Option<Arc<str>>,
    /// When it was made.
    pub created: Timestamp,
    /// Its versions, newest first; bounded.
    pub versions: Vec<Version>,
    /// How many comments it has before those here.
    pub earlier_comments: usize,
    /// Its last comments, oldest first.
    pub comments: Vec<Comment>,
}

/// A version of a page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Version {
    /// Its number, from 1.
    pub number: i64,
    /// `seat:release`.
    pub author: Arc<str>,
    /// When.
    pub at: Timestamp,
    /// What the author said about it.
    pub message: Option<Arc<str>>,
}
