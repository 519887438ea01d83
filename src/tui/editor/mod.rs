//! The call editor: arguments as JSON, checked against the tool's schema: those of a person's own call, begun from
//! the schema, or those of a question that waits, begun from what the agent sent.
//!
//! Owns the text and what is wrong with it. The screen's root opens it for a call, gives it keys and closes it; it
//! sends a command and nothing more: the call passes the gate like everybody's. For a question the card does the
//! same, and gets the checked arguments; nothing is decided here.

mod draw;
mod gap;
mod pretty;
#[cfg(test)]
mod tests;

pub(super) use draw::escape;
pub use pretty::pretty;

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Instant;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use tui_textarea::{TextArea, WrapMode};

use crate::engine::command::Command;
use crate::engine::snapshot::Snapshot;
use crate::ids::CallId;
use crate::text;
use crate::tool::form::{self, Problem};
use crate::tool::{Arguments, ArgumentsError, EffectClass, Entry};
use crate::tui::card::Outcome;
use crate::tui::intent::{Effect, Intent, Target};

/// The longest text, in bytes: what can be edited smoothly.
const MAX_BYTES: usize = 256 << 10;

/// What the arguments are written for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Purpose {
    /// A call of the person's own.
    Call,
    /// A question that waits.
    Question,
}

/// What came of a key while the arguments of a question are edited.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Edit {
    /// It goes on.
    Goes,
    /// The person left it.
    Left,
    /// Checked arguments; with a note where the schema could not be used for the check.
    Done(Arguments, Option<String>),
}

enum Step {
    Goes,
    Leave,
    Submit,
}

/// The editor of one call's arguments.
#[derive(Clone, Debug)]
pub struct CallEditor {
    purpose: Purpose,
    entry: Arc<Entry>,
    area: TextArea<'static>,
    original: String,
    problems: Vec<Problem>,
    message: Option<String>,
    /// Esc was pressed with unsent changes: the next key answers.
    leaving: bool,
    /// The text that has empty required values and was held back once for that.
    warned: Option<String>,
    screen: Rect,
}

impl CallEditor {
    /// An editor for a call of `entry`, with a draft of its arguments.
    pub fn open(entry: Arc<Entry>) -> Self {
        let draft = form::draft(&entry.input_schema);
        Self::with(entry, &draft, Purpose::Call)
    }

    /// An editor for the arguments of a question about `entry`; `None` when they are too long to be edited.
    pub fn revise(entry: Arc<Entry>, canonical: &str) -> Option<Self> {
        let text = pretty(canonical);
        (text.len() <= MAX_BYTES).then(|| Self::with(entry, &text, Purpose::Question))
    }

    fn with(entry: Arc<Entry>, text: &str, purpose: Purpose) -> Self {
        let original = without_hidden(text);
        let mut area = text_area(&original);
        if purpose == Purpose::Call {
            gap::go_to_first(&mut area, &entry.input_schema);
        }
        let (problems, message, screen) = (Vec::new(), None, Rect::default());
        Self { purpose, entry, area, original, problems, message, leaving: false, warned: None, screen }
    }

    /// The tool that would be called.
    pub fn tool(&self) -> &Arc<str> {
        &self.entry.name
    }

    /// True when something is written that would be lost with the editor.
    pub fn is_changed(&self) -> bool {
        self.text() != self.original
    }

    /// What has been written.
    pub fn text(&self) -> String {
        self.area.lines().join("\n")
    }

    /// Fits the editor to the screen. Call it whenever that changed.
    pub const fn layout(&mut self, screen: Rect, _snapshot: &Snapshot) {
        self.screen = screen;
    }

    /// Handles a key press for a call of the person's own. `intent` is what the keymap makes of it in the editor's
    /// context.
    pub fn key(&mut self, intent: Option<Intent>, key: KeyEvent, _at: Instant, snapshot: &Snapshot) -> Outcome {
        match self.step(intent, key) {
            Step::Goes => Outcome::default(),
            Step::Leave => Outcome { close: true, effects: Vec::new() },
            Step::Submit => self.submit(snapshot),
        }
    }

    /// Handles a key press while the arguments of a question are edited.
    pub fn edit_key(&mut self, intent: Option<Intent>, key: KeyEvent) -> Edit {
        match self.step(intent, key) {
            Step::Goes => Edit::Goes,
            Step::Leave => Edit::Left,
            Step::Submit => match self.checked() {
                Some((arguments, note)) => Edit::Done(arguments, note),
                None => Edit::Goes,
            },
        }
    }

    fn step(&mut self, intent: Option<Intent>, key: KeyEvent) -> Step {
        if key.kind == KeyEventKind::Release {
            return Step::Goes;
        }
        if self.leaving {
            self.leaving = false;
            return if matches!(key.code, KeyCode::Char('y' | 'Y')) { Step::Leave } else { Step::Goes };
        }
        self.message = None;
        match intent {
            Some(Intent::Submit) => return Step::Submit,
            Some(Intent::Back) => return self.leave(),
            _ => {}
        }
        match key.code {
            KeyCode::Esc => return self.leave(),
            KeyCode::Char(c) if plain(key) && self.is_unseen(c) => self.insert_escaped(c),
            KeyCode::Char(_) if plain(key) && self.is_full(1) => {}
            _ => {
                self.area.input(key);
            }
        }
        Step::Goes
    }

    /// Takes pasted text; hidden characters in it become JSON escapes, which mean the same and can be seen.
    pub fn paste(&mut self, text: &str) {
        self.leaving = false;
        self.message = None;
        self.insert(text);
    }

    /// When the editor changes by itself: never.
    pub const fn wake_at(&self) -> Option<Instant> {
        None
    }

    fn insert(&mut self, text: &str) {
        let text = without_hidden(&text.replace("\r\n", "\n").replace('\r', "\n").replace('\t', "  "));
        if !self.is_full(text.len()) {
            self.area.insert_str(text);
        }
    }

    /// True for a character that would not be seen where the cursor stands.
    fn is_unseen(&self, c: char) -> bool {
        if c.is_ascii_graphic() || c == ' ' {
            return false;
        }
        let tui_textarea::DataCursor(row, column) = self.area.cursor();
        let before = self.area.lines().get(row).map_or("", String::as_str);
        let mut text: String = before.chars().take(column).collect();
        let at = text.len();
        text.push(c);
        text::escapes(&text).any(|(place, _)| place == at)
    }

    fn insert_escaped(&mut self, c: char) {
        let text = escaped(c);
        if !self.is_full(text.len()) {
            self.area.insert_str(text);
        }
    }

    fn is_full(&mut self, more: usize) -> bool {
        let used: usize = self.area.lines().iter().map(|line| line.len() + 1).sum();
        let full = used + more > MAX_BYTES;
        if full {
            self.message = Some(format!("too long for the editor ({} KiB): nothing was added", MAX_BYTES >> 10));
        }
        full
    }

    fn leave(&mut self) -> Step {
        self.leaving = self.is_changed();
        if self.leaving { Step::Goes } else { Step::Leave }
    }

    /// Sends the call when nothing speaks against it; else says what does.
    fn submit(&mut self, snapshot: &Snapshot) -> Outcome {
        self.problems.clear();
        if let Some(why) = self.refused(snapshot) {
            self.message = Some(why);
            return Outcome::default();
        }
        let Some((arguments, unchecked)) = self.checked() else { return Outcome::default() };
        let written = self.text();
        let empty = gap::empty_required(&self.entry.input_schema, &arguments);
        if !empty.is_empty() && self.warned.as_ref() != Some(&written) {
            let verb = if empty.len() == 1 { "is" } else { "are" };
            self.message = Some(format!("{} {verb} empty: Ctrl-S again sends it so", empty.join(", ")));
            self.warned = Some(written);
            return Outcome::default();
        }
        let call = CallId::fresh();
        let send = Command::Call { call: call.clone(), tool: self.entry.reference(), arguments };
        let mut effects = vec![Effect::Send(send), Effect::Show(Target::Call(call))];
        effects.extend(unchecked.map(|why| Effect::Say(format!("sent without a check: {why}").into())));
        Outcome { close: true, effects }
    }

    /// What is written, when it is JSON that fits the schema; else says what is wrong. With the reason where the
    /// schema could not be used.
    fn checked(&mut self) -> Option<(Arguments, Option<String>)> {
        self.problems.clear();
        let written = self.text();
        let arguments = match Arguments::parse(&written) {
            Ok(arguments) => arguments,
            Err(error) => {
                self.message = Some(locate(&error, &written));
                return None;
            }
        };
        match form::check(&self.entry.input_schema, &self.as_composed(&arguments)) {
            Ok(problems) if problems.is_empty() => Some((arguments, None)),
            Ok(problems) => {
                self.message = Some("not sent: the arguments do not fit the tool's schema".to_owned());
                self.problems = problems;
                None
            }
            Err(why) => Some((arguments, Some(why.to_string()))),
        }
    }

    /// The arguments as the engine would compose them: it sets `confirm` of a destructive tool itself.
    fn as_composed(&self, arguments: &Arguments) -> Arguments {
        let composes = self.entry.class() == EffectClass::Destructive
            && self.entry.takes_confirm()
            && !self.entry.connection.is_connector();
        if composes { arguments.with_confirm() } else { arguments.clone() }
    }

    /// Why no call can be sent now, whatever is written.
    fn refused(&self, snapshot: &Snapshot) -> Option<String> {
        if snapshot.read_only {
            return Some("read-only: nobody can call anything here".to_owned());
        }
        let name = &self.entry.name;
        match snapshot.catalog.again(&self.entry) {
            None => return Some(format!("\"{name}\" is not in the catalogue any more")),
            Some(now) if now.fingerprint != self.entry.fingerprint => {
                return Some(format!("\"{name}\" has changed since the editor was opened: close it and open it anew"));
            }
            Some(_) => {}
        }
        let connection = snapshot.servers.iter().find(|server| server.connection == self.entry.connection)?;
        let status = connection.status.word();
        (!connection.status.is_ready())
            .then(|| format!("{} is {status}: nothing can be sent to it", connection.connection))
    }
}

/// An area for text that holds this one.
pub(in crate::tui) fn text_area(text: &str) -> TextArea<'static> {
    let mut area = TextArea::new(text.lines().map(str::to_owned).collect());
    area.set_tab_length(2);
    area.set_wrap_mode(WrapMode::Glyph);
    area.set_max_histories(200);
    area.set_cursor_line_style(Style::new());
    area.set_cursor_style(Style::new().add_modifier(Modifier::REVERSED));
    area.set_selection_style(Style::new().add_modifier(Modifier::REVERSED));
    area
}

/// A key that writes its character.
pub(in crate::tui) fn plain(key: KeyEvent) -> bool {
    !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT)
}

/// `text` with what would not be seen, line breaks aside, as JSON escapes: hidden characters and towers of marks.
fn without_hidden(text: &str) -> String {
    let mut seen = String::with_capacity(text.len());
    let mut from = 0;
    for (at, c) in text::escapes(text).filter(|(_, c)| *c != '\n') {
        seen.push_str(text.get(from..at).unwrap_or_default());
        seen.push_str(&escaped(c));
        from = at + c.len_utf8();
    }
    seen.push_str(text.get(from..).unwrap_or_default());
    seen
}

/// A character as JSON writes it in ASCII.
fn escaped(c: char) -> String {
    let mut out = String::new();
    for unit in c.encode_utf16(&mut [0; 2]) {
        // Writing into a string cannot fail.
        let _ = write!(out, "\\u{unit:04x}");
    }
    out
}

/// The error with the line and column of its place, where it has one.
fn locate(error: &ArgumentsError, written: &str) -> String {
    let at = match error {
        ArgumentsError::Syntax { at, .. }
        | ArgumentsError::DuplicateKey { at, .. }
        | ArgumentsError::InexactNumber { at, .. } => *at,
        ArgumentsError::NotAnObject | ArgumentsError::TooDeep | ArgumentsError::TooLong => return error.to_string(),
    };
    let before = written.get(..at).unwrap_or(written);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |last| last.chars().count()) + 1;
    format!("{error}: line {line}, column {column}")
}
