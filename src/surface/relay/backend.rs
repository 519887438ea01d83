//! The running instance as the relay sees it: found by the state folder, spoken to over HTTP in one session.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::CONTENT_TYPE;
use reqwest::{RequestBuilder, Response, StatusCode};
use serde_json::json;

use crate::config::expand::Environment;
use crate::engine::state_dir::StateDir;
use crate::org::Seat;
use crate::secret::Secret;
use crate::surface::tokens;

/// Where to look for an instance, and as whom.
pub struct Target {
    /// The state folder, which need not exist yet.
    pub folder: std::path::PathBuf,
    /// The seat that the agent drives.
    pub seat: Seat,
    /// Where `${VAR}` comes from.
    pub environment: Arc<dyn Environment>,
}

/// Why there is no instance to talk to; the text is for the agent.
#[derive(Debug, thiserror::Error)]
pub(super) enum Absent {
    #[error("crewlet-tui is not running; start the dashboard or `crewlet-tui serve`, with a listener")]
    NotRunning,
    #[error(
        "crewlet-tui runs without a listener; start the dashboard or `crewlet-tui serve` again with --listen \
         127.0.0.1:7420, or set engine.listen"
    )]
    NoListener,
    #[error("{0}")]
    NoToken(#[from] tokens::TokenError),
    #[error("crewlet-tui at {address} does not answer: {reason}; start the dashboard or `crewlet-tui serve`")]
    Silent { address: String, reason: String },
    #[error("crewlet-tui at {address} refused the session ({status}); has the seat's token been changed?")]
    Refused { address: String, status: StatusCode },
}

/// One open session with the instance.
#[derive(Clone, Debug)]
pub(super) struct Backend {
    http: reqwest::Client,
    url: String,
    token: Secret,
    session: String,
    /// What the instance tells the agent's model.
    pub(super) instructions: Option<Arc<str>>,
}

impl Target {
    fn find(&self) -> Result<(String, Secret), Absent> {
        if !self.folder.is_dir() {
            return Err(Absent::NotRunning);
        }
        let state = StateDir::open(&self.folder).map_err(|_| Absent::NotRunning)?;
        // The file of a program that was killed outlives it, and anybody may listen at its address by now: the token
        // goes only to whoever owns the folder.
        if !state.is_owned() {
            return Err(Absent::NotRunning);
        }
        let address = state.read_run().ok_or(Absent::NotRunning)?.address.ok_or(Absent::NoListener)?;
        Ok((address, tokens::show(&state, &self.seat, self.environment.as_ref())?))
    }

    /// Opens a session in the name of the agent's own client.
    pub(super) async fn open(&self, http: &reqwest::Client, initialize: &str) -> Result<Backend, Absent> {
        let (address, token) = self.find()?;
        let url = format!("http://{address}/seats/{}/mcp", self.seat.handle);
        let mut backend = Backend { http: http.clone(), url, token, session: String::new(), instructions: None };
        let body = format!(r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{initialize}}}"#);
        let silent = |error: reqwest::Error| Absent::Silent {
            address: address.clone(),
            // Without the address, which stands before it.
            reason: error.without_url().to_string(),
        };
        let response = backend.post(body).timeout(Duration::from_secs(5)).send().await.map_err(silent)?;
        let status = response.status();
        let session = response.headers().get("mcp-session-id").and_then(|id| id.to_str().ok()).map(str::to_owned);
        match session {
            Some(session) if status.is_success() => {
                backend.session = session;
                // Without them the session is as good.
                let body: Option<serde_json::Value> =
                    response.bytes().await.ok().and_then(|body| serde_json::from_slice(&body).ok());
                let said = body.as_ref().and_then(|body| body.pointer("/result/instructions")?.as_str());
                backend.instructions = said.map(Into::into);
                Ok(backend)
            }
            _ => Err(Absent::Refused { address, status }),
        }
    }
}

impl Backend {
    fn with_session(&self, request: RequestBuilder) -> RequestBuilder {
        let request = request.bearer_auth(self.token.expose());
        if self.session.is_empty() { request } else { request.header("mcp-session-id", &self.session) }
    }

    /// A request that carries one message.
    pub(super) fn post(&self, message: impl Into<reqwest::Body>) -> RequestBuilder {
        self.with_session(self.http.post(&self.url))
            .header(CONTENT_TYPE, "application/json")
            .header("accept", "application/json, text/event-stream")
            .body(message)
    }

    /// The stream of notifications.
    pub(super) async fn listen(&self) -> reqwest::Result<Response> {
        self.with_session(self.http.get(&self.url)).header("accept", "text/event-stream").send().await
    }

    /// Tells the instance that the agent is cancelling; a notice that is lost is made up for by the closed stream.
    pub(super) async fn notify(&self, message: String) {
        let _ = self.post(message).timeout(Duration::from_secs(5)).send().await;
    }

    /// Ends the session.
    pub(super) async fn close(&self) {
        let delete = self.with_session(self.http.delete(&self.url)).timeout(Duration::from_millis(500));
        // When it is lost, the closed connections say the same.
        let _ = delete.send().await;
    }

    /// The same session.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.session == other.session && self.url == other.url
    }
}

/// An answer's messages as they arrive, whole or as events.
pub(super) struct Messages {
    response: Option<Response>,
    is_stream: bool,
    pending: Vec<u8>,
    ready: VecDeque<String>,
}

impl Messages {
    pub(super) fn new(response: Response) -> Self {
        let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let is_stream = kind.starts_with("text/event-stream");
        Self { response: Some(response), is_stream, pending: Vec::new(), ready: VecDeque::new() }
    }

    /// The next message as JSON text; `None` at the end, however it came.
    pub(super) async fn next(&mut self) -> Option<String> {
        loop {
            if let Some(message) = self.ready.pop_front() {
                return Some(message);
            }
            if !self.is_stream {
                let body = self.response.take()?.text().await.ok()?;
                return (!body.trim().is_empty()).then_some(body);
            }
            let chunk = self.response.as_mut()?.chunk().await.ok()??;
            for piece in chunk.split_inclusive(|byte| *byte == b'\n') {
                self.pending.extend_from_slice(piece);
                if self.pending.ends_with(b"\n") {
                    // Our own listener sends each message as one line of data, in UTF-8.
                    let line = std::mem::take(&mut self.pending);
                    let data = std::str::from_utf8(&line).ok().and_then(|line| line.strip_prefix("data: "));
                    self.ready.extend(data.map(|data| data.trim_end().to_owned()));
                }
            }
        }
    }
}

/// What opens a session when the agent has not said who it is.
pub(super) fn unnamed() -> String {
    let version = env!("CARGO_PKG_VERSION");
    json!({"protocolVersion": super::super::envelope::LEGACY[0], "capabilities": {},
        "clientInfo": {"name": "crewlet-tui connect", "version": version}})
    .to_string()
}
