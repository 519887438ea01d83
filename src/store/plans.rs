//! What people make of work items: the order a seat works in, what it pinned, saved views, and the company's catalogue.

use rusqlite::{OptionalExtension as _, Row, params};

use super::change::{Changed, Signed};
use super::items::{Who, time};
use super::{ReadStore, StoreError, WriteStore};
use crate::clock::Timestamp;

/// A saved view: a filter with a name.
#[derive(Clone, PartialEq, Debug)]
pub struct View {
    /// Its name.
    pub name: String,
    /// What it is for; may be empty.
    pub about: String,
    /// The filter as JSON.
    pub filter: String,
    /// Who saved it last.
    pub author: Who,
    /// Counts up with each change.
    pub version: i64,
    /// When it was saved last.
    pub updated: Timestamp,
}

/// Something that a seat pinned: a kind (`view`, `item`, `page`, `project`) and what it is called.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pin {
    /// What it is.
    pub kind: String,
    /// A view's name, a project's key, the id of an item or a page.
    pub target: String,
}

/// The catalogue as JSON, with its version; version 0 is the one that nobody has written.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Catalogue {
    /// JSON; empty at version 0.
    pub body: String,
    /// Counts up with each change.
    pub version: i64,
}

const VIEW: &str = "SELECT name, about, filter, author_kind, author, version, updated FROM work_view";

impl ReadStore<'_> {
    /// All views, by name.
    pub fn views(&self) -> Result<Vec<View>, StoreError> {
        let mut query = self.connection.prepare_cached(&format!("{VIEW} ORDER BY name"))?;
        let rows = query.query_map([], view)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The view of this name.
    pub fn view(&self, name: &str) -> Result<Option<View>, StoreError> {
        let mut query = self.connection.prepare_cached(&format!("{VIEW} WHERE name = ?1"))?;
        Ok(query.query_row([name], view).optional()?)
    }

    /// What a seat pinned, in its order.
    pub fn pins(&self, seat: &str) -> Result<Vec<Pin>, StoreError> {
        let query = "SELECT kind, target FROM pin WHERE seat = ?1 ORDER BY place";
        let mut query = self.connection.prepare_cached(query)?;
        let rows = query.query_map([seat], |row| Ok(Pin { kind: row.get(0)?, target: row.get(1)? }))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The catalogue.
    pub fn catalogue(&self) -> Result<Catalogue, StoreError> {
        let mut query = self.connection.prepare_cached("SELECT body, version FROM catalogue WHERE id = 1")?;
        let found = query.query_row([], |row| Ok(Catalogue { body: row.get(0)?, version: row.get(1)? })).optional()?;
        Ok(found.unwrap_or_default())
    }
}

impl WriteStore<'_> {
    /// Saves a view under its name; what had that name is changed.
    pub fn save_view(&self, name: &str, about: &str, filter: &str, by: &Signed) -> Result<Changed<View>, StoreError> {
        let before = self.view(name)?;
        if let Some(same) = before.as_ref().filter(|view| view.about == about && view.filter == filter) {
            return Ok(Changed { row: same.clone(), position: None });
        }
        let row = View {
            name: name.to_owned(),
            about: about.to_owned(),
            filter: filter.to_owned(),
            author: by.who.clone(),
            version: before.map_or(1, |view| view.version + 1),
            updated: by.at,
        };
        let query = "INSERT OR REPLACE INTO work_view (name, about, filter, author_kind, author, version, updated) \
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        let at = by.at.millis();
        self.run(query, params![name, about, filter, by.who.kind, by.who.id, row.version, at])?;
        let position = self.note_at(by, "view saved", (None, None), (name, None))?;
        Ok(Changed { row, position: Some(position) })
    }

    /// Pins exactly these for a seat, in this order. The position, where something is different.
    pub fn set_pins(&self, seat: &str, pins: &[Pin], by: &Signed) -> Result<Option<i64>, StoreError> {
        if self.pins(seat)? == pins {
            return Ok(None);
        }
        self.run("DELETE FROM pin WHERE seat = ?1", [seat])?;
        for (place, pin) in (0_i64..).zip(pins) {
            let query = "INSERT OR IGNORE INTO pin (seat, kind, target, place) VALUES (?1, ?2, ?3, ?4)";
            self.run(query, params![seat, pin.kind, pin.target, place])?;
        }
        self.note_at(by, "pinned", (None, None), (seat, None)).map(Some)
    }

    /// Puts exactly these items into a seat's order. The position, where something is different.
    pub fn set_queue(&self, seat: &str, items: &[i64], by: &Signed) -> Result<Option<i64>, StoreError> {
        let before: Vec<i64> = {
            let query = "SELECT item FROM queue WHERE seat = ?1 ORDER BY place";
            let mut query = self.connection.prepare_cached(query)?;
            let rows = query.query_map([seat], |row| row.get(0))?;
            rows.collect::<Result<_, _>>()?
        };
        if before == items {
            return Ok(None);
        }
        self.run("DELETE FROM queue WHERE seat = ?1", [seat])?;
        for (place, item) in (0_i64..).zip(items) {
            self.run("INSERT INTO queue (seat, item, place) VALUES (?1, ?2, ?3)", params![seat, item, place])?;
        }
        self.note_at(by, "ordered", (None, None), (seat, None)).map(Some)
    }

    /// Writes another catalogue; its version. Where it is the same, nothing is done.
    pub fn write_catalogue(&self, body: &str, by: &Signed) -> Result<Changed<Catalogue>, StoreError> {
        let before = self.catalogue()?;
        if before.body == body {
            return Ok(Changed { row: before, position: None });
        }
        let row = Catalogue { body: body.to_owned(), version: before.version + 1 };
        let query = "INSERT OR REPLACE INTO catalogue (id, body, version, updated) VALUES (1, ?1, ?2, ?3)";
        self.run(query, params![row.body, row.version, by.at.millis()])?;
        let position = self.note_at(by, "catalogue written", (None, None), ("", None))?;
        Ok(Changed { row, position: Some(position) })
    }
}

fn view(row: &Row<'_>) -> rusqlite::Result<View> {
    Ok(View {
        name: row.get(0)?,
        about: row.get(1)?,
        filter: row.get(2)?,
        author: Who { kind: row.get(3)?, id: row.get(4)? },
        version: row.get(5)?,
        updated: time(row.get(6)?),
    })
}
