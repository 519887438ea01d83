//! What first-party tools and surfaces share while the program runs. Nothing here is kept.

use std::sync::Arc;

use crate::turns::Turns;

/// See the module. Each part locks by itself.
#[derive(Debug, Default)]
pub struct Shared {
    /// The turns of agents.
    pub turns: Arc<Turns>,
}
