//! What a person's earlier decisions mean for a call: stopped seats, grants, and tools that turned milder since
//! somebody looked at them.
//!
//! The core keeps the originals and hands each change to the calls as one immutable [`Standing`], before whatever
//! the change is about (a new catalog) can be seen. Its answers are pure functions of their arguments.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::time::Instant;

use super::grants::Grant;
use super::policy::{PolicyAnswer, policy, policy_of_class};
use crate::clock::Timestamp;
use crate::config::model::{ApprovalSettings, PolicyDecision};
use crate::engine::snapshot::Tier;
use crate::ids::{ConnectionName, SeatHandle};
use crate::tool::{Digest, EffectClass, Entry};

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Standing {
    /// Remembered decisions.
    pub grants: Vec<Grant>,
    /// Seats whose calls are refused, with who stopped them.
    pub stopped: Vec<(SeatHandle, Arc<str>)>,
    /// Tools whose milder class nobody has acknowledged, by connection and raw name.
    pub milder: HashMap<(ConnectionName, Arc<str>), Milder>,
    /// Fingerprints of tools as they were known before they changed, by connection and raw name.
    pub changed: HashMap<(ConnectionName, Arc<str>), Arc<str>>,
}

/// A tool that turned milder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Milder {
    /// The class that it had.
    pub was: EffectClass,
    /// When the milder definition was first seen.
    pub since: Timestamp,
}

impl Standing {
    /// Why nothing of this seat runs, when a person stopped it.
    pub fn stopped(&self, seat: Option<&SeatHandle>) -> Option<Arc<str>> {
        let (seat, by) = self.stopped.iter().find(|(stopped, _)| Some(stopped) == seat)?;
        Some(format!("refused: seat \"{seat}\" was stopped by {by}; wait until it is released").into())
    }

    /// The class that counts for a call of `entry`: the one it had, while nobody acknowledged a milder one.
    pub fn class(&self, entry: &Entry) -> EffectClass {
        self.milder(entry).map_or(entry.class(), |milder| milder.was)
    }

    /// What the policy says, given what people have acknowledged: a tool that turned milder does not run unasked before
    /// a person has approved a call of it.
    pub fn answer(&self, settings: &ApprovalSettings, entry: &Entry, seat: Option<&SeatHandle>) -> PolicyAnswer {
        let answer = policy(settings, entry, seat);
        let Some(milder) = self.milder(entry).filter(|_| answer.decision == PolicyDecision::Allow) else {
            return answer;
        };
        // What was typed before is typed again; everything else is a question.
        let before = policy_of_class(settings, entry, seat, milder.was).decision;
        let decision = if before == PolicyDecision::Type { PolicyDecision::Type } else { PolicyDecision::Ask };
        let (was, now, since) = (milder.was, entry.class(), milder.since.rfc3339_seconds());
        let by = format!("its hints turned milder since {since} ({was} -> {now}), unseen; else {}", answer.by);
        PolicyAnswer { decision, by: by.into() }
    }

    /// The grant that covers a call, when there is one.
    pub fn grant(&self, entry: &Entry, seat: Option<&SeatHandle>, arguments: Digest, now: Instant) -> Option<&Grant> {
        self.grants.iter().find(|grant| grant.covers(entry, seat, arguments, now))
    }

    /// For the audit: that the definition is not the one that was known, with both hashes.
    pub fn change(&self, entry: &Entry) -> Option<Arc<str>> {
        let before = self.changed.get(&(entry.connection.clone(), entry.raw_name.clone()))?;
        Some(format!("its definition changed: it was sha256:{before} and is {}", entry.fingerprint).into())
    }

    fn milder(&self, entry: &Entry) -> Option<Milder> {
        let key = (entry.connection.clone(), entry.raw_name.clone());
        self.milder.get(&key).copied().filter(|milder| is_milder(milder.was, entry.class()))
    }
}

/// The answer where a grant covers the call: `ask` becomes `allow`; `type`, `deny` and `allow` stay what they are.
/// With it who decides when the call is allowed.
pub fn with_grant(answer: PolicyAnswer, grant: Option<&Grant>) -> (PolicyAnswer, Arc<str>) {
    match (answer.decision, grant) {
        (PolicyDecision::Ask, Some(grant)) => {
            let by = format!("{}; else {}", grant.named(), answer.by);
            (PolicyAnswer { decision: PolicyDecision::Allow, by: by.into() }, grant.decider())
        }
        _ => (answer, "policy".into()),
    }
}

/// Whether the rules ask for more than a person's yes of this tier: what was asked under milder ones is judged anew.
pub fn asks_for_more(
    standing: &Standing,
    settings: &ApprovalSettings,
    entry: &Entry,
    seat: Option<&SeatHandle>,
    tier: Tier,
) -> bool {
    match standing.answer(settings, entry, seat).decision {
        PolicyDecision::Deny => true,
        PolicyDecision::Type => tier != Tier::Type,
        PolicyDecision::Allow | PolicyDecision::Ask => false,
    }
}

/// Whether `now` is a milder class than `was`, in the sense that fewer people would be asked.
pub const fn is_milder(was: EffectClass, now: EffectClass) -> bool {
    use EffectClass::{Destructive, Read, Unknown, Write};
    matches!((was, now), (Destructive | Unknown, Read | Write) | (Write, Read))
}
