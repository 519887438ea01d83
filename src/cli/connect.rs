//! `connect`: a stdio MCP server for one seat, relayed to the running instance.

use std::sync::Arc;

use super::{Exit, Global, complain, print, token};
use crate::config::expand::ProcessEnvironment;
use crate::engine::state_dir::StateDir;
use crate::howto::{self, Instance};
use crate::run;
use crate::surface::relay::{self, Target};

/// Relays until standard input closes.
pub(super) fn run(global: &Global, seat: &str) -> Exit {
    let (seat, folder) = match token::seat(global, seat) {
        Ok(found) => found,
        Err((exit, problem)) => {
            complain(problem.trim_end());
            return exit;
        }
    };
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            complain(&format!("the runtime cannot be started: {error}"));
            return Exit::Failed;
        }
    };
    let target = Target { folder, seat, environment: Arc::new(ProcessEnvironment) };
    let input = tokio::io::BufReader::new(tokio::io::stdin());
    let ended = runtime.block_on(relay::run(target, input, tokio::io::stdout()));
    // A read of standard input that still waits would keep the runtime from ending.
    runtime.shutdown_background();
    match ended {
        Ok(()) => Exit::Fine,
        Err(problem) => {
            complain(&problem);
            Exit::Failed
        }
    }
}

/// Prints how to connect agents to this seat.
pub(super) fn help(global: &Global, seat: &str) -> Exit {
    match token::seat(global, seat) {
        Ok((seat, folder)) => {
            let program = match run::program(global) {
                Ok(program) => program,
                Err((exit, problem)) => {
                    complain(&problem);
                    return exit;
                }
            };
            let state = folder.is_dir().then(|| StateDir::open(folder).ok()).flatten();
            // What a program that was killed left behind is no instance.
            let running = state.filter(StateDir::is_owned).and_then(|state| state.read_run());
            let instance = match &running {
                None => Instance::Absent,
                Some(run) => run.address.as_deref().map_or(Instance::WithoutListener, Instance::At),
            };
            print(&howto::text(&program, instance, seat.handle.as_str()));
            Exit::Fine
        }
        Err((exit, problem)) => {
            complain(problem.trim_end());
            exit
        }
    }
}
