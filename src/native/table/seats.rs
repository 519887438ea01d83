//! What the agent of a seat has for itself.

use super::super::delegate;
use super::super::tool::{Audience, Effects, Field, Handler, Kind, Part, Tool};
use super::NAME;
use crate::engine::workers::{LONGEST_TASK, MOST_MINUTES};
use crate::tool::annotations::Hint::{No, Unknown, Yes};

const _: () = assert!(NAME >= 64, "an exposed name is a name");

/// See the module.
pub static TOOLS: &[Tool] = &[Tool {
    name: "delegate",
    title: "Make a worker",
    about: "Makes a worker: a sub-agent that you start yourself, with an MCP endpoint and a token of its own and only the \
            tools that you name. It works over your connections, asks the same person, cannot delegate, and gets no tool \
            that writes where humans read. tools says what it got, rejected what it did not get and why. Hand it the url \
            and the token: the token is in this answer alone. It ends with its time or with your session.",
    hints: Effects([No, No, Unknown, Yes]),
    delivers: None,
    part: Part::Own,
    audience: Audience::Seats,
    fields: &[
        Field::required("task", Kind::Text(LONGEST_TASK), "What it is for, in words; people see it."),
        Field::required("tools", Kind::Texts, "The names of the tools that it gets, as you have them."),
        Field::optional(
            "minutes",
            Kind::Count(1, MOST_MINUTES as i64),
            "How long it has: 15 unless told otherwise, at most 60.",
        ),
    ],
    handler: Handler::Run(delegate::delegate),
}];
