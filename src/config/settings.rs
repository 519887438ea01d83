//! `engine`, `operators` and `tui`, validated. Plain data with its defaults; read by everybody, filled by the lowering.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::expand::Template;
use crate::ids::SeatHandle;
use crate::tool::ConfigRef;

/// `engine`.
#[derive(Clone, Debug)]
pub struct EngineSettings {
    /// Address of the HTTP surfaces; `None` when off.
    pub listen: Option<std::net::SocketAddr>,
    /// The state folder, where the document names one.
    pub state_dir: Option<PathBuf>,
    /// What seats are shown at first.
    pub discovery: Discovery,
    /// The gate's policy.
    pub approvals: ApprovalSettings,
    /// Whether seats are offered `turn_begin` and `turn_end`.
    pub turn_tools: bool,
    /// Which of the company's own surfaces are open.
    pub native: Native,
    /// Prompts that the connector can put into a seat's inbox.
    pub autopilots: Vec<Autopilot>,
    /// A service that makes vectors of texts.
    pub embeddings: Option<Embeddings>,
}

impl Default for EngineSettings {
    fn default() -> Self {
        Self {
            listen: None,
            state_dir: None,
            discovery: Discovery::default(),
            approvals: ApprovalSettings::default(),
            turn_tools: true,
            native: Native::default(),
            autopilots: Vec::new(),
            embeddings: None,
        }
    }
}

/// `engine.embeddings`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Embeddings {
    /// The service's address, by reference.
    pub url: Template,
    /// The model.
    pub model: Arc<str>,
    /// Its bearer token, by reference.
    pub key: Option<Template>,
}

/// `engine.native`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Native {
    /// Work items.
    pub tracker: bool,
    /// Pages.
    pub pages: bool,
}

impl Default for Native {
    fn default() -> Self {
        Self { tracker: true, pages: true }
    }
}

/// One entry of `engine.autopilots`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Autopilot {
    /// Unique.
    pub id: Arc<str>,
    /// A seat of the company.
    pub seat: SeatHandle,
    /// What its inbox gets.
    pub prompt: Arc<str>,
}

/// One entry of `operators`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Operator {
    /// Unique; what the audit names.
    pub id: Arc<str>,
    /// The bearer token, by reference.
    pub token: Template,
    /// With any: the token is for the connector only.
    pub scopes: Vec<Scope>,
    /// Whose queue, pins and inbox it works.
    pub seat: Option<SeatHandle>,
    /// Its workspace, as [`project_key`] has them; empty: all projects.
    pub projects: Vec<String>,
    /// What it may do inside its workspace.
    pub permission: Permission,
    /// Where it stands.
    pub place: ConfigRef,
}

/// A project's key: 1 to 16 letters and digits, the first a letter; upper case. `None` for what is none.
pub fn project_key(text: &str) -> Option<String> {
    let key = text.trim().to_ascii_uppercase();
    let fits = key.len() <= 16
        && key.starts_with(|c: char| c.is_ascii_uppercase())
        && key.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    fits.then_some(key)
}

/// A scope of the connector.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Scope {
    /// `issues:read`
    IssuesRead,
    /// `issues:write`
    IssuesWrite,
    /// `comments:read`
    CommentsRead,
    /// `comments:write`
    CommentsWrite,
    /// `dashboard:read`
    DashboardRead,
    /// `agents:write`
    AgentsWrite,
    /// `autopilot:run`
    AutopilotRun,
}

impl Scope {
    /// All scopes with their spelling.
    pub const ALL: [(Self, &'static str); 7] = [
        (Self::IssuesRead, "issues:read"),
        (Self::IssuesWrite, "issues:write"),
        (Self::CommentsRead, "comments:read"),
        (Self::CommentsWrite, "comments:write"),
        (Self::DashboardRead, "dashboard:read"),
        (Self::AgentsWrite, "agents:write"),
        (Self::AutopilotRun, "autopilot:run"),
    ];

    /// `issues:read` and the like.
    pub fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|(scope, _)| *scope == self).map_or("", |(_, text)| text)
    }
}

/// What an operator may do.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Permission {
    /// Reads.
    Viewer,
    /// Writes, and deletes what it created itself.
    Member,
    /// Everything.
    #[default]
    Admin,
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
