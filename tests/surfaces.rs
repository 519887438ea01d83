//! The served surfaces through real sockets: a hand-written client in both eras of the protocol, against an engine
//! whose servers are scripted in memory.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stderr,
    reason = "a test that cannot go on says why"
)]

#[path = "surfaces/bench.rs"]
mod bench;
#[path = "surfaces/binary.rs"]
mod binary;
#[path = "surfaces/calls.rs"]
mod calls;
#[path = "surfaces/consent.rs"]
mod consent;
#[path = "surfaces/crash.rs"]
mod crash;
#[path = "surfaces/discovery.rs"]
mod discovery;
#[path = "surfaces/doors.rs"]
mod doors;
#[path = "surfaces/library.rs"]
mod library;
#[path = "surfaces/lists.rs"]
mod lists;
#[path = "surfaces/memory.rs"]
mod memory;
#[path = "surfaces/mirror.rs"]
mod mirror;
#[path = "surfaces/own.rs"]
mod own;
#[path = "support/program.rs"]
#[allow(dead_code, reason = "this crate needs a part of it")]
mod program;
#[path = "surfaces/progress.rs"]
mod progress;
#[path = "surfaces/questions.rs"]
mod questions;
#[path = "surfaces/relay.rs"]
mod relay;
#[path = "support/scripted.rs"]
#[allow(dead_code, reason = "this crate needs a part of it")]
mod scripted;
#[path = "surfaces/seats.rs"]
mod seats;
#[path = "surfaces/tasks.rs"]
mod tasks;
#[path = "surfaces/turns.rs"]
mod turns;
#[path = "surfaces/workers.rs"]
mod workers;
