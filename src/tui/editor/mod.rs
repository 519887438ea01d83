//! The call editor: the arguments of a person's own call as JSON, begun from the tool's schema, checked before they
//! are sent.
//!
//! Owns the text and what is wrong with it. The screen's root opens it, gives it keys and closes it. It sends a
//! command and nothing more: the call passes the gate like everybody's, and what comes of it is in the calls view.

mod draw;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Instant;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use tui_textarea::{CursorMove, TextArea, WrapMode};

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

/// The editor of one call.
#[derive(Clone, Debug)]
pub struct CallEditor {
    entry: Arc<Entry>,
    area: TextArea<'static>,
    original: String,
    problems: Vec<Problem>,
    message: Option<String>,
    /// Esc was pressed with unsent changes: the next key answers.
    leaving: bool,
    screen: Rect,
}

impl CallEditor {
    /// An editor for a call of `entry`, with a draft of its arguments.
    pub fn open(entry: Arc<Entry>) -> Self {
        let original = without_hidden(&form::draft(&entry.input_schema));
        let mut area = TextArea::new(original.lines().map(str::to_owned).collect());
        area.set_tab_length(2);
        area.set_wrap_mode(WrapMode::Glyph);
        area.set_max_histories(200);
        area.set_cursor_line_style(Style::new());
        area.set_cursor_style(Style::new().add_modifier(Modifier::REVERSED));
        area.set_selection_style(Style::new().add_modifier(Modifier::REVERSED));
        if let Some(at) = first_gap(area.lines()) {
            area.move_cursor(at);
        }
        Self { entry, area, original, problems: Vec::new(), message: None, leaving: false, screen: Rect::default() }
    }

    /// The tool that would be called.
    pub fn tool(&self) -> &Arc<str> {
        &self.entry.name
    }

    /// What has been written.
    pub fn text(&self) -> String {
        self.area.lines().join("\n")
    }

    /// Fits the editor to the screen. Call it whenever that changed.
    pub const fn layout(&mut self, screen: Rect, _snapshot: &Snapshot) {
        self.screen = screen;
    }

    /// Handles a key press. `intent` is what the keymap makes of it in the editor's context.
    pub fn key(&mut self, intent: Option<Intent>, key: KeyEvent, _at: Instant, snapshot: &Snapshot) -> Outcome {
        if key.kind == KeyEventKind::Release {
            return Outcome::default();
        }
        if self.leaving {
            self.leaving = false;
            return Outcome { close: matches!(key.code, KeyCode::Char('y' | 'Y')), effects: Vec::new() };
        }
        self.message = None;
        match intent {
            Some(Intent::Submit) => return self.submit(snapshot),
            Some(Intent::Back) => return self.leave(),
            _ => {}
        }
        match key.code {
            KeyCode::Esc => return self.leave(),
            KeyCode::Char(c) if plain(key) && text::is_hidden(c) => self.insert(c.encode_utf8(&mut [0; 4])),
            KeyCode::Char(_) if plain(key) && self.is_full(1) => {}
            _ => {
                self.area.input(key);
            }
        }
        Outcome::default()
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

    fn is_full(&mut self, more: usize) -> bool {
        let used: usize = self.area.lines().iter().map(|line| line.len() + 1).sum();
        let full = used + more > MAX_BYTES;
        if full {
            self.message = Some(format!("too long for the editor ({} KiB): nothing was added", MAX_BYTES >> 10));
        }
        full
    }

    fn leave(&mut self) -> Outcome {
        let changed = self.text() != self.original;
        self.leaving = changed;
        Outcome { close: !changed, effects: Vec::new() }
    }

    /// Sends the call when nothing speaks against it; else says what does.
    fn submit(&mut self, snapshot: &Snapshot) -> Outcome {
        self.problems.clear();
        if let Some(why) = self.refused(snapshot) {
            self.message = Some(why);
            return Outcome::default();
        }
        let written = self.text();
        let arguments = match Arguments::parse(&written) {
            Ok(arguments) => arguments,
            Err(error) => {
                self.message = Some(locate(&error, &written));
                return Outcome::default();
            }
        };
        let unchecked = match form::check(&self.entry.input_schema, &self.as_composed(&arguments)) {
            Ok(problems) if problems.is_empty() => None,
            Ok(problems) => {
                self.message = Some("not sent: the arguments do not fit the tool's schema".to_owned());
                self.problems = problems;
                return Outcome::default();
            }
            Err(why) => Some(Effect::Say(format!("sent without a check: {why}").into())),
        };
        let call = CallId::fresh();
        let send = Command::Call { call: call.clone(), tool: self.entry.name.clone(), arguments };
        let mut effects = vec![Effect::Send(send), Effect::Show(Target::Call(call))];
        effects.extend(unchecked);
        Outcome { close: true, effects }
    }

    /// The arguments as the engine would compose them: it sets `confirm` of a destructive tool itself.
    fn as_composed(&self, arguments: &Arguments) -> Arguments {
        let composes = self.entry.class() == EffectClass::Destructive && self.entry.takes_confirm();
        if composes { arguments.with_confirm() } else { arguments.clone() }
    }

    /// Why no call can be sent now, whatever is written.
    fn refused(&self, snapshot: &Snapshot) -> Option<String> {
        if snapshot.read_only {
            return Some("read-only: nobody can call anything here".to_owned());
        }
        let name = &self.entry.name;
        match snapshot.catalog.find(name) {
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

/// Between the quotes of the first empty string.
fn first_gap(lines: &[String]) -> Option<CursorMove> {
    let (row, before) = lines.iter().enumerate().find_map(|(row, line)| Some((row, line.split_once("\"\"")?.0)))?;
    let column = before.chars().count() + 1;
    Some(CursorMove::Jump(u16::try_from(row).ok()?, u16::try_from(column).ok()?))
}

/// A key that writes its character.
fn plain(key: KeyEvent) -> bool {
    !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT)
}

/// `text` with hidden characters, line breaks aside, as JSON escapes.
fn without_hidden(text: &str) -> String {
    let mut seen = String::with_capacity(text.len());
    for c in text.chars() {
        if c == '\n' || !text::is_hidden(c) {
            seen.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            // Writing into a string cannot fail.
            let _ = write!(seen, "\\u{unit:04x}");
        }
    }
    seen
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
