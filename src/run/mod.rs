//! The composition root: the only place that builds both the engine and the screen.
//!
//! Commands call [`one_shot()`] or [`dashboard()`]; nothing else knows how the parts are put together.

mod dashboard;
mod document;
mod embeddings;
mod listener;
mod one_shot;
mod parts;
mod program;
mod saver;
mod serve;
mod watch;

pub use dashboard::dashboard;
pub use document::{Document, explain, load, screen};
pub use one_shot::{OneShot, Wanted, one_shot};
pub use parts::{prepare_process, state_folder, user};
pub use program::program;
pub use serve::serve;
pub use watch::watch;
