//! The keys that decide nothing: reading, searching, editing the arguments, choosing what to remember, stopping a
//! seat. After an edit or a choice the question stands there anew: unseen where it changed, dead for a moment.

use crossterm::event::{KeyCode, KeyEventKind};

use super::body::View;
use super::decide::{Phase, Press, meant};
use super::{Card, DEAD_TIME, Outcome, plan};
use crate::engine::gate::diff::diff;
use crate::engine::snapshot::{Snapshot, Tier};
use crate::tool::Arguments;
use crate::tui::editor::{CallEditor, Edit, pretty};
use crate::tui::format::plural;
use crate::tui::intent::{Effect, Intent, Question};

impl Card {
    /// A key of the card's table that neither decides nor leads to another question.
    pub(super) fn other_key(&mut self, intent: Intent, press: Press, snapshot: &Snapshot) -> Outcome {
        match intent {
            Intent::AllArguments => self.turn(View::Arguments),
            Intent::Definition => self.turn(View::Definition),
            Intent::Search => self.body.search.open(),
            Intent::NextMatch | Intent::PreviousMatch => {
                self.message = Some(self.body.find(intent).into());
                self.measure_again();
            }
            Intent::EditArguments => self.begin_edit(press, snapshot),
            Intent::Remember => self.begin_choice(press, snapshot),
            Intent::Choose(number) => self.choose(number, press),
            Intent::StopSeat => return self.ask_to_stop(press, snapshot),
            intent => self.scroll_by(intent),
        }
        Outcome::default()
    }

    /// Shows a part of the question on all of the card, or the whole card again.
    pub(super) fn turn(&mut self, view: View) {
        self.body.turn(view);
        self.measure_again();
    }

    /// True when nothing about the question can be changed now; says why.
    fn is_fixed(&mut self, press: Press, snapshot: &Snapshot) -> bool {
        if press.repeat || press.at < self.live_at || self.is_settled(press.at) {
            return true;
        }
        if snapshot.read_only {
            self.message = Some("read-only: nobody can decide here".into());
        }
        snapshot.read_only
    }

    fn begin_edit(&mut self, press: Press, snapshot: &Snapshot) {
        if self.is_fixed(press, snapshot) {
            return;
        }
        let hidden = self.shown.arguments.hidden();
        if hidden > 0 {
            let values = plural(hidden, "value");
            self.message = Some(format!("cannot be edited: {values} in it are secrets that are not shown here").into());
            return;
        }
        let shown = self.shown.arguments.shared();
        let text = self.plan.edited.as_ref().map_or(&*shown, Arguments::canonical);
        match CallEditor::revise(self.shown.entry.clone(), text) {
            Some(mut editor) => {
                editor.layout(self.frame.screen, snapshot);
                self.plan.editor = Some(Box::new(editor));
                self.phase = Phase::Asking;
            }
            None => self.message = Some("too long to be edited here: deny it and say what should be different".into()),
        }
    }

    /// A key while the arguments are edited.
    pub(super) fn editor_key(&mut self, intent: Option<Intent>, press: Press, snapshot: &Snapshot) {
        let Some(editor) = &mut self.plan.editor else { return };
        if matches!(self.phase, Phase::Over(_)) {
            // What is still being typed must not mean anything else: only leaving counts.
            if intent == Some(Intent::Back) || press.key.code == KeyCode::Esc {
                self.plan.editor = None;
                self.layout(self.frame.screen, snapshot);
            }
            return;
        }
        match editor.edit_key(intent, press.key) {
            Edit::Goes => {}
            Edit::Left => {
                self.plan.editor = None;
                self.live_at = press.at + DEAD_TIME;
            }
            Edit::Done(arguments, unchecked) => {
                self.plan.editor = None;
                self.take_edit(arguments, unchecked);
                self.live_at = press.at + DEAD_TIME;
            }
        }
    }

    /// Shows the difference that an edit makes: a new value, all of it unseen.
    fn take_edit(&mut self, arguments: Arguments, unchecked: Option<String>) {
        // What would be sent is shown, with what the engine puts in.
        let arguments = if self.shown.confirm_set { arguments.with_confirm() } else { arguments };
        if arguments.digest() == self.shown.arguments.digest() {
            self.plan.edited = None;
            self.body.forget_edit();
            self.message = Some("nothing was changed: the arguments are as they were sent".into());
        } else {
            let old = pretty(self.shown.arguments.canonical());
            self.body.edit(&diff(&old, &pretty(arguments.canonical())));
            self.plan.remember = None;
            self.plan.edited = Some(arguments);
        }
        self.plan.unchecked = unchecked.filter(|_| self.plan.edited.is_some());
        self.phase = Phase::Asking;
        self.measure_again();
    }

    fn begin_choice(&mut self, press: Press, snapshot: &Snapshot) {
        if self.is_fixed(press, snapshot) {
            return;
        }
        if self.shown.tier == Tier::Type {
            self.message = Some("a decision that takes typing the tool's name is never remembered".into());
        } else if self.shown.caller.is_worker() {
            self.message = Some("a decision about a worker's call is never remembered".into());
        } else if self.plan.edited.is_some() {
            self.message = Some("an edited call is approved once: it cannot be remembered".into());
        } else {
            self.turn(View::Choices);
        }
    }

    fn choose(&mut self, number: u8, press: Press) {
        if self.body.view != View::Choices || press.repeat {
            return;
        }
        self.plan.remember = plan::choice(number);
        self.turn(View::Choices);
        self.phase = Phase::Asking;
        self.live_at = press.at + DEAD_TIME;
    }

    fn ask_to_stop(&mut self, press: Press, snapshot: &Snapshot) -> Outcome {
        if self.is_fixed(press, snapshot) {
            return Outcome::default();
        }
        self.phase = Phase::Asking;
        match self.shown.caller.seat() {
            Some(seat) => {
                let effects = vec![Effect::Ask(Question::stop_seat(seat, snapshot))];
                Outcome { close: false, effects }
            }
            None => {
                self.message = Some("this is a call of your own: there is no seat to stop".into());
                Outcome::default()
            }
        }
    }

    /// A key while something to search for is written.
    pub(super) fn search_key(&mut self, intent: Option<Intent>, press: Press) {
        match meant(intent, press.key.code) {
            _ if press.key.kind == KeyEventKind::Release => {}
            KeyCode::Esc => _ = self.body.search.leave(),
            KeyCode::Enter => {
                self.body.search.keep();
                self.message = Some(self.body.find(Intent::NextMatch).into());
            }
            _ => self.body.search.key(press.key),
        }
        self.measure_again();
    }
}
