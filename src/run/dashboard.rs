//! The dashboard: the engine behind the screen, and every way out of both.

use std::io::IsTerminal;
use std::net::SocketAddr;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::FutureExt;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use super::one_shot::{end, shut_down};
use super::parts::{self, Parts};
use super::program::program_for;
use super::{Document, document, listener};
use crate::cli::{Exit, Global, complain};
use crate::engine::connection::reaper;
use crate::engine::gate::Attendance;
use crate::logging::Stderr;
use crate::secret::Redactor;
use crate::tui;

/// Panics of threads other than the one that draws, while the screen was up.
static BEHIND_THE_SCREEN: AtomicUsize = AtomicUsize::new(0);

/// Opens the dashboard and runs it until the person leaves or a signal ends it.
pub fn dashboard(global: &Global) -> Exit {
    if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        complain("the dashboard needs a terminal; without one use `crewlet-tui serve`, `check`, `tools` or `call`");
        return Exit::Usage;
    }
    let document = match document::load(global) {
        Ok(document) => document,
        Err(diagnostics) => {
            complain(&document::explain(global, &diagnostics));
            return Exit::Config;
        }
    };
    let address = match listener::address(global, &document) {
        Ok(address) => address,
        Err(problem) => {
            complain(&problem);
            return Exit::Usage;
        }
    };
    match document::screen(global, document.config()) {
        Ok(options) => open(global, &document, (options, address)).unwrap_or_else(|problem| {
            complain(&problem);
            Exit::Failed
        }),
        Err(problem) => {
            complain(&problem);
            Exit::Config
        }
    }
}

/// The screen's options, and where to listen.
type Wanted = (tui::Options, Option<SocketAddr>);

fn open(global: &Global, document: &Document, (options, address): Wanted) -> Result<Exit, String> {
    let mut parts = Parts::open(global, document, Stderr::Quiet)?;
    let wanted = (tui::Options { program: program_for(global, document)?, reader: parts.reader(), ..options }, address);
    // Held until every server is down: a second dashboard would repair what this one still does.
    let _owner = parts.state.own("dashboard").map_err(|held| held.to_string())?;
    crate::logging::install_panic_hook(|_| {
        // Only the thread that draws gives the terminal back; what is to be said is said when all has ended.
        if !tui::terminal::restore_on_panic() {
            BEHIND_THE_SCREEN.fetch_add(1, Ordering::Relaxed);
        }
    });
    let runtime = parts::runtime()?;
    let ended = run(global, document, wanted, &mut parts, &runtime);
    reaper::kill_all_groups();
    let failed = BEHIND_THE_SCREEN.load(Ordering::Relaxed);
    if failed > 0 {
        let tasks = if failed == 1 { "a task" } else { "tasks" };
        complain(&format!("{tasks} behind the screen failed ({failed}); the log in the state folder says where"));
    }
    Ok(ended.tell(&parts.redactor))
}

fn run(global: &Global, document: &Document, wanted: Wanted, parts: &mut Parts, runtime: &Runtime) -> Ended {
    let (options, address) = wanted;
    runtime.block_on(async {
        let attendance = if global.read_only { Attendance::ReadOnly } else { Attendance::Person };
        let (handle, engine) = parts.start(document, attendance, None);
        let (opened, _) = listener::open(&handle, address, document, parts).await;
        // The start does not wait for it; a fault is in the log.
        let native = parts.native.clone();
        drop(tokio::spawn(async move { native.load_questions().await }));
        let watching = tokio::spawn(super::watch::keep_up(document.clone(), handle.clone()));
        let stop = CancellationToken::new();
        let screen = tui::run(handle.clone(), options, stop.clone());
        #[cfg(debug_assertions)]
        let screen = deliberate::with(screen, handle.clone());
        let screen = AssertUnwindSafe(screen).catch_unwind();
        tokio::pin!(screen);
        let ended = tokio::select! {
            ended = &mut screen => Ended::of(ended),
            number = parts::signal() => {
                stop.cancel();
                // The terminal is put back before anything else happens.
                match Ended::of(screen.await) {
                    Ended::Left => Ended::Signal(number),
                    other => other,
                }
            }
        };
        watching.abort();
        // First, so that whoever is held is told why.
        shut_down(&handle).await;
        opened.close().await;
        end(handle, engine, &parts.audit).await;
        ended
    })
}

/// Panics that debug builds raise on demand, so that tests can see what becomes of the terminal.
#[cfg(debug_assertions)]
mod deliberate {
    use crate::engine::handle::Handle;

    /// `CREWLET_PANIC=screen` panics on the thread that draws, `task` on another one, once a server is ready.
    pub(super) async fn with<T>(screen: impl Future<Output = T>, handle: Handle) -> T {
        let wanted = std::env::var("CREWLET_PANIC").unwrap_or_default();
        let ready = async move {
            let mut snapshots = handle.snapshots();
            let ready = snapshots.wait_for(|now| now.servers.iter().any(|server| server.status.is_ready())).await;
            drop(ready);
        };
        match wanted.as_str() {
            "screen" => tokio::select! {
                ended = screen => ended,
                () = ready => fail("screen"),
            },
            "task" => {
                // Its end is of no interest: the panic hook has been told.
                drop(tokio::spawn(async move {
                    ready.await;
                    fail("task")
                }));
                screen.await
            }
            _ => screen.await,
        }
    }

    #[allow(clippy::panic, reason = "that is what it is for")]
    fn fail(place: &str) -> ! {
        panic!("asked for by CREWLET_PANIC={place}")
    }
}

/// How the screen ended.
enum Ended {
    Left,
    Signal(u8),
    Broken(String),
    Panicked(String),
}

impl Ended {
    fn of(ended: std::thread::Result<Result<tui::Exit, tui::TuiError>>) -> Self {
        match ended {
            Ok(Ok(tui::Exit::Quit | tui::Exit::Shutdown)) => Self::Left,
            Ok(Ok(tui::Exit::EngineEnded)) => {
                Self::Broken("the engine failed; the log in the state folder says where".to_owned())
            }
            Ok(Err(error)) => Self::Broken(error.to_string()),
            Err(panic) => Self::Panicked(message(panic.as_ref())),
        }
    }

    fn tell(self, redactor: &Redactor) -> Exit {
        match self {
            Self::Left => Exit::Fine,
            Self::Signal(number) => Exit::Signal(number),
            Self::Broken(problem) => {
                complain(&problem);
                Exit::Failed
            }
            Self::Panicked(message) => {
                let message = crate::text::clean(&redactor.redact(&message)).into_owned();
                complain(&format!("the screen failed: {message}"));
                complain("every server has been stopped; the log in the state folder says where it happened");
                Exit::Failed
            }
        }
    }
}

fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}
