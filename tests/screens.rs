//! What a person sees: pictures at three sizes, with and without colours, and what keys and news do to them.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test that cannot go on has failed")]

#[path = "screens/behaviour.rs"]
mod behaviour;
#[path = "screens/forms.rs"]
mod forms;
#[path = "screens/fuzz.rs"]
mod fuzz;
#[path = "screens/inbox.rs"]
mod inbox;
#[path = "screens/logs.rs"]
mod logs;
#[path = "screens/pictures.rs"]
mod pictures;
mod support;
#[path = "screens/work.rs"]
mod work;
#[path = "screens/workers.rs"]
mod workers;
#[path = "screens/written.rs"]
mod written;
