//! Grants: decisions that a person had remembered, each for one seat, one definition of one tool, and a limited
//! time.
//!
//! Owned by the engine's core; calls read copies in [`super::standing::Standing`]. A grant only ever turns `ask` into
//! `allow`. One whose tool changed is suspended and stays so: the person decides again. Nothing is kept across runs.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::clock::Timestamp;
use crate::engine::command::{GrantScope, Remember};
use crate::engine::snapshot::{ApprovalView, GrantView, Tier};
use crate::ids::{GrantId, SeatHandle};
use crate::tool::{Catalog, Digest, Entry, ShownArguments};

/// The longest time that a decision is remembered for.
pub const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);
/// Grants at one time; whoever needs more writes a rule.
pub const MOST: usize = 256;

/// Why a decision is not remembered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NotRemembered {
    /// The tool's name had to be typed.
    #[error("a decision that has to be typed is never remembered")]
    Typed,
    /// A worker asked.
    #[error("a decision about a worker's call is never remembered: it would count for its seat; approve it once")]
    Worker,
    /// There are [`MOST`] grants.
    #[error("{MOST} decisions are remembered already; revoke some, or write a rule")]
    Full,
}

/// One remembered decision.
#[derive(Clone, Debug)]
pub struct Grant {
    /// Counts up within one run.
    pub id: GrantId,
    /// For whose calls; `None`: the person's own.
    pub seat: Option<SeatHandle>,
    /// The tool as it was shown.
    pub entry: Arc<Entry>,
    /// What is covered.
    pub scope: GrantScope,
    /// The arguments that were shown, as they may be drawn, with the digest of what was sent.
    pub arguments: ShownArguments,
    /// Who decided: `person:root`.
    pub by: Arc<str>,
    /// When.
    pub given_at: Timestamp,
    /// When it ends, on the engine's clock and for people; `None`: with the program.
    pub expires: Option<(Instant, Timestamp)>,
    /// Calls that it let through.
    pub uses: u32,
    /// Why it does not count now.
    pub suspended: Option<Arc<str>>,
}

impl Grant {
    /// Whether it covers a call of `entry` with these arguments by this seat at this moment.
    pub fn covers(&self, entry: &Entry, seat: Option<&SeatHandle>, arguments: Digest, now: Instant) -> bool {
        self.seat.as_ref() == seat
            && self.suspended.is_none()
            && self.expires.is_none_or(|(end, _)| now < end)
            && self.is_about(entry)
            && self.entry.fingerprint == entry.fingerprint
            && match self.scope {
                GrantScope::ThisTool => true,
                GrantScope::ThisCall => self.arguments.digest() == arguments,
            }
    }

    /// The audit's word for who decided: `grant:3 by person:root`.
    pub fn decider(&self) -> Arc<str> {
        format!("grant:{} by {}", self.id.0, self.by).into()
    }

    /// For people: `grant 3 by person:root for this tool`.
    pub fn named(&self) -> String {
        let scope = match self.scope {
            GrantScope::ThisCall => "exactly this call",
            GrantScope::ThisTool => "this tool",
        };
        let seat = self.seat.as_ref().map_or_else(|| "the console".to_owned(), |seat| format!("seat {seat}"));
        format!("grant {} by {}: {scope}, {seat}", self.id.0, self.by)
    }

    fn is_about(&self, entry: &Entry) -> bool {
        self.entry.connection == entry.connection && self.entry.raw_name == entry.raw_name
    }

    fn view(&self) -> GrantView {
        GrantView {
            id: self.id,
            seat: self.seat.clone(),
            server: self.entry.server.clone(),
            connection: self.entry.connection.clone(),
            tool: self.entry.name.clone(),
            scope: self.scope,
            arguments: (self.scope == GrantScope::ThisCall).then(|| self.arguments.clone()),
            given_at: self.given_at,
            expires_at: self.expires.map(|(_, at)| at),
            uses: self.uses,
            suspended: self.suspended.clone(),
        }
    }
}

/// All grants of this run.
#[derive(Debug, Default)]
pub struct Grants {
    list: Vec<Grant>,
    last: u64,
}

impl Grants {
    /// Remembers the decision on `view`. An earlier grant for the same seat, tool and scope goes; a span longer than
    /// [`LONGEST`] is cut to it.
    ///
    /// # Errors
    /// See [`NotRemembered`].
    pub fn give(
        &mut self,
        view: &ApprovalView,
        remember: Remember,
        by: &Arc<str>,
        now: Timestamp,
    ) -> Result<GrantId, NotRemembered> {
        if view.tier == Tier::Type {
            return Err(NotRemembered::Typed);
        }
        if view.caller.is_worker() {
            return Err(NotRemembered::Worker);
        }
        let seat = view.caller.seat();
        let replaced = |grant: &Grant| {
            grant.seat.as_ref() == seat
                && grant.is_about(&view.entry)
                && grant.scope == remember.scope
                && (grant.scope == GrantScope::ThisTool || grant.arguments.digest() == view.arguments.digest())
        };
        self.list.retain(|grant| !replaced(grant));
        if self.list.len() >= MOST {
            return Err(NotRemembered::Full);
        }
        let span = remember.span.map(|span| span.min(LONGEST));
        self.last += 1;
        let id = GrantId(self.last);
        self.list.push(Grant {
            id,
            seat: seat.cloned(),
            entry: view.entry.clone(),
            scope: remember.scope,
            arguments: view.arguments.clone(),
            by: by.clone(),
            given_at: now,
            expires: span.map(|span| (Instant::now() + span, now.plus(span))),
            uses: 0,
            suspended: None,
        });
        Ok(id)
    }

    /// Takes a grant back. False when there is none of this number.
    pub fn revoke(&mut self, id: GrantId) -> bool {
        let before = self.list.len();
        self.list.retain(|grant| grant.id != id);
        self.list.len() != before
    }

    /// Drops what has run out. True when something had.
    pub fn expire(&mut self, now: Instant) -> bool {
        let before = self.list.len();
        self.list.retain(|grant| grant.expires.is_none_or(|(end, _)| now < end));
        self.list.len() != before
    }

    /// When the next grant runs out.
    pub fn next_expiry(&self) -> Option<Instant> {
        self.list.iter().filter_map(|grant| grant.expires.map(|(end, _)| end)).min()
    }

    /// Suspends each grant whose tool is not any more what was shown. The ones that this call suspended.
    pub fn follow(&mut self, catalog: &Catalog, now: Timestamp) -> Vec<Grant> {
        let mut suspended = Vec::new();
        for grant in self.list.iter_mut().filter(|grant| grant.suspended.is_none()) {
            // A tool that is gone may come back as it was.
            let differs = catalog.again(&grant.entry).is_some_and(|now| now.fingerprint != grant.entry.fingerprint);
            if differs {
                let reason = format!("the tool's definition changed at {}; decide on it anew", now.rfc3339_seconds());
                grant.suspended = Some(reason.into());
                suspended.push(grant.clone());
            }
        }
        suspended
    }

    /// Counts a call that a grant let through. False when the grant is gone.
    pub fn used(&mut self, id: GrantId) -> bool {
        let grant = self.list.iter_mut().find(|grant| grant.id == id);
        grant.map(|grant| grant.uses = grant.uses.saturating_add(1)).is_some()
    }

    /// All of them, oldest first.
    pub fn all(&self) -> &[Grant] {
        &self.list
    }

    /// For the snapshot, oldest first.
    pub fn views(&self) -> Vec<Arc<GrantView>> {
        self.list.iter().map(|grant| Arc::new(grant.view())).collect()
    }
}
