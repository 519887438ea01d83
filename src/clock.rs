//! Wall-clock time as the program keeps it: whole milliseconds since the Unix epoch, UTC.
//!
//! Durations and deadlines inside the engine go by `tokio::time`, which tests can pause; this type is for
//! what people and the audit read.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A moment in milliseconds since the Unix epoch, UTC.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The moment `millis` milliseconds after the Unix epoch.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// The system's clock, now.
    pub fn now() -> Self {
        let millis = match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(after) => i64::try_from(after.as_millis()).unwrap_or(i64::MAX),
            Err(before) => i64::try_from(before.duration().as_millis()).map_or(i64::MIN, |m| -m),
        };
        Self(millis)
    }

    /// Milliseconds since the Unix epoch.
    pub const fn millis(self) -> i64 {
        self.0
    }

    /// The time that has passed since `earlier`; zero when the clock went backwards.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// This moment moved into the future.
    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)))
    }

    /// This moment moved into the past.
    #[must_use]
    pub fn before(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)))
    }

    /// RFC 3339 in UTC with milliseconds, as the audit writes it: `2026-11-30T15:47:23.120Z`.
    pub fn rfc3339(self) -> String {
        const PRINTER: jiff::fmt::temporal::DateTimePrinter =
            jiff::fmt::temporal::DateTimePrinter::new().precision(Some(3));
        jiff::Timestamp::from_millisecond(self.0)
            .map_or_else(|_| self.0.to_string(), |at| PRINTER.timestamp_to_string(&at))
    }

    /// RFC 3339 in UTC, whole seconds, as the connector's audit writes it: `2026-11-30T15:47:23Z`.
    pub fn rfc3339_seconds(self) -> String {
        self.format_utc("%Y-%m-%dT%H:%M:%SZ")
    }

    fn format_utc(self, pattern: &str) -> String {
        jiff::Timestamp::from_millisecond(self.0)
            .map_or_else(|_| self.0.to_string(), |at| at.strftime(pattern).to_string())
    }

    /// The time of day in the given zone: `14:03:07` with seconds, `14:03` without.
    pub fn time_of_day(self, zone: &jiff::tz::TimeZone, precision: Precision) -> String {
        let pattern = match precision {
            Precision::Minutes => "%H:%M",
            Precision::Seconds => "%H:%M:%S",
        };
        jiff::Timestamp::from_millisecond(self.0)
            .map_or_else(|_| "--:--".to_owned(), |at| at.to_zoned_datetime(zone.clone()).strftime(pattern).to_string())
    }

    /// Day and time of day in the given zone: `2026-11-30 14:03`.
    pub fn day_and_time(self, zone: &jiff::tz::TimeZone) -> String {
        let at = jiff::Timestamp::from_millisecond(self.0).map(|at| at.to_zoned_datetime(zone.clone()));
        at.map_or_else(|_| "--".to_owned(), |at| at.strftime("%Y-%m-%d %H:%M").to_string())
    }
}

/// How fine a time of day is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Precision {
    /// `14:03`
    Minutes,
    /// `14:03:07`
    Seconds,
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.rfc3339())
    }
}
