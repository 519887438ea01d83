//! The surfaces beside an engine: where they listen, and `run.json`, by which others find them.

use std::net::SocketAddr;
use std::sync::Arc;

use super::Document;
use super::parts::Parts;
use crate::cli::Global;
use crate::config::expand::ProcessEnvironment;
use crate::engine::handle::{Handle, SurfaceNews};
use crate::engine::state_dir::{RunInfo, StateDir};
use crate::surface::{self, Surfaces};

/// The address that was asked for: `--listen` before `engine.listen`; `None` when off.
///
/// # Errors
/// One line when `--listen` is no address.
pub(super) fn address(global: &Global, document: &Document) -> Result<Option<SocketAddr>, String> {
    let Some(text) = global.listen.as_deref() else { return Ok(document.config().engine.listen) };
    if text == "off" {
        return Ok(None);
    }
    let numeric = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
    let address = numeric.as_deref().unwrap_or(text).parse().map_err(|_| {
        let shown = crate::text::visible(text);
        format!("--listen \"{shown}\": no address with a port; such as 127.0.0.1:7420, or off")
    });
    address.map(Some)
}

/// What is open, and what has to be put away at the end.
pub(super) struct Opened {
    surfaces: Option<Surfaces>,
    state: StateDir,
}

/// Opens the surfaces where they are wanted. A listener that cannot be had is said on the screen and given back; the
/// engine goes on.
pub(super) async fn open(
    handle: &Handle,
    wanted: Option<SocketAddr>,
    document: &Document,
    parts: &Parts,
) -> (Opened, Option<String>) {
    let (mut surfaces, mut problem) = (None, None);
    if let Some(address) = wanted {
        let options = surface::Options {
            address,
            state: &parts.state,
            environment: Arc::new(ProcessEnvironment),
            redactor: &parts.redactor,
            operators: &document.config().operators,
            native: parts.native.clone(),
        };
        match surface::start(handle.clone(), options).await {
            Ok(opened) => surfaces = Some(opened),
            Err(error) => {
                tracing::error!(%error, "not_listening");
                let text = error.to_string();
                // A full queue at the start of an engine cannot be; the log has it in any case.
                let _ = handle.surface(SurfaceNews::NotListening(text.as_str().into()));
                problem = Some(text);
            }
        }
    }
    let address = surfaces.as_ref().map(|surfaces| surfaces.address.to_string());
    if let Err(error) = parts.state.write_run(&RunInfo { pid: std::process::id(), address }) {
        tracing::warn!(file = "run.json", %error, "run_info_not_written");
    }
    (Opened { surfaces, state: parts.state.clone() }, problem)
}

impl Opened {
    /// Where the surfaces listen.
    pub(super) fn address(&self) -> Option<SocketAddr> {
        self.surfaces.as_ref().map(|surfaces| surfaces.address)
    }

    /// Closes everything; the answers that are still open get a moment.
    pub(super) async fn close(self) {
        self.state.clear_run();
        if let Some(surfaces) = self.surfaces {
            surfaces.end().await;
        }
    }
}
