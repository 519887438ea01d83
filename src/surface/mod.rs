//! The served surfaces: agents come in here over HTTP and reach tools only through the gate.
//!
//! One listener on loopback with an MCP endpoint for each agent seat, `GET /tools`, `/healthz` and `/metrics`. The
//! composition root starts it beside the engine. Both eras of the protocol are answered by our own code on raw JSON:
//! it is little, a call's arguments never pass a decoder that would lose something, and sessions and streams end when
//! their caller does. A caller's headers stop here; nothing of them goes to a server.

mod admit;
mod badges;
mod call;
mod connector;
mod consent;
mod envelope;
mod http;
mod library;
mod listen;
mod live;
mod mcp;
mod metrics;
mod party;
mod patient;
mod progress;
pub mod relay;
mod reply;
mod seats;
mod sessions;
mod shelf;
mod tasks;
pub mod tokens;
mod workers;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::config::expand::Environment;
use crate::config::model::Operator;
use crate::engine::handle::{Handle, SurfaceNews};
use crate::engine::snapshot::LogLevel;
use crate::engine::state_dir::StateDir;
use crate::native::connector::Connector;
use crate::native::questions::Questions;
use crate::native::{Memory, Native};
use crate::org::Org;
use crate::secret::Redactor;
use badges::Badges;
use consent::Consents;
use live::Parked;
use metrics::Metrics;
use seats::Roster;
use sessions::Sessions;
use shelf::Shelf;
use tasks::Tasks;
use tokens::{TokenError, Tokens};

/// How often tokens, idle sessions and parked calls are looked at when nobody asks for anything.
const HOUSEKEEPING: Duration = Duration::from_secs(1);
/// The shortest time between two lists of sessions for the screen.
const TELL_EVERY: Duration = Duration::from_millis(250);

/// Why the surfaces cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum SurfaceError {
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}; end what uses it, or pass --listen with another address")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system says.
        source: std::io::Error,
    },
    /// No seat could have a token.
    #[error(transparent)]
    Tokens(#[from] TokenError),
}

/// What the surfaces need beside the engine.
pub struct Options<'o> {
    /// Where to listen; port 0 takes any free one.
    pub address: SocketAddr,
    /// Where the tokens are.
    pub state: &'o StateDir,
    /// Where `${VAR}` comes from.
    pub environment: Arc<dyn Environment>,
    /// Learns the tokens, and cleans what clients call themselves.
    pub redactor: &'o Redactor,
    /// Who may use the operator surface and the connector.
    pub operators: &'o [Operator],
    /// The company's own tools.
    pub native: Arc<Native>,
}

/// Open surfaces.
#[derive(Debug)]
pub struct Surfaces {
    /// Where they listen.
    pub address: SocketAddr,
    shutdown: CancellationToken,
    task: JoinHandle<()>,
}

/// What all requests share.
pub(crate) struct Shared {
    handle: Handle,
    tokens: Tokens,
    shelf: Shelf,
    sessions: Sessions,
    parked: Parked,
    tasks: Tasks,
    metrics: Metrics,
    seats: Roster,
    badges: Badges,
    /// The company's name, where it has tools of its own.
    company: Option<Arc<str>>,
    connector: Option<Arc<Connector>>,
    consents: Consents,
    /// Hears who is connected.
    questions: Arc<Questions>,
    memory: Arc<Memory>,
    redactor: Redactor,
    listening: SocketAddr,
    shutdown: CancellationToken,
}

impl Shared {
    /// A request was refused before anybody knew whose it is.
    fn turned_away(&self, reason: &'static str) {
        // A flood that fills the engine's queue is in the metrics.
        let _ = self.handle.surface(SurfaceNews::TurnedAway(reason));
    }
}

/// Opens the surfaces on a running engine.
///
/// # Errors
/// When the address cannot be listened on or `tokens.json` cannot be used; nothing is open then.
pub async fn start(handle: Handle, options: Options<'_>) -> Result<Surfaces, SurfaceError> {
    let failed = |source| SurfaceError::Listen { address: options.address, source };
    let listener = TcpListener::bind(options.address).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let mut orgs = handle.org();
    let org = orgs.borrow_and_update().clone();
    let (tokens, mut problems) = Tokens::open(options.state, &org, options.environment.clone(), options.redactor)?;
    let (badges, unusable) = Badges::open(options.operators, options.environment.as_ref(), options.redactor);
    problems.extend(unusable);
    // Without tracker and pages there is nothing for operators, and so no such surface.
    let own = Some(&options.native).filter(|native| native.has_surfaces());
    let shared = Arc::new(Shared {
        tokens,
        shelf: Shelf::new(handle.catalog()),
        sessions: Sessions::new(options.native.shared(), options.redactor.clone()),
        parked: Parked::default(),
        consents: Consents::default(),
        tasks: Tasks::default(),
        metrics: Metrics::default(),
        seats: Roster::new(&org),
        badges,
        company: own.map(|native| native.company().name.clone()),
        connector: own.map(|native| native.connector()),
        questions: options.native.shared().questions.clone(),
        memory: options.native.memory().clone(),
        redactor: options.redactor.clone(),
        listening: address,
        shutdown: CancellationToken::new(),
        handle,
    });
    shared.tell_problems(problems);
    if !address.ip().is_loopback() {
        let text = format!("the surfaces on {address} can be reached from other machines, without encryption");
        tracing::warn!(%address, "listening_beyond_loopback");
        shared.tell(SurfaceNews::Notice(LogLevel::Warn, text.into()));
    }
    tracing::info!(%address, seats = shared.seats.count(), "listening");
    shared.handle.workers().open(address, &shared.redactor);
    shared.tell(SurfaceNews::Listening(address.to_string().into()));
    let shutdown = shared.shutdown.clone();
    let task = tokio::spawn(run(shared, listener, orgs));
    Ok(Surfaces { address, shutdown, task })
}

impl Surfaces {
    /// Ends all sessions, withdraws what waits for agents and closes the listener.
    pub async fn end(self) {
        self.shutdown.cancel();
        // A panic in there is in the log; the listener is closed either way.
        let _ = self.task.await;
    }
}

impl Shared {
    /// The screen misses a line when the engine is too busy; the log has it.
    fn tell(&self, news: SurfaceNews) {
        if self.handle.surface(news).is_err() {
            tracing::debug!("surface_news_dropped");
        }
    }
}

async fn run(shared: Arc<Shared>, listener: TcpListener, orgs: watch::Receiver<Arc<Org>>) {
    let house = tokio::spawn(keep_house(shared.clone()));
    let following = tokio::spawn(seats::follow(shared.clone(), orgs));
    let views = tokio::spawn(tell_sessions(shared.clone()));
    http::serve(shared.clone(), listener).await;
    house.abort();
    following.abort();
    views.abort();
    shared.handle.workers().close();
    shared.sessions.close_all();
    shared.sessions.turns.close();
    shared.parked.sweep(Duration::ZERO);
    shared.consents.sweep(Duration::ZERO);
    shared.tasks.sweep(&shared);
}

/// What has to happen when nobody asks for anything: a rotated token ends its sessions, the idle end, what nobody
/// came back for is given up.
async fn keep_house(shared: Arc<Shared>) {
    let mut rounds = tokio::time::interval(HOUSEKEEPING);
    rounds.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = rounds.tick() => {}
            () = shared.handle.workers().changed() => shared.tell(SurfaceNews::Workers),
        }
        workers::tokens_changed(&shared);
        shared.sessions.close_idle();
        workers::follow(&shared);
        shared.parked.sweep(shared.handle.settings().wait);
        shared.consents.sweep(shared.handle.settings().wait + live::KEPT);
        shared.tasks.sweep(&shared);
    }
}

/// Keeps the screen's list of sessions; nothing is sent while nothing changes.
async fn tell_sessions(shared: Arc<Shared>) {
    loop {
        shared.sessions.changed.notified().await;
        let views = shared.sessions.views();
        shared.questions.set_present(views.iter().map(|session| session.seat.clone()).collect());
        shared.tell(SurfaceNews::Sessions(views));
        tokio::time::sleep(TELL_EVERY).await;
    }
}
