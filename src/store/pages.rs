//! Pages as rows, and every way of reading them. Nothing here changes anything.

use rusqlite::{OptionalExtension as _, Row, params};

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

/// A comment on a page.
#[derive(Clone, PartialEq, Debug)]
pub struct PageComment {
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

    /// Pages, newest first; in one container, below one page, with one label, where they are given.
    pub fn pages(
        &self,
        container: Option<&str>,
        parent: Option<i64>,
        label: Option<&str>,
        limit: i64,
    ) -> Result<Vec<Page>, StoreError> {
        let query = format!(
            "{PAGE} WHERE (?1 IS NULL OR container = ?1) AND (?2 IS NULL OR parent = ?2) \
             AND (?3 IS NULL OR EXISTS (SELECT 1 FROM json_each(labels) WHERE value = ?3)) ORDER BY id DESC LIMIT ?4"
        );
        let mut query = self.connection.prepare_cached(&query)?;
        let rows = query.query_map(params![container, parent, label, limit], page)?;
        Ok(rows.collect::<Result<_, _>>()?)
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

    /// A page's comments, oldest first.
    pub fn page_comments(&self, page: i64, limit: i64) -> Result<Vec<PageComment>, StoreError> {
        let query =
            "SELECT uuid, body, author_kind, author, created FROM page_comment WHERE page = ?1 ORDER BY id LIMIT ?2";
        let mut query = self.connection.prepare_cached(query)?;
        let comment = |row: &Row<'_>| {
            Ok(PageComment {
                uuid: row.get(0)?,
                body: row.get(1)?,
                author: Who { kind: row.get(2)?, id: row.get(3)? },
                created: time(row.get(4)?),
            })
        };
        let rows = query.query_map(params![page, limit], comment)?;
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
