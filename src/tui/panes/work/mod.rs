//! The work view: the tracker's items as a list, and everything about the selected one. What a key changes is a call of
//! the tracker's own tools; the rows change when the store did.
//!
//! It holds what it was answered last and declares what it wants to know; nothing is read here.

pub(super) mod about;
mod acts;
mod draw;

use std::sync::Arc;

use crossterm::event::KeyEvent;
use jiff::tz::TimeZone;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::filter::Filter;
use super::two::{Focus, Split, switches};
use crate::engine::snapshot::Snapshot;
use crate::rows::work::{Head, Item, Listed, Wanted};
use crate::rows::{Answer, Ask, Found};
use crate::tui::Draw;
use crate::tui::act::words;
use crate::tui::intent::{Effect, Intent, Target};
use crate::tui::widgets::border::inner;
use crate::tui::widgets::cells::to_cells;
use crate::tui::widgets::detail::Detail;
use crate::tui::widgets::table::Selection;

/// Rows of a first question; a list that is scrolled towards its end asks for so many more.
const PORTION: usize = 200;
/// Rows before the end at which more are asked for.
const NEAR: usize = 50;
/// The most rows that are kept.
const MOST: usize = 5_000;
/// What was found of the selected item, if there is such an item.
type Shown = Result<Option<Box<Item>>, Arc<str>>;

/// See the module.
#[derive(Clone, Debug)]
pub struct WorkPane {
    area: Rect,
    split: Split,
    focus: Focus,
    zone: TimeZone,
    filter: Filter,
    trash: bool,
    most: usize,
    /// The last answer about the list.
    listed: Option<Result<Listed, Arc<str>>>,
    /// Which list that is.
    list: Arc<str>,
    /// The last answer about an item.
    shown: Option<(Arc<str>, Shown)>,
    pick: Selection<Arc<str>>,
    /// Selected as soon as it is listed, unless the person goes elsewhere first.
    sought: Option<Arc<str>>,
    detail: Detail,
    /// The item that the detail was made from, and its width.
    made: Option<(Arc<str>, usize)>,
    /// Whether the detail is to be made anew.
    stale: bool,
}

impl WorkPane {
    /// Nothing known yet; times are shown in this zone.
    pub fn new(zone: TimeZone) -> Self {
        Self {
            area: Rect::ZERO,
            split: Split::default(),
            focus: Focus::List,
            zone,
            filter: Filter::default(),
            trash: false,
            most: PORTION,
            listed: None,
            list: Arc::default(),
            shown: None,
            pick: Selection::default(),
            sought: None,
            detail: Detail::default(),
            made: None,
            stale: false,
        }
    }

    /// What it wants to know.
    pub fn wants(&self) -> Vec<Ask> {
        let mut asks = vec![Ask::Work(self.wanted())];
        let seen = !self.split.detail.is_empty();
        asks.extend(self.pick.id().filter(|_| seen).map(|key| Ask::Item(key.clone())));
        asks
    }

    fn wanted(&self) -> Wanted {
        Wanted {
            text: self.filter.words(),
            status: self.filter.value("status"),
            assignee: self.filter.value("assignee"),
            project: self.filter.value("project"),
            label: self.filter.value("label"),
            trash: self.trash,
            most: self.most,
        }
    }

    /// Takes an answer in; one that is late for its question is dropped.
    pub fn take(&mut self, answer: Answer) {
        match (answer.ask, answer.found) {
            (Ask::Work(wanted), found) if wanted == self.wanted() => {
                let listed =
                    found.map(|found| if let Found::Work(listed) = found { listed } else { Listed::default() });
                self.listed = Some(listed);
                self.list = format!("{} {}", self.trash, self.filter.text()).into();
            }
            (Ask::Item(key), found) => {
                let item = found.map(|found| if let Found::Item(item) = found { item } else { None });
                self.shown = Some((key, item));
                self.stale = true;
            }
            _ => {}
        }
    }

    /// Fits the pane to its area.
    pub fn layout(&mut self, area: Rect) {
        (self.area, self.split) = (area, Split::of(area, self.focus));
        let keys = self.keys();
        if let Some(sought) = self.sought.take_if(|sought| keys.contains(sought)) {
            self.pick.select(sought);
        }
        let used = 1 + usize::from(self.filter.typing());
        let list = Split::of(area, Focus::List).list;
        let height = to_cells(usize::from(inner(list).height).saturating_sub(used));
        match self.focus {
            Focus::List => self.pick.layout(&keys, height),
            Focus::Detail => self.pick.hold(&keys, height),
        }
        let all = self.listed().map_or(0, |listed| listed.all);
        if keys.len() >= self.most && keys.len() < all && self.pick.index() + NEAR >= keys.len() {
            self.most = (self.most + PORTION).min(MOST);
        }
        self.describe();
    }

    /// Selects an item, which may not be listed yet.
    pub fn show_item(&mut self, key: &Arc<str>) {
        self.filter.keep();
        self.filter.clear();
        (self.trash, self.focus) = (false, Focus::List);
        self.sought = Some(key.clone());
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

    /// What Esc does, in a word, while it does something.
    pub fn way_back(&self) -> Option<&'static str> {
        match self.focus {
            Focus::Detail => Some("list"),
            Focus::List if !self.filter.text().is_empty() => Some("all items"),
            Focus::List if self.trash => Some("out of the trash"),
            Focus::List => None,
        }
    }

    /// Whether a key does something now.
    pub fn possible(&self, intent: Intent) -> bool {
        let selected = self.head().is_some();
        match intent {
            Intent::Restore => selected && self.trash,
            Intent::Comment | Intent::SetStatus | Intent::Assign | Intent::Remove => selected && !self.trash,
            Intent::NewItem => matches!(self.listed, Some(Ok(_))),
            Intent::Open => selected && self.focus == Focus::List,
            _ => true,
        }
    }

    /// Whether the filter line has the keys.
    pub const fn typing(&self) -> bool {
        self.filter.typing()
    }

    /// A key while typing.
    pub fn text(&mut self, key: KeyEvent) {
        self.filter.key(key);
        self.most = PORTION;
    }

    /// Pasted text while typing.
    pub fn paste(&mut self, text: &str) {
        if self.filter.typing() {
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
            Intent::Open if self.head().is_some() => self.focus = Focus::Detail,
            Intent::Back if self.filter.typing() => self.filter.forget(),
            Intent::Back if self.focus == Focus::Detail => self.focus = Focus::List,
            Intent::Back if self.filter.clear() => self.most = PORTION,
            Intent::Back => self.trash = false,
            Intent::Submit => self.filter.keep(),
            Intent::Search => {
                self.focus = Focus::List;
                self.filter.begin();
            }
            Intent::CycleStatus => {
                let words = words("update_work_item", "status", snapshot);
                self.filter.cycle("status", &words.iter().map(AsRef::as_ref).collect::<Vec<_>>());
                self.most = PORTION;
            }
            Intent::Trash => (self.trash, self.focus, self.most) = (!self.trash, Focus::List, PORTION),
            Intent::ShowTrail => return vec![Effect::Show(Target::Trail)],
            Intent::NewItem
            | Intent::Comment
            | Intent::EditText
            | Intent::SetStatus
            | Intent::SetPriority
            | Intent::Assign
            | Intent::MoveItem
            | Intent::Remove
            | Intent::Restore => return self.change(intent, snapshot).into_iter().collect(),
            _ if self.focus == Focus::Detail => self.detail.apply(intent),
            _ => {
                if self.pick.apply(intent, &self.keys()) {
                    self.sought = None;
                }
            }
        }
        Vec::new()
    }

    fn listed(&self) -> Option<&Listed> {
        self.listed.as_ref().and_then(|listed| listed.as_ref().ok())
    }

    fn keys(&self) -> Vec<Arc<str>> {
        self.listed().into_iter().flat_map(|listed| &listed.items).map(|item| item.key.clone()).collect()
    }

    /// The selected item as it is listed.
    fn head(&self) -> Option<&Head> {
        let key = self.pick.id()?;
        self.listed()?.items.iter().find(|item| item.key == *key)
    }

    /// The selected item, whole, where it has been read.
    fn item(&self) -> Option<&Item> {
        let (key, item) = self.shown.as_ref()?;
        item.as_ref().ok()?.as_deref().filter(|_| self.pick.id() == Some(key))
    }

    fn describe(&mut self) {
        let place = Split::of(self.area, Focus::Detail);
        let (height, width) = (usize::from(inner(place.detail).height), place.detail_width());
        self.detail.resize(height);
        let Some(key) = self.pick.id().cloned() else {
            self.made = None;
            return self.detail.fill(Vec::new(), width);
        };
        // Another item's detail stays until this one's has been read: it takes a moment, and a blank would flicker.
        let known = self.shown.as_ref().is_some_and(|(shown, _)| *shown == key);
        let made = self.made.as_ref().is_some_and(|(made, at)| *made == key && *at == width);
        if !known || (made && !self.stale) {
            return;
        }
        if self.made.as_ref().is_none_or(|(made, _)| *made != key) {
            self.detail.rewind();
        }
        let sections = self.item().map(|item| about::sections(item, &self.zone, width)).unwrap_or_default();
        self.detail.fill(sections, width);
        (self.made, self.stale) = (Some((key, width)), false);
    }

    /// Draws the pane.
    pub fn render(&self, buf: &mut Buffer, draw: &Draw<'_>) {
        self.render_list(buf, &Draw { focused: draw.focused && self.focus == Focus::List, ..*draw });
        self.render_detail(buf, &Draw { focused: draw.focused && self.focus == Focus::Detail, ..*draw });
    }
}
