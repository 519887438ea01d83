//! The engine: connections, catalog, the pipeline of calls and the trail they leave.
//!
//! Screens and surfaces see only [`handle::Handle`], [`command`] and [`snapshot`].

pub mod audit;
pub mod command;
pub mod connection;
pub mod gate;
pub mod handle;
pub mod ring;
pub mod snapshot;
pub mod state_dir;
pub mod status;
