//! What first-party tools and surfaces share while the program runs. Nothing here is kept.

use std::sync::Arc;

use super::active::Active;
use crate::config::model::Config;

/// See the module. Each part locks by itself.
#[derive(Debug, Default)]
pub struct Shared {
    /// Which tools agents hold at the moment.
    pub active: Arc<Active>,
}

impl Shared {
    /// As the configuration says.
    pub fn of(config: &Config) -> Self {
        Self { active: Arc::new(Active::new(config.engine.discovery)) }
    }
}
