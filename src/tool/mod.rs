//! What a tool is, what is known about it, and what follows from that: pure functions and plain data.
//!
//! The engine fills these types from what servers advertise; the gate, the screens and the served surfaces
//! read them. Nothing here does I/O, knows a clock or knows any tool by name.

pub mod address;
pub mod annotations;
pub mod arguments;
pub mod catalog;
pub mod classify;
pub mod contents;
pub mod definition;
pub mod delivery;
pub mod elicit;
pub mod entry;
pub mod form;
pub mod json;
pub mod listing;
pub mod mirror;
pub mod names;
pub mod offers;
pub mod output;
pub mod placing;
pub mod reserved;
pub mod worker;

#[cfg(test)]
mod tests;

pub use annotations::{Annotations, ConfigRef, Hint, HintName, HintOverride, HintSource, Hints};
pub use arguments::{Arguments, ArgumentsError, Digest, ShownArguments};
pub use catalog::Catalog;
pub use classify::{Classification, EffectClass, Flag};
pub use entry::{Entry, Fingerprint, Origin, Rejected, ToolKey};
pub use listing::{ListedTool, Listing};
