//! Focusable regions of the screen, one struct each.

pub mod approvals;
pub mod calls;
mod columns;
mod detail;
mod filter;
mod pick;
pub mod tools;
mod two;
