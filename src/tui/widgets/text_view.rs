//! A window onto numbered lines that keep coming: follows the end, or stays on what the person was reading.
//!
//! Lines are addressed by sequence number, so a paused view does not move when lines arrive or old ones fall off.
//! Wrapping, sideways scrolling, search. What a line is and where it comes from is the [`Source`]'s business.

use std::borrow::Cow;
use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use unicode_segmentation::UnicodeSegmentation as _;

use super::cells::{put, put_window, row, to_cells, width};
use super::panel::Scroll;
use super::search::Search;
use crate::text;
use crate::tui::intent::Intent;
use crate::tui::theme::{Role, Theme};

/// Lines with sequence numbers.
pub trait Source {
    /// The oldest number that is kept.
    fn first(&self) -> u64;
    /// The number after the newest.
    fn end(&self) -> u64;
    /// A line; `None` when it is filtered out or gone.
    fn line(&self, sequence: u64) -> Option<Line<'_>>;

    /// The text of a line alone, for searching.
    fn text(&self, sequence: u64) -> Option<Cow<'_, str>> {
        self.line(sequence).map(|line| line.text)
    }

    /// Whether a line speaks of an error.
    fn is_error(&self, _sequence: u64) -> bool {
        false
    }
}

/// What has become of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Found {
    /// It is on the screen.
    Yes,
    /// It is on the screen, and the search went on from the other end.
    Around,
    /// There is none in that direction.
    No,
    /// There are too many lines for one step: [`TextView::advance`] goes on.
    Searching,
}

/// A search on its way through the lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Hunt {
    intent: Intent,
    forward: bool,
    /// The next line when going forward, the one after the next when going back.
    at: u64,
    /// Where to go on when nothing is found up to the end.
    turn: Option<Turn>,
    /// It went on there.
    around: bool,
}

/// Where a search goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Turn {
    /// Forward from a line.
    Forward(u64),
    /// From the beginning or the end, in the same direction.
    Around,
}

/// Lines that one step of a search looks at: some milliseconds.
const STEP: u32 = 20_000;

/// A line of a [`Source`], cleaned.
#[derive(Clone, Debug)]
pub struct Line<'a> {
    /// What stands before the text and never wraps or scrolls: a time, a level.
    pub lead: Vec<(Cow<'a, str>, Role)>,
    /// The text.
    pub text: Cow<'a, str>,
    /// The text's meaning.
    pub role: Role,
}

/// A row on the screen: a line's number, and which part of it when it is wrapped.
type Row = (u64, usize);

const SIDEWAYS: usize = 8;
/// Below this width the lead is left out.
const NARROW: u16 = 24;

/// See the module.
#[derive(Clone, Debug)]
pub struct TextView {
    following: bool,
    top: Row,
    left: usize,
    wrap: bool,
    match_at: Option<u64>,
    /// The error that was jumped to.
    error_at: Option<u64>,
    hunt: Option<Hunt>,
    /// Which match is shown, and of how many.
    place: Option<(usize, usize)>,
    rows: Vec<Row>,
    width: u16,
    height: u16,
    /// What is looked for.
    pub search: Search,
}

impl Default for TextView {
    fn default() -> Self {
        Self {
            following: true,
            top: (0, 0),
            left: 0,
            wrap: false,
            match_at: None,
            error_at: None,
            hunt: None,
            place: None,
            rows: Vec::new(),
            width: 0,
            height: 0,
            search: Search::default(),
        }
    }
}

impl TextView {
    /// Works out which rows are visible.
    pub fn layout(&mut self, area: Rect, source: &dyn Source) {
        (self.width, self.height) = (area.width, area.height);
        self.rows = if self.following { Vec::new() } else { self.down_from(self.clamped(source), source) };
        if self.rows.len() < usize::from(self.height) {
            self.rows = self.up_from_end(source);
        }
        if let Some(first) = self.rows.first() {
            self.top = *first;
        }
    }

    /// True while the search field is open.
    pub const fn typing(&self) -> bool {
        self.search.field().is_some()
    }

    /// True while something is searched for.
    pub const fn searching(&self) -> bool {
        self.typing() || self.search.is_active()
    }

    /// Moves, follows, pauses, wraps or searches. True when the intent was one of these.
    pub fn apply(&mut self, intent: Intent, source: &dyn Source) -> bool {
        let page = usize::from(self.height.saturating_sub(1).max(1));
        self.hunt = None;
        match intent {
            Intent::Up => self.scroll_up(1, source),
            Intent::Down => self.scroll_down(1, source),
            Intent::PageUp => self.scroll_up(page, source),
            Intent::PageDown => self.scroll_down(page, source),
            Intent::Top => (self.following, self.top) = (false, (source.first(), 0)),
            Intent::Bottom => self.following = true,
            Intent::Left => self.left = self.left.saturating_sub(SIDEWAYS),
            Intent::Right if !self.wrap => self.left = (self.left + SIDEWAYS).min(self.widest(source)),
            Intent::Right => {}
            Intent::Follow => self.following = !self.following,
            Intent::Wrap => (self.wrap, self.left) = (!self.wrap, 0),
            Intent::Search => self.search.open(),
            Intent::NextMatch | Intent::PreviousMatch | Intent::NextError | Intent::PreviousError => {
                self.find(intent, source);
            }
            _ => return false,
        }
        true
    }

    /// Closes the search field and goes to the newest match that is not below what is shown, or else to the next one.
    pub fn submit_search(&mut self, source: &dyn Source) -> Found {
        self.search.keep();
        self.match_at = None;
        self.hunt = None;
        if !self.search.is_active() {
            return Found::Yes;
        }
        let from = self.below(source);
        let turn = Some(Turn::Forward(from));
        self.hunt = Some(Hunt { intent: Intent::Submit, forward: false, at: from, turn, around: false });
        self.advance(source)
    }

    /// Goes to the next or the previous match or error.
    pub fn find(&mut self, intent: Intent, source: &dyn Source) -> Found {
        let errors = matches!(intent, Intent::NextError | Intent::PreviousError);
        let forward = matches!(intent, Intent::NextMatch | Intent::NextError);
        let mark = if errors { self.error_at } else { self.match_at };
        let at = match (mark, forward) {
            (Some(mark), true) => mark + 1,
            (Some(mark), false) => mark,
            (None, true) => self.top.0,
            (None, false) => self.below(source),
        };
        // Errors are gone through in order, matches round and round.
        let turn = (!errors).then_some(Turn::Around);
        self.hunt = Some(Hunt { intent, forward, at, turn, around: false });
        self.advance(source)
    }

    /// Goes on with a search that took too long for one step.
    pub fn advance(&mut self, source: &dyn Source) -> Found {
        let Some(mut hunt) = self.hunt.take() else { return Found::No };
        let errors = matches!(hunt.intent, Intent::NextError | Intent::PreviousError);
        let (first, end) = (source.first(), source.end());
        for _ in 0..STEP {
            let sequence = match hunt.forward {
                true if hunt.at.max(first) < end => hunt.at.max(first),
                false if hunt.at.min(end) > first => hunt.at.min(end) - 1,
                _ => {
                    let Some(turn) = hunt.turn.take() else { return Found::No };
                    hunt = match turn {
                        Turn::Forward(at) => Hunt { forward: true, at, ..hunt },
                        Turn::Around => Hunt { at: if hunt.forward { first } else { end }, around: true, ..hunt },
                    };
                    continue;
                }
            };
            hunt.at = if hunt.forward { sequence + 1 } else { sequence };
            let found = if errors {
                source.is_error(sequence)
            } else {
                source.text(sequence).is_some_and(|text| self.search.is_in(&text))
            };
            if found {
                *(if errors { &mut self.error_at } else { &mut self.match_at }) = Some(sequence);
                self.bring(sequence, source);
                if !errors {
                    self.count(sequence, source);
                }
                return if hunt.around { Found::Around } else { Found::Yes };
            }
        }
        self.hunt = Some(hunt);
        Found::Searching
    }

    /// Counts the matches, where that is done in one step.
    fn count(&mut self, found: u64, source: &dyn Source) {
        let (first, end) = (source.first(), source.end());
        self.place = None;
        if end.saturating_sub(first) > u64::from(STEP) {
            return;
        }
        let matches = |sequence: &u64| source.text(*sequence).is_some_and(|text| self.search.is_in(&text));
        let before = (first..found).filter(matches).count();
        let after = (found + 1..end).filter(matches).count();
        self.place = Some((before + 1, before + 1 + after));
    }

    /// Which match is shown, of how many there were when it was looked for: `3 of 12`.
    pub fn place(&self) -> Option<String> {
        let (nth, all) = self.place.filter(|_| self.search.is_active() && self.match_at.is_some())?;
        Some(format!("{nth} of {all}"))
    }

    /// What is being searched for, while a search needs more steps.
    pub fn hunting(&self) -> Option<Intent> {
        self.hunt.map(|hunt| hunt.intent)
    }

    /// The numbers of the lines that are on the screen.
    pub fn visible(&self) -> Vec<u64> {
        let mut shown: Vec<u64> = self.rows.iter().map(|(sequence, _)| *sequence).collect();
        shown.dedup();
        shown
    }

    /// Stays on this line, wherever it is now.
    pub const fn stay_at(&mut self, sequence: u64) {
        self.following = false;
        self.top = (sequence, 0);
    }

    fn below(&self, source: &dyn Source) -> u64 {
        self.rows.last().map_or(source.end(), |last| last.0 + 1)
    }

    fn bring(&mut self, sequence: u64, source: &dyn Source) {
        self.following = false;
        if !self.rows.iter().any(|shown| shown.0 == sequence) {
            self.top = (sequence, 0);
            self.scroll_up(usize::from(self.height / 2), source);
        }
    }

    /// True while it shows the end as it comes.
    pub const fn is_following(&self) -> bool {
        self.following
    }

    /// `following`, or `paused` with the number of newer lines.
    pub fn state(&self, source: &dyn Source) -> String {
        if let Some(hunt) = self.hunt {
            let (first, end) = (source.first(), source.end().max(source.first() + 1));
            let done = hunt.at.clamp(first, end) - first;
            let left = if hunt.forward { end - first - done } else { done };
            return format!("searching, {left} lines to go");
        }
        if self.following {
            return "following".to_owned();
        }
        match self.rows.last().map_or(0, |last| source.end().saturating_sub(last.0 + 1)) {
            0 => "paused".to_owned(),
            below => format!("paused · {below} below"),
        }
    }

    /// For the border: in lines, as far as numbers tell.
    pub fn scroll_state(&self, source: &dyn Source) -> Scroll {
        let count = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let above = self.rows.first().map_or(0, |first| first.0.saturating_sub(source.first()));
        Scroll {
            above: count(above),
            shown: self.rows.len(),
            total: count(source.end().saturating_sub(source.first())).max(self.rows.len()),
        }
    }

    /// Draws the visible rows.
    pub fn render(&self, buf: &mut Buffer, area: Rect, source: &dyn Source, theme: &Theme) {
        for (n, (sequence, part)) in (0_u16..).zip(&self.rows) {
            let Some(line) = source.line(*sequence) else { continue };
            let place = row(area, n);
            let lead = self.lead_width(&line);
            if *part == 0 && lead > 0 {
                let spans: Vec<_> = line.lead.iter().map(|(text, role)| (&**text, theme.style(*role))).collect();
                put_window(buf, Rect { width: lead, ..place }, 0, &spans);
            }
            let room = place.width.saturating_sub(lead);
            let place = Rect { x: place.x + lead, width: room, ..place };
            self.render_text(buf, place, (&line, (*sequence, *part)), theme);
        }
    }

    fn render_text(&self, buf: &mut Buffer, place: Rect, (line, (sequence, part)): (&Line<'_>, Row), theme: &Theme) {
        let mut style = theme.style(line.role);
        if self.error_at == Some(sequence) {
            style = style.patch(theme.style(Role::Match));
        }
        let range = if self.wrap {
            chunks(&line.text, place.width).into_iter().nth(part).unwrap_or_default()
        } else {
            0..line.text.len()
        };
        let marks = self.search.places(&line.text);
        let mut matched = style.patch(theme.style(Role::Match));
        if self.match_at == Some(sequence) {
            matched = matched.add_modifier(Modifier::BOLD | Modifier::UNDERLINED);
        }
        let spans = styled(&line.text, &range, &marks, (style, matched));
        let shown = range.len();
        let cut = !self.wrap && shown > 0 && width(&line.text) > self.left + usize::from(place.width);
        let room = place.width.saturating_sub(u16::from(cut));
        put_window(buf, Rect { width: room, ..place }, if self.wrap { 0 } else { self.left }, &spans);
        if cut {
            put(buf, Rect { x: place.x + room, width: 1, ..place }, "…", theme.style(Role::Dim));
        }
    }

    fn lead_width(&self, line: &Line<'_>) -> u16 {
        if self.width < NARROW {
            return 0;
        }
        to_cells(line.lead.iter().map(|(text, _)| width(text)).sum()).min(self.width / 2)
    }

    fn parts(&self, sequence: u64, source: &dyn Source) -> usize {
        let Some(line) = source.line(sequence) else { return 0 };
        if self.wrap { chunks(&line.text, self.width.saturating_sub(self.lead_width(&line))).len() } else { 1 }
    }

    fn widest(&self, source: &dyn Source) -> usize {
        let shown = self.rows.iter().filter_map(|(sequence, _)| source.line(*sequence));
        shown.map(|line| width(&line.text)).max().unwrap_or(0).saturating_sub(1)
    }

    fn clamped(&self, source: &dyn Source) -> Row {
        if self.top.0 < source.first() { (source.first(), 0) } else { self.top }
    }

    fn down_from(&self, (sequence, part): Row, source: &dyn Source) -> Vec<Row> {
        let mut rows = Vec::new();
        for at in sequence..source.end() {
            let skip = if at == sequence { part } else { 0 };
            for piece in skip..self.parts(at, source) {
                if rows.len() >= usize::from(self.height) {
                    return rows;
                }
                rows.push((at, piece));
            }
        }
        rows
    }

    fn up_from_end(&self, source: &dyn Source) -> Vec<Row> {
        let mut rows = Vec::new();
        for at in (source.first()..source.end()).rev() {
            for piece in (0..self.parts(at, source)).rev() {
                if rows.len() >= usize::from(self.height) {
                    rows.reverse();
                    return rows;
                }
                rows.push((at, piece));
            }
        }
        rows.reverse();
        rows
    }

    fn scroll_up(&mut self, mut rows: usize, source: &dyn Source) {
        self.following = false;
        let (mut sequence, mut part) = self.clamped(source);
        while rows > 0 {
            if part > 0 {
                let step = part.min(rows);
                part -= step;
                rows -= step;
                continue;
            }
            let Some(before) = (source.first()..sequence).rev().find(|at| self.parts(*at, source) > 0) else { break };
            sequence = before;
            part = self.parts(before, source).saturating_sub(1);
            rows -= 1;
        }
        self.top = (sequence, part);
    }

    fn scroll_down(&mut self, rows: usize, source: &dyn Source) {
        if self.following {
            return;
        }
        let below = Self { height: self.height.saturating_add(to_cells(rows)), ..self.clone() };
        let ahead = below.down_from(self.clamped(source), source);
        let most = ahead.len().saturating_sub(usize::from(self.height));
        if let Some(row) = ahead.get(rows.min(most)) {
            self.top = *row;
        }
    }
}

/// The byte ranges of a text's rows when it is broken at `cells` cells. Never empty.
fn chunks(content: &str, cells: u16) -> Vec<Range<usize>> {
    let cells = usize::from(cells.max(2));
    let mut ranges = Vec::new();
    let (mut start, mut used) = (0, 0);
    for (at, grapheme) in content.grapheme_indices(true) {
        let wide = text::width(grapheme);
        if used + wide > cells && used > 0 {
            ranges.push(start..at);
            (start, used) = (at, 0);
        }
        used += wide;
    }
    ranges.push(start..content.len());
    ranges
}

/// The part `range` of a text as runs, those of `marks` in the second style.
fn styled<'t>(
    content: &'t str,
    range: &Range<usize>,
    marks: &[Range<usize>],
    (plain, marked): (Style, Style),
) -> Vec<(&'t str, Style)> {
    let mut spans = Vec::new();
    let mut at = range.start;
    for mark in marks {
        let (start, end) = (mark.start.clamp(at, range.end), mark.end.clamp(at, range.end));
        spans.push((content.get(at..start).unwrap_or_default(), plain));
        spans.push((content.get(start..end).unwrap_or_default(), marked));
        at = end;
    }
    spans.push((content.get(at..range.end).unwrap_or_default(), plain));
    spans
}

#[cfg(test)]
#[path = "text_view_tests.rs"]
mod tests;
