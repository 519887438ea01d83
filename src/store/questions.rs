//! Questions between seats, each with its one answer: rows, and every way of reading them. Nothing here changes
//! anything.

use rusqlite::{OptionalExtension as _, Row, params};

use super::items::{Who, time};
use super::{ReadStore, StoreError};
use crate::clock::Timestamp;

/// Version 4 of the tables. `chain` is a JSON list: who asked whom before it came to this question. `delivered` is when
/// the answer went back as the result of the call that asked; without it the asker reads it in its inbox. A message of
/// an inbox can be answered, too.
pub(super) const TABLES: &str = "
CREATE TABLE question (
    id INTEGER PRIMARY KEY AUTOINCREMENT, channel TEXT NOT NULL UNIQUE, asker TEXT NOT NULL, target TEXT NOT NULL,
    brief TEXT NOT NULL, budget INTEGER, deadline INTEGER NOT NULL, chain TEXT NOT NULL, asked INTEGER NOT NULL,
    answer TEXT, answerer_kind TEXT, answerer TEXT, answered INTEGER, delivered INTEGER
);
CREATE INDEX question_open ON question (target, id) WHERE answered IS NULL;
CREATE INDEX question_by_asker ON question (asker, id);
ALTER TABLE inbox ADD COLUMN reply TEXT;
ALTER TABLE inbox ADD COLUMN replier_kind TEXT;
ALTER TABLE inbox ADD COLUMN replier TEXT;
CREATE INDEX inbox_open ON inbox (kind, seat, id) WHERE seen IS NULL;
";

/// A question of one seat to another.
#[derive(Clone, PartialEq, Debug)]
pub struct Question {
    /// Counts up over all questions.
    pub id: i64,
    /// What tools call it: `a2a-1f0c9a77b2e4`.
    pub channel: String,
    /// The seat that asks.
    pub asker: String,
    /// The seat that is asked.
    pub target: String,
    /// What is asked.
    pub brief: String,
    /// What the asker lets the colleague spend, in whatever unit the two mean.
    pub budget: Option<i64>,
    /// Until when the asker waits for the answer.
    pub deadline: Timestamp,
    /// Who asked whom before: the first seat of the chain first, the asker last.
    pub chain: Vec<String>,
    /// When it was asked.
    pub asked: Timestamp,
    /// The answer, once there is one.
    pub answer: Option<Answer>,
}

/// The answer to a question.
#[derive(Clone, PartialEq, Debug)]
pub struct Answer {
    /// What was answered.
    pub body: String,
    /// By whom: the seat that was asked, an operator, the person at the screen.
    pub by: Who,
    /// When.
    pub at: Timestamp,
}

/// What an autopilot put into a seat's inbox.
#[derive(Clone, PartialEq, Debug)]
pub struct Prompt {
    /// Counts up over all inboxes.
    pub id: i64,
    /// The seat that is to do it.
    pub seat: String,
    /// The autopilot.
    pub autopilot: String,
    /// What is to be done.
    pub body: String,
    /// Who triggered it.
    pub sender: Who,
    /// When it came.
    pub created: Timestamp,
    /// When somebody said that it is done, or marked it as read.
    pub done: Option<Timestamp>,
}

const PROMPT: &str =
    "SELECT id, seat, subject, body, sender_kind, sender, created, seen FROM inbox WHERE kind = 'autopilot'";
const COLUMNS: &str = "SELECT id, channel, asker, target, brief, budget, deadline, chain, asked, \
    answer, answerer_kind, answerer, answered FROM question";

impl ReadStore<'_> {
    /// The question of a channel.
    pub fn question(&self, channel: &str) -> Result<Option<Question>, StoreError> {
        let query = format!("{COLUMNS} WHERE channel = ?1");
        Ok(self.connection.prepare_cached(&query)?.query_row([channel], question).optional()?)
    }

    /// Questions without an answer, newest first: to this seat, or to all.
    pub fn open_questions(&self, target: Option<&str>, limit: i64) -> Result<Vec<Question>, StoreError> {
        let query =
            format!("{COLUMNS} WHERE answered IS NULL AND (?1 IS NULL OR target = ?1) ORDER BY id DESC LIMIT ?2");
        let mut query = self.connection.prepare_cached(&query)?;
        let rows = query.query_map(params![target, limit], question)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// How many questions without an answer there are: to this seat, and to all.
    pub fn count_open_questions(&self, target: &str) -> Result<(i64, i64), StoreError> {
        let query = "SELECT coalesce(sum(target = ?1), 0), count(*) FROM question WHERE answered IS NULL";
        let counts = self.connection.prepare_cached(query)?.query_row([target], |row| Ok((row.get(0)?, row.get(1)?)));
        Ok(counts?)
    }

    /// How many questions of this asker have no answer: those to this seat, and all.
    pub fn count_open_questions_of(&self, asker: &str, target: &str) -> Result<(i64, i64), StoreError> {
        let query =
            "SELECT coalesce(sum(target = ?2), 0), count(*) FROM question WHERE answered IS NULL AND asker = ?1";
        let mut query = self.connection.prepare_cached(query)?;
        Ok(query.query_row([asker, target], |row| Ok((row.get(0)?, row.get(1)?)))?)
    }

    /// What a seat asked and has no answer to yet, newest first.
    pub fn asked_by(&self, asker: &str, limit: i64) -> Result<Vec<Question>, StoreError> {
        let query = format!("{COLUMNS} WHERE asker = ?1 AND answered IS NULL ORDER BY id DESC LIMIT ?2");
        let mut query = self.connection.prepare_cached(&query)?;
        let rows = query.query_map(params![asker, limit], question)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// What a seat asked and has an answer to that did not go back with the call, answered since then, newest first.
    pub fn answered_for(&self, asker: &str, since: Timestamp, limit: i64) -> Result<Vec<Question>, StoreError> {
        let query = format!(
            "{COLUMNS} WHERE asker = ?1 AND answered >= ?2 AND delivered IS NULL ORDER BY answered DESC LIMIT ?3"
        );
        let mut query = self.connection.prepare_cached(&query)?;
        let rows = query.query_map(params![asker, since.millis(), limit], question)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Prompts that nobody has done, newest first: to this seat, or to all.
    pub fn open_prompts(&self, seat: Option<&str>, limit: i64) -> Result<Vec<Prompt>, StoreError> {
        let query = format!("{PROMPT} AND seen IS NULL AND (?1 IS NULL OR seat = ?1) ORDER BY id DESC LIMIT ?2");
        let mut query = self.connection.prepare_cached(&query)?;
        let rows = query.query_map(params![seat, limit], prompt)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// How many prompts nobody has done: to this seat, and to all.
    pub fn count_open_prompts(&self, seat: &str) -> Result<(i64, i64), StoreError> {
        let query = "SELECT coalesce(sum(seat = ?1), 0), count(*) FROM inbox WHERE kind = 'autopilot' AND seen IS NULL";
        let counts = self.connection.prepare_cached(query)?.query_row([seat], |row| Ok((row.get(0)?, row.get(1)?)));
        Ok(counts?)
    }

    /// The prompt of this number.
    pub fn prompt(&self, id: i64) -> Result<Option<Prompt>, StoreError> {
        let query = format!("{PROMPT} AND id = ?1");
        Ok(self.connection.prepare_cached(&query)?.query_row([id], prompt).optional()?)
    }
}

fn prompt(row: &Row<'_>) -> rusqlite::Result<Prompt> {
    Ok(Prompt {
        id: row.get(0)?,
        seat: row.get(1)?,
        autopilot: row.get(2)?,
        body: row.get(3)?,
        sender: Who { kind: row.get(4)?, id: row.get(5)? },
        created: time(row.get(6)?),
        done: row.get::<_, Option<i64>>(7)?.map(time),
    })
}

fn question(row: &Row<'_>) -> rusqlite::Result<Question> {
    let answer = match (row.get::<_, Option<String>>(9)?, row.get::<_, Option<i64>>(12)?) {
        (Some(body), Some(at)) => Some(Answer { body, by: Who { kind: row.get(10)?, id: row.get(11)? }, at: time(at) }),
        _ => None,
    };
    Ok(Question {
        id: row.get(0)?,
        channel: row.get(1)?,
        asker: row.get(2)?,
        target: row.get(3)?,
        brief: row.get(4)?,
        budget: row.get(5)?,
        deadline: time(row.get(6)?),
        // What is no list of ours is none: a chain is for reading only.
        chain: serde_json::from_str(&row.get::<_, String>(7)?).unwrap_or_default(),
        asked: time(row.get(8)?),
        answer,
    })
}
