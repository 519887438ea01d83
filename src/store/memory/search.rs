//! Finding rows that are like something: by their words (BM25), and where there are vectors also by those.
//!
//! Both orders are merged by place, so that a row whose vector is missing is still found by its words. Vectors are
//! compared in code, over the rows of one seat only.

use std::collections::{HashMap, HashSet};

use rusqlite::{Connection, ToSql, params_from_iter};

use super::Vector;
use crate::store::StoreError;
use crate::store::text;

/// Weight of a place in an order: one of the first places counts for more than two far ones.
const PLACE: f64 = 60.0;

/// What rows shall be like.
#[derive(Clone, PartialEq, Debug)]
pub struct Likeness {
    text: String,
    vector: Option<Vector>,
}

impl Likeness {
    /// Rows that one of the two orders gives at most.
    pub(super) const MOST: i64 = 200;

    /// Like this text; with its vector where there is one.
    pub fn to(text: impl Into<String>, vector: Option<Vector>) -> Self {
        Self { text: text.into(), vector }
    }

    /// As a query of a text index, within the rows of one owner. `None` when there are no words.
    pub(super) fn words(&self, owner: &str) -> Option<String> {
        let any = text::any_word("content", &self.text)?;
        Some(format!("({{owner}} : (\"{owner}\")) AND {any}"))
    }

    /// The nearest rows that a query gives with its vectors, the nearest first. The model is the query's last value.
    pub(super) fn near(
        &self,
        connection: &Connection,
        query: &str,
        values: &[&dyn ToSql],
    ) -> Result<Vec<i64>, StoreError> {
        let Some(wanted) = &self.vector else { return Ok(Vec::new()) };
        let mut query = connection.prepare_cached(query)?;
        let values: Vec<&dyn ToSql> = values.iter().copied().chain([&wanted.model as &dyn ToSql]).collect();
        let mut rows = query.query(params_from_iter(values))?;
        let mut near: Vec<(f32, i64)> = Vec::new();
        while let Some(row) = rows.next()? {
            let blob = row.get_ref(1)?.as_blob().unwrap_or_default();
            if let Some(likeness) = wanted.likeness(blob).filter(|likeness| *likeness > 0.0) {
                near.push((likeness, row.get(0)?));
            }
        }
        near.sort_by(|(a, x), (b, y)| b.total_cmp(a).then_with(|| y.cmp(x)));
        near.truncate(usize::try_from(Self::MOST).unwrap_or(usize::MAX));
        Ok(near.into_iter().map(|(_, id)| id).collect())
    }
}

/// Two orders as one: by their places, newer rows first where these are equal.
pub(super) fn ranked(words: &[i64], near: &[i64], limit: usize) -> impl Iterator<Item = i64> {
    let mut scores: HashMap<i64, f64> = HashMap::new();
    for order in [words, near] {
        for (place, id) in (1_u32..).zip(order) {
            *scores.entry(*id).or_default() += 1.0 / (PLACE + f64::from(place));
        }
    }
    let ids: HashSet<i64> = words.iter().chain(near).copied().collect();
    let mut ids: Vec<(f64, i64)> =
        ids.into_iter().map(|id| (scores.get(&id).copied().unwrap_or_default(), id)).collect();
    ids.sort_by(|(a, x), (b, y)| b.total_cmp(a).then_with(|| y.cmp(x)));
    ids.truncate(limit);
    ids.into_iter().map(|(_, id)| id)
}
