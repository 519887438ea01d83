//! What happened in the store: one row for each change, numbered over everything. Reading only.

use rusqlite::types::Value as Column;
use rusqlite::{Row, params, params_from_iter};
use serde_json::Value;

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
    /// What they were and are: `{"status": {"from": "todo", "to": "done"}}`.
    pub data: Option<Value>,
}

/// What happened on one day.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Day {
    /// `2026-11-30`, UTC.
    pub date: String,
    /// `created`, `updated`, … and how often.
    pub counts: Vec<(String, i64)>,
}

impl ReadStore<'_> {
    /// The changes of one item, newest first.
    pub fn history(&self, item: i64, limit: i64) -> Result<Vec<Change>, StoreError> {
        self.history_before(item, i64::MAX, limit)
    }

    /// The same before a position.
    pub fn history_before(&self, item: i64, before: i64, limit: i64) -> Result<Vec<Change>, StoreError> {
        let query = "SELECT position, at, actor_kind, actor, what, detail, data FROM change \
            WHERE item = ?1 AND position < ?2 ORDER BY position DESC LIMIT ?3";
        let mut query = self.connection.prepare_cached(query)?;
        let change = |row: &Row<'_>| {
            Ok(Change {
                position: row.get(0)?,
                at: time(row.get(1)?),
                actor: Who { kind: row.get(2)?, id: row.get(3)? },
                what: row.get(4)?,
                detail: row.get(5)?,
                // Kept as a JSON object that we wrote.
                data: row.get::<_, Option<String>>(6)?.and_then(|data| serde_json::from_str(&data).ok()),
            })
        };
        let rows = query.query_map(params![item, before, limit], change)?;
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
        let values = std::iter::once(Column::Integer(since.millis())).chain(projects.iter().cloned().map(Column::Text));
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
}
