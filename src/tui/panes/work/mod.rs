//! The work view: the tracker's items as a list, and everything about the selected one. What a key changes is a call of
//! the tracker's own tools; the rows change when the store did.
//!
//! It holds what it was answered last and declares what it wants to know; nothing is read here.

pub(super) mod about;
mod acts;
mod draw;

use std::sync::Arc;

use jiff::tz::TimeZone;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::filter::Field;
use super::portion::Portion;
use super::two::{Focus, Two};
use crate::engine::snapshot::Snapshot;
use crate::rows::work::{Head, Item, Listed, Wanted};
use crate::rows::{Answer, Ask, Found};
use crate::tui::Draw;
use crate::tui::act::words;
use crate::tui::intent::{Effect, Intent, Target};

/// What was found of the selected item, if there is such an item.
type Shown = Result<Option<Box<Item>>, Arc<str>>;

/// See the module.
#[derive(Clone, Debug)]
pub struct WorkPane {
    two: Two<Arc<str>>,
    zone: TimeZone,
    trash: bool,
    portion: Portion,
    /// The last answer about the list.
    listed: Option<Result<Listed, Arc<str>>>,
    /// Which list that is.
    list: Arc<str>,
    /// The last answer about an item.
    shown: Option<(Arc<str>, Shown)>,
    /// Selected as soon as it is listed, unless the person goes elsewhere first.
    sought: Option<Arc<str>>,
    /// The item that the detail was made from, and its width.
    made: Option<(Arc<str>, usize)>,
    /// Whether the detail is to be made anew.
    stale: bool,
}

impl WorkPane {
    /// Nothing known yet; times are shown in this zone.
    pub fn new(zone: TimeZone) -> Self {
        Self {
            two: Two::default(),
            zone,
            trash: false,
            portion: Portion::default(),
            listed: None,
            list: Arc::default(),
            shown: None,
            sought: None,
            made: None,
            stale: false,
        }
    }

    /// What it wants to know.
    pub fn wants(&self) -> Vec<Ask> {
        let mut asks = vec![Ask::Work(self.wanted())];
        let key = self.two.pick.id().filter(|_| self.two.shows_detail());
        asks.extend(key.map(|key| Ask::Item(key.clone())));
        asks
    }

    fn wanted(&self) -> Wanted {
        let filter = &self.two.filter;
        Wanted {
            text: filter.words(),
            status: filter.value("status"),
            assignee: filter.value("assignee"),
            project: filter.value("project"),
            label: filter.value("label"),
            trash: self.trash,
            most: self.portion.most(),
        }
    }

    /// Takes an answer in; one that is late for its question is dropped.
    pub fn take(&mut self, answer: Answer) {
        match (answer.ask, answer.found) {
            (Ask::Work(wanted), found) if wanted == self.wanted() => {
                let listed =
                    found.map(|found| if let Found::Work(listed) = found { listed } else { Listed::default() });
                self.listed = Some(listed);
                self.list = format!("{} {}", self.trash, self.two.filter.text()).into();
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
        let keys = self.keys();
        if let Some(sought) = self.sought.take_if(|sought| keys.contains(sought)) {
            self.two.pick.select(sought);
        }
        self.two.hold(area, &keys);
        let all = self.listed().map_or(0, |listed| listed.all);
        self.portion.follow(self.two.filter.text(), self.two.pick.index(), (keys.len(), all));
        self.describe();
    }

    /// Selects an item, which may not be listed yet.
    pub fn show_item(&mut self, key: &Arc<str>) {
        self.two.filter.keep();
        self.two.filter.clear();
        self.two.focus_list();
        self.trash = false;
        self.sought = Some(key.clone());
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

    /// What Esc does, in a word, while it does something.
    pub fn way_back(&self) -> Option<&'static str> {
        match self.two.way_back() {
            None if !self.two.filter.text().is_empty() => Some("all items"),
            None if self.trash => Some("out of the trash"),
            way => way,
        }
    }

    /// Whether a key does something now.
    pub fn possible(&self, intent: Intent) -> bool {
        let selected = self.head().is_some();
        match intent {
            Intent::Restore => selected && self.trash,
            Intent::Comment | Intent::SetStatus | Intent::Assign | Intent::Remove => selected && !self.trash,
            Intent::NewItem => matches!(self.listed, Some(Ok(_))),
            Intent::Open => selected && self.two.focus == Focus::List,
            _ => true,
        }
    }

    /// Whether the filter line has the keys.
    pub const fn typing(&self) -> bool {
        self.two.filter.typing()
    }

    /// The text field that has the keys.
    pub fn field(&mut self) -> Option<&mut dyn Field> {
        self.two.field()
    }

    /// Acts on what the person means.
    pub fn apply(&mut self, intent: Intent, snapshot: &Snapshot) -> Vec<Effect> {
        let effects = self.act(intent, snapshot);
        self.layout(self.two.area());
        effects
    }

    fn act(&mut self, intent: Intent, snapshot: &Snapshot) -> Vec<Effect> {
        match intent {
            Intent::Open if self.head().is_some() => self.two.focus = Focus::Detail,
            Intent::Back if !self.typing() && self.way_back() == Some("out of the trash") => self.trash = false,
            Intent::Search => self.two.search(),
            Intent::CycleStatus => {
                let words = words("update_work_item", "status", snapshot);
                self.two.filter.cycle("status", &words.iter().map(AsRef::as_ref).collect::<Vec<_>>());
            }
            Intent::Trash => {
                self.trash = !self.trash;
                self.two.focus_list();
                self.portion.first();
            }
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
            _ => {
                if self.two.apply(intent, &self.keys()) {
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
        let key = self.two.pick.id()?;
        self.listed()?.items.iter().find(|item| item.key == *key)
    }

    /// The selected item, whole, where it has been read.
    fn item(&self) -> Option<&Item> {
        let (key, item) = self.shown.as_ref()?;
        item.as_ref().ok()?.as_deref().filter(|_| self.two.pick.id() == Some(key))
    }

    fn describe(&mut self) {
        let width = self.two.width();
        let Some(key) = self.two.pick.id().cloned() else {
            self.made = None;
            return self.two.detail.fill(Vec::new(), width);
        };
        // Another item's detail stays until this one's has been read: it takes a moment, and a blank would flicker.
        let known = self.shown.as_ref().is_some_and(|(shown, _)| *shown == key);
        let made = self.made.as_ref().is_some_and(|(made, at)| *made == key && *at == width);
        if !known || (made && !self.stale) {
            return;
        }
        if self.made.as_ref().is_none_or(|(made, _)| *made != key) {
            self.two.detail.rewind();
        }
        let sections = self.item().map(|item| about::sections(item, &self.zone, width)).unwrap_or_default();
        self.two.detail.fill(sections, width);
        (self.made, self.stale) = (Some((key, width)), false);
    }

    /// Draws the pane.
    pub fn render(&self, buf: &mut Buffer, draw: &Draw<'_>) {
        let [list, detail] = self.two.draws(draw);
        self.render_list(buf, &list);
        self.render_detail(buf, &detail);
    }
}
