//! A screen without a terminal: give it keys and snapshots, look at the picture.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use crewlet_tui::config::model::TuiSettings;
use crewlet_tui::engine::snapshot::Snapshot;
use crewlet_tui::rows::Ask;
use crewlet_tui::tui::Draw;
use crewlet_tui::tui::intent::Effect;
use crewlet_tui::tui::keymap::key::Key;
use crewlet_tui::tui::msg::{Moment, Msg};
use crewlet_tui::tui::theme::Theme;
use crewlet_tui::tui::ui::Ui;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use jiff::tz::TimeZone;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier};

use super::rows::Rows;
use super::sample::NOW;

/// See the module.
pub struct Screen {
    pub ui: Ui,
    pub snapshot: Snapshot,
    pub area: Rect,
    /// What the company keeps: whatever the screen wants to know is answered at once.
    pub rows: Rows,
    answered: Vec<Ask>,
    moment: Moment,
}

impl Screen {
    /// A screen of this size over this snapshot.
    pub fn new(size: (u16, u16), snapshot: Snapshot) -> Self {
        Self::with(size, snapshot, &TuiSettings::default())
    }

    /// The same with settings.
    pub fn with((width, height): (u16, u16), snapshot: Snapshot, settings: &TuiSettings) -> Self {
        let area = Rect::new(0, 0, width, height);
        let moment = Moment { now: NOW, at: Instant::now() };
        let ui = Ui::new(settings, &TimeZone::UTC);
        let mut screen = Self { ui, snapshot, area, rows: Rows::sample(), answered: Vec::new(), moment };
        // Somebody is at the keys, so that no card opens before a test wants it.
        screen.send(Msg::Key(KeyEvent::new(KeyCode::F(12), KeyModifiers::NONE)));
        screen.send(Msg::Resize(area));
        screen
    }

    /// Gives it a message; what must be done comes back.
    pub fn send(&mut self, msg: Msg) -> Vec<Effect> {
        let mut effects = self.ui.update(msg, &self.snapshot, self.moment);
        // One answer can lead to the next question.
        for _ in 0..4 {
            let wants = self.ui.wants();
            let new: Vec<Ask> = wants.iter().filter(|ask| !self.answered.contains(ask)).cloned().collect();
            self.answered = wants;
            for ask in new {
                let answer = Box::new(self.rows.answer(&ask));
                effects.extend(self.ui.update(Msg::Rows(answer), &self.snapshot, self.moment));
            }
        }
        effects
    }

    /// Other rows: everything that the screen wants to know is answered anew.
    pub fn change(&mut self, change: impl FnOnce(&mut Rows)) {
        change(&mut self.rows);
        self.answered.clear();
        self.send(Msg::Wake);
    }

    /// Presses keys, 200 ms apart: `"enter"`, `"ctrl-c"`, `"?"`. What the last one asks for comes back.
    pub fn press(&mut self, keys: &[&str]) -> Vec<Effect> {
        let mut effects = Vec::new();
        for key in keys {
            self.wait(200);
            effects = self.send(Msg::Key(event(key)));
        }
        effects
    }

    /// Types text.
    pub fn type_text(&mut self, text: &str) {
        for c in text.chars() {
            self.send(Msg::Key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE)));
        }
    }

    /// Lets time pass.
    pub fn wait(&mut self, millis: u64) {
        self.moment.at += Duration::from_millis(millis);
        self.moment.now = self.moment.now.plus(Duration::from_millis(millis));
    }

    /// Publishes a changed snapshot.
    pub fn publish(&mut self, change: impl FnOnce(&mut Snapshot)) -> Vec<Effect> {
        change(&mut self.snapshot);
        self.snapshot.revision += 1;
        self.send(Msg::Snapshot)
    }

    /// Another size.
    pub fn resize(&mut self, width: u16, height: u16) {
        self.area = Rect::new(0, 0, width, height);
        self.send(Msg::Resize(self.area));
    }

    /// When it wants to be woken, in milliseconds from now.
    pub fn wake_in(&self) -> Option<u128> {
        self.ui.wake_at(&self.snapshot).map(|at| at.saturating_duration_since(self.moment.at).as_millis())
    }

    /// The picture.
    pub fn draw(&self, theme: &Theme) -> Buffer {
        let mut buf = Buffer::empty(self.area);
        let draw = Draw { snapshot: &self.snapshot, theme, now: NOW, zone: &TimeZone::UTC, focused: true };
        self.ui.render(&mut buf, &draw, self.moment.at);
        buf
    }

    /// The picture's text.
    pub fn text(&self) -> String {
        text(&self.draw(&Theme::plain()))
    }
}

/// A key press as the configuration writes it.
pub fn event(key: &str) -> KeyEvent {
    let parsed = Key::parse(key).unwrap_or_else(|wrong| panic!("{wrong:?} is no key"));
    [KeyModifiers::NONE, KeyModifiers::CONTROL]
        .into_iter()
        .flat_map(|modifiers| codes().map(move |code| KeyEvent::new(code, modifiers)))
        .find(|event| Key::from(*event) == parsed)
        .unwrap_or_else(|| panic!("{key} has no event"))
}

fn codes() -> impl Iterator<Item = KeyCode> {
    let named = [
        KeyCode::Up,
        KeyCode::Down,
        KeyCode::Left,
        KeyCode::Right,
        KeyCode::PageUp,
        KeyCode::PageDown,
        KeyCode::Home,
        KeyCode::End,
        KeyCode::Tab,
        KeyCode::BackTab,
        KeyCode::Enter,
        KeyCode::Esc,
        KeyCode::Backspace,
    ];
    named.into_iter().chain((' '..='~').map(KeyCode::Char)).chain((1..=12).map(KeyCode::F))
}

/// A buffer's text, a line for each row, blanks at the end left out.
pub fn text(buf: &Buffer) -> String {
    let mut out = String::new();
    for y in buf.area.rows() {
        let mut line = String::new();
        let mut skip = 0;
        for position in y.positions() {
            let symbol = buf[position].symbol();
            if skip == 0 {
                line.push_str(symbol);
                skip = crewlet_tui::text::width(symbol).max(1);
            }
            skip -= 1;
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// A buffer's styles: a line for each run of cells that is not plain, `row:from-to style "text"`.
pub fn styles(buf: &Buffer) -> String {
    let mut out = String::new();
    for row in buf.area.rows() {
        let mut run: Option<(u16, String, String)> = None;
        for position in row.positions() {
            let cell = &buf[position];
            let style = name(cell.fg, cell.bg, cell.modifier);
            match &mut run {
                Some((_, running, text)) if *running == style => text.push_str(cell.symbol()),
                _ => {
                    flush(&mut out, position.x, row.y, run.replace((position.x, style, cell.symbol().to_owned())));
                }
            }
        }
        flush(&mut out, row.right(), row.y, run);
    }
    out
}

fn flush(out: &mut String, end: u16, y: u16, run: Option<(u16, String, String)>) {
    if let Some((start, style, text)) = run
        && !style.is_empty()
    {
        let _ = writeln!(out, "{y}:{start}-{} {style} {:?}", end - 1, text.trim_end());
    }
}

fn name(fg: Color, bg: Color, modifier: Modifier) -> String {
    let mut parts = Vec::new();
    if fg != Color::Reset {
        parts.push(format!("fg={fg}"));
    }
    if bg != Color::Reset {
        parts.push(format!("bg={bg}"));
    }
    parts.extend(modifier.iter_names().map(|(name, _)| name.to_lowercase()));
    parts.join(" ")
}
