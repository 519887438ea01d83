//! Focusable regions of the screen, one struct each, and the views that they make up.

pub mod approvals;
pub mod calls;
pub mod connect;
mod facts;
mod feed;
mod filter;
pub mod inbox;
pub mod log;
pub mod pages;
mod portion;
pub mod seats;
pub mod servers;
pub mod sessions;
pub mod stderr;
pub mod tools;
pub mod trail;
mod two;
pub mod work;

pub use approvals::ApprovalsPane;
pub use calls::CallsPane;
pub use connect::Connect;
pub use filter::Field;
pub use inbox::InboxPane;
pub use log::LogPane;
pub use pages::PagesPane;
pub use seats::SeatsPane;
pub use servers::ServersPane;
pub use sessions::SessionsPane;
pub use stderr::StderrPane;
pub use tools::ToolsPane;
pub use trail::TrailPane;
pub use work::WorkPane;

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
    /// Work items.
    Work,
    /// The company's pages.
    Pages,
    /// What stands in the seats' inboxes.
    Inbox,
    /// The scoped connector's audit. It has no number.
    Connector,
}

impl View {
    /// Those with a number, in the order of their numbers.
    pub const ALL: [Self; 10] = [
        Self::Servers,
        Self::Tools,
        Self::Approvals,
        Self::Calls,
        Self::Sessions,
        Self::Log,
        Self::Seats,
        Self::Work,
        Self::Pages,
        Self::Inbox,
    ];

    /// The number that opens it, where it has one.
    pub const fn number(self) -> Option<u8> {
        Some(match self {
            Self::Servers => 1,
            Self::Tools => 2,
            Self::Approvals => 3,
            Self::Calls => 4,
            Self::Sessions => 5,
            Self::Log => 6,
            Self::Seats => 7,
            Self::Work => 8,
            Self::Pages => 9,
            Self::Inbox => 0,
            Self::Connector => return None,
        })
    }

    /// The view with this number.
    pub fn numbered(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|view| view.number() == Some(number))
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
            Self::Work => "Work",
            Self::Pages => "Pages",
            Self::Connector => "Connector",
            Self::Inbox => "Inbox",
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
    /// Work items.
    Work,
    /// The company's pages.
    Pages,
    /// One page, in the place of the list where there is no room for both.
    Page,
    /// The scoped connector's audit.
    Trail,
    /// What stands in the seats' inboxes.
    Inbox,
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
            Self::Work => Context::Work,
            Self::Pages => Context::Pages,
            Self::Page => Context::Page,
            Self::Trail => Context::Trail,
            Self::Inbox => Context::Inbox,
        }
    }
}
