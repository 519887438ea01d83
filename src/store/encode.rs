//! How values are written into columns: lists and objects as JSON text, and fresh identifiers.

use serde_json::{Map, Value};

use super::StoreError;

pub(super) fn words(labels: &[String]) -> String {
    // A list of texts can be written as JSON.
    serde_json::to_string(labels).unwrap_or_else(|_| "[]".to_owned())
}

pub(super) fn object(fields: &Map<String, Value>) -> String {
    // What came as JSON can be written as JSON.
    serde_json::to_string(fields).unwrap_or_else(|_| "{}".to_owned())
}

/// A random UUID of version 4.
pub(super) fn fresh_uuid() -> Result<String, StoreError> {
    let mut bytes = [0_u8; 16];
    let failed = |_| StoreError::Unusable("the system's generator gives no random numbers".to_owned());
    getrandom::fill(&mut bytes).map_err(failed)?;
    Ok(uuid(u128::from_be_bytes(bytes)))
}

fn uuid(random: u128) -> String {
    let version = (random & !(0xf_u128 << 76)) | (0x4_u128 << 76);
    let marked = (version & !(0x3_u128 << 62)) | (0x2_u128 << 62);
    let digits = format!("{marked:032x}");
    let part = |range: std::ops::Range<usize>| digits.get(range).unwrap_or_default();
    format!("{}-{}-{}-{}-{}", part(0..8), part(8..12), part(12..16), part(16..20), part(20..32))
}
