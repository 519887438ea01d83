//! The sheet in which the person answers a question, and what was written for questions that still wait.
//!
//! Owns the text. It asks before it sends and hands a call of the answering tool out: that call passes the gate and
//! the audit like everybody's. What is written is kept until the question is answered, so that nothing is lost by
//! leaving the sheet or by a call that fails.

mod draw;

use std::sync::Arc;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind};
use ratatui::layout::Rect;
use serde_json::json;

use crate::engine::command::Command;
use crate::engine::snapshot::{CallPhase, MOST_ANSWER, QuestionView, Snapshot};
use crate::ids::{CallId, ServerName};
use crate::text;
use crate::tool::Arguments;
use crate::tui::editor::plain;
use crate::tui::intent::{Effect, Intent, Question};
use crate::tui::writing::{LEFT_OUT, Writing, seen};

/// The tool that answers.
const TOOL: &str = "a2a_reply";
/// Texts that are kept while their questions wait.
const DRAFTS: usize = 16;

/// The answer to one question.
#[derive(Clone, Debug)]
pub struct Sheet {
    question: Arc<QuestionView>,
    body: Writing,
    message: Option<String>,
    /// The call that would carry it, once the person was asked.
    asked: Option<CallId>,
    /// The call that carries it.
    sent: Option<CallId>,
    /// Whether it is still among what is asked.
    there: bool,
    screen: Rect,
}

/// The sheet that is open, and those that were left.
#[derive(Clone, Debug, Default)]
pub struct Answers {
    open: Option<Sheet>,
    drafts: Vec<Sheet>,
}

impl Answers {
    /// The open sheet.
    pub const fn sheet(&self) -> Option<&Sheet> {
        self.open.as_ref()
    }

    /// Opens the sheet of a question, with what was written before.
    pub fn open(&mut self, question: &Arc<QuestionView>) {
        self.leave();
        let draft = self.drafts.iter().position(|draft| draft.question.channel == question.channel);
        let sheet = draft.map(|at| self.drafts.remove(at));
        let sheet = sheet.map(|sheet| Sheet { question: question.clone(), message: None, ..sheet });
        self.open = Some(sheet.unwrap_or_else(|| Sheet::new(question.clone())));
    }

    /// Closes the sheet; what is written is kept.
    fn leave(&mut self) {
        self.drafts.extend(self.open.take().filter(|sheet| !sheet.body.is_blank()));
        if self.drafts.len() > DRAFTS {
            self.drafts.remove(0);
        }
    }

    /// Handles a key press; `None` where no sheet is open. `intent` is what the keymap makes of it in a sheet.
    pub fn key(&mut self, intent: Option<Intent>, key: KeyEvent, snapshot: &Snapshot) -> Option<Vec<Effect>> {
        let sheet = self.open.as_mut()?;
        if key.kind == KeyEventKind::Release {
            return Some(Vec::new());
        }
        sheet.message = None;
        let mut effects = Vec::new();
        match intent {
            Some(Intent::Submit) => effects = sheet.submit(snapshot),
            Some(Intent::Back) => {
                let over = sheet.over();
                if !sheet.body.is_blank() {
                    let kept = || "what you wrote is kept: Enter goes on with it".to_owned();
                    let words = over.as_ref().map_or_else(kept, |why| format!("{why}: what you wrote was not sent"));
                    effects.push(Effect::Say(words.into()));
                }
                if over.is_some() {
                    self.open = None;
                }
                self.leave();
            }
            _ => sheet.write(key),
        }
        Some(effects)
    }

    /// A call was handed to the engine: the sheet that it carries makes room.
    pub fn sent(&mut self, call: &CallId) {
        if self.open.as_ref().is_some_and(|sheet| sheet.asked.as_ref() == Some(call)) {
            if let Some(sheet) = &mut self.open {
                sheet.sent = sheet.asked.take();
            }
            self.leave();
        }
    }

    /// The engine did not take a call: where it carried an answer, that can be sent again.
    pub fn not_sent(&mut self, call: &CallId) {
        for draft in self.drafts.iter_mut().filter(|draft| draft.sent.as_ref() == Some(call)) {
            draft.sent = None;
        }
    }

    /// Answers that were written and are not on their way.
    pub fn unsent(&self) -> usize {
        let written = |sheet: &&Sheet| sheet.sent.is_none() && !sheet.body.is_blank();
        self.drafts.iter().chain(&self.open).filter(written).count()
    }

    /// Takes pasted text.
    pub fn paste(&mut self, pasted: &str) {
        if let Some(sheet) = &mut self.open {
            sheet.paste(pasted);
        }
    }

    /// Fits the sheet to the screen.
    pub const fn layout(&mut self, screen: Rect) {
        if let Some(sheet) = &mut self.open {
            sheet.screen = screen;
        }
    }

    /// Forgets what is answered. What has to be said of calls that are over.
    pub fn follow(&mut self, snapshot: &Snapshot) -> Vec<Effect> {
        if let Some(sheet) = &mut self.open {
            sheet.follow(snapshot);
        }
        let mut effects = Vec::new();
        self.drafts.retain_mut(|draft| {
            let (said, keep) = draft.ended(snapshot);
            effects.extend(said);
            keep
        });
        effects
    }
}

impl Sheet {
    fn new(question: Arc<QuestionView>) -> Self {
        let (body, screen) = (Writing::new(""), Rect::ZERO);
        Self { question, body, message: None, asked: None, sent: None, there: true, screen }
    }

    fn follow(&mut self, snapshot: &Snapshot) {
        let now = snapshot.questions.iter().find(|row| row.channel == self.question.channel);
        self.there = now.is_some();
        if let Some(now) = now.filter(|now| !Arc::ptr_eq(now, &self.question)) {
            self.question = now.clone();
        }
    }

    /// What to say of the call that carried it, and whether what is written is still of use.
    fn ended(&mut self, snapshot: &Snapshot) -> (Option<Effect>, bool) {
        self.follow(snapshot);
        let call = self.sent.as_ref().and_then(|id| snapshot.calls.iter().rev().find(|call| call.id == *id));
        let Some(call) = call.filter(|call| call.phase.is_over()) else {
            return (None, self.there && (self.sent.is_some() || self.question.is_open()));
        };
        self.sent = None;
        if matches!(call.phase, CallPhase::Done { is_error: false }) {
            let from = text::visible(&self.question.from);
            return (Some(Effect::Say(format!("answered {from}").into())), false);
        }
        let why = match (&call.result, &call.phase) {
            (Some(result), _) => text::fit(&text::clean(&result.text), 300).into_owned(),
            (None, phase) => format!("the call was {}; the calls view says why", phase.word()),
        };
        let kept = if self.question.is_open() { "; what you wrote is kept" } else { "" };
        (Some(Effect::Complain(format!("not answered: {why}{kept}").into())), self.question.is_open())
    }

    /// Asks whether to send what is written, when nothing speaks against it; else says what does.
    fn submit(&mut self, snapshot: &Snapshot) -> Vec<Effect> {
        if let Some(why) = self.refused(snapshot) {
            self.message = Some(why);
            return Vec::new();
        }
        let ours = |name| snapshot.catalog.find(None, name).filter(|entry| entry.server.as_str() == ServerName::OURS);
        let written = json!({"channel": &*self.question.channel, "body": self.body.text().trim_end()}).to_string();
        let (Some(entry), Ok(arguments)) = (ours(TOOL), Arguments::parse(&written)) else {
            self.message = Some("not sent: the tool that answers is not there".to_owned());
            return Vec::new();
        };
        let call = CallId::fresh();
        self.asked = Some(call.clone());
        let (from, to) = (text::visible(&self.question.from), text::visible(self.question.to.as_str()));
        let (title, detail) = (
            format!("Answer {from}?"),
            format!("{from} gets this as the answer to what it asked {to}, and is told that it comes from you."),
        );
        let send = Effect::Send(Command::Call { call, tool: entry.reference(), arguments });
        vec![Effect::Ask(Question { title: title.into(), detail: detail.into(), yes: Box::new(send) })]
    }

    /// Why nothing can be sent any more.
    fn over(&self) -> Option<String> {
        let answered = self.question.answer.as_ref();
        let answered = answered.map(|answer| format!("{} has answered meanwhile", text::visible(&answer.by)));
        answered.or_else(|| (!self.there).then(|| "the question is not there any more".to_owned()))
    }

    /// Why nothing can be sent now.
    fn refused(&self, snapshot: &Snapshot) -> Option<String> {
        if snapshot.read_only {
            return Some("read-only: nobody can answer anything here".to_owned());
        }
        if self.sent.is_some() {
            return Some("the answer is on its way".to_owned());
        }
        if let Some(over) = self.over() {
            return Some(over);
        }
        self.body.is_blank().then(|| "there is nothing to send yet".to_owned())
    }

    fn write(&mut self, key: KeyEvent) {
        if !(matches!(key.code, KeyCode::Char(_)) && plain(key) && self.is_full(1)) {
            self.body.key(key);
        }
    }

    fn paste(&mut self, pasted: &str) {
        let (seen, is_less) = seen(pasted);
        self.message = is_less.then(|| LEFT_OUT.to_owned());
        if !self.is_full(seen.chars().count()) {
            self.body.insert(&seen);
        }
    }

    fn is_full(&mut self, more: usize) -> bool {
        let full = self.body.length() + more > MOST_ANSWER;
        if full {
            self.message = Some(format!("an answer has at most {MOST_ANSWER} characters: nothing was added"));
        }
        full
    }
}
