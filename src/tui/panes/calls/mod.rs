//! The calls view: all calls of this run, newest first, and everything about the selected one.
//!
//! It never predicts: what is shown is what the snapshot says. Giving up a call of the person's own is a command.

mod about;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::filter::{Field, Term};
use super::two::{Focus, Two, empty};
use crate::clock::Precision;
use crate::engine::command::Command;
use crate::engine::snapshot::{CallPhase, CallView, Caller, FormView, Snapshot};
use crate::ids::{CallId, FormId};
use crate::tool::EffectClass;
use crate::tui::Draw;
use crate::tui::intent::{Effect, Intent};
use crate::tui::theme::Role;
use crate::tui::widgets::badge;
use crate::tui::widgets::paint::{Row, Span, took};
use crate::tui::widgets::table::Column;

const COLUMNS: [Column; 6] = [
    Column::stays("time", 8),
    Column::grows("tool", 14),
    Column::stays("phase", 10),
    Column::number("took", 8),
    // Goes before the others: the detail has it where it stands beside the list.
    Column { rank: 2, ..Column::drops("class", 11) },
    Column::drops("who", 10),
];
/// The order of the class filter: what matters most first.
pub(super) const CLASSES: [&str; 4] = ["destructive", "unknown", "write", "read"];

/// The call that a detail was made from, its width, and what the call's server asks.
type Made = (Arc<CallView>, (usize, Option<FormId>));

/// See the module.
#[derive(Clone, Debug)]
pub struct CallsPane {
    two: Two<CallId>,
    /// Calls that pass the filter, newest first.
    rows: Vec<Arc<CallView>>,
    /// The newest call is selected as it arrives.
    follow: bool,
    /// Selected as soon as it is listed, unless the person goes elsewhere first.
    wanted: Option<CallId>,
    /// What the server of the selected call asks the person, while it waits for that.
    asking: Option<FormId>,
    /// What the detail was made from: the call, its width, and whether the server asks.
    made: Option<Made>,
}

impl Default for CallsPane {
    fn default() -> Self {
        Self { two: Two::default(), rows: Vec::new(), follow: true, wanted: None, asking: None, made: None }
    }
}

impl CallsPane {
    /// Fits the pane to its area and the snapshot.
    pub fn layout(&mut self, area: Rect, snapshot: &Snapshot) {
        let terms = self.two.filter.terms();
        self.rows = snapshot.calls.iter().rev().filter(|call| passes(call, &terms)).cloned().collect();
        if let Some(wanted) = self.wanted.take_if(|wanted| self.rows.iter().any(|call| call.id == *wanted)) {
            self.two.pick.select(wanted);
        }
        if let (true, Some(newest)) = (self.follow, self.rows.first()) {
            self.two.pick.select(newest.id.clone());
        }
        self.two.layout(area, &self.ids());
        self.asking = self.selected().and_then(|call| asks(call, snapshot));
        self.describe();
    }

    /// Shows this call, which may not be in the snapshot yet.
    pub fn show_call(&mut self, call: &CallId) {
        self.two.filter.keep();
        self.two.filter.clear();
        self.two.focus_list();
        self.follow = false;
        self.wanted = Some(call.clone());
    }

    /// Gives the list the focus.
    pub const fn to_list(&mut self) {
        self.two.focus_list();
    }

    /// What Esc does, in a word, while the detail has the focus.
    pub const fn way_back(&self) -> Option<&'static str> {
        self.two.way_back()
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
        self.two.about(buf, (self.made.as_ref().map(|(call, _)| &*call.name), "Call"), &detail);
    }

    fn act(&mut self, intent: Intent, snapshot: &Snapshot) -> Vec<Effect> {
        match intent {
            Intent::Open => return self.open(snapshot),
            Intent::Search => self.two.search(),
            Intent::CycleClass => self.two.filter.cycle("class", &CLASSES),
            Intent::Follow => (self.follow, self.wanted) = (!self.follow, None),
            Intent::CancelCall => return self.cancel(snapshot),
            _ => {
                if self.two.apply(intent, &self.ids()) {
                    (self.follow, self.wanted) = (intent == Intent::Top, None);
                }
            }
        }
        Vec::new()
    }

    fn selected(&self) -> Option<&Arc<CallView>> {
        let id = self.two.pick.id()?;
        self.rows.iter().find(|call| call.id == *id)
    }

    /// The card of a call that waits, the form of one whose server asks, else its detail.
    fn open(&mut self, snapshot: &Snapshot) -> Vec<Effect> {
        if let Some(CallPhase::Waiting(question)) = self.selected().map(|call| &call.phase)
            && snapshot.approvals.iter().any(|waiting| waiting.id == *question)
        {
            return vec![Effect::OpenCard(*question)];
        }
        if let Some(form) = self.selected().and_then(|call| asks(call, snapshot)) {
            return vec![Effect::OpenForm(form)];
        }
        if self.selected().is_some() {
            self.two.focus = Focus::Detail;
        }
        Vec::new()
    }

    /// Whether the selected call is one of the person's own that is not over.
    pub fn may_give_up(&self, snapshot: &Snapshot) -> bool {
        self.current(snapshot).is_some_and(|call| call.caller == Caller::Console && !call.phase.is_over())
    }

    /// The selected call as it stands now, not as it stood when the rows were made.
    fn current<'s>(&'s self, snapshot: &'s Snapshot) -> Option<&'s Arc<CallView>> {
        let selected = self.selected()?;
        Some(snapshot.calls.iter().find(|call| call.id == selected.id).unwrap_or(selected))
    }

    fn cancel(&self, snapshot: &Snapshot) -> Vec<Effect> {
        let Some(call) = self.current(snapshot) else { return Vec::new() };
        let complaint = match (&call.caller, call.phase.is_over()) {
            (_, true) => "this call is over: there is nothing to give up",
            (Caller::Seat { .. } | Caller::Worker { .. } | Caller::Operator { .. }, _) => {
                "only calls of your own can be given up"
            }
            (Caller::Console, false) => return vec![Effect::Send(Command::Cancel(call.id.clone()))],
        };
        vec![Effect::Complain(complaint.into())]
    }

    fn ids(&self) -> Vec<CallId> {
        self.rows.iter().map(|call| call.id.clone()).collect()
    }

    fn describe(&mut self) {
        let width = self.two.width();
        let selected = self.selected().cloned();
        let same = match (&self.made, &selected) {
            (Some((made, at)), Some(call)) => *at == (width, self.asking) && is_same(made, call),
            (None, None) => true,
            _ => false,
        };
        if same {
            return;
        }
        if self.made.as_ref().map(|(made, _)| &made.id) != selected.as_ref().map(|call| &call.id) {
            self.two.detail.rewind();
        }
        let sections =
            selected.as_deref().map(|call| about::sections(call, self.asking.is_some(), width)).unwrap_or_default();
        self.two.detail.fill(sections, width);
        self.made = selected.map(|call| (call, (width, self.asking)));
    }

    fn render_list(&self, buf: &mut Buffer, draw: &Draw<'_>) {
        let all = draw.snapshot.calls.len();
        let mut right = Row::new();
        let filter = self.two.filter.text();
        if !filter.is_empty() {
            right.push(Span::new(Role::Accent, &format!("{filter}  ")));
            right.push(Span::new(Role::Dim, &format!("{}/{all}", self.rows.len())));
        } else if all > 0 {
            right.push(Span::new(Role::Dim, &all.to_string()));
        }
        let state = if self.follow { "Calls · following" } else { "Calls" };
        let Some(inside) = self.two.list(buf, (state, right), draw) else { return };
        if self.rows.is_empty() {
            let texts: &[&str] = if all == 0 {
                &["No calls yet.", "Calls by agents and your own (Enter on a tool) are listed here."]
            } else {
                &["No call passes the filter.", "Esc clears it."]
            };
            return empty(buf, inside, texts, draw);
        }
        let row = |call: &Arc<CallView>| (call.id.clone(), cells(call, draw));
        self.two.rows(buf, (inside, &COLUMNS), (self.rows.iter(), row), draw);
    }
}

/// True when a detail made from one is right for the other; the arguments of a call never change.
fn is_same(one: &Arc<CallView>, other: &Arc<CallView>) -> bool {
    let result = |call: &CallView| call.result.as_ref().map(Arc::as_ptr);
    Arc::ptr_eq(one, other)
        || (one.id == other.id
            && one.phase == other.phase
            && one.policy == other.policy
            && one.decider == other.decider
            && one.elapsed == other.elapsed
            && result(one) == result(other))
}

/// What the server of a running call asks the person, where it is known to belong to that call.
fn asks(call: &CallView, snapshot: &Snapshot) -> Option<FormId> {
    let of_call = |form: &&Arc<FormView>| matches!(&form.during[..], [during] if during.call == call.id);
    (call.phase == CallPhase::Running).then(|| snapshot.forms.iter().find(of_call)).flatten().map(|form| form.id)
}

fn cells(call: &CallView, draw: &Draw<'_>) -> Vec<Row> {
    let text = |role, text: &str| vec![Span::new(role, text)];
    // What it took at the server, else how long it waited or has been going on.
    let (time, role) = match (call.ran, call.elapsed) {
        (Some(ran), _) => (ran, Role::Text),
        (None, elapsed) => (elapsed.unwrap_or_else(|| draw.now.since(call.at)), Role::Dim),
    };
    let phase = match asks(call, draw.snapshot) {
        Some(_) => text(Role::Alert, "asks you"),
        None => text(badge::phase_role(&call.phase), call.phase.word()),
    };
    vec![
        text(Role::Dim, &call.at.time_of_day(draw.zone, Precision::Seconds)),
        text(Role::Text, &call.name),
        phase,
        text(role, &short(time)),
        call.class.map_or_else(Row::new, |class| vec![badge::class(class)]),
        text(Role::Text, badge::caller_short(&call.caller)),
    ]
}

/// A time that fits its column: by the second up to a minute, then by the minute.
fn short(time: Duration) -> String {
    let seconds = time.as_secs();
    if seconds < 60 { took(time) } else { format!("{} min", seconds / 60) }
}

fn passes(call: &CallView, terms: &[Term]) -> bool {
    terms.iter().all(|term| match term {
        Term::Pair(key, value) => match key.as_str() {
            "class" => call.class.map(EffectClass::as_str).is_some_and(|class| class.starts_with(value.as_str())),
            "server" => call.connection.as_ref().is_some_and(|name| name.as_str().to_lowercase().starts_with(value)),
            "seat" => call.caller.seat().is_some_and(|seat| seat.as_str().starts_with(value)),
            "phase" => call.phase.word().starts_with(value.as_str()),
            _ => true,
        },
        Term::Word(word) => {
            let places = [&*call.name, call.id.as_str(), badge::caller_short(&call.caller), call.phase.word()];
            places.iter().any(|place| place.to_lowercase().contains(word))
        }
    })
}
