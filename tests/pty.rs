//! The real binary on a pseudo-terminal, with the demo company in a home of its own.
//!
//! Every wait is for a condition: what is on the screen, what the kernel says about processes.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]
#![allow(clippy::string_slice, missing_docs, reason = "ASCII, and fields that say what they are")]

#[path = "pty/deciding.rs"]
mod deciding;
#[path = "pty/ending.rs"]
mod ending;
#[path = "pty/home.rs"]
mod home;
#[path = "support/pty.rs"]
mod pty;
#[path = "pty/starting.rs"]
mod starting;
