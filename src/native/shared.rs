//! What first-party tools and surfaces share while the program runs. Nothing here is kept.

/// See the module. Each part locks by itself.
#[derive(Debug, Default)]
pub struct Shared {}
