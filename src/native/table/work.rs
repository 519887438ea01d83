//! The tracker's tools that everybody is offered.

use super::{ADDS, LIMIT, LINE, NAME, OVERWRITES, READS, TEXT};
use crate::native::tool::{Audience, Effects, Field, Handler, Kind, Part, Tool};
use crate::native::words::{LINKS, PRIORITIES, SORTS, STATUSES};
use crate::native::work::{catalogue, list, plans, read, tree, write};

/// What a tool is called: its name, for people, and what it does.
pub(super) type Words = (&'static str, &'static str, &'static str);

pub(super) const ITEM: Field =
    Field::required("item", Kind::Text(NAME), "The work item: its key such as WEB-12, or its id.");
pub(super) const PROJECT: Field = Field::required("project", Kind::Text(NAME), "The project's key.");
const LINK: &[Field] = &[
    Field::required("kind", Kind::OneOf(LINKS), "How this item stands to the other one."),
    Field::required("item", Kind::Text(NAME), "The other item."),
];

const fn tool(
    (name, title, about): Words,
    hints: Effects,
    delivers: Option<&'static str>,
    fields: &'static [Field],
    handler: Handler,
) -> Tool {
    Tool { name, title, about, hints, delivers, part: Part::Work, audience: Audience::Everybody, fields, handler }
}

const fn reads(words: Words, fields: &'static [Field], handler: Handler) -> Tool {
    tool(words, READS, None, fields, handler)
}

/// What a list of items can be narrowed by, and what else it takes.
macro_rules! filters {
    ($($more:expr),*) => {
        &[
            Field::optional("project", Kind::Text(NAME), "Only this project: its key."),
            Field::optional("status", Kind::SomeOf(STATUSES), "Only these statuses."),
            Field::optional("open_only", Kind::Flag, "Only what is not done, cancelled or closed."),
            Field::optional("priority", Kind::OneOf(PRIORITIES), "Only this priority."),
            Field::optional("assignee", Kind::Text(NAME), "Only what this seat works on: its handle."),
            Field::optional("reporter", Kind::Text(NAME), "Only what this seat or operator made."),
            Field::optional("parent", Kind::Text(NAME), "Only what stands directly below this item."),
            Field::optional("label", Kind::Text(NAME), "Only what has this label."),
            Field::optional("type", Kind::Text(NAME), "Only this type, such as bug."),
            Field::optional(
                "due",
                Kind::Text(NAME),
                "overdue, today, week, none, or a day such as 2026-12-24: what is due by then.",
            ),
            Field::optional(
                "text",
                Kind::Text(LINE),
                "Only what has all these words in title or body; of very many matches the newest 5000 are looked at.",
            ),
            Field::optional("removed", Kind::Flag, "What is in the trash, instead of what is not."),
            Field::optional(
                "sort",
                Kind::OneOf(SORTS),
                "created (the newest first; unless told otherwise), updated, priority, or due: without what is never due.",
            ),
            $($more),*
        ]
    };
}

/// What a saved view can hold.
pub(super) const FILTERS: &[Field] = filters![];

const LISTED: &[Field] = filters![
    Field::optional("view", Kind::Text(NAME), "A saved view: what it says holds where this call says nothing."),
    Field::optional("cursor", Kind::Cursor, "Where the page before ended: its next_cursor."),
    LIMIT
];

/// Work items, their comments, projects.
pub static TOOLS: &[Tool] = &[
    reads(
        (
            "list_work_items",
            "List work items",
            "Lists work items of the company's tracker, newest first. Without filters: all that are not in the trash.",
        ),
        LISTED,
        Handler::Read(list::list),
    ),
    reads(
        (
            "get_work_item",
            "Read a work item",
            "Reads one work item with its comments; also one that is in the trash. A key from before a move still works.",
        ),
        &[
            ITEM,
            Field::optional(
                "include",
                Kind::SomeOf(&["comments", "history", "links", "fields"]),
                "What to show with it; comments unless told otherwise. task_activity goes on at next_history_cursor.",
            ),
            Field::optional("comments_cursor", Kind::Count(0, i64::MAX), "Comments after this next_comments_cursor."),
        ],
        Handler::Read(read::get),
    ),
    reads(
        (
            "search_work_items",
            "Search work items",
            "Finds work items whose title or body hold all the words, newest first. Comments are not searched.",
        ),
        &[Field::required("text", Kind::Text(LINE), "The words."), LIMIT],
        Handler::Read(list::search),
    ),
    reads(
        (
            "get_work_catalogue",
            "Read the catalogue",
            "Tells which types, labels and own fields this company's work items have, and every status and priority.",
        ),
        &[],
        Handler::Read(catalogue::get),
    ),
    reads(
        ("list_projects", "List projects", "Lists the tracker's projects with how many work items each has."),
        &[],
        Handler::Read(read::list_projects),
    ),
    reads(
        (
            "describe_project",
            "Describe a project",
            "Tells what a project is for, how much of it is at each status, what is due next and what changed last.",
        ),
        &[PROJECT],
        Handler::Read(read::describe_project),
    ),
    reads(
        (
            "task_activity",
            "Read what happened to a work item",
            "Tells the story of a work item, newest first: who changed what from what to what, and what was said.",
        ),
        &[
            ITEM,
            Field::optional("cursor", Kind::Count(1, i64::MAX), "Where the page before ended: its next_cursor."),
            LIMIT,
        ],
        Handler::Read(read::activity),
    ),
    reads(
        (
            "my_work",
            "Read own work",
            "Tells what the seat of the caller works on: first in the order that was set, then the most urgent first; \
             with how much of its inbox is unread, and what it pinned.",
        ),
        &[],
        Handler::Read(plans::my_work),
    ),
    tool(
        ("create_work_item", "Create a work item", "Creates a work item. Doing it twice makes two."),
        ADDS,
        Some("tracker"),
        &[
            PROJECT,
            Field::required("title", Kind::Text(LINE), "One line."),
            Field::optional("body", Kind::Body(TEXT), "The text. @handle calls upon a colleague."),
            Field::optional("type", Kind::Text(NAME), "One of the catalogue's types; its first unless told otherwise."),
            Field::optional("status", Kind::OneOf(STATUSES), "todo unless told otherwise."),
            Field::optional("priority", Kind::OneOf(PRIORITIES), "none unless told otherwise."),
            Field::optional("assignee", Kind::Text(NAME), "The handle of the seat that works on it."),
            Field::optional("labels", Kind::Texts, "Free words."),
            Field::optional("parent", Kind::Text(NAME), "The item above it."),
            Field::optional("due", Kind::Day, "The day it is due."),
            Field::optional("fields", Kind::Values, "Values of the catalogue's own fields, by name."),
            Field::optional("links", Kind::Objects(LINK), "How it stands to other items."),
        ],
        Handler::Write(write::create),
    ),
    tool(
        (
            "update_work_item",
            "Change a work item",
            "Changes fields of a work item; what is not named stays. null clears assignee, parent, due and own fields.",
        ),
        OVERWRITES,
        Some("tracker"),
        &[
            ITEM,
            Field::optional("title", Kind::Text(LINE), "One line."),
            Field::optional("body", Kind::Body(TEXT), "The text."),
            Field::optional("type", Kind::Text(NAME), "One of the catalogue's types."),
            Field::optional("status", Kind::OneOf(STATUSES), "Where it stands."),
            Field::optional("priority", Kind::OneOf(PRIORITIES), "How urgent it is."),
            Field::optional("assignee", Kind::Clearable(NAME), "The handle of the seat that works on it."),
            Field::optional("labels", Kind::Texts, "Free words, in place of those it has."),
            Field::optional("parent", Kind::Clearable(NAME), "The item above it."),
            Field::optional("due", Kind::Day, "The day it is due."),
            Field::optional("fields", Kind::Values, "Values of the catalogue's own fields, by name; others stay."),
            Field::optional("links", Kind::Objects(LINK), "Links to be added."),
            Field::optional("unlink", Kind::Objects(LINK), "Links to be taken away."),
            Field::optional("if_match", Kind::Count(1, i64::MAX), "Only if it is still at this version."),
        ],
        Handler::Write(write::update),
    ),
    tool(
        (
            "comment_on_work_item",
            "Comment on a work item",
            "Writes a comment on a work item; @handle calls upon a colleague. Doing it twice makes two.",
        ),
        ADDS,
        Some("tracker"),
        &[
            ITEM,
            Field::required("body", Kind::Text(TEXT), "The comment."),
            Field::optional("reply_to", Kind::Text(NAME), "The comment that it answers."),
        ],
        Handler::Write(write::comment),
    ),
    tool(
        (
            "merge_work_item",
            "Merge a work item into another",
            "Closes a work item as a duplicate of another one. What stood below it stands below the other one then; \
             its text and comments stay with it.",
        ),
        ADDS,
        Some("tracker"),
        &[ITEM, Field::required("into", Kind::Text(NAME), "The item that stays.")],
        Handler::Write(tree::merge),
    ),
    tool(
        (
            "write_project",
            "Create or change a project",
            "Creates a project of the tracker, or changes the one of this key; what is not named stays.",
        ),
        OVERWRITES,
        None,
        &[
            Field::required("project", Kind::Text(NAME), "Its key: 1 to 16 letters and digits, such as WEB."),
            Field::optional("name", Kind::Text(NAME), "Its name for people; a new one needs it."),
            Field::optional("about", Kind::Body(TEXT), "What it is for."),
            Field::optional("lead", Kind::Clearable(NAME), "The handle of the seat that leads it; null for none."),
        ],
        Handler::Write(write::write_project),
    ),
];
