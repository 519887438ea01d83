//! Servers' questions to the person: handed in by connections and calls, put on the screen, answered exactly once.
//!
//! A legacy server asks by a request of its own while a call runs ([`super::connection`]); a modern one answers a call
//! with its questions and gets the call again together with the answers ([`super::call`]). Both hand the question in
//! here and get an [`Answer`] back. What is asked and answered is no approval and permits nothing.
//!
//! | file | owns |
//! |---|---|
//! | `inbox` | the way of a question to the core, and of its answer back |
//! | `desk` | the questions that wait, how many at a time, and the one end of each |
//! | `story` | the records of one question in the audit |
//! | `rounds` | what a modern server asks for, and what is sent back with the call |

mod desk;
mod inbox;
pub(super) mod rounds;
mod story;

use std::sync::Arc;

pub(super) use desk::{Ended, Forms};
pub use inbox::Inbox;
pub(super) use inbox::{Asked, Asking, Origin, Put, Refused};
pub(super) use story::Story;

use crate::tool::elicit::Content;

/// Questions of one connection that wait at one time.
pub(super) const PER_CONNECTION: usize = 4;
/// Why a question is declined that cannot be handed in.
pub(super) const BUSY: &str = "the dashboard is busy";
/// Questions of all connections that wait at one time.
pub(super) const IN_ALL: usize = 16;

/// What a server gets for its question.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// What a person filled in.
    Accepted(Content),
    /// A person said no, or nobody was asked: then with the reason.
    Declined(Option<Arc<str>>),
    /// Nobody chose.
    Cancelled(Why),
}

/// Why nobody chose.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Why {
    /// The person put it aside for good.
    ByPerson,
    /// Nobody answered in time.
    Expired,
    /// The call that it belongs to is over, or was given up.
    CallOver,
    /// The server took it back.
    TakenBack,
    /// The server is gone, or starts anew.
    ServerGone,
    /// The seat whose call it belongs to was stopped.
    SeatStopped,
    /// The record of the answer could not be written.
    NotRecorded,
    /// The program is ending.
    Shutdown,
}

impl Why {
    /// The words of screen and audit.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ByPerson => "by a person",
            Self::Expired => "nobody answered in time",
            Self::CallOver => "its call is over",
            Self::TakenBack => "the server took it back",
            Self::ServerGone => "server gone",
            Self::SeatStopped => "seat stopped",
            Self::NotRecorded => "the audit could not be written",
            Self::Shutdown => "shutdown",
        }
    }
}

impl Answer {
    /// A question that nobody was asked.
    pub(super) fn refused(reason: impl Into<Arc<str>>) -> Self {
        Self::Declined(Some(reason.into()))
    }

    /// The protocol's result, as JSON. A reason of ours travels beside it: the protocol has no place for one.
    pub(super) fn result(&self) -> String {
        let action = |action: &str, reason: &str| {
            let reason = serde_json::Value::from(reason);
            format!(r#"{{"action":"{action}","_meta":{{"dev.crewlet/reason":{reason}}}}}"#)
        };
        match self {
            Self::Accepted(content) => format!(r#"{{"action":"accept","content":{}}}"#, content.json),
            Self::Declined(None) => r#"{"action":"decline"}"#.to_owned(),
            Self::Declined(Some(reason)) => action("decline", reason),
            Self::Cancelled(why) => action("cancel", why.as_str()),
        }
    }

    /// The same for the audit: what was done, and the names of the fields, never their values.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Accepted(content) if content.names.is_empty() => "accepted, with no fields".to_owned(),
            Self::Accepted(content) => format!("accepted: {}", names(&content.names)),
            Self::Declined(None) => "declined".to_owned(),
            Self::Declined(Some(reason)) => format!("declined, nobody was asked: {reason}"),
            Self::Cancelled(why) => format!("cancelled: {}", why.as_str()),
        }
    }
}

/// Names of fields in one line; they come from servers.
pub(super) fn names(names: &[Arc<str>]) -> String {
    names.iter().map(|name| crate::text::visible(name)).collect::<Vec<_>>().join(", ")
}
