//! When to draw: at most thirty times a second, at once after a pause, never without a reason. And when something on
//! the screen changes by itself: the clock's minute, a running count of seconds.

use std::time::Duration;

use tokio::time::Instant;

use crate::clock::Timestamp;

/// Paces frames.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pacer {
    last: Option<Instant>,
    wanted: bool,
}

impl Pacer {
    /// The shortest time between two frames.
    pub const INTERVAL: Duration = Duration::from_millis(34);

    /// Something changed.
    pub const fn want(&mut self) {
        self.wanted = true;
    }

    /// When the next frame is due, if one is wanted; may lie in the past.
    pub fn due(&self) -> Option<Instant> {
        self.wanted.then(|| self.last.map_or_else(Instant::now, |last| last + Self::INTERVAL))
    }

    /// True when a frame is wanted and may be drawn now. Counts it as drawn.
    pub fn take(&mut self, now: Instant) -> bool {
        let due = self.wanted && self.last.is_none_or(|last| now >= last + Self::INTERVAL);
        if due {
            self.wanted = false;
            self.last = Some(now);
        }
        due
    }
}

/// What on the screen changes by itself.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Motion {
    /// Only the clock in the header.
    Minutes,
    /// Something counts seconds: a start, a question's deadline.
    Seconds,
}

impl Motion {
    /// Time until the picture changes by itself.
    pub fn next(self, now: Timestamp) -> Duration {
        let every: i64 = match self {
            Self::Minutes => 60_000,
            Self::Seconds => 1_000,
        };
        let rest = every - now.millis().rem_euclid(every);
        Duration::from_millis(u64::try_from(rest).unwrap_or(1_000))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn frames_are_at_most_thirty_a_second() {
        let mut pacer = Pacer::default();
        let mut frames = 0;
        for _ in 0..1_000 {
            pacer.want();
            frames += u32::from(pacer.take(Instant::now()));
            tokio::time::advance(Duration::from_millis(1)).await;
        }
        assert!((29..=30).contains(&frames), "{frames}");
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_is_due_without_a_reason_and_the_first_change_is_due_at_once() {
        let mut pacer = Pacer::default();
        assert_eq!(pacer.due(), None);
        assert!(!pacer.take(Instant::now()));
        pacer.want();
        assert!(pacer.take(Instant::now()));
        tokio::time::advance(Duration::from_secs(1)).await;
        pacer.want();
        assert!(pacer.due().is_some_and(|due| due <= Instant::now()));
    }

    #[test]
    fn the_picture_changes_on_whole_minutes_and_seconds() {
        let at = Timestamp::from_millis(60_000 * 7 + 59_250);
        assert_eq!(Motion::Minutes.next(at), Duration::from_millis(750));
        assert_eq!(Motion::Seconds.next(at), Duration::from_millis(750));
        assert_eq!(Motion::Seconds.next(Timestamp::from_millis(-250)), Duration::from_millis(250));
    }
}
