//! What first-party tools and surfaces share while the program runs. Nothing here is kept.

use crate::engine::workers::Workers;

/// See the module. Each part locks by itself.
#[derive(Debug, Default)]
pub struct Shared {
    /// The workers under seats.
    pub workers: Workers,
}
