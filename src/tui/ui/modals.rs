//! The layers above the panes: help, a question, a server's question, an approval card, the editor of a call. The topmost has the keys.

use std::sync::Arc;
use std::time::Instant;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::engine::snapshot::{FormView, Snapshot};
use crate::ids::CallId;
use crate::tui::Draw;
use crate::tui::answer::Answers;
use crate::tui::card::{Card, CardContext};
use crate::tui::choose::Chooser;
use crate::tui::compose;
use crate::tui::editor::CallEditor;
use crate::tui::form::Sheet;
use crate::tui::keymap::Context;
use crate::tui::msg::Moment;
use crate::tui::panes::Connect;
use crate::tui::widgets::confirm::Confirm;
use crate::tui::widgets::help::Help;
use crate::tui::widgets::input::Input;
use crate::tui::workers::Workers;

/// From this height on a sheet keeps to what is below the line of views.
const HIGH_ENOUGH: u16 = 14;

/// The open layers, the topmost first.
#[derive(Debug, Default)]
pub struct Modals {
    /// The help screen.
    pub help: Option<Help>,
    /// The command line.
    pub command: Option<Input>,
    /// How an agent connects.
    pub connect: Option<Connect>,
    /// A seat's workers.
    pub workers: Option<Workers>,
    /// A yes-or-no question.
    pub confirm: Option<Confirm>,
    /// A server's question. Never over a card, nor a card over it.
    pub form: Option<Sheet>,
    /// An approval card.
    pub card: Option<Card>,
    /// The editor of a call of the person's own.
    pub editor: Option<CallEditor>,
    /// A sheet to write on.
    pub sheet: Option<compose::Sheet>,
    /// A list to choose from.
    pub chooser: Option<Chooser>,
    /// The answer to a question of the inbox, and what was written for others.
    pub answers: Answers,
    /// Forms that were left waiting, with what had been filled in.
    pub drafts: Vec<Sheet>,
}

impl Modals {
    /// True when the panes have the keys.
    pub const fn is_empty(&self) -> bool {
        self.help.is_none()
            && self.command.is_none()
            && self.connect.is_none()
            && self.workers.is_none()
            && self.confirm.is_none()
            && self.form.is_none()
            && self.card.is_none()
            && self.editor.is_none()
            && self.sheet.is_none()
            && self.chooser.is_none()
            && self.answers.sheet().is_none()
    }

    /// The call of a card that only tells how it went on, where there is no other layer.
    pub fn decided(&self) -> Option<&CallId> {
        let alone = self.help.is_none()
            && self.command.is_none()
            && self.connect.is_none()
            && self.workers.is_none()
            && self.confirm.is_none()
            && self.form.is_none()
            && self.editor.is_none()
            && self.sheet.is_none()
            && self.chooser.is_none()
            && self.answers.sheet().is_none();
        self.card.as_ref().filter(|_| alone).and_then(Card::decided)
    }

    /// Opens a form, with what had been filled in before; a card that only tells how a call went on makes room.
    pub fn open_form(&mut self, view: &Arc<FormView>, moment: Moment) {
        let draft = self.drafts.iter().position(|draft| draft.id() == view.id);
        let sheet = match draft.map(|at| self.drafts.remove(at)) {
            Some(mut draft) => {
                draft.reopen(moment.at);
                draft
            }
            None => Sheet::open(view.clone(), moment.now, moment.at),
        };
        self.card = None;
        self.form = Some(sheet);
    }

    /// Closes the form; what has been filled in is kept while its question waits, also where it is being sent.
    pub fn leave_form(&mut self) {
        self.drafts.extend(self.form.take().filter(|form| !form.is_over()));
    }

    /// Texts that were written and not sent.
    pub fn unsent(&self) -> usize {
        let written = [
            self.sheet.as_ref().is_some_and(compose::Sheet::is_changed),
            self.editor.as_ref().is_some_and(CallEditor::is_changed),
            self.workers.as_ref().is_some_and(Workers::is_changed),
        ];
        written.into_iter().filter(|written| *written).count() + self.answers.unsent()
    }

    /// Where the keys of the topmost layer are looked up.
    pub fn context(&self) -> Option<Context> {
        if self.help.is_some() {
            return Some(Context::Help);
        }
        if self.command.is_some() {
            return Some(Context::Filter);
        }
        if self.connect.is_some() {
            return Some(Context::Help);
        }
        if self.confirm.is_some() {
            return Some(Context::Confirm);
        }
        if let Some(workers) = &self.workers {
            return Some(workers.context());
        }
        if self.form.is_some() {
            return Some(Context::Form);
        }
        if let Some(card) = &self.card {
            return Some(match card.context() {
                CardContext::Keys => Context::Card,
                CardContext::Text => Context::CardReason,
                CardContext::Reading => Context::CardReading,
                CardContext::Choosing => Context::CardRemember,
                CardContext::Search => Context::Filter,
                CardContext::Editor => Context::Editor,
            });
        }
        if self.editor.is_some() {
            return Some(Context::Editor);
        }
        if self.chooser.is_some() {
            return Some(Context::Choose);
        }
        let sheet = self.sheet.as_ref().map(|_| Context::Compose);
        sheet.or_else(|| self.answers.sheet().map(|_| Context::Answer))
    }

    /// Fits all layers into `screen` and tells them what is true. Those that are written on leave header and views
    /// alone where what is below them is high enough.
    pub fn layout(&mut self, screen: Rect, body: Rect, snapshot: &Snapshot) {
        let below = if body.height >= HIGH_ENOUGH { body } else { screen };
        if let Some(sheet) = &mut self.sheet {
            sheet.layout(below);
        }
        if let Some(chooser) = &mut self.chooser {
            chooser.layout(screen);
        }
        self.answers.layout(below);
        if let Some(editor) = &mut self.editor {
            editor.layout(screen, snapshot);
        }
        if let Some(card) = &mut self.card {
            card.layout(screen, snapshot);
        }
        if let Some(form) = &mut self.form {
            form.layout(screen, snapshot);
        }
        self.drafts.retain(|draft| snapshot.forms.iter().any(|form| form.id == draft.id()));
        if let Some(workers) = &mut self.workers {
            workers.layout(below, snapshot);
        }
        if let Some(connect) = &mut self.connect {
            connect.layout(screen);
        }
        if let Some(help) = &mut self.help {
            help.layout(screen);
        }
    }

    /// The person was away: what was begun counts no more, and what decides is dead for a moment.
    pub fn interrupt(&mut self, at: Instant) {
        if let Some(confirm) = &mut self.confirm {
            confirm.interrupt(at);
        }
        if let Some(form) = &mut self.form {
            form.interrupt(at);
        }
        if let Some(card) = &mut self.card {
            card.interrupt(at);
        }
    }

    /// When a layer changes by itself.
    pub fn wake_at(&self) -> Option<Instant> {
        let card = self.card.as_ref().and_then(Card::wake_at);
        let editor = self.editor.as_ref().and_then(CallEditor::wake_at);
        let confirm = self.confirm.as_ref().and_then(Confirm::wake_at);
        let form = self.form.as_ref().and_then(Sheet::wake_at);
        card.into_iter().chain(editor).chain(confirm).chain(form).min()
    }

    /// Hands pasted text to the topmost layer, which may not want it.
    pub fn paste(&mut self, pasted: &str) {
        if let Some(command) = &mut self.command {
            command.paste(pasted);
            return;
        }
        if self.help.is_some() || self.connect.is_some() || self.confirm.is_some() {
            return;
        }
        if let Some(workers) = &mut self.workers {
            workers.paste(pasted);
        } else if let Some(form) = &mut self.form {
            form.paste(pasted);
        } else if let Some(card) = &mut self.card {
            card.paste(pasted);
        } else if let Some(editor) = &mut self.editor {
            editor.paste(pasted);
        } else if let (Some(sheet), None) = (&mut self.sheet, &self.chooser) {
            sheet.paste(pasted);
        } else {
            self.answers.paste(pasted);
        }
    }

    /// Draws all layers, the topmost last.
    pub fn render(&self, screen: Rect, buf: &mut Buffer, draw: &Draw<'_>, at: Instant) {
        if let Some(sheet) = &self.sheet {
            sheet.render(screen, buf, draw);
        }
        if let Some(chooser) = &self.chooser {
            chooser.render(screen, buf, draw);
        }
        if let Some(sheet) = self.answers.sheet() {
            sheet.render(screen, buf, draw);
        }
        if let Some(editor) = &self.editor {
            editor.render(screen, buf, draw, at);
        }
        if let Some(card) = &self.card {
            card.render(screen, buf, draw, at);
        }
        if let Some(form) = &self.form {
            form.render(screen, buf, draw, at);
        }
        if let Some(workers) = &self.workers {
            workers.render(buf, draw);
        }
        if let Some(confirm) = &self.confirm {
            confirm.render(screen, buf, draw, at);
        }
        if let Some(connect) = &self.connect {
            connect.render(screen, buf, draw);
        }
        if let Some(help) = &self.help {
            help.render(screen, buf, draw);
        }
    }
}
