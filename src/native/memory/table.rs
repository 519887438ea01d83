//! The family's table: every tool of memory as data.

use crate::native::table::{LINE, NAME, TEXT};
use crate::native::tool::{Ask, Audience, Effects, Field, Handler, Kind, Part, Running, Tool};
use crate::tool::annotations::Hint::{No, Unknown, Yes};

const READS: Effects = Effects([Yes, Unknown, Yes, Unknown]);
/// Writes what only the seat itself sees.
const KEEPS: Effects = Effects([No, No, Unknown, No]);
const MARKS: Effects = Effects([No, No, Yes, No]);

/// One tool of this family: a seat's own.
const fn tool(name: &'static str, (title, about): (&'static str, &'static str), hints: Effects) -> Tool {
    Tool {
        name,
        title,
        about,
        hints,
        delivers: None,
        part: Part::Own,
        audience: Audience::Seats,
        fields: &[],
        handler: Handler::Run(|_| Box::pin(async { Err(crate::native::Refusal::not_found("tool")) })),
    }
}

fn run(name: &'static str, ask: Ask) -> Running {
    Box::pin(async move { ask.native.memory().call(name, &ask.request.arguments, &ask.caller).await })
}

/// All of them, in the order of the listing.
pub static TOOLS: &[Tool] = &[
    Tool {
        fields: &[Field::required("query", Kind::Text(LINE), "A handle, a name or a part of it, or an id elsewhere.")],
        handler: Handler::Run(|ask| run("lookup_colleague", ask)),
        ..tool(
            "lookup_colleague",
            (
                "Look up a colleague",
                "Finds who is meant by anything that somebody is called: a handle, a role's name or a part of it, a mail \
                 address, an id on another system. Tells the canonical handle and who they are elsewhere. Where \
                 several may be meant it lists them all: choose one, do not guess.",
            ),
            READS,
        )
    },
    Tool {
        fields: &[
            Field::required("content", Kind::Whole, "The fact, in words that you will understand later."),
            Field::optional(
                "kind",
                Kind::OneOf(&["long", "short", "LONG", "SHORT"]),
                "long (unless told otherwise): it stays. short: it is forgotten after ttl_days, or 14.",
            ),
            Field::optional(
                "ttl_days",
                Kind::Loose(&["integer", "string"]),
                "Days until it is forgotten, from 1 to 180; makes it short.",
            ),
            Field::optional("note", Kind::Body(TEXT), "A remark beside it: where it is from, how sure you are."),
        ],
        handler: Handler::Run(|ask| run("reflect_and_persist", ask)),
        ..tool(
            "reflect_and_persist",
            (
                "Write into the diary",
                "Keeps a durable fact in your own private diary, which nobody else reads. What the team should know \
                 belongs on a shared page instead.",
            ),
            KEEPS,
        )
    },
    Tool {
        fields: &[Field::required("context_hint", Kind::Text(TEXT), "What you are at and what you have found out.")],
        handler: Handler::Run(|ask| run("refresh_memory", ask)),
        ..tool(
            "refresh_memory",
            (
                "Refresh memory",
                "Looks through your private diary again for what fits the hint. Use it in the middle of a turn, when \
                 you know more of what it is about than at its beginning. At most 3 different hints in one turn; \
                 a hint that is repeated gives the same answer and does not count.",
            ),
            READS,
        )
    },
    Tool {
        fields: &[
            Field::required("query", Kind::Text(TEXT), "What the turns were like: words of their tasks and tools."),
            Field::optional(
                "limit",
                Kind::Loose(&["integer", "string"]),
                "At most so many, from 1 to 20; 5 unless told otherwise.",
            ),
            Field::optional(
                "outcome_filter",
                Kind::OneOf(&["done", "self_iterate", "failed"]),
                "Only turns that came out so.",
            ),
        ],
        handler: Handler::Run(|ask| run("query_episodes", ask)),
        ..tool(
            "query_episodes",
            (
                "Search past turns",
                "Finds your own finished turns that are most like the query: what you did then, with which tools, and how it came out.",
            ),
            READS,
        )
    },
    Tool {
        fields: &[Field::required("skill_name", Kind::Text(NAME), "The skill's name.")],
        handler: Handler::Run(|ask| run("use_skill", ask)),
        ..tool("use_skill", ("Use a skill", "Loads one of your own skills: how you do something, step by step."), READS)
    },
    Tool {
        fields: &[
            Field::required("name", Kind::Text(NAME), "The skill's name."),
            Field::optional(
                "action",
                Kind::OneOf(&["append", "replace_body"]),
                "append (unless told otherwise): one more point at its end. replace_body: another text.",
            ),
            Field::required(
                "content",
                Kind::Whole,
                "The point, or the whole text. A skill has at most 20000 characters.",
            ),
            Field::optional("reason", Kind::Body(TEXT), "Why; kept beside the text before."),
        ],
        handler: Handler::Run(|ask| run("refine_skill", ask)),
        ..tool(
            "refine_skill",
            ("Refine a skill", "Betters one of your own skills with what you have learnt. The texts before are kept."),
            KEEPS,
        )
    },
    Tool {
        fields: &[Field::required(
            "summary",
            Kind::Text(TEXT),
            "What you have understood of your place and your work.",
        )],
        handler: Handler::Run(|ask| run("mark_onboarded", ask)),
        ..tool(
            "mark_onboarded",
            (
                "Mark as onboarded",
                "Says that you have read what there is about your company, your units and your role. Call it once you have, not before.",
            ),
            MARKS,
        )
    },
];
