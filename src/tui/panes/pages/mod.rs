//! The pages view: the company's pages by container, and the selected one to be read: its whole text, searchable, its
//! earlier versions and its comments. Pages are written by agents and operators; nothing is changed here but comments.
//!
//! It holds what it was answered last and declares what it wants to know; nothing is read here.

mod about;
mod reading;

use std::sync::Arc;

use crossterm::event::KeyEvent;
use jiff::tz::TimeZone;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde_json::Map;

use super::filter::Filter;
use super::two::{Focus, Line, Split, empty, frame, switches, table, title};
use crate::engine::snapshot::Snapshot;
use crate::rows::pages::{Head, Listed, Wanted};
use crate::rows::{Answer, Ask, Found};
use crate::tui::Draw;
use crate::tui::act::{Act, Then, fixed};
use crate::tui::compose::{Blank, Draft};
use crate::tui::intent::{Effect, Intent};
use crate::tui::theme::Role;
use crate::tui::widgets::border::inner;
use crate::tui::widgets::cells::to_cells;
use crate::tui::widgets::paint::{Row, Span, line, put};
use crate::tui::widgets::table::{Column, Selection};
use reading::Reading;

/// Rows of a first question; a list that is scrolled towards its end asks for so many more.
const PORTION: usize = 200;
/// Rows before the end at which more are asked for.
const NEAR: usize = 50;
/// The most rows that are kept.
const MOST: usize = 5_000;

const COLUMNS: [Column; 5] = [
    Column::stays("container", 11),
    Column::grows("title", 14),
    Column { rank: 1, ..Column::number("version", 7) },
    Column { rank: 2, ..Column::drops("by", 12) },
    Column { rank: 3, ..Column::drops("changed", 16) },
];

/// See the module.
#[derive(Clone, Debug)]
pub struct PagesPane {
    area: Rect,
    split: Split,
    focus: Focus,
    zone: TimeZone,
    filter: Filter,
    most: usize,
    /// The last answer about the list.
    listed: Option<Result<Listed, Arc<str>>>,
    /// Which list that is.
    list: Arc<str>,
    pick: Selection<Arc<str>>,
    reading: Reading,
}

impl PagesPane {
    /// Nothing known yet; times are shown in this zone.
    pub fn new(zone: TimeZone) -> Self {
        Self {
            area: Rect::ZERO,
            split: Split::default(),
            focus: Focus::List,
            zone,
            filter: Filter::default(),
            most: PORTION,
            listed: None,
            list: Arc::default(),
            pick: Selection::default(),
            reading: Reading::default(),
        }
    }

    /// What it wants to know.
    pub fn wants(&self) -> Vec<Ask> {
        let mut asks = vec![Ask::Pages(self.wanted())];
        let seen = !self.split.detail.is_empty();
        asks.extend(self.pick.id().filter(|_| seen).map(|id| self.reading.wants(id)));
        asks
    }

    fn wanted(&self) -> Wanted {
        Wanted {
            text: self.filter.words(),
            container: self.filter.value("container"),
            label: self.filter.value("label"),
            most: self.most,
        }
    }

    /// Takes an answer in; one that is late for its question is dropped.
    pub fn take(&mut self, answer: Answer) {
        match (answer.ask, answer.found) {
            (Ask::Pages(wanted), found) if wanted == self.wanted() => {
                let listed = |found| if let Found::Pages(listed) = found { listed } else { Listed::default() };
                self.listed = Some(found.map(listed));
                self.list = self.filter.text().into();
            }
            (Ask::Page(id, version), found) => {
                let page = found.map(|found| if let Found::Page(page) = found { page } else { None });
                self.reading.take((id, version), page);
            }
            _ => {}
        }
    }

    /// Fits the pane to its area.
    pub fn layout(&mut self, area: Rect) {
        (self.area, self.split) = (area, Split::of(area, self.focus));
        let ids = self.ids();
        let used = 1 + usize::from(self.filter.typing());
        let list = Split::of(area, Focus::List).list;
        let height = to_cells(usize::from(inner(list).height).saturating_sub(used));
        match self.focus {
            Focus::List => self.pick.layout(&ids, height),
            Focus::Detail => self.pick.hold(&ids, height),
        }
        let all = self.listed().map_or(0, |listed| listed.all);
        if ids.len() >= self.most && ids.len() < all && self.pick.index() + NEAR >= ids.len() {
            self.most = (self.most + PORTION).min(MOST);
        }
        let place = Split::of(area, Focus::Detail);
        let size = (place.detail_width(), usize::from(inner(place.detail).height));
        self.reading.layout(self.pick.id(), size, &self.zone);
    }

    /// What is selected.
    pub const fn selected(&self) -> Option<&Arc<str>> {
        self.pick.id()
    }

    /// Which list is shown, in words: rows that come with another one surprise nobody.
    pub const fn list(&self) -> &Arc<str> {
        &self.list
    }

    /// Gives the keys to the list.
    pub const fn to_list(&mut self) {
        self.focus = Focus::List;
    }

    /// True while the reader has the keys.
    pub fn is_reading(&self) -> bool {
        self.focus == Focus::Detail
    }

    /// What Esc does, in a word, while it does something.
    pub fn way_back(&self) -> Option<&'static str> {
        match self.focus {
            Focus::Detail if self.reading.searching() => Some("end search"),
            Focus::Detail if self.reading.is_earlier() => Some("newest version"),
            Focus::Detail => Some("list"),
            Focus::List if !self.filter.text().is_empty() => Some("all pages"),
            Focus::List => None,
        }
    }

    /// Whether a key does something now.
    pub fn possible(&self, intent: Intent) -> bool {
        match intent {
            Intent::Older => self.reading.older().is_some(),
            Intent::Newer => self.reading.is_earlier(),
            Intent::NextMatch => self.reading.searching(),
            Intent::Comment | Intent::Open => self.head().is_some(),
            _ => true,
        }
    }

    /// Whether a text field has the keys.
    pub const fn typing(&self) -> bool {
        self.filter.typing() || self.reading.typing()
    }

    /// A key while typing.
    pub fn text(&mut self, key: KeyEvent) {
        if self.reading.typing() {
            self.reading.search.key(key);
        } else {
            self.filter.key(key);
            self.most = PORTION;
        }
    }

    /// Pasted text while typing.
    pub fn paste(&mut self, text: &str) {
        if self.reading.typing() {
            self.reading.search.paste(text);
        } else if self.filter.typing() {
            self.filter.insert(text);
            self.most = PORTION;
        }
    }

    /// Acts on what the person means.
    pub fn apply(&mut self, intent: Intent, snapshot: &Snapshot) -> Vec<Effect> {
        let effects = self.act(intent, snapshot);
        self.layout(self.area);
        effects
    }

    fn act(&mut self, intent: Intent, snapshot: &Snapshot) -> Vec<Effect> {
        match intent {
            _ if switches(intent) => self.focus = self.focus.other(),
            Intent::Comment => return self.comment(snapshot).into_iter().collect(),
            Intent::Back if self.filter.typing() => self.filter.forget(),
            Intent::Submit if self.filter.typing() => self.filter.keep(),
            Intent::Open if self.head().is_some() => self.focus = Focus::Detail,
            Intent::Back if self.focus == Focus::Detail => {
                if !self.reading.back() {
                    self.focus = Focus::List;
                }
            }
            _ if self.focus == Focus::Detail => return self.reading.apply(intent),
            Intent::Older | Intent::Newer => return self.reading.apply(intent),
            Intent::Back => {
                self.filter.clear();
                self.most = PORTION;
            }
            Intent::Search => self.filter.begin(),
            _ => {
                self.pick.apply(intent, &self.ids());
            }
        }
        Vec::new()
    }

    fn comment(&self, snapshot: &Snapshot) -> Option<Effect> {
        if let Some(no) = fixed(snapshot) {
            return Some(no);
        }
        let head = self.head()?;
        let arguments = Map::from_iter([("page".to_owned(), (*head.id).into())]);
        let done = format!("\"{}\" has your comment", head.title).into();
        let act = Act { tool: "comment_on_page", arguments, done, then: Then::Stay, draft: None };
        let blanks = vec![Blank::text("body", "").required()];
        let title = format!("Comment on \"{}\"", head.title).into();
        Some(Effect::Write(Box::new(Draft { title, blanks, act, failed: None, place: None })))
    }

    fn listed(&self) -> Option<&Listed> {
        self.listed.as_ref().and_then(|listed| listed.as_ref().ok())
    }

    fn ids(&self) -> Vec<Arc<str>> {
        self.listed().into_iter().flat_map(|listed| &listed.pages).map(|page| page.id.clone()).collect()
    }

    /// The selected page as it is listed.
    fn head(&self) -> Option<&Head> {
        let id = self.pick.id()?;
        self.listed()?.pages.iter().find(|page| page.id == *id)
    }

    /// Draws the pane.
    pub fn render(&self, buf: &mut Buffer, draw: &Draw<'_>) {
        self.render_list(buf, &Draw { focused: draw.focused && self.focus == Focus::List, ..*draw });
        if !self.split.detail.is_empty() {
            let draw = Draw { focused: draw.focused && self.focus == Focus::Detail, ..*draw };
            self.reading.render(buf, self.split.detail, &draw);
        }
    }

    fn render_list(&self, buf: &mut Buffer, draw: &Draw<'_>) {
        if self.split.list.is_empty() {
            return;
        }
        let mut right = Row::new();
        if !self.filter.text().is_empty() && !self.filter.typing() {
            right.push(Span::new(Role::Accent, &format!("{}  ", self.filter.text())));
        }
        if let Some(listed) = self.listed() {
            let more = listed.pages.len() < listed.all && self.most == MOST;
            let count = if more { format!("{}/{}", listed.pages.len(), listed.all) } else { listed.all.to_string() };
            right.push(Span::new(Role::Dim, &count));
        }
        let mut inside = frame(buf, self.split.list, (title("Pages", draw), right), draw);
        if self.filter.typing() {
            put(buf, line(inside, 0).unwrap_or_default(), &self.filter.line(draw.theme), draw.theme);
            inside = Rect { y: inside.y.saturating_add(1), height: inside.height.saturating_sub(1), ..inside };
        }
        let listed = match &self.listed {
            Some(Ok(listed)) => listed,
            Some(Err(why)) => return empty(buf, inside, &[why], draw),
            None => return,
        };
        if listed.pages.is_empty() {
            let texts: &[&str] = if self.filter.text().is_empty() {
                &["No pages yet.", "Agents and operators write them with write_page."]
            } else {
                &["Nothing passes the filter.", "Esc clears it."]
            };
            return empty(buf, inside, texts, draw);
        }
        let visible = self.pick.visible();
        let mut before: Option<&str> = None;
        let pages = listed.pages.get(visible).unwrap_or_default();
        let mut lines: Vec<Line> = Vec::new();
        for page in pages {
            // A container is named once, where its pages begin.
            let again = before.replace(&page.container) == Some(&*page.container);
            let container = if again { "" } else { &*page.container };
            lines.push(Line { cells: self.cells(page, container), selected: self.pick.id() == Some(&page.id) });
        }
        table(buf, inside, (&COLUMNS, &lines), draw);
    }

    fn cells(&self, page: &Head, container: &str) -> Vec<Row> {
        let text = |role, text: &str| vec![Span::new(role, text)];
        vec![
            text(Role::Accent, container),
            text(Role::Text, &page.title),
            text(Role::Dim, &page.version.to_string()),
            text(Role::Dim, page.author.split_once(':').map_or(&*page.author, |(_, name)| name)),
            text(Role::Dim, &page.updated.day_and_time(&self.zone)),
        ]
    }
}
