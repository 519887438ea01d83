//! Foreign text made fit to be drawn, logged and measured: the one sanitiser, and widths in terminal cells.
//!
//! Two forms: [`clean()`] for running text (terminal escape sequences removed, other invisible characters
//! escaped), [`visible`] where every character counts (arguments, names: nothing is removed, all is escaped).
//! Both are idempotent, take linear time and borrow when there is nothing to do. Secrets are not this module's
//! business; see [`crate::secret`].

mod clean;
mod hidden;
mod tables;
mod width;

pub use clean::clean;
pub use hidden::{escapes, has_hidden, is_hidden, visible};
pub use width::{fit, pad, width, wrap};

#[cfg(test)]
mod tests;
