//! Draining a child's stderr: bytes to lines, lines to the sink, the last 50 kept for the failure.
//!
//! [`super::stdio`] starts [`drain`] for each child. It reads whatever comes at once: when there is more than can be
//! cleaned and shown, lines are counted as dropped, but the child never waits for us and the tail stays true.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt};

use super::lines::{LOOKAHEAD, LineSink, MAX_LINE};
use crate::engine::snapshot::LineKind;

/// Bytes of a line that are kept until it has been cleaned and cut.
const KEPT: usize = MAX_LINE + LOOKAHEAD;
/// Lines kept for the failure.
const TAIL_LINES: usize = 50;

/// The last lines of one child's stderr, as bytes; cleaned when they are asked for.
#[derive(Clone, Default)]
pub(super) struct Tail(Arc<Mutex<VecDeque<Vec<u8>>>>);

impl Tail {
    /// The lines, oldest first, cleaned and redacted.
    pub fn lines(&self, sink: &LineSink) -> Arc<[Arc<str>]> {
        let lines: Vec<_> = self.lock().iter().cloned().collect();
        lines.iter().map(|line| sink.clean_line(LineKind::Stderr, &decode(line))).collect()
    }

    fn push(&self, line: &[u8]) {
        let mut lines = self.lock();
        let mut slot = if lines.len() >= TAIL_LINES { lines.pop_front().unwrap_or_default() } else { Vec::new() };
        slot.clear();
        slot.extend_from_slice(line);
        lines.push_back(slot);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, VecDeque<Vec<u8>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads `stderr` to its end.
pub(super) async fn drain(mut stderr: impl AsyncRead + Unpin, server: Arc<str>, sink: Arc<LineSink>, tail: Tail) {
    let mut chunk = vec![0_u8; 64 << 10];
    let out = Output { server, sink, tail };
    let mut lines = LineSplitter::default();
    loop {
        match stderr.read(&mut chunk).await {
            Ok(0) | Err(_) => break,
            Ok(read) => lines.feed(chunk.get(..read).unwrap_or_default(), &mut |line| out.take(line)),
        }
    }
    lines.finish(&mut |line| out.take(line));
    out.sink.flush();
}

struct Output {
    server: Arc<str>,
    sink: Arc<LineSink>,
    tail: Tail,
}

impl Output {
    fn take(&self, line: &[u8]) {
        if line.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        self.tail.push(line);
        if let Some(line) = self.sink.push(LineKind::Stderr, &decode(line)) {
            tracing::debug!(server = %self.server, line = %line, "server_stderr");
        }
    }
}

fn decode(line: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(line)
}

/// Cuts bytes into lines of bounded length.
#[derive(Default)]
struct LineSplitter {
    line: Vec<u8>,
}

impl LineSplitter {
    fn feed(&mut self, bytes: &[u8], take: &mut impl FnMut(&[u8])) {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let (text, ends) = match part.split_last() {
                Some((b'\n', text)) => (text, true),
                _ => (part, false),
            };
            let room = KEPT.saturating_sub(self.line.len());
            self.line.extend_from_slice(text.get(..room).unwrap_or(text));
            if ends {
                self.finish(take);
            }
        }
    }

    fn finish(&mut self, take: &mut impl FnMut(&[u8])) {
        while self.line.last() == Some(&b'\r') {
            self.line.pop();
        }
        take(&self.line);
        self.line.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_out_of_any_chunks() {
        let long = "x".repeat(KEPT + 5);
        let text = format!("one\r\ntwo\n{long}\nlast");
        for size in [1, 7, 64 << 10] {
            let mut seen = Vec::new();
            let mut splitter = LineSplitter::default();
            let mut take = |line: &[u8]| seen.push(decode(line).into_owned());
            for chunk in text.as_bytes().chunks(size) {
                splitter.feed(chunk, &mut take);
            }
            splitter.finish(&mut take);
            let cut = "x".repeat(KEPT);
            assert_eq!(seen, ["one", "two", cut.as_str(), "last"], "chunks of {size}");
        }
    }

    #[test]
    fn a_secret_across_a_cut_shows_no_part_of_itself() {
        let redactor = crate::secret::Redactor::default();
        redactor.learn([crate::secret::Secret::new("Zq7LmX2vRtK9pW4s")]);
        let (events, _) = tokio::sync::mpsc::channel(1);
        let sink = LineSink::new("s".into(), redactor, events);
        for (kind, limit) in [(LineKind::Stderr, MAX_LINE), (LineKind::Noise, 200)] {
            for before in limit - 16..=limit {
                let line = format!("{} Zq7LmX2vRtK9pW4s {}", "x".repeat(before), "y".repeat(9_000));
                let shown = sink.clean_line(kind, &line);
                assert!(!shown.contains("Zq7L"), "{kind:?} after {before}");
                assert!(shown.len() <= limit + 40);
            }
        }
    }

    #[test]
    fn the_tail_keeps_the_last_fifty() {
        let tail = Tail::default();
        for n in 0..120 {
            tail.push(format!("line {n}").as_bytes());
        }
        let (events, _) = tokio::sync::mpsc::channel(1);
        let sink = LineSink::new("s".into(), crate::secret::Redactor::default(), events);
        let lines = tail.lines(&sink);
        assert_eq!((lines.len(), &*lines[0], &*lines[49]), (50, "line 70", "line 119"));
    }
}
