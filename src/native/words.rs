//! The tracker's words: statuses, priorities, keys. Pure.

use super::request::Refusal;

/// What an item can be.
pub const STATUSES: &[&str] = &["todo", "in_progress", "in_review", "done", "cancelled", "closed"];
/// What is not open any more.
pub const OVER: &[&str] = &["done", "cancelled", "closed"];
/// How items are linked, as it is said of the one that is named first. The reversed ones are kept as their opposites.
pub const LINKS: &[&str] = &["blocks", "blocked_by", "relates", "duplicates", "duplicated_by"];
/// Orders of lists.
pub const SORTS: &[&str] = &["created", "updated", "priority", "due"];
/// What can be pinned beside views.
pub const FAVORITES: &[&str] = &["item", "page", "project"];
/// What an own field of items can hold.
pub const FIELD_KINDS: &[&str] = &["text", "number", "day", "choice"];
/// From none to most, by their number.
pub const PRIORITIES: &[&str] = &["none", "low", "normal", "high", "urgent"];
/// The same as the connector calls them.
pub const CONNECTOR_PRIORITIES: &[&str] = &["no_priority", "low", "medium", "high", "urgent"];

/// The number of a word in one of the lists above.
pub fn rank(words: &[&str], word: &str) -> Option<i64> {
    words.iter().position(|known| *known == word).and_then(|at| i64::try_from(at).ok())
}

/// The word of a number.
pub fn word(words: &[&'static str], rank: i64) -> &'static str {
    usize::try_from(rank).ok().and_then(|at| words.get(at).copied()).unwrap_or("none")
}

/// A project's key.
///
/// # Errors
/// It is something else.
pub fn project_key(text: &str) -> Result<String, Refusal> {
    let wrong = || Refusal::invalid("a project is 1 to 16 letters and digits, such as WEB");
    crate::config::model::project_key(text).ok_or_else(wrong)
}
