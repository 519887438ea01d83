//! The stderr of the selected server: its own lines, and the engine's marks between them.
//!
//! Each server keeps its own place, so that looking at another one and coming back loses nothing. A failed server
//! opens on its failure: headline, next step, last words.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crossterm::event::KeyEvent;
use jiff::tz::TimeZone;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::clock::Precision;
use crate::engine::snapshot::{LineKind, ServerView, Snapshot};
use crate::ids::ConnectionName;
use crate::text;
use crate::tui::Draw;
use crate::tui::intent::{Effect, Intent};
use crate::tui::panes::servers::selected_view;
use crate::tui::theme::Role;
use crate::tui::widgets::cells::{put, row, to_cells, wrap};
use crate::tui::widgets::panel::{Panel, divider, inner};
use crate::tui::widgets::text_view::{Line, Source, TextView};

/// Lines of a failure's head, at most.
const HEAD: u16 = 5;

/// See the module.
#[derive(Clone, Debug)]
pub struct StderrPane {
    views: BTreeMap<ConnectionName, TextView>,
    current: Option<ConnectionName>,
    zone: TimeZone,
    times: Times,
    area: Rect,
    head: Vec<(String, Role)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Times {
    Shown,
    Hidden,
}

impl StderrPane {
    /// A pane that shows times in this zone.
    pub const fn new(zone: TimeZone) -> Self {
        Self { views: BTreeMap::new(), current: None, zone, times: Times::Shown, area: Rect::ZERO, head: Vec::new() }
    }

    /// Fits the pane to its area and shows the given connection.
    pub fn layout(&mut self, area: Rect, snapshot: &Snapshot, selected: Option<&ConnectionName>) {
        self.area = area;
        self.current = selected.cloned();
        self.views.retain(|name, _| snapshot.servers.iter().any(|server| server.connection == *name));
        let Some(server) = selected_view(snapshot, selected) else { return };
        self.head = head(server, inner(area));
        let (text, times) = (self.text_area(), self.times);
        let lines = Lines { server, zone: &self.zone, times };
        self.views.entry(server.connection.clone()).or_default().layout(text, &lines);
    }

    /// Acts on an intent.
    pub fn apply(&mut self, intent: Intent, snapshot: &Snapshot) -> Vec<Effect> {
        if intent == Intent::Times {
            self.times = if self.times == Times::Shown { Times::Hidden } else { Times::Shown };
            return Vec::new();
        }
        let Some(server) = selected_view(snapshot, self.current.as_ref()) else { return Vec::new() };
        let lines = Lines { server, zone: &self.zone, times: self.times };
        let view = self.views.entry(server.connection.clone()).or_default();
        search_apply(view, intent, &lines)
    }

    /// True while the search field is open.
    pub fn typing(&self) -> bool {
        self.view().is_some_and(|view| view.search.field().is_some())
    }

    /// True while something is searched for.
    pub fn searching(&self) -> bool {
        self.view().is_some_and(|view| view.search.field().is_some() || view.search.is_active())
    }

    /// A key for the search field.
    pub fn text(&mut self, key: KeyEvent) {
        if let Some(view) = self.view_mut() {
            view.search.key(key);
        }
    }

    /// Pasted text for the search field.
    pub fn paste(&mut self, pasted: &str) {
        if let Some(view) = self.view_mut() {
            view.search.paste(pasted);
        }
    }

    /// Draws the pane.
    pub fn render(&self, buf: &mut Buffer, draw: &Draw<'_>) {
        let server = selected_view(draw.snapshot, self.current.as_ref());
        let (Some(server), Some(view)) = (server, self.view()) else {
            Panel { title: "stderr", focused: draw.focused, ..Panel::default() }.render(buf, self.area, draw.theme);
            return;
        };
        let lines = Lines { server, zone: &self.zone, times: self.times };
        let title = format!("stderr · {}", text::visible(server.connection.as_str()));
        let mut state = view.state(&lines);
        if server.stderr_dropped > 0 {
            state = format!("{} dropped · {state}", server.stderr_dropped);
        }
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
            put(buf, row(text, 0), "nothing was written", draw.theme.style(Role::Dim));
        }
        view.render(buf, text, &lines, draw.theme);
        render_search(buf, self.area, view, draw);
    }

    fn text_area(&self) -> Rect {
        let inside = inner(self.area);
        let head = if self.head.is_empty() { 0 } else { to_cells(self.head.len()) + 1 };
        let head = head.min(inside.height);
        indent(Rect { y: inside.y + head, height: inside.height - head, ..inside })
    }

    fn view(&self) -> Option<&TextView> {
        self.views.get(self.current.as_ref()?)
    }

    fn view_mut(&mut self) -> Option<&mut TextView> {
        self.views.get_mut(self.current.as_ref()?)
    }
}

/// Acts on an intent in a view with a search; shared with the log.
pub(super) fn search_apply(view: &mut TextView, intent: Intent, lines: &dyn Source) -> Vec<Effect> {
    let looked_for = |view: &TextView| format!("\"{}\"", text::visible(view.search.text()));
    match intent {
        Intent::Submit if !view.submit_search(lines) => {
            return vec![Effect::Complain(format!("{} is nowhere here", looked_for(view)).into())];
        }
        Intent::Submit => {}
        Intent::Back => _ = view.search.leave(),
        Intent::NextMatch | Intent::PreviousMatch if !view.search.is_active() => {
            return vec![Effect::Say("nothing is searched for: / starts a search".into())];
        }
        Intent::NextMatch | Intent::PreviousMatch => {
            if !view.find(intent, lines) {
                let direction = if intent == Intent::NextMatch { "below" } else { "above" };
                return vec![Effect::Say(format!("{} is not {direction}", looked_for(view)).into())];
            }
        }
        intent => _ = view.apply(intent, lines),
    }
    Vec::new()
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
        put(buf, line, &format!(" /{} ", text::visible(view.search.text())), draw.theme.style(Role::Match));
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
        // A cut is never silent; the whole text is among the facts.
        if let Some((last, _)) = lines.last_mut() {
            last.push('…');
        }
    }
    lines
}

/// A server's lines; the failure's tail when there are none (it survives a restart that clears them).
struct Lines<'s> {
    server: &'s ServerView,
    zone: &'s TimeZone,
    times: Times,
}

impl Lines<'_> {
    fn tail(&self) -> &[std::sync::Arc<str>] {
        self.server.status.failure().map_or(&[], |failure| &failure.tail)
    }
}

impl Source for Lines<'_> {
    fn first(&self) -> u64 {
        self.server.stderr.first()
    }

    fn end(&self) -> u64 {
        if self.server.stderr.is_empty() {
            self.server.stderr.first() + self.tail().len() as u64
        } else {
            self.server.stderr.end()
        }
    }

    fn line(&self, sequence: u64) -> Option<Line<'_>> {
        if self.server.stderr.is_empty() {
            let index = usize::try_from(sequence.checked_sub(self.first())?).ok()?;
            return Some(Line { lead: Vec::new(), text: text::clean(self.tail().get(index)?), role: Role::Text });
        }
        let line = self.server.stderr.get(sequence)?;
        let mut lead: Vec<(Cow<'_, str>, Role)> = Vec::new();
        if self.times == Times::Shown {
            lead.push((format!("{}  ", line.at.time_of_day(self.zone, Precision::Seconds)).into(), Role::Dim));
        }
        let (before, role) = match line.kind {
            LineKind::Stderr => (None, Role::Text),
            LineKind::Noise => (Some("stdout: "), Role::Warning),
            LineKind::Mark => (Some("── "), Role::Accent),
        };
        lead.extend(before.map(|before| (Cow::Borrowed(before), role)));
        Some(Line { lead, text: text::clean(&line.text), role })
    }
}
