//! The status machine of one connection: start, watch, back off, start again, stop.
//!
//! [`super::start`] spawns one. It alone owns the session and says what the status is; a panic anywhere below it
//! becomes `Failed`, and the connection can be started again.

use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::time::{Instant, sleep, sleep_until};

use super::backoff::{Attempts, Next};
use super::establish::{Established, establish};
use super::failure::{self, Trouble};
use super::lines::LineSink;
use super::message::LinkEnd;
use super::orders::{Order, Orders};
use super::outbox::Outbox;
use super::session::{Remains, Session};
use super::stdio::Exit;
use super::tools::ToolSupport;
use super::{Availability, ConnectionEvent, ConnectionSpec, Control, Initially, NamedEvent, TransportSpec, refresh};
use crate::clock::Timestamp;
use crate::config::model::RestartPolicy;
use crate::engine::status::{ConnectionStatus, Era, Failure};

/// Servers that start at the same time, over all connections.
static STARTS: Semaphore = Semaphore::const_new(8);
/// A start gives its place to others after this time, when its process has long been made; it is not stopped by that.
/// What the places keep apart is the making of processes, not the waiting for servers.
const PLACE_TIME: Duration = Duration::from_millis(25);
/// What comes next.
enum State {
    Start,
    Ready(Box<Session>, ToolSupport),
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
        Self { spec, outbox, current, sink, era, probe_is_innocent: false, attempts: Attempts::default() }
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
        let place = tokio::select! {
            biased;
            order = orders.next_but_enable() => return self.obey(order).await,
            place = STARTS.acquire() => place,
        };
        let place = hold(place);
        let mut place = pin!(place);
        let mut known = self.era;
        let mut again = !self.probe_is_innocent;
        loop {
            self.log_start();
            let mut session = match Session::open(&self.spec, &self.sink) {
                Ok(session) => session,
                Err(trouble) => return self.failed(&trouble, &Remains::default()),
            };
            self.mark_start(&session);
            let spec = self.spec.clone();
            let sink = self.sink.clone();
            let started = tokio::select! {
                biased;
                order = orders.next_but_enable() => Err(order),
                never = &mut place => match never {},
                started = establish(&spec, &sink, &mut session, known) => Ok(started),
            };
            match started {
                Err(order) => return self.stop(session, order).await,
                Ok(Ok(established)) => return self.ready(session, established).await,
                Ok(Err(error)) => {
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

    async fn ready(&mut self, session: Session, established: Established) -> State {
        let Established { facts, listing, support } = established;
        self.era = Some(facts.era);
        self.outbox.send(ConnectionEvent::Identified(facts)).await;
        refresh::log_listing(&self.spec, &listing);
        self.outbox.send(ConnectionEvent::Listed(listing)).await;
        self.current.send_replace(Availability::Ready(session.client.clone()));
        self.outbox.send(ConnectionEvent::Status(ConnectionStatus::Ready { since: Timestamp::now() })).await;
        State::Ready(Box::new(session), support)
    }

    /// Watches a ready server until it ends or an order comes; lists its tools again when it asks for that.
    async fn watch(&mut self, mut session: Session, support: ToolSupport, orders: &mut Orders) -> State {
        let since = Instant::now();
        let refresh = refresh::run(self.spec.clone(), session.client.clone(), support, self.outbox.clone());
        let outcome = tokio::select! {
            biased;
            order = orders.next_but_enable() => Err(order),
            end = session.ended() => Ok(end),
            never = refresh => match never {},
        };
        match outcome {
            Err(order) => self.stop(session, order).await,
            Ok((end, exit)) => self.ended(session, (end, exit), since).await,
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
        // The server is there, it only wants a new handshake. No loop of our own: it took a call to notice.
        if matches!(trouble, Trouble::Ended(LinkEnd::SessionLost)) && self.spec.restart == RestartPolicy::OnFailure {
            return State::Start;
        }
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
        let next = self.attempts.failed_to_start(random());
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
        let wake = Instant::now() + delay;
        self.status(ConnectionStatus::Backoff { until, attempt, reason }).await;
        tokio::select! {
            biased;
            order = orders.next() => self.obey(order).await,
            () = sleep_until(wake) => State::Start,
        }
    }

    async fn rest(&mut self, status: ConnectionStatus, orders: &mut Orders) -> State {
        self.status(status.clone()).await;
        match orders.next().await {
            // What was down on purpose or for a reason keeps saying so.
            Order::Shutdown if !matches!(status, ConnectionStatus::Stopped) => State::Over,
            order => self.obey(order).await,
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
        self.current.send_replace(Availability::Down(reason.into()));
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

/// Keeps a place among the starting servers for a while; dropping it gives the place back at once.
async fn hold<T>(place: T) -> std::convert::Infallible {
    sleep(PLACE_TIME).await;
    drop(place);
    std::future::pending().await
}

fn random() -> u32 {
    getrandom::u32().unwrap_or(0)
}
