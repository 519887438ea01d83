//! What is turned away before anybody is asked, requests whose sender is not known and servers' questions that cannot be
//! put: recorded, floods as a count.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::Duration;

use tokio::time::Instant;

use super::Core;
use crate::clock::Timestamp;
use crate::engine::audit::{Durability, Kind, Record};

/// The shortest time between two records with the same reason.
const EVERY: Duration = Duration::from_secs(60);

/// Reasons that are told apart; beyond them all count as one that was recorded just now.
const MOST: usize = 1_024;

/// What was turned away, by reason.
#[derive(Debug)]
pub(in crate::engine) struct Doors<R>(HashMap<R, Reason>);

impl<R> Default for Doors<R> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

#[derive(Debug)]
struct Reason {
    recorded: Instant,
    since: u64,
}

impl<R: Eq + Hash> Doors<R> {
    /// Counts one. The number to record now, this one included; `None` while the last record is fresh.
    pub(super) fn count(&mut self, reason: R, now: Instant) -> Option<u64> {
        let Some(known) = self.0.get_mut(&reason) else {
            if self.0.len() >= MOST {
                return None;
            }
            self.0.insert(reason, Reason { recorded: now, since: 0 });
            return Some(1);
        };
        known.since += 1;
        if now.saturating_duration_since(known.recorded) < EVERY {
            return None;
        }
        known.recorded = now;
        Some(std::mem::take(&mut known.since))
    }
}

impl Core {
    pub(super) fn turned_away(&mut self, reason: &'static str) {
        let Some(count) = self.doors.count(reason, Instant::now()) else { return };
        let mut record = Record::new(Timestamp::now(), Kind::Refused);
        let times = if count == 1 { String::new() } else { format!(" ({count} requests since the last record)") };
        record.reason = Some(format!("a request was turned away: {reason}{times}").into());
        let audit = self.fixed.pipeline.audit.clone();
        // The engine does not wait for it: nothing runs because of it, and a failure shows in the writer's health.
        tokio::spawn(async move { audit.append(vec![record], Durability::Written).await });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_first_is_recorded_and_a_flood_is_a_count() {
        let mut doors = Doors::default();
        let began = Instant::now();
        assert_eq!(doors.count("token", began), Some(1));
        for second in 1..60 {
            assert_eq!(doors.count("token", began + Duration::from_secs(second)), None);
        }
        assert_eq!(doors.count("host", began), Some(1));
        assert_eq!(doors.count("token", began + EVERY), Some(60));
        assert_eq!(doors.count("token", began + EVERY), None);
    }
}
