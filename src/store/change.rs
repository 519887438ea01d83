//! Changing work items and projects. Each change leaves its row in the trail and is in the text index at once, all in
//! the job's transaction.

use rusqlite::params;
use serde_json::{Map, Value};

use super::encode::{fresh_uuid, object, words};
use super::items::{Item, Project, Who};
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
#[derive(Clone, PartialEq, Debug, Default)]
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
    /// See [`Item`]; `task` where it is empty.
    pub kind: String,
    /// See [`Item`].
    pub fields: Map<String, Value>,
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
    /// See [`Item`].
    pub kind: Option<String>,
    /// These fields, `null` for those that it is not to have any more. See [`Item`].
    pub fields: Map<String, Value>,
    /// See [`Item`].
    pub merged: Option<Option<i64>>,
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

    /// Makes a project or changes it; the position, where something is different.
    pub fn save_project(&self, project: &Project, by: &Signed) -> Result<Option<i64>, StoreError> {
        let before = self.project(&project.key)?;
        if before.as_ref() == Some(project) {
            return Ok(None);
        }
        self.put_project(&project.key, &project.name, by.at)?;
        let query = "UPDATE project SET about = ?2, lead = ?3 WHERE key = ?1";
        self.run(query, params![project.key, project.about, project.lead])?;
        let what = if before.is_some() { "project changed" } else { "project created" };
        self.note_at(by, what, (Some(&project.key), None), (&project.key, None)).map(Some)
    }

    /// Makes an item. Its project has to be there.
    pub fn create_item(&self, new: NewItem, by: &Signed) -> Result<Changed<Item>, StoreError> {
        let number = self.next_number(&new.project)?;
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
            kind: if new.kind.is_empty() { "task".to_owned() } else { new.kind },
            fields: new.fields,
            merged: None,
            version: 1,
            created: by.at,
            updated: by.at,
            removed: None,
        };
        let query = "INSERT INTO item (uuid, project, number, title, body, status, priority, assignee_kind, assignee, \
            reporter_kind, reporter, parent, labels, due, version, created, updated, type, fields) \
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, 1, ?15, ?15, ?16, ?17)";
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
                words(&item.labels),
                item.due,
                by.at.millis(),
                item.kind,
                object(&item.fields)
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
        let differences = self.differences(item, &now)?;
        if differences.is_empty() {
            return Ok(Changed { row: now, position: None });
        }
        now.version += 1;
        now.updated = by.at;
        let query = "UPDATE item SET title = ?2, body = ?3, status = ?4, priority = ?5, assignee_kind = ?6, assignee = ?7, \
            parent = ?8, labels = ?9, due = ?10, version = ?11, updated = ?12, type = ?13, fields = ?14, merged = ?15 \
            WHERE id = ?1";
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
                words(&now.labels),
                now.due,
                now.version,
                by.at.millis(),
                now.kind,
                object(&now.fields),
                now.merged
            ],
        )?;
        if now.labels != item.labels {
            self.label(&now)?;
        }
        if now.removed.is_none() {
            self.unindex(now.id)?;
            self.index(&now)?;
        }
        let names: Vec<&str> = differences.keys().map(String::as_str).collect();
        let position = self.note_of(by, "updated", &now, (&names.join(" "), Some(&differences)))?;
        Ok(Changed { row: now, position: Some(position) })
    }

    /// Puts an item into the trash, or takes it out again. Where it is there already, nothing is done.
    pub fn set_removed(&self, item: &Item, removed: bool, by: &Signed) -> Result<Changed<Item>, StoreError> {
        self.set_removed_with(item, removed, None, by)
    }

    /// The same; what goes into the trash goes there with the tree of `root`.
    pub(super) fn set_removed_with(
        &self,
        item: &Item,
        removed: bool,
        root: Option<i64>,
        by: &Signed,
    ) -> Result<Changed<Item>, StoreError> {
        let mut now = item.clone();
        if now.removed.is_some() == removed {
            return Ok(Changed { row: now, position: None });
        }
        now.removed = removed.then_some(by.at);
        now.version += 1;
        now.updated = by.at;
        let query = "UPDATE item SET removed = ?2, version = ?3, updated = ?4, removed_with = ?5 WHERE id = ?1";
        self.run(query, params![now.id, now.removed.map(Timestamp::millis), now.version, by.at.millis(), root])?;
        if removed {
            self.unindex(now.id)?;
        } else {
            self.index(&now)?;
        }
        let position = self.note(by, if removed { "removed" } else { "restored" }, &now, "")?;
        Ok(Changed { row: now, position: Some(position) })
    }

    /// The next number of a project, which has to be there. No other item gets it.
    pub(super) fn next_number(&self, project: &str) -> Result<i64, StoreError> {
        let query = "UPDATE project SET next = next + 1 WHERE key = ?1 RETURNING next - 1";
        Ok(self.read.connection.prepare_cached(query)?.query_row([project], |row| row.get(0))?)
    }

    pub(super) fn index(&self, item: &Item) -> Result<(), StoreError> {
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

    pub(super) fn unindex(&self, id: i64) -> Result<(), StoreError> {
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
        set(&mut item.kind, self.kind);
        set(&mut item.merged, self.merged);
        for (name, value) in self.fields {
            if value.is_null() {
                item.fields.remove(&name);
            } else {
                item.fields.insert(name, value);
            }
        }
    }
}
