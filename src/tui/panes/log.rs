//! Our own diagnostics: by level, with a search, following or paused.

use std::borrow::Cow;

use crossterm::event::KeyEvent;
use jiff::tz::TimeZone;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::stderr::{render_search, search_apply};
use crate::clock::Precision;
use crate::engine::ring::Ring;
use crate::engine::snapshot::{LogLevel, LogRecord, Snapshot};
use crate::text;
use crate::tui::Draw;
use crate::tui::intent::{Effect, Intent};
use crate::tui::theme::Role;
use crate::tui::widgets::cells::{put, row};
use crate::tui::widgets::panel::{Panel, inner};
use crate::tui::widgets::text_view::{Line, Source, TextView};

/// See the module.
#[derive(Clone, Debug)]
pub struct LogPane {
    view: TextView,
    least: LogLevel,
    times: Times,
    zone: TimeZone,
    area: Rect,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Times {
    Shown,
    Hidden,
}

impl LogPane {
    /// A pane that shows every level, and times in this zone.
    pub fn new(zone: TimeZone) -> Self {
        Self { view: TextView::default(), least: LogLevel::Debug, times: Times::Shown, zone, area: Rect::ZERO }
    }

    /// Fits the pane to its area.
    pub fn layout(&mut self, area: Rect, snapshot: &Snapshot) {
        self.area = area;
        let records = Records { log: &snapshot.log, least: self.least, times: self.times, zone: &self.zone };
        self.view.layout(text_area(area), &records);
    }

    /// Acts on an intent.
    pub fn apply(&mut self, intent: Intent, snapshot: &Snapshot) -> Vec<Effect> {
        match intent {
            Intent::Times => {
                self.times = if self.times == Times::Shown { Times::Hidden } else { Times::Shown };
                Vec::new()
            }
            Intent::Level => {
                self.least = match self.least {
                    LogLevel::Debug => LogLevel::Info,
                    LogLevel::Info => LogLevel::Warn,
                    LogLevel::Warn => LogLevel::Error,
                    LogLevel::Error => LogLevel::Debug,
                };
                Vec::new()
            }
            intent => {
                let records = Records { log: &snapshot.log, least: self.least, times: self.times, zone: &self.zone };
                search_apply(&mut self.view, intent, &records)
            }
        }
    }

    /// True while the search field is open.
    pub const fn typing(&self) -> bool {
        self.view.search.field().is_some()
    }

    /// A key for the search field.
    pub fn text(&mut self, key: KeyEvent) {
        self.view.search.key(key);
    }

    /// Pasted text for the search field.
    pub fn paste(&mut self, pasted: &str) {
        self.view.search.paste(pasted);
    }

    /// Draws the pane.
    pub fn render(&self, buf: &mut Buffer, draw: &Draw<'_>) {
        let snapshot = draw.snapshot;
        let records = Records { log: &snapshot.log, least: self.least, times: self.times, zone: &self.zone };
        let title = match self.least {
            LogLevel::Debug => "Log",
            LogLevel::Info => "Log · info and above",
            LogLevel::Warn => "Log · warnings and errors",
            LogLevel::Error => "Log · errors",
        };
        let mut state = self.view.state(&records);
        if snapshot.log_dropped > 0 {
            state = format!("{} dropped · {state}", snapshot.log_dropped);
        }
        let scroll = Some(self.view.scroll_state(&records));
        Panel { title, right: &state, focused: draw.focused, scroll, heavy: false }.render(buf, self.area, draw.theme);
        let text = text_area(self.area);
        if !records.log.iter().any(|(_, record)| record.level >= self.least) {
            put(buf, row(text, 0), "nothing at this level", draw.theme.style(Role::Dim));
        }
        self.view.render(buf, text, &records, draw.theme);
        render_search(buf, self.area, &self.view, draw);
    }
}

fn text_area(area: Rect) -> Rect {
    let inside = inner(area);
    Rect { x: inside.x + 1.min(inside.width), width: inside.width.saturating_sub(2), ..inside }
}

struct Records<'s> {
    log: &'s Ring<LogRecord>,
    least: LogLevel,
    times: Times,
    zone: &'s TimeZone,
}

impl Source for Records<'_> {
    fn first(&self) -> u64 {
        self.log.first()
    }

    fn end(&self) -> u64 {
        self.log.end()
    }

    fn line(&self, sequence: u64) -> Option<Line<'_>> {
        let record = self.log.get(sequence).filter(|record| record.level >= self.least)?;
        let (level, role) = match record.level {
            LogLevel::Debug => ("debug  ", Role::Dim),
            LogLevel::Info => ("info   ", Role::Dim),
            LogLevel::Warn => ("warn   ", Role::Warning),
            LogLevel::Error => ("error  ", Role::Failed),
        };
        let mut lead: Vec<(Cow<'_, str>, Role)> = Vec::new();
        if self.times == Times::Shown {
            lead.push((format!("{}  ", record.at.time_of_day(self.zone, Precision::Seconds)).into(), Role::Dim));
        }
        lead.push((level.into(), role));
        let server = record.server.as_ref().map(|server| format!("  server={server}")).unwrap_or_default();
        let between = if record.text.is_empty() { "" } else { "  " };
        let line = format!("{}{server}{between}{}", record.event, record.text);
        Some(Line { lead, text: text::clean(&line).into_owned().into(), role: Role::Text })
    }
}
