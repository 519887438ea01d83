//! Bearer tokens that this program makes: for seats, and for workers.

use std::fmt::Write as _;

use super::Secret;

/// 256 random bits in hexadecimal digits, behind a word that secret scanners can be taught (as [`super::shapes`] is).
/// `None` when the system's generator gives nothing.
pub fn fresh_token() -> Option<Secret> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes).ok()?;
    let mut text = "crewlet_".to_owned();
    for byte in bytes {
        // Writing into a `String` cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    Some(Secret::new(text))
}
