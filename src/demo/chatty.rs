//! `chatty`: writes a few coloured lines a second to stderr, as build tools and agents' helpers do.

use std::io::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::protocol::{Answer, Demo, Era, tool};

const PAUSE: Duration = Duration::from_millis(400);

pub(super) struct Chatty {
    lines: Arc<AtomicU64>,
}

impl Chatty {
    /// Starts talking. The thread ends with the process.
    pub(super) fn start() -> io::Result<Self> {
        let lines = Arc::new(AtomicU64::new(0));
        let count = lines.clone();
        std::thread::Builder::new().name("chatter".to_owned()).spawn(move || {
            // Nobody listens any more: then there is nothing left to do.
            while writeln!(io::stderr(), "{}", line(count.load(Ordering::Relaxed))).is_ok() {
                count.fetch_add(1, Ordering::Relaxed);
                std::thread::sleep(PAUSE);
            }
        })?;
        Ok(Self { lines })
    }
}

/// The line of that number.
fn line(number: u64) -> String {
    let job = number / 5 + 1;
    match number % 5 {
        0 => format!("\u{1b}[1;34m==>\u{1b}[0m job {job} started"),
        1 => format!("\u{1b}[32m  ✓\u{1b}[0m fetched 12 files for job {job}"),
        2 => format!("    job {job}: \u{1b}[2m[#####.....]  50 %\u{1b}[0m"),
        3 if job.is_multiple_of(4) => format!("\u{1b}[33mwarning:\u{1b}[0m job {job} is slower than usual"),
        3 => format!("    job {job}: \u{1b}[2m[##########] 100 %\u{1b}[0m"),
        _ => format!("\u{1b}[32m  ✓\u{1b}[0m job {job} done"),
    }
}

impl Demo for Chatty {
    fn name(&self) -> &'static str {
        "chatty"
    }

    fn era(&self) -> Era {
        Era::Older
    }

    fn instructions(&self) -> &'static str {
        "Talks on stderr all the time."
    }

    fn tools(&self) -> Vec<Value> {
        let hints = json!({"title": "Lines so far", "readOnlyHint": true, "openWorldHint": false});
        vec![tool("count_lines", "How many lines it has written to stderr so far.", &[], Some(hints))]
    }

    fn call(&mut self, tool: &str, _: &Map<String, Value>) -> Option<Answer> {
        let lines = self.lines.load(Ordering::Relaxed);
        (tool == "count_lines").then(|| Answer::Data(lines.to_string(), json!({"lines": lines})))
    }
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn lines_have_colours_and_never_a_newline() {
        let lines: Vec<String> = (0..20).map(line).collect();
        assert!(lines.iter().all(|line| !line.contains('\n')));
        assert!(lines.iter().any(|line| line.contains("\u{1b}[33m")));
        assert!(lines.iter().any(|line| line.contains('✓')));
    }
}
