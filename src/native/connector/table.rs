//! The table of the connector's tools: name, hints, scope, arguments and handler. Listing, introspection and every
//! check come from it, and each tool has exactly one scope by its type.

use super::issues;
use crate::config::model::Scope;
use crate::native::table::{LINE, NAME, TEXT};
use crate::native::tool::{Audience, Effects, Field, Handler, Kind, Part, Tool};
use crate::native::words::{CONNECTOR_PRIORITIES, STATUSES};
use crate::tool::annotations::Hint::{Unknown, Yes};

/// A tool of the connector.
#[derive(Debug)]
pub struct Scoped {
    /// What a token has to hold.
    pub scope: Scope,
    /// The tool.
    pub tool: Tool,
}

const READS: Effects = Effects([Yes, Unknown, Yes, Unknown]);
const ADDS: Effects = Effects([Unknown, Unknown, Unknown, Unknown]);
const SETS: Effects = Effects([Unknown, Unknown, Yes, Unknown]);
const DELETES: Effects = Effects([Unknown, Yes, Yes, Unknown]);
const STARTS: Effects = Effects([Unknown, Unknown, Unknown, Yes]);

const ISSUE: Field = Field::required("issue_id", Kind::Text(NAME), "The issue: its id, or its key such as WORK-12.");
/// Not required by the schema: it is the server that refuses what lacks it, in words that say why.
const CONFIRM: Field = Field::optional(
    "confirm",
    Kind::Flag,
    "Must be true, after the user was asked and agreed: the call is refused without it.",
);
const TYPES: &[&str] = &["agent", "user"];

const fn scoped(
    scope: Scope,
    name: &'static str,
    about: (&'static str, &'static str),
    effect: (Effects, Handler),
    fields: &'static [Field],
) -> Scoped {
    let (title, about) = about;
    let (hints, handler) = effect;
    let (part, audience) = (Part::Work, Audience::Operators);
    Scoped { scope, tool: Tool { name, title, about, hints, delivers: None, part, audience, fields, handler } }
}

/// All of them, in the order of the listing.
pub static TOOLS: &[Scoped] = &[
    scoped(
        Scope::IssuesRead,
        "list_issues",
        ("List issues", "Lists the workspace's issues, newest first."),
        (READS, Handler::Read(issues::list)),
        &[
            Field::optional("status", Kind::OneOf(STATUSES), "Only this status."),
            Field::optional("priority", Kind::OneOf(CONNECTOR_PRIORITIES), "Only this priority."),
            Field::optional("assignee", Kind::Text(NAME), "Only what this agent or user works on."),
            Field::optional("limit", Kind::Count(1, 200), "At most so many; 50 unless told otherwise."),
            Field::optional("offset", Kind::Count(0, 1_000_000), "Skip so many."),
        ],
    ),
    scoped(
        Scope::IssuesRead,
        "get_issue",
        ("Read an issue", "Reads one issue."),
        (READS, Handler::Read(issues::get)),
        &[ISSUE],
    ),
    scoped(
        Scope::CommentsRead,
        "list_comments",
        ("List comments", "Lists the comments of an issue, oldest first."),
        (READS, Handler::Read(issues::comments)),
        &[ISSUE, Field::optional("cursor", Kind::Count(0, i64::MAX), "Where the list before ended: its next_cursor.")],
    ),
    scoped(
        Scope::DashboardRead,
        "dashboard_usage_daily",
        ("Daily figures", "Counts what happened in the workspace on each of the last days (UTC)."),
        (READS, Handler::Read(issues::usage)),
        &[Field::optional("days", Kind::Count(1, 366), "How many days; 30 unless told otherwise.")],
    ),
    scoped(
        Scope::IssuesWrite,
        "create_issue",
        ("Create an issue", "Creates an issue. Doing it twice makes two: do not repeat it on a failure."),
        (ADDS, Handler::Write(issues::create)),
        &[
            Field::required("title", Kind::Text(LINE), "One line."),
            Field::optional("description", Kind::Body(TEXT), "The text."),
            Field::optional("status", Kind::OneOf(STATUSES), "todo unless told otherwise."),
            Field::optional("priority", Kind::OneOf(CONNECTOR_PRIORITIES), "no_priority unless told otherwise."),
            Field::optional(
                "project_id",
                Kind::Text(NAME),
                "The project's key; the workspace's first unless told otherwise.",
            ),
            Field::optional("parent_issue_id", Kind::Text(NAME), "The issue above it."),
            Field::optional("assignee_type", Kind::OneOf(TYPES), "What assignee_id is."),
            Field::optional("assignee_id", Kind::Text(NAME), "Who works on it: a handle."),
            Field::optional("due_date", Kind::Day, "The day it is due."),
        ],
    ),
    scoped(
        Scope::IssuesWrite,
        "update_issue",
        (
            "Change an issue",
            "Changes fields of an issue; what is not named stays. null clears parent, assignee and due date.",
        ),
        (SETS, Handler::Write(issues::update)),
        &[
            ISSUE,
            Field::optional("title", Kind::Text(LINE), "One line."),
            Field::optional("description", Kind::Body(TEXT), "The text."),
            Field::optional("status", Kind::OneOf(STATUSES), "Where it stands."),
            Field::optional("priority", Kind::OneOf(CONNECTOR_PRIORITIES), "How urgent it is."),
            Field::optional("project_id", Kind::Text(NAME), "Its project: an issue does not move between projects."),
            Field::optional("parent_issue_id", Kind::Clearable(NAME), "The issue above it."),
            Field::optional("assignee_type", Kind::OneOf(TYPES), "What assignee_id is."),
            Field::optional("assignee_id", Kind::Clearable(NAME), "Who works on it: a handle."),
            Field::optional("due_date", Kind::Day, "The day it is due."),
        ],
    ),
    scoped(
        Scope::CommentsWrite,
        "comment_issue",
        ("Comment on an issue", "Writes a comment. Doing it twice makes two: do not repeat it on a failure."),
        (ADDS, Handler::Write(issues::comment)),
        &[ISSUE, Field::required("body", Kind::Text(TEXT), "The comment.")],
    ),
    scoped(
        Scope::AgentsWrite,
        "assign_issue_to_agent",
        ("Assign an issue to an agent", "Makes an agent work on an issue."),
        (SETS, Handler::Write(issues::assign)),
        &[ISSUE, Field::required("agent_id", Kind::Text(NAME), "The agent's handle.")],
    ),
    scoped(
        Scope::AutopilotRun,
        "trigger_autopilot",
        (
            "Trigger an autopilot",
            "Puts an autopilot's prompt into its agent's inbox. Doing it twice puts it there twice.",
        ),
        (STARTS, Handler::Write(issues::trigger)),
        &[Field::required("autopilot_id", Kind::Text(NAME), "The autopilot's id.")],
    ),
    scoped(
        Scope::IssuesWrite,
        "delete_issue",
        ("Delete an issue", "Deletes an issue. Deleting it again has no further effect."),
        (DELETES, Handler::Write(issues::delete)),
        &[ISSUE, CONFIRM],
    ),
    scoped(
        Scope::CommentsWrite,
        "delete_comment",
        ("Delete a comment", "Deletes a comment. Deleting it again has no further effect."),
        (DELETES, Handler::Write(issues::delete_comment)),
        &[Field::required("comment_id", Kind::Text(NAME), "The comment's id."), CONFIRM],
    ),
];

/// The tool of this name.
pub fn named(name: &str) -> Option<&'static Scoped> {
    TOOLS.iter().find(|scoped| scoped.tool.name == name)
}
