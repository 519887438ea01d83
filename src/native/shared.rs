//! What first-party tools and surfaces share while the program runs. Nothing here is kept.

use std::sync::Arc;

use super::questions::Questions;
use crate::turns::Turns;

/// See the module. Each part locks by itself.
#[derive(Debug, Default)]
pub struct Shared {
    /// Who waits for whose answer, and what stands in the inboxes.
    pub questions: Arc<Questions>,
    /// The turns of agents.
    pub turns: Arc<Turns>,
}
