//! The validated configuration: a document that reached these types cannot be nonsense.
//!
//! Built only by [`super::load`]; the engine, the commands and the screen read it. References such as
//! `${TOKEN}` are still unresolved here; [`Server::resolve`] fills them in when a connection is made.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::expand::Template;
use crate::ids::{SeatHandle, ServerName};
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
            Self::Demo => "demo".into(),
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

/// `engine`.
#[derive(Clone, Debug, Default)]
pub struct EngineSettings {
    /// Address of the HTTP surfaces; `None` when off.
    pub listen: Option<std::net::SocketAddr>,
    /// The state folder, where the document names one.
    pub state_dir: Option<PathBuf>,
    /// What seats are shown at first.
    pub discovery: Discovery,
    /// The gate's policy.
    pub approvals: ApprovalSettings,
}

/// What a seat's surface starts with.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Discovery {
    /// Every tool.
    #[default]
    All,
    /// First-party tools and the discovery pair.
    Progressive,
}

/// What the policy says about a call.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum PolicyDecision {
    /// Runs.
    Allow,
    /// A person decides.
    Ask,
    /// A person decides by typing the tool's name.
    Type,
    /// Does not run.
    Deny,
}

impl PolicyDecision {
    /// `allow`, `ask`, `type` or `deny`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Type => "type",
            Self::Deny => "deny",
        }
    }
}

/// A policy decision and the place that made it, `None` for the built-in default.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlacedDecision {
    /// The decision.
    pub decision: PolicyDecision,
    /// Where it stands.
    pub place: Option<ConfigRef>,
}

/// `engine.approvals`.
#[derive(Clone, PartialEq, Debug)]
pub struct ApprovalSettings {
    /// For tools of class `read`.
    pub read: PlacedDecision,
    /// For class `write`.
    pub write: PlacedDecision,
    /// For class `destructive`.
    pub destructive: PlacedDecision,
    /// For class `unknown`.
    pub unknown: PlacedDecision,
    /// For the scoped connector.
    pub connector: PlacedDecision,
    /// Narrower rules, in the order of the document.
    pub rules: Vec<ApprovalRule>,
    /// How long a question waits for a person.
    pub wait: Duration,
    /// How long a call is held open for its caller.
    pub hold: Duration,
    /// The same by client name; the names may hold `*`.
    pub hold_by_client: Vec<(Arc<str>, Duration)>,
}

impl Default for ApprovalSettings {
    fn default() -> Self {
        let default = |decision| PlacedDecision { decision, place: None };
        Self {
            read: default(PolicyDecision::Allow),
            write: default(PolicyDecision::Allow),
            destructive: default(PolicyDecision::Ask),
            unknown: default(PolicyDecision::Ask),
            connector: default(PolicyDecision::Allow),
            rules: Vec::new(),
            wait: Duration::from_secs(300),
            hold: Duration::from_secs(50),
            hold_by_client: Vec::new(),
        }
    }
}

/// One rule of `engine.approvals.rules`. `*` stands for any run of characters, `?` for one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ApprovalRule {
    /// Glob over `server/raw tool name`.
    pub tool: Arc<str>,
    /// Glob over seat handles; `None` matches every caller.
    pub seat: Option<Arc<str>>,
    /// What it says.
    pub decision: PolicyDecision,
    /// Where it stands.
    pub place: ConfigRef,
}

/// `tui`.
#[derive(Clone, PartialEq, Debug)]
pub struct TuiSettings {
    /// The theme's name; `None`: chosen by the terminal.
    pub theme: Option<Arc<str>>,
    /// Mouse capture.
    pub mouse: bool,
    /// Ring the terminal's bell for a new question.
    pub bell: bool,
    /// Whether a card may open by itself.
    pub open_cards: OpenCards,
    /// Key bindings that replace the defaults: action name and keys, as written.
    pub keys: Vec<(Arc<str>, Vec<Arc<str>>, ConfigRef)>,
    /// Borders and glyphs in plain ASCII.
    pub ascii: bool,
}

impl Default for TuiSettings {
    fn default() -> Self {
        Self { theme: None, mouse: false, bell: true, open_cards: OpenCards::Auto, keys: Vec::new(), ascii: false }
    }
}

/// Whether an approval card may open by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OpenCards {
    /// When no text field or modal is open and no key came for two seconds.
    #[default]
    Auto,
    /// Never: badge, bell and window title only.
    Badge,
}

/// `token_budget` and the like of a seat: kept, not used by this program yet.
pub type Budget = Option<NonZeroU32>;

/// A problem found while resolving references: the variable and the field that names it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unresolved {
    /// The variable's name.
    pub variable: Arc<str>,
    /// The field: `mcp_servers[2].env.JIRA_TOKEN`.
    pub path: Arc<str>,
    /// Where it stands.
    pub place: ConfigRef,
    /// True when it is set, but empty.
    pub empty: bool,
}

/// A seat's handle together with its credentials for one server, by reference (`mcp_env` after inheritance).
pub type SeatCredentials = (SeatHandle, Vec<(Arc<str>, Template)>);
