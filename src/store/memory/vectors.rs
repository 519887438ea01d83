//! Embeddings as they are kept: the numbers as bytes, beside the name of the model that made them.
//!
//! Vectors of different models mean nothing to each other, so only those of the same one are compared. Rows without
//! a vector of the present model are handed out again and again until they have one.

use rusqlite::params;

use crate::store::{ReadStore, StoreError, WriteStore};

/// A vector and where it is from.
#[derive(Clone, PartialEq, Debug)]
pub struct Vector {
    /// The model that made it.
    pub model: String,
    /// The numbers.
    pub numbers: Vec<f32>,
}

/// A row that has no vector of a model yet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unembedded {
    /// The table: only this module makes these.
    table: &'static str,
    id: i64,
    /// What the vector is to be made of.
    pub text: String,
}

impl Vector {
    /// As bytes, the lowest first.
    fn bytes(&self) -> Vec<u8> {
        self.numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
    }

    /// The cosine of the angle to a kept vector. `None` when it has another length, or none at all.
    pub(super) fn likeness(&self, kept: &[u8]) -> Option<f32> {
        let (numbers, rest) = kept.as_chunks::<4>();
        if numbers.len() != self.numbers.len() || !rest.is_empty() {
            return None;
        }
        let (mut dot, mut own, mut other) = (0.0_f32, 0.0_f32, 0.0_f32);
        for (a, b) in self.numbers.iter().zip(numbers) {
            let b = f32::from_le_bytes(*b);
            dot += a * b;
            own += a * a;
            other += b * b;
        }
        let cosine = dot / (own.sqrt() * other.sqrt());
        cosine.is_finite().then_some(cosine)
    }
}

const DIARY: &str = "agent_diary";
const EPISODES: &str = "episodes";

impl ReadStore<'_> {
    /// Rows without a vector of this model, newest first: those are looked for soonest.
    pub fn unembedded(
        &self,
        model: &str,
        now: crate::clock::Timestamp,
        limit: i64,
    ) -> Result<Vec<Unembedded>, StoreError> {
        let diary = "SELECT id, content FROM agent_diary WHERE embedding_model IS NOT ?1 \
            AND (ttl_until IS NULL OR ttl_until > ?3) ORDER BY id DESC LIMIT ?2";
        let episodes = "SELECT id, task_summary || char(10) || plan_summary FROM episodes \
            WHERE embedding_model IS NOT ?1 AND ?3 = ?3 ORDER BY id DESC LIMIT ?2";
        let mut found = Vec::new();
        for (table, query) in [(DIARY, diary), (EPISODES, episodes)] {
            let mut query = self.connection.prepare_cached(query)?;
            let row = |row: &rusqlite::Row<'_>| Ok(Unembedded { table, id: row.get(0)?, text: row.get(1)? });
            let rows = query.query_map(params![model, limit, now.millis()], row)?;
            found.extend(rows.collect::<Result<Vec<_>, _>>()?);
        }
        found.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(found)
    }
}

impl WriteStore<'_> {
    /// Keeps the vector of a row. `None`: there is none to be had for its text, so that it is not asked for again.
    pub fn embed(&self, row: &Unembedded, model: &str, vector: Option<&Vector>) -> Result<(), StoreError> {
        let update = match row.table {
            DIARY => "UPDATE agent_diary SET embedding = ?2, embedding_model = ?3 WHERE id = ?1",
            _ => "UPDATE episodes SET embedding = ?2, embedding_model = ?3 WHERE id = ?1",
        };
        let mut update = self.connection.prepare_cached(update)?;
        update.execute(params![row.id, vector.map(Vector::bytes), model])?;
        Ok(())
    }
}
