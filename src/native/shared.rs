//! What first-party tools and surfaces share while the program runs. Nothing here is kept.

use std::sync::{Arc, OnceLock};

use super::active::Active;
use super::connector::Connector;
use crate::config::model::Config;

/// See the module. Each part locks by itself.
#[derive(Debug, Default)]
pub struct Shared {
    /// The scoped connector, once its surface is open.
    pub connector: OnceLock<Arc<Connector>>,
    /// Which tools agents hold at the moment.
    pub active: Arc<Active>,
}

impl Shared {
    /// As the configuration says.
    pub fn of(config: &Config) -> Self {
        Self { active: Arc::new(Active::new(config.engine.discovery)), ..Self::default() }
    }
}
