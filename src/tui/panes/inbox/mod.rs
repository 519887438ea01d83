//! The inbox view: what seats ask each other and what autopilots put before them, newest first, and the selected one
//! whole. What was answered in this run stays below its place, dim.
//!
//! Answering is done in a sheet of its own, by the same tool that seats answer with; nothing is predicted here.

mod about;

use std::sync::Arc;

use jiff::tz::TimeZone;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::two::{Focus, Two, empty};
use crate::clock::Timestamp;
use crate::engine::snapshot::{QuestionKind, QuestionView, Snapshot};
use crate::tui::Draw;
use crate::tui::format::by_minutes;
use crate::tui::intent::{Effect, Intent};
use crate::tui::theme::Role;
use crate::tui::widgets::paint::{Row, Span, clock};
use crate::tui::widgets::table::{Align, Column, Width};

const COLUMNS: [Column; 5] = [
    Column::grows("question", 10),
    Column::stays("from", 8),
    Column { title: "to", width: Width::Cells(8), align: Align::Left, rank: 0 },
    Column::number("waits", 8),
    Column::number("since", 10),
];
/// From here on the time that an asker still waits is short.
const SOON: u64 = 15;

/// See the module.
#[derive(Clone, Debug)]
pub struct InboxPane {
    two: Two<Arc<str>>,
    zone: TimeZone,
    /// What the detail is about.
    made: Option<Arc<str>>,
}

impl InboxPane {
    /// Nothing selected yet; times are shown in this zone.
    pub fn new(zone: TimeZone) -> Self {
        Self { two: Two::default(), zone, made: None }
    }

    /// Fits the pane to its area and the snapshot.
    pub fn layout(&mut self, area: Rect, snapshot: &Snapshot) {
        let ids = ids(snapshot);
        if ids.is_empty() {
            self.to_list();
        }
        self.two.layout(area, &ids);
        self.describe(snapshot);
    }

    /// Acts on what the person means.
    pub fn apply(&mut self, intent: Intent, snapshot: &Snapshot) -> Vec<Effect> {
        let effect = if intent == Intent::Open {
            self.open(snapshot)
        } else {
            self.two.apply(intent, &ids(snapshot));
            None
        };
        self.layout(self.two.area(), snapshot);
        effect.into_iter().collect()
    }

    /// The channel of what is selected.
    pub const fn channel(&self) -> Option<&Arc<str>> {
        self.two.pick.id()
    }

    /// Gives the keys to the list.
    pub const fn to_list(&mut self) {
        self.two.focus_list();
    }

    /// What Esc does, in a word, while the detail has the keys.
    pub const fn way_back(&self) -> Option<&'static str> {
        self.two.way_back()
    }

    /// True when the selected row can still be answered.
    pub fn may_answer(&self, snapshot: &Snapshot) -> bool {
        self.selected(snapshot).is_some_and(|row| row.is_open())
    }

    /// True while somebody waits for an answer: the time that is left changes by the second.
    pub fn ticks(snapshot: &Snapshot) -> bool {
        snapshot.questions.iter().any(|row| row.waits_until.is_some() && row.is_open())
    }

    fn selected<'s>(&self, snapshot: &'s Snapshot) -> Option<&'s Arc<QuestionView>> {
        let channel = self.two.pick.id()?;
        snapshot.questions.iter().find(|row| row.channel == *channel)
    }

    fn open(&mut self, snapshot: &Snapshot) -> Option<Effect> {
        let row = self.selected(snapshot)?;
        if !row.is_open() {
            self.two.focus = Focus::Detail;
            return None;
        }
        if snapshot.read_only {
            let words = "nothing can be answered here: the dashboard was started with --read-only";
            return Some(Effect::Complain(words.into()));
        }
        Some(Effect::EditAnswer(row.channel.clone()))
    }

    /// Draws the pane.
    pub fn render(&self, buf: &mut Buffer, draw: &Draw<'_>) {
        let [list, detail] = self.two.draws(draw);
        self.render_list(buf, &list);
        self.two.about(buf, (self.made.as_deref(), "Question"), &detail);
    }

    fn render_list(&self, buf: &mut Buffer, draw: &Draw<'_>) {
        let rows = &draw.snapshot.questions;
        let open = rows.iter().filter(|row| row.is_open()).count();
        let count = if rows.is_empty() { Row::new() } else { vec![Span::new(Role::Dim, &format!("{open} open"))] };
        let Some(inside) = self.two.list(buf, ("Inbox", count), draw) else { return };
        if rows.is_empty() {
            let more = "Questions that seats ask each other and prompts of autopilots stand here until they are \
                answered: by the seat's agent, or by you.";
            return empty(buf, inside, &["Nobody waits for an answer.", more], draw);
        }
        let row = |row: &Arc<QuestionView>| (row.channel.clone(), cells(row, draw.now));
        self.two.rows(buf, (inside, &COLUMNS), (rows.iter(), row), draw);
    }

    fn describe(&mut self, snapshot: &Snapshot) {
        let width = self.two.width();
        if self.made.as_ref() != self.two.pick.id() {
            self.two.detail.rewind();
        }
        self.made = self.two.pick.id().cloned();
        let sections = self.selected(snapshot).map(|row| about::sections(row, &self.zone, width));
        self.two.detail.fill(sections.unwrap_or_default(), width);
    }
}

fn ids(snapshot: &Snapshot) -> Vec<Arc<str>> {
    snapshot.questions.iter().map(|row| row.channel.clone()).collect()
}

fn cells(row: &QuestionView, now: Timestamp) -> Vec<Row> {
    let role = if row.is_open() { Role::Text } else { Role::Dim };
    let text = |role, text: &str| vec![Span::new(role, text)];
    let waits = match (row.is_open(), row.waits_until, row.kind) {
        (false, ..) => text(Role::Dim, "answered"),
        (true, Some(until), _) if until > now => {
            let left = until.since(now);
            text(if left.as_secs() < SOON { Role::Warning } else { Role::Text }, &clock(left))
        }
        (true, _, QuestionKind::Colleague) => text(Role::Text, "open"),
        (true, _, QuestionKind::Autopilot) => text(Role::Text, "prompt"),
    };
    // A question that begins with blank lines still begins with its words.
    let first = row.brief.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    vec![
        text(role, first.trim()),
        text(role, &row.from),
        text(role, row.to.as_str()),
        waits,
        text(role, &by_minutes(now.since(row.at))),
    ]
}
