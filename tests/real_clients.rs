//! Real MCP clients against the served surfaces: the inspector, agents' own programs, and the protocol's conformance
//! suite on both sides of us.
//!
//! `CREWLET_REAL_CLIENTS` says where `tests/support/install_real_clients.sh` has put them. Without it each test says
//! that it is skipped; with it, a client that is not there is a failure, but for the agents' large programs.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stderr,
    reason = "a test that cannot go on says why"
)]

use std::path::{Path, PathBuf};

#[path = "real_clients/agents.rs"]
mod agents;
#[path = "surfaces/bench.rs"]
#[allow(dead_code, reason = "this crate needs a part of it")]
mod bench;
#[path = "real_clients/conformance.rs"]
mod conformance;
#[path = "real_clients/door.rs"]
mod door;
#[path = "real_clients/inspector.rs"]
mod inspector;
#[path = "support/program.rs"]
#[allow(dead_code, reason = "this crate needs a part of it")]
mod program;
#[path = "support/scripted.rs"]
#[allow(dead_code, reason = "this crate needs a part of it")]
mod scripted;

/// Where the clients are, with a scratch folder as their home.
struct Clients {
    installed: PathBuf,
    home: tempfile::TempDir,
}

impl Clients {
    /// `None` after saying that the test is skipped.
    fn find() -> Option<Self> {
        let Some(installed) = std::env::var_os("CREWLET_REAL_CLIENTS").map(PathBuf::from) else {
            eprintln!(
                "skipped: CREWLET_REAL_CLIENTS does not say where the real clients are (install_real_clients.sh)"
            );
            return None;
        };
        Some(Self { installed, home: tempfile::tempdir().expect("a scratch folder") })
    }

    fn home(&self) -> &Path {
        self.home.path()
    }

    /// A program that has to be there.
    fn program(&self, name: &str) -> PathBuf {
        let path = self.installed.join("clients/node_modules/.bin").join(name);
        assert!(path.exists(), "{} is not there: run tests/support/install_real_clients.sh", path.display());
        path
    }

    /// An agent's program, or `None` after saying that its part is skipped.
    fn agent(&self, name: &str) -> Option<PathBuf> {
        let path = self.installed.join("agents/node_modules/.bin").join(name);
        if path.exists() {
            return Some(path);
        }
        eprintln!("skipped: {} is not installed (install_real_clients.sh agents)", path.display());
        None
    }

    /// Variables of a client: a home of its own, our program and its node by name, and no way out of this machine.
    fn environment(&self) -> Vec<(&'static str, String)> {
        let ours = Path::new(program::PROGRAM).parent().expect("a folder").display().to_string();
        let at = |part: &str| self.installed.join(part).join("node_modules/.bin").display().to_string();
        let system = std::env::var("PATH").unwrap_or_default();
        let nowhere = || "http://127.0.0.1:9".to_owned();
        vec![
            ("PATH", [ours, at("node"), at("clients"), at("agents"), system].join(":")),
            ("HOME", self.home().display().to_string()),
            ("HTTPS_PROXY", nowhere()),
            ("HTTP_PROXY", nowhere()),
            ("NO_PROXY", "127.0.0.1,localhost".to_owned()),
            ("DO_NOT_TRACK", "1".to_owned()),
            ("DISABLE_TELEMETRY", "1".to_owned()),
            ("DISABLE_AUTOUPDATER", "1".to_owned()),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
        ]
    }
}
