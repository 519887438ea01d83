//! Pages as rows, and every way of reading them. Nothing here changes anything.

use rusqlite::types::Value;
use rusqlite::{OptionalExtension as _, Row, params, params_from_iter};

use super::items::{Who, labels, time};
use super::{ReadStore, StoreError, text};
use crate::clock::Timestamp;

/// A page: a text with a title that people and agents keep together.
#[derive(Clone, PartialEq, Debug)]
pub struct Page {
    /// Counts up.
    pub id: i64,
    /// What tools call it.
    pub uuid: String,
    /// Where it belongs: a free word.
    pub container: String,
    /// One line.
    pub title: String,
    /// Text.
    pub body: String,
    /// Free words.
    pub labels: Vec<String>,
    /// The page above it.
    pub parent: Option<i64>,
    /// Who wrote this version.
    pub author: Who,
    /// What the author said about this version.
    pub message: Option<String>,
    /// Counts up with each change.
    pub version: i64,
    /// When it was made.
    pub created: Timestamp,
    /// When it was changed last.
    pub updated: Timestamp,
}

/// Which pages are wanted; what is `None` does not matter.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PageFilter {
    /// In this container.
    pub container: Option<String>,
    /// Directly below this page.
    pub parent: Option<i64>,
    /// With this label.
    pub label: Option<String>,
    /// Whose title holds all of these words.
    pub title: Option<String>,
    /// Only pages before this one.
    pub before: Option<i64>,
    /// At most so many.
    pub limit: i64,
}

/// A comment on a page.
#[derive(Clone, PartialEq, Debug)]
pub struct PageComment {
    /// Counts up over all pages.
    pub id: i64,
    /// What tools call it.
    pub uuid: String,
    /// Text.
    pub body: String,
    /// Who wrote it.
    pub author: Who,
    /// When.
    pub created: Timestamp,
}

const PAGE: &str = "SELECT id, uuid, container, title, body, labels, parent, author_kind, author, message, version, \
    created, updated FROM page";

impl ReadStore<'_> {
    /// The page of this uuid.
    pub fn page(&self, uuid: &str) -> Result<Option<Page>, StoreError> {
        let mut query = self.connection.prepare_cached(&format!("{PAGE} WHERE uuid = ?1"))?;
        Ok(query.query_row([uuid], page).optional()?)
    }

    /// Pages, newest first.
    pub fn pages(&self, filter: &PageFilter) -> Result<Vec<Page>, StoreError> {
        let mut query = format!("{PAGE} WHERE true");
        let mut values: Vec<Value> = Vec::new();
        let text = |text: &Option<String>| text.clone().map(Value::Text);
        let titled =
            filter.title.as_deref().map(|words| text::query(words, "title").unwrap_or_else(|| "\"\"".to_owned()));
        for (clause, value) in [
            (" AND container = ?", text(&filter.container)),
            (" AND parent = ?", filter.parent.map(Value::Integer)),
            (" AND id IN (SELECT page FROM page_label WHERE label = ?)", text(&filter.label)),
            (" AND id IN (SELECT rowid FROM page_text WHERE page_text MATCH ?)", titled.map(Value::Text)),
            (" AND id < ?", filter.before.map(Value::Integer)),
        ] {
            if let Some(value) = value {
                query.push_str(clause);
                values.push(value);
            }
        }
        query.push_str(" ORDER BY id DESC LIMIT ?");
        values.push(Value::Integer(filter.limit));
        let mut query = self.connection.prepare_cached(&query)?;
        let rows = query.query_map(params_from_iter(values), page)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The page with this number.
    pub fn page_by_id(&self, id: i64) -> Result<Option<Page>, StoreError> {
        let mut query = self.connection.prepare_cached(&format!("{PAGE} WHERE id = ?1"))?;
        Ok(query.query_row([id], page).optional()?)
    }

    /// A page as it was at one of its versions.
    pub fn page_at(&self, now: &Page, version: i64) -> Result<Option<Page>, StoreError> {
        let query = "SELECT title, body, labels, author_kind, author, message, created FROM page_version \
            WHERE page = ?1 AND version = ?2";
        let mut query = self.connection.prepare_cached(query)?;
        let then = |row: &Row<'_>| {
            Ok(Page {
                title: row.get(0)?,
                body: row.get(1)?,
                labels: labels(&row.get::<_, String>(2)?),
                author: Who { kind: row.get(3)?, id: row.get(4)? },
                message: row.get(5)?,
                updated: time(row.get(6)?),
                version,
                ..now.clone()
            })
        };
        Ok(query.query_row(params![now.id, version], then).optional()?)
    }

    /// Pages whose title or body hold all of these words, newest first.
    pub fn search_pages(&self, words: &str, limit: i64) -> Result<Vec<Page>, StoreError> {
        let Some(wanted) = text::query(words, "title body") else { return Ok(Vec::new()) };
        let query = format!(
            "{PAGE} WHERE id IN (SELECT rowid FROM page_text WHERE page_text MATCH ?1 ORDER BY rowid DESC LIMIT ?2) \
             ORDER BY id DESC"
        );
        let mut query = self.connection.prepare_cached(&query)?;
        let rows = query.query_map(params![wanted, limit], page)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// A page's comments, oldest first, after the comment `after`.
    pub fn page_comments(&self, page: i64, after: i64, limit: i64) -> Result<Vec<PageComment>, StoreError> {
        let query = "SELECT id, uuid, body, author_kind, author, created FROM page_comment \
            WHERE page = ?1 AND id > ?2 ORDER BY id LIMIT ?3";
        let mut query = self.connection.prepare_cached(query)?;
        let comment = |row: &Row<'_>| {
            Ok(PageComment {
                id: row.get(0)?,
                uuid: row.get(1)?,
                body: row.get(2)?,
                author: Who { kind: row.get(3)?, id: row.get(4)? },
                created: time(row.get(5)?),
            })
        };
        let rows = query.query_map(params![page, after, limit], comment)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

fn page(row: &Row<'_>) -> rusqlite::Result<Page> {
    Ok(Page {
        id: row.get(0)?,
        uuid: row.get(1)?,
        container: row.get(2)?,
        title: row.get(3)?,
        body: row.get(4)?,
        labels: labels(&row.get::<_, String>(5)?),
        parent: row.get(6)?,
        author: Who { kind: row.get(7)?, id: row.get(8)? },
        message: row.get(9)?,
        version: row.get(10)?,
        created: time(row.get(11)?),
        updated: time(row.get(12)?),
    })
}
