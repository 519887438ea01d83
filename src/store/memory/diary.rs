//! Diaries: what seats wrote down for themselves, for good or for a time.

use rusqlite::{Row, params};

use super::owner;
use super::search::{Likeness, ranked};
use crate::clock::Timestamp;
use crate::store::items::time;
use crate::store::{ReadStore, StoreError, WriteStore};

/// How long an entry is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DiaryKind {
    /// For good.
    Long,
    /// Until then; afterwards it is not found any more.
    Short {
        /// The end.
        until: Timestamp,
    },
}

impl DiaryKind {
    const fn word(self) -> &'static str {
        match self {
            Self::Long => "diary_long",
            Self::Short { .. } => "diary_short",
        }
    }

    /// When it ends, where it does.
    pub const fn until(self) -> Option<Timestamp> {
        match self {
            Self::Long => None,
            Self::Short { until } => Some(until),
        }
    }
}

/// An entry to be written.
#[derive(Clone, PartialEq, Debug)]
pub struct NewEntry {
    /// Whose diary.
    pub agent_id: String,
    /// How long it is kept.
    pub kind: DiaryKind,
    /// The text, whole.
    pub content: String,
    /// What wrote it.
    pub source: String,
    /// In which turn.
    pub turn_id: Option<String>,
    /// A JSON object beside it.
    pub metadata: String,
    /// When.
    pub at: Timestamp,
}

/// An entry of a diary.
#[derive(Clone, PartialEq, Debug)]
pub struct DiaryEntry {
    /// Counts up over all diaries.
    pub id: i64,
    /// How long it is kept.
    pub kind: DiaryKind,
    /// The text, whole.
    pub content: String,
    /// A JSON object beside it.
    pub metadata: String,
    /// How often it was found.
    pub retrieved: i64,
    /// When it was written.
    pub at: Timestamp,
}

const ENTRY: &str =
    "SELECT d.id, d.ttl_until, d.content, d.metadata, d.retrieval_count, d.created_at FROM agent_diary d";
/// Of a seat, and not over.
const LIVE: &str = "d.agent_id = ?1 AND (d.ttl_until IS NULL OR d.ttl_until > ?2)";

impl ReadStore<'_> {
    /// A seat's entries that are not over, newest first.
    pub fn diary(&self, agent_id: &str, now: Timestamp, limit: i64) -> Result<Vec<DiaryEntry>, StoreError> {
        let mut query = self.connection.prepare_cached(&format!("{ENTRY} WHERE {LIVE} ORDER BY d.id DESC LIMIT ?3"))?;
        let rows = query.query_map(params![agent_id, now.millis(), limit], entry)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The same, with not more than so many bytes of texts, the first one in any case: what nobody has room for is not
    /// read.
    pub fn newest_diary(
        &self,
        agent_id: &str,
        now: Timestamp,
        (limit, bytes): (i64, i64),
    ) -> Result<Vec<DiaryEntry>, StoreError> {
        let query = format!(
            "{ENTRY} WHERE d.id IN (SELECT id FROM (SELECT id, own, sum(own) OVER (ORDER BY id DESC) AS bytes FROM \
             (SELECT d.id AS id, octet_length(d.content) AS own FROM agent_diary d WHERE {LIVE} ORDER BY d.id DESC \
             LIMIT ?3)) WHERE bytes <= ?4 OR bytes = own) ORDER BY d.id DESC"
        );
        let mut query = self.connection.prepare_cached(&query)?;
        let rows = query.query_map(params![agent_id, now.millis(), limit, bytes], entry)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// How many entries of a seat are not over.
    pub fn diary_length(&self, agent_id: &str, now: Timestamp) -> Result<i64, StoreError> {
        let mut query = self.connection.prepare_cached(&format!("SELECT count(*) FROM agent_diary d WHERE {LIVE}"))?;
        Ok(query.query_row(params![agent_id, now.millis()], |row| row.get(0))?)
    }

    /// A seat's entries that are most like something, the likest first.
    pub fn diary_like(
        &self,
        agent_id: &str,
        like: &Likeness,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<DiaryEntry>, StoreError> {
        let by_words = like.words(&owner(agent_id));
        let mut words: Vec<i64> = Vec::new();
        if let Some(wanted) = by_words {
            let query = format!(
                "SELECT d.id FROM agent_diary_text t JOIN agent_diary d ON d.id = t.rowid \
                 WHERE agent_diary_text MATCH ?3 AND {LIVE} ORDER BY bm25(agent_diary_text, 0.0, 1.0), d.id DESC LIMIT ?4"
            );
            let mut query = self.connection.prepare_cached(&query)?;
            let found = query.query_map(params![agent_id, now.millis(), wanted, Likeness::MOST], |row| row.get(0))?;
            words = found.collect::<Result<_, _>>()?;
        }
        let query = format!("SELECT d.id, d.embedding FROM agent_diary d WHERE {LIVE} AND d.embedding_model = ?3");
        let near = like.near(self.connection, &query, &[&agent_id, &now.millis()])?;
        let mut query = self.connection.prepare_cached(&format!("{ENTRY} WHERE d.id = ?1"))?;
        ranked(&words, &near, limit).map(|id| Ok(query.query_row([id], entry)?)).collect()
    }
}

impl WriteStore<'_> {
    /// Writes an entry; its number. What is over of the seat's is forgotten for good.
    pub fn write_diary(&self, new: &NewEntry) -> Result<i64, StoreError> {
        let over = "FROM agent_diary WHERE agent_id = ?1 AND ttl_until <= ?2";
        let values = params![new.agent_id, new.at.millis()];
        self.run(&format!("DELETE FROM agent_diary_text WHERE rowid IN (SELECT id {over})"), values)?;
        self.run(&format!("DELETE {over}"), values)?;
        let mut insert = self.connection.prepare_cached(
            "INSERT INTO agent_diary (agent_id, kind, content, ttl_until, source, turn_id, metadata, created_at) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?;
        let until = new.kind.until().map(Timestamp::millis);
        insert.execute(params![
            new.agent_id,
            new.kind.word(),
            new.content,
            until,
            new.source,
            new.turn_id,
            new.metadata,
            new.at.millis()
        ])?;
        let id = self.connection.last_insert_rowid();
        let mut insert = self
            .connection
            .prepare_cached("INSERT INTO agent_diary_text (rowid, owner, content) VALUES (?1, ?2, ?3)")?;
        insert.execute(params![id, owner(&new.agent_id), new.content])?;
        Ok(id)
    }

    /// Notes that entries were found.
    pub fn note_retrieved(&self, ids: &[i64], at: Timestamp) -> Result<(), StoreError> {
        let mut update = self.connection.prepare_cached(
            "UPDATE agent_diary SET retrieval_count = retrieval_count + 1, last_retrieved_at = ?2 WHERE id = ?1",
        )?;
        for id in ids {
            update.execute(params![id, at.millis()])?;
        }
        Ok(())
    }
}

fn entry(row: &Row<'_>) -> rusqlite::Result<DiaryEntry> {
    let until: Option<i64> = row.get(1)?;
    Ok(DiaryEntry {
        id: row.get(0)?,
        kind: until.map_or(DiaryKind::Long, |until| DiaryKind::Short { until: time(until) }),
        content: row.get(2)?,
        metadata: row.get(3)?,
        retrieved: row.get(4)?,
        at: time(row.get(5)?),
    })
}
