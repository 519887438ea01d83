//! The pages' tools.

use super::{ADDS, LIMIT, LINE, NAME, OVERWRITES, READS, TEXT};
use crate::native::pages;
use crate::native::tool::{Audience, Field, Handler, Kind, Part, Tool};

const PAGE: Field = Field::required("page", Kind::Text(NAME), "The page's id.");

/// Pages, their comments, and what they say.
pub static TOOLS: &[Tool] = &[
    Tool {
        name: "list_pages",
        title: "List pages",
        about: "Lists the company's pages, newest first.",
        hints: READS,
        delivers: None,
        part: Part::Pages,
        audience: Audience::Everybody,
        fields: &[
            Field::optional("container", Kind::Text(NAME), "Only in this container."),
            Field::optional("parent", Kind::Text(NAME), "Only directly below this page."),
            Field::optional("title", Kind::Text(LINE), "Only whose title has all these words."),
            Field::optional("label", Kind::Text(NAME), "Only with this label."),
            Field::optional("cursor", Kind::Count(1, i64::MAX), "Where the page before ended: its next_cursor."),
            LIMIT,
        ],
        handler: Handler::Read(pages::list),
    },
    Tool {
        name: "get_page",
        title: "Read a page",
        about: "Reads one page with its comments; also as it was at an earlier version.",
        hints: READS,
        delivers: None,
        part: Part::Pages,
        audience: Audience::Everybody,
        fields: &[
            PAGE,
            Field::optional("version", Kind::Count(1, i64::MAX), "As it was then; the latest unless told otherwise."),
            Field::optional(
                "include",
                Kind::SomeOf(&["comments", "versions", "children"]),
                "What to show with it; comments unless told otherwise. list_pages goes on at next_children_cursor.",
            ),
            Field::optional("comments_cursor", Kind::Count(0, i64::MAX), "Comments after this next_comments_cursor."),
        ],
        handler: Handler::Read(pages::get),
    },
    Tool {
        name: "search_knowledge",
        title: "Search pages",
        about: "Finds pages whose title or text hold all the words, newest first.",
        hints: READS,
        delivers: None,
        part: Part::Pages,
        audience: Audience::Everybody,
        fields: &[Field::required("query", Kind::Text(LINE), "The words."), LIMIT],
        handler: Handler::Read(pages::search),
    },
    Tool {
        name: "write_page",
        title: "Write a page",
        about: "Writes a new page. Doing it twice makes two; save_page changes one that there is.",
        hints: ADDS,
        delivers: Some("pages"),
        part: Part::Pages,
        audience: Audience::Everybody,
        fields: &[
            Field::required("title", Kind::Text(LINE), "One line."),
            Field::required("body", Kind::Text(TEXT), "The text."),
            Field::optional("container", Kind::Text(NAME), "Where it belongs; `main` unless told otherwise."),
            Field::optional("parent", Kind::Text(NAME), "The page above it."),
            Field::optional("labels", Kind::Texts, "Free words."),
            Field::optional("message", Kind::Text(LINE), "What to say about this version."),
        ],
        handler: Handler::Write(pages::write),
    },
    Tool {
        name: "save_page",
        title: "Change a page",
        about: "Puts another title or text into a page. Versions before are kept.",
        hints: OVERWRITES,
        delivers: Some("pages"),
        part: Part::Pages,
        audience: Audience::Everybody,
        fields: &[
            PAGE,
            Field::required(
                "base_version",
                Kind::Count(1, i64::MAX),
                "The version that was read; a later one is not overwritten.",
            ),
            Field::optional("title", Kind::Text(LINE), "One line."),
            Field::optional("body", Kind::Body(TEXT), "The whole text."),
            Field::optional("labels", Kind::Texts, "Free words, in place of those it has."),
            Field::optional("message", Kind::Text(LINE), "What to say about this version."),
        ],
        handler: Handler::Write(pages::save),
    },
    Tool {
        name: "comment_on_page",
        title: "Comment on a page",
        about: "Writes a comment on a page. Doing it twice makes two.",
        hints: ADDS,
        delivers: Some("pages"),
        part: Part::Pages,
        audience: Audience::Everybody,
        fields: &[PAGE, Field::required("body", Kind::Text(TEXT), "The comment.")],
        handler: Handler::Write(pages::comment),
    },
];
