//! What first-party tools and surfaces share while the program runs. Nothing here is kept.

use std::sync::Arc;

use super::questions::Questions;

/// See the module. Each part locks by itself.
#[derive(Debug, Default)]
pub struct Shared {
    /// Who waits for whose answer, and what stands in the inboxes.
    pub questions: Arc<Questions>,
}
