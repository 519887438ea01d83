//! Asking and answering: what changes the rows of [`super::questions`].

use rusqlite::params;

use super::questions::{Answer, Question};
use super::{Signed, StoreError, WriteStore};
use crate::clock::Timestamp;

impl WriteStore<'_> {
    /// Keeps a question; its number. What else the row holds is the caller's.
    pub fn ask(&self, question: &Question) -> Result<i64, StoreError> {
        let chain = serde_json::Value::from(question.chain.clone()).to_string();
        let query = "INSERT INTO question (channel, asker, target, brief, budget, deadline, chain, asked) \
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
        self.run(
            query,
            params![
                question.channel,
                question.asker,
                question.target,
                question.brief,
                question.budget,
                question.deadline.millis(),
                chain,
                question.asked.millis()
            ],
        )?;
        Ok(self.read.connection.last_insert_rowid())
    }

    /// Keeps the answer to a question. False when there is one already: the first stays.
    pub fn answer(&self, channel: &str, body: &str, by: &Signed) -> Result<bool, StoreError> {
        let query = "UPDATE question SET answer = ?2, answerer_kind = ?3, answerer = ?4, answered = ?5 \
            WHERE channel = ?1 AND answered IS NULL";
        let changed = self.run(query, params![channel, body, by.who.kind, by.who.id, by.at.millis()])?;
        Ok(changed == 1)
    }

    /// The answer went back as the result of the call that asked.
    pub fn delivered(&self, channel: &str, at: Timestamp) -> Result<(), StoreError> {
        let query = "UPDATE question SET delivered = ?2 WHERE channel = ?1 AND answered IS NOT NULL";
        self.run(query, params![channel, at.millis()]).map(|_| ())
    }

    /// Keeps what came of a prompt. False when it was done before.
    pub fn answer_prompt(&self, id: i64, answer: &Answer) -> Result<bool, StoreError> {
        let query = "UPDATE inbox SET seen = ?2, reply = ?3, replier_kind = ?4, replier = ?5 \
            WHERE id = ?1 AND seen IS NULL";
        let values = params![id, answer.at.millis(), answer.body, answer.by.kind, answer.by.id];
        Ok(self.run(query, values)? == 1)
    }
}
