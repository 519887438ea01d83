//! A streamable HTTP endpoint as a link: one POST for each message of ours, one stream for the server's own.
//!
//! The supervisor opens one for each start. Bytes go out and come back as they are, over a client of our own; sessions,
//! headers and what a failed request means are decided here, who asks again is not.

mod body;
mod classic;
pub(crate) mod endpoint;
mod fate;
pub(super) mod headers;
mod job;
mod sse;
mod stream;

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use self::endpoint::Endpoint;
use super::HttpSpec;
use super::failure::Trouble;
use super::lines::LineSink;
use super::link::{Carriage, Frame, Link, QUEUE, Source};
use super::message::{Incoming, LinkEnd};
use crate::ids::ConnectionName;

/// Bounds what is sent without waiting for an answer: notices, and the farewell to a session.
const NOTICE_TIME: Duration = Duration::from_secs(5);

/// Prepares the endpoint; nothing is sent before the first message.
///
/// # Errors
/// A URL or header that cannot be sent.
pub(super) fn open(spec: &HttpSpec, name: &ConnectionName, sink: &Arc<LineSink>) -> Result<Link, Trouble> {
    let endpoint = Arc::new(Endpoint::new(spec, name, sink.clone()).map_err(Trouble::Endpoint)?);
    let (outgoing, frames) = mpsc::channel(QUEUE);
    let (messages, incoming) = mpsc::channel(QUEUE);
    let close = CancellationToken::new();
    let carrier = Carrier { endpoint, messages, jobs: JoinSet::new(), by_id: HashMap::new(), stream: None };
    let farewell = tokio::spawn(carrier.run(frames, close.clone()));
    let carriage = Carriage::Http;
    let (direct, incoming) = (Weak::new(), Source::Tasks(incoming));
    Ok(Link { carriage, outgoing, direct, incoming, tasks: JoinSet::new(), close, farewell: Some(farewell) })
}

/// Sends our messages and keeps track of the requests on their way.
struct Carrier {
    endpoint: Arc<Endpoint>,
    messages: mpsc::Sender<Incoming>,
    jobs: JoinSet<()>,
    by_id: HashMap<u64, AbortHandle>,
    /// The server's own stream in the present session.
    stream: Option<AbortHandle>,
}

/// Answers and notices on their way at one time, beside requests.
const MOST_NOTICES: usize = 16;

impl Carrier {
    async fn run(mut self, mut frames: mpsc::Receiver<Frame>, close: CancellationToken) {
        loop {
            tokio::select! {
                biased;
                () = close.cancelled() => break,
                Some(ended) = self.jobs.join_next() => {
                    if ended.is_err_and(|error| error.is_panic()) {
                        let _ = self.messages.send(Incoming::End(LinkEnd::Internal)).await;
                        break;
                    }
                    self.by_id.retain(|_, job| !job.is_finished());
                }
                frame = frames.recv() => match frame {
                    Some(frame) => self.send(frame).await,
                    None => break,
                },
            }
        }
        self.jobs.shutdown().await;
        self.endpoint.leave().await;
    }

    async fn send(&mut self, frame: Frame) {
        if !frame.depart() {
            return;
        }
        let Ok(value) = serde_json::from_str::<Value>(frame.text()) else { return };
        let method = value.get("method").and_then(Value::as_str);
        let frame_is_notice = frame.ticket.is_none();
        let job = job::run(self.endpoint.clone(), self.messages.clone(), frame);
        match (method, value.get("id").and_then(Value::as_u64)) {
            (Some(_), Some(id)) => {
                let handle = self.jobs.spawn(job);
                self.by_id.insert(id, handle);
            }
            // What follows relies on it having arrived.
            (Some("notifications/initialized"), _) => {
                let _ = timeout(NOTICE_TIME, job).await;
                self.listen();
            }
            (Some("notifications/cancelled"), _) => {
                let of = value.pointer("/params/requestId").and_then(Value::as_u64);
                // Closing the response is how a modern server hears of it, and the only way.
                if let Some(job) = of.and_then(|id| self.by_id.remove(&id)) {
                    job.abort();
                }
                if self.endpoint.session().legacy {
                    self.jobs.spawn(async { drop(timeout(NOTICE_TIME, job).await) });
                }
            }
            // A server can ask faster than it takes answers; each holds a connection of ours. What a person answered
            // has a ticket, and few of those are on their way.
            _ if frame_is_notice && self.jobs.len() >= self.by_id.len() + MOST_NOTICES => {
                tracing::debug!(server = %self.endpoint.name, "http_notice_dropped");
            }
            _ => {
                self.jobs.spawn(async { drop(timeout(NOTICE_TIME, job).await) });
            }
        }
    }

    /// Opens the server's own stream, where there is a session to open it for.
    fn listen(&mut self) {
        if let Some(earlier) = self.stream.take() {
            earlier.abort();
        }
        let session = self.endpoint.session();
        if session.id.is_some() {
            let stream = stream::run(self.endpoint.clone(), self.messages.clone(), session);
            self.stream = Some(self.jobs.spawn(stream));
        }
    }
}
