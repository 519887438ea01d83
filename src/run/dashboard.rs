//! The dashboard: the engine behind the screen, and every way out of both.

use std::io::IsTerminal;

use tokio::signal::unix::{SignalKind, signal as listen};
use tokio_util::sync::CancellationToken;

use super::document;
use super::one_shot::end;
use super::parts::Parts;
use crate::cli::{Exit, Global, complain};
use crate::config::diagnostic;
use crate::engine::connection::reaper;
use crate::engine::gate::Attendance;
use crate::logging::Stderr;
use crate::tui;

/// Opens the dashboard and runs it until the person leaves or a signal ends it.
pub fn dashboard(global: &Global) -> Exit {
    if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        complain("the dashboard needs a terminal; without one use `crewlet-tui check`, `tools` or `call`");
        return Exit::Usage;
    }
    let document = match document::load(global) {
        Ok(document) => document,
        Err(diagnostics) => {
            complain(diagnostic::render(&diagnostics).trim_end());
            return Exit::Config;
        }
    };
    let options = match document::screen(global, document.config()) {
        Ok(options) => options,
        Err(problem) => {
            complain(&problem);
            return Exit::Config;
        }
    };
    let mut parts = match Parts::open(global, &document, Stderr::Quiet) {
        Ok(parts) => parts,
        Err(problem) => {
            complain(&problem);
            return Exit::Failed;
        }
    };
    let owner = match parts.state.own("dashboard") {
        Ok(owner) => owner,
        Err(problem) => {
            complain(&problem.to_string());
            return Exit::Failed;
        }
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            complain(&format!("the runtime cannot be started: {error}"));
            return Exit::Failed;
        }
    };
    let attendance = if global.read_only { Attendance::ReadOnly } else { Attendance::Person };
    let (handle, engine, ended) = runtime.block_on(async {
        let (handle, engine) = parts.start(&document, attendance, None);
        let stop = CancellationToken::new();
        let screen = tui::run(handle.clone(), options, stop.clone());
        let screen = std::panic::AssertUnwindSafe(screen);
        let screen = futures_util::FutureExt::catch_unwind(screen);
        tokio::pin!(screen);
        let ended = tokio::select! {
            ended = &mut screen => Ended::of(ended),
            number = signal() => {
                stop.cancel();
                // The terminal is put back before anything else is said.
                match Ended::of(screen.await) {
                    Ended::Left => Ended::Signal(number),
                    other => other,
                }
            }
        };
        (handle, engine, ended)
    });
    runtime.block_on(end(handle, engine));
    reaper::kill_all_groups();
    drop(owner);
    ended.tell()
}

/// How the screen ended.
enum Ended {
    Left,
    Signal(u8),
    Broken(String),
    Panicked,
}

impl Ended {
    fn of(ended: std::thread::Result<Result<tui::Exit, tui::TuiError>>) -> Self {
        match ended {
            Ok(Ok(tui::Exit::Quit | tui::Exit::Shutdown)) => Self::Left,
            Ok(Ok(tui::Exit::EngineEnded)) => Self::Broken("the engine failed; the log in the state folder says where".to_owned()),
            Ok(Err(error)) => Self::Broken(error.to_string()),
            Err(_) => Self::Panicked,
        }
    }

    fn tell(self) -> Exit {
        match self {
            Self::Left => Exit::Fine,
            Self::Signal(number) => Exit::Signal(number),
            Self::Broken(problem) => {
                complain(&problem);
                Exit::Failed
            }
            Self::Panicked => {
                complain("the screen failed; the log in the state folder says where. Every server has been stopped");
                Exit::Failed
            }
        }
    }
}

/// Waits for SIGTERM, SIGINT or SIGHUP and gives its number.
pub(super) async fn signal() -> u8 {
    let arm = |kind: SignalKind| listen(kind);
    let (Ok(mut terminate), Ok(mut interrupt), Ok(mut hangup)) =
        (arm(SignalKind::terminate()), arm(SignalKind::interrupt()), arm(SignalKind::hangup()))
    else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = terminate.recv() => 15,
        _ = interrupt.recv() => 2,
        _ = hangup.recv() => 1,
    }
}
