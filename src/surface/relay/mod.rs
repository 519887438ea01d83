//! `connect`: an MCP server on stdio that passes everything on to the running instance.
//!
//! For agents that speak stdio only. It answers `initialize` whether or not anything runs, lists no tools while
//! nothing does and says why, and comes alive when the dashboard starts. Messages go through as they are. It speaks
//! the era of sessions; clients of the newer one fall back to it, as they do with any such server on stdio.

mod backend;

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

pub use backend::Target;
use backend::{Backend, Messages, unnamed};

use super::envelope::{self, ErrorCode, Id, Kind, Message};
use super::library;

/// Longest message of the agent, in bytes.
const LONGEST: u64 = 8 << 20;
/// How often a lost instance is looked for.
const AGAIN: Duration = Duration::from_millis(500);
/// How long a request waits for the first look at the instance, or for a session that is made anew.
const PATIENCE: Duration = Duration::from_secs(3);

/// How long answers that are on their way may take once the input has ended.
const LAST_WORDS: Duration = Duration::from_millis(300);

const LOST: &str = "the dashboard went away before it answered. The call may have run; find out before you repeat it";

/// What is passed on; this decides what an agent is told while nothing runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Passed {
    Call,
    Tools,
    Library(library::Method),
}

impl Passed {
    fn of(method: &str) -> Option<Self> {
        match method {
            "tools/call" => Some(Self::Call),
            "tools/list" => Some(Self::Tools),
            _ => library::Method::of(method).map(Self::Library),
        }
    }
}

#[derive(Clone, Debug)]
enum State {
    /// Nobody looked yet, or the session is being made anew.
    Looking,
    Up(Backend),
    Down(Arc<str>),
}

struct Relay {
    target: Target,
    http: reqwest::Client,
    out: mpsc::Sender<Vec<u8>>,
    state: watch::Sender<State>,
    /// The agent's own `initialize` parameters, for opening sessions in its name.
    initialize: watch::Sender<Option<Arc<str>>>,
    cancelled: Mutex<HashSet<Id>>,
}

/// Relays until the input ends.
///
/// # Errors
/// When no HTTP client can be made.
pub async fn run(
    target: Target,
    input: impl AsyncBufRead + Unpin,
    output: impl AsyncWrite + Unpin + Send + 'static,
) -> Result<(), String> {
    let client = reqwest::Client::builder().no_proxy().connect_timeout(Duration::from_secs(2)).build();
    let http = client.map_err(|error| format!("no HTTP client can be made: {error}"))?;
    let (out, lines) = mpsc::channel(256);
    let relay = Arc::new(Relay {
        target,
        http,
        out,
        state: watch::channel(State::Looking).0,
        initialize: watch::channel(None).0,
        cancelled: Mutex::default(),
    });
    let writer = tokio::spawn(write(output, lines));
    let keeper = tokio::spawn(relay.clone().keep());
    let mut tasks = JoinSet::new();
    relay.read(input, &mut tasks).await;
    // What is answered this very moment still goes out; what waits for a person is given up.
    let answered = async { while tasks.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(LAST_WORDS, answered).await;
    tasks.shutdown().await;
    keeper.abort();
    // An aborted task is what was asked for.
    let _ = keeper.await;
    let state = relay.state.borrow().clone();
    if let State::Up(backend) = state {
        backend.close().await;
    }
    drop(relay);
    let _ = tokio::time::timeout(LAST_WORDS, writer).await;
    Ok(())
}

async fn write(mut output: impl AsyncWrite + Unpin, mut lines: mpsc::Receiver<Vec<u8>>) {
    while let Some(mut line) = lines.recv().await {
        line.push(b'\n');
        // An agent that does not read any more closes our input soon.
        if output.write_all(&line).await.is_err() || output.flush().await.is_err() {
            return;
        }
    }
}

impl Relay {
    async fn read(self: &Arc<Self>, mut input: impl AsyncBufRead + Unpin, tasks: &mut JoinSet<()>) {
        let mut line = Vec::new();
        loop {
            line.clear();
            match (&mut input).take(LONGEST).read_until(b'\n', &mut line).await {
                Ok(0) | Err(_) => return,
                Ok(_) if line.trim_ascii().is_empty() => {}
                Ok(_) if line.ends_with(b"\n") || (line.len() as u64) < LONGEST => self.take(&line, tasks).await,
                // Where the next message begins cannot be known any more.
                Ok(_) => return,
            }
            while tasks.try_join_next().is_some() {}
        }
    }

    async fn take(self: &Arc<Self>, line: &[u8], tasks: &mut JoinSet<()>) {
        let message = match Message::parse(line) {
            Ok(message) => message,
            Err(envelope::Malformed(code, text)) => return self.say(envelope::error(None, code, text)).await,
        };
        match message.kind() {
            Ok(Kind::Request(id, "initialize")) => self.initialize(&id, &message).await,
            Ok(Kind::Request(id, "ping")) => self.say(envelope::result(&id, &[b"{}"])).await,
            Ok(Kind::Request(id, method)) => match Passed::of(method) {
                Some(passed) => {
                    let (relay, text) = (self.clone(), String::from_utf8_lossy(line).into_owned());
                    tasks.spawn(async move { relay.forward(id, text, passed).await });
                }
                None => {
                    let text = "there is no such method here";
                    self.say(envelope::error(Some(&id), ErrorCode::NO_METHOD, text)).await;
                }
            },
            Ok(Kind::Notification("notifications/cancelled")) => self.cancel(line, &message, tasks),
            Ok(Kind::Notification(_) | Kind::Answer) => {}
            Err(envelope::Malformed(code, text)) => self.say(envelope::error(None, code, text)).await,
        }
    }

    async fn initialize(&self, id: &Id, message: &Message<'_>) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Params {
            #[serde(default)]
            protocol_version: String,
        }
        let asked = message.params::<Params>().map(|params| params.protocol_version).unwrap_or_default();
        self.initialize.send_replace(message.params.map(|params| params.get().into()));
        let seat = &self.target.seat;
        let waiting = super::party::WAITING;
        let instructions = match self.settled().await {
            State::Down(why) => format!("No tools now: {why}. {waiting}"),
            State::Up(Backend { instructions: Some(said), .. }) => said.to_string(),
            State::Looking | State::Up(_) => waiting.to_owned(),
        };
        let result = json!({
            "protocolVersion": super::mcp::negotiate(&asked),
            "capabilities": library::capabilities(),
            "serverInfo": super::party::seat_info(seat),
            "instructions": instructions,
        });
        self.say(envelope::result(id, &[envelope::json_text(&result).as_bytes()])).await;
    }

    fn cancel(self: &Arc<Self>, line: &[u8], message: &Message<'_>, tasks: &mut JoinSet<()>) {
        if let Some(id) = super::mcp::cancelled_id(message) {
            self.cancelled_ids().insert(id);
        }
        let state = self.state.borrow().clone();
        if let State::Up(backend) = state {
            let text = String::from_utf8_lossy(line).into_owned();
            tasks.spawn(async move { backend.notify(text).await });
        }
    }

    /// Passes one request on and its messages back. A session that is gone refused the request, so it is sent once
    /// more over the next one; anything else is never sent twice.
    async fn forward(&self, id: Id, text: String, passed: Passed) {
        let mut lost: Option<Backend> = None;
        for _ in 0..2 {
            let backend = match self.settled().await {
                State::Up(backend) if lost.as_ref().is_none_or(|lost| !lost.is(&backend)) => backend,
                State::Down(why) => return self.absent(&id, &why, passed).await,
                State::Up(_) | State::Looking => break,
            };
            match backend.post(text.clone()).send().await {
                Ok(response) if matches!(response.status().as_u16(), 401 | 404) => {
                    self.lose(&backend);
                    lost = Some(backend);
                }
                Ok(response) => {
                    let mut answered = false;
                    let mut messages = Messages::new(response);
                    while let Some(message) = messages.next().await {
                        answered |= Message::parse(message.as_bytes()).is_ok_and(|message| message.method.is_none());
                        self.say(message.into_bytes()).await;
                    }
                    let cancelled = self.cancelled_ids().remove(&id);
                    if !answered && !cancelled {
                        self.absent(&id, LOST, passed).await;
                    }
                    return;
                }
                Err(error) => {
                    self.lose(&backend);
                    let why = if error.is_connect() {
                        "crewlet-tui is not running any more; nothing was run. Start the dashboard or `crewlet-tui serve`"
                    } else {
                        LOST
                    };
                    return self.absent(&id, why, passed).await;
                }
            }
        }
        self.absent(&id, "the session with the dashboard was lost; nothing was run. Repeat the call", passed).await;
    }

    async fn absent(&self, id: &Id, why: &str, passed: Passed) {
        let result: Value = match passed {
            Passed::Call => json!({"content": [{"type": "text", "text": why}], "isError": true}),
            Passed::Tools => json!({"tools": []}),
            Passed::Library(library::Method::List(list)) => library::empty(list),
            Passed::Library(_) => return self.say(envelope::error(Some(id), ErrorCode::INTERNAL, why)).await,
        };
        self.say(envelope::result(id, &[envelope::json_text(&result).as_bytes()])).await;
    }

    /// Keeps a session open for as long as an instance runs, and passes its notifications on.
    async fn keep(self: Arc<Self>) {
        let mut was_up = None;
        loop {
            let initialize = self.named().await;
            match self.target.open(&self.http, &initialize).await {
                Ok(backend) => {
                    self.state.send_replace(State::Up(backend.clone()));
                    if was_up == Some(false) {
                        self.say_changed().await;
                    }
                    was_up = Some(true);
                    self.listen(&backend).await;
                    self.lose(&backend);
                }
                Err(absent) => {
                    self.state.send_replace(State::Down(absent.to_string().into()));
                    if was_up == Some(true) {
                        self.say_changed().await;
                    }
                    was_up = Some(false);
                    tokio::time::sleep(AGAIN).await;
                }
            }
        }
    }

    /// Until the stream ends or the session is lost.
    async fn listen(&self, backend: &Backend) {
        let mut states = self.state.subscribe();
        let lost = states.wait_for(|state| !matches!(state, State::Up(now) if now.is(backend)));
        let stream = async {
            let Ok(response) = backend.listen().await else { return };
            if response.status().is_success() {
                let mut messages = Messages::new(response);
                while let Some(message) = messages.next().await {
                    self.say(message.into_bytes()).await;
                }
            }
            // Ended at once, it would be opened at once again.
            tokio::time::sleep(AGAIN).await;
        };
        tokio::select! {
            _ = lost => {}
            () = stream => {}
        }
    }

    fn lose(&self, backend: &Backend) {
        self.state.send_if_modified(|state| {
            let is_it = matches!(state, State::Up(now) if now.is(backend));
            if is_it {
                *state = State::Looking;
            }
            is_it
        });
    }

    /// The agent's own introduction; sessions are not opened before it is known.
    async fn named(&self) -> Arc<str> {
        let mut named = self.initialize.subscribe();
        // The sender lives as long as this future does.
        let found = named.wait_for(Option::is_some).await.ok().and_then(|found| found.clone());
        found.unwrap_or_else(|| unnamed().into())
    }

    /// The state once it is known, or `Looking` when that takes too long.
    async fn settled(&self) -> State {
        let mut states = self.state.subscribe();
        let known = states.wait_for(|state| !matches!(state, State::Looking));
        match tokio::time::timeout(PATIENCE, known).await {
            Ok(Ok(state)) => state.clone(),
            _ => State::Looking,
        }
    }

    /// Every list is another one now.
    async fn say_changed(&self) {
        for (method, _) in library::LISTS {
            self.say(envelope::notification(method, None)).await;
        }
    }

    async fn say(&self, message: Vec<u8>) {
        // The writer is gone only when the agent does not read any more.
        let _ = self.out.send(message).await;
    }

    fn cancelled_ids(&self) -> std::sync::MutexGuard<'_, HashSet<Id>> {
        self.cancelled.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
