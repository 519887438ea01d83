//! One message of ours on its way: posted, its answer read, a failure judged by whether it can have run.
//!
//! [`super::Carrier`] runs one job for each message. The text goes out as it is, and the answer's text is handed on as it
//! came.

use std::sync::Arc;
use std::time::Duration;

use http::HeaderValue;
use http::header::WWW_AUTHENTICATE;
use reqwest::Response;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::sleep;

use super::body::{self, BodyError, Kind};
use super::endpoint::{Endpoint, HttpSession};
use super::fate::{self, Refusal};
use super::sse::Parser;
use super::{classic, headers};
use crate::engine::connection::link::Frame;
use crate::engine::connection::message::{self, Fault, Incoming, Lack, LinkEnd, Reached};
use crate::engine::connection::wire::MAX_MESSAGE_BYTES;

/// What some servers answer to a session that they do not know; others answer HTTP 404.
const SESSION_UNKNOWN: i64 = -32000;
/// How much of an error's body is read, and how much of it is logged.
const READ_BODY: usize = 1 << 20;
const LOGGED_BODY: usize = 8 << 10;
/// Attempts to go on with the broken stream of an answer.
const MOST_RESUMPTIONS: usize = 3;
const SHORTEST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// One message and the way for what comes back.
pub(super) struct Job {
    /// Where it goes.
    pub endpoint: Arc<Endpoint>,
    messages: mpsc::Sender<Incoming>,
    /// The request's identifier; `None` for what has no answer.
    id: Option<u64>,
    method: String,
}

/// Sends a message and hands on what comes back.
pub(super) async fn run(endpoint: Arc<Endpoint>, messages: mpsc::Sender<Incoming>, frame: Frame) {
    let Ok(value) = serde_json::from_str::<Value>(frame.text()) else {
        tracing::debug!(server = %endpoint.name, "message_not_sent");
        return;
    };
    let job = Job {
        endpoint,
        messages,
        id: value.get("method").and_then(|_| value.get("id")).and_then(Value::as_u64),
        method: value.get("method").and_then(Value::as_str).unwrap_or("").to_owned(),
    };
    // What makes a session belongs to none.
    let session = if job.is_handshake() { Endpoint::no_session() } else { job.endpoint.session() };
    let mut more = headers::of_message(&value, session.revision.clone());
    more.extend(frame.mirrored.iter().cloned());
    match job.endpoint.post(frame.text().to_owned(), more, &session).await {
        Err(error) => job.lacking(fate::of_error(&error, &job.endpoint.display)).await,
        Ok(answer) if answer.status().is_success() => job.read(answer, &session).await,
        Ok(answer) if job.method == "initialize" && matches!(answer.status().as_u16(), 404 | 405) => {
            // Perhaps it speaks the transport of 2024-11-05, which answers only to GET at this address.
            if !classic::run(&job, frame.text()).await {
                job.refused(answer, &session).await;
            }
        }
        Ok(answer) => job.refused(answer, &session).await,
    }
}

impl Job {
    async fn read(&self, answer: Response, sent: &HttpSession) {
        if self.id.is_none() || sent.classic.is_some() || answer.status().as_u16() == 202 {
            // An accepted request is answered on the server's own stream.
            return;
        }
        let session = answer.headers().get(headers::SESSION).cloned();
        if body::kind(&answer) == Kind::Events {
            return self.read_events(answer, session.as_ref(), sent).await;
        }
        let kind = body::media_type(&answer);
        match body::whole(answer, MAX_MESSAGE_BYTES).await {
            Ok(text) if text.trim().is_empty() => {}
            Ok(text) => {
                if !self.take(&text, session.as_ref()).await {
                    let what = if kind.is_empty() { "nothing that it names" } else { &kind };
                    self.lacking(fate::broken(format!("its answer is no JSON-RPC answer but {what}"))).await;
                }
            }
            Err(BodyError::TooLarge) => self.lacking(too_large()).await,
            Err(BodyError::Broken(cause)) => {
                self.lacking(fate::broken(format!("its answer broke off: {cause}"))).await;
            }
        }
    }

    /// Reads events until the answer is among them. A legacy server that numbers its events is asked for the rest of
    /// a stream that breaks; the request itself is never sent again.
    async fn read_events(&self, mut answer: Response, session: Option<&HeaderValue>, sent: &HttpSession) {
        let mut last_id = None;
        let mut pause = SHORTEST_PAUSE;
        for _ in 0..=MOST_RESUMPTIONS {
            let mut parser = Parser::default();
            loop {
                let (events, over) = match answer.chunk().await {
                    Ok(Some(piece)) => match parser.push(&piece) {
                        Ok(events) => (events, false),
                        Err(_) => return self.lacking(too_large()).await,
                    },
                    Ok(None) | Err(_) => (std::mem::take(&mut parser).finish().into_iter().collect(), true),
                };
                for event in events {
                    pause = event.retry.unwrap_or(pause).clamp(SHORTEST_PAUSE, LONGEST_PAUSE);
                    last_id = event.id.or(last_id).filter(|id| !id.is_empty());
                    if self.take(&event.data, session).await {
                        return;
                    }
                }
                if over {
                    break;
                }
            }
            let (Some(id), true) = (&last_id, sent.legacy && sent.id.is_some()) else { break };
            sleep(pause).await;
            match self.endpoint.listen(Some(id), sent).await {
                Ok(rest) if rest.status().is_success() && body::kind(&rest) == Kind::Events => answer = rest,
                _ => break,
            }
        }
        self.lacking(fate::broken("the stream of its answer broke off".to_owned())).await;
    }

    /// Hands on the messages in `text`. True once the answer was among them.
    pub async fn take(&self, text: &str, session: Option<&HeaderValue>) -> bool {
        let mut answered = false;
        for mut message in message::read(text).unwrap_or_default() {
            if let Incoming::Response { id: id @ None, outcome: Err(_) } = &mut message {
                // Middleware refuses without repeating the id; this POST carried one request, so it is about that.
                *id = self.id;
            }
            if let Incoming::Request { during, .. } = &mut message {
                *during = self.id;
            }
            if let Incoming::Response { id, outcome } = &message {
                let ours = self.id.is_some() && *id == self.id;
                answered |= ours;
                if let (true, "initialize", Ok(result)) = (ours, self.method.as_str(), outcome) {
                    let result: Value = serde_json::from_str(result.get()).unwrap_or_default();
                    let revision = result.get("protocolVersion").and_then(Value::as_str);
                    self.endpoint.begin_session(session.cloned(), revision);
                }
            }
            self.tell(message).await;
        }
        answered
    }

    /// An answer that is no success.
    async fn refused(&self, answer: Response, sent: &HttpSession) {
        let status = answer.status().as_u16();
        let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let challenge = answer.headers().get(WWW_AUTHENTICATE).map(text);
        let target = (300..400).contains(&status).then(|| self.endpoint.redirect_target(&answer));
        let read = body::start(answer, READ_BODY).await;
        let body = read.as_deref().unwrap_or_default();
        let error = message::read(body).unwrap_or_default().into_iter().find_map(|message| match message {
            Incoming::Response { id, outcome: Err(error) } => Some((id, error)),
            _ => None,
        });
        let unknown = match &error {
            Some((id, error)) if status == 404 => self.id.is_none() || *id != self.id || error.code == -32001,
            Some((id, error)) => {
                // Some SDKs use another code; what has no identifier of ours was refused before it was looked at.
                let said = error.message.to_lowercase().contains("session");
                // -32000 is any server's own error too: under our identifier it may come from a call that ran.
                let unknown = error.code == SESSION_UNKNOWN && (*id != self.id || said);
                status == 400 && (unknown || (*id != self.id && said))
            }
            None => status == 404 || (status == 400 && body.to_lowercase().contains("no valid session id")),
        };
        if unknown && sent.id.is_some() {
            tracing::info!(server = %self.endpoint.name, status_code = status, "http_session_lost");
            return self.lacking(fate::session_lost()).await;
        }
        self.log(status, &read);
        match error {
            Some((id, _)) if !matches!(status, 401 | 403) && self.id.is_some() && (id.is_none() || id == self.id) => {
                self.take(body, None).await;
            }
            _ => {
                // Cleaned before it is cut, so that no part of a secret is left over at the cut.
                let body = self.endpoint.sink.clean(body::cut(body, READ_BODY)).to_string();
                self.lacking(Refusal { status, body, challenge, target }.lack()).await;
            }
        }
    }

    /// There is no answer.
    pub async fn lacking(&self, lack: Lack) {
        let handshake = self.is_handshake();
        let end = match lack.fault {
            Fault::Status(401) => Some(LinkEnd::Unauthorized(lack.reason.clone())),
            Fault::Status(403) if handshake => Some(LinkEnd::Unauthorized(lack.reason.clone())),
            // Any other refusal of the probe only says that it is not known.
            Fault::Status(300..=399 | 429) | Fault::Unreachable if handshake => {
                Some(LinkEnd::Broken(lack.reason.clone()))
            }
            _ => None,
        };
        let suspect = lack.fault == Fault::Unreachable;
        // In the handshake the end says it all; later the request that met it is judged by itself first.
        if let (Some(id), true) = (self.id, !handshake || end.is_none()) {
            self.tell(Incoming::Undelivered { id, lack }).await;
        }
        match end {
            Some(end) => self.tell(Incoming::End(end)).await,
            None if suspect => self.tell(Incoming::Suspect).await,
            None => {}
        }
    }

    /// Hands on one message.
    pub async fn tell(&self, message: Incoming) {
        // Nobody listens any more once the connection goes down.
        let _ = self.messages.send(message).await;
    }

    fn is_handshake(&self) -> bool {
        matches!(self.method.as_str(), "server/discover" | "initialize")
    }

    fn log(&self, status: u16, body: &Result<String, String>) {
        let (server, url) = (&self.endpoint.name, &self.endpoint.display);
        // That an old server does not know the probe is no error, nor is it one that a notice is not taken.
        if (self.method == "server/discover" && !matches!(status, 401 | 403)) || self.id.is_none() {
            tracing::debug!(%server, status_code = status, method = "POST", %url, "http_refusal");
            return;
        }
        match body {
            Ok(body) => {
                let body = self.endpoint.sink.clean(body);
                let response_body = body::cut(&body, LOGGED_BODY);
                tracing::error!(%server, status_code = status, method = "POST", %url, response_body, "http_error");
            }
            Err(error) => {
                tracing::error!(%server, status_code = status, method = "POST", %url, body_error = %error, "http_error");
            }
        }
    }
}

fn too_large() -> Lack {
    let limit = MAX_MESSAGE_BYTES >> 20;
    let reason = format!("message over limit: its answer has more than {limit} MiB in one message");
    Lack { reached: Reached::Perhaps, fault: Fault::Broken, reason }
}
