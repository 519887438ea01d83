//! The seats' inboxes: messages, and what happened to work items that concern a seat.
//!
//! A message about an item stands once in an inbox: what happens next is put into the same one, at a later position,
//! and it is unread again.

use rusqlite::{OptionalExtension as _, Row, params};

use super::change::Signed;
use super::items::{Item, Who, time};
use super::{ReadStore, StoreError, WriteStore};
use crate::clock::Timestamp;

/// A message to a seat.
#[derive(Clone, PartialEq, Debug)]
pub struct Message {
    /// Counts up over all inboxes.
    pub id: i64,
    /// What it is: `autopilot`, or `work` for what is about an item.
    pub kind: String,
    /// One line.
    pub subject: String,
    /// Text.
    pub body: String,
    /// From whom.
    pub sender: Who,
    /// When it came.
    pub created: Timestamp,
    /// When it was marked as read.
    pub seen: Option<Timestamp>,
    /// The item that it is about.
    pub item: Option<i64>,
    /// The change that it tells of; see [`super::trail::Change`].
    pub position: Option<i64>,
    /// Until when it is put off.
    pub snoozed: Option<Timestamp>,
}

/// What a message is marked as.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mark {
    /// Read.
    Read,
    /// Not read.
    Unread,
    /// Put off until then; unread when it comes back.
    Snoozed(Timestamp),
}

const MESSAGE: &str = "SELECT id, kind, subject, body, sender_kind, sender, created, seen, item, position, snoozed \
    FROM inbox";

impl ReadStore<'_> {
    /// A seat's messages, what came last first. Unread at a time: what is neither read nor put off then. `before`: only
    /// what came before the message of this time and number.
    pub fn inbox(
        &self,
        seat: &str,
        unread_at: Option<Timestamp>,
        before: Option<(i64, i64)>,
        limit: i64,
    ) -> Result<Vec<Message>, StoreError> {
        let query = format!(
            "{MESSAGE} WHERE seat = ?1 AND (?2 IS NULL OR (seen IS NULL AND (snoozed IS NULL OR snoozed <= ?2))) \
             AND (created, id) < (?3, ?4) ORDER BY created DESC, id DESC LIMIT ?5"
        );
        let (created, id) = before.unwrap_or((i64::MAX, i64::MAX));
        let mut query = self.connection.prepare_cached(&query)?;
        let rows = query.query_map(params![seat, unread_at.map(Timestamp::millis), created, id, limit], message)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// How many messages of a seat are unread at a time.
    pub fn unread(&self, seat: &str, at: Timestamp) -> Result<i64, StoreError> {
        let query =
            "SELECT count(*) FROM inbox WHERE seat = ?1 AND seen IS NULL AND (snoozed IS NULL OR snoozed <= ?2)";
        let mut query = self.connection.prepare_cached(query)?;
        Ok(query.query_row(params![seat, at.millis()], |row| row.get(0))?)
    }

    /// A seat's message of this number.
    pub fn message(&self, seat: &str, id: i64) -> Result<Option<Message>, StoreError> {
        let mut query = self.connection.prepare_cached(&format!("{MESSAGE} WHERE seat = ?1 AND id = ?2"))?;
        Ok(query.query_row(params![seat, id], message).optional()?)
    }
}

impl WriteStore<'_> {
    /// Puts a message into a seat's inbox; its number.
    pub fn send(&self, seat: &str, message: (&str, &str, &str), by: &Signed) -> Result<i64, StoreError> {
        let (kind, subject, body) = message;
        let position = self.note_at(by, "sent", (None, None), (seat, None))?;
        let query = "INSERT INTO inbox (seat, kind, subject, body, sender_kind, sender, created, position) \
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
        self.run(query, params![seat, kind, subject, body, by.who.kind, by.who.id, by.at.millis(), position])?;
        Ok(self.connection.last_insert_rowid())
    }

    /// Tells a seat what happened to an item at a position.
    pub fn tell(
        &self,
        seat: &str,
        (item, position): (&Item, i64),
        (subject, body): (&str, &str),
        by: &Signed,
    ) -> Result<(), StoreError> {
        let query = "INSERT INTO inbox (seat, kind, subject, body, sender_kind, sender, created, item, position) \
            VALUES (?1, 'work', ?2, ?3, ?4, ?5, ?6, ?7, ?8) \
            ON CONFLICT (seat, item) WHERE item IS NOT NULL DO UPDATE SET subject = ?2, body = ?3, sender_kind = ?4, \
            sender = ?5, created = ?6, position = ?8, seen = NULL, snoozed = NULL";
        let Signed { who, at } = by;
        self.run(query, params![seat, subject, body, who.kind, who.id, at.millis(), item.id, position]).map(|_| ())
    }

    /// Marks a message of a seat, unless something came to it after the position that whoever marks it has seen. What was
    /// answered stays read. True when there is one to be marked.
    pub fn mark(
        &self,
        seat: &str,
        (id, position): (i64, Option<i64>),
        mark: Mark,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let (seen, snoozed) = match mark {
            Mark::Read => (Some(at), None),
            Mark::Unread => (None, None),
            Mark::Snoozed(until) => (None, Some(until)),
        };
        // What was read earlier keeps its time.
        let query = "UPDATE inbox SET seen = CASE WHEN ?3 IS NULL THEN NULL ELSE coalesce(seen, ?3) END, snoozed = ?4 \
            WHERE id = ?1 AND seat = ?2 AND (?5 IS NULL OR position IS NULL OR position <= ?5) \
            AND (?3 IS NOT NULL OR reply IS NULL)";
        let values = params![id, seat, seen.map(Timestamp::millis), snoozed.map(Timestamp::millis), position];
        Ok(self.run(query, values)? > 0)
    }

    /// Marks everything of a seat that came up to a position as read; how much there was.
    pub fn seen_through(&self, seat: &str, position: i64, at: Timestamp) -> Result<usize, StoreError> {
        let query = "UPDATE inbox SET seen = ?3 WHERE seat = ?1 AND position <= ?2 AND seen IS NULL";
        self.run(query, params![seat, position, at.millis()])
    }
}

fn message(row: &Row<'_>) -> rusqlite::Result<Message> {
    Ok(Message {
        id: row.get(0)?,
        kind: row.get(1)?,
        subject: row.get(2)?,
        body: row.get(3)?,
        sender: Who { kind: row.get(4)?, id: row.get(5)? },
        created: time(row.get(6)?),
        seen: row.get::<_, Option<i64>>(7)?.map(time),
        item: row.get(8)?,
        position: row.get(9)?,
        snoozed: row.get::<_, Option<i64>>(10)?.map(time),
    })
}
