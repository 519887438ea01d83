//! A streamable HTTP endpoint as a link.
//!
//! The supervisor opens one for each start.

use super::HttpSpec;
use super::failure::Trouble;
use super::link::Link;

/// Prepares the endpoint; nothing is sent yet.
pub(super) fn open(spec: &HttpSpec) -> Result<Link, Trouble> {
    Err(Trouble::Endpoint(format!("HTTP is not offered yet: {}", spec.display)))
}
