//! Changes that are about more than one work item: links, trees into the trash and out again, moving, merging.

use rusqlite::params;

use super::change::{Changed, ItemChanges, Signed};
use super::items::Item;
use super::{StoreError, WriteStore};

impl WriteStore<'_> {
    /// Links two items: `item` blocks, relates to or duplicates `other`. The position, where they were not.
    pub fn link(&self, item: &Item, kind: &str, other: &Item, by: &Signed) -> Result<Option<i64>, StoreError> {
        let query = "INSERT OR IGNORE INTO item_link (item, kind, other) VALUES (?1, ?2, ?3)";
        if self.run(query, params![item.id, kind, other.id])? == 0 {
            return Ok(None);
        }
        self.note(by, "linked", item, &format!("{kind} {}", other.key())).map(Some)
    }

    /// Takes a link away. The position, where there was one.
    pub fn unlink(&self, item: &Item, kind: &str, other: &Item, by: &Signed) -> Result<Option<i64>, StoreError> {
        let query = "DELETE FROM item_link WHERE item = ?1 AND kind = ?2 AND other = ?3";
        if self.run(query, params![item.id, kind, other.id])? == 0 {
            return Ok(None);
        }
        self.note(by, "unlinked", item, &format!("{kind} {}", other.key())).map(Some)
    }

    /// Puts an item into the trash together with these items below it.
    pub fn remove_tree(&self, root: &Item, below: &[Item], by: &Signed) -> Result<Changed<Item>, StoreError> {
        for item in below {
            self.set_removed_with(item, true, Some(root.id), by)?;
        }
        self.set_removed(root, true, by)
    }

    /// Takes an item out of the trash, with everything that went there together with it.
    pub fn restore_tree(&self, root: &Item, by: &Signed) -> Result<Changed<Item>, StoreError> {
        for item in self.removed_with(root.id)? {
            self.set_removed(&item, false, by)?;
        }
        self.set_removed(root, false, by)
    }

    /// Moves an item into another project, which has to be there. It gets the project's next number; the key that it
    /// had goes on to mean it.
    pub fn move_item(&self, item: &Item, project: &str, by: &Signed) -> Result<Changed<Item>, StoreError> {
        let mut now = item.clone();
        if now.project == project {
            return Ok(Changed { row: now, position: None });
        }
        project.clone_into(&mut now.project);
        now.number = self.next_number(project)?;
        now.version += 1;
        now.updated = by.at;
        let query = "INSERT INTO item_key (project, number, item) VALUES (?1, ?2, ?3)";
        self.run(query, params![item.project, item.number, item.id])?;
        let query = "UPDATE item SET project = ?2, number = ?3, version = ?4, updated = ?5 WHERE id = ?1";
        self.run(query, params![now.id, now.project, now.number, now.version, by.at.millis()])?;
        if now.removed.is_none() {
            self.unindex(now.id)?;
            self.index(&now)?;
        }
        let position = self.note(by, "moved", &now, &format!("{} to {}", item.key(), now.key()))?;
        Ok(Changed { row: now, position: Some(position) })
    }

    /// Merges an item into another one: it is closed and linked as a duplicate, and what stood directly below it stands
    /// below the other one. Its comments stay with it.
    pub fn merge_item(&self, item: &Item, into: &Item, by: &Signed) -> Result<Changed<Item>, StoreError> {
        self.link(item, "duplicates", into, by)?;
        let query = "SELECT id FROM item WHERE parent = ?1 ORDER BY id";
        let children: Vec<i64> = {
            let mut query = self.connection.prepare_cached(query)?;
            let rows = query.query_map([item.id], |row| row.get(0))?;
            rows.collect::<Result<_, _>>()?
        };
        for child in children {
            let Some(child) = self.item_by_id(child)? else { continue };
            // What it is merged into takes its place.
            let parent = if child.id == into.id { item.parent } else { Some(into.id) };
            self.update_item(&child, ItemChanges { parent: Some(parent), ..ItemChanges::default() }, by)?;
        }
        self.note(by, "merged in", into, &item.key())?;
        let closed =
            ItemChanges { status: Some("closed".to_owned()), merged: Some(Some(into.id)), ..ItemChanges::default() };
        self.update_item(item, closed, by)
    }
}
