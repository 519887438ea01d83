//! What first-party tools and surfaces share while the program runs. Nothing here is kept.

use std::sync::{Arc, OnceLock};

use super::active::Active;
use super::connector::Connector;
use super::questions::Questions;
use crate::config::model::Config;
use crate::engine::workers::Workers;
use crate::turns::Turns;

/// See the module. Each part locks by itself.
#[derive(Debug, Default)]
pub struct Shared {
    /// The scoped connector, once its surface is open.
    pub connector: OnceLock<Arc<Connector>>,
    /// Which tools agents hold at the moment.
    pub active: Arc<Active>,
    /// Who waits for whose answer, and what stands in the inboxes.
    pub questions: Arc<Questions>,
    /// The turns of agents.
    pub turns: Arc<Turns>,
    /// The workers under seats.
    pub workers: Workers,
}

impl Shared {
    /// As the configuration says.
    pub fn of(config: &Config) -> Self {
        Self { active: Arc::new(Active::new(config.engine.discovery)), ..Self::default() }
    }
}
