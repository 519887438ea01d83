//! The table of the company's own tools, by family. Everything that is said or checked about one of them comes from
//! here.

mod discovery;
mod operators;
mod pages;
mod seats;
mod turns;
mod work;

use super::questions;
use super::tool::{Audience, Effects, Field, Kind, Tool};
use crate::tool::annotations::Hint::{No, Unknown, Yes};

/// Longest line, in characters.
pub const LINE: usize = 300;
/// Longest text, in characters.
pub const TEXT: usize = 100_000;
/// Longest name of an item, a page, a seat.
pub const NAME: usize = 80;

const READS: Effects = Effects([Yes, Unknown, Yes, Unknown]);
const ADDS: Effects = Effects([No, No, Unknown, Yes]);
const OVERWRITES: Effects = Effects([No, Yes, Unknown, Yes]);

const LIMIT: Field = Field::optional("limit", Kind::Count(1, 200), "At most so many.");

/// The families, in the order of the listing.
pub static FAMILIES: &[&[Tool]] = &[
    work::TOOLS,
    operators::TOOLS,
    pages::TOOLS,
    discovery::TOOLS,
    turns::TOOLS,
    super::memory::TOOLS,
    questions::TOOLS,
    seats::TOOLS,
];

/// All of them, in the order of the listing.
pub fn all() -> impl Iterator<Item = &'static Tool> {
    FAMILIES.iter().copied().flatten()
}

/// The tool of this name.
pub fn named(name: &str) -> Option<&'static Tool> {
    all().find(|tool| tool.name == name)
}

/// The tools as a table for people: what each does, who is offered it, and what it is to the gate.
pub fn markdown() -> String {
    let row = |tool: &Tool| {
        let about = tool.about.split_once(". ").map_or(tool.about.trim_end_matches('.'), |(first, _)| first);
        let who = match tool.audience {
            Audience::Everybody => "seats, operators",
            Audience::Operators => "operators",
            Audience::Seats => "seats",
        };
        let hints = tool.annotations();
        let effect = match (hints.read_only, hints.destructive) {
            (_, Yes) => "destructive",
            (Yes, _) => "read",
            (_, No) => "write",
            _ => "unknown",
        };
        format!("| `{}` | {about} | {who} | {effect} |\n", tool.name)
    };
    let rows: String = all().map(row).collect();
    format!("| tool | does | for | effect |\n|---|---|---|---|\n{rows}")
}
