//! What happened in the store: one row for each change, numbered over everything; and the seats' inboxes. Reading only.

use rusqlite::{Row, params, params_from_iter};

use super::items::{Who, time};
use super::{ReadStore, StoreError};
use crate::clock::Timestamp;

/// One change.
#[derive(Clone, PartialEq, Debug)]
pub struct Change {
    /// Its number over everything: a store that is at this position holds it.
    pub position: i64,
    /// When.
    pub at: Timestamp,
    /// Who.
    pub actor: Who,
    /// `created`, `updated`, `commented`, …
    pub what: String,
    /// Names of the fields that changed, or another short word.
    pub detail: String,
}

/// What happened on one day.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Day {
    /// `2026-11-30`, UTC.
    pub date: String,
    /// `created`, `updated`, … and how often.
    pub counts: Vec<(String, i64)>,
}

/// A message to a seat.
#[derive(Clone, PartialEq, Debug)]
pub struct Message {
    /// Counts up over all inboxes.
    pub id: i64,
    /// What it is: `autopilot`.
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
}

impl ReadStore<'_> {
    /// The changes of one item, newest first.
    pub fn history(&self, item: i64, limit: i64) -> Result<Vec<Change>, StoreError> {
        let query = "SELECT position, at, actor_kind, actor, what, detail FROM change WHERE item = ?1 \
            ORDER BY position DESC LIMIT ?2";
        let mut query = self.connection.prepare_cached(query)?;
        let change = |row: &Row<'_>| {
            Ok(Change {
                position: row.get(0)?,
                at: time(row.get(1)?),
                actor: Who { kind: row.get(2)?, id: row.get(3)? },
                what: row.get(4)?,
                detail: row.get(5)?,
            })
        };
        let rows = query.query_map(params![item, limit], change)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// What happened on each day since `since`, oldest first; days without anything are left out. With projects: only
    /// there.
    pub fn days(&self, since: Timestamp, projects: &[String]) -> Result<Vec<Day>, StoreError> {
        let only = match projects.len() {
            0 => String::new(),
            some => format!(" AND project IN (?{})", ", ?".repeat(some - 1)),
        };
        let query = format!(
            "SELECT strftime('%Y-%m-%d', at / 1000, 'unixepoch') AS day, what, count(*) FROM change \
             WHERE at >= ?{only} GROUP BY day, what ORDER BY day, what"
        );
        let mut query = self.connection.prepare_cached(&query)?;
        let values = std::iter::once(rusqlite::types::Value::Integer(since.millis()))
            .chain(projects.iter().cloned().map(rusqlite::types::Value::Text));
        let mut rows = query.query(params_from_iter(values))?;
        let mut days: Vec<Day> = Vec::new();
        while let Some(row) = rows.next()? {
            let (date, what, count): (String, String, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
            match days.last_mut().filter(|day| day.date == date) {
                Some(day) => day.counts.push((what, count)),
                None => days.push(Day { date, counts: vec![(what, count)] }),
            }
        }
        Ok(days)
    }

    /// A seat's messages, newest first.
    pub fn inbox(&self, seat: &str, unread_only: bool, limit: i64) -> Result<Vec<Message>, StoreError> {
        let query = "SELECT id, kind, subject, body, sender_kind, sender, created, seen FROM inbox \
            WHERE seat = ?1 AND (seen IS NULL OR NOT ?2) ORDER BY id DESC LIMIT ?3";
        let mut query = self.connection.prepare_cached(query)?;
        let message = |row: &Row<'_>| {
            Ok(Message {
                id: row.get(0)?,
                kind: row.get(1)?,
                subject: row.get(2)?,
                body: row.get(3)?,
                sender: Who { kind: row.get(4)?, id: row.get(5)? },
                created: time(row.get(6)?),
                seen: row.get::<_, Option<i64>>(7)?.map(time),
            })
        };
        let rows = query.query_map(params![seat, unread_only, limit], message)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}
