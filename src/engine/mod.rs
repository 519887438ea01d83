//! The engine: connections, catalog, the pipeline of calls and the trail they leave.
//!
//! Screens and surfaces see only [`handle::Handle`], [`command`] and [`snapshot`].

pub mod audit;
mod call;
mod calls;
pub mod command;
pub mod connection;
mod core;
mod export;
pub mod first_party;
pub mod forms;
pub mod gate;
pub mod handle;
mod launch;
pub mod library;
pub mod ring;
mod servers;
pub mod snapshot;
pub mod start;
pub mod state_dir;
pub mod status;
pub mod workers;

/// What servers answer is cleaned on a thread of its own from this size on, in bytes.
const LARGE: usize = 128 << 10;
