//! The configuration: from YAML text to a model that cannot hold nonsense, all problems reported at once.

pub mod expand;
pub mod model;
