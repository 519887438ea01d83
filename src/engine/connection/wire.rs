//! Newline-delimited JSON-RPC over byte streams: a child's pipes, or a test's in-memory streams.
//!
//! [`super::stdio`] and the supervisor make links with [`spawn`]. Lines that are no protocol are handed to the line
//! sink and skipped, never answered; a line over the limit ends the link with bounded memory. Lines are read by whoever
//! handles them, and a short message is written by whoever has it, so that a call wakes no more tasks than it must.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Weak};

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::unix::pipe;
use tokio::sync::{Mutex, mpsc};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::lines::{LineSink, MAX_LINE};
use super::link::{Carriage, Frame, Link, QUEUE, Source};
use super::message::{self, Incoming, LinkEnd};
use crate::engine::snapshot::LineKind;

/// The longest message that is accepted, in bytes.
pub(super) const MAX_MESSAGE_BYTES: usize = 16 << 20;
/// A line buffer that grew beyond this is given back after its message.
const KEEP_BUFFER: usize = 1 << 20;

/// What a pipe takes whole or not at all, in bytes.
const WHOLE: usize = if cfg!(target_os = "linux") { 4096 } else { 512 };

/// Where messages go.
pub(super) enum Writer {
    /// A child's stdin.
    Pipe(Arc<Pipe>),
    /// Any other stream.
    Stream(Box<dyn AsyncWrite + Send + Unpin>),
}

/// A child's stdin, closed with the last of those who hold it.
pub(super) struct Pipe {
    pipe: pipe::Sender,
    /// Held while a message is written.
    turn: Mutex<()>,
}

impl Pipe {
    /// A pipe of ours.
    ///
    /// # Errors
    /// It is none, or the runtime cannot watch it.
    pub fn new(stdin: OwnedFd) -> io::Result<Self> {
        Ok(Self { pipe: pipe::Sender::from_owned_fd(stdin)?, turn: Mutex::default() })
    }

    /// Writes a short message here and now. False when nothing of it was written: it is long, another one is being
    /// written, or the pipe is full or broken, which the link's writer finds out.
    pub fn write_at_once(&self, line: &str) -> bool {
        if line.len() > WHOLE {
            return false;
        }
        let Ok(_turn) = self.turn.try_lock() else { return false };
        match self.pipe.try_write(line.as_bytes()) {
            Ok(written) => {
                if written < line.len() {
                    tracing::error!(written, of = line.len(), "pipe_took_a_part");
                }
                true
            }
            Err(_) => false,
        }
    }

    async fn write_all(&self, mut rest: &[u8]) -> io::Result<()> {
        let _turn = self.turn.lock().await;
        while !rest.is_empty() {
            self.pipe.writable().await?;
            match self.pipe.try_write(rest) {
                Ok(written) => rest = rest.get(written..).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl Writer {
    async fn write_all(&mut self, line: &[u8]) -> io::Result<()> {
        match self {
            Self::Pipe(pipe) => pipe.write_all(line).await,
            Self::Stream(stream) => {
                stream.write_all(line).await?;
                stream.flush().await
            }
        }
    }
}

/// Starts the task that carries messages to `writer`, and prepares to read from `reader`.
pub(super) fn spawn(writer: Writer, reader: impl AsyncRead + Send + Unpin + 'static, noise: Arc<LineSink>) -> Link {
    let direct = match &writer {
        Writer::Pipe(pipe) => Arc::downgrade(pipe),
        Writer::Stream(_) => Weak::new(),
    };
    let (outgoing, frames) = mpsc::channel(QUEUE);
    let (trouble, broken) = mpsc::channel(1);
    let close = CancellationToken::new();
    let mut tasks = JoinSet::new();
    tasks.spawn(write_frames(writer, frames, trouble, close.clone()));
    let incoming = Source::Lines(Lines::new(Box::new(reader), broken, noise));
    Link { carriage: Carriage::Streams, outgoing, direct, incoming, tasks, close, farewell: None }
}

async fn write_frames(
    mut writer: Writer,
    mut frames: mpsc::Receiver<Frame>,
    trouble: mpsc::Sender<LinkEnd>,
    close: CancellationToken,
) {
    let write_all = async {
        while let Some(frame) = frames.recv().await {
            if frame.depart() {
                writer.write_all(frame.line.as_bytes()).await?;
            }
        }
        Ok::<_, io::Error>(())
    };
    // Closing may interrupt a write to a child that does not read; dropping the writer is what closes its stdin.
    let result = tokio::select! {
        result = write_all => result,
        () = close.cancelled() => Ok(()),
    };
    if let Err(error) = result {
        // A child that dies is told by its exit, which says more; this is for one that only closed its input.
        let _ = trouble.send(LinkEnd::Broken(format!("writing to it failed: {error}"))).await;
    }
}

/// What comes over a stream, line by line.
pub(super) struct Lines {
    reader: BufReader<Box<dyn AsyncRead + Send + Unpin>>,
    line: Vec<u8>,
    /// Messages of one line that are still to be handed out.
    read: VecDeque<Incoming>,
    /// Why nothing can be written any more.
    broken: mpsc::Receiver<LinkEnd>,
    noise: Arc<LineSink>,
    ended: bool,
}

impl Lines {
    fn new(reader: Box<dyn AsyncRead + Send + Unpin>, broken: mpsc::Receiver<LinkEnd>, noise: Arc<LineSink>) -> Self {
        let reader = BufReader::with_capacity(64 << 10, reader);
        Self { reader, line: Vec::new(), read: VecDeque::new(), broken, noise, ended: false }
    }

    /// The next message; the last one is [`Incoming::End`].
    pub async fn next(&mut self) -> Option<Incoming> {
        loop {
            if let Some(message) = self.read.pop_front() {
                return Some(message);
            }
            if self.ended {
                return None;
            }
            let end = tokio::select! {
                biased;
                read = read_line(&mut self.reader, &mut self.line) => match read {
                    Ok(true) => {
                        self.take_line();
                        continue;
                    }
                    Ok(false) => LinkEnd::Closed,
                    Err(end) => end,
                },
                Some(end) = self.broken.recv() => end,
            };
            self.ended = true;
            return Some(Incoming::End(end));
        }
    }

    fn take_line(&mut self) {
        let text = String::from_utf8_lossy(&self.line);
        let text = text.trim_start_matches('\u{feff}').trim();
        if !text.is_empty() {
            match message::read(text) {
                Some(all) => self.read.extend(all),
                None => drop(self.noise.push(LineKind::Noise, start_of(text))),
            }
        }
        self.line.clear();
        if self.line.capacity() > KEEP_BUFFER {
            self.line = Vec::new();
        }
    }
}

/// As much of a line as may be cleaned and shown.
fn start_of(text: &str) -> &str {
    text.get(..text.floor_char_boundary(MAX_LINE)).unwrap_or_default()
}

/// Appends the next line to `line`, without its newline. False at the end of the stream.
async fn read_line(reader: &mut (impl AsyncBufReadExt + Unpin), line: &mut Vec<u8>) -> Result<bool, LinkEnd> {
    loop {
        let available = match reader.fill_buf().await {
            Ok(available) => available,
            Err(error) => return Err(LinkEnd::Broken(format!("reading from it failed: {error}"))),
        };
        if available.is_empty() {
            return Ok(!line.is_empty());
        }
        let newline = available.iter().position(|byte| *byte == b'\n');
        let part = available.get(..newline.unwrap_or(available.len())).unwrap_or_default();
        if line.len() + part.len() > MAX_MESSAGE_BYTES {
            return Err(LinkEnd::TooLarge(MAX_MESSAGE_BYTES));
        }
        line.extend_from_slice(part);
        let used = part.len() + usize::from(newline.is_some());
        reader.consume(used);
        if newline.is_some() {
            return Ok(true);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[tokio::test]
    async fn a_short_message_is_written_whole_or_left_to_the_writer() {
        let (mut reader, writer) = io::pipe().unwrap();
        let pipe = Pipe::new(writer.into()).unwrap();
        pipe.pipe.writable().await.unwrap();
        let line = format!("{}\n", "x".repeat(999));
        let mut written = 0;
        while pipe.write_at_once(&line) {
            written += 1;
            assert!(written < 100_000, "a pipe that nobody reads is full at some time");
        }
        assert!(written > 0);
        let mut all = Vec::new();
        drop(pipe);
        reader.read_to_end(&mut all).unwrap();
        assert_eq!(all.len(), written * line.len(), "nothing of the one that had no room");
    }

    #[tokio::test]
    async fn what_is_long_or_comes_during_another_message_waits_its_turn() {
        let (_reader, writer) = io::pipe().unwrap();
        let pipe = Pipe::new(writer.into()).unwrap();
        pipe.pipe.writable().await.unwrap();
        assert!(!pipe.write_at_once(&"x".repeat(WHOLE + 1)));
        let turn = pipe.turn.lock().await;
        assert!(!pipe.write_at_once("x\n"));
        drop(turn);
        assert!(pipe.write_at_once("x\n"));
    }
}
