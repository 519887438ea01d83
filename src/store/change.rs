//! Changing work items, comments, projects and inboxes. Each change leaves its row in the trail and is in the text
//! index at once, all in the job's transaction.

use rusqlite::params;

use super::items::{Comment, Item, Who};
use super::{StoreError, WriteStore};
use crate::clock::Timestamp;

/// Who changes something, and when.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Signed {
    /// Who.
    pub who: Who,
    /// When.
    pub at: Timestamp,
}

/// An item to be made.
#[derive(Clone, PartialEq, Debug)]
pub struct NewItem {
    /// A project that there is.
    pub project: String,
    /// See [`Item`].
    pub title: String,
    /// See [`Item`].
    pub body: String,
    /// See [`Item`].
    pub status: String,
    /// See [`Item`].
    pub priority: i64,
    /// See [`Item`].
    pub assignee: Option<Who>,
    /// See [`Item`].
    pub parent: Option<i64>,
    /// See [`Item`].
    pub labels: Vec<String>,
    /// See [`Item`].
    pub due: Option<String>,
}

/// What is to be different about an item; `None` stays as it is.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ItemChanges {
    /// See [`Item`].
    pub title: Option<String>,
    /// See [`Item`].
    pub body: Option<String>,
    /// See [`Item`].
    pub status: Option<String>,
    /// See [`Item`].
    pub priority: Option<i64>,
    /// See [`Item`].
    pub assignee: Option<Option<Who>>,
    /// See [`Item`].
    pub parent: Option<Option<i64>>,
    /// See [`Item`].
    pub labels: Option<Vec<String>>,
    /// See [`Item`].
    pub due: Option<Option<String>>,
}

/// A row as it is now, and the position that the store is at with it.
#[derive(Clone, PartialEq, Debug)]
pub struct Changed<T> {
    /// The row.
    pub row: T,
    /// See [`super::trail::Change`]; `None` when nothing was different.
    pub position: Option<i64>,
}

impl WriteStore<'_> {
    /// Makes a project, where there is none of this key; else gives it this name. True when it is new.
    pub fn put_project(&self, key: &str, name: &str, at: Timestamp) -> Result<bool, StoreError> {
        let new = !self.has_project(key)?;
        let query =
            "INSERT INTO project (key, name, created) VALUES (?1, ?2, ?3) ON CONFLICT (key) DO UPDATE SET name = ?2";
        self.run(query, params![key, name, at.millis()])?;
        Ok(new)
    }

    /// Makes an item. Its project has to be there.
    pub fn create_item(&self, new: NewItem, by: &Signed) -> Result<Changed<Item>, StoreError> {
        let query = "UPDATE project SET next = next + 1 WHERE key = ?1 RETURNING next - 1";
        let number: i64 = self.read.connection.prepare_cached(query)?.query_row([&new.project], |row| row.get(0))?;
        let mut item = Item {
            id: 0,
            uuid: fresh_uuid()?,
            project: new.project,
            number,
            title: new.title,
            body: new.body,
            status: new.status,
            priority: new.priority,
            assignee: new.assignee,
            reporter: by.who.clone(),
            parent: new.parent,
            labels: new.labels,
            due: new.due,
            version: 1,
            created: by.at,
            updated: by.at,
            removed: None,
        };
        let query = "INSERT INTO item (uuid, project, number, title, body, status, priority, assignee_kind, assignee, \
            reporter_kind, reporter, parent, labels, due, version, created, updated) \
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, 1, ?15, ?15)";
        let assignee = item.assignee.as_ref();
        self.run(
            query,
            params![
                item.uuid,
                item.project,
                item.number,
                item.title,
                item.body,
                item.status,
                item.priority,
                assignee.map(|who| &who.kind),
                assignee.map(|who| &who.id),
                by.who.kind,
                by.who.id,
                item.parent,
                json(&item.labels),
                item.due,
                by.at.millis()
            ],
        )?;
        item.id = self.read.connection.last_insert_rowid();
        self.label(&item)?;
        self.index(&item)?;
        let position = self.note(by, "created", &item, "")?;
        Ok(Changed { row: item, position: Some(position) })
    }

    /// Changes an item. Where nothing is different, nothing is done and no version is made.
    pub fn update_item(&self, item: &Item, changes: ItemChanges, by: &Signed) -> Result<Changed<Item>, StoreError> {
        let mut now = item.clone();
        changes.apply(&mut now);
        let fields = differences(item, &now);
        if fields.is_empty() {
            return Ok(Changed { row: now, position: None });
        }
        now.version += 1;
        now.updated = by.at;
        let query = "UPDATE item SET title = ?2, body = ?3, status = ?4, priority = ?5, assignee_kind = ?6, assignee = ?7, \
            parent = ?8, labels = ?9, due = ?10, version = ?11, updated = ?12 WHERE id = ?1";
        let assignee = now.assignee.as_ref();
        self.run(
            query,
            params![
                now.id,
                now.title,
                now.body,
                now.status,
                now.priority,
                assignee.map(|who| &who.kind),
                assignee.map(|who| &who.id),
                now.parent,
                json(&now.labels),
                now.due,
                now.version,
                by.at.millis()
            ],
        )?;
        if now.labels != item.labels {
            self.label(&now)?;
        }
        if now.removed.is_none() {
            self.unindex(now.id)?;
            self.index(&now)?;
        }
        let position = self.note(by, "updated", &now, &fields.join(" "))?;
        Ok(Changed { row: now, position: Some(position) })
    }

    /// Puts an item into the trash, or takes it out again. Where it is there already, nothing is done.
    pub fn set_removed(&self, item: &Item, removed: bool, by: &Signed) -> Result<Changed<Item>, StoreError> {
        let mut now = item.clone();
        if now.removed.is_some() == removed {
            return Ok(Changed { row: now, position: None });
        }
        now.removed = removed.then_some(by.at);
        now.version += 1;
        now.updated = by.at;
        let query = "UPDATE item SET removed = ?2, version = ?3, updated = ?4 WHERE id = ?1";
        self.run(query, params![now.id, now.removed.map(Timestamp::millis), now.version, by.at.millis()])?;
        if removed {
            self.unindex(now.id)?;
        } else {
            self.index(&now)?;
        }
        let position = self.note(by, if removed { "removed" } else { "restored" }, &now, "")?;
        Ok(Changed { row: now, position: Some(position) })
    }

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

    /// Puts a message into a seat's inbox; its number.
    pub fn send(&self, seat: &str, message: (&str, &str, &str), by: &Signed) -> Result<i64, StoreError> {
        let (kind, subject, body) = message;
        let query = "INSERT INTO inbox (seat, kind, subject, body, sender_kind, sender, created) \
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        self.run(query, params![seat, kind, subject, body, by.who.kind, by.who.id, by.at.millis()])?;
        Ok(self.read.connection.last_insert_rowid())
    }

    /// Marks messages of a seat as read or unread; how many there were.
    pub fn mark(&self, seat: &str, ids: &[i64], read: bool, at: Timestamp) -> Result<usize, StoreError> {
        let seen = read.then(|| at.millis());
        let mut marked = 0;
        for id in ids {
            // What was read earlier keeps its time.
            let query = "UPDATE inbox SET seen = CASE WHEN ?3 IS NULL THEN NULL ELSE coalesce(seen, ?3) END \
                WHERE id = ?1 AND seat = ?2";
            marked += self.run(query, params![id, seat, seen])?;
        }
        Ok(marked)
    }

    fn note(&self, by: &Signed, what: &str, item: &Item, detail: &str) -> Result<i64, StoreError> {
        self.note_at(by, what, (Some(&item.project), Some(item.id)), detail)
    }

    /// A row of the trail; its position.
    pub(super) fn note_at(
        &self,
        by: &Signed,
        what: &str,
        place: (Option<&str>, Option<i64>),
        detail: &str,
    ) -> Result<i64, StoreError> {
        let query = "INSERT INTO change (at, actor_kind, actor, what, project, item, detail) \
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        self.run(query, params![by.at.millis(), by.who.kind, by.who.id, what, place.0, place.1, detail])?;
        Ok(self.read.connection.last_insert_rowid())
    }

    fn index(&self, item: &Item) -> Result<(), StoreError> {
        let query = "INSERT INTO item_text (rowid, title, body, project) VALUES (?1, ?2, ?3, ?4)";
        self.run(query, params![item.id, item.title, item.body, item.project]).map(|_| ())
    }

    fn label(&self, item: &Item) -> Result<(), StoreError> {
        self.run("DELETE FROM item_label WHERE item = ?1", [item.id])?;
        for label in &item.labels {
            self.run("INSERT OR IGNORE INTO item_label (label, item) VALUES (?1, ?2)", params![label, item.id])?;
        }
        Ok(())
    }

    fn unindex(&self, id: i64) -> Result<(), StoreError> {
        self.run("DELETE FROM item_text WHERE rowid = ?1", [id]).map(|_| ())
    }

    pub(super) fn run(&self, query: &str, values: impl rusqlite::Params) -> Result<usize, StoreError> {
        Ok(self.read.connection.prepare_cached(query)?.execute(values)?)
    }
}

impl ItemChanges {
    fn apply(self, item: &mut Item) {
        fn set<T>(place: &mut T, value: Option<T>) {
            if let Some(value) = value {
                *place = value;
            }
        }
        set(&mut item.title, self.title);
        set(&mut item.body, self.body);
        set(&mut item.status, self.status);
        set(&mut item.priority, self.priority);
        set(&mut item.assignee, self.assignee);
        set(&mut item.parent, self.parent);
        set(&mut item.labels, self.labels);
        set(&mut item.due, self.due);
    }
}

fn differences(before: &Item, now: &Item) -> Vec<&'static str> {
    let fields = [
        ("title", before.title != now.title),
        ("body", before.body != now.body),
        ("status", before.status != now.status),
        ("priority", before.priority != now.priority),
        ("assignee", before.assignee != now.assignee),
        ("parent", before.parent != now.parent),
        ("labels", before.labels != now.labels),
        ("due", before.due != now.due),
    ];
    fields.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| name).collect()
}

pub(super) fn json(labels: &[String]) -> String {
    // A list of texts can be written as JSON.
    serde_json::to_string(labels).unwrap_or_else(|_| "[]".to_owned())
}

/// A random UUID of version 4.
pub(super) fn fresh_uuid() -> Result<String, StoreError> {
    let mut bytes = [0_u8; 16];
    let failed = |_| StoreError::Unusable("the system's generator gives no random numbers".to_owned());
    getrandom::fill(&mut bytes).map_err(failed)?;
    Ok(uuid(u128::from_be_bytes(bytes)))
}

fn uuid(random: u128) -> String {
    let version = (random & !(0xf_u128 << 76)) | (0x4_u128 << 76);
    let marked = (version & !(0x3_u128 << 62)) | (0x2_u128 << 62);
    let digits = format!("{marked:032x}");
    let part = |range: std::ops::Range<usize>| digits.get(range).unwrap_or_default();
    format!("{}-{}-{}-{}-{}", part(0..8), part(8..12), part(12..16), part(16..20), part(20..32))
}
