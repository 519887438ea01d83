//! Durations and counts as people read them: two figures at most, and a width that does not jump.

use std::time::Duration;

/// A latency: `3 ms`, `140 ms`, `1.4 s`, `75 s`.
pub fn latency(duration: Duration) -> String {
    let millis = duration.as_millis();
    match millis {
        0..1_000 => format!("{millis} ms"),
        1_000..10_000 => format!("{}.{} s", millis / 1_000, millis % 1_000 / 100),
        _ => format!("{} s", millis / 1_000),
    }
}

/// A span of time: `7 s`, `12 min`, `2 h 04`, `3 d 02 h`.
pub fn span(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let (minutes, hours, days) = (seconds / 60, seconds / 3_600, seconds / 86_400);
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{minutes} min"),
        3_600..86_400 => format!("{hours} h {:02}", minutes % 60),
        _ => format!("{days} d {:02} h", hours % 24),
    }
}

/// `1 call`, `2 calls`.
pub fn plural(count: usize, noun: &str) -> String {
    if count == 1 { format!("{count} {noun}") } else { format!("{count} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_well() {
        let read = |millis| (latency(Duration::from_millis(millis)), span(Duration::from_millis(millis)));
        for (millis, latency, span) in [
            (0, "0 ms", "0 s"),
            (999, "999 ms", "0 s"),
            (1_450, "1.4 s", "1 s"),
            (75_000, "75 s", "1 min"),
            (7_440_000, "7440 s", "2 h 04"),
            (266_400_000, "266400 s", "3 d 02 h"),
        ] {
            assert_eq!(read(millis), (latency.to_owned(), span.to_owned()));
        }
    }
}
