//! The door to the engine: snapshots out, commands and calls in. Cheap to clone; the only thing that screens,
//! surfaces and one-shot commands hold.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

pub use super::call::hold::{Hold, Stage};
use super::command::Command;
pub use super::connection::progress::Progress;
use super::library::Library;
use super::snapshot::{CallPhase, Caller, LogLevel, SessionView, Snapshot};
use super::workers::Workers;
use crate::config::model::{ApprovalSettings, Config, PolicyDecision};
use crate::engine::call::running::Running;
pub use crate::engine::call::running::{NoReport, Waited};
use crate::ids::CallId;
use crate::org::Org;
use crate::tool::output::CallOutput;
use crate::tool::{Arguments, Catalog};

/// The engine cannot take a command right now (its queue is full), or it has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SendError {
    /// The queue is full.
    #[error("the engine is busy; nothing was done")]
    Busy,
    /// The engine has ended.
    #[error("the engine has ended")]
    Ended,
}

/// A call that somebody asks for.
#[derive(Debug)]
pub struct CallRequest {
    /// Who asks.
    pub caller: Caller,
    /// A catalogue name, an exposed name or `server/raw_name`.
    pub tool: Arc<str>,
    /// The arguments.
    pub arguments: Arguments,
    /// Consent that was given together with the request.
    pub consent: Consent,
    /// Cancelled when the caller gives up.
    pub cancel: CancellationToken,
}

/// Consent given together with a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Consent {
    /// None: the policy decides whether a person is asked.
    None,
    /// Given at the shell by this user (`call --approve`): satisfies `ask`, never `type`.
    Shell(Arc<str>),
}

/// What became of the configuration file.
#[derive(Clone, Debug)]
pub enum Reload {
    /// It can be used: what differs is applied.
    Valid {
        /// What it says now.
        config: Arc<Config>,
        /// What a person should be told about it.
        notices: Vec<(LogLevel, Arc<str>)>,
    },
    /// It cannot be used: nothing changes.
    Invalid {
        /// The first problem, with file and line.
        problem: Arc<str>,
        /// How many more there are.
        more: usize,
    },
    /// It is not watched any more: saving it has no effect.
    Unwatched {
        /// Why.
        problem: Arc<str>,
    },
}

/// How a call ended.
#[derive(Clone, Debug)]
pub struct CallReport {
    /// The call.
    pub call: CallId,
    /// Its end; [`CallPhase::is_over`] holds.
    pub phase: CallPhase,
    /// What came back, when it was answered with a result.
    pub output: Option<CallOutput>,
    /// What the policy said: decision and what made it.
    pub policy: Option<(PolicyDecision, Arc<str>)>,
    /// Time from received to finished, waiting included.
    pub elapsed: Duration,
    /// For the caller: what happened, why, and what to do next. For a result, the result as text, after the note.
    pub message: Arc<str>,
    /// What the caller has to know beside the result: that a person changed the arguments, and to what.
    pub note: Option<Arc<str>>,
}

/// A call that is handed in.
#[derive(Debug)]
pub(super) struct Submitted {
    pub(super) request: CallRequest,
    pub(super) hold: Hold,
    /// Why it does not run, where that is known before the engine looks.
    pub(super) refused: Option<Arc<str>>,
}

/// What the surfaces tell the engine, for the snapshot.
#[derive(Clone, Debug)]
pub enum SurfaceNews {
    /// The listener is up at this address.
    Listening(Arc<str>),
    /// The listener is not up, for this reason and with this next step.
    NotListening(Arc<str>),
    /// The agents that use the surfaces now, oldest first.
    Sessions(Vec<Arc<SessionView>>),
    /// Workers came or went.
    Workers,
    /// A request was turned away at the door: why, for the audit.
    TurnedAway(&'static str),
    /// Something a person should be told.
    Notice(LogLevel, Arc<str>),
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Handle {
    pub(super) commands: mpsc::Sender<Command>,
    pub(super) running: Running,
    pub(super) surface: mpsc::Sender<SurfaceNews>,
    pub(super) reloads: mpsc::Sender<Reload>,
    pub(super) snapshots: watch::Receiver<Arc<Snapshot>>,
    pub(super) catalog: watch::Receiver<Arc<Catalog>>,
    pub(super) settings: watch::Receiver<Arc<ApprovalSettings>>,
    pub(super) org: watch::Receiver<Arc<Org>>,
    pub(super) library: Library,
    pub(super) workers: Workers,
}

impl Handle {
    /// Hands a changed configuration over. What comes of it shows in the snapshot.
    ///
    /// # Errors
    /// When the engine has ended.
    pub async fn reload(&self, reload: Reload) -> Result<(), SendError> {
        self.reloads.send(reload).await.map_err(|_| SendError::Ended)
    }

    /// The latest snapshot and a way to wait for the next.
    pub fn snapshots(&self) -> watch::Receiver<Arc<Snapshot>> {
        self.snapshots.clone()
    }

    /// The latest snapshot.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.snapshots.borrow().clone()
    }

    /// Hands a command over without waiting. What comes of it shows in the snapshot.
    ///
    /// # Errors
    /// When the queue is full or the engine has ended; the command was not taken.
    pub fn send(&self, command: Command) -> Result<(), SendError> {
        self.commands.try_send(command).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => SendError::Busy,
            mpsc::error::TrySendError::Closed(_) => SendError::Ended,
        })
    }

    /// Runs one call through the whole pipeline and waits for its end. Dropping the future is not enough to give
    /// the call up; cancel the request's token.
    ///
    /// # Errors
    /// When the engine has ended before the call did.
    pub async fn call(&self, request: CallRequest) -> Result<CallReport, SendError> {
        self.start_call(request, Hold::default())?.await.map_err(|_| SendError::Ended)
    }

    /// Takes a call whose caller may leave while a person is asked. It runs while it is polled; whoever stops polling
    /// it lets go of it, and it goes on by itself. Dropping it gives nothing up, the request's token does.
    ///
    /// # Errors
    /// When the engine has ended.
    pub fn start_call(&self, request: CallRequest, hold: Hold) -> Result<Waited, SendError> {
        let submitted = Submitted { request, hold, refused: None };
        self.running.wait(CallId::fresh(), submitted).map_err(|_| SendError::Ended)
    }

    /// Leaves a call on record, and on the screen, that whoever took it refuses: nothing is asked and nothing runs.
    ///
    /// # Errors
    /// When the engine has ended before it was recorded.
    pub async fn refuse(&self, request: CallRequest, reason: Arc<str>) -> Result<CallReport, SendError> {
        let submitted = Submitted { request, hold: Hold::default(), refused: Some(reason) };
        let refused = self.running.wait(CallId::fresh(), submitted).map_err(|_| SendError::Ended)?;
        refused.await.map_err(|_| SendError::Ended)
    }

    /// The catalog as calls see it, ahead of the snapshot's.
    pub fn catalog(&self) -> watch::Receiver<Arc<Catalog>> {
        self.catalog.clone()
    }

    /// The company's seats as the configuration in force has them. Told of after what it changes for them is in force.
    pub fn org(&self) -> watch::Receiver<Arc<Org>> {
        self.org.clone()
    }

    /// What servers offer to be read.
    pub fn library(&self) -> &Library {
        &self.library
    }

    /// The workers under seats.
    pub fn workers(&self) -> &Workers {
        &self.workers
    }

    /// The approval settings as calls see them.
    pub fn settings(&self) -> Arc<ApprovalSettings> {
        self.settings.borrow().clone()
    }

    /// Tells the engine what the surfaces do.
    ///
    /// # Errors
    /// When the queue is full or the engine has ended; nothing was taken.
    pub fn surface(&self, news: SurfaceNews) -> Result<(), SendError> {
        self.surface.try_send(news).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => SendError::Busy,
            mpsc::error::TrySendError::Closed(_) => SendError::Ended,
        })
    }
}
