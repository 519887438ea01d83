//! Focusable regions of the screen, one struct each, and the views that they make up.

pub mod approvals;
pub mod calls;
pub mod connect;
mod facts;
mod feed;
mod filter;
pub mod log;
pub mod seats;
pub mod servers;
pub mod sessions;
pub mod stderr;
pub mod tools;
mod two;

pub use approvals::ApprovalsPane;
pub use calls::CallsPane;
pub use connect::Connect;
pub use log::LogPane;
pub use seats::SeatsPane;
pub use servers::ServersPane;
pub use sessions::SessionsPane;
pub use stderr::StderrPane;
pub use tools::ToolsPane;

use super::keymap::Context;

/// A view: one or two panes that fill the screen's body.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum View {
    /// Servers, and the stderr of the selected one.
    #[default]
    Servers,
    /// The catalogue.
    Tools,
    /// Waiting questions.
    Approvals,
    /// Calls.
    Calls,
    /// Agents that use the surfaces.
    Sessions,
    /// Our own diagnostics.
    Log,
    /// The company's chart.
    Seats,
}

impl View {
    /// All, in the order of their numbers.
    pub const ALL: [Self; 7] =
        [Self::Servers, Self::Tools, Self::Approvals, Self::Calls, Self::Sessions, Self::Log, Self::Seats];

    /// The number that opens it.
    pub const fn number(self) -> u8 {
        match self {
            Self::Servers => 1,
            Self::Tools => 2,
            Self::Approvals => 3,
            Self::Calls => 4,
            Self::Sessions => 5,
            Self::Log => 6,
            Self::Seats => 7,
        }
    }

    /// The view with this number.
    pub fn numbered(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|view| view.number() == number)
    }

    /// Its name.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Servers => "Servers",
            Self::Tools => "Tools",
            Self::Approvals => "Approvals",
            Self::Calls => "Calls",
            Self::Sessions => "Sessions",
            Self::Log => "Log",
            Self::Seats => "Seats",
        }
    }
}

/// A pane that can have the focus. The last ones fill their view and divide it themselves.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PaneId {
    /// The list of servers.
    Servers,
    /// A server's stderr.
    Stderr,
    /// The catalogue.
    Tools,
    /// The list of those whom the catalogue can be looked at as, over it.
    Looks,
    /// Waiting questions.
    Approvals,
    /// Remembered decisions, in the place of the questions.
    Grants,
    /// Calls.
    Calls,
    /// Agents that use the surfaces.
    Sessions,
    /// Our own diagnostics.
    Log,
    /// The company's chart.
    Seats,
}

impl PaneId {
    /// Where its keys are looked up.
    pub const fn context(self) -> Context {
        match self {
            Self::Servers => Context::Servers,
            Self::Stderr => Context::Stderr,
            Self::Tools => Context::Tools,
            Self::Looks => Context::Looks,
            Self::Approvals => Context::Approvals,
            Self::Grants => Context::Grants,
            Self::Calls => Context::Calls,
            Self::Sessions => Context::Sessions,
            Self::Log => Context::Log,
            Self::Seats => Context::Seats,
        }
    }
}
