//! Reading one page: which version, how far it is scrolled, what is looked for in it.

use std::sync::Arc;

use jiff::tz::TimeZone;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::about;
use crate::rows::Ask;
use crate::rows::pages::Page;
use crate::tui::Draw;
use crate::tui::intent::{Effect, Intent};
use crate::tui::panes::two::{Two, empty, title};
use crate::tui::theme::Role;
use crate::tui::widgets::cells::clear;
use crate::tui::widgets::detail::Detail;
use crate::tui::widgets::paint::{Row, Span, put, put_rows};
use crate::tui::widgets::search::Search;

/// A page, or none; or why nothing can be read.
type Shown = Result<Option<Box<Page>>, Arc<str>>;
/// A page's id, and the version that was asked for where it is not the newest.
type Which = (Arc<str>, Option<i64>);

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Reading {
    /// The last answer.
    shown: Option<(Which, Shown)>,
    /// An earlier version of this page.
    earlier: Option<(Arc<str>, i64)>,
    pub(super) search: Search,
    /// The row of the last match, which of the rows with matches it is, and how many there are.
    at: Option<(usize, (usize, usize))>,
    /// What the detail was made from, and its width.
    made: Option<(Which, usize)>,
    stale: bool,
}

impl Reading {
    /// What it wants to know of this page.
    pub(super) fn wants(&self, id: &Arc<str>) -> Ask {
        Ask::Page(id.clone(), self.version_of(id))
    }

    fn version_of(&self, id: &Arc<str>) -> Option<i64> {
        self.earlier.as_ref().filter(|(page, _)| page == id).map(|(_, version)| *version)
    }

    pub(super) fn take(&mut self, which: Which, page: Shown) {
        self.shown = Some((which, page));
        self.stale = true;
    }

    /// Fits it to its place and to the page that is selected.
    pub(super) fn layout(&mut self, two: &mut Two<Arc<str>>, zone: &TimeZone) {
        let width = two.width();
        let Some(id) = two.pick.id() else {
            (self.made, self.earlier) = (None, None);
            return two.detail.fill(Vec::new(), width);
        };
        self.earlier.take_if(|(page, _)| page != id);
        let which = (id.clone(), self.version_of(id));
        // Another page stays until this one has been read: it takes a moment, and a blank would flicker.
        let known = self.shown.as_ref().is_some_and(|(shown, _)| *shown == which);
        let same = self.made.as_ref().is_some_and(|(made, at)| *made == which && *at == width);
        if !known || (same && !self.stale) {
            return;
        }
        if self.made.as_ref().is_none_or(|((made, _), _)| made != id) {
            two.detail.rewind();
            self.search = Search::default();
        }
        let sections = self.page().map(|page| about::sections(page, zone, width)).unwrap_or_default();
        two.detail.fill(sections, width);
        (self.made, self.stale, self.at) = (Some((which, width)), false, None);
    }

    fn page(&self) -> Option<&Page> {
        self.shown.as_ref().and_then(|(_, page)| page.as_ref().ok()?.as_deref())
    }

    /// The version before the one that is shown.
    pub(super) fn older(&self) -> Option<i64> {
        let page = self.page()?;
        page.versions.iter().map(|version| version.number).find(|number| *number < page.head.version)
    }

    /// True while an earlier version is shown.
    pub(super) const fn is_earlier(&self) -> bool {
        self.earlier.is_some()
    }

    /// True while the search field is open.
    pub(super) const fn typing(&self) -> bool {
        self.search.field().is_some()
    }

    /// True while something is looked for.
    pub(super) const fn searching(&self) -> bool {
        self.search.field().is_some() || self.search.is_active()
    }

    /// Leaves the search or the earlier version; false when there is neither.
    pub(super) fn back(&mut self) -> bool {
        self.at = None;
        self.search.leave() || self.earlier.take().is_some()
    }

    /// To an older or a newer version.
    pub(super) fn turn(&mut self, intent: Intent) -> Option<Effect> {
        if intent == Intent::Older {
            let Some(version) = self.older() else {
                return Some(Effect::Say("this is the first version that is kept".into()));
            };
            self.earlier = self.page().map(|page| (page.head.id.clone(), version));
            return None;
        }
        let newer = self.page().and_then(|page| {
            let later = |number: &i64| *number > page.head.version && *number < page.newest;
            let next = page.versions.iter().rev().map(|version| version.number).find(later);
            next.map(|version| (page.head.id.clone(), version))
        });
        if self.earlier.is_none() {
            return Some(Effect::Say("this is the newest version".into()));
        }
        self.earlier = newer;
        None
    }

    /// Opens the search, or goes to a match.
    pub(super) fn look(&mut self, intent: Intent, detail: &mut Detail) -> Option<Effect> {
        if intent == Intent::Search {
            self.search.open();
            return None;
        }
        if intent == Intent::Submit {
            self.search.keep();
        }
        if !self.search.is_active() {
            return None;
        }
        let direction = if intent == Intent::Submit { Intent::NextMatch } else { intent };
        let from = self.at.map(|(row, _)| row);
        let Some((row, around)) = detail.find(&self.search, (from, direction)) else {
            self.at = None;
            let words = format!("\"{}\" is not in this page", crate::text::visible(self.search.text()));
            return Some(Effect::Say(words.into()));
        };
        self.at = Some((row, detail.place(&self.search, row)));
        around.then(|| Effect::Say("the search went on from the other end".into()))
    }

    /// Draws it.
    pub(super) fn render(&self, buf: &mut Buffer, two: &Two<Arc<str>>, draw: &Draw<'_>) {
        let mut name = title("Page", draw);
        if let (Some(page), true) = (self.page(), self.made.is_some()) {
            name = title(&page.head.title, draw);
            if page.head.version != page.newest {
                let words = format!(" · version {} of {}", page.head.version, page.newest);
                name.push(Span::new(Role::Warning, &words));
            }
        }
        let Some(inside) = two.beside(buf, name, draw) else { return };
        match (&self.shown, &self.made) {
            (_, None) => empty(buf, inside, &["Nothing is selected."], draw),
            (Some((_, Err(why))), _) => empty(buf, inside, &[why], draw),
            (Some((_, Ok(None))), _) => empty(buf, inside, &["It is not there any more."], draw),
            _ => put_rows(buf, inside, &two.detail.window(&self.search), draw.theme),
        }
        self.render_search(buf, inside, draw);
    }

    /// The search in the lower border.
    fn render_search(&self, buf: &mut Buffer, inside: Rect, draw: &Draw<'_>) {
        if inside.width < 4 {
            return;
        }
        let line = Rect { x: inside.x - 1, y: inside.bottom(), width: inside.width + 2, height: 1 };
        if let Some(field) = self.search.field() {
            clear(buf, line);
            put(buf, line, &[Span::new(Role::Key, " /")], draw.theme);
            let rest = Rect { x: line.x + 2, width: line.width - 2, ..line };
            field.render(buf, rest, draw.theme.style(Role::Text));
        } else if self.search.is_active() {
            let place = self.at.map_or_else(String::new, |(_, (nth, all))| format!(" · {nth} of {all}"));
            let row: Row = vec![Span::new(Role::Match, &format!(" /{}{place} ", self.search.text()))];
            put(buf, line, &row, draw.theme);
        }
    }
}
