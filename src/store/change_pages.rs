//! Changing pages: every version of a page is kept.

use rusqlite::params;

use super::change::{Changed, Signed, fresh_uuid, json};
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
                json(&page.labels),
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

    /// Puts another title or text into a page; the version before is kept.
    pub fn save_page(
        &self,
        page: &Page,
        title: Option<String>,
        body: Option<String>,
        by: &Signed,
    ) -> Result<Changed<Page>, StoreError> {
        let mut now = page.clone();
        now.title = title.unwrap_or(now.title);
        now.body = body.unwrap_or(now.body);
        if now == *page {
            return Ok(Changed { row: now, position: None });
        }
        now.version += 1;
        now.updated = by.at;
        now.author = by.who.clone();
        let query = "UPDATE page SET title = ?2, body = ?3, version = ?4, updated = ?5, author_kind = ?6, author = ?7 \
            WHERE id = ?1";
        self.run(query, params![now.id, now.title, now.body, now.version, by.at.millis(), by.who.kind, by.who.id])?;
        self.run("DELETE FROM page_text WHERE rowid = ?1", [now.id])?;
        self.keep(now, "page updated")
    }

    /// Writes a comment on a page; its uuid and the position.
    pub fn add_page_comment(&self, page: &Page, body: &str, by: &Signed) -> Result<(String, i64), StoreError> {
        let uuid = fresh_uuid()?;
        let query = "INSERT INTO page_comment (uuid, page, body, author_kind, author, created) \
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        self.run(query, params![uuid, page.id, body, by.who.kind, by.who.id, by.at.millis()])?;
        let position = self.note_at(by, "page commented", (None, None), &page.uuid)?;
        Ok((uuid, position))
    }

    /// The version as it is now: kept, in the text index, in the trail.
    fn keep(&self, page: Page, what: &str) -> Result<Changed<Page>, StoreError> {
        let by = &Signed { who: page.author.clone(), at: page.updated };
        let query = "INSERT INTO page_version (page, version, title, body, author_kind, author, created) \
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        self.run(query, params![page.id, page.version, page.title, page.body, by.who.kind, by.who.id, by.at.millis()])?;
        let query = "INSERT INTO page_text (rowid, title, body) VALUES (?1, ?2, ?3)";
        self.run(query, params![page.id, page.title, page.body])?;
        let position = self.note_at(by, what, (None, None), &page.uuid)?;
        Ok(Changed { row: page, position: Some(position) })
    }
}
