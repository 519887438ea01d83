//! Markers of seats that have been introduced to their place in the company.

use rusqlite::{OptionalExtension as _, params};

use crate::clock::Timestamp;
use crate::store::items::time;
use crate::store::{ReadStore, StoreError, WriteStore};

/// That a seat has been introduced, and to what.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Marker {
    /// The seat.
    pub agent_id: String,
    /// Its handle then.
    pub handle: String,
    /// Its role's name then.
    pub role: String,
    /// Stands for company, units and role: with another one it has to be introduced anew.
    pub chain_hash: String,
    /// What it says it has understood.
    pub summary: String,
    /// When.
    pub at: Timestamp,
}

impl ReadStore<'_> {
    /// A seat's marker.
    pub fn onboarded(&self, agent_id: &str) -> Result<Option<Marker>, StoreError> {
        let query = "SELECT agent_id, handle, role, chain_hash, summary, at FROM onboarding WHERE agent_id = ?1";
        let mut query = self.connection.prepare_cached(query)?;
        let marker = |row: &rusqlite::Row<'_>| {
            Ok(Marker {
                agent_id: row.get(0)?,
                handle: row.get(1)?,
                role: row.get(2)?,
                chain_hash: row.get(3)?,
                summary: row.get(4)?,
                at: time(row.get(5)?),
            })
        };
        Ok(query.query_row([agent_id], marker).optional()?)
    }
}

impl WriteStore<'_> {
    /// Puts a marker in the place of an earlier one.
    pub fn mark_onboarded(&self, marker: &Marker) -> Result<(), StoreError> {
        let mut put = self.connection.prepare_cached(
            "INSERT INTO onboarding (agent_id, handle, role, chain_hash, summary, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6) \
             ON CONFLICT (agent_id) DO UPDATE SET handle = excluded.handle, role = excluded.role, \
             chain_hash = excluded.chain_hash, summary = excluded.summary, at = excluded.at",
        )?;
        put.execute(params![
            marker.agent_id,
            marker.handle,
            marker.role,
            marker.chain_hash,
            marker.summary,
            marker.at.millis()
        ])?;
        Ok(())
    }
}
