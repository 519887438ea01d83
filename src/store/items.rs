//! Work items and their comments as rows, and every way of reading them. Nothing here changes anything.

use rusqlite::{OptionalExtension as _, Row, params};
use serde_json::{Map, Value as Json};

pub use super::lists::Filter;
use super::{ReadStore, StoreError};
use crate::clock::Timestamp;

/// Somebody: a kind (`seat`, `operator`, `console`; for assignees `agent` or `user`) and a name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Who {
    /// What the name is one of.
    pub kind: String,
    /// A seat's handle, an operator's id.
    pub id: String,
}

impl Who {
    /// Somebody.
    pub fn new(kind: impl Into<String>, id: impl Into<String>) -> Self {
        Self { kind: kind.into(), id: id.into() }
    }
}

/// A work item.
#[derive(Clone, PartialEq, Debug)]
pub struct Item {
    /// Counts up over all projects.
    pub id: i64,
    /// What the connector calls it; unguessable.
    pub uuid: String,
    /// The project's key.
    pub project: String,
    /// Counts up in the project.
    pub number: i64,
    /// One line.
    pub title: String,
    /// Text; may be empty.
    pub body: String,
    /// A word of the tracker's.
    pub status: String,
    /// From 0, none, to 4, urgent.
    pub priority: i64,
    /// Who works on it.
    pub assignee: Option<Who>,
    /// Who made it.
    pub reporter: Who,
    /// The item above it.
    pub parent: Option<i64>,
    /// Free words.
    pub labels: Vec<String>,
    /// A day: `2026-12-24`.
    pub due: Option<String>,
    /// What it is: a word of the catalogue's.
    pub kind: String,
    /// The catalogue's own fields: texts and numbers by name.
    pub fields: Map<String, Json>,
    /// The item that it was merged into.
    pub merged: Option<i64>,
    /// Counts up with each change.
    pub version: i64,
    /// When it was made.
    pub created: Timestamp,
    /// When it was changed last.
    pub updated: Timestamp,
    /// When it was put into the trash.
    pub removed: Option<Timestamp>,
}

impl Item {
    /// `ACME-12`.
    pub fn key(&self) -> String {
        format!("{}-{}", self.project, self.number)
    }
}

/// A comment on a work item.
#[derive(Clone, PartialEq, Debug)]
pub struct Comment {
    /// Counts up over all items.
    pub id: i64,
    /// What tools call it.
    pub uuid: String,
    /// Its item.
    pub item: i64,
    /// Text.
    pub body: String,
    /// Who wrote it.
    pub author: Who,
    /// The comment that it answers.
    pub reply_to: Option<i64>,
    /// When it was written.
    pub created: Timestamp,
    /// When it was removed.
    pub removed: Option<Timestamp>,
}

/// A project.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Project {
    /// Upper case letters and digits.
    pub key: String,
    /// For people.
    pub name: String,
    /// What it is for; may be empty.
    pub about: String,
    /// The handle of the seat that leads it.
    pub lead: Option<String>,
}

/// How two items stand to each other, seen from one of them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Link {
    /// `blocks`, `relates` or `duplicates`.
    pub kind: String,
    /// True when it is the other item that blocks or duplicates this one.
    pub reversed: bool,
    /// The other item.
    pub other: i64,
}

pub(super) const ITEM: &str = "SELECT id, uuid, project, number, title, body, status, priority, assignee_kind, \
    assignee, reporter_kind, reporter, parent, labels, due, version, created, updated, removed, type, fields, merged \
    FROM item";
const COMMENT: &str = "SELECT id, uuid, item, body, author_kind, author, reply_to, created, removed FROM comment";

impl ReadStore<'_> {
    /// The item of this uuid or key, also in the trash. What was moved is found by the keys that it had, too.
    pub fn item(&self, name: &str) -> Result<Option<Item>, StoreError> {
        let parsed = name.rsplit_once('-').and_then(|(project, number)| Some((project, number.parse::<i64>().ok()?)));
        let Some((project, number)) = parsed.filter(|(project, _)| !project.contains('-')) else {
            let mut query = self.connection.prepare_cached(&format!("{ITEM} WHERE uuid = ?1"))?;
            return Ok(query.query_row([name], item).optional()?);
        };
        let project = project.to_ascii_uppercase();
        let mut query = self.connection.prepare_cached(&format!("{ITEM} WHERE project = ?1 AND number = ?2"))?;
        if let Some(found) = query.query_row(params![project, number], item).optional()? {
            return Ok(Some(found));
        }
        let earlier = "SELECT item FROM item_key WHERE project = ?1 AND number = ?2";
        let mut query = self.connection.prepare_cached(earlier)?;
        let moved: Option<i64> = query.query_row(params![project, number], |row| row.get(0)).optional()?;
        moved.map_or(Ok(None), |id| self.item_by_id(id))
    }

    /// The item with this number over all projects.
    pub fn item_by_id(&self, id: i64) -> Result<Option<Item>, StoreError> {
        let mut query = self.connection.prepare_cached(&format!("{ITEM} WHERE id = ?1"))?;
        Ok(query.query_row([id], item).optional()?)
    }

    /// The links of an item, in both directions.
    pub fn links(&self, of: i64) -> Result<Vec<Link>, StoreError> {
        let query = "SELECT kind, 0, other FROM item_link WHERE item = ?1 \
            UNION ALL SELECT kind, 1, item FROM item_link WHERE other = ?1 ORDER BY 1, 2, 3";
        let mut query = self.connection.prepare_cached(query)?;
        let link = |row: &Row<'_>| Ok(Link { kind: row.get(0)?, reversed: row.get(1)?, other: row.get(2)? });
        let rows = query.query_map([of], link)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// An item's comments, oldest first, after the comment `after`; without the removed ones.
    pub fn comments(&self, of: i64, after: i64, limit: i64) -> Result<Vec<Comment>, StoreError> {
        let query = format!("{COMMENT} WHERE item = ?1 AND id > ?2 AND removed IS NULL ORDER BY id LIMIT ?3");
        let mut query = self.connection.prepare_cached(&query)?;
        let rows = query.query_map(params![of, after, limit], comment)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The comment of this uuid, also a removed one.
    pub fn comment(&self, uuid: &str) -> Result<Option<Comment>, StoreError> {
        let mut query = self.connection.prepare_cached(&format!("{COMMENT} WHERE uuid = ?1"))?;
        Ok(query.query_row([uuid], comment).optional()?)
    }

    /// All projects, by key.
    pub fn projects(&self) -> Result<Vec<Project>, StoreError> {
        let mut query = self.connection.prepare_cached("SELECT key, name, about, lead FROM project ORDER BY key")?;
        let rows = query.query_map([], project)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The project of this key.
    pub fn project(&self, key: &str) -> Result<Option<Project>, StoreError> {
        let mut query = self.connection.prepare_cached("SELECT key, name, about, lead FROM project WHERE key = ?1")?;
        Ok(query.query_row([key], project).optional()?)
    }

    /// How many items of a project are at each status; those in the trash do not count.
    pub fn states(&self, project: &str) -> Result<Vec<(String, i64)>, StoreError> {
        let query = "SELECT status, count(*) FROM item WHERE project = ?1 AND removed IS NULL GROUP BY status";
        let mut query = self.connection.prepare_cached(query)?;
        let rows = query.query_map([project], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Whether there is this project.
    pub fn has_project(&self, key: &str) -> Result<bool, StoreError> {
        let mut query = self.connection.prepare_cached("SELECT 1 FROM project WHERE key = ?1")?;
        Ok(query.exists([key])?)
    }
}

fn project(row: &Row<'_>) -> rusqlite::Result<Project> {
    Ok(Project { key: row.get(0)?, name: row.get(1)?, about: row.get(2)?, lead: row.get(3)? })
}

pub(super) fn item(row: &Row<'_>) -> rusqlite::Result<Item> {
    let assignee: (Option<String>, Option<String>) = (row.get(8)?, row.get(9)?);
    Ok(Item {
        id: row.get(0)?,
        uuid: row.get(1)?,
        project: row.get(2)?,
        number: row.get(3)?,
        title: row.get(4)?,
        body: row.get(5)?,
        status: row.get(6)?,
        priority: row.get(7)?,
        assignee: assignee.0.zip(assignee.1).map(|(kind, id)| Who { kind, id }),
        reporter: Who { kind: row.get(10)?, id: row.get(11)? },
        parent: row.get(12)?,
        labels: labels(&row.get::<_, String>(13)?),
        due: row.get(14)?,
        version: row.get(15)?,
        created: time(row.get(16)?),
        updated: time(row.get(17)?),
        removed: row.get::<_, Option<i64>>(18)?.map(time),
        kind: row.get(19)?,
        // Kept as a JSON object that we wrote.
        fields: serde_json::from_str(&row.get::<_, String>(20)?).unwrap_or_default(),
        merged: row.get(21)?,
    })
}

fn comment(row: &Row<'_>) -> rusqlite::Result<Comment> {
    Ok(Comment {
        id: row.get(0)?,
        uuid: row.get(1)?,
        item: row.get(2)?,
        body: row.get(3)?,
        author: Who { kind: row.get(4)?, id: row.get(5)? },
        reply_to: row.get(6)?,
        created: time(row.get(7)?),
        removed: row.get::<_, Option<i64>>(8)?.map(time),
    })
}

/// Labels are kept as a JSON list that we wrote.
pub(super) fn labels(json: &str) -> Vec<String> {
    serde_json::from_str(json).unwrap_or_default()
}

pub(super) const fn time(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}
