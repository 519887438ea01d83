//! The tracker's tools that only operators are offered, and the person at the screen.

use super::work::{FILTERS, ITEM, PROJECT, Words};
use super::{LIMIT, LINE, NAME, OVERWRITES, READS};
use crate::native::tool::{Audience, Effects, Field, Handler, Kind, LONGEST_ITEM, Part, Tool};
use crate::native::words::{FAVORITES, FIELD_KINDS};
use crate::native::work::{catalogue, inbox, people, plans, tree};
use crate::tool::annotations::Hint::{No, Unknown, Yes};

/// Sets what is the caller's own.
const SETS_OWN: Effects = Effects([No, No, Yes, No]);
const SETS: Effects = Effects([No, No, Yes, Yes]);
const REMOVES: Effects = Effects([No, Yes, Yes, Yes]);
/// Nothing is lost: the key that an item had goes on to mean it.
const MOVES: Effects = Effects([No, No, Unknown, Yes]);

const IF_MATCH: Field =
    Field::optional("if_match", Kind::Count(0, i64::MAX), "Only if it is still at this version; 0: if there is none.");
const NAMED: &[Field] = &[
    Field::required("name", Kind::Text(NAME), "Its name."),
    Field::optional("about", Kind::Body(LINE), "What it is for."),
];
const OWN: &[Field] = &[
    Field::required("name", Kind::Text(NAME), "Its name."),
    Field::required("kind", Kind::OneOf(FIELD_KINDS), "What it holds."),
    Field::optional("about", Kind::Body(LINE), "What it is for."),
    Field::optional("choices", Kind::Texts, "What a choice can be."),
];
const RECORD: &[Field] = &[
    Field::required("record_id", Kind::Count(1, i64::MAX), "The message."),
    Field::optional(
        "position",
        Kind::Count(0, i64::MAX),
        "Its position when it was read: what came to it later is not marked.",
    ),
];
const PUT_OFF: &[Field] = &[
    Field::required("record_id", Kind::Count(1, i64::MAX), "The message."),
    Field::optional("position", Kind::Count(0, i64::MAX), "Its position when it was read."),
    Field::required("until", Kind::Moment, "When it comes back."),
];
const FAVORITE: &[Field] = &[
    Field::required("kind", Kind::OneOf(FAVORITES), "What it is."),
    Field::required("id", Kind::Text(NAME), "An item's key or id, a page's id, a project's key."),
];

const fn tool(words: Words, hints: Effects, fields: &'static [Field], handler: Handler) -> Tool {
    let (name, title, about) = words;
    let (part, audience) = (Part::Work, Audience::Operators);
    Tool { name, title, about, hints, delivers: None, part, audience, fields, handler }
}

/// Removing, views, the catalogue, people, orders, pins and the inbox.
pub static TOOLS: &[Tool] = &[
    tool(
        (
            "remove_work_item",
            "Remove a work item",
            "Puts a work item into the trash. restore_work_item takes it out again, at any time.",
        ),
        REMOVES,
        &[ITEM, Field::optional("subtree", Kind::Flag, "With everything below it; else that stays where it is.")],
        Handler::Write(tree::remove),
    ),
    tool(
        (
            "restore_work_item",
            "Restore a work item",
            "Takes a work item out of the trash, with everything that went there together with it.",
        ),
        SETS,
        &[ITEM],
        Handler::Write(tree::restore),
    ),
    tool(
        (
            "move_work_item",
            "Move a work item",
            "Moves a work item into another project. It gets a key there; the one that it had still works.",
        ),
        MOVES,
        &[ITEM, PROJECT, Field::optional("if_match", Kind::Count(1, i64::MAX), "Only if it is still at this version.")],
        Handler::Write(tree::move_item),
    ),
    tool(
        ("list_work_views", "List saved views", "Lists the saved views: lists of work items with a name."),
        READS,
        &[],
        Handler::Read(plans::list_views),
    ),
    tool(
        (
            "save_work_view",
            "Save a view",
            "Saves a list of work items under a name, for everybody; a view of this name is overwritten.",
        ),
        OVERWRITES,
        &[
            Field::required("name", Kind::Text(LONGEST_ITEM), "Its name."),
            Field::optional("about", Kind::Body(LINE), "What it is for."),
            Field::required("filter", Kind::Object(FILTERS), "What list_work_items is to be asked."),
            IF_MATCH,
        ],
        Handler::Write(plans::save_view),
    ),
    tool(
        (
            "write_work_catalogue",
            "Write the catalogue",
            "Says which types, labels and own fields work items have. Each list that is named replaces the one before; \
             items keep what they have.",
        ),
        OVERWRITES,
        &[
            Field::optional("types", Kind::Objects(NAMED), "What an item can be; the first is the usual one."),
            Field::optional("labels", Kind::Objects(NAMED), "Labels that are meant to be used; others can be, too."),
            Field::optional("fields", Kind::Objects(OWN), "What items hold beside our own fields."),
            IF_MATCH,
        ],
        Handler::Write(catalogue::write),
    ),
    tool(
        (
            "get_person",
            "Read who somebody is",
            "Tells who a seat of the company is, who leads it, and what it works on.",
        ),
        READS,
        &[Field::optional("handle", Kind::Text(NAME), "The seat; the caller's own unless told otherwise.")],
        Handler::Read(people::get_person),
    ),
    tool(
        (
            "set_priorities",
            "Set the order of work",
            "Puts work items into the order in which a seat works on them, in place of the order before. \
             Another seat's only for who leads its line.",
        ),
        SETS,
        &[
            Field::required("items", Kind::Texts, "Keys or ids, the first one first; an empty list clears the order."),
            Field::optional("handle", Kind::Text(NAME), "Whose order; the caller's own unless told otherwise."),
        ],
        Handler::Write(plans::set_priorities),
    ),
    tool(
        ("set_pins", "Set pins", "Pins views and favorites for the seat of the caller, in place of those before."),
        SETS_OWN,
        &[
            Field::optional("views", Kind::Texts, "Names of saved views."),
            Field::optional("favorites", Kind::Objects(FAVORITE), "Items, pages and projects."),
        ],
        Handler::Write(plans::set_pins),
    ),
    tool(
        (
            "work_inbox",
            "Read the inbox",
            "Reads what came to the seat that this token works, the latest first: work, comments, messages.",
        ),
        READS,
        &[
            Field::optional("unread", Kind::Flag, "Only what was neither read nor put off."),
            Field::optional("cursor", Kind::Cursor, "Where the page before ended: its next_cursor."),
            LIMIT,
        ],
        Handler::Read(inbox::read),
    ),
    tool(
        (
            "mark_inbox",
            "Mark messages",
            "Marks messages of the inbox as read or unread, or puts them off until later. A number alone stands for a \
             record_id.",
        ),
        SETS_OWN,
        &[
            Field::optional("read", Kind::Marks(RECORD), "Messages that were read."),
            Field::optional("unread", Kind::Marks(RECORD), "Messages that were not."),
            Field::optional("snoozed", Kind::Objects(PUT_OFF), "Messages to be put off."),
            Field::optional("seen_through", Kind::Count(0, i64::MAX), "Everything up to this position was read, too."),
        ],
        Handler::Write(inbox::mark),
    ),
];
