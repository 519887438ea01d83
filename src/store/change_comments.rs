//! Writing and removing comments on work items.

use rusqlite::params;

use super::change::{Changed, Signed};
use super::encode::fresh_uuid;
use super::items::{Comment, Item};
use super::{StoreError, WriteStore};

impl WriteStore<'_> {
    /// Writes a comment.
    pub fn add_comment(
        &self,
        item: &Item,
        body: &str,
        reply_to: Option<i64>,
        by: &Signed,
    ) -> Result<Changed<Comment>, StoreError> {
        let uuid = fresh_uuid()?;
        let query = "INSERT INTO comment (uuid, item, body, author_kind, author, reply_to, created) \
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        self.run(query, params![uuid, item.id, body, by.who.kind, by.who.id, reply_to, by.at.millis()])?;
        let id = self.read.connection.last_insert_rowid();
        let position = self.note(by, "commented", item, &uuid)?;
        let row = Comment {
            id,
            uuid,
            item: item.id,
            body: body.to_owned(),
            author: by.who.clone(),
            reply_to,
            created: by.at,
            removed: None,
        };
        Ok(Changed { row, position: Some(position) })
    }

    /// Removes a comment. Where it is removed already, nothing is done.
    pub fn remove_comment(&self, comment: &Comment, item: &Item, by: &Signed) -> Result<Changed<Comment>, StoreError> {
        let mut now = comment.clone();
        if now.removed.is_some() {
            return Ok(Changed { row: now, position: None });
        }
        now.removed = Some(by.at);
        self.run("UPDATE comment SET removed = ?2 WHERE id = ?1", params![now.id, by.at.millis()])?;
        let position = self.note(by, "comment removed", item, &now.uuid)?;
        Ok(Changed { row: now, position: Some(position) })
    }
}
