//! `serve`: the engine and its surfaces without a screen, until a signal ends it.

use super::one_shot::{end, shut_down};
use super::parts::{self, Parts};
use super::{Document, document, listener};
use crate::cli::{Exit, Global, complain};
use crate::config::diagnostic;
use crate::engine::connection::reaper;
use crate::engine::gate::Attendance;
use crate::logging::Stderr;

/// Runs until a signal comes.
pub fn serve(global: &Global) -> Exit {
    let document = match document::load(global) {
        Ok(document) => document,
        Err(diagnostics) => {
            complain(diagnostic::render(&diagnostics).trim_end());
            return Exit::Config;
        }
    };
    let address = match listener::address(global, &document) {
        Ok(Some(address)) => address,
        Ok(None) => {
            complain("there is nothing to serve: set `engine.listen`, or pass --listen 127.0.0.1:7420");
            return Exit::Usage;
        }
        Err(problem) => {
            complain(&problem);
            return Exit::Usage;
        }
    };
    let exit = run(global, &document, address);
    reaper::kill_all_groups();
    exit.unwrap_or_else(|problem| {
        complain(&problem);
        Exit::Failed
    })
}

fn run(global: &Global, document: &Document, address: std::net::SocketAddr) -> Result<Exit, String> {
    let mut parts = Parts::open(global, document, Stderr::Quiet)?;
    // Held until every server is down: a second owner would repair what this one still does.
    let _owner = parts.state.own("crewlet-tui serve").map_err(|held| held.to_string())?;
    parts::runtime()?.block_on(async {
        let attendance = if global.read_only { Attendance::ReadOnly } else { Attendance::Nobody };
        let (handle, mut engine) = parts.start(document, attendance, None);
        let watching = tokio::spawn(super::watch::keep_up(document.clone(), handle.clone()));
        let (opened, problem) = listener::open(&handle, Some(address), document, &parts).await;
        let exit = match (opened.address(), problem) {
            (Some(address), _) => {
                complain(&format!("crewlet-tui: serving on http://{address}"));
                if !address.ip().is_loopback() {
                    complain("warning: other machines can reach this address, and nothing is encrypted");
                }
                tokio::select! {
                    number = parts::signal() => Ok(Exit::Signal(number)),
                    _ = &mut engine => return Err("the engine failed; the log in the state folder says where".to_owned()),
                }
            }
            (None, problem) => Err(problem.unwrap_or_else(|| "the listener did not open".to_owned())),
        };
        watching.abort();
        // First, so that whoever is held is told why.
        shut_down(&handle).await;
        opened.close().await;
        end(handle, engine, &parts.audit).await;
        exit
    })
}
