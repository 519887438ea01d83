//! What asks for the person's attention: new questions, of calls and of servers, and notices. Decides when a card or a
//! form may open by itself.
//!
//! A card never takes the focus from a text field or a modal, nor from somebody who is typing: it waits until no key
//! came for two seconds. A question that was left pending stays closed.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::config::model::OpenCards;
use crate::engine::snapshot::{ApprovalView, FormView, Notice, Snapshot};
use crate::ids::{ApprovalId, CallId, FormId};

/// How long no key must have come.
pub const QUIET: Duration = Duration::from_secs(2);
/// Calls of the person's own that are remembered.
const OWN: usize = 64;

/// See the module.
#[derive(Debug)]
pub struct Attention {
    open_cards: OpenCards,
    newest: Option<ApprovalId>,
    left: BTreeSet<ApprovalId>,
    newest_form: Option<FormId>,
    left_forms: BTreeSet<FormId>,
    own: Vec<CallId>,
    last_key: Option<Instant>,
    notices: Option<u64>,
}

impl Attention {
    /// Nothing seen yet.
    pub const fn new(open_cards: OpenCards) -> Self {
        Self {
            open_cards,
            newest: None,
            left: BTreeSet::new(),
            newest_form: None,
            left_forms: BTreeSet::new(),
            own: Vec::new(),
            last_key: None,
            notices: None,
        }
    }

    /// A key was pressed.
    pub const fn key(&mut self, at: Instant) {
        self.last_key = Some(at);
    }

    /// The person made this call.
    pub fn own_call(&mut self, call: CallId) {
        if self.own.len() >= OWN {
            self.own.remove(0);
        }
        self.own.push(call);
    }

    /// The person has seen this question and dealt with it, or left it.
    pub fn leave(&mut self, id: ApprovalId) {
        self.left.insert(id);
    }

    /// The person has seen this question of a server.
    pub fn leave_form(&mut self, id: FormId) {
        self.left_forms.insert(id);
    }

    /// The person has left everything that waits.
    pub fn leave_all(&mut self, snapshot: &Snapshot) {
        self.left.extend(snapshot.approvals.iter().map(|approval| approval.id));
        self.left_forms.extend(snapshot.forms.iter().map(|form| form.id));
    }

    /// True when there is a question that was not there before. Counts it as seen.
    pub fn take_new(&mut self, snapshot: &Snapshot) -> bool {
        self.left.retain(|id| snapshot.approvals.iter().any(|approval| approval.id == *id));
        self.left_forms.retain(|id| snapshot.forms.iter().any(|form| form.id == *id));
        let newest = snapshot.approvals.iter().map(|approval| approval.id).max();
        let newest_form = snapshot.forms.iter().map(|form| form.id).max();
        let new = newest > self.newest || newest_form > self.newest_form;
        self.newest = newest.max(self.newest);
        self.newest_form = newest_form.max(self.newest_form);
        new
    }

    /// Notices that were not there before, oldest first. Counts them as seen.
    pub fn take_notices<'s>(&mut self, snapshot: &'s Snapshot) -> Vec<&'s Notice> {
        let new: Vec<_> = snapshot.notices.iter().filter(|notice| Some(notice.sequence) > self.notices).collect();
        self.notices = new.iter().map(|notice| notice.sequence).max().max(self.notices);
        new
    }

    /// The question whose card opens by itself now, provided nothing else has the focus.
    pub fn to_open(&self, snapshot: &Snapshot, at: Instant) -> Option<Arc<ApprovalView>> {
        let mut open = self.candidates(snapshot);
        if let Some(own) = open.clone().find(|approval| self.own.contains(&approval.call)) {
            return Some(own.clone());
        }
        let quiet = self.last_key.is_none_or(|key| at.saturating_duration_since(key) >= QUIET);
        if self.open_cards == OpenCards::Auto && quiet { open.next().cloned() } else { None }
    }

    /// The server's question whose form opens by itself now, provided nothing else has the focus. During a call of the
    /// person's own it does so at once. `over`: the call of a card that would make room; then only what belongs to that
    /// call opens.
    pub fn form_to_open(&self, snapshot: &Snapshot, (at, over): (Instant, Option<&CallId>)) -> Option<FormId> {
        let open = || self.forms(snapshot, over);
        let own = |form: &FormView| form.during.iter().any(|during| self.own.contains(&during.call));
        if let Some(own) = open().find(|form| own(form)) {
            return Some(own.id);
        }
        let quiet = self.last_key.is_none_or(|key| at.saturating_duration_since(key) >= QUIET);
        if self.open_cards == OpenCards::Auto && quiet { open().next().map(|form| form.id) } else { None }
    }

    /// When something may open by itself that may not now; `over` as for [`Self::form_to_open`].
    pub fn wake_at(&self, snapshot: &Snapshot, over: Option<&CallId>) -> Option<Instant> {
        if self.open_cards != OpenCards::Auto {
            return None;
        }
        // Over a card no other card opens: what cannot open asks for no wake, or an idle screen would never rest.
        let card = over.is_none() && self.candidates(snapshot).next().is_some();
        if !card && self.forms(snapshot, over).next().is_none() {
            return None;
        }
        self.last_key.map(|key| key + QUIET)
    }

    /// Questions of servers that were not left, with `over` only those of that call and of none.
    fn forms<'s>(
        &'s self,
        snapshot: &'s Snapshot,
        over: Option<&'s CallId>,
    ) -> impl Iterator<Item = &'s Arc<FormView>> {
        let belongs = move |form: &FormView| form.during.iter().all(|d| over.is_none_or(|over| d.call == *over));
        snapshot.forms.iter().filter(move |form| !self.left_forms.contains(&form.id) && belongs(form))
    }

    fn candidates<'s>(&'s self, snapshot: &'s Snapshot) -> impl Iterator<Item = &'s Arc<ApprovalView>> + Clone {
        snapshot.approvals.iter().filter(|approval| !self.left.contains(&approval.id))
    }
}
