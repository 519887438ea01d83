//! The stderr of the selected server: its own lines, and the engine's marks between them. Or that of all servers, or
//! only what warns.
//!
//! Each server keeps its own place, so that looking at another one and coming back loses nothing. A failed server
//! opens on its failure: headline, next step, last words.

use std::borrow::Cow;
use std::collections::BTreeMap;

use jiff::tz::TimeZone;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::clock::Timestamp;
use crate::engine::command::{Command, Export};
use crate::engine::snapshot::{LogLevel, ServerView, Snapshot};
use crate::ids::ConnectionName;
use crate::text;
use crate::tui::Draw;
use crate::tui::intent::{Effect, Intent};
use crate::tui::panes::feed::{Feed, FeedLines, Pick, Style, Times, level_of};
use crate::tui::panes::filter::Field;
use crate::tui::panes::servers::selected_view;
use crate::tui::theme::Role;
use crate::tui::widgets::cells::{put, row, to_cells, wrap};
use crate::tui::widgets::panel::{Panel, divider, inner};
use crate::tui::widgets::text_view::{Found, Line, Source, TextView};

/// Lines of a failure's head, at most.
const HEAD: u16 = 10;

/// See the module.
#[derive(Clone, Debug)]
pub struct StderrPane {
    views: BTreeMap<ConnectionName, TextView>,
    current: Option<ConnectionName>,
    scope: Scope,
    least: LogLevel,
    /// The lines of several servers or of some levels; all lines of one server need no picking.
    feed: Option<Feed>,
    /// The place in the feed.
    picked: TextView,
    zone: TimeZone,
    times: Times,
    area: Rect,
    head: Vec<(String, Role)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Scope {
    One,
    All,
}

impl StderrPane {
    /// A pane that shows times in this zone.
    pub fn new(zone: TimeZone) -> Self {
        Self {
            views: BTreeMap::new(),
            current: None,
            scope: Scope::One,
            least: LogLevel::Debug,
            feed: None,
            picked: TextView::default(),
            zone,
            times: Times::default(),
            area: Rect::ZERO,
            head: Vec::new(),
        }
    }

    /// Fits the pane to its area and shows the given connection.
    pub fn layout(&mut self, area: Rect, snapshot: &Snapshot, selected: Option<&ConnectionName>) {
        self.area = area;
        self.views.retain(|name, _| snapshot.servers.iter().any(|server| server.connection == *name));
        let server = selected_view(snapshot, selected);
        self.current = server.map(|server| server.connection.clone());
        self.head = match (server, self.scope) {
            (Some(server), Scope::One) => head(server, inner(area)),
            _ => Vec::new(),
        };
        if let Some(current) = self.current.clone() {
            self.views.entry(current).or_default();
        }
        self.pick(snapshot);
        let text = self.text_area();
        self.with_view(snapshot, |view, lines| view.layout(text, lines));
    }

    /// Acts on an intent.
    pub fn apply(&mut self, intent: Intent, snapshot: &Snapshot) -> Vec<Effect> {
        match intent {
            Intent::Times => self.times = self.times.next(),
            Intent::CycleServer => self.scope = if self.scope == Scope::One { Scope::All } else { Scope::One },
            Intent::Level => {
                self.least = match self.least {
                    LogLevel::Debug | LogLevel::Info => LogLevel::Warn,
                    LogLevel::Warn => LogLevel::Error,
                    LogLevel::Error => LogLevel::Debug,
                }
            }
            Intent::Save => return self.save(),
            intent => {
                let done = self.with_view(snapshot, |view, lines| search_apply(view, intent, lines));
                return done.unwrap_or_default();
            }
        }
        Vec::new()
    }

    /// True when the failure of the selected server stands above its lines.
    pub const fn tells_failure(&self) -> bool {
        !self.head.is_empty()
    }

    /// Goes on with a search that takes long.
    pub fn advance(&mut self, snapshot: &Snapshot) -> Vec<Effect> {
        self.with_view(snapshot, search_advance).unwrap_or_default()
    }

    /// True while a search needs more steps.
    pub fn hunting(&self) -> bool {
        self.view().is_some_and(|view| view.hunting().is_some())
    }

    /// True while what stands before the lines changes by itself.
    pub fn ages(&self) -> bool {
        self.times == Times::Ago
    }

    /// True while the search field is open.
    pub fn typing(&self) -> bool {
        self.view().is_some_and(TextView::typing)
    }

    /// True while something is searched for.
    pub fn searching(&self) -> bool {
        self.view().is_some_and(TextView::searching)
    }

    /// The search field, while it is open.
    pub fn field(&mut self) -> Option<&mut dyn Field> {
        let view = self.view_mut().filter(|view| view.typing())?;
        Some(&mut view.search)
    }

    /// Draws the pane.
    pub fn render(&self, buf: &mut Buffer, draw: &Draw<'_>) {
        let (Some(lines), Some(view)) = (self.lines(draw.snapshot, draw.now), self.view()) else {
            Panel { title: "stderr", focused: draw.focused, ..Panel::default() }.render(buf, self.area, draw.theme);
            return;
        };
        let mut state = view.state(&lines);
        let dropped = self.dropped(draw.snapshot);
        if dropped > 0 {
            state = format!("{dropped} dropped · {state}");
        }
        let title = self.title();
        let scroll = Some(view.scroll_state(&lines));
        let panel = Panel { title: &title, right: &state, focused: draw.focused, scroll, heavy: false };
        let inside = panel.render(buf, self.area, draw.theme);
        if !self.head.is_empty() {
            for (n, (line, role)) in (0_u16..).zip(&self.head) {
                put(buf, indent(row(inside, n)), line, draw.theme.style(*role));
            }
            let role = if draw.focused { Role::BorderFocused } else { Role::Border };
            divider(buf, self.area, inside.y + to_cells(self.head.len()), draw.theme.style(role));
        }
        let text = self.text_area();
        if lines.first() == lines.end() {
            let words = if self.least > LogLevel::Info { "nothing at this level" } else { "nothing was written" };
            put(buf, row(text, 0), words, draw.theme.style(Role::Dim));
        }
        view.render(buf, text, &lines, draw.theme);
        render_search(buf, self.area, view, draw);
    }

    fn title(&self) -> String {
        let whose = match (self.scope, &self.current) {
            (Scope::One, Some(current)) => text::visible(current.as_str()),
            _ => "all servers".into(),
        };
        let level = match self.least {
            LogLevel::Debug | LogLevel::Info => "",
            LogLevel::Warn => " · warnings and errors",
            LogLevel::Error => " · errors",
        };
        format!("stderr · {whose}{level}")
    }

    fn dropped(&self, snapshot: &Snapshot) -> u64 {
        let shown = |server: &&std::sync::Arc<ServerView>| {
            self.scope == Scope::All || Some(&server.connection) == self.current.as_ref()
        };
        snapshot.servers.iter().filter(shown).map(|server| server.stderr_dropped).sum()
    }

    fn save(&self) -> Vec<Effect> {
        match (self.scope, &self.current) {
            (Scope::One, Some(current)) => vec![Effect::Send(Command::Export(Export::Stderr(current.clone())))],
            _ => {
                vec![Effect::Say("a file holds one server's lines: choose one first, or write all for a report".into())]
            }
        }
    }

    /// Picks the lines anew when other ones are wanted, and what is new among them. Somebody who reads stays at the
    /// moment that they were reading.
    fn pick(&mut self, snapshot: &Snapshot) {
        let only = if self.scope == Scope::One { self.current.clone() } else { None };
        let nobody = self.scope == Scope::One && only.is_none();
        let whole = self.scope == Scope::One && self.least <= LogLevel::Info;
        let pick = (!whole && !nobody).then_some(Pick { only, least: self.least });
        if self.feed.as_ref().map(Feed::pick) == pick.as_ref() {
            if let Some(feed) = &mut self.feed {
                feed.look(snapshot);
            }
            return;
        }
        let before = self.view().cloned().unwrap_or_default();
        let reading = before.visible().first().copied().filter(|_| !before.is_following());
        let moment = reading.and_then(|number| self.lines(snapshot, Timestamp::default())?.time(number));
        self.feed = pick.map(|pick| {
            let mut feed = Feed::new(pick);
            feed.look(snapshot);
            feed
        });
        let place = moment.and_then(|moment| match &self.feed {
            Some(feed) => Some(feed.at(moment)),
            None => {
                let server = selected_view(snapshot, self.current.as_ref())?;
                server.stderr.iter().find(|(_, line)| line.at >= moment).map(|(sequence, _)| sequence)
            }
        });
        if self.feed.is_some() {
            self.picked = TextView::default();
            self.picked.search = before.search.clone();
        }
        if let (Some(place), Some(view)) = (place, self.view_mut()) {
            view.stay_at(place);
        }
    }

    fn text_area(&self) -> Rect {
        let inside = inner(self.area);
        let head = if self.head.is_empty() { 0 } else { to_cells(self.head.len()) + 1 };
        let head = head.min(inside.height);
        indent(Rect { y: inside.y + head, height: inside.height - head, ..inside })
    }

    fn lines<'s>(&'s self, snapshot: &'s Snapshot, now: Timestamp) -> Option<Lines<'s>> {
        let style = Style { times: self.times, now, zone: &self.zone };
        if let Some(feed) = &self.feed {
            return Some(Lines::Picked(FeedLines { feed, snapshot, style }));
        }
        let server = selected_view(snapshot, self.current.as_ref())?;
        Some(Lines::Whole(server, style))
    }

    /// Works on the view in front with its lines.
    fn with_view<T>(&mut self, snapshot: &Snapshot, work: impl FnOnce(&mut TextView, &dyn Source) -> T) -> Option<T> {
        let mut view = std::mem::take(self.view_mut()?);
        let done = self.lines(snapshot, Timestamp::default()).map(|lines| work(&mut view, &lines));
        *self.view_mut()? = view;
        done
    }

    fn view(&self) -> Option<&TextView> {
        if self.feed.is_some() { Some(&self.picked) } else { self.views.get(self.current.as_ref()?) }
    }

    fn view_mut(&mut self) -> Option<&mut TextView> {
        if self.feed.is_some() { Some(&mut self.picked) } else { self.views.get_mut(self.current.as_ref()?) }
    }
}

/// Acts on an intent in a view with a search; shared with the log.
pub(super) fn search_apply(view: &mut TextView, intent: Intent, lines: &dyn Source) -> Vec<Effect> {
    match intent {
        Intent::Submit => {
            let found = view.submit_search(lines);
            return search_end(view, intent, found);
        }
        Intent::Back => _ = view.search.leave(),
        Intent::NextMatch | Intent::PreviousMatch if !view.search.is_active() => {
            return vec![Effect::Say("nothing is searched for: / starts a search".into())];
        }
        Intent::NextMatch | Intent::PreviousMatch | Intent::NextError | Intent::PreviousError => {
            let found = view.find(intent, lines);
            return search_end(view, intent, found);
        }
        Intent::Copy => return copy(view, lines),
        intent => _ = view.apply(intent, lines),
    }
    Vec::new()
}

/// Goes on with a search that takes long; shared with the log.
pub(super) fn search_advance(view: &mut TextView, lines: &dyn Source) -> Vec<Effect> {
    let Some(intent) = view.hunting() else { return Vec::new() };
    let found = view.advance(lines);
    search_end(view, intent, found)
}

fn search_end(view: &TextView, intent: Intent, found: Found) -> Vec<Effect> {
    match (found, intent) {
        (Found::Around, Intent::PreviousMatch) => return vec![Effect::Say("on from the end".into())],
        (Found::Around, _) => return vec![Effect::Say("on from the beginning".into())],
        (Found::Yes | Found::Searching, _) => return Vec::new(),
        (Found::No, _) => {}
    }
    let wanted = format!("\"{}\"", text::visible(view.search.text()));
    vec![match intent {
        Intent::NextError => Effect::Say("no error is below".into()),
        Intent::PreviousError => Effect::Say("no error is above".into()),
        _ => Effect::Complain(format!("{wanted} is nowhere here").into()),
    }]
}

fn copy(view: &TextView, lines: &dyn Source) -> Vec<Effect> {
    let visible = view.visible();
    let texts = visible.iter().filter_map(|number| {
        let line = lines.line(*number)?;
        let lead: String = line.lead.iter().map(|(text, _)| &**text).collect();
        Some(format!("{lead}{}\n", line.text))
    });
    let text: String = texts.collect();
    if text.is_empty() {
        return vec![Effect::Say("there is nothing to copy".into())];
    }
    vec![Effect::Copy(text.into())]
}

/// Draws what is searched for into the lower border; shared with the log.
pub(super) fn render_search(buf: &mut Buffer, area: Rect, view: &TextView, draw: &Draw<'_>) {
    if area.height < 2 || area.width < 8 {
        return;
    }
    let line = Rect { x: area.x + 1, y: area.bottom() - 1, width: area.width - 2, height: 1 };
    if let Some(field) = view.search.field() {
        put(buf, Rect { width: 2, ..line }, " /", draw.theme.style(Role::Key));
        let rest = Rect { x: line.x + 2, width: line.width - 2, ..line };
        crate::tui::widgets::cells::clear(buf, rest);
        field.render(buf, rest, draw.theme.style(Role::Text));
    } else if view.search.is_active() {
        let place = view.place().map_or_else(String::new, |place| format!(" · {place}"));
        put(buf, line, &format!(" /{}{place} ", text::visible(view.search.text())), draw.theme.style(Role::Match));
    }
}

fn indent(area: Rect) -> Rect {
    Rect { x: area.x + 1.min(area.width), width: area.width.saturating_sub(2), ..area }
}

fn head(server: &ServerView, inside: Rect) -> Vec<(String, Role)> {
    let Some(failure) = server.status.failure() else { return Vec::new() };
    let width = inside.width.saturating_sub(2);
    let mut lines: Vec<(String, Role)> = Vec::new();
    let headline = format!("✕ {}", text::clean(&failure.headline));
    lines.extend(wrap(&headline, width).into_iter().map(|line| (line, Role::Failed)));
    if let Some(step) = &failure.next_step {
        let step = format!("next: {}", text::clean(step));
        lines.extend(wrap(&step, width).into_iter().map(|line| (line, Role::Warning)));
    }
    let most = usize::from(HEAD.min(inside.height / 2));
    if lines.len() > most {
        lines.truncate(most);
        // A cut is never silent.
        if let Some((last, _)) = lines.last_mut() {
            last.push('…');
        }
    }
    lines
}

/// What a view shows: all lines of one server (the failure's tail when there are none: it survives a restart that
/// clears them), or lines that were picked.
enum Lines<'s> {
    Whole(&'s ServerView, Style<'s>),
    Picked(FeedLines<'s>),
}

impl Lines<'_> {
    fn time(&self, number: u64) -> Option<Timestamp> {
        match self {
            Self::Whole(server, _) => server.stderr.get(number).map(|line| line.at),
            Self::Picked(lines) => lines.time(number),
        }
    }
}

fn tail(server: &ServerView) -> &[std::sync::Arc<str>] {
    server.status.failure().map_or(&[], |failure| &failure.tail)
}

impl Source for Lines<'_> {
    fn first(&self) -> u64 {
        match self {
            Self::Whole(server, _) => server.stderr.first(),
            Self::Picked(lines) => lines.first(),
        }
    }

    fn end(&self) -> u64 {
        match self {
            Self::Whole(server, _) if server.stderr.is_empty() => server.stderr.first() + tail(server).len() as u64,
            Self::Whole(server, _) => server.stderr.end(),
            Self::Picked(lines) => lines.end(),
        }
    }

    fn line(&self, number: u64) -> Option<Line<'_>> {
        match self {
            Self::Whole(server, _) if server.stderr.is_empty() => {
                Some(Line { lead: Vec::new(), text: self.text(number)?, role: Role::Text })
            }
            Self::Whole(server, style) => Some(style.line(server.stderr.get(number)?, None)),
            Self::Picked(lines) => lines.line(number),
        }
    }

    fn text(&self, number: u64) -> Option<Cow<'_, str>> {
        match self {
            Self::Whole(server, _) if server.stderr.is_empty() => {
                let index = usize::try_from(number.checked_sub(self.first())?).ok()?;
                Some(text::clean(tail(server).get(index)?))
            }
            Self::Whole(server, _) => Some(text::clean(&server.stderr.get(number)?.text)),
            Self::Picked(lines) => lines.text(number),
        }
    }

    fn is_error(&self, number: u64) -> bool {
        match self {
            Self::Whole(server, _) => server.stderr.get(number).is_some_and(|line| level_of(line) == LogLevel::Error),
            Self::Picked(lines) => lines.is_error(number),
        }
    }
}
