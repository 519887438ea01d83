//! A legacy server's own requests for input: which call they may belong to, who is asked, and the one answer.
//!
//! [`super::client`] hands in what the server sends, [`super::call`] says which calls run. A question that no call of
//! ours can be the reason for is declined. While one waits, the calls that it may belong to are not given up for their
//! limit; the cap on that stays.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::value::RawValue;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::Instant;

use super::ConnectionSpec;
use super::link::Frame;
use super::message;
use super::protocol::{INVALID_PARAMS, METHOD_NOT_FOUND, Offer};
use crate::engine::forms::{Answer, BUSY, Inbox, Origin, PER_CONNECTION, Put, Why};
use crate::ids::{CallId, ConnectionName, FormId, ServerName};
use crate::secret::Redactor;
use crate::tool::elicit::{self, Unsupported};

/// The longest identifier of a request that is answered, in bytes.
const LONGEST_ID: usize = 256;

/// See the module. One for each link.
pub(super) struct Asks {
    inbox: Option<Inbox>,
    connection: ConnectionName,
    server: ServerName,
    redactor: Redactor,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    running: BTreeMap<u64, Running>,
    /// Questions that wait, by the server's identifier as it was written.
    open: HashMap<String, Open>,
    /// The link is over: no question is entered any more.
    over: bool,
}

struct Running {
    call: CallId,
    progress: Arc<Notify>,
    last: Instant,
}

struct Open {
    form: FormId,
    during: Vec<u64>,
    withdraw: Option<oneshot::Sender<Why>>,
}

/// A request of the server for input.
pub(super) struct Request {
    /// Its identifier, as written.
    pub id: Box<RawValue>,
    /// What it asks.
    pub params: Option<Box<RawValue>>,
    /// Our request in whose answer it came, where it came in one.
    pub during: Option<u64>,
}

/// A call that runs; it does no more once this is dropped.
pub(super) struct RunningCall {
    asks: Arc<Asks>,
    id: u64,
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        self.asks.ended(self.id);
    }
}

impl Asks {
    /// For a link of this connection.
    pub fn of(spec: &ConnectionSpec) -> Self {
        Self {
            inbox: spec.forms.clone(),
            connection: spec.name.clone(),
            server: spec.server.clone(),
            redactor: spec.redactor.clone(),
            state: Mutex::default(),
        }
    }

    /// For a link that nobody asks anything on.
    #[cfg(test)]
    pub fn deaf() -> Self {
        let (connection, server) = (ConnectionName::from("fake"), ServerName::from("fake"));
        Self { inbox: None, connection, server, redactor: Redactor::default(), state: Mutex::default() }
    }

    /// What we say that we can do.
    pub const fn offer(&self) -> Offer {
        if self.inbox.is_some() { Offer::Forms } else { Offer::Nothing }
    }

    /// Notes a call that is made. `last`: when it is given up whatever happens.
    pub fn running(self: &Arc<Self>, id: u64, call: &CallId, (progress, last): (Arc<Notify>, Instant)) -> RunningCall {
        self.lock().running.insert(id, Running { call: call.clone(), progress, last });
        RunningCall { asks: self.clone(), id }
    }

    /// True while a question waits that may belong to this call.
    pub fn hold(&self, id: u64) -> bool {
        self.lock().open.values().any(|open| open.during.contains(&id))
    }

    /// Takes a server's question. What is to be answered at once comes back.
    pub fn ask(self: &Arc<Self>, request: Request, outgoing: &mpsc::Sender<Frame>) -> Option<String> {
        let id = request.id.get();
        let Some(inbox) = &self.inbox else {
            let why = "elicitation is not offered: nobody is at a dashboard who may answer";
            return Some(message::failure(&request.id, METHOD_NOT_FOUND, why));
        };
        if id.len() > LONGEST_ID || self.lock().open.contains_key(id) {
            // Whatever was answered would be taken for the answer to the first question of that name.
            tracing::debug!(server = %self.connection, "server_request_unanswered");
            return None;
        }
        let (during, patience) = self.candidates(request.during);
        let origin = self.origin(&during);
        let refuse = |reason: &str| {
            inbox.refused(origin.clone(), reason);
            Some(message::success(&request.id, &Answer::refused(reason).result()))
        };
        if during.is_empty() {
            return refuse("no call runs that it could belong to");
        }
        if self.lock().open.len() >= PER_CONNECTION {
            return refuse("too many questions of this server wait already");
        }
        let form = match elicit::read(request.params.as_ref().map_or("null", |params| params.get()), &self.redactor) {
            Ok(form) => form,
            Err(error @ Unsupported::Mode(_)) => {
                let reason = error.to_string();
                inbox.refused(origin, &reason);
                return Some(message::failure(&request.id, INVALID_PARAMS, &reason));
            }
            Err(error) => return refuse(&error.to_string()),
        };
        let Some(put) = inbox.put(origin.clone(), form, patience) else {
            return refuse(BUSY);
        };
        let Put { id: form, answer, withdraw } = put;
        let open = Open { form, during, withdraw: Some(withdraw) };
        if self.enter(id, open) {
            tokio::spawn(self.clone().follow(form, request.id, answer, outgoing.clone()));
        }
        None
    }

    /// Notes a question that was handed in. Its calls or the link may have ended meanwhile: then it is withdrawn at once.
    /// False when nobody waits for its answer.
    fn enter(&self, id: &str, mut open: Open) -> bool {
        let mut state = self.lock();
        if state.over {
            withdraw(open.withdraw, Why::ServerGone);
            return false;
        }
        let mut running = open.during.iter().filter_map(|id| state.running.get(id)).peekable();
        if running.peek().is_none() {
            withdraw(open.withdraw.take(), Why::CallOver);
        }
        running.for_each(|running| running.progress.notify_one());
        state.open.insert(id.to_owned(), open);
        true
    }

    /// The server does not want an answer any more.
    pub fn taken_back(&self, params: Option<&RawValue>) {
        #[derive(serde::Deserialize)]
        struct Cancelled<'p> {
            #[serde(borrow, rename = "requestId")]
            id: &'p RawValue,
        }
        let Some(Ok(cancelled)) = params.map(|params| serde_json::from_str::<Cancelled<'_>>(params.get())) else {
            return;
        };
        let open = self.lock().open.remove(cancelled.id.get());
        if let Some(open) = open {
            self.touch(&open.during);
            withdraw(open.withdraw, Why::TakenBack);
        }
    }

    /// The link is over: no question of it can be answered.
    pub fn over(&self) {
        let open = {
            let mut state = self.lock();
            state.over = true;
            std::mem::take(&mut state.open)
        };
        for (_, open) in open {
            withdraw(open.withdraw, Why::ServerGone);
        }
    }

    /// Waits for the one answer, and sends it unless the server took its question back.
    async fn follow(
        self: Arc<Self>,
        form: FormId,
        id: Box<RawValue>,
        answer: oneshot::Receiver<Answer>,
        outgoing: mpsc::Sender<Frame>,
    ) {
        let answer = answer.await.unwrap_or(Answer::Cancelled(Why::Shutdown));
        let open = {
            let mut state = self.lock();
            let same = state.open.get(id.get()).is_some_and(|open| open.form == form);
            if same { state.open.remove(id.get()) } else { None }
        };
        let Some(open) = open else { return };
        self.touch(&open.during);
        // With a ticket: a notice may be dropped in a flood, this may not.
        let frame = Frame { ticket: Some(Arc::default()), ..Frame::plain(message::success(&id, &answer.result())) };
        let _ = outgoing.send(frame).await;
    }

    /// The running calls that a question may belong to, and how long the last of them lives at most.
    fn candidates(&self, during: Option<u64>) -> (Vec<u64>, Option<Duration>) {
        let state = self.lock();
        let may = |id: &u64| during.is_none_or(|known| known == *id);
        let running = || state.running.iter().filter(|(id, _)| may(id));
        let last = running().map(|(_, running)| running.last.saturating_duration_since(Instant::now())).max();
        (running().map(|(id, _)| *id).collect(), last)
    }

    fn origin(&self, during: &[u64]) -> Origin {
        let state = self.lock();
        let calls = during.iter().filter_map(|id| state.running.get(id)).map(|running| running.call.clone());
        Origin { connection: self.connection.clone(), server: self.server.clone(), during: calls.collect() }
    }

    /// A call is over; questions that can belong to no other one are withdrawn.
    fn ended(&self, id: u64) {
        let mut state = self.lock();
        state.running.remove(&id);
        let State { running, open, .. } = &mut *state;
        for open in open.values_mut().filter(|open| !open.during.iter().any(|id| running.contains_key(id))) {
            // It stays known until it is answered: the server waits for that.
            withdraw(open.withdraw.take(), Why::CallOver);
        }
    }

    /// A question came or went: the calls that it may belong to have their whole limit again.
    fn touch(&self, during: &[u64]) {
        let state = self.lock();
        for running in during.iter().filter_map(|id| state.running.get(id)) {
            running.progress.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn withdraw(sender: Option<oneshot::Sender<Why>>, why: Why) {
    if let Some(sender) = sender {
        // A question that ended meanwhile has nobody who listens.
        let _ = sender.send(why);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A question that was handed in during call 1, and what tells that it was withdrawn.
    fn question() -> (Open, oneshot::Receiver<Why>) {
        let (withdraw, withdrawn) = oneshot::channel();
        (Open { form: FormId(1), during: vec![1], withdraw: Some(withdraw) }, withdrawn)
    }

    fn run(asks: &Arc<Asks>) -> RunningCall {
        asks.running(1, &CallId::from("c1"), (Arc::default(), Instant::now()))
    }

    #[test]
    fn a_question_that_comes_too_late_for_its_call_or_link_is_withdrawn_at_once() {
        let asks = Arc::new(Asks::deaf());
        let running = run(&asks);
        let (open, mut withdrawn) = question();
        assert!(asks.enter("1", open) && withdrawn.try_recv().is_err() && asks.hold(1), "it waits with its call");
        drop(running);
        assert_eq!(withdrawn.try_recv(), Ok(Why::CallOver));
        let (open, mut withdrawn) = question();
        assert!(asks.enter("2", open), "the server waits for the answer");
        assert_eq!(withdrawn.try_recv(), Ok(Why::CallOver));
        asks.over();
        let _running = run(&asks);
        let (open, mut withdrawn) = question();
        assert!(!asks.enter("3", open) && !asks.hold(1), "nobody waits for the answer");
        assert_eq!(withdrawn.try_recv(), Ok(Why::ServerGone));
    }
}
