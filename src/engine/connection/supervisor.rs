//! The status machine of one connection: start, watch, back off, start again, stop.
//!
//! [`super::start`] spawns one. It alone owns the session and says what the status is; a panic anywhere below it
//! becomes `Failed`, and the connection can be started again.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::sync::{Notify, Semaphore, mpsc, watch};
use tokio::time::{Instant, sleep_until};

use super::backoff::{Attempts, Next};
use super::establish::{Established, establish};
use super::failure::{self, Trouble};
use super::known::KnownTools;
use super::lines::LineSink;
use super::link::Carriage;
use super::message::LinkEnd;
use super::orders::{Order, Orders};
use super::outbox::Outbox;
use super::reach::Availability;
use super::session::{Remains, Session};
use super::stdio::Exit;
use super::tools::ToolSupport;
use super::{ConnectionEvent, ConnectionSpec, Control, Initially, NamedEvent, TransportSpec, pulse, refresh};
use crate::clock::Timestamp;
use crate::config::model::RestartPolicy;
use crate::engine::status::{ConnectionStatus, Era, Failure, PeerFacts};

/// Processes that are made at the same time, over all connections. Nobody waits for a server while holding a place.
static SPAWNS: Semaphore = Semaphore::const_new(8);
/// Shortest time between two attempts that calls asked for.
const WAKE_REST: Duration = Duration::from_secs(1);

/// What comes next.
enum State {
    Start,
    Ready(Box<Session>, ToolSupport),
    Renew(Box<Session>),
    Wait(Duration, u32, Failure),
    Rest(ConnectionStatus),
    Over,
}

/// One connection's supervisor.
pub(super) struct Supervisor {
    spec: Arc<ConnectionSpec>,
    outbox: Outbox,
    current: watch::Sender<Availability>,
    sink: Arc<LineSink>,
    /// The era of an earlier start.
    era: Option<Era>,
    /// A start without the probe ended the same way: the probe is not what ends this server.
    probe_is_innocent: bool,
    attempts: Attempts,
    /// What an endpoint listed last; `None` before it was ready and for servers that calls do not wait for.
    tools: Option<Arc<KnownTools>>,
    /// The present attempt is one that a call asked for.
    woken: bool,
    last_woken: Option<Instant>,
}

impl Supervisor {
    /// A supervisor that obeys `orders`, tells `events` and publishes on `current` what can be called.
    pub fn new(
        spec: ConnectionSpec,
        orders: &Orders,
        events: mpsc::Sender<NamedEvent>,
        current: watch::Sender<Availability>,
    ) -> Self {
        let sink = Arc::new(LineSink::new(spec.name.clone(), spec.redactor.clone(), events.clone()));
        let outbox = Outbox::new(spec.name.clone(), events, orders.shutdown().clone());
        let era = spec.known_era;
        let spec = Arc::new(spec);
        let attempts = Attempts::default();
        let (probe_is_innocent, woken, tools, last_woken) = (false, false, None, None);
        Self { spec, outbox, current, sink, era, probe_is_innocent, attempts, tools, woken, last_woken }
    }

    /// Runs until shutdown; afterwards no process is left.
    pub async fn run(mut self, initially: Initially, mut orders: Orders) {
        let sink = self.sink.clone();
        let supervise = async {
            let mut state = match initially {
                Initially::Enabled => State::Start,
                Initially::Disabled => State::Rest(ConnectionStatus::Disabled),
            };
            loop {
                let step = AssertUnwindSafe(self.step(state, &mut orders)).catch_unwind().await;
                state = match step {
                    Ok(State::Over) => return,
                    Ok(next) => next,
                    Err(_panic) => self.panicked(),
                };
            }
        };
        tokio::select! {
            () = supervise => {}
            () = sink.run() => {}
        }
        sink.flush();
    }

    async fn step(&mut self, state: State, orders: &mut Orders) -> State {
        match state {
            State::Start => self.start(orders).await,
            State::Ready(session, support) => self.watch(*session, support, orders).await,
            State::Renew(session) => self.renew(*session, orders).await,
            State::Wait(delay, attempt, reason) => self.back_off((delay, attempt), reason, orders).await,
            State::Rest(status) => self.rest(status, orders).await,
            State::Over => State::Over,
        }
    }

    fn panicked(&self) -> State {
        let reason = failure::describe(&self.spec, &Trouble::Panicked, None, &Arc::default());
        tracing::error!(server = %self.spec.name, "connection_task_panicked");
        State::Rest(ConnectionStatus::Failed { reason })
    }

    /// Starts the server, a second time without the probe where the probe may have been what ended it.
    async fn start(&mut self, orders: &mut Orders) -> State {
        self.status(ConnectionStatus::Starting { since: Timestamp::now() }).await;
        let mut known = self.era;
        let mut again = !self.probe_is_innocent;
        loop {
            let place = tokio::select! {
                biased;
                order = orders.next_but_enable() => return self.obey(order).await,
                place = SPAWNS.acquire() => place,
            };
            self.log_start();
            let opened = Session::open(&self.spec, &self.sink);
            drop(place);
            let mut session = match opened {
                Ok(session) => session,
                Err(trouble) => return self.failed(&trouble, &Remains::default()),
            };
            self.mark_start(&session);
            let spec = self.spec.clone();
            let sink = self.sink.clone();
            let started = tokio::select! {
                biased;
                order = orders.next_but_enable() => Err(order),
                started = establish(&spec, &sink, &mut session, known) => Ok(started),
            };
            match started {
                Err(order) => return self.stop(session, order).await,
                Ok(Ok(established)) => return self.ready(session, established).await,
                Ok(Err(error)) => {
                    self.identify(error.facts).await;
                    let remains = session.take_down(&"the start failed".into()).await;
                    let ended = matches!(error.trouble, Trouble::Ended(_));
                    if error.try_legacy && again {
                        (known, again) = (Some(Era::Legacy), false);
                        continue;
                    }
                    self.probe_is_innocent |= ended && known == Some(Era::Legacy) && self.era.is_none();
                    return self.failed(&error.trouble, &remains);
                }
            }
        }
    }

    /// A new handshake on a link whose session the server does not know any more. Requests of the old session stay on
    /// their way meanwhile: each is answered, or refused by itself.
    async fn renew(&mut self, mut session: Session, orders: &mut Orders) -> State {
        self.status(ConnectionStatus::Starting { since: Timestamp::now() }).await;
        self.log_start();
        let (spec, sink) = (self.spec.clone(), self.sink.clone());
        let renewed = tokio::select! {
            biased;
            order = orders.next_but_enable() => Err(order),
            renewed = establish(&spec, &sink, &mut session, Some(Era::Legacy)) => Ok(renewed),
        };
        match renewed {
            Err(order) => self.stop(session, order).await,
            Ok(Ok(established)) => {
                session.client.renewed();
                self.ready(session, established).await
            }
            Ok(Err(error)) => {
                self.identify(error.facts).await;
                let remains = session.take_down(&"no new session could be made".into()).await;
                self.failed(&error.trouble, &remains)
            }
        }
    }

    async fn identify(&mut self, facts: Option<PeerFacts>) {
        if let Some(facts) = facts {
            self.era = Some(facts.era);
            self.outbox.send(ConnectionEvent::Identified(facts)).await;
        }
    }

    async fn ready(&mut self, session: Session, established: Established) -> State {
        let Established { facts, listing, support } = established;
        self.identify(Some(facts)).await;
        self.woken = false;
        if session.client.carriage() == Carriage::Http {
            self.tools = Some(session.client.tools());
        }
        refresh::log_listing(&self.spec, &listing);
        self.outbox.send(ConnectionEvent::Listed(listing)).await;
        self.current.send_replace(Availability::Ready(session.client.clone()));
        // What was said about the start stands before the word that it is over.
        self.sink.flush();
        self.outbox.send(ConnectionEvent::Status(ConnectionStatus::Ready { since: Timestamp::now() })).await;
        State::Ready(Box::new(session), support)
    }

    /// Watches a ready server until it ends or an order comes; lists its tools again when it asks for that.
    async fn watch(&mut self, mut session: Session, support: ToolSupport, orders: &mut Orders) -> State {
        let since = Instant::now();
        let refresh = refresh::run(self.spec.clone(), session.client.clone(), support, self.outbox.clone());
        let client = session.client.clone();
        let seen = tokio::select! {
            biased;
            order = orders.next_but_enable() => Seen::Order(order),
            (end, exit) = session.ended() => Seen::End(end, exit),
            () = client.session_lost() => Seen::SessionLost,
            never = refresh => match never {},
            reason = pulse::run(&client) => Seen::End(LinkEnd::Broken(reason), None),
        };
        if self.tools.is_some() {
            self.tools = Some(client.tools());
        }
        match seen {
            Seen::Order(order) => self.stop(session, order).await,
            Seen::SessionLost => State::Renew(Box::new(session)),
            Seen::End(end, exit) => self.ended(session, (end, exit), since).await,
        }
    }

    async fn ended(&mut self, session: Session, (end, exit): (LinkEnd, Option<Exit>), since: Instant) -> State {
        let healthy = since.elapsed();
        let trouble = Trouble::Ended(end);
        let short = failure::describe(&self.spec, &trouble, exit, &Arc::default()).headline;
        let reason: Arc<str> = format!("{} ended before it answered: {short}", self.spec.name).into();
        // Calls hear of it before anything is waited for.
        session.client.fail_pending(&reason);
        tracing::warn!(server = %self.spec.name, reason = %short, "server_stopped_with_exit_status");
        self.status(ConnectionStatus::Stopping).await;
        let remains = session.take_down(&reason).await;
        let reason = failure::describe(&self.spec, &trouble, exit, &remains.tail);
        let next = self.attempts.ended_after(healthy, random());
        self.next(next, &trouble, reason)
    }

    /// A start failed: the tail goes to the log once, and another attempt or none follows.
    fn failed(&mut self, trouble: &Trouble, remains: &Remains) -> State {
        let reason = failure::describe(&self.spec, trouble, remains.exit, &remains.tail);
        if !reason.tail.is_empty() {
            let lines = reason.tail.join("\n");
            tracing::error!(server = %self.spec.name, %lines, error = %reason.headline, "server_stderr_tail");
        }
        let asked_for = std::mem::take(&mut self.woken);
        let next =
            if asked_for { self.attempts.failed_extra(random()) } else { self.attempts.failed_to_start(random()) };
        self.next(next, trouble, reason)
    }

    fn next(&self, next: Next, trouble: &Trouble, reason: Failure) -> State {
        match next {
            Next::Wait(delay, attempt) if self.spec.restart == RestartPolicy::OnFailure && !trouble.is_final() => {
                State::Wait(delay, attempt, reason)
            }
            _ => State::Rest(ConnectionStatus::Failed { reason }),
        }
    }

    async fn back_off(&mut self, (delay, attempt): (Duration, u32), reason: Failure, orders: &mut Orders) -> State {
        let until = Timestamp::now().plus(delay);
        let due = Instant::now() + delay;
        self.status(ConnectionStatus::Backoff { until, attempt, reason }).await;
        let wake = orders.wake();
        tokio::select! {
            biased;
            order = orders.next() => self.obey(order).await,
            () = sleep_until(due) => State::Start,
            () = self.woken_by(&wake) => State::Start,
        }
    }

    async fn rest(&mut self, status: ConnectionStatus, orders: &mut Orders) -> State {
        self.status(status.clone()).await;
        let wake = orders.wake();
        let order = tokio::select! {
            biased;
            order = orders.next() => order,
            () = self.woken_by(&wake) => return State::Start,
        };
        match order {
            // What was down on purpose or for a reason keeps saying so.
            Order::Shutdown if !matches!(status, ConnectionStatus::Stopped) => State::Over,
            order => self.obey(order).await,
        }
    }

    /// Waits until a call asks for an attempt that it may have. Too soon after another, the asking is answered by
    /// saying once more how things are.
    async fn woken_by(&mut self, wake: &Notify) {
        loop {
            wake.notified().await;
            let away = matches!(&*self.current.borrow(), Availability::Away(_));
            let rested = self.last_woken.is_none_or(|last| last.elapsed() >= WAKE_REST);
            if away && rested {
                self.last_woken = Some(Instant::now());
                self.woken = true;
                return;
            }
            self.current.send_modify(|_| ());
        }
    }

    async fn stop(&mut self, session: Session, order: Order) -> State {
        self.status(ConnectionStatus::Stopping).await;
        session.take_down(&format!("{} was stopped before it answered", self.spec.name).into()).await;
        tracing::info!(server = %self.spec.name, "server_stopped");
        self.obey(order).await
    }

    /// What an order means once nothing runs.
    async fn obey(&mut self, order: Order) -> State {
        match order {
            Order::Control(Control::Restart | Control::Enable) => {
                self.attempts = Attempts::default();
                self.probe_is_innocent = false;
                State::Start
            }
            Order::Control(Control::Disable) => State::Rest(ConnectionStatus::Disabled),
            Order::Shutdown => {
                self.status(ConnectionStatus::Stopped).await;
                State::Over
            }
        }
    }

    async fn status(&self, status: ConnectionStatus) {
        let reason = match status.failure() {
            Some(failure) => format!("{} is not running ({}): {}", self.spec.name, status.word(), failure.headline),
            None => format!("{} is not running: it is {}", self.spec.name, status.word()),
        };
        let found = Availability::of(&status, reason.into(), self.tools.as_ref(), self.spec.restart);
        self.current.send_replace(found);
        // What the child said before comes before.
        self.sink.flush();
        self.outbox.send(ConnectionEvent::Status(status)).await;
    }

    fn log_start(&self) {
        let server = &self.spec.name;
        match &self.spec.transport {
            TransportSpec::Stdio(stdio) => {
                tracing::info!(%server, command = %stdio.display, "server_starting");
                let keys: Vec<_> = stdio.env.iter().map(|(key, _)| &**key).collect();
                tracing::debug!(%server, keys = keys.join(" "), "custom_env_keys");
            }
            TransportSpec::Http(http) => tracing::info!(%server, url = %http.display, "server_connecting"),
            TransportSpec::Custom(_) => tracing::info!(%server, "server_connecting"),
        }
    }

    fn mark_start(&self, session: &Session) {
        if let Some(pid) = session.pid() {
            self.sink.mark(&format!("started, process {pid}"));
        }
    }
}

/// What made a session stop being watched.
enum Seen {
    Order(Order),
    End(LinkEnd, Option<Exit>),
    SessionLost,
}

fn random() -> u32 {
    getrandom::u32().unwrap_or(0)
}
