//! What a person decides: single questions and several at once, remembered decisions, stopped seats; and what
//! changed rules mean for what waits.

use std::sync::Arc;
use std::time::Duration;

use super::Core;
use crate::clock::Timestamp;
use crate::config::model::ApprovalSettings;
use crate::engine::command::{GrantScope, Remember, Shown, Verdict};
use crate::engine::gate::desk::{Decided, Ending, Question, Surroundings};
use crate::engine::gate::standing::{Standing, asks_for_more};
use crate::engine::snapshot::{ApprovalView, CallPhase, CallView, LogLevel, StoppedSeat, Withdrawal};
use crate::ids::{GrantId, SeatHandle};

/// Seats that can be stopped at one time.
const STOPPED: usize = 1_024;

impl Core {
    /// A call asks for a person.
    pub(super) fn ask(&mut self, question: Question, mut view: CallView) {
        if self.snapshot.stopping {
            // The call waits for the one end of its question; everything is ending.
            let _ = question.end.send(Ending::Withdrawn(Withdrawal::Shutdown));
            return;
        }
        let entry = &question.entry;
        let server = self.servers.iter().find(|server| server.declared.connection == entry.connection);
        let digest = question.arguments.digest();
        let around = Surroundings {
            credentials: server.map(|server| server.declared.credentials.clone()).unwrap_or_default(),
            history: self.calls.history(entry, digest),
            change: self.pins.change(entry).map(Arc::new),
            repeat: self.calls.repeat(&view, entry, digest),
        };
        let shown = question.arguments.for_person(&self.fixed.pipeline.redactor);
        let id = self.desk.ask(question, around, shown, Timestamp::now());
        view.phase = CallPhase::Waiting(id);
        self.put_call(view);
        // Catalog, rules and seats may have changed between the call's look at them and now.
        self.desk.follow(&self.snapshot.catalog);
        self.follow_rules();
        self.withdraw_stopped();
    }

    /// A call ended: the other questions about its tool say so.
    pub(super) fn refresh_histories(&mut self) {
        let calls = &self.calls;
        self.desk.refresh(|view| calls.history(&view.entry, view.arguments.digest()));
    }

    /// A person's word on one question.
    pub(super) fn decide(&mut self, shown: Shown, verdict: Verdict) {
        self.dirty = true;
        let view = self.desk.view(shown.approval).filter(|view| view.shown() == shown).cloned();
        let note = match (&verdict, &view) {
            (Verdict::ApproveAndRemember(remember), Some(view)) => match self.remember(view, *remember) {
                Ok(note) => Some(note),
                Err(refused) => return self.notice(LogLevel::Warn, &format!("nothing was done: {refused}")),
            },
            _ => None,
        };
        let approves = !matches!(verdict, Verdict::Deny { .. });
        let decided = self.desk.decide(shown, verdict, note.as_ref());
        if let Some(view) = view.filter(|_| approves && decided == Decided::Done) {
            self.approved(&view);
        }
        self.tell(decided);
    }

    /// One word on several questions.
    pub(super) fn decide_all(&mut self, all: &[Shown], verdict: &Verdict) {
        self.dirty = true;
        // Of several approvals all are about one definition.
        let first = all.first().and_then(|shown| self.desk.view(shown.approval)).cloned();
        let ended = self.desk.decide_all(all, verdict);
        if let (Ok(_), Verdict::Approve, Some(view)) = (&ended, verdict, first) {
            self.approved(&view);
        }
        match ended {
            Ok(ended) if ended < all.len() => {
                let text = format!("{ended} of {} were decided; the others had already ended", all.len());
                self.notice(LogLevel::Info, &text);
            }
            Ok(_) => {}
            Err(decided) => self.tell(decided),
        }
    }

    /// A person has agreed to this definition.
    fn approved(&mut self, view: &ApprovalView) {
        self.unsaved_pins = true;
        if self.pins.approve(&view.entry, Timestamp::now()) {
            self.save_pins();
            self.stand();
            self.judge_catalog();
        }
    }

    fn tell(&mut self, decided: Decided) {
        match decided {
            Decided::Done => {}
            Decided::TooLate => self.notice(LogLevel::Warn, "your decision came too late: nothing was done"),
            Decided::Differs => {
                self.notice(LogLevel::Warn, "nothing was done: what you saw is not any more what waits; look again");
            }
            Decided::Refused(why) => self.notice(LogLevel::Warn, &format!("nothing was done: {why}")),
        }
    }

    /// Makes a grant of a decision. What was remembered, for the audit.
    fn remember(&mut self, view: &ApprovalView, remember: Remember) -> Result<Arc<str>, String> {
        let person = self.fixed.pipeline.person.clone();
        let id = self.grants.give(view, remember, &person, Timestamp::now()).map_err(|error| error.to_string())?;
        self.stand();
        let scope = match remember.scope {
            GrantScope::ThisCall => "exactly this call",
            GrantScope::ThisTool => "this tool",
        };
        let span = remember.span.map_or_else(|| "this session".to_owned(), words);
        tracing::info!(grant = id.0, tool = %view.entry.name, scope, span, "grant_given");
        Ok(format!("remembered as grant {} for {scope}, {span}", id.0).into())
    }

    pub(super) fn revoke(&mut self, id: GrantId) {
        self.dirty = true;
        if self.grants.revoke(id) {
            tracing::info!(grant = id.0, "grant_revoked");
            self.stand();
        } else {
            self.notice(LogLevel::Warn, &format!("nothing was done: grant {} had already ended", id.0));
        }
    }

    pub(super) fn grant_used(&mut self, id: GrantId) {
        self.grants.used(id);
    }

    /// Denies what waits of a seat and refuses its calls until it is released.
    pub(super) fn stop_seat(&mut self, seat: SeatHandle) {
        self.dirty = true;
        if self.snapshot.stopped_seats.iter().any(|stopped| stopped.seat == seat) {
            return;
        }
        if self.snapshot.stopped_seats.len() >= STOPPED {
            return self.notice(LogLevel::Warn, "nothing was done: too many seats are stopped; release some");
        }
        tracing::warn!(%seat, by = %self.fixed.pipeline.person, "seat_stopped");
        self.snapshot.stopped_seats.push(StoppedSeat { seat, since: Timestamp::now(), refused: 0 });
        self.stand();
        self.withdraw_stopped();
    }

    pub(super) fn release_seat(&mut self, seat: &SeatHandle) {
        self.dirty = true;
        self.snapshot.stopped_seats.retain(|stopped| stopped.seat != *seat);
        self.gone.remove(seat);
        tracing::info!(%seat, by = %self.fixed.pipeline.person, "seat_released");
        self.stand();
    }

    pub(super) fn count_stopped(&mut self, seat: &SeatHandle) {
        if let Some(stopped) = self.snapshot.stopped_seats.iter_mut().find(|stopped| stopped.seat == *seat) {
            stopped.refused = stopped.refused.saturating_add(1);
        }
    }

    fn withdraw_stopped(&mut self) {
        let stopped = &self.snapshot.stopped_seats;
        self.desk.withdraw_where(|view| {
            let is_stopped = stopped.iter().any(|stopped| Some(&stopped.seat) == view.caller.seat());
            is_stopped.then_some(Withdrawal::SeatStopped)
        });
        self.withdraw_forms_of_stopped();
    }

    /// Takes new rules: later calls are judged by them, and what waits is judged anew where they became stricter.
    pub(super) fn settings_changed(&mut self, settings: ApprovalSettings) {
        self.outlets.settings.send_replace(Arc::new(settings));
        self.judge_catalog();
        self.follow_rules();
        self.dirty = true;
    }

    fn follow_rules(&mut self) {
        let settings = self.outlets.settings.borrow().clone();
        let standing = self.outlets.standing.borrow().clone();
        self.desk.judge_anew(|view| asks_for_more(&standing, &settings, &view.entry, view.caller.seat(), view.tier));
    }

    /// What the policy says about each tool, for the snapshot: of a seat's own for that seat.
    pub(super) fn judge_catalog(&mut self) {
        let settings = self.outlets.settings.borrow().clone();
        let standing = self.outlets.standing.borrow().clone();
        let entries = self.snapshot.catalog.entries().iter();
        let answers = entries.map(|entry| (entry.key(), standing.answer(&settings, entry, entry.seat.as_ref())));
        self.snapshot.policies = Arc::new(answers.collect());
    }

    /// Hands what was decided earlier to the calls.
    pub(super) fn stand(&mut self) {
        let person = &self.fixed.pipeline.person;
        let stopped = self.snapshot.stopped_seats.iter().map(|stopped| (stopped.seat.clone(), person.clone()));
        let standing = Standing {
            grants: self.grants.all().to_vec(),
            stopped: stopped.collect(),
            milder: self.pins.milder(),
            changed: self.pins.changed(),
        };
        self.outlets.standing.send_replace(Arc::new(standing));
        self.dirty = true;
    }
}

/// `10 min`, `1 h`.
fn words(span: Duration) -> String {
    match span.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds if seconds.is_multiple_of(3600) => format!("{} h", seconds / 3600),
        seconds => format!("{} min", seconds / 60),
    }
}
