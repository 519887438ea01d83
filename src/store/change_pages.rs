//! Changing pages: every version of a page is kept.

use rusqlite::params;

use super::change::{Changed, Signed};
use super::encode::{fresh_uuid, words};
use super::pages::Page;
use super::{StoreError, WriteStore};

/// A page to be made.
#[derive(Clone, PartialEq, Debug)]
pub struct NewPage {
    /// See [`Page`].
    pub container: String,
    /// See [`Page`].
    pub title: String,
    /// See [`Page`].
    pub body: String,
    /// See [`Page`].
    pub labels: Vec<String>,
    /// See [`Page`].
    pub parent: Option<i64>,
    /// See [`Page`].
    pub message: Option<String>,
}

/// What is to be different about a page; `None` stays as it is.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct PageChanges {
    /// See [`Page`].
    pub title: Option<String>,
    /// See [`Page`].
    pub body: Option<String>,
    /// See [`Page`].
    pub labels: Option<Vec<String>>,
    /// What the author says about the version that this makes.
    pub message: Option<String>,
}

impl WriteStore<'_> {
    /// Makes a page.
    pub fn create_page(&self, new: NewPage, by: &Signed) -> Result<Changed<Page>, StoreError> {
        let mut page = Page {
            id: 0,
            uuid: fresh_uuid()?,
            container: new.container,
            title: new.title,
            body: new.body,
            labels: new.labels,
            parent: new.parent,
            author: by.who.clone(),
            message: new.message,
            version: 1,
            created: by.at,
            updated: by.at,
        };
        let query = "INSERT INTO page (uuid, container, title, body, labels, parent, author_kind, author, message, \
            created, updated) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?10)";
        self.run(
            query,
            params![
                page.uuid,
                page.container,
                page.title,
                page.body,
                words(&page.labels),
                page.parent,
                by.who.kind,
                by.who.id,
                page.message,
                by.at.millis()
            ],
        )?;
        page.id = self.connection.last_insert_rowid();
        self.keep(page, "page created")
    }

    /// Changes a page; the version before is kept. Where nothing is different, nothing is done. What the author says
    /// about the version is no difference by itself.
    pub fn save_page(&self, page: &Page, changes: PageChanges, by: &Signed) -> Result<Changed<Page>, StoreError> {
        let mut now = page.clone();
        now.title = changes.title.unwrap_or(now.title);
        now.body = changes.body.unwrap_or(now.body);
        now.labels = changes.labels.unwrap_or(now.labels);
        if now == *page {
            return Ok(Changed { row: now, position: None });
        }
        now.message = changes.message;
        now.version += 1;
        now.updated = by.at;
        now.author = by.who.clone();
        let query = "UPDATE page SET title = ?2, body = ?3, version = ?4, updated = ?5, author_kind = ?6, author = ?7, \
            labels = ?8, message = ?9 WHERE id = ?1";
        let labels = words(&now.labels);
        let (at, Signed { who, .. }) = (by.at.millis(), by);
        self.run(query, params![now.id, now.title, now.body, now.version, at, who.kind, who.id, labels, now.message])?;
        self.run("DELETE FROM page_text WHERE rowid = ?1", [now.id])?;
        self.keep(now, "page updated")
    }

    /// Writes a comment on a page; its uuid and the position.
    pub fn add_page_comment(&self, page: &Page, body: &str, by: &Signed) -> Result<(String, i64), StoreError> {
        let uuid = fresh_uuid()?;
        let query = "INSERT INTO page_comment (uuid, page, body, author_kind, author, created) \
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        self.run(query, params![uuid, page.id, body, by.who.kind, by.who.id, by.at.millis()])?;
        let position = self.note_at(by, "page commented", (None, None), (&page.uuid, None))?;
        Ok((uuid, position))
    }

    /// The version as it is now: kept, in the text index, in the trail.
    fn keep(&self, page: Page, what: &str) -> Result<Changed<Page>, StoreError> {
        let by = &Signed { who: page.author.clone(), at: page.updated };
        let query = "INSERT INTO page_version (page, version, title, body, author_kind, author, created, labels, message) \
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
        let (at, labels) = (by.at.millis(), words(&page.labels));
        let Page { id, version, title, body, message, .. } = &page;
        self.run(query, params![id, version, title, body, by.who.kind, by.who.id, at, labels, message])?;
        self.run("DELETE FROM page_label WHERE page = ?1", [page.id])?;
        for label in &page.labels {
            self.run("INSERT OR IGNORE INTO page_label (label, page) VALUES (?1, ?2)", params![label, page.id])?;
        }
        let query = "INSERT INTO page_text (rowid, title, body) VALUES (?1, ?2, ?3)";
        self.run(query, params![page.id, page.title, page.body])?;
        let position = self.note_at(by, what, (None, None), (&page.uuid, None))?;
        Ok(Changed { row: page, position: Some(position) })
    }
}
