//! The list of servers with what is known of the selected one.
//!
//! Says what a person wants done with a connection; does nothing itself.

use std::borrow::Cow;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::clock::{Precision, Timestamp};
use crate::engine::command::Command;
use crate::engine::snapshot::{ServerView, Snapshot, TransportFacts};
use crate::engine::status::{ConnectionStatus, Offer};
use crate::ids::ConnectionName;
use crate::text;
use crate::tool::EffectClass;
use crate::tui::Draw;
use crate::tui::format::{by_minutes, latency, plural, span};
use crate::tui::header::status_mark;
use crate::tui::intent::{Effect, Intent, Question, Target};
use crate::tui::theme::Role;
use crate::tui::widgets::cells::{put, row, to_cells, width, wrap};
use crate::tui::widgets::panel::{Panel, divider, inner};
use crate::tui::widgets::table::{Align, Column, Places, Selection, Width, bar, cell, headings, line_of};

/// Fewer lines than this leave no room for facts.
const FACTS_FROM: u16 = 12;

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct ServersPane {
    selection: Selection<ConnectionName>,
    area: Rect,
    list: Rect,
    facts: Rect,
    failure: FailureText,
}

/// Where the text of a failure stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum FailureText {
    /// Among the facts.
    #[default]
    Here,
    /// In the pane beside this one, so that it need not stand twice.
    Beside,
}

impl ServersPane {
    /// Fits the pane to its area and to what there is.
    pub fn layout(&mut self, area: Rect, snapshot: &Snapshot) {
        self.area = area;
        let inside = inner(area);
        let ids = ids(snapshot);
        let rows = to_cells(ids.len()).saturating_add(1);
        // The block of facts has one height for all servers, so that the list does not jump.
        let facts = if inside.height < FACTS_FROM { 0 } else { (inside.height / 3).clamp(5, 10) };
        let list = inside.height.saturating_sub(facts);
        let list = if facts == 0 { list } else { list.min(rows.max(4)) };
        self.list = Rect { height: list, ..inside };
        let below = inside.height.saturating_sub(list);
        self.facts = if facts == 0 { Rect::ZERO } else { Rect { y: inside.y + list, height: below, ..inside } };
        self.selection.layout(&ids, list.saturating_sub(1));
    }

    /// Says where the text of a failure stands.
    pub const fn tell_failure(&mut self, place: FailureText) {
        self.failure = place;
    }

    /// The selected connection.
    pub const fn selected(&self) -> Option<&ConnectionName> {
        self.selection.id()
    }

    /// Acts on an intent.
    pub fn apply(&mut self, intent: Intent, snapshot: &Snapshot) -> Vec<Effect> {
        if self.selection.apply(intent, &ids(snapshot)) {
            return Vec::new();
        }
        let Some(server) = selected_view(snapshot, self.selected()) else { return Vec::new() };
        match intent {
            Intent::ShowTools => vec![Effect::Show(Target::ToolsOf(server.connection.clone()))],
            Intent::Restart | Intent::ToggleEnabled if snapshot.read_only => {
                vec![Effect::Complain("nothing can be changed here: the dashboard was started with --read-only".into())]
            }
            Intent::Restart => vec![
                Effect::Send(Command::Restart(server.connection.clone())),
                Effect::Say(format!("restarting {}", text::visible(server.connection.as_str())).into()),
            ],
            Intent::ToggleEnabled => vec![Effect::Ask(toggle_question(server))],
            _ => Vec::new(),
        }
    }

    /// Draws the pane.
    pub fn render(&self, buf: &mut Buffer, draw: &Draw<'_>) {
        let snapshot = draw.snapshot;
        let count = snapshot.servers.len().to_string();
        let panel = Panel {
            title: "Servers",
            right: &count,
            focused: draw.focused,
            scroll: Some(self.selection.scroll_state()),
            heavy: false,
        };
        panel.render(buf, self.area, draw.theme);
        if snapshot.servers.is_empty() {
            put(buf, indent(self.list), "no servers are configured", draw.theme.style(Role::Dim));
            return;
        }
        let columns = columns(snapshot);
        let places = Places::of(&columns, self.list.width);
        headings(buf, row(self.list, 0), &columns, draw.theme);
        let below = Rect { y: self.list.y + 1, height: self.list.height.saturating_sub(1), ..self.list };
        let visible = self.selection.visible();
        for index in visible.clone() {
            let Some(server) = snapshot.servers.get(index) else { break };
            let line = line_of(below, &visible, index);
            render_row(buf, line, (&columns, &places), server, draw);
            if self.selected() == Some(&server.connection) {
                bar(buf, line, draw.theme);
            }
        }
        self.render_facts(buf, draw);
    }

    fn render_facts(&self, buf: &mut Buffer, draw: &Draw<'_>) {
        let Some(server) = selected_view(draw.snapshot, self.selected()) else { return };
        if self.facts.height < 2 {
            return;
        }
        let role = if draw.focused { Role::BorderFocused } else { Role::Border };
        divider(buf, self.area, self.facts.y, draw.theme.style(role));
        let text = indent(Rect { y: self.facts.y + 1, height: self.facts.height - 1, ..self.facts });
        let mut n = 0;
        for (fact, role) in facts(server, self.failure, draw) {
            for line in wrap(&text::clean(&fact), text.width) {
                put(buf, row(text, n), &line, draw.theme.style(role));
                n += 1;
            }
        }
    }
}

/// The view of a connection.
pub fn selected_view<'s>(snapshot: &'s Snapshot, name: Option<&ConnectionName>) -> Option<&'s ServerView> {
    let name = name?;
    snapshot.servers.iter().find(|server| server.connection == *name).map(AsRef::as_ref)
}

fn ids(snapshot: &Snapshot) -> Vec<ConnectionName> {
    snapshot.servers.iter().map(|server| server.connection.clone()).collect()
}

fn indent(area: Rect) -> Rect {
    Rect { x: area.x + 1.min(area.width), width: area.width.saturating_sub(2), ..area }
}

fn toggle_question(server: &ServerView) -> Question {
    let name = text::visible(server.connection.as_str());
    if matches!(server.status, ConnectionStatus::Disabled) {
        return Question {
            title: format!("Enable {name}?").into(),
            detail: "It is started now, and its tools come into the catalogue.".into(),
            yes: Box::new(Effect::Send(Command::Enable(server.connection.clone()))),
        };
    }
    Question {
        title: format!("Disable {name}?").into(),
        detail: "It is stopped and stays down until it is enabled here or the program ends. Its tools leave the \
                 catalogue; calls that wait for a decision are withdrawn."
            .into(),
        yes: Box::new(Effect::Send(Command::Disable(server.connection.clone()))),
    }
}

fn columns(snapshot: &Snapshot) -> [Column; 6] {
    let longest = snapshot.servers.iter().map(|server| width(server.connection.as_str())).max().unwrap_or(0);
    let name = to_cells(longest).clamp(8, 26);
    let column = |title, width, align, rank| Column { title, width, align, rank };
    // A reason is worth more than numbers.
    let failures = snapshot.servers.iter().filter_map(|server| server.status.failure());
    let what = to_cells(failures.map(|failure| width(&failure.headline)).max().unwrap_or(0)).clamp(12, 26);
    [
        column("", Width::Cells(1), Align::Left, 0),
        column("name", Width::Cells(name), Align::Left, 0),
        column("tools", Width::Cells(5), Align::Right, 2),
        column("calls", Width::Cells(6), Align::Right, 3),
        column("p50", Width::Cells(6), Align::Right, 4),
        column("what", Width::Rest(what), Align::Left, 0),
    ]
}

fn render_row(
    buf: &mut Buffer,
    line: Rect,
    (columns, places): (&[Column], &Places),
    server: &ServerView,
    draw: &Draw<'_>,
) {
    let (glyph, role) = status_mark(&server.status);
    let listed = server.status.is_ready();
    let number = |value: String| if listed { value } else { "–".to_owned() };
    let what_role = if role == Role::Ready || role == Role::Stopped { Role::Dim } else { role };
    let cells: [(Cow<'_, str>, Role); 6] = [
        (glyph.into(), role),
        (text::visible(server.connection.as_str()), if role == Role::Stopped { Role::Dim } else { Role::Text }),
        (number(server.tools().to_string()).into(), Role::Text),
        (if server.calls == 0 && !listed { "–".into() } else { server.calls.to_string().into() }, Role::Text),
        (server.p50.map_or_else(|| "–".into(), |p50| latency(p50).into()), Role::Text),
        (what(server, draw), what_role),
    ];
    for (index, (content, role)) in cells.iter().enumerate() {
        let align = columns.get(index).map_or(Align::Left, |column| column.align);
        cell(buf, places.cell(line, index), align, (content, draw.theme.style(*role)));
    }
}

fn what<'s>(server: &'s ServerView, draw: &Draw<'_>) -> Cow<'s, str> {
    match &server.status {
        ConnectionStatus::Starting { since } => format!("starting {}", span(draw.now.since(*since))).into(),
        ConnectionStatus::Ready { .. } if server.list_cut.is_some() => "list cut".into(),
        ConnectionStatus::Ready { .. } if server.rejected > 0 => format!("{} rejected", server.rejected).into(),
        ConnectionStatus::Ready { .. } => "".into(),
        ConnectionStatus::Backoff { until, reason, .. } => {
            format!("retry {} · {}", until.time_of_day(draw.zone, Precision::Seconds), reason.headline).into()
        }
        ConnectionStatus::Failed { reason } => (&*reason.headline).into(),
        status => status.word().into(),
    }
}

fn facts(server: &ServerView, place: FailureText, draw: &Draw<'_>) -> Vec<(String, Role)> {
    let mut facts = Vec::new();
    if let (Some(failure), FailureText::Here) = (server.status.failure(), place) {
        facts.push((failure.headline.to_string(), Role::Failed));
        facts.extend(failure.next_step.iter().map(|step| (format!("next: {step}"), Role::Warning)));
    }
    if let ConnectionStatus::Backoff { until, attempt, .. } = &server.status {
        let at = until.time_of_day(draw.zone, Precision::Seconds);
        facts.push((format!("attempt {attempt} failed; tries again at {at}"), Role::Text));
    }
    facts.push((how(server, draw.now), Role::Text));
    if server.status.is_ready() {
        facts.push((classes(server), Role::Text));
    }
    facts.extend(server.list_cut.iter().map(|why| (format!("the list was cut: {why}"), Role::Warning)));
    for credential in &server.credentials {
        let (state, role) = if credential.set { ("set", Role::Text) } else { ("NOT SET", Role::Warning) };
        let from: Vec<String> = credential.variables.iter().map(|variable| format!("${{{variable}}}")).collect();
        let from = if from.is_empty() { "the configuration".to_owned() } else { from.join(", ") };
        facts.push((format!("{} from {from}: {state}", credential.field), role));
    }
    let (start, request) = server.limits;
    let restarts = plural(usize::try_from(server.restarts).unwrap_or(usize::MAX), "restart");
    facts.push((format!("start within {} · call within {} · {restarts}", span(start), span(request)), Role::Dim));
    if let (Some((at, failure)), None) = (&server.last_failure, server.status.failure()) {
        let at = at.time_of_day(draw.zone, Precision::Minutes);
        facts.push((format!("last failure {at}: {}", failure.headline), Role::Dim));
    }
    facts
}

fn how(server: &ServerView, now: Timestamp) -> String {
    let mut parts = match &server.transport {
        TransportFacts::Stdio { command } => vec!["stdio".to_owned(), command.to_string()],
        TransportFacts::Http { url } => vec!["http".to_owned(), url.to_string()],
        TransportFacts::Other => vec!["in memory".to_owned()],
    };
    if let Some(peer) = &server.peer {
        parts.push(format!("{} {}", peer.protocol_version, peer.era.as_str()));
        parts.extend(peer.name.iter().map(|name| match &peer.version {
            Some(version) => format!("{name} {version}"),
            None => name.to_string(),
        }));
        parts.extend(peer.pid.map(|pid| format!("pid {pid}")));
    }
    if let ConnectionStatus::Ready { since } = server.status {
        parts.push(format!("up {}", by_minutes(now.since(since))));
    }
    parts.join(" · ")
}

fn classes(server: &ServerView) -> String {
    let counted = EffectClass::ALL.iter().zip(server.tools_by_class).filter(|(_, count)| *count > 0);
    let mut parts: Vec<String> = counted
        .map(|(class, count)| match class {
            EffectClass::Destructive => format!("{count} DESTRUCTIVE"),
            class => format!("{count} {class}"),
        })
        .collect();
    if parts.is_empty() {
        parts.push("no tools".to_owned());
    }
    let offers = server.peer.as_ref().map(|peer| peer.offers).unwrap_or_default();
    parts.extend(Offer::ALL.iter().filter(|offer| offers.has(**offer)).map(|offer| offer.as_str().to_owned()));
    if server.rejected > 0 {
        parts.push(format!("{} rejected", server.rejected));
    }
    if server.noise > 0 {
        parts.push(format!("{} on stdout", plural(usize::try_from(server.noise).unwrap_or(usize::MAX), "stray line")));
    }
    parts.join(" · ")
}
