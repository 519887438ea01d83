//! crewlet-tui: the tool engine of a company of agents, behind a terminal screen.
//!
//! It connects to many MCP servers, reads what each tool says about itself, classifies it without knowing a
//! single tool by name, and stands between agents and the world: a person sees exactly what a destructive or
//! unclassified call would do and decides, once, before it runs.
//!
//! # Code map
//!
//! | module | owns |
//! |---|---|
//! | [`config`] | the YAML document, from text to a model that cannot hold nonsense |
//! | [`org`] | units, seats and the credentials they declare |
//! | [`tool`] | hints, classes, questions about tools, catalog, arguments, results: pure |
//! | [`engine`] | connections, gate, approvals, calls, servers' questions, audit, and the snapshot that everybody reads |
//! | [`surface`] | what agents and operators reach over HTTP: sessions, tokens, tools, resources and prompts as they are offered |
//! | [`native`] | the company's own tracker and pages: first-party tools, and the scoped connector |
//! | [`turns`] | what an agent's turn finished and reached, and whether what it says at its end is so |
//! | [`store`] | what they keep, in SQLite; reading and writing are two types |
//! | [`rows`] | what a screen asks about all that, and the answers: types only |
//! | [`tui`] | the screen |
//! | [`howto`] | lines to paste for connecting an agent: pure, for screen and shell |
//! | [`text`], [`secret`], [`ids`], [`clock`] | foreign text, secrets, names, time |
//!
//! # Invariants
//!
//! 1. `engine`, `tool`, `surface` and `config` never mention the screen; `tui` never mentions the protocol crate or files.
//! 2. Classification, the gate's policy and the worker guard are pure total functions that return an answer and a
//!    reason, never a bare `bool`.
//! 3. The screen reads one immutable `Arc<Snapshot>` per frame and writes only `Command`s.
//! 4. `render` takes `&self`; scrolling is clamped in `update`.
//! 5. `Ui::update` is synchronous; commands leave by `try_send`, and a full channel is shown, not dropped.
//! 6. Every channel is bounded. Whoever drops data counts it, and the count is visible.
//! 7. No call reaches a connection without a `Permit`; only the gate and the approvals desk can make one. It names
//!    the definition and the arguments and is consumed by use. A call that a server answers with a question goes on as
//!    the one request that the connection hands back, its arguments byte for byte the same.
//! 8. The audit record of intent is durable before a call is sent. If it cannot be written, every call that is not
//!    a proven read is refused, visibly.
//! 9. While the screen is up only `tui::terminal` writes to stdout and nobody writes to stderr; every child's
//!    stderr is piped.
//! 10. Unknown is not false: hints have three values from the wire to the screen.
//! 11. The panic hook logs always and restores the terminal only when the screen's thread panics. A panicked
//!     connection task becomes a failed connection.
//! 12. No vendor's or third party's tool name appears in the logic.
//! 13. A handler of a read-only first-party tool receives a [`store::ReadStore`], which has no method that changes
//!     anything: a write in a read-only tool does not compile.
//! 14. Every string from a server, an agent, the configuration or the environment passes [`text`] before it is
//!     drawn and the redactor before it is drawn, logged or audited.

pub mod cli;
pub mod clock;
pub mod config;
pub mod demo;
pub mod engine;
pub mod howto;
pub mod ids;
pub mod logging;
pub mod native;
pub mod org;
pub mod rows;
pub mod run;
pub mod secret;
pub mod store;
pub mod surface;
pub mod text;
pub mod tool;
pub mod tui;
pub mod turns;
