//! What first-party tools and surfaces share while the program runs. Nothing here is kept.

use std::sync::{Arc, OnceLock};

use super::connector::Connector;

/// See the module. Each part locks by itself.
#[derive(Debug, Default)]
pub struct Shared {
    /// The scoped connector, once its surface is open.
    pub connector: OnceLock<Arc<Connector>>,
}
