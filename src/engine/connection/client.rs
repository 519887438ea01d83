//! The JSON-RPC client: matches answers to requests, hears notices, answers a server's own requests.
//!
//! [`super::handshake`], [`super::tools`] and [`super::call`] send requests through it; one task reads what comes
//! back. It keeps no deadline and never sends a request twice.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::asks::{Asks, Request};
use super::flight::{InFlight, LinkOver};
use super::known::KnownTools;
use super::link::{Carriage, Frame, Source, Ticket};
use super::message::{self, Fault, Incoming, Lack, LinkEnd, Reached, RpcError};
use super::progress::Said;
use super::wire::Pipe;
use crate::engine::status::{Era, Offer, Offers};

/// A client on one link. Clones share it.
#[derive(Clone)]
pub(super) struct Client(Arc<Inner>);

struct Inner {
    outgoing: mpsc::Sender<Frame>,
    direct: Weak<Pipe>,
    carriage: Carriage,
    asks: Arc<Asks>,
    next_id: AtomicU64,
    state: Mutex<State>,
    end: OnceLock<LinkEnd>,
    ended: CancellationToken,
    tools_changed: Notify,
    offers_changed: [Notify; Offer::ALL.len()],
    session_lost: Notify,
    suspected: Notify,
}

struct State {
    pending: HashMap<u64, Pending>,
    era: Option<Era>,
    /// Set once the link is over: requests fail with this.
    closed: Option<Arc<str>>,
    /// What was listed last.
    tools: Arc<KnownTools>,
    /// What beside tools the server tells changes of.
    announced: Offers,
    /// When something last came from the server.
    heard: Instant,
    /// When a call was last made.
    called: Option<Instant>,
    /// Counts the sessions on this link.
    epoch: u64,
    /// The present session is refused.
    lost: bool,
}

struct Pending {
    reply: oneshot::Sender<Answer>,
    said: watch::Sender<Option<Said>>,
    role: Role,
    epoch: u64,
}

/// What a request is for; this decides what becomes of it when its answer is odd or not waited for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    /// Part of the handshake: an error without an id is its answer, giving it up is not announced.
    Handshake,
    /// Any other request: giving it up is announced to the server.
    Ordinary,
    /// A request that stays open for as long as the connection: it says nothing about how busy the server is.
    Standing,
}

/// What became of a request.
#[derive(Debug)]
pub(super) enum Answer {
    /// The `result` member.
    Result(Box<RawValue>),
    /// The `error` member.
    Error(RpcError),
    /// The link got no answer to it.
    Undelivered(Lack),
    /// The link ended first; the text says how.
    Ended(Arc<str>),
}

impl Client {
    /// A client that writes to `outgoing`; [`Self::run`] has to run beside it.
    pub fn new(outgoing: mpsc::Sender<Frame>, direct: Weak<Pipe>, carriage: Carriage, asks: Asks) -> Self {
        let state = State {
            pending: HashMap::new(),
            era: None,
            closed: None,
            tools: Arc::default(),
            announced: Offers::default(),
            heard: Instant::now(),
            called: None,
            epoch: 0,
            lost: false,
        };
        Self(Arc::new(Inner {
            outgoing,
            direct,
            carriage,
            asks: Arc::new(asks),
            next_id: AtomicU64::new(1),
            state: Mutex::new(state),
            end: OnceLock::new(),
            ended: CancellationToken::new(),
            tools_changed: Notify::new(),
            offers_changed: Default::default(),
            session_lost: Notify::new(),
            suspected: Notify::new(),
        }))
    }

    /// Handles what comes off the link until it ends.
    pub async fn run(self, mut incoming: Source) {
        // Set in any case, also when a task of the link or this one panics.
        let _end = EndOnDrop(self.clone());
        while let Some(message) = incoming.next().await {
            self.note_heard(&message);
            match message {
                Incoming::Response { id, outcome } => self.settle(id, outcome),
                Incoming::Request { id, method, params, during } => {
                    self.answer_server(&method, Request { id, params, during });
                }
                Incoming::Notification { method, params } => self.hear(&method, params.as_deref()),
                Incoming::Undelivered { id, lack } => self.undelivered(id, lack),
                Incoming::Suspect => self.0.suspected.notify_one(),
                Incoming::End(end) => return self.end(end),
            }
        }
    }

    /// Fixes the era: it decides how a server's requests are answered and what our requests carry.
    pub fn settle_era(&self, era: Era) {
        self.lock().era = Some(era);
    }

    /// The era, once it is settled.
    pub fn era(&self) -> Option<Era> {
        self.lock().era
    }

    /// What carries the messages.
    pub fn carriage(&self) -> Carriage {
        self.0.carriage
    }

    /// The server's own requests for input.
    pub fn asks(&self) -> &Arc<Asks> {
        &self.0.asks
    }

    /// The tools of the last complete listing.
    pub fn tools(&self) -> Arc<KnownTools> {
        self.lock().tools.clone()
    }

    /// Remembers a complete listing.
    pub fn set_tools(&self, tools: KnownTools) {
        self.lock().tools = Arc::new(tools);
    }

    /// What beside tools the server tells changes of.
    pub fn announced(&self) -> Offers {
        self.lock().announced
    }

    /// Fixes it, from the handshake.
    pub fn set_announced(&self, announced: Offers) {
        self.lock().announced = announced;
    }

    /// Notes that a call is made: an endpoint in use is looked after more closely.
    pub fn note_call(&self) {
        self.lock().called = Some(Instant::now());
    }

    /// When a call was last made.
    pub fn last_call(&self) -> Option<Instant> {
        self.lock().called
    }

    /// When something last came from the server.
    pub fn last_heard(&self) -> Instant {
        self.lock().heard
    }

    /// Waits until something says that the server may be gone.
    pub async fn suspected(&self) {
        self.0.suspected.notified().await;
    }

    /// True while the server refuses our session and no other one was made.
    pub fn is_session_lost(&self) -> bool {
        self.lock().lost
    }

    /// Waits until the server refuses our session.
    pub async fn session_lost(&self) {
        while !self.is_session_lost() {
            self.0.session_lost.notified().await;
        }
    }

    /// A new session was made on this link.
    pub fn renewed(&self) {
        let mut state = self.lock();
        state.epoch += 1;
        state.lost = false;
    }

    /// Requests on their way.
    pub fn in_flight(&self) -> usize {
        self.lock().pending.values().filter(|pending| pending.role != Role::Standing).count()
    }

    /// Why the link ended; waits for that.
    pub async fn ended(&self) -> LinkEnd {
        self.0.ended.cancelled().await;
        self.0.end.get().cloned().unwrap_or(LinkEnd::Internal)
    }

    /// True once no request can be sent any more.
    pub fn is_over(&self) -> bool {
        self.lock().closed.is_some()
    }

    /// Waits until the server says that its tools changed.
    pub async fn tools_changed(&self) {
        self.0.tools_changed.notified().await;
    }

    /// As if the server had said that its tools changed.
    pub fn note_tools_changed(&self) {
        self.0.tools_changed.notify_one();
    }

    /// Waits until the server says that this list changed.
    pub async fn offer_changed(&self, offer: Offer) {
        if let Some(changed) = self.0.offers_changed.get(offer as usize) {
            changed.notified().await;
        }
    }

    /// As if the server had said that this list changed.
    pub fn note_offer_changed(&self, offer: Offer) {
        if let Some(changed) = self.0.offers_changed.get(offer as usize) {
            changed.notify_one();
        }
    }

    /// Fails every request that waits, and every later one, with `reason`.
    pub fn fail_pending(&self, reason: &Arc<str>) {
        let pending = {
            let mut state = self.lock();
            state.closed.get_or_insert_with(|| reason.clone());
            std::mem::take(&mut state.pending)
        };
        self.0.asks.over();
        for (_, request) in pending {
            let _ = request.reply.send(Answer::Ended(reason.clone()));
        }
    }

    /// Sends a notification; dropped when the link is over.
    pub async fn notify(&self, text: String) {
        let _ = self.0.outgoing.send(Frame::plain(text)).await;
    }

    /// The next request, registered but not queued yet. `params` makes the parameters from the request's id,
    /// which is its progress token too.
    pub fn prepare(&self, role: Role, method: &str, params: impl FnOnce(u64) -> String) -> (InFlight, Frame) {
        let id = self.0.next_id.fetch_add(1, Ordering::Relaxed);
        let (reply, receiver) = oneshot::channel();
        let (said, notices) = watch::channel(None);
        let ticket = Arc::new(Ticket::default());
        {
            let mut state = self.lock();
            if let Some(reason) = &state.closed {
                let _ = reply.send(Answer::Ended(reason.clone()));
            } else {
                let epoch = state.epoch;
                state.pending.insert(id, Pending { reply, said, role, epoch });
            }
        }
        let text = message::request(id, method, &params(id));
        let frame = Frame { ticket: Some(ticket.clone()), ..Frame::plain(text) };
        (InFlight { client: self.clone(), id, ticket, receiver, notices, role, over: false }, frame)
    }

    /// Sends a prepared request where the way is free, else queues it; waits while the queue is full.
    ///
    /// # Errors
    /// The link is over; nothing was sent.
    pub async fn queue(&self, frame: Frame) -> Result<(), LinkOver> {
        let is_free = self.0.outgoing.capacity() == self.0.outgoing.max_capacity();
        if is_free && self.0.direct.upgrade().is_some_and(|pipe| pipe.write_at_once(&frame.line)) {
            frame.depart();
            return Ok(());
        }
        self.0.outgoing.send(frame).await.map_err(|_| LinkOver)
    }

    /// Sends a request and waits for what becomes of it.
    pub async fn request(&self, role: Role, method: &str, params: impl FnOnce(u64) -> String) -> Answer {
        let (mut flight, frame) = self.prepare(role, method, params);
        if self.queue(frame).await.is_err() {
            let reason = "the connection is over".to_owned();
            return Answer::Undelivered(Lack { reached: Reached::No, fault: Fault::Broken, reason });
        }
        flight.answer().await
    }

    fn settle(&self, id: Option<u64>, outcome: Result<Box<RawValue>, RpcError>) {
        let id = id.or_else(|| {
            // Old servers answer a request that they cannot place without its id.
            let state = self.lock();
            let mut waiting = state.pending.iter().filter(|(_, pending)| pending.role == Role::Handshake);
            match (waiting.next(), waiting.next()) {
                (Some((id, _)), None) if outcome.is_err() => Some(*id),
                _ => None,
            }
        });
        let answer = outcome.map_or_else(Answer::Error, Answer::Result);
        if let Some(id) = id {
            self.deliver(id, answer);
        } else {
            tracing::debug!("answer_without_request");
        }
    }

    fn note_heard(&self, message: &Incoming) {
        let answered = match message {
            Incoming::Undelivered { lack, .. } => !matches!(lack.fault, Fault::Unreachable | Fault::Broken),
            Incoming::Suspect | Incoming::End(_) => false,
            _ => true,
        };
        if answered {
            self.lock().heard = Instant::now();
        }
    }

    fn undelivered(&self, id: u64, lack: Lack) {
        if lack.fault == Fault::Session {
            let mut state = self.lock();
            // Requests of an earlier session may be refused long after there is another one.
            if state.pending.get(&id).is_some_and(|pending| pending.epoch == state.epoch) {
                state.lost = true;
                self.0.session_lost.notify_one();
            }
        }
        self.deliver(id, Answer::Undelivered(lack));
    }

    fn deliver(&self, id: u64, answer: Answer) {
        let pending = self.lock().pending.remove(&id);
        if let Some(pending) = pending {
            let _ = pending.reply.send(answer);
        } else {
            tracing::debug!(id, "late_answer_dropped");
        }
    }

    fn answer_server(&self, method: &str, request: Request) {
        // Before the era is settled it is not known whether answers are allowed; modern clients send none.
        if self.era() != Some(Era::Legacy) {
            return;
        }
        let answer = match method {
            "elicitation/create" => self.0.asks.ask(request, &self.0.outgoing),
            _ => Some(message::answer(&request.id, method)),
        };
        let Some(answer) = answer.map(Frame::plain) else { return };
        // Not waited for: a server that floods us with requests and reads nothing gets no answer.
        if self.0.outgoing.try_send(answer).is_err() {
            tracing::debug!("server_request_unanswered");
        }
    }

    fn hear(&self, method: &str, params: Option<&RawValue>) {
        match method {
            "notifications/tools/list_changed" => self.note_tools_changed(),
            "notifications/resources/list_changed" => self.note_offer_changed(Offer::Resources),
            "notifications/prompts/list_changed" => self.note_offer_changed(Offer::Prompts),
            "notifications/cancelled" => self.0.asks.taken_back(params),
            "notifications/progress" => {
                let params: Value = params.map_or(Value::Null, |p| serde_json::from_str(p.get()).unwrap_or_default());
                let token = match params.get("progressToken") {
                    Some(Value::String(token)) => token.parse().ok(),
                    Some(token) => token.as_u64(),
                    None => None,
                };
                let said = Said::read(&params);
                if let Some(pending) = token.and_then(|token| self.lock().pending.get(&token).map(|p| p.said.clone())) {
                    // One without a figure is a sign of life all the same.
                    pending.send_modify(|last| *last = said.or_else(|| last.take()));
                }
            }
            _ => {}
        }
    }

    fn end(&self, end: LinkEnd) {
        let _ = self.0.end.set(end);
        self.lock().closed.get_or_insert_with(|| "the connection has ended".into());
        self.0.asks.over();
        self.0.ended.cancel();
    }

    /// Gives a request up: not sent any more where it still waits, announced where it may have arrived.
    pub(super) fn abandon(&self, id: u64, ticket: &Ticket, role: Role, reason: &str) -> Reached {
        let was_pending = self.lock().pending.remove(&id).is_some();
        if ticket.withdraw() {
            return Reached::No;
        }
        if was_pending && role != Role::Handshake {
            let notice = Frame::plain(message::cancelled(id, reason));
            if let Err(mpsc::error::TrySendError::Full(notice)) = self.0.outgoing.try_send(notice) {
                let outgoing = self.0.outgoing.clone();
                if let Ok(runtime) = tokio::runtime::Handle::try_current() {
                    runtime.spawn(async move { outgoing.send(notice).await.is_ok() });
                }
            }
        }
        Reached::Perhaps
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Progress for every request that waits.
    #[cfg(test)]
    pub fn progress_for_test(&self) {
        self.lock().pending.values().for_each(|pending| pending.said.send_modify(|_| {}));
    }

    #[cfg(test)]
    pub fn pending(&self) -> usize {
        self.lock().pending.len()
    }
}

struct EndOnDrop(Client);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        self.0.end(LinkEnd::Internal);
    }
}
