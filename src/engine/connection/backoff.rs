//! How long to wait before another attempt, and when to stop trying: pure.
//!
//! The supervisor keeps one [`Attempts`] and asks it after every failure.

use std::time::Duration;

/// Failed attempts in a row after which nothing tries again by itself.
pub(super) const MAX_ATTEMPTS: u32 = 5;
/// A connection that was ready for this long starts with a fresh budget.
pub(super) const HEALTHY: Duration = Duration::from_secs(60);
const FIRST_DELAY: Duration = Duration::from_secs(1);
const LONGEST_DELAY: Duration = Duration::from_secs(60);

/// Failed attempts in a row.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Attempts(u32);

/// What follows a failure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Next {
    /// Another attempt after this time; it is the given failure in a row, from 1.
    Wait(Duration, u32),
    /// No further attempt.
    GiveUp,
}

impl Attempts {
    /// A start failed. `jitter` is a random number.
    pub fn failed_to_start(&mut self, jitter: u32) -> Next {
        self.0 = self.0.saturating_add(1);
        if self.0 >= MAX_ATTEMPTS { Next::GiveUp } else { Next::Wait(delay(self.0, jitter), self.0) }
    }

    /// A start failed that somebody asked for between two attempts: it costs none of the budget.
    pub fn failed_extra(self, jitter: u32) -> Next {
        let failures = self.0.max(1);
        if failures >= MAX_ATTEMPTS { Next::GiveUp } else { Next::Wait(delay(failures, jitter), failures) }
    }

    /// A connection ended that had been ready for `healthy`.
    pub fn ended_after(&mut self, healthy: Duration, jitter: u32) -> Next {
        if healthy >= HEALTHY {
            *self = Self::default();
        }
        self.failed_to_start(jitter)
    }
}

/// 1, 2, 4 … 60 s, and up to a quarter more so that servers that failed together do not come back together.
fn delay(failures: u32, jitter: u32) -> Duration {
    let doubled = FIRST_DELAY.saturating_mul(1_u32.checked_shl(failures.saturating_sub(1)).unwrap_or(u32::MAX));
    let base = doubled.min(LONGEST_DELAY);
    let extra = base.mul_f64(0.25 * f64::from(jitter) / f64::from(u32::MAX));
    (base + extra).min(LONGEST_DELAY)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn five_failures_in_a_row_end_it() {
        let mut attempts = Attempts::default();
        let seconds = |next| match next {
            Next::Wait(delay, attempt) => Some((delay.as_secs(), attempt)),
            Next::GiveUp => None,
        };
        let seen: Vec<_> = (0..5).map(|_| seconds(attempts.failed_to_start(0))).collect();
        assert_eq!(seen, [Some((1, 1)), Some((2, 2)), Some((4, 3)), Some((8, 4)), None]);
    }

    #[test]
    fn a_minute_of_health_gives_a_fresh_budget_and_less_does_not() {
        let mut attempts = Attempts(3);
        assert_eq!(attempts.ended_after(HEALTHY, 0), Next::Wait(Duration::from_secs(1), 1));
        let mut attempts = Attempts(4);
        assert_eq!(attempts.ended_after(HEALTHY.checked_sub(Duration::from_millis(1)).unwrap(), 0), Next::GiveUp);
    }

    proptest! {
        #[test]
        fn delays_stay_between_a_second_and_a_minute(failures in 1_u32.., jitter: u32) {
            let delay = delay(failures, jitter);
            prop_assert!(delay >= FIRST_DELAY && delay <= LONGEST_DELAY);
        }
    }
}
