//! Finished turns: what a seat did, in short, one row each.

use rusqlite::{Row, params};

use super::owner;
use super::search::{Likeness, ranked};
use crate::clock::Timestamp;
use crate::store::encode::words;
use crate::store::items::{labels, time};
use crate::store::{ReadStore, StoreError, WriteStore};

/// How a turn came out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Review {
    /// It did what it was to do.
    Done,
    /// It ended before it had.
    SelfIterate,
    /// It could not.
    Failed,
}

impl Review {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Done, Self::SelfIterate, Self::Failed];

    /// The word in rows and results.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::SelfIterate => "self_iterate",
            Self::Failed => "failed",
        }
    }

    /// The one with this word.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|review| review.word() == word)
    }
}

/// A turn that has ended.
#[derive(Clone, PartialEq, Debug)]
pub struct NewEpisode {
    /// The seat.
    pub agent_handle: String,
    /// Its role's name.
    pub agent_role: String,
    /// What it was about elsewhere, where that is known.
    pub task_id: Option<String>,
    /// The turn.
    pub turn_id: String,
    /// When it began.
    pub started: Timestamp,
    /// When it ended.
    pub ended: Timestamp,
    /// What it was about.
    pub task_summary: String,
    /// What was done.
    pub plan_summary: String,
    /// The tools in the order of their calls.
    pub tools: Vec<String>,
    /// Skills that were loaded.
    pub skills: Vec<String>,
    /// How it came out.
    pub review: Review,
}

/// A finished turn.
#[derive(Clone, PartialEq, Debug)]
pub struct Episode {
    /// Counts up over all seats.
    pub id: i64,
    /// `raw` for what was not put together of several.
    pub kind: String,
    /// The turn.
    pub turn_id: String,
    /// What it was about.
    pub task_summary: String,
    /// What was done.
    pub plan_summary: String,
    /// The tools in the order of their calls.
    pub tools: Vec<String>,
    /// Skills that were loaded.
    pub skills: Vec<String>,
    /// `done`, `self_iterate` or `failed`.
    pub review: String,
    /// How long it took, in milliseconds.
    pub duration_ms: i64,
    /// When it ended.
    pub ended: Timestamp,
}

const EPISODE: &str = "SELECT e.id, e.kind, e.turn_id, e.task_summary, e.plan_summary, e.tool_sequence, e.skills_used, \
    e.review_outcome, e.duration_ms, e.ended_at FROM episodes e";
/// Of a seat, and of one outcome where that matters.
const OWN: &str = "e.agent_handle = ?1 AND (?2 IS NULL OR e.review_outcome = ?2)";

impl ReadStore<'_> {
    /// A seat's finished turns, the newest first.
    pub fn episodes(&self, handle: &str, only: Option<Review>, limit: i64) -> Result<Vec<Episode>, StoreError> {
        let query = format!("{EPISODE} WHERE {OWN} ORDER BY e.id DESC LIMIT ?3");
        let mut query = self.connection.prepare_cached(&query)?;
        let rows = query.query_map(params![handle, only.map(Review::word), limit], episode)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// How many finished turns a seat has.
    pub fn episode_count(&self, handle: &str) -> Result<i64, StoreError> {
        let mut query = self.connection.prepare_cached("SELECT count(*) FROM episodes WHERE agent_handle = ?1")?;
        Ok(query.query_row([handle], |row| row.get(0))?)
    }

    /// A seat's finished turns that are most like something, the likest first.
    pub fn episodes_like(
        &self,
        handle: &str,
        like: &Likeness,
        only: Option<Review>,
        limit: usize,
    ) -> Result<Vec<Episode>, StoreError> {
        let only = only.map(Review::word);
        let mut words: Vec<i64> = Vec::new();
        if let Some(wanted) = like.words(&owner(handle)) {
            let query = format!(
                "SELECT e.id FROM episodes_text t JOIN episodes e ON e.id = t.rowid \
                 WHERE episodes_text MATCH ?3 AND {OWN} ORDER BY bm25(episodes_text, 0.0, 1.0), e.id DESC LIMIT ?4"
            );
            let mut query = self.connection.prepare_cached(&query)?;
            let found = query.query_map(params![handle, only, wanted, Likeness::MOST], |row| row.get(0))?;
            words = found.collect::<Result<_, _>>()?;
        }
        let query = format!("SELECT e.id, e.embedding FROM episodes e WHERE {OWN} AND e.embedding_model = ?3");
        let near = like.near(self.connection, &query, &[&handle, &only])?;
        let mut query = self.connection.prepare_cached(&format!("{EPISODE} WHERE e.id = ?1"))?;
        ranked(&words, &near, limit).map(|id| Ok(query.query_row([id], episode)?)).collect()
    }
}

impl WriteStore<'_> {
    /// Keeps a finished turn; its number.
    pub fn add_episode(&self, new: &NewEpisode) -> Result<i64, StoreError> {
        let mut insert = self.connection.prepare_cached(
            "INSERT INTO episodes (agent_handle, agent_role, task_id, turn_id, started_at, ended_at, plan_summary, \
             task_summary, tool_sequence, skills_used, review_outcome, duration_ms) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        )?;
        let took = i64::try_from(new.ended.since(new.started).as_millis()).unwrap_or(i64::MAX);
        insert.execute(params![
            new.agent_handle,
            new.agent_role,
            new.task_id,
            new.turn_id,
            new.started.millis(),
            new.ended.millis(),
            new.plan_summary,
            new.task_summary,
            words(&new.tools),
            words(&new.skills),
            new.review.word(),
            took,
        ])?;
        let id = self.connection.last_insert_rowid();
        let content = format!("{}\n{}\n{}", new.task_summary, new.plan_summary, new.tools.join(" "));
        let mut insert =
            self.connection.prepare_cached("INSERT INTO episodes_text (rowid, owner, content) VALUES (?1, ?2, ?3)")?;
        insert.execute(params![id, owner(&new.agent_handle), content])?;
        Ok(id)
    }
}

fn episode(row: &Row<'_>) -> rusqlite::Result<Episode> {
    Ok(Episode {
        id: row.get(0)?,
        kind: row.get(1)?,
        turn_id: row.get(2)?,
        task_summary: row.get(3)?,
        plan_summary: row.get(4)?,
        tools: labels(&row.get::<_, String>(5)?),
        skills: labels(&row.get::<_, String>(6)?),
        review: row.get(7)?,
        duration_ms: row.get(8)?,
        ended: time(row.get(9)?),
    })
}
