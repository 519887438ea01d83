//! Leaving rows in the trail: what happened to what, and what of an item is different now.

use rusqlite::params;
use serde_json::{Map, Value, json};

use super::change::Signed;
use super::encode::object;
use super::items::{Item, Who};
use super::{StoreError, WriteStore};

/// What a row of the trail says beside what happened: in words, and what was and is.
pub(super) type Detail<'d> = (&'d str, Option<&'d Map<String, Value>>);

impl WriteStore<'_> {
    pub(super) fn note(&self, by: &Signed, what: &str, item: &Item, detail: &str) -> Result<i64, StoreError> {
        self.note_of(by, what, item, (detail, None))
    }

    pub(super) fn note_of(&self, by: &Signed, what: &str, item: &Item, how: Detail<'_>) -> Result<i64, StoreError> {
        self.note_at(by, what, (Some(&item.project), Some(item.id)), how)
    }

    /// A row of the trail; its position.
    pub(super) fn note_at(
        &self,
        by: &Signed,
        what: &str,
        place: (Option<&str>, Option<i64>),
        (detail, data): Detail<'_>,
    ) -> Result<i64, StoreError> {
        let query = "INSERT INTO change (at, actor_kind, actor, what, project, item, detail, data) \
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
        let data = data.map(object);
        self.run(query, params![by.at.millis(), by.who.kind, by.who.id, what, place.0, place.1, detail, data])?;
        Ok(self.read.connection.last_insert_rowid())
    }

    /// What is different, in the order of the fields: what was, and what is. Of texts only that they differ.
    pub(super) fn differences(&self, before: &Item, now: &Item) -> Result<Map<String, Value>, StoreError> {
        let key = |id: Option<i64>| -> Result<Value, StoreError> {
            let found = id.map_or(Ok(None), |id| self.item_by_id(id))?;
            Ok(found.map_or(Value::Null, |item| item.key().into()))
        };
        let mut found = Map::new();
        let mut add = |name: &str, was: Value, is: Value| {
            if was != is {
                found.insert(name.to_owned(), json!({"from": was, "to": is}));
            }
        };
        let of = |who: &Option<Who>| who.as_ref().map_or(Value::Null, |who| json!(format!("{}:{}", who.kind, who.id)));
        add("title", json!(before.title), json!(now.title));
        add("status", json!(before.status), json!(now.status));
        add("priority", json!(before.priority), json!(now.priority));
        add("assignee", of(&before.assignee), of(&now.assignee));
        add("type", json!(before.kind), json!(now.kind));
        add("labels", json!(before.labels), json!(now.labels));
        add("due", json!(before.due), json!(now.due));
        add("fields", json!(before.fields), json!(now.fields));
        if before.parent != now.parent {
            add("parent", key(before.parent)?, key(now.parent)?);
        }
        if before.merged != now.merged {
            add("merged", key(before.merged)?, key(now.merged)?);
        }
        if before.body != now.body {
            found.insert("body".to_owned(), Value::Null);
        }
        Ok(found)
    }
}
