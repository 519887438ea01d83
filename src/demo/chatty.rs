//! `chatty`: writes a few coloured lines a second to stderr, as build tools and agents' helpers do.

use std::io::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::protocol::{Answer, Demo, Era, tool};

/// The longest wait, in seconds.
const LONGEST: u64 = 60;

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
        let hints = |title: &str| json!({"title": title, "readOnlyHint": true, "openWorldHint": false});
        let seconds = json!({
            "type": "integer", "minimum": 0, "maximum": LONGEST, "description": "How long, in seconds.",
        });
        vec![
            tool("count_lines", "How many lines it has written to stderr so far.", &[], Some(hints("Lines so far"))),
            tool(
                "wait",
                "Answers after some seconds and does nothing else, to see a call that takes its time.",
                &[("seconds", seconds)],
                Some(hints("Wait")),
            ),
        ]
    }

    fn call(&mut self, tool: &str, arguments: &Map<String, Value>) -> Option<Answer> {
        let lines = self.lines.load(Ordering::Relaxed);
        match tool {
            "count_lines" => Some(Answer::Data(lines.to_string(), json!({"lines": lines}))),
            "wait" => Some(wait(arguments)),
            _ => None,
        }
    }
}

/// Keeps the whole server busy: it answers one request after the other.
fn wait(arguments: &Map<String, Value>) -> Answer {
    match arguments.get("seconds").and_then(Value::as_u64).filter(|seconds| *seconds <= LONGEST) {
        Some(seconds) => {
            std::thread::sleep(Duration::from_secs(seconds));
            Answer::Text(format!("waited {seconds} s"))
        }
        None => Answer::Failed(format!("seconds is not a whole number from 0 to {LONGEST}")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Answer, line, wait};

    #[test]
    fn a_wait_is_bounded() {
        let answer = |seconds| wait(json!({"seconds": seconds}).as_object().unwrap());
        assert_eq!(answer(json!(0)), Answer::Text("waited 0 s".to_owned()));
        for wrong in [json!(61), json!(-1), json!("1"), json!(null)] {
            assert!(matches!(answer(wrong), Answer::Failed(_)));
        }
    }

    #[test]
    fn lines_have_colours_and_never_a_newline() {
        let lines: Vec<String> = (0..20).map(line).collect();
        assert!(lines.iter().all(|line| !line.contains('\n')));
        assert!(lines.iter().any(|line| line.contains("\u{1b}[33m")));
        assert!(lines.iter().any(|line| line.contains('✓')));
    }
}
