//! Our own diagnostics: by level, with a search, following or paused.

use std::borrow::Cow;

use jiff::tz::TimeZone;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::feed::{Style, Times};
use super::filter::Field;
use super::stderr::{render_search, search_advance, search_apply};
use crate::clock::Timestamp;
use crate::engine::command::{Command, Export};
use crate::engine::ring::Ring;
use crate::engine::snapshot::{LogLevel, LogRecord, Snapshot};
use crate::text;
use crate::tui::Draw;
use crate::tui::intent::{Effect, Intent};
use crate::tui::theme::Role;
use crate::tui::widgets::cells::{put, row};
use crate::tui::widgets::panel::{Panel, text_area};
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

impl LogPane {
    /// A pane that shows every level, and times in this zone.
    pub fn new(zone: TimeZone) -> Self {
        Self { view: TextView::default(), least: LogLevel::Debug, times: Times::default(), zone, area: Rect::ZERO }
    }

    /// Fits the pane to its area.
    pub fn layout(&mut self, area: Rect, snapshot: &Snapshot) {
        self.area = area;
        let Self { view, zone, .. } = self;
        let style = Style { times: self.times, now: Timestamp::default(), zone };
        view.layout(text_area(area), &Records { log: &snapshot.log, least: self.least, style });
    }

    /// Acts on an intent.
    pub fn apply(&mut self, intent: Intent, snapshot: &Snapshot) -> Vec<Effect> {
        match intent {
            Intent::Times => {
                self.times = self.times.next();
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
            Intent::Save => vec![Effect::Send(Command::Export(Export::Log))],
            intent => {
                let Self { view, zone, .. } = self;
                let style = Style { times: self.times, now: Timestamp::default(), zone };
                search_apply(view, intent, &Records { log: &snapshot.log, least: self.least, style })
            }
        }
    }

    /// Goes on with a search that takes long.
    pub fn advance(&mut self, snapshot: &Snapshot) -> Vec<Effect> {
        let Self { view, zone, .. } = self;
        let style = Style { times: self.times, now: Timestamp::default(), zone };
        search_advance(view, &Records { log: &snapshot.log, least: self.least, style })
    }

    /// True while a search needs more steps.
    pub fn hunting(&self) -> bool {
        self.view.hunting().is_some()
    }

    /// True while what stands before the records changes by itself.
    pub fn ages(&self) -> bool {
        self.times == Times::Ago
    }

    /// True while the search field is open.
    pub const fn typing(&self) -> bool {
        self.view.typing()
    }

    /// True while something is searched for.
    pub const fn searching(&self) -> bool {
        self.view.searching()
    }

    /// The search field, while it is open.
    pub fn field(&mut self) -> Option<&mut dyn Field> {
        if self.typing() { Some(&mut self.view.search) } else { None }
    }

    /// Draws the pane.
    pub fn render(&self, buf: &mut Buffer, draw: &Draw<'_>) {
        let snapshot = draw.snapshot;
        let style = Style { times: self.times, now: draw.now, zone: &self.zone };
        let records = Records { log: &snapshot.log, least: self.least, style };
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

struct Records<'s> {
    log: &'s Ring<LogRecord>,
    least: LogLevel,
    style: Style<'s>,
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
        let Style { times, now, zone } = self.style;
        let mut lead: Vec<(Cow<'_, str>, Role)> = times.lead(record.at, now, zone).into_iter().collect();
        lead.push((level.into(), role));
        Some(Line { lead, text: self.text(sequence)?, role: Role::Text })
    }

    fn text(&self, sequence: u64) -> Option<Cow<'_, str>> {
        let record = self.log.get(sequence).filter(|record| record.level >= self.least)?;
        let server = record.server.as_ref().map(|server| format!("  server={server}")).unwrap_or_default();
        let between = if record.text.is_empty() { "" } else { "  " };
        let line = format!("{}{server}{between}{}", record.event, record.text);
        Some(text::clean(&line).into_owned().into())
    }

    fn is_error(&self, sequence: u64) -> bool {
        self.log.get(sequence).is_some_and(|record| record.level == LogLevel::Error)
    }
}
