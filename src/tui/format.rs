//! Durations and counts as people read them: two figures at most, and a width that does not jump.

use std::time::Duration;

/// A latency: `<1 ms`, `3 ms`, `140 ms`, `1.4 s`, `75 s`.
pub fn latency(duration: Duration) -> String {
    let millis = duration.as_millis();
    match millis {
        0 => "<1 ms".to_owned(),
        1..1_000 => format!("{millis} ms"),
        1_000..10_000 => format!("{}.{} s", millis / 1_000, millis % 1_000 / 100),
        _ => format!("{} s", millis / 1_000),
    }
}

/// A span of time: `7 s`, `12 min`, `2 h 04 min`, `3 d 02 h`.
pub fn span(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let (minutes, hours, days) = (seconds / 60, seconds / 3_600, seconds / 86_400);
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{minutes} min"),
        3_600..86_400 => format!("{hours} h {:02} min", minutes % 60),
        _ => format!("{days} d {:02} h", hours % 24),
    }
}

/// How long something has been so, by the minute: it need not be drawn anew each second.
pub fn by_minutes(duration: Duration) -> String {
    if duration.as_secs() < 60 { "<1 min".to_owned() } else { span(duration) }
}

/// True when a text ends with a number, blanks after it aside.
pub fn ends_in_number(text: &str) -> bool {
    let text = text.trim_end_matches(' ');
    let word = text.rsplit(' ').next().unwrap_or_default();
    word.ends_with(|c: char| c.is_ascii_digit()) && !word.contains(|c: char| c.is_alphabetic())
}

/// True when a text begins with a unit of time or size.
pub fn begins_with_unit(text: &str) -> bool {
    let unit: String = text.chars().take_while(|c| c.is_alphabetic()).take(6).collect();
    matches!(unit.as_str(), "ms" | "s" | "min" | "h" | "d" | "KiB" | "bytes" | "byte")
}

/// `1 call`, `2 calls`.
pub fn plural(count: usize, noun: &str) -> String {
    if count == 1 { format!("{count} {noun}") } else { format!("{count} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_by_the_minute_does_not_change_by_the_second() {
        let read = |seconds| by_minutes(Duration::from_secs(seconds));
        assert_eq!([0, 59, 60, 119, 3_600].map(read), ["<1 min", "<1 min", "1 min", "1 min", "1 h 00 min"]);
    }

    #[test]
    fn durations_read_well() {
        let read = |millis| (latency(Duration::from_millis(millis)), span(Duration::from_millis(millis)));
        for (millis, latency, span) in [
            (0, "<1 ms", "0 s"),
            (999, "999 ms", "0 s"),
            (1_450, "1.4 s", "1 s"),
            (75_000, "75 s", "1 min"),
            (7_440_000, "7440 s", "2 h 04 min"),
            (266_400_000, "266400 s", "3 d 02 h"),
        ] {
            assert_eq!(read(millis), (latency.to_owned(), span.to_owned()));
        }
    }
}
