//! The scoped connector's audit as it is written: one line for each invocation, the newest last, with a search, following
//! or paused.

use std::borrow::Cow;
use std::sync::Arc;

use jiff::tz::TimeZone;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::feed::{Style, Times};
use super::filter::Field;
use super::stderr::{render_search, search_advance, search_apply};
use super::two::empty;
use crate::clock::Timestamp;
use crate::engine::ring::Ring;
use crate::rows::trail::Record;
use crate::rows::{Answer, Found};
use crate::text;
use crate::tui::Draw;
use crate::tui::intent::{Effect, Intent};
use crate::tui::theme::Role;
use crate::tui::widgets::panel::{Panel, text_area};
use crate::tui::widgets::text_view::{Line, Source, TextView};

/// Cells of the outcome, of the tool's name, of the reason.
const OUTCOME: usize = 7;
const TOOL: usize = 21;
const REASON: usize = 24;

/// See the module.
#[derive(Clone, Debug)]
pub struct TrailPane {
    view: TextView,
    times: Times,
    zone: TimeZone,
    area: Rect,
    /// The last answer; `None` before the first one.
    records: Option<Ring<Arc<Record>>>,
    problem: Option<Arc<str>>,
}

impl TrailPane {
    /// Nothing known yet; times are shown in this zone.
    pub fn new(zone: TimeZone) -> Self {
        let (view, times) = (TextView::default(), Times::default());
        Self { view, times, zone, area: Rect::ZERO, records: None, problem: None }
    }

    /// Takes an answer in.
    pub fn take(&mut self, answer: Answer) {
        match answer.found {
            Ok(Found::Trail(records)) => (self.records, self.problem) = (Some(records), None),
            Ok(_) => {}
            Err(why) => self.problem = Some(why),
        }
    }

    /// Fits the pane to its area.
    pub fn layout(&mut self, area: Rect) {
        self.area = area;
        self.with_view(|view, lines| view.layout(text_area(area), lines));
    }

    /// Acts on what the person means.
    pub fn apply(&mut self, intent: Intent) -> Vec<Effect> {
        if intent == Intent::Times {
            self.times = self.times.next();
            return Vec::new();
        }
        self.with_view(|view, lines| search_apply(view, intent, lines))
    }

    /// Goes on with a search that takes long.
    pub fn advance(&mut self) -> Vec<Effect> {
        self.with_view(|view, lines| search_advance(view, lines))
    }

    /// True while a search needs more steps.
    pub fn hunting(&self) -> bool {
        self.view.hunting().is_some()
    }

    /// True while what stands before the lines changes by itself.
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
        let lines = self.lines(draw.now);
        let (state, scroll) = (self.view.state(&lines), Some(self.view.scroll_state(&lines)));
        let panel = Panel { title: "Connector · audit", right: &state, focused: draw.focused, scroll, heavy: false };
        panel.render(buf, self.area, draw.theme);
        let area = text_area(self.area);
        match (&self.problem, &self.records) {
            (Some(why), _) => empty(buf, area, &[why], draw),
            (None, Some(records)) if records.is_empty() => {
                let words = [
                    "Nobody has used the connector yet.",
                    "Operators with scopes reach it at /connector/mcp; each invocation is a line here, allowed or not.",
                ];
                empty(buf, area, &words, draw);
            }
            _ => self.view.render(buf, area, &lines, draw.theme),
        }
        render_search(buf, self.area, &self.view, draw);
    }

    fn lines(&self, now: Timestamp) -> Lines<'_> {
        let style = Style { times: self.times, now, zone: &self.zone };
        Lines { records: self.records.as_ref(), style, narrow: self.area.width < 60 }
    }

    /// Works on the view with its lines.
    fn with_view<T>(&mut self, work: impl FnOnce(&mut TextView, &Lines<'_>) -> T) -> T {
        let mut view = std::mem::take(&mut self.view);
        let done = work(&mut view, &self.lines(Timestamp::default()));
        self.view = view;
        done
    }
}

struct Lines<'s> {
    records: Option<&'s Ring<Arc<Record>>>,
    style: Style<'s>,
    /// No columns: what matters has to come first.
    narrow: bool,
}

impl Lines<'_> {
    fn record(&self, number: u64) -> Option<&Record> {
        self.records?.get(number).map(AsRef::as_ref)
    }
}

impl Source for Lines<'_> {
    fn first(&self) -> u64 {
        self.records.map_or(0, Ring::first)
    }

    fn end(&self) -> u64 {
        self.records.map_or(0, Ring::end)
    }

    fn line(&self, number: u64) -> Option<Line<'_>> {
        let record = self.record(number)?;
        let role = match &*record.outcome {
            "success" => Role::Ready,
            "denied" => Role::Warning,
            _ => Role::Failed,
        };
        let Style { times, now, zone } = self.style;
        let mut lead: Vec<(Cow<'_, str>, Role)> = times.lead(record.at, now, zone).into_iter().collect();
        let outcome = text::visible(&record.outcome);
        let outcome = if self.narrow { format!("{outcome}  ") } else { format!("{}  ", text::pad(&outcome, OUTCOME)) };
        lead.push((outcome.into(), role));
        Some(Line { lead, text: self.text(number)?, role: Role::Text })
    }

    fn text(&self, number: u64) -> Option<Cow<'_, str>> {
        let record = self.record(number)?;
        let [tool, reason, scopes] = [&record.tool, &record.reason, &record.scopes].map(|said| text::visible(said));
        if self.narrow {
            let said: Vec<&str> = [&*tool, &*reason, &*scopes].into_iter().filter(|said| !said.is_empty()).collect();
            return Some(said.join("  ").into());
        }
        let columns = format!("{}  {}  {scopes}", text::pad(&tool, TOOL), text::pad(&reason, REASON));
        Some(columns.trim_end().to_owned().into())
    }

    fn is_error(&self, number: u64) -> bool {
        self.record(number).is_some_and(|record| &*record.outcome != "success")
    }
}
