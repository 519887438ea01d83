//! The validated configuration: a document that reached these types cannot be nonsense.
//!
//! Built only by [`super::load`]; the engine, the commands and the screen read it. References such as
//! `${TOKEN}` are still unresolved here; [`Server::resolve`] fills them in when a connection is made.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::expand::Template;
pub use super::settings::{
    ApprovalRule, ApprovalSettings, Autopilot, Discovery, Embeddings, EngineSettings, Native, OpenCards, Operator,
    Permission, PlacedDecision, PolicyDecision, Scope, TuiSettings, project_key,
};
use crate::ids::ServerName;
use crate::org::Org;
use crate::tool::{ConfigRef, HintOverride};

/// One company, whole.
#[derive(Clone, Debug)]
pub struct Config {
    /// The company's name.
    pub company: Arc<str>,
    /// Where the document came from.
    pub source: Source,
    /// Servers in the order of the document.
    pub servers: Vec<Server>,
    /// Units, seats and their credentials by reference.
    pub org: Org,
    /// `engine`.
    pub engine: EngineSettings,
    /// `operators`: who may use the operator surface and the connector.
    pub operators: Vec<Operator>,
    /// `tui`.
    pub tui: TuiSettings,
    /// Root keys that belong to a full Crewlet file and are not used by this program.
    pub unused_root_keys: Vec<Arc<str>>,
}

/// Where a configuration document came from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Source {
    /// A file.
    File(PathBuf),
    /// The built-in demo company.
    Demo,
}

impl Source {
    /// The file name shown with line numbers: `config.yaml`.
    pub fn file_name(&self) -> Arc<str> {
        match self {
            Self::File(path) => path.file_name().map_or_else(|| "config".into(), |name| name.to_string_lossy().into()),
            Self::Demo => "config.example.yaml".into(),
        }
    }
}

/// One entry of `mcp_servers`.
#[derive(Clone, Debug)]
pub struct Server {
    /// Unique; 1 to 64 of `A-Z a-z 0-9 . _ -`.
    pub name: ServerName,
    /// How to reach it.
    pub transport: Transport,
    /// False: a template, with one connection for each seat that declares credentials for it.
    pub shared: bool,
    /// Put before each raw tool name, literally.
    pub tool_prefix: Arc<str>,
    /// `tool_annotations`, in the order of the document.
    pub tool_annotations: Vec<ToolOverride>,
    /// Bounds connecting, and again the first complete tool listing.
    pub startup_timeout: Duration,
    /// Bounds one `tools/call`.
    pub request_timeout: Duration,
    /// False: declared, shown, not started.
    pub enabled: bool,
    /// What happens when it ends.
    pub restart: RestartPolicy,
    /// Where it stands.
    pub place: ConfigRef,
}

/// How a server is reached.
#[derive(Clone, Debug)]
pub enum Transport {
    /// A child process of ours.
    Stdio {
        /// The executable; `crewlet-tui` means the running one.
        command: Template,
        /// Its arguments.
        args: Vec<Template>,
        /// Declared variables.
        env: Vec<(Arc<str>, Template)>,
        /// Working directory.
        cwd: Option<Template>,
        /// Further variable names handed on from our environment.
        inherit_env: Vec<Arc<str>>,
    },
    /// A streamable HTTP endpoint.
    Http {
        /// The endpoint, without a trailing slash.
        url: Template,
        /// Sent with every request; names as written.
        headers: Vec<(Arc<str>, Template)>,
    },
}

/// One block of `tool_annotations`.
#[derive(Clone, Debug)]
pub struct ToolOverride {
    /// A raw name, the name with the prefix, or the name shown in the catalogue.
    pub tool: Arc<str>,
    /// What the operator states.
    pub hints: HintOverride,
    /// Where the block stands.
    pub place: ConfigRef,
}

/// What happens when a ready server ends or a start fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum RestartPolicy {
    /// Back off and start again, up to five failed attempts in a row.
    #[default]
    OnFailure,
    /// Stay down.
    Never,
}

/// A field that cannot be filled in now. Its text is what a failed server shows.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("environment variable {variable} {problem} ({path}, {place})")]
pub struct Unresolved {
    /// The variable's name.
    pub variable: Arc<str>,
    /// The field: `mcp_servers[2].env.JIRA_TOKEN`.
    pub path: Arc<str>,
    /// Where it stands.
    pub place: ConfigRef,
    /// Its column, from 1.
    pub column: u32,
    /// What is wrong with its value.
    pub problem: Problem,
}

/// What is wrong with a variable's value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Problem {
    /// It is not set.
    Missing,
    /// It is set, but empty.
    Empty,
    /// It is set, and cannot stand where it is used.
    Unusable(&'static str),
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Missing => f.write_str("is not set"),
            Self::Empty => f.write_str("is set but empty"),
            Self::Unusable(reason) => f.write_str(reason),
        }
    }
}
