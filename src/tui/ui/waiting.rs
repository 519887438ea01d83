//! What waits for the person: the keys of an open question, opening what waits longest, and asking before all is left.

use std::time::{Duration, Instant};

use crossterm::event::KeyEvent;

use super::Ui;
use crate::engine::snapshot::{CallPhase, Snapshot};
use crate::ids::CallId;
use crate::tui::act::come_back;
use crate::tui::format::plural;
use crate::tui::intent::{Effect, Intent, Question};
use crate::tui::keymap::Context;

/// So long a row has to stand under the selection before keys about it count, when no key brought it there.
const SEEN: Duration = Duration::from_millis(800);

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

impl Ui {
    /// Leaves, or asks first while calls wait or run, or something is written that was not sent.
    pub(super) fn quit(&self, snapshot: &Snapshot) -> Vec<Effect> {
        let mut detail = undone(snapshot);
        let written = self.modals.unsent() + self.returned.len();
        if written > 0 {
            let verb = if written == 1 { "is" } else { "are" };
            detail.push(format!("{} of yours {verb} not sent and will be lost.", plural(written, "text")));
        }
        if detail.is_empty() {
            return vec![Effect::Leave];
        }
        let (title, detail) = ("Leave?".into(), detail.join(" ").into());
        vec![Effect::Ask(Question { title, detail, yes: Box::new(Effect::Leave) })]
    }

    /// The engine did not take a command: what was written for it comes back.
    pub(super) fn not_sent(&mut self, call: Option<&CallId>, why: &str) -> Vec<Effect> {
        if let Some(workers) = self.modals.workers.as_mut().filter(|_| call.is_none()) {
            workers.refused(why);
        }
        let Some(call) = call else { return vec![Effect::Complain(why.into())] };
        self.modals.answers.not_sent(call);
        let draft = self.acts.not_sent(call).and_then(|act| act.draft);
        vec![draft.map_or_else(|| Effect::Complain(why.into()), |draft| come_back(&draft, why))]
    }

    /// True for a key about the selected row, when that row is another one than the person has seen. Whoever goes
    /// elsewhere has seen where that is.
    pub(super) fn meant_another(&mut self, intent: Intent, at: Instant) -> bool {
        let about_it = matches!(
            intent,
            Intent::Comment
                | Intent::EditText
                | Intent::SetStatus
                | Intent::SetPriority
                | Intent::Assign
                | Intent::MoveItem
                | Intent::Remove
                | Intent::Restore
                | Intent::StopSeat
                | Intent::ReleaseSeat
                | Intent::MakeWorker
        ) || (intent == Intent::Open && self.context() == Context::Inbox);
        self.moved = self.moved.filter(|moved| about_it && at.saturating_duration_since(*moved) < SEEN);
        self.moved.is_some()
    }
}

/// What would be given up with the program, a sentence each.
fn undone(snapshot: &Snapshot) -> Vec<String> {
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
    detail
}
