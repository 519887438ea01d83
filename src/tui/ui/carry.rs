//! Carrying out what keys and events come to, and what comes to the person by itself: the bell, notices, questions.

use std::sync::Arc;
use std::time::Instant;

use crossterm::event::KeyEvent;

use super::{Bell, Ui};
use crate::engine::command::Command;
use crate::engine::snapshot::{LogLevel, Snapshot};
use crate::ids::FormId;
use crate::text;
use crate::tool::ToolKey;
use crate::tui::card::Card;
use crate::tui::choose::{Chooser, Chosen};
use crate::tui::compose::Sheet;
use crate::tui::editor::CallEditor;
use crate::tui::intent::{Effect, Intent, Question};
use crate::tui::msg::Moment;
use crate::tui::widgets::confirm::{self, Confirm};
use crate::tui::workers::Workers;

impl Ui {
    pub(super) fn carry_out(&mut self, effect: Effect, snapshot: &Snapshot, moment: Moment, out: &mut Vec<Effect>) {
        match effect {
            Effect::Say(words) => self.status.say(words, moment.at),
            Effect::Complain(words) => self.status.complain(words),
            Effect::Show(target) => self.panes.show_target(&target),
            Effect::Ask(question) => self.ask(question, moment, out),
            Effect::Several(effects) => {
                for effect in effects {
                    self.carry_out(effect, snapshot, moment, out);
                }
            }
            Effect::OpenCard(id) => {
                if let Some(approval) = snapshot.approvals.iter().find(|approval| approval.id == id) {
                    self.modals.card = Some(Card::open(approval.clone(), moment.now, moment.at));
                    out.push(Effect::DropInput);
                }
            }
            Effect::OpenForm(id) => out.extend(self.open_form_of(id, snapshot, moment)),
            Effect::OpenWorkers(seat) => self.modals.workers = Some(Workers::of(&seat, snapshot)),
            Effect::OrderWorker(seat) => match Workers::make(&seat, snapshot) {
                Ok(workers) => self.modals.workers = Some(workers),
                Err(why) => self.status.complain(why.into()),
            },
            Effect::EditCall(key) => self.edit_call(&key, snapshot),
            Effect::Act(act) => {
                let effect = self.acts.begin(act, snapshot);
                self.carry_out(effect, snapshot, moment, out);
            }
            Effect::Choose(choice) => self.modals.chooser = Some(Chooser::open(choice)),
            // What comes back of itself waits until nothing else has the keys.
            Effect::Write(draft) if draft.failed.is_some() => self.returned.push_back(draft),
            Effect::Write(draft) => self.modals.sheet = Some(Sheet::open(*draft)),
            Effect::EditAnswer(channel) => {
                if let Some(row) = snapshot.questions.iter().find(|row| row.channel == channel && row.is_open()) {
                    self.modals.answers.open(row);
                }
            }
            Effect::Send(Command::Call { ref call, .. }) => {
                self.attention.own_call(call.clone());
                self.modals.answers.sent(call);
                out.push(effect);
            }
            Effect::Copy(_)
            | Effect::Send(_)
            | Effect::Reveal(_)
            | Effect::Bell
            | Effect::DropInput
            | Effect::Repaint
            | Effect::Suspend
            | Effect::Leave => {
                out.push(effect);
            }
        }
    }

    fn open_form_of(&mut self, id: FormId, snapshot: &Snapshot, moment: Moment) -> Option<Effect> {
        let form = snapshot.forms.iter().find(|form| form.id == id)?;
        self.attention.leave_form(id);
        self.modals.open_form(form, moment);
        Some(Effect::DropInput)
    }

    fn ask(&mut self, question: Question, moment: Moment, out: &mut Vec<Effect>) {
        self.modals.help = None;
        // A card may have come up under the fingers: what is asked over it takes longer to be answered.
        let dead = if self.modals.card.is_some() { confirm::OVER_A_CARD } else { confirm::DEAD_TIME };
        self.modals.confirm = Some(Confirm::new(question, dead, moment.at));
        out.push(Effect::DropInput);
    }

    fn edit_call(&mut self, key: &ToolKey, snapshot: &Snapshot) {
        if let Some(entry) = snapshot.catalog.get(key) {
            self.modals.editor = Some(CallEditor::open(entry.clone()));
        } else {
            let name = text::visible(&key.raw_name);
            self.status.complain(format!("{name} is not in the catalogue any more").into());
        }
    }

    /// Hands a key to the editor, the list to choose from or the sheet to write on, where one is open.
    pub(super) fn written(
        &mut self,
        intent: Option<Intent>,
        key: KeyEvent,
        (at, snapshot): (Instant, &Snapshot),
    ) -> Option<Vec<Effect>> {
        if let Some(editor) = &mut self.modals.editor {
            let outcome = editor.key(intent, key, at, snapshot);
            if outcome.close {
                self.modals.editor = None;
            }
            return Some(outcome.effects);
        }
        if let Some(chooser) = &mut self.modals.chooser {
            let chosen = chooser.key(intent, key);
            if chosen != Chosen::Goes {
                self.modals.chooser = None;
            }
            return Some(if let Chosen::One(effect) = chosen { vec![effect] } else { Vec::new() });
        }
        let sheet = self.modals.sheet.as_mut()?;
        if sheet.is_dead(at) {
            return Some(Vec::new());
        }
        let outcome = sheet.key(intent, key);
        if outcome.close {
            self.modals.sheet = None;
        }
        Some(outcome.effects)
    }

    /// Brings back what was written for a call that came to nothing, once nothing else has the keys; one thing after
    /// the other.
    pub(super) fn give_back(&mut self, at: Instant) {
        if self.modals.is_empty() && !self.panes.typing() {
            self.modals.sheet = self.returned.pop_front().map(|draft| Sheet::again(*draft, at));
        }
    }

    pub(super) fn attend(&mut self, snapshot: &Snapshot, moment: Moment, out: &mut Vec<Effect>) {
        if self.attention.take_new(snapshot) && self.bell == Bell::On {
            out.push(Effect::Bell);
        }
        for notice in self.attention.take_notices(snapshot) {
            let words: Arc<str> = text::clean(&notice.text).into();
            if let Some(workers) = self.modals.workers.as_mut().filter(|_| notice.level == LogLevel::Warn) {
                workers.refused(&words);
            }
            match notice.level {
                LogLevel::Error => self.status.complain(words),
                LogLevel::Warn => self.status.warn(words),
                LogLevel::Info | LogLevel::Debug => self.status.say(words, moment.at),
            }
        }
        if self.regions(snapshot).is_none() {
            return;
        }
        if self.may_open()
            && let Some(approval) = self.attention.to_open(snapshot, moment.at)
        {
            return self.carry_out(Effect::OpenCard(approval.id), snapshot, moment, out);
        }
        let over_card = self.over_card();
        if (self.may_open() || over_card.is_some())
            && let Some(form) = self.attention.form_to_open(snapshot, (moment.at, over_card))
        {
            self.carry_out(Effect::OpenForm(form), snapshot, moment, out);
        }
    }
}
