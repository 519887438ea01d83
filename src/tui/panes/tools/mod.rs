//! The tools view: the catalogue with what is known about each tool, a filter, and everything about the selected one.
//!
//! It shows what the entry says and derives nothing: class, hints, answers and their reasons come with it. Calling a
//! tool is the editor's work.

mod listing;
mod looks;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::calls::CLASSES;
use super::filter::Field;
use super::two::{Focus, Two, empty};
use crate::engine::gate::PolicyAnswer;
use crate::engine::snapshot::{Snapshot, ToolChange, ToolChangeKind};
use crate::tool::{Catalog, Entry};
use crate::tui::Draw;
use crate::tui::intent::{Effect, Intent};
use crate::tui::theme::Role;
use crate::tui::widgets::cells::{to_cells, width as cells_of};
use crate::tui::widgets::definition::{self, Around};
use crate::tui::widgets::paint::{Row, Span};
use crate::tui::widgets::table::Column;
use listing::{Item, ItemId};
use looks::{Chooser, Look};

/// Cells of the column of servers, at least and at most: a seat's own connection has a longer name.
const SERVER: (u16, u16) = (12, 22);
/// Cells that a name keeps beside that column.
const NAME: u16 = 20;

/// The columns; that of the servers only where there are several and the names leave room for it.
fn columns(rows: &[Item], catalog: &Catalog, width: u16) -> Vec<Column> {
    let mut servers = catalog.entries().iter().map(|entry| &entry.connection);
    let first = servers.next();
    let several = servers.any(|server| Some(server) != first);
    let longest = rows.iter().map(|item| cells_of(item.name())).max().unwrap_or(0);
    let mut columns = vec![Column::grows("name", 11)];
    let own = rows.iter().filter_map(Item::own).map(|connection| cells_of(connection.as_str())).max();
    let beside = |name: u16| width.saturating_sub(name.saturating_add(27));
    // Names are cut before servers go.
    if several && beside(to_cells(longest).min(NAME)) >= SERVER.0 {
        let server = to_cells(own.unwrap_or(0)).clamp(SERVER.0, SERVER.1);
        columns.push(Column::stays("server", server.min(beside(to_cells(longest)).max(SERVER.0))));
    }
    columns.push(Column::stays("class", 11));
    columns.extend(["R", "D", "I", "O"].map(|hint| Column::drops(hint, 1)));
    columns
}

/// What the detail shows of a tool.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Page {
    /// What is known about it.
    #[default]
    About,
    /// Its input schema, and its output schema where it has one.
    Schema,
}

/// What a detail was made from: when it is the same, so is the detail.
#[derive(Clone, Debug)]
struct Made {
    catalog: Arc<Catalog>,
    item: ItemId,
    page: Page,
    width: usize,
    unready: Option<&'static str>,
    policy: Option<PolicyAnswer>,
    change: Option<Arc<ToolChange>>,
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct ToolsPane {
    two: Two<ItemId>,
    page: Page,
    /// The list of those whom the catalogue can be looked at as, while it is open.
    chooser: Option<Chooser>,
    /// The catalogue and filter that the rows were made from.
    listed: Option<(Arc<Catalog>, String)>,
    rows: Vec<Item>,
    made: Option<Made>,
}

impl ToolsPane {
    /// Fits the pane to its area and the snapshot.
    pub fn layout(&mut self, area: Rect, snapshot: &Snapshot) {
        let filter = &self.two.filter;
        let current = self
            .listed
            .as_ref()
            .is_some_and(|(catalog, listed)| Arc::ptr_eq(catalog, &snapshot.catalog) && listed == filter.text());
        if !current {
            self.rows = listing::items(&snapshot.catalog, &snapshot.seats, &filter.terms());
            self.listed = Some((snapshot.catalog.clone(), filter.text().to_owned()));
        }
        self.two.layout(area, &self.ids());
        if let Some(chooser) = &mut self.chooser {
            chooser.layout(area, snapshot);
        }
        self.describe(snapshot);
    }

    /// Whether the list of those whom the catalogue can be looked at as has the keys.
    pub const fn choosing(&self) -> bool {
        self.chooser.is_some()
    }

    /// Shows the tools that pass one `key:value` term.
    pub fn show_only(&mut self, key: &str, value: &str) {
        self.two.filter.keep();
        self.two.filter.clear();
        self.two.filter.set(key, Some(value));
        self.to_list();
    }

    /// Gives the list the focus.
    pub fn to_list(&mut self) {
        self.two.focus_list();
        self.chooser = None;
    }

    /// What Esc does, in a word, while the detail has the focus.
    pub const fn way_back(&self) -> Option<&'static str> {
        match (self.two.focus, self.page) {
            (Focus::List, _) => None,
            (Focus::Detail, Page::About) => Some("list"),
            (Focus::Detail, Page::Schema) => Some("close schema"),
        }
    }

    /// Acts on what the person means.
    pub fn apply(&mut self, intent: Intent, snapshot: &Snapshot) -> Vec<Effect> {
        let effects = self.act(intent, snapshot);
        self.layout(self.two.area(), snapshot);
        effects
    }

    /// Whether the filter line has the keys.
    pub const fn typing(&self) -> bool {
        self.two.filter.typing()
    }

    /// The text field that has the keys.
    pub fn field(&mut self) -> Option<&mut dyn Field> {
        self.two.field()
    }

    /// Draws the pane.
    pub fn render(&self, buf: &mut Buffer, draw: &Draw<'_>) {
        let [list, detail] = self.two.draws(draw);
        self.render_list(buf, &list);
        let name = self.selected().map(|item| match (item, self.page) {
            (Item::Tool(entry), Page::About) => entry.name.to_string(),
            (Item::Tool(entry), Page::Schema) => format!("{} · schema", entry.name),
            (Item::Rejected(_), _) => "not usable".to_owned(),
        });
        self.two.about(buf, (name.as_deref(), "Tool"), &detail);
        if let Some(chooser) = &self.chooser {
            chooser.render(buf, draw);
        }
    }

    fn act(&mut self, intent: Intent, snapshot: &Snapshot) -> Vec<Effect> {
        if self.chooser.is_some() {
            self.choose(intent, snapshot);
            return Vec::new();
        }
        match intent {
            Intent::ViewAs => self.chooser = Some(Chooser::on(Look::of(&self.two.filter, &snapshot.seats))),
            Intent::Open => return self.open(snapshot),
            Intent::Back if self.page == Page::Schema && !self.typing() => self.page = Page::About,
            Intent::Search => self.two.search(),
            Intent::CycleClass => self.two.filter.cycle("class", &CLASSES),
            Intent::CycleServer => {
                let servers: Vec<&str> = snapshot.servers.iter().map(|server| server.connection.as_str()).collect();
                self.two.filter.cycle("server", &servers);
            }
            Intent::Schema => self.toggle_schema(),
            _ => _ = self.two.apply(intent, &self.ids()),
        }
        Vec::new()
    }

    fn choose(&mut self, intent: Intent, snapshot: &Snapshot) {
        let Some(mut chooser) = self.chooser.take() else { return };
        match intent {
            Intent::Open => {
                if let Some(look) = chooser.chosen() {
                    look.into(&mut self.two.filter);
                }
            }
            Intent::Back => {}
            _ => {
                chooser.apply(intent, snapshot);
                self.chooser = Some(chooser);
            }
        }
    }

    fn toggle_schema(&mut self) {
        if self.page == Page::Schema {
            self.page = Page::About;
            return;
        }
        if matches!(self.selected(), Some(Item::Tool(_))) {
            (self.page, self.two.focus) = (Page::Schema, Focus::Detail);
        }
    }

    /// The editor of a call, or why there can be none.
    fn open(&self, snapshot: &Snapshot) -> Vec<Effect> {
        let complain = |text: String| vec![Effect::Complain(text.into())];
        match self.selected() {
            None => Vec::new(),
            Some(Item::Rejected(rejected)) => complain(format!("this is not usable as a tool: {}", rejected.reason)),
            Some(Item::Tool(_)) if snapshot.read_only => {
                complain("read-only: nobody can call anything here".to_owned())
            }
            Some(Item::Tool(entry)) => match unready(entry, snapshot) {
                Some(word) => complain(format!("{} is {word}: nothing can be sent to it", entry.connection)),
                None => vec![Effect::EditCall(entry.key())],
            },
        }
    }

    fn selected(&self) -> Option<&Item> {
        let id = self.two.pick.id()?;
        self.rows.iter().find(|item| item.id() == *id)
    }

    fn ids(&self) -> Vec<ItemId> {
        self.rows.iter().map(Item::id).collect()
    }

    fn describe(&mut self, snapshot: &Snapshot) {
        let Some(item) = self.selected().cloned() else {
            self.made = None;
            return;
        };
        let unready = match &item {
            Item::Tool(entry) => unready(entry, snapshot),
            Item::Rejected(_) => None,
        };
        let (page, width) = (self.page, self.two.width());
        let catalog = snapshot.catalog.clone();
        let (policy, change) = match &item {
            Item::Tool(entry) => (snapshot.policies.get(&entry.key()).cloned(), change_of(entry, snapshot).cloned()),
            Item::Rejected(_) => (None, None),
        };
        let made = Made { catalog, item: item.id(), page, width, unready, policy, change };
        let known = self.made.as_ref();
        let same = known.is_some_and(|known| known.is_same(&made));
        if same {
            return;
        }
        if known.is_none_or(|known| known.item != made.item || known.page != made.page) {
            self.two.detail.rewind();
        }
        let sections = match (&item, page) {
            (Item::Tool(entry), Page::About) => definition::tool(entry, made.around(), width),
            (Item::Tool(entry), Page::Schema) => definition::schemas(entry),
            (Item::Rejected(rejected), _) => definition::rejected(rejected, width),
        };
        self.two.detail.fill(sections, width);
        self.made = Some(made);
    }

    fn render_list(&self, buf: &mut Buffer, draw: &Draw<'_>) {
        let catalog = &draw.snapshot.catalog;
        let all = catalog.entries().len() + catalog.rejected().len();
        let mut right = Row::new();
        let filter = &self.two.filter;
        let look = Look::of(filter, &draw.snapshot.seats).words();
        // What the title says need not be said twice.
        let filter = if look.is_some() { filter.without(&["seat", "worker"]) } else { filter.text().to_owned() };
        if !filter.is_empty() {
            right.push(Span::new(Role::Accent, &format!("{filter}  ")));
        }
        let name = look.map_or_else(|| "Tools".to_owned(), |look| format!("Tools · {look}"));
        right.push(Span::new(Role::Dim, &format!("{}/{all}", self.rows.len())));
        let Some(inside) = self.two.list(buf, (&name, right), draw) else { return };
        if self.rows.is_empty() {
            let texts: &[&str] = if all == 0 {
                &[
                    "No tools yet.",
                    "They are listed as soon as a server is ready; the servers view says what each is doing.",
                ]
            } else {
                &[
                    "No tool passes the filter.",
                    "Words, class:destructive, server:name, seat:handle, worker:handle, hint:unknown. Esc clears it.",
                ]
            };
            return empty(buf, inside, texts, draw);
        }
        let columns = columns(&self.rows, catalog, inside.width);
        let several = columns.iter().any(|column| column.title == "server");
        let row = |item: &Item| (item.id(), listing::cells(item, several, draw));
        self.two.rows(buf, (inside, &columns), (self.rows.iter(), row), draw);
    }
}

impl Made {
    fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.catalog, &other.catalog)
            && (&self.item, self.page, self.width, self.unready)
                == (&other.item, other.page, other.width, other.unready)
            && (&self.policy, &self.change) == (&other.policy, &other.change)
    }

    fn around(&self) -> Around<'_> {
        let change = match self.change.as_ref().map(|change| &change.kind) {
            Some(ToolChangeKind::Changed(lines)) => Some(("its server changed it", lines.as_slice())),
            Some(ToolChangeKind::Added) => Some(("its server added it", [].as_slice())),
            Some(ToolChangeKind::Removed) | None => None,
        };
        Around { unready: self.unready, policy: self.policy.as_ref(), change, schemas: "s shows schemas whole" }
    }
}

/// The status of the tool's connection when calls cannot be sent; a first-party tool has none.
fn unready(entry: &Entry, snapshot: &Snapshot) -> Option<&'static str> {
    let server = snapshot.servers.iter().find(|server| server.connection == entry.connection)?;
    (!server.status.is_ready()).then(|| server.status.word())
}

/// The newest change of the tool while the program ran, unless it is that it went away.
fn change_of<'s>(entry: &Entry, snapshot: &'s Snapshot) -> Option<&'s Arc<ToolChange>> {
    let of_tool = |change: &&Arc<ToolChange>| change.tool == entry.name && change.connection == entry.connection;
    let newest = snapshot.tool_changes.iter().rev().find(of_tool)?;
    (newest.kind != ToolChangeKind::Removed).then_some(newest)
}
