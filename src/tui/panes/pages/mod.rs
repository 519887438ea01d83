//! The pages view: the company's pages by container, and the selected one to be read: its whole text, searchable, its
//! earlier versions and its comments. Pages are written by agents and operators; nothing is changed here but comments.
//!
//! It holds what it was answered last and declares what it wants to know; nothing is read here.

mod about;
mod reading;

use std::sync::Arc;

use jiff::tz::TimeZone;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde_json::Map;

use super::filter::Field;
use super::portion::Portion;
use super::two::{Focus, Two, empty};
use crate::engine::snapshot::Snapshot;
use crate::rows::pages::{Head, Listed, Wanted};
use crate::rows::{Answer, Ask, Found};
use crate::tui::Draw;
use crate::tui::act::{Act, Then, fixed};
use crate::tui::compose::{Blank, Draft};
use crate::tui::intent::{Effect, Intent};
use crate::tui::theme::Role;
use crate::tui::widgets::paint::{Row, Span};
use crate::tui::widgets::table::Column;
use reading::Reading;

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
    two: Two<Arc<str>>,
    zone: TimeZone,
    portion: Portion,
    /// The last answer about the list.
    listed: Option<Result<Listed, Arc<str>>>,
    /// Which list that is.
    list: Arc<str>,
    reading: Reading,
}

impl PagesPane {
    /// Nothing known yet; times are shown in this zone.
    pub fn new(zone: TimeZone) -> Self {
        Self {
            two: Two::default(),
            zone,
            portion: Portion::default(),
            listed: None,
            list: Arc::default(),
            reading: Reading::default(),
        }
    }

    /// What it wants to know.
    pub fn wants(&self) -> Vec<Ask> {
        let mut asks = vec![Ask::Pages(self.wanted())];
        let id = self.two.pick.id().filter(|_| self.two.shows_detail());
        asks.extend(id.map(|id| self.reading.wants(id)));
        asks
    }

    fn wanted(&self) -> Wanted {
        Wanted {
            text: self.two.filter.words(),
            container: self.two.filter.value("container"),
            label: self.two.filter.value("label"),
            most: self.portion.most(),
        }
    }

    /// Takes an answer in; one that is late for its question is dropped.
    pub fn take(&mut self, answer: Answer) {
        match (answer.ask, answer.found) {
            (Ask::Pages(wanted), found) if wanted == self.wanted() => {
                let listed = |found| if let Found::Pages(listed) = found { listed } else { Listed::default() };
                self.listed = Some(found.map(listed));
                self.list = self.two.filter.text().into();
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
        let ids = self.ids();
        self.two.hold(area, &ids);
        let all = self.listed().map_or(0, |listed| listed.all);
        self.portion.follow(self.two.filter.text(), self.two.pick.index(), (ids.len(), all));
        self.reading.layout(&mut self.two, &self.zone);
    }

    /// What is selected.
    pub const fn selected(&self) -> Option<&Arc<str>> {
        self.two.pick.id()
    }

    /// Which list is shown, in words: rows that come with another one surprise nobody.
    pub const fn list(&self) -> &Arc<str> {
        &self.list
    }

    /// Gives the keys to the list.
    pub const fn to_list(&mut self) {
        self.two.focus_list();
    }

    /// True while the reader has the keys.
    pub fn is_reading(&self) -> bool {
        self.two.focus == Focus::Detail
    }

    /// What Esc does, in a word, while it does something.
    pub fn way_back(&self) -> Option<&'static str> {
        match self.two.way_back() {
            Some(_) if self.reading.searching() => Some("end search"),
            Some(_) if self.reading.is_earlier() => Some("newest version"),
            None if !self.two.filter.text().is_empty() => Some("all pages"),
            way => way,
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
        self.two.filter.typing() || self.reading.typing()
    }

    /// The text field that has the keys.
    pub fn field(&mut self) -> Option<&mut dyn Field> {
        if self.reading.typing() { Some(&mut self.reading.search) } else { self.two.field() }
    }

    /// Acts on what the person means.
    pub fn apply(&mut self, intent: Intent, snapshot: &Snapshot) -> Vec<Effect> {
        let effects = self.act(intent, snapshot);
        self.layout(self.two.area());
        effects
    }

    fn act(&mut self, intent: Intent, snapshot: &Snapshot) -> Vec<Effect> {
        match intent {
            Intent::Comment => return self.comment(snapshot).into_iter().collect(),
            Intent::Open if self.head().is_some() => self.two.focus = Focus::Detail,
            Intent::Older | Intent::Newer => return self.reading.turn(intent).into_iter().collect(),
            Intent::Back if self.is_reading() && !self.two.filter.typing() && self.reading.back() => {}
            Intent::Search | Intent::Submit | Intent::NextMatch | Intent::PreviousMatch if self.is_reading() => {
                return self.reading.look(intent, &mut self.two.detail).into_iter().collect();
            }
            Intent::Search => self.two.search(),
            _ => _ = self.two.apply(intent, &self.ids()),
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
        let id = self.two.pick.id()?;
        self.listed()?.pages.iter().find(|page| page.id == *id)
    }

    /// Draws the pane.
    pub fn render(&self, buf: &mut Buffer, draw: &Draw<'_>) {
        let [list, detail] = self.two.draws(draw);
        self.render_list(buf, &list);
        self.reading.render(buf, &self.two, &detail);
    }

    fn render_list(&self, buf: &mut Buffer, draw: &Draw<'_>) {
        let mut right = self.two.filtered();
        right.extend(self.listed().map(|listed| self.portion.count((listed.pages.len(), listed.all))));
        let Some(inside) = self.two.list(buf, ("Pages", right), draw) else { return };
        let listed = match &self.listed {
            Some(Ok(listed)) => listed,
            Some(Err(why)) => return empty(buf, inside, &[why], draw),
            None => return,
        };
        if listed.pages.is_empty() {
            let texts: &[&str] = if self.two.filter.text().is_empty() {
                &["No pages yet.", "Agents and operators write them with write_page."]
            } else {
                &["Nothing passes the filter.", "Esc clears it."]
            };
            return empty(buf, inside, texts, draw);
        }
        let mut before = None;
        let row = |page: &Head| {
            // A container is named once, where its pages begin.
            let again = before.replace(page.container.clone()).as_ref() == Some(&page.container);
            (page.id.clone(), self.cells(page, if again { "" } else { &page.container }))
        };
        self.two.rows(buf, (inside, &COLUMNS), (listed.pages.iter(), row), draw);
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
