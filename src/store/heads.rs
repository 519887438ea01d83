//! Rows without their texts, as a screen lists them: filtered by beginnings of words, in an order for people, with how
//! many there are. Nothing here changes anything.

use rusqlite::types::Value;
use rusqlite::{Params, Row, params, params_from_iter};

use super::items::{Item, Who, labels, time};
use super::{ReadStore, StoreError, text};
use crate::clock::Timestamp;

/// An item in a list of a screen.
#[derive(Clone, PartialEq, Debug)]
pub struct ItemHead {
    /// See [`Item`].
    pub project: String,
    /// See [`Item`].
    pub number: i64,
    /// See [`Item`].
    pub title: String,
    /// See [`Item`].
    pub status: String,
    /// See [`Item`].
    pub priority: i64,
    /// The name of who works on it.
    pub assignee: Option<String>,
    /// See [`Item`].
    pub labels: Vec<String>,
    /// See [`Item`].
    pub due: Option<String>,
    /// See [`Item`].
    pub updated: Timestamp,
    /// See [`Item`].
    pub removed: Option<Timestamp>,
}

/// A page in a list of a screen.
#[derive(Clone, PartialEq, Debug)]
pub struct PageHead {
    /// See [`super::pages::Page`].
    pub uuid: String,
    /// See [`super::pages::Page`].
    pub container: String,
    /// See [`super::pages::Page`].
    pub title: String,
    /// See [`super::pages::Page`].
    pub labels: Vec<String>,
    /// See [`super::pages::Page`].
    pub version: i64,
    /// See [`super::pages::Page`].
    pub author: Who,
    /// See [`super::pages::Page`].
    pub updated: Timestamp,
}

/// A kept version of a page; its text only where it was asked for.
#[derive(Clone, PartialEq, Debug)]
pub struct PageVersion {
    /// From 1.
    pub version: i64,
    /// Its title.
    pub title: String,
    /// Its text.
    pub body: Option<String>,
    /// Who wrote it.
    pub author: Who,
    /// What the author said about it.
    pub message: Option<String>,
    /// When.
    pub created: Timestamp,
}

/// What a list is to hold; `None` and empty do not matter. All of it are beginnings of words, capitals or not.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Beginnings<'w> {
    /// Words of title and text, or an item's key.
    pub text: &'w str,
    /// Of the status.
    pub status: Option<&'w str>,
    /// Of the name of who works on it.
    pub assignee: Option<&'w str>,
    /// Of the project's key, or the container's name.
    pub place: Option<&'w str>,
    /// Of a label.
    pub label: Option<&'w str>,
    /// In the trash, instead of not.
    pub removed: bool,
}

const HEAD: &str =
    "SELECT project, number, title, status, priority, assignee, labels, due, updated, removed FROM item WHERE ";
/// What is worked on first; what is over last, and what nobody here knows in between.
const ORDER: &str = "CASE status WHEN 'in_progress' THEN 0 WHEN 'in_review' THEN 1 WHEN 'todo' THEN 2 \
    WHEN 'done' THEN 4 WHEN 'cancelled' THEN 5 WHEN 'closed' THEN 6 ELSE 3 END, priority DESC, id DESC";
const PAGE_HEAD: &str = "SELECT uuid, container, title, labels, version, author_kind, author, updated FROM page WHERE ";

/// A condition being written, with its values.
struct Where {
    text: String,
    values: Vec<Value>,
}

impl Where {
    fn new(first: &str) -> Self {
        Self { text: first.to_owned(), values: Vec::new() }
    }

    fn and(&mut self, clause: &str, values: impl IntoIterator<Item = String>) {
        self.text.push_str(" AND ");
        self.text.push_str(clause);
        self.values.extend(values.into_iter().map(Value::Text));
    }

    fn begins(&mut self, clause: &str, beginning: Option<&str>) {
        if let Some(beginning) = beginning {
            self.and(clause, [pattern(beginning, "")]);
        }
    }
}

/// `text` as it is, for `LIKE`, with anything behind it.
fn pattern(text: &str, before: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
    format!("{before}{escaped}%")
}

impl ReadStore<'_> {
    /// Items without their texts, what is worked on first, then by priority, then newest first; and how many there are.
    pub fn item_heads(&self, wanted: &Beginnings<'_>, most: usize) -> Result<(Vec<ItemHead>, usize), StoreError> {
        let mut filter = Where::new(if wanted.removed { "removed IS NOT NULL" } else { "removed IS NULL" });
        filter.begins("status LIKE ? ESCAPE '\\'", wanted.status);
        filter.begins("assignee LIKE ? ESCAPE '\\'", wanted.assignee);
        filter.begins("project LIKE ? ESCAPE '\\'", wanted.place);
        let label = "id IN (SELECT item FROM item_label WHERE label LIKE ? ESCAPE '\\')";
        filter.begins(label, wanted.label);
        let key = || wanted.text.trim().to_ascii_uppercase();
        match text::query(wanted.text, "title body") {
            _ if wanted.text.trim().is_empty() => {}
            // What is in the trash is not in the text index.
            Some(_) if wanted.removed => {
                let clause = "(title LIKE ? ESCAPE '\\' OR project || '-' || number = ?)";
                filter.and(clause, [pattern(wanted.text.trim(), "%"), key()]);
            }
            Some(query) => {
                let clause = "(id IN (SELECT rowid FROM item_text WHERE item_text MATCH ?) \
                    OR project || '-' || number = ?)";
                filter.and(clause, [query, key()]);
            }
            None => filter.and("0", []),
        }
        let all = self.count("item", &filter)?;
        let query = format!("{HEAD}{} ORDER BY {ORDER} LIMIT {most}", filter.text);
        Ok((self.list(&query, params_from_iter(filter.values), item_head)?, all))
    }

    /// Items directly below one, oldest first, without those in the trash.
    pub fn children(&self, of: &Item, most: usize) -> Result<Vec<ItemHead>, StoreError> {
        let query = format!("{HEAD} parent = ?1 AND removed IS NULL ORDER BY id LIMIT {most}");
        self.list(&query, [of.id], item_head)
    }

    /// How many comments an item has, without the removed ones, and the id of the one before the last `most`.
    pub fn comment_count(&self, of: i64, most: usize) -> Result<(usize, i64), StoreError> {
        self.count_and_before("comment WHERE item = ?1 AND removed IS NULL", of, most)
    }

    /// The same of a page.
    pub fn page_comment_count(&self, of: i64, most: usize) -> Result<(usize, i64), StoreError> {
        self.count_and_before("page_comment WHERE page = ?1", of, most)
    }

    fn count_and_before(&self, rows: &str, of: i64, most: usize) -> Result<(usize, i64), StoreError> {
        let query = format!("SELECT count(*), (SELECT id FROM {rows} ORDER BY id DESC LIMIT 1 OFFSET ?2) FROM {rows}");
        let mut query = self.connection.prepare_cached(&query)?;
        let skip = i64::try_from(most).unwrap_or(i64::MAX);
        let read = |row: &Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, Option<i64>>(1)?));
        let (count, before) = query.query_row(params![of, skip], read)?;
        Ok((usize::try_from(count).unwrap_or(0), before.unwrap_or(0)))
    }

    /// Pages without their texts, by container, then by title; and how many there are.
    pub fn page_heads(&self, wanted: &Beginnings<'_>, most: usize) -> Result<(Vec<PageHead>, usize), StoreError> {
        let mut filter = Where::new("1");
        filter.begins("container LIKE ? ESCAPE '\\'", wanted.place);
        let label = "EXISTS (SELECT 1 FROM json_each(labels) WHERE value LIKE ? ESCAPE '\\')";
        filter.begins(label, wanted.label);
        match text::query(wanted.text, "title body") {
            _ if wanted.text.trim().is_empty() => {}
            Some(query) => filter.and("id IN (SELECT rowid FROM page_text WHERE page_text MATCH ?)", [query]),
            None => filter.and("0", []),
        }
        let all = self.count("page", &filter)?;
        let order = "container COLLATE NOCASE, container, title COLLATE NOCASE, id";
        let query = format!("{PAGE_HEAD}{} ORDER BY {order} LIMIT {most}", filter.text);
        Ok((self.list(&query, params_from_iter(filter.values), page_head)?, all))
    }

    /// The last versions of a page, newest first, without their texts.
    pub fn page_versions(&self, page: i64, most: usize) -> Result<Vec<PageVersion>, StoreError> {
        let query = format!(
            "SELECT version, title, NULL, author_kind, author, created, message FROM page_version WHERE page = ?1 \
             ORDER BY version DESC LIMIT {most}"
        );
        self.list(&query, [page], page_version)
    }

    /// One version of a page with its text.
    pub fn page_version(&self, page: i64, version: i64) -> Result<Option<PageVersion>, StoreError> {
        let query = "SELECT version, title, body, author_kind, author, created, message FROM page_version \
            WHERE page = ?1 AND version = ?2";
        Ok(self.list(query, [page, version], page_version)?.pop())
    }

    /// The title of the page of this number.
    pub fn page_title(&self, page: i64) -> Result<Option<String>, StoreError> {
        Ok(self.list("SELECT title FROM page WHERE id = ?1", [page], |row| row.get(0))?.pop())
    }

    fn count(&self, table: &str, filter: &Where) -> Result<usize, StoreError> {
        let query = format!("SELECT count(*) FROM {table} WHERE {}", filter.text);
        let mut query = self.connection.prepare_cached(&query)?;
        let count: i64 = query.query_row(params_from_iter(filter.values.iter()), |row| row.get(0))?;
        Ok(usize::try_from(count).unwrap_or(0))
    }

    fn list<T>(
        &self,
        query: &str,
        values: impl Params,
        read: fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let mut query = self.connection.prepare_cached(query)?;
        let rows = query.query_map(values, read)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

fn item_head(row: &Row<'_>) -> rusqlite::Result<ItemHead> {
    Ok(ItemHead {
        project: row.get(0)?,
        number: row.get(1)?,
        title: row.get(2)?,
        status: row.get(3)?,
        priority: row.get(4)?,
        assignee: row.get(5)?,
        labels: labels(&row.get::<_, String>(6)?),
        due: row.get(7)?,
        updated: time(row.get(8)?),
        removed: row.get::<_, Option<i64>>(9)?.map(time),
    })
}

fn page_head(row: &Row<'_>) -> rusqlite::Result<PageHead> {
    Ok(PageHead {
        uuid: row.get(0)?,
        container: row.get(1)?,
        title: row.get(2)?,
        labels: labels(&row.get::<_, String>(3)?),
        version: row.get(4)?,
        author: Who { kind: row.get(5)?, id: row.get(6)? },
        updated: time(row.get(7)?),
    })
}

fn page_version(row: &Row<'_>) -> rusqlite::Result<PageVersion> {
    Ok(PageVersion {
        version: row.get(0)?,
        title: row.get(1)?,
        body: row.get(2)?,
        author: Who { kind: row.get(3)?, id: row.get(4)? },
        created: time(row.get(5)?),
        message: row.get(6)?,
    })
}
