//! One message of ours on its way: posted, its answer read, a failure judged by whether it can have run.
//!
//! [`super::Carrier`] runs one job for each message.

use std::sync::Arc;

use futures_util::StreamExt as _;
use rmcp::model::ClientJsonRpcMessage;
use rmcp::transport::streamable_http_client::StreamableHttpPostResponse;
use serde_json::Value;
use tokio::sync::mpsc;

use super::endpoint::{Endpoint, PostError, root_cause};
use crate::engine::connection::message::{self, Incoming, LinkEnd, Reached};

/// What some servers answer, without an id, to a session that they do not know; others answer HTTP 404.
const SESSION_UNKNOWN: i64 = -32000;

/// Sends `text` and hands on what comes back.
pub(super) async fn run(endpoint: Arc<Endpoint>, messages: mpsc::Sender<Incoming>, text: String) {
    let (Ok(value), Ok(typed)) =
        (serde_json::from_str::<Value>(&text), serde_json::from_str::<ClientJsonRpcMessage>(&text))
    else {
        tracing::debug!(server = %endpoint.name, "message_not_sent");
        return;
    };
    let job = Job {
        endpoint,
        messages,
        id: value.get("method").and_then(|_| value.get("id")).and_then(Value::as_u64),
        method: value.get("method").and_then(Value::as_str).unwrap_or("").to_owned(),
    };
    match job.endpoint.post(typed, &value).await {
        Ok(StreamableHttpPostResponse::Json(message, session)) => {
            let text = serde_json::to_string(&message).unwrap_or_default();
            job.take(&text, session.as_deref()).await;
        }
        Ok(StreamableHttpPostResponse::Sse(mut events, session)) => {
            while let Some(Ok(event)) = events.next().await {
                if job.take(event.data.as_deref().unwrap_or_default(), session.as_deref()).await {
                    return;
                }
            }
            job.undelivered(Reached::Perhaps, "the stream of its answer broke off".to_owned()).await;
        }
        // Also a request may be accepted: its answer comes on the server's own stream.
        Ok(_) => {}
        Err(error) => job.failed(&error).await,
    }
}

struct Job {
    endpoint: Arc<Endpoint>,
    messages: mpsc::Sender<Incoming>,
    id: Option<u64>,
    method: String,
}

impl Job {
    /// Hands on the messages in `text`. True once the answer was among them.
    async fn take(&self, text: &str, session: Option<&str>) -> bool {
        let mut answered = false;
        for mut message in message::read(text).unwrap_or_default() {
            // Middleware refuses without repeating the id; this POST carried one request, so it is about that.
            if let Incoming::Response { id: id @ None, outcome: Err(error) } = &mut message {
                if error.code == SESSION_UNKNOWN && !self.is_handshake() && self.endpoint.has_session() {
                    self.session_lost().await;
                    return true;
                }
                *id = self.id;
            }
            if let Incoming::Response { id, outcome } = &message {
                let ours = self.id.is_some() && *id == self.id;
                answered |= ours;
                if let (true, "initialize", Ok(result)) = (ours, self.method.as_str(), outcome) {
                    let result: Value = serde_json::from_str(result.get()).unwrap_or_default();
                    let revision = result.get("protocolVersion").and_then(Value::as_str);
                    self.endpoint.begin_session(session.map(ToOwned::to_owned), revision);
                }
            }
            self.tell(message).await;
        }
        answered
    }

    async fn failed(&self, error: &PostError) {
        let fate = Fate::of(error, &self.endpoint.display);
        self.log(error, &fate);
        let handshake = self.is_handshake();
        let end = match fate.kind {
            Kind::Unauthorized | Kind::Forbidden if handshake => Some(LinkEnd::Unauthorized(fate.reason.clone())),
            Kind::Unauthorized => Some(LinkEnd::Unauthorized(fate.reason.clone())),
            Kind::SessionLost => return self.session_lost().await,
            _ if handshake && fate.reached == Reached::No => Some(LinkEnd::Broken(fate.reason.clone())),
            _ => None,
        };
        // In the handshake the end says it all; later the request that met it is judged by itself first.
        if !handshake || end.is_none() {
            self.undelivered(fate.reached, fate.reason).await;
        }
        if let Some(end) = end {
            self.tell(Incoming::End(end)).await;
        }
    }

    /// The request was refused before it ran, and so would be every other one.
    async fn session_lost(&self) {
        self.undelivered(Reached::No, "the server no longer knows our session".to_owned()).await;
        self.tell(Incoming::End(LinkEnd::SessionLost)).await;
    }

    fn is_handshake(&self) -> bool {
        matches!(self.method.as_str(), "server/discover" | "initialize")
    }

    async fn undelivered(&self, reached: Reached, reason: String) {
        if let Some(id) = self.id {
            self.tell(Incoming::Undelivered { id, reached, reason }).await;
        }
    }

    async fn tell(&self, message: Incoming) {
        // Nobody listens any more once the connection goes down.
        let _ = self.messages.send(message).await;
    }

    fn log(&self, error: &PostError, fate: &Fate) {
        let Some(status) = fate.status else { return };
        let body = match error {
            PostError::UnexpectedServerResponse(text) => self.endpoint.sink.clean(text),
            _ => Arc::from(""),
        };
        let (server, url) = (&self.endpoint.name, &self.endpoint.display);
        tracing::error!(%server, status_code = status, method = "POST", %url, response_body = %body, "http_error");
    }
}

/// What a failed request means.
struct Fate {
    kind: Kind,
    status: Option<u16>,
    reached: Reached,
    reason: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Unauthorized,
    Forbidden,
    SessionLost,
    Other,
}

impl Fate {
    fn of(error: &PostError, url: &str) -> Self {
        let fate = |kind, status, reached, reason| Self { kind, status, reached, reason };
        match error {
            PostError::AuthRequired(_) => Self::of_status(401, ""),
            PostError::InsufficientScope(_) => Self::of_status(403, ""),
            PostError::SessionExpired => {
                fate(Kind::SessionLost, Some(404), Reached::No, "the server no longer knows our session".to_owned())
            }
            PostError::HttpStatus(error) => Self::of_status(error.status, ""),
            PostError::UnexpectedServerResponse(text) => match status_in(text) {
                Some(status) => Self::of_status(status, text),
                None => fate(Kind::Other, None, Reached::Perhaps, text.to_string()),
            },
            PostError::Client(error) if error.is_connect() => {
                let reason = format!("cannot connect to {url}: {}", root_cause(error));
                fate(Kind::Other, None, Reached::No, reason)
            }
            PostError::Client(error) if error.is_builder() => fate(Kind::Other, None, Reached::No, root_cause(error)),
            PostError::Client(error) => {
                fate(Kind::Other, None, Reached::Perhaps, format!("the connection broke off: {}", root_cause(error)))
            }
            other => fate(Kind::Other, None, Reached::Perhaps, other.to_string()),
        }
    }

    /// A status that says "refused" is one where nothing ran; any other leaves it open.
    fn of_status(status: u16, text: &str) -> Self {
        let (kind, reached, what) = match status {
            401 => (Kind::Unauthorized, Reached::No, "the server wants other credentials"),
            403 => (Kind::Forbidden, Reached::No, "the server forbids it to these credentials"),
            429 => (Kind::Other, Reached::No, "the server takes no more requests for now"),
            300..=399 => (Kind::Other, Reached::No, "the server redirects, which is not followed"),
            _ => (Kind::Other, Reached::Perhaps, ""),
        };
        let reason = match (what, text) {
            ("", "") => format!("HTTP {status}"),
            ("", text) => text.chars().take(200).collect(),
            (what, _) => format!("HTTP {status}: {what}"),
        };
        Self { kind, status: Some(status), reached, reason }
    }
}

/// The status in the protocol crate's text for an answer that it could not read: `HTTP 401 Unauthorized: …`.
fn status_in(text: &str) -> Option<u16> {
    text.strip_prefix("HTTP ")?.split([' ', ':']).next()?.parse().ok()
}
