//! `mcp_env`: what a seat inherits from its unit, and how declared values lie over a server's own. Pure.

use std::sync::Arc;

use super::Variables;
use crate::ids::ServerName;

/// A seat's `mcp_env` over its unit's: the seat wins for each server and each key; servers that only the unit
/// declares are added. Only a unit's direct roles inherit, which is the caller's business.
pub fn inherit(unit: &[(ServerName, Variables)], own: &[(ServerName, Variables)]) -> Vec<(ServerName, Variables)> {
    let mut merged: Vec<_> = own.to_vec();
    for (server, base) in unit {
        match merged.iter_mut().find(|(name, _)| name == server) {
            Some((_, variables)) => *variables = overlay(base, variables, Keys::Exact),
            None => merged.push((server.clone(), base.clone())),
        }
    }
    merged
}

/// How keys are compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Keys {
    /// Environment variables.
    Exact,
    /// Header names.
    IgnoreCase,
}

/// `over` laid over `base`: the order of `base`, then what only `over` has.
pub fn overlay(base: &Variables, over: &Variables, keys: Keys) -> Variables {
    let same = |a: &Arc<str>, b: &Arc<str>| match keys {
        Keys::Exact => a == b,
        Keys::IgnoreCase => a.eq_ignore_ascii_case(b),
    };
    let mut merged = base.clone();
    for (key, value) in over {
        match merged.iter_mut().find(|(known, _)| same(known, key)) {
            Some(entry) => *entry = (key.clone(), value.clone()),
            None => merged.push((key.clone(), value.clone())),
        }
    }
    merged
}
