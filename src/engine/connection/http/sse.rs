//! Server-sent events out of bytes: lines ended by CR, LF or both, data over several lines, comments. Pure.
//!
//! [`super::job`], [`super::stream`] and [`super::classic`] read responses with it. One event is bounded; how many come is
//! the readers' affair.

use std::time::Duration;

use crate::engine::connection::wire::MAX_MESSAGE_BYTES;

/// One event.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Event {
    /// Its `event` field; empty for plain messages.
    pub kind: String,
    /// Its data, lines joined by newlines.
    pub data: String,
    /// Its `id` field: where to go on from, should the stream break.
    pub id: Option<String>,
    /// How long to wait before that.
    pub retry: Option<Duration>,
}

/// One event was over the limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct TooLarge;

/// Reads a stream piece by piece.
#[derive(Default)]
pub(super) struct Parser {
    line: Vec<u8>,
    event: Event,
    data_lines: usize,
    after_cr: bool,
    begun: bool,
}

impl Parser {
    /// Takes the next piece; gives back the events that it completes.
    ///
    /// # Errors
    /// An event over the limit; the stream cannot be read on.
    pub fn push(&mut self, mut bytes: &[u8]) -> Result<Vec<Event>, TooLarge> {
        let mut events = Vec::new();
        while let Some((first, rest)) = bytes.split_first() {
            if std::mem::take(&mut self.after_cr) && *first == b'\n' {
                bytes = rest;
                continue;
            }
            let Some(at) = bytes.iter().position(|byte| matches!(byte, b'\r' | b'\n')) else {
                self.grow(bytes)?;
                break;
            };
            let (part, rest) = bytes.split_at(at);
            self.grow(part)?;
            self.after_cr = rest.first() == Some(&b'\r');
            bytes = rest.get(1..).unwrap_or_default();
            events.extend(self.end_line());
        }
        Ok(events)
    }

    /// What the end of the stream left without its blank line; some servers forget it.
    pub fn finish(mut self) -> Option<Event> {
        let event = self.end_line().unwrap_or(self.event);
        (!event.data.is_empty()).then_some(event)
    }

    fn grow(&mut self, bytes: &[u8]) -> Result<(), TooLarge> {
        if self.line.len() + self.event.data.len() + bytes.len() > MAX_MESSAGE_BYTES {
            return Err(TooLarge);
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn end_line(&mut self) -> Option<Event> {
        let line = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&line);
        let line = if std::mem::replace(&mut self.begun, true) { &line } else { line.trim_start_matches('\u{feff}') };
        if line.is_empty() {
            self.data_lines = 0;
            let event = std::mem::take(&mut self.event);
            return (event != Event::default()).then_some(event);
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                if self.data_lines > 0 {
                    self.event.data.push('\n');
                }
                self.data_lines += 1;
                self.event.data.push_str(value);
            }
            "event" => value.clone_into(&mut self.event.kind),
            "id" if !value.contains('\0') => self.event.id = Some(value.to_owned()),
            "retry" => self.event.retry = value.parse().ok().map(Duration::from_millis),
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const STREAM: &str = "\u{feff}: hello\r\nid: 1\r\ndata:\r\n\r\nevent: message\rdata: {\"a\":\rdata: 1}\r\rretry: 250\nid\ndata:x\nother: y\n\nevent: endpoint\ndata: /m?s=1\n\ndata: \u{e9} unfinished";

    fn show(events: &[Event]) -> Vec<String> {
        events.iter().map(|e| format!("{}|{}|{:?}|{:?}", e.kind, e.data, e.id, e.retry)).collect()
    }

    fn read(pieces: &[&[u8]]) -> Vec<String> {
        let mut parser = Parser::default();
        let mut events: Vec<Event> = pieces.iter().flat_map(|piece| parser.push(piece).unwrap()).collect();
        events.extend(parser.finish());
        show(&events)
    }

    #[test]
    fn every_line_end_and_field_is_read() {
        assert_eq!(
            read(&[STREAM.as_bytes()]),
            [
                "||Some(\"1\")|None",
                "message|{\"a\":\n1}|None|None",
                "|x|Some(\"\")|Some(250ms)",
                "endpoint|/m?s=1|None|None",
                "|é unfinished|None|None",
            ]
        );
    }

    #[test]
    fn an_endless_event_is_refused_with_bounded_memory() {
        let mut parser = Parser::default();
        let piece = vec![b'x'; 1 << 20];
        assert!((0..16).all(|_| parser.push(&piece).is_ok()));
        assert_eq!(parser.push(&piece), Err(TooLarge));
        let mut parser = Parser::default();
        let line = [b"data: ".as_slice(), &piece, b"\n"].concat();
        assert!((0..17).any(|_| parser.push(&line) == Err(TooLarge)), "also over many lines");
    }

    proptest! {
        #[test]
        fn how_the_stream_is_cut_does_not_matter(cuts in proptest::collection::vec(0_usize..STREAM.len(), 0..8)) {
            let bytes = STREAM.as_bytes();
            let mut cuts = cuts;
            cuts.sort_unstable();
            let mut pieces = Vec::new();
            let mut from = 0;
            for cut in cuts.into_iter().chain([bytes.len()]) {
                pieces.push(&bytes[from..cut]);
                from = cut;
            }
            prop_assert_eq!(read(&pieces), read(&[bytes]));
        }
    }
}
