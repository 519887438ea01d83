//! Work items and their comments as rows, and every way of reading them. Nothing here changes anything.

use rusqlite::types::Value;
use rusqlite::{OptionalExtension as _, Row, params, params_from_iter};

use super::{ReadStore, StoreError, text};
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
    /// Items in it that are not in the trash.
    pub items: i64,
}

/// Which items are wanted; what is `None` or empty does not matter.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Filter {
    /// Any of these projects.
    pub projects: Vec<String>,
    /// Any of these words.
    pub statuses: Vec<String>,
    /// None of these words.
    pub not_statuses: Vec<String>,
    /// Exactly this priority.
    pub priority: Option<i64>,
    /// Assigned to this name.
    pub assignee: Option<String>,
    /// Made by this name.
    pub reporter: Option<String>,
    /// Directly below this item.
    pub parent: Option<i64>,
    /// With this label.
    pub label: Option<String>,
    /// In the trash, instead of not.
    pub removed: bool,
    /// Only items before this one.
    pub before: Option<i64>,
    /// Skip so many.
    pub offset: i64,
    /// At most so many.
    pub limit: i64,
}

const ITEM: &str = "SELECT id, uuid, project, number, title, body, status, priority, assignee_kind, assignee, \
    reporter_kind, reporter, parent, labels, due, version, created, updated, removed FROM item";
const COMMENT: &str = "SELECT id, uuid, item, body, author_kind, author, reply_to, created, removed FROM comment";

impl ReadStore<'_> {
    /// The item of this uuid or key, also in the trash.
    pub fn item(&self, name: &str) -> Result<Option<Item>, StoreError> {
        let found =
            match name.rsplit_once('-').and_then(|(project, number)| Some((project, number.parse::<i64>().ok()?))) {
                Some((project, number)) if !project.contains('-') => {
                    let mut query =
                        self.connection.prepare_cached(&format!("{ITEM} WHERE project = ?1 AND number = ?2"))?;
                    query.query_row(params![project.to_ascii_uppercase(), number], item).optional()?
                }
                _ => {
                    let mut query = self.connection.prepare_cached(&format!("{ITEM} WHERE uuid = ?1"))?;
                    query.query_row([name], item).optional()?
                }
            };
        Ok(found)
    }

    /// The item with this number over all projects.
    pub fn item_by_id(&self, id: i64) -> Result<Option<Item>, StoreError> {
        let mut query = self.connection.prepare_cached(&format!("{ITEM} WHERE id = ?1"))?;
        Ok(query.query_row([id], item).optional()?)
    }

    /// Items, newest first.
    pub fn items(&self, filter: &Filter) -> Result<Vec<Item>, StoreError> {
        // Which ones is found in the indexes alone, so that what is skipped is never read.
        let removed = if filter.removed { "NOT NULL" } else { "NULL" };
        let mut query = format!("{ITEM} WHERE id IN (SELECT id FROM item WHERE removed IS {removed}");
        let mut values: Vec<Value> = Vec::new();
        let mut list = |column: &str, not: &str, words: &[String]| {
            if !words.is_empty() {
                let more = ", ?".repeat(words.len() - 1);
                query.extend([" AND ", column, not, " IN (?", &more, ")"]);
                values.extend(words.iter().cloned().map(Value::Text));
            }
        };
        list("project", "", &filter.projects);
        list("status", "", &filter.statuses);
        list("status", " NOT", &filter.not_statuses);
        let text = |text: &Option<String>| text.clone().map(Value::Text);
        let number = |number: Option<i64>| number.map(Value::Integer);
        for (clause, value) in [
            (" AND priority = ?", number(filter.priority)),
            (" AND assignee = ?", text(&filter.assignee)),
            (" AND reporter = ?", text(&filter.reporter)),
            (" AND parent = ?", number(filter.parent)),
            (" AND id IN (SELECT item FROM item_label WHERE label = ?)", text(&filter.label)),
            (" AND id < ?", number(filter.before)),
        ] {
            if let Some(value) = value {
                query.push_str(clause);
                values.push(value);
            }
        }
        query.push_str(" ORDER BY id DESC LIMIT ? OFFSET ?) ORDER BY id DESC");
        values.extend([Value::Integer(filter.limit), Value::Integer(filter.offset)]);
        let mut query = self.connection.prepare_cached(&query)?;
        let rows = query.query_map(params_from_iter(values), item)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Items whose title or body hold all of these words (the last one may be a beginning), newest first. Those in the
    /// trash are not found.
    pub fn search_items(&self, words: &str, projects: &[String], limit: i64) -> Result<Vec<Item>, StoreError> {
        let Some(wanted) = text::query(words, "title body") else { return Ok(Vec::new()) };
        let wanted = match text::any_of("project", projects) {
            Some(places) => format!("{wanted} AND {places}"),
            None => wanted,
        };
        // From the text index alone first: what it finds stands in its own order already.
        let query = format!(
            "{ITEM} WHERE id IN (SELECT rowid FROM item_text WHERE item_text MATCH ?1 ORDER BY rowid DESC LIMIT ?2) \
             ORDER BY id DESC"
        );
        let mut query = self.connection.prepare_cached(&query)?;
        let rows = query.query_map(params![wanted, limit], item)?;
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
        let query = "SELECT key, name, (SELECT count(*) FROM item WHERE project = key AND removed IS NULL) \
            FROM project ORDER BY key";
        let mut query = self.connection.prepare_cached(query)?;
        let project = |row: &Row<'_>| Ok(Project { key: row.get(0)?, name: row.get(1)?, items: row.get(2)? });
        let rows = query.query_map([], project)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Whether there is this project.
    pub fn has_project(&self, key: &str) -> Result<bool, StoreError> {
        let mut query = self.connection.prepare_cached("SELECT 1 FROM project WHERE key = ?1")?;
        Ok(query.exists([key])?)
    }
}

fn item(row: &Row<'_>) -> rusqlite::Result<Item> {
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
