//! Helpers of the screen's tests: a company to look at, a screen to look with, files to compare with.
#![allow(dead_code, reason = "each test crate uses its part")]
#![allow(missing_docs, reason = "fields that say what they are")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test that cannot go on has failed")]

pub mod golden;
pub mod rows;
pub mod sample;
pub mod screen;
pub mod svg;
