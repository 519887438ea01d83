//! A sheet to write on: a comment, a new work item, another text for one. What is written becomes one call of a tool of
//! the company's own, when the person sends it; nothing is lost when that call fails.
//!
//! The screen's root opens it, gives it keys and closes it. It knows nothing of what the texts mean.

mod draw;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::{Duration, Instant};

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind};
use ratatui::layout::Rect;
use serde_json::Value;

use super::act::Act;
use super::card::Outcome;
use super::editor::plain;
use super::intent::{Effect, Intent};
use super::widgets::input::Input;
use super::writing::{LEFT_OUT, Writing, seen};

/// The longest text, in bytes: what can be edited smoothly.
const MAX_BYTES: usize = 256 << 10;
/// How long a sheet that comes back by itself takes no keys: those on their way were meant for something else.
const DEAD_TIME: Duration = Duration::from_millis(500);

/// What there is to write.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Draft {
    /// One line.
    pub title: Arc<str>,
    /// What is to be filled in.
    pub blanks: Vec<Blank>,
    /// The call that it becomes: with the arguments that are not written.
    pub act: Act,
    /// Why it was not done, when it has been tried.
    pub failed: Option<Arc<str>>,
    /// The blank that the person was in then.
    pub place: Option<usize>,
}

/// One thing to fill in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Blank {
    /// The argument of the tool.
    pub argument: &'static str,
    /// For people.
    pub label: &'static str,
    /// What stands there at the beginning. Where it is optional, it is sent only when it is different then.
    pub before: Arc<str>,
    /// What stands there now.
    pub text: Arc<str>,
    /// How much of it there may be.
    pub size: Size,
    /// Whether it may stay empty.
    pub need: Need,
}

/// How much can be written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Size {
    /// One line.
    Line,
    /// As many lines as there are.
    Text,
}

/// Whether something has to be written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Need {
    /// It has to be there.
    Required,
    /// It may be left out.
    Optional,
}

impl Blank {
    /// One line that has to be there.
    pub fn line(argument: &'static str, text: &str) -> Self {
        Self::new(argument, (text, Size::Line, Need::Required))
    }

    /// A text that may be left out, or left as it was.
    pub fn text(argument: &'static str, text: &str) -> Self {
        Self::new(argument, (text, Size::Text, Need::Optional))
    }

    /// The same, when it has to be there.
    #[must_use]
    pub const fn required(mut self) -> Self {
        self.need = Need::Required;
        self
    }

    /// The same, when it is sent only where it is different.
    #[must_use]
    pub const fn optional(mut self) -> Self {
        self.need = Need::Optional;
        self
    }

    fn new(argument: &'static str, (text, size, need): (&str, Size, Need)) -> Self {
        let label = if argument == "body" { "text" } else { argument };
        Self { argument, label, before: text.into(), text: text.into(), size, need }
    }
}

/// The sheet while it is open.
#[derive(Clone, Debug)]
pub struct Sheet {
    draft: Draft,
    fields: Vec<Field>,
    /// What the fields held at the very beginning: a field may not hold all that a text does.
    before: Vec<String>,
    focus: usize,
    message: Option<Arc<str>>,
    /// Esc was pressed with something written: the next key answers.
    leaving: bool,
    /// Keys count from here on.
    live_at: Option<Instant>,
    screen: Rect,
}

#[derive(Clone, Debug)]
enum Field {
    Line(Input),
    Text(Writing),
}

impl Field {
    fn of(text: &str, size: Size) -> Self {
        match size {
            Size::Line => Self::Line(Input::with(text)),
            Size::Text => Self::Text(Writing::new(text)),
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Line(input) => input.text(),
            Self::Text(writing) => writing.text(),
        }
    }

    /// Takes text from outside; what would not be seen is left out, line breaks aside. True when something was.
    fn insert(&mut self, pasted: &str) -> bool {
        let (seen, is_less) = seen(pasted);
        match self {
            Self::Line(input) => input.paste(&seen),
            Self::Text(writing) => writing.insert(&seen),
        }
        is_less
    }

    /// Goes behind what is written.
    fn go_behind(&mut self) {
        if let Self::Text(writing) = self {
            writing.go_behind();
        }
    }
}

impl Sheet {
    /// Opens the sheet on the first thing that is not filled in.
    pub fn open(draft: Draft) -> Self {
        let field = |text: &str, blank: &Blank| Field::of(text, blank.size);
        let fields: Vec<Field> = draft.blanks.iter().map(|blank| field(&blank.text, blank)).collect();
        let before = draft.blanks.iter().map(|blank| field(&blank.before, blank).text()).collect();
        let empty = || draft.blanks.iter().position(|blank| blank.text.is_empty());
        let focus = draft.place.or_else(empty).unwrap_or(0);
        let message = draft.failed.clone();
        let (leaving, live_at, screen) = (false, None, Rect::ZERO);
        let mut sheet = Self { draft, fields, before, focus, message, leaving, live_at, screen };
        sheet.go(0);
        sheet
    }

    /// Opens the sheet of something that was not done, by itself: where the person was, and dead for a moment.
    pub fn again(draft: Draft, at: Instant) -> Self {
        let mut sheet = Self { live_at: Some(at + DEAD_TIME), ..Self::open(draft) };
        sheet.fields.iter_mut().for_each(Field::go_behind);
        sheet
    }

    /// True while keys do not count yet.
    pub fn is_dead(&self, at: Instant) -> bool {
        self.live_at.is_some_and(|live| at < live)
    }

    /// Fits the sheet to the screen.
    pub const fn layout(&mut self, screen: Rect) {
        self.screen = screen;
    }

    /// Handles a key press. `intent` is what the keymap makes of it here.
    pub fn key(&mut self, intent: Option<Intent>, key: KeyEvent) -> Outcome {
        let close = |close| Outcome { close, effects: Vec::new() };
        if key.kind == KeyEventKind::Release {
            return close(false);
        }
        if std::mem::take(&mut self.leaving) {
            return close(matches!(key.code, KeyCode::Char('y' | 'Y')));
        }
        self.message = None;
        match intent {
            Some(Intent::Submit) => return self.submit(),
            Some(Intent::Back) => {
                self.leaving = self.is_changed();
                return close(!self.leaving);
            }
            Some(Intent::Next) => self.go(1),
            Some(Intent::Previous) => self.go(self.fields.len().saturating_sub(1)),
            _ => self.write(key),
        }
        Outcome::default()
    }

    /// Takes pasted text.
    pub fn paste(&mut self, pasted: &str) {
        self.leaving = false;
        if !self.is_full(pasted.len())
            && let Some(field) = self.fields.get_mut(self.focus)
        {
            self.message = field.insert(pasted).then(|| LEFT_OUT.into());
        }
    }

    fn write(&mut self, key: KeyEvent) {
        if matches!(key.code, KeyCode::Char(_)) && plain(key) && self.is_full(4) {
            return;
        }
        match (self.fields.get_mut(self.focus), key.code) {
            (Some(Field::Line(_)), KeyCode::Enter | KeyCode::Down) => self.go(1),
            (Some(Field::Line(_)), KeyCode::Up) => self.go(self.fields.len().saturating_sub(1)),
            (Some(Field::Line(input)), _) => _ = input.key(key),
            (Some(Field::Text(writing)), _) => writing.key(key),
            (None, _) => {}
        }
    }

    fn go(&mut self, by: usize) {
        if !self.fields.is_empty() {
            self.focus = (self.focus + by) % self.fields.len();
        }
        for (at, field) in self.fields.iter_mut().enumerate() {
            if let Field::Text(writing) = field {
                writing.focus(at == self.focus);
            }
        }
    }

    /// True when something is written that would be lost with the sheet.
    pub fn is_changed(&self) -> bool {
        self.before.iter().zip(&self.fields).any(|(before, field)| *before != field.text())
    }

    fn is_full(&mut self, more: usize) -> bool {
        let used: usize = self.fields.iter().map(|field| field.text().len()).sum();
        let full = used + more > MAX_BYTES;
        if full {
            self.message = Some(format!("too long ({} KiB): nothing was added", MAX_BYTES >> 10).into());
        }
        full
    }

    /// The call, when nothing is missing; else says what is and goes there.
    fn submit(&mut self) -> Outcome {
        let mut draft = Draft { place: Some(self.focus), ..self.draft.clone() };
        for (at, (blank, field)) in draft.blanks.iter_mut().zip(&self.fields).enumerate() {
            blank.text = field.text().trim_end().into();
            if blank.need == Need::Required && blank.text.trim().is_empty() {
                self.message = Some(format!("{} is missing", blank.label).into());
                self.focus = at;
                self.go(0);
                return Outcome::default();
            }
        }
        let mut act = draft.act.clone();
        for (blank, before) in draft.blanks.iter().zip(&self.before) {
            if blank.need == Need::Required || *blank.text != *before.trim_end() {
                act.arguments.insert(blank.argument.to_owned(), Value::String(blank.text.to_string()));
            }
        }
        if act.arguments == self.draft.act.arguments {
            self.message = Some("nothing is different: Esc closes".into());
            return Outcome::default();
        }
        act.draft = Some(Box::new(draft));
        Outcome { close: true, effects: vec![Effect::Act(act)] }
    }
}
