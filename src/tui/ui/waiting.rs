//! What waits for the person: the keys of an open question, opening what waits longest, and asking before all is left.

use std::time::Instant;

use crossterm::event::KeyEvent;

use super::Ui;
use crate::engine::snapshot::{CallPhase, Snapshot};
use crate::tui::format::plural;
use crate::tui::intent::{Effect, Intent, Question};

impl Ui {
    /// A key while a server's question is open.
    pub(super) fn form_key(
        &mut self,
        intent: Option<Intent>,
        key: KeyEvent,
        snapshot: &Snapshot,
        at: Instant,
    ) -> Vec<Effect> {
        let Some(form) = &mut self.modals.form else { return Vec::new() };
        let outcome = form.key(intent, key, at, snapshot);
        if outcome.close {
            if form.is_filling() {
                // Whoever leaves one does not want the next one at once.
                self.attention.leave_all(snapshot);
            }
            self.modals.leave_form();
        }
        outcome.effects
    }
}

/// Opens what waits longest.
pub(super) fn oldest(snapshot: &Snapshot) -> Effect {
    match (snapshot.approvals.first(), snapshot.forms.first()) {
        (Some(approval), Some(form)) if form.asked_at < approval.asked_at => Effect::OpenForm(form.id),
        (Some(approval), _) => Effect::OpenCard(approval.id),
        (None, Some(form)) => Effect::OpenForm(form.id),
        (None, None) => Effect::Say("nothing waits for a decision".into()),
    }
}

/// Leaves, or asks first while calls wait or run.
pub(super) fn quit(snapshot: &Snapshot) -> Vec<Effect> {
    let waiting = snapshot.approvals.len();
    let running = snapshot.calls.iter().filter(|call| call.phase == CallPhase::Running).count();
    let mut detail = Vec::new();
    if waiting > 0 {
        let verb = if waiting == 1 { "waits" } else { "wait" };
        detail.push(format!("{} {verb} for a decision and will be withdrawn.", plural(waiting, "call")));
    }
    if running > 0 {
        let verb = if running == 1 { "is" } else { "are" };
        detail.push(format!("{} {verb} running; what becomes of it will be unknown.", plural(running, "call")));
    }
    if !snapshot.forms.is_empty() {
        let verb = if snapshot.forms.len() == 1 { "waits" } else { "wait" };
        detail.push(format!("{} of servers {verb} and will be cancelled.", plural(snapshot.forms.len(), "question")));
    }
    if detail.is_empty() {
        return vec![Effect::Leave];
    }
    let (title, detail) = ("Leave?".into(), detail.join(" ").into());
    vec![Effect::Ask(Question { title, detail, yes: Box::new(Effect::Leave) })]
}
