//! A link: a bounded channel to whatever carries the client's messages, and where the other side's come from.
//!
//! [`super::wire`] makes links over byte streams, [`super::http`] over an endpoint; [`super::client`] is the one
//! reader and writer. A link knows nothing about requests except whether one has left.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Weak};

use http::{HeaderName, HeaderValue};
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, JoinSet};
use tokio_util::sync::CancellationToken;

use super::message::Incoming;
use super::wire::{Lines, Pipe};

/// Messages that wait to be written, and messages read that wait to be handled.
pub(super) const QUEUE: usize = 64;

/// Both ends of a link, and what keeps it going.
pub(super) struct Link {
    /// What it runs over.
    pub carriage: Carriage,
    /// Messages to the other side.
    pub outgoing: mpsc::Sender<Frame>,
    /// The same way, for who has a short message while nothing else is on it.
    pub direct: Weak<Pipe>,
    /// Messages from it.
    pub incoming: Source,
    /// The tasks that carry them.
    pub tasks: JoinSet<()>,
    /// Closes our side: a child's stdin, an endpoint's session.
    pub close: CancellationToken,
    /// A task that says goodbye once our side is closed; it is waited for a moment.
    pub farewell: Option<JoinHandle<()>>,
}

/// Where the other side's messages come from; the last one is [`Incoming::End`].
pub(super) enum Source {
    /// Tasks that carry them.
    Tasks(mpsc::Receiver<Incoming>),
    /// The stream itself.
    Lines(Lines),
}

impl Source {
    /// The next one.
    pub async fn next(&mut self) -> Option<Incoming> {
        match self {
            Self::Tasks(messages) => messages.recv().await,
            Self::Lines(lines) => lines.next().await,
        }
    }
}

/// One message of ours.
pub(super) struct Frame {
    /// JSON text and a newline.
    pub line: String,
    /// For requests that must not be sent once they are given up.
    pub ticket: Option<Arc<Ticket>>,
    /// Arguments that an endpoint wants to see among the headers; pipes have none.
    pub mirrored: Vec<(HeaderName, HeaderValue)>,
}

/// What carries a link's messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Carriage {
    /// Byte streams: a child's pipes.
    Streams,
    /// Requests to an endpoint.
    Http,
}

impl Frame {
    /// A message that goes out in any case.
    pub fn plain(mut text: String) -> Self {
        text.push('\n');
        Self { line: text, ticket: None, mirrored: Vec::new() }
    }

    /// The message without its newline.
    pub fn text(&self) -> &str {
        self.line.trim_end()
    }

    /// True when this message is to be written now; from here on it counts as sent.
    pub fn depart(&self) -> bool {
        self.ticket.as_ref().is_none_or(|ticket| ticket.depart())
    }
}

/// Whether a queued request has left. Either the writer or the one who gives up wins, never both: this is what
/// makes "nothing was sent" a fact.
#[derive(Default, Debug)]
pub(super) struct Ticket(AtomicU8);

const QUEUED: u8 = 0;
const SENT: u8 = 1;
const WITHDRAWN: u8 = 2;

impl Ticket {
    fn depart(&self) -> bool {
        self.0.compare_exchange(QUEUED, SENT, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Takes a queued request back. False when it has left already.
    pub fn withdraw(&self) -> bool {
        self.0.compare_exchange(QUEUED, WITHDRAWN, Ordering::AcqRel, Ordering::Acquire) != Err(SENT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_either_sent_or_withdrawn() {
        let ticket = Arc::new(Ticket::default());
        let frame = Frame { ticket: Some(ticket.clone()), ..Frame::plain(String::new()) };
        assert!(frame.depart());
        assert!(!ticket.withdraw(), "it has left");

        let ticket = Arc::new(Ticket::default());
        let frame = Frame { ticket: Some(ticket.clone()), ..Frame::plain(String::new()) };
        assert!(ticket.withdraw());
        assert!(ticket.withdraw(), "again is the same");
        assert!(!frame.depart(), "what was taken back is not written");
    }
}
