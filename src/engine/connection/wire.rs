//! Newline-delimited JSON-RPC over byte streams: a child's pipes, or a test's in-memory streams.
//!
//! [`super::stdio`] and the supervisor make links with [`spawn`]. Lines that are no protocol are handed to the line
//! sink and skipped, never answered; a line over the limit ends the link with bounded memory.

use std::sync::Arc;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::lines::{LineSink, MAX_LINE};
use super::link::{Carriage, Frame, Link, QUEUE};
use super::message::{self, Incoming, LinkEnd};
use crate::engine::snapshot::LineKind;

/// The longest message that is accepted, in bytes.
pub(super) const MAX_MESSAGE_BYTES: usize = 16 << 20;
/// A line buffer that grew beyond this is given back after its message.
const KEEP_BUFFER: usize = 1 << 20;

/// Starts the tasks that carry messages over `writer` and `reader`.
pub(super) fn spawn(
    writer: impl AsyncWrite + Send + Unpin + 'static,
    reader: impl AsyncRead + Send + Unpin + 'static,
    noise: Arc<LineSink>,
) -> Link {
    let (outgoing, frames) = mpsc::channel(QUEUE);
    let (messages, incoming) = mpsc::channel(QUEUE);
    let close = CancellationToken::new();
    let mut tasks = JoinSet::new();
    tasks.spawn(write_frames(writer, frames, messages.clone(), close.clone()));
    tasks.spawn(read_messages(reader, messages, noise));
    Link { carriage: Carriage::Streams, outgoing, incoming, tasks, close, farewell: None }
}

async fn write_frames(
    mut writer: impl AsyncWrite + Unpin,
    mut frames: mpsc::Receiver<Frame>,
    messages: mpsc::Sender<Incoming>,
    close: CancellationToken,
) {
    let write_all = async {
        while let Some(frame) = frames.recv().await {
            if !frame.depart() {
                continue;
            }
            let mut text = frame.text.into_bytes();
            text.push(b'\n');
            writer.write_all(&text).await?;
            writer.flush().await?;
        }
        Ok::<_, std::io::Error>(())
    };
    // Closing may interrupt a write to a child that does not read; dropping the writer is what closes its stdin.
    let result = tokio::select! {
        result = write_all => result,
        () = close.cancelled() => Ok(()),
    };
    if let Err(error) = result {
        // A child that dies is told by its exit, which says more; this is for one that only closed its input.
        let _ = messages.send(Incoming::End(LinkEnd::Broken(format!("writing to it failed: {error}")))).await;
    }
}

/// As much of a line as may be cleaned and shown.
fn start_of(text: &str) -> &str {
    text.get(..text.floor_char_boundary(MAX_LINE)).unwrap_or_default()
}

async fn read_messages(reader: impl AsyncRead + Unpin, messages: mpsc::Sender<Incoming>, noise: Arc<LineSink>) {
    let mut reader = BufReader::with_capacity(64 << 10, reader);
    let mut line = Vec::new();
    let end = loop {
        match read_line(&mut reader, &mut line).await {
            Ok(true) => {}
            Ok(false) => break LinkEnd::Closed,
            Err(end) => break end,
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_start_matches('\u{feff}').trim();
        if !text.is_empty() {
            match message::read(text) {
                Some(all) => {
                    for message in all {
                        if messages.send(message).await.is_err() {
                            return;
                        }
                    }
                }
                None => drop(noise.push(LineKind::Noise, start_of(text))),
            }
        }
        line.clear();
        if line.capacity() > KEEP_BUFFER {
            line = Vec::new();
        }
    };
    let _ = messages.send(Incoming::End(end)).await;
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
