//! Lines of stderr picked from one server or from all, in the order of time: which ones, and what each looks like.
//!
//! A [`Feed`] numbers the lines that it picks and takes in only what is new since the last look, so that a frame
//! costs the same however many lines are kept. The pane of stderr owns it and shows it.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::sync::LazyLock;

use jiff::tz::TimeZone;
use regex::Regex;

use crate::clock::{Precision, Timestamp};
use crate::engine::snapshot::{LineKind, LogLevel, ServerView, Snapshot, StderrLine};
use crate::ids::ConnectionName;
use crate::text;
use crate::tui::format::span;
use crate::tui::theme::Role;
use crate::tui::widgets::text_view::{Line, Source};

/// Cells of a server's name before its lines.
const NAME: usize = 14;
/// Picked lines that may be gone from their servers before all are numbered anew.
const GONE: usize = 4_096;

/// What stands before a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Times {
    /// The time of day.
    #[default]
    OfDay,
    /// How long ago.
    Ago,
    /// Nothing.
    Hidden,
}

impl Times {
    /// The next one.
    pub const fn next(self) -> Self {
        match self {
            Self::OfDay => Self::Ago,
            Self::Ago => Self::Hidden,
            Self::Hidden => Self::OfDay,
        }
    }

    /// As it stands before a line; always of the same width.
    pub fn lead(self, at: Timestamp, now: Timestamp, zone: &TimeZone) -> Option<(Cow<'static, str>, Role)> {
        let text = match self {
            Self::OfDay => at.time_of_day(zone, Precision::Seconds),
            Self::Ago => format!("{:>8}", span(now.since(at))),
            Self::Hidden => return None,
        };
        Some((format!("{text}  ").into(), Role::Dim))
    }
}

/// Which lines are picked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pick {
    /// Only this connection's, or all.
    pub only: Option<ConnectionName>,
    /// Of this level and above.
    pub least: LogLevel,
}

/// What a line of stderr seems to be: nobody says, so its words decide.
pub fn level_of(line: &StderrLine) -> LogLevel {
    static ERROR: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?i)\b(error|fatal|panic|panicked|critical|exception|traceback|emerg)\b|\w(Error|Exception):").ok()
    });
    static WARNING: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(?i)\bwarn(ing)?\b").ok());
    let says = |words: &Option<Regex>| words.as_ref().is_some_and(|words| words.is_match(&line.text));
    match line.kind {
        LineKind::Stderr | LineKind::Noise if says(&ERROR) => LogLevel::Error,
        LineKind::Mark | LineKind::Noise => LogLevel::Warn,
        LineKind::Stderr if says(&WARNING) => LogLevel::Warn,
        LineKind::Stderr => LogLevel::Info,
    }
}

#[derive(Clone, Copy, Debug)]
struct Picked {
    at: Timestamp,
    /// Place among `names`.
    server: usize,
    sequence: u64,
    error: bool,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Feed {
    pick: Pick,
    names: Vec<ConnectionName>,
    read_to: BTreeMap<ConnectionName, u64>,
    lines: VecDeque<Picked>,
    /// The number of the first line.
    first: u64,
}

impl Feed {
    /// A feed that has not looked yet.
    pub const fn new(pick: Pick) -> Self {
        Self { pick, names: Vec::new(), read_to: BTreeMap::new(), lines: VecDeque::new(), first: 0 }
    }

    /// What is picked.
    pub const fn pick(&self) -> &Pick {
        &self.pick
    }

    /// Takes in what is new and forgets what is gone.
    pub fn look(&mut self, snapshot: &Snapshot) {
        let mut earliest: Option<Timestamp> = None;
        for server in &snapshot.servers {
            if self.pick.only.as_ref().is_some_and(|only| *only != server.connection) {
                continue;
            }
            let name = self.place_of(&server.connection);
            let from = self.read_to.get(&server.connection).copied().unwrap_or(0);
            for (sequence, line) in server.stderr.iter_from(from) {
                let level = level_of(line);
                if level >= self.pick.least {
                    earliest = Some(earliest.map_or(line.at, |earliest| earliest.min(line.at)));
                    let error = level == LogLevel::Error;
                    self.lines.push_back(Picked { at: line.at, server: name, sequence, error });
                }
            }
            self.read_to.insert(server.connection.clone(), server.stderr.end());
        }
        if let Some(earliest) = earliest {
            self.sort_from(earliest);
        }
        self.forget(snapshot);
    }

    /// The number of the first line that is not older.
    pub fn at(&self, at: Timestamp) -> u64 {
        self.first + self.lines.partition_point(|line| line.at < at) as u64
    }

    /// Brings what came late to its place. Only lines that are not older than it can move.
    fn sort_from(&mut self, earliest: Timestamp) {
        let lines = self.lines.make_contiguous();
        // What was there is in order; what is new stands behind it.
        let start = lines.iter().rposition(|line| line.at < earliest).map_or(0, |before| before + 1);
        if let Some(unsorted) = lines.get_mut(start..) {
            unsorted.sort_by_key(|line| line.at);
        }
    }

    fn forget(&mut self, snapshot: &Snapshot) {
        while self.lines.front().is_some_and(|line| self.line_of(snapshot, line).is_none()) {
            self.lines.pop_front();
            self.first += 1;
        }
        let kept: usize = snapshot.servers.iter().map(|server| server.stderr.len()).sum();
        if self.lines.len() > kept + GONE {
            let mut lines = std::mem::take(&mut self.lines);
            let before = lines.len();
            lines.retain(|line| self.line_of(snapshot, line).is_some());
            // The newest lines keep their numbers.
            self.first += (before - lines.len()) as u64;
            self.lines = lines;
        }
    }

    fn place_of(&mut self, name: &ConnectionName) -> usize {
        self.names.iter().position(|known| known == name).unwrap_or_else(|| {
            self.names.push(name.clone());
            self.names.len() - 1
        })
    }

    fn picked(&self, number: u64) -> Option<&Picked> {
        self.lines.get(usize::try_from(number.checked_sub(self.first)?).ok()?)
    }

    fn line_of<'s>(&self, snapshot: &'s Snapshot, line: &Picked) -> Option<(&'s ServerView, &'s StderrLine)> {
        let name = self.names.get(line.server)?;
        let server = snapshot.servers.iter().find(|server| server.connection == *name)?;
        Some((server, server.stderr.get(line.sequence)?))
    }
}

/// How lines are shown.
#[derive(Clone, Copy, Debug)]
pub struct Style<'s> {
    /// What stands before them.
    pub times: Times,
    /// The time of the frame.
    pub now: Timestamp,
    /// The zone of times.
    pub zone: &'s TimeZone,
}

impl Style<'_> {
    /// A line as the view shows it.
    pub fn line<'s>(&self, line: &'s StderrLine, server: Option<&str>) -> Line<'s> {
        let mut lead: Vec<(Cow<'_, str>, Role)> = self.times.lead(line.at, self.now, self.zone).into_iter().collect();
        if let Some(server) = server {
            lead.push((format!("{}  ", text::pad(&text::visible(server), NAME)).into(), Role::Dim));
        }
        let (before, role) = match line.kind {
            LineKind::Stderr => (None, Role::Text),
            LineKind::Noise => (Some("stdout: "), Role::Warning),
            LineKind::Mark => (Some("── "), Role::Accent),
        };
        lead.extend(before.map(|before| (Cow::Borrowed(before), role)));
        Line { lead, text: text::clean(&line.text), role }
    }
}

/// The lines of a feed, for a view.
#[derive(Clone, Copy, Debug)]
pub struct FeedLines<'s> {
    /// Which ones.
    pub feed: &'s Feed,
    /// Where they are kept.
    pub snapshot: &'s Snapshot,
    /// How they look.
    pub style: Style<'s>,
}

impl FeedLines<'_> {
    /// When a line was written.
    pub fn time(&self, number: u64) -> Option<Timestamp> {
        self.feed.picked(number).map(|line| line.at)
    }
}

impl Source for FeedLines<'_> {
    fn first(&self) -> u64 {
        self.feed.first
    }

    fn end(&self) -> u64 {
        self.feed.first + self.feed.lines.len() as u64
    }

    fn line(&self, number: u64) -> Option<Line<'_>> {
        let (server, line) = self.feed.line_of(self.snapshot, self.feed.picked(number)?)?;
        let name = self.feed.pick.only.is_none().then(|| server.connection.as_str());
        Some(self.style.line(line, name))
    }

    fn text(&self, number: u64) -> Option<Cow<'_, str>> {
        let (_, line) = self.feed.line_of(self.snapshot, self.feed.picked(number)?)?;
        Some(text::clean(&line.text))
    }

    fn is_error(&self, number: u64) -> bool {
        self.feed.picked(number).is_some_and(|line| line.error)
    }
}

#[cfg(test)]
mod tests;
