//! `token`: a seat's bearer token, shown or made anew. A running instance takes a rotation up at once.

use super::{Exit, Global, TokenCommand, complain, print};
use crate::config::diagnostic;
use crate::config::expand::ProcessEnvironment;
use crate::engine::state_dir::StateDir;
use crate::org::Seat;
use crate::run;
use crate::surface::tokens;

/// Runs one of the two.
pub(super) fn run(global: &Global, command: &TokenCommand) -> Exit {
    let (TokenCommand::Show { seat: handle } | TokenCommand::Rotate { seat: handle }) = command;
    let (seat, folder) = match seat(global, handle) {
        Ok(found) => found,
        Err((exit, problem)) => {
            complain(&problem);
            return exit;
        }
    };
    let state = match StateDir::open(folder) {
        Ok(state) => state,
        Err(error) => {
            complain(&error.to_string());
            return Exit::Failed;
        }
    };
    let token = match command {
        TokenCommand::Show { .. } => tokens::show(&state, &seat, &ProcessEnvironment),
        TokenCommand::Rotate { .. } => tokens::rotate(&state, &seat),
    };
    match token {
        Ok(token) => {
            print(&format!("{}\n", token.expose()));
            Exit::Fine
        }
        Err(error) => {
            complain(&error.to_string());
            Exit::Failed
        }
    }
}

/// The agent seat with this handle, and the state folder.
pub(super) fn seat(global: &Global, handle: &str) -> Result<(Seat, std::path::PathBuf), (Exit, String)> {
    let document = run::load(global).map_err(|problems| (Exit::Config, diagnostic::render(&problems)))?;
    let org = &document.config().org;
    let Some(seat) = org.agents().find(|seat| seat.handle.as_str() == handle) else {
        let known: Vec<String> = org.agents().map(|seat| seat.handle.to_string()).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        let shown = crate::text::visible(handle);
        return Err((Exit::Usage, format!("there is no agent seat \"{shown}\"; there are: {known}")));
    };
    Ok((seat.clone(), run::state_folder(global)?))
}
