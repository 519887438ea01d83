//! A server's question on the screen: who asks, its words, a form to fill in; answered, declined, cancelled, or left
//! waiting.
//!
//! It is no approval and looks like none: its border is thin, the server's words stand behind a quoting mark, and none of
//! its keys does anything on a card. Keys are dead for a moment after it appears. A question that ends while it is on the
//! screen stays there and says so, so that what is typed on means nothing else.
//!
//! | file | owns |
//! |---|---|
//! | `field` | what a person has put into one field so far, and the keys that change it |
//! | `draw` | putting it on the screen |

mod draw;
mod field;

use std::sync::Arc;
use std::time::Instant;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::layout::Rect;

use super::card::{DEAD_TIME, KEY_REPEAT, Outcome, UNCONFIRMED};
use super::intent::{Effect, Intent};
use super::theme::Role;
use crate::clock::Timestamp;
use crate::engine::command::{Command, FormAnswer};
use crate::engine::snapshot::{FormView, Snapshot};
use crate::ids::FormId;
use crate::tool::elicit::{Entered, Wrong};
use field::Filling;

/// What the engine says when it did not take an answer, and when there was no question for it any more.
const REFUSED: &str = "nothing was sent:";
const TOO_LATE: &str = "your answer came too late";

/// See the module.
#[derive(Clone, Debug)]
pub struct Sheet {
    view: Arc<FormView>,
    fields: Vec<Filling>,
    focus: usize,
    wrong: Vec<Wrong>,
    message: Option<String>,
    phase: Phase,
    /// The newest notice when an answer was handed over.
    told: Option<u64>,
    live_at: Instant,
    last_key: Option<(KeyCode, KeyModifiers, Instant)>,
    /// Place in the queue from 1, and its length.
    place: (usize, usize),
    opened: (Timestamp, Instant),
    screen: Rect,
    /// The first row of the middle that is shown; `None` where it follows the focus.
    scrolled: Option<usize>,
}

/// Where the answer stands.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Phase {
    /// It is filled in.
    Filling,
    /// Handed to the engine; the snapshot has not confirmed it.
    Sent { word: Word, at: Instant },
    /// The question waits no more.
    Over { title: &'static str, text: &'static str, role: Role, word: Option<Word> },
}

/// What the person said.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Word {
    Accept,
    Decline,
    Cancel,
}

impl Sheet {
    /// The form of a question. `now` and `at` are the same moment by two clocks.
    pub fn open(view: Arc<FormView>, now: Timestamp, at: Instant) -> Self {
        Self {
            fields: view.form.fields.iter().map(Filling::of).collect(),
            view,
            focus: 0,
            wrong: Vec::new(),
            message: None,
            phase: Phase::Filling,
            told: None,
            live_at: at + DEAD_TIME,
            last_key: None,
            place: (0, 0),
            opened: (now, at),
            screen: Rect::ZERO,
            scrolled: Some(0),
        }
    }

    /// The same form once more after it was left: what was filled in is still there, and keys are dead for a moment.
    pub fn reopen(&mut self, at: Instant) {
        self.live_at = at + DEAD_TIME;
        self.message = None;
        self.last_key = None;
    }

    /// The question that is shown.
    pub fn id(&self) -> FormId {
        self.view.id
    }

    /// True while an answer can still be given.
    pub const fn is_filling(&self) -> bool {
        matches!(self.phase, Phase::Filling)
    }

    /// True once its question waits no more.
    pub const fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Over { .. })
    }

    /// Fits it to the screen and takes in what happened to its question. Call it whenever either changed.
    pub fn layout(&mut self, screen: Rect, snapshot: &Snapshot) {
        self.screen = screen;
        let place = snapshot.forms.iter().position(|waiting| waiting.id == self.view.id);
        self.place = (place.map_or(0, |place| place + 1), snapshot.forms.len());
        let told = self.told;
        let newer = || snapshot.notices.iter().rev().take_while(|notice| Some(notice.sequence) > told);
        let said = |start: &str| newer().map(|notice| &notice.text).find(|text| text.starts_with(start));
        match (place, &self.phase) {
            (None, Phase::Sent { word, .. }) => self.phase = over(Some(*word)),
            (None, Phase::Filling) => self.phase = over(None),
            (None, Phase::Over { word: Some(_), .. }) if said(TOO_LATE).is_some() => self.phase = over(None),
            (Some(_), Phase::Sent { .. }) => {
                if let Some(text) = said(REFUSED) {
                    self.message = Some(text.as_ref().to_owned());
                    self.phase = Phase::Filling;
                }
            }
            (_, Phase::Over { .. }) | (Some(_), Phase::Filling) => {}
        }
    }

    /// Handles a key press. `intent` is what the keymap makes of it in the form's context.
    pub fn key(&mut self, intent: Option<Intent>, key: KeyEvent, at: Instant, snapshot: &Snapshot) -> Outcome {
        if key.kind == KeyEventKind::Release {
            return Outcome::default();
        }
        let held = self.is_held(key, at);
        match &self.phase {
            Phase::Over { word, .. } => {
                let plain = !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
                let ends = matches!(key.code, KeyCode::Enter | KeyCode::Char('q')) && plain && word.is_some();
                let close = !held && (intent == Some(Intent::Back) || ends);
                return Outcome { close, effects: Vec::new() };
            }
            Phase::Sent { at: sent, .. } if at.saturating_duration_since(*sent) >= UNCONFIRMED => {
                self.phase = Phase::Filling;
            }
            Phase::Sent { .. } => return Outcome { close: intent == Some(Intent::Back), effects: Vec::new() },
            Phase::Filling => {}
        }
        match intent {
            Some(Intent::Back) => return Outcome { close: true, effects: Vec::new() },
            _ if at < self.live_at => {}
            Some(Intent::Submit | Intent::Decline | Intent::Dismiss) if held => {}
            Some(Intent::Submit) => return self.submit(at, snapshot),
            Some(Intent::Decline) => return self.send(Word::Decline, FormAnswer::Decline, (at, snapshot)),
            Some(Intent::Dismiss) => return self.send(Word::Cancel, FormAnswer::Cancel, (at, snapshot)),
            Some(Intent::Next) => self.go(1),
            Some(Intent::Previous) => self.go(self.fields.len().saturating_sub(1)),
            Some(intent @ (Intent::PageUp | Intent::PageDown)) => self.scroll(intent),
            intent => self.edit(intent, key),
        }
        Outcome::default()
    }

    /// Takes pasted text, into the text field that has the focus.
    pub fn paste(&mut self, text: &str) {
        if let (Phase::Filling, Some(field)) = (&self.phase, self.fields.get_mut(self.focus)) {
            self.wrong.retain(|wrong| wrong.field != self.focus);
            field.paste(text);
        }
    }

    /// The person was away: keys are dead for a moment, as on a form that has just appeared.
    pub fn interrupt(&mut self, at: Instant) {
        self.live_at = at + DEAD_TIME;
    }

    /// When it changes by itself next: its keys come to life, a second of the countdown passes.
    pub fn wake_at(&self) -> Option<Instant> {
        let at = Instant::now();
        let (now, opened) = self.opened;
        let waited = now.plus(at.saturating_duration_since(opened)).since(self.view.asked_at);
        let second = at + std::time::Duration::from_millis(1000_u64.saturating_sub(u64::from(waited.subsec_millis())));
        let over = matches!(self.phase, Phase::Over { .. });
        [self.live_at, second].into_iter().filter(|moment| *moment > at && !over).min()
    }

    fn is_held(&mut self, key: KeyEvent, at: Instant) -> bool {
        let same = |(code, modifiers, last): (KeyCode, KeyModifiers, Instant)| {
            code == key.code && modifiers == key.modifiers && at.saturating_duration_since(last) < KEY_REPEAT
        };
        let held = key.kind == KeyEventKind::Repeat || self.last_key.is_some_and(same);
        self.last_key = Some((key.code, key.modifiers, at));
        held
    }

    fn go(&mut self, by: usize) {
        if !self.fields.is_empty() {
            self.focus = (self.focus + by) % self.fields.len();
        }
        self.scrolled = None;
    }

    fn scroll(&mut self, intent: Intent) {
        let page = self.window().max(2) - 1;
        let top = self.top();
        self.scrolled = Some(if intent == Intent::PageUp { top.saturating_sub(page) } else { top + page });
        self.scrolled = Some(self.top());
    }

    fn edit(&mut self, intent: Option<Intent>, key: KeyEvent) {
        let (Some(filling), Some(field)) = (self.fields.get_mut(self.focus), self.view.form.fields.get(self.focus))
        else {
            return;
        };
        if filling.key(field, intent, key) {
            self.message = None;
            self.wrong.retain(|wrong| wrong.field != self.focus);
            self.scrolled = None;
        }
    }

    /// Sends what is filled in, when it fits; else says what does not and goes there.
    fn submit(&mut self, at: Instant, snapshot: &Snapshot) -> Outcome {
        let entered: Vec<Entered> = self.fields.iter().map(Filling::entered).collect();
        match self.view.form.compose(&entered) {
            Ok(_) => self.send(Word::Accept, FormAnswer::Accept(entered), (at, snapshot)),
            Err(wrong) => {
                self.focus = wrong.first().map_or(self.focus, |first| first.field);
                self.message = Some("not sent: see the marked fields".to_owned());
                self.wrong = wrong;
                self.scrolled = None;
                Outcome::default()
            }
        }
    }

    fn send(&mut self, word: Word, answer: FormAnswer, (at, snapshot): (Instant, &Snapshot)) -> Outcome {
        self.wrong.clear();
        self.message = None;
        self.phase = Phase::Sent { word, at };
        self.told = snapshot.notices.last().map(|notice| notice.sequence);
        Outcome { close: false, effects: vec![Effect::Send(Command::AnswerForm(self.view.id, answer))] }
    }
}

/// What became of a question that waits no more, as far as the screen knows it.
const fn over(word: Option<Word>) -> Phase {
    let (title, text, role) = match word {
        Some(Word::Accept) => ("Answered", "your answer was taken", Role::Ready),
        Some(Word::Decline) => ("Declined", "the server is told that you declined", Role::Text),
        Some(Word::Cancel) => ("Cancelled", "the server is told that nobody chose", Role::Text),
        None => (
            "Over",
            "it waits no more: its time or its call is over, or the server took it back; nothing was sent",
            Role::Warning,
        ),
    };
    Phase::Over { title, text, role, word }
}
