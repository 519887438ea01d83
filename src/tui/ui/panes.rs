//! All panes, which view they stand in, and which of them has the focus. The one place that matches on views.

use std::sync::Arc;

use jiff::tz::TimeZone;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::engine::snapshot::Snapshot;
use crate::rows::{Answer, Ask};
use crate::tui::Draw;
use crate::tui::frames::Motion;
use crate::tui::intent::{Effect, Intent, Target};
use crate::tui::layout;
use crate::tui::panes::approvals::Page;
use crate::tui::panes::servers::FailureText;
use crate::tui::panes::{
    ApprovalsPane, CallsPane, Field, InboxPane, LogPane, PagesPane, PaneId, SeatsPane, ServersPane, SessionsPane,
    StderrPane, ToolsPane, TrailPane, View, WorkPane,
};

/// See the module.
#[derive(Debug)]
pub struct Panes {
    view: View,
    /// Which pane of the servers view has the focus.
    half: Half,
    body: Rect,
    servers: ServersPane,
    stderr: StderrPane,
    tools: ToolsPane,
    approvals: ApprovalsPane,
    calls: CallsPane,
    sessions: SessionsPane,
    log: LogPane,
    seats: SeatsPane,
    work: WorkPane,
    pages: PagesPane,
    trail: TrailPane,
    inbox: InboxPane,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Half {
    Servers,
    Stderr,
}

impl Panes {
    /// All panes, the servers in front.
    pub fn new(zone: &TimeZone) -> Self {
        Self {
            view: View::Servers,
            half: Half::Servers,
            body: Rect::ZERO,
            servers: ServersPane::default(),
            stderr: StderrPane::new(zone.clone()),
            tools: ToolsPane::default(),
            approvals: ApprovalsPane::default(),
            calls: CallsPane::default(),
            sessions: SessionsPane::new(zone.clone()),
            log: LogPane::new(zone.clone()),
            seats: SeatsPane::new(zone.clone()),
            work: WorkPane::new(zone.clone()),
            pages: PagesPane::new(zone.clone()),
            trail: TrailPane::new(zone.clone()),
            inbox: InboxPane::new(zone.clone()),
        }
    }

    /// The view in front.
    pub const fn view(&self) -> View {
        self.view
    }

    /// The pane with the focus.
    pub fn focused(&self) -> PaneId {
        match (self.view, self.half) {
            (View::Servers, Half::Servers) => PaneId::Servers,
            (View::Servers, Half::Stderr) => PaneId::Stderr,
            (View::Tools, _) if self.tools.choosing() => PaneId::Looks,
            (View::Tools, _) => PaneId::Tools,
            (View::Approvals, _) => match self.approvals.page() {
                Page::Waiting => PaneId::Approvals,
                Page::Grants => PaneId::Grants,
            },
            (View::Calls, _) => PaneId::Calls,
            (View::Sessions, _) => PaneId::Sessions,
            (View::Log, _) => PaneId::Log,
            (View::Seats, _) => PaneId::Seats,
            (View::Work, _) => PaneId::Work,
            (View::Pages, _) if self.pages.is_reading() => PaneId::Page,
            (View::Pages, _) => PaneId::Pages,
            (View::Connector, _) => PaneId::Trail,
            (View::Inbox, _) => PaneId::Inbox,
        }
    }

    /// Brings a view to the front, the focus on its list: what the keys do there does not depend on earlier visits.
    pub fn show(&mut self, view: View) {
        self.view = view;
        match view {
            View::Servers => self.half = Half::Servers,
            View::Tools => self.tools.to_list(),
            View::Approvals => self.approvals.to_list(),
            View::Calls => self.calls.to_list(),
            View::Sessions => self.sessions.to_list(),
            View::Log | View::Connector => {}
            View::Seats => self.seats.to_list(),
            View::Work => self.work.to_list(),
            View::Pages => self.pages.to_list(),
            View::Inbox => self.inbox.to_list(),
        }
    }

    /// What Esc does, in a word, while the focus is not on the view's list.
    pub fn way_back(&self) -> Option<&'static str> {
        match self.focused() {
            PaneId::Tools => self.tools.way_back(),
            PaneId::Calls => self.calls.way_back(),
            PaneId::Sessions => self.sessions.way_back(),
            PaneId::Seats => self.seats.way_back(),
            PaneId::Work => self.work.way_back(),
            PaneId::Pages | PaneId::Page => self.pages.way_back(),
            PaneId::Inbox => self.inbox.way_back(),
            PaneId::Stderr if self.stderr.searching() => Some("end search"),
            PaneId::Stderr => Some("list"),
            PaneId::Log if self.log.searching() => Some("end search"),
            PaneId::Trail if self.trail.searching() => Some("end search"),
            PaneId::Grants => Some("waiting questions"),
            PaneId::Servers | PaneId::Looks | PaneId::Approvals | PaneId::Log | PaneId::Trail => None,
        }
    }

    /// True while the view in front looks for something in a text.
    pub fn searching(&self) -> bool {
        match self.view {
            View::Servers => self.stderr.searching(),
            View::Log => self.log.searching(),
            View::Pages => self.pages.possible(Intent::NextMatch),
            View::Connector => self.trail.searching(),
            _ => false,
        }
    }

    /// Whether the selected call is one that the person can give up.
    pub fn may_give_up(&self, snapshot: &Snapshot) -> bool {
        self.view == View::Calls && self.calls.may_give_up(snapshot)
    }

    /// Whether the selected question can be answered.
    pub fn may_answer(&self, snapshot: &Snapshot) -> bool {
        self.inbox.may_answer(snapshot)
    }

    /// The row that keys are about, where it may go from under them: of the view in front, which of its lists, and a
    /// name that no other row has.
    pub fn marked(&self) -> Option<(View, Arc<str>, Arc<str>)> {
        let row = match self.view {
            View::Work => self.work.selected().map(|row| (self.work.list().clone(), row.clone())),
            View::Pages => self.pages.selected().map(|row| (self.pages.list().clone(), row.clone())),
            View::Inbox => self.inbox.channel().map(|row| (Arc::default(), row.clone())),
            View::Seats => self.seats.marked().map(|row| (Arc::default(), row)),
            View::Servers
            | View::Tools
            | View::Approvals
            | View::Calls
            | View::Sessions
            | View::Log
            | View::Connector => None,
        };
        row.map(|(list, row)| (self.view, list, row))
    }

    /// Whether a key of the view in front does something now.
    pub fn possible(&self, intent: Intent) -> bool {
        match self.view {
            View::Work => self.work.possible(intent),
            View::Pages => self.pages.possible(intent),
            _ => true,
        }
    }

    /// Brings something to the front.
    pub fn show_target(&mut self, target: &Target) {
        match target {
            Target::ToolsOf(connection) => {
                self.show(View::Tools);
                self.tools.show_only("server", connection.as_str());
            }
            Target::ToolsOfSeat(seat) => {
                self.show(View::Tools);
                self.tools.show_only("seat", seat.as_str());
            }
            Target::ToolsOfWorker(seat) => {
                self.show(View::Tools);
                self.tools.show_only("worker", seat.as_str());
            }
            Target::Call(call) => {
                self.show(View::Calls);
                self.calls.show_call(call);
            }
            // Whoever has gone elsewhere meanwhile is not fetched back.
            Target::Item(key) if self.view == View::Work => self.work.show_item(key),
            Target::Item(_) => {}
            Target::Trail => self.show(View::Connector),
        }
    }

    /// Fits the view in front to its area and to what is true.
    pub fn layout(&mut self, body: Rect, snapshot: &Snapshot) {
        self.body = body;
        let (left, right) = layout::panes(body);
        match self.view {
            View::Servers => {
                // In a narrow view both take the same place, and the one with the focus is drawn.
                self.servers.layout(left, snapshot);
                self.stderr.layout(right.unwrap_or(left), snapshot, self.servers.selected());
                let beside = right.is_some() && self.stderr.tells_failure();
                self.servers.tell_failure(if beside { FailureText::Beside } else { FailureText::Here });
            }
            View::Tools => self.tools.layout(body, snapshot),
            View::Approvals => self.approvals.layout(body, snapshot),
            View::Calls => self.calls.layout(body, snapshot),
            View::Sessions => self.sessions.layout(body, snapshot),
            View::Log => self.log.layout(body, snapshot),
            View::Seats => self.seats.layout(body, snapshot),
            View::Work => self.work.layout(body),
            View::Pages => self.pages.layout(body),
            View::Connector => self.trail.layout(body),
            View::Inbox => self.inbox.layout(body, snapshot),
        }
    }

    /// Hands an intent to the pane with the focus.
    pub fn apply(&mut self, intent: Intent, snapshot: &Snapshot) -> Vec<Effect> {
        match self.focused() {
            PaneId::Servers | PaneId::Stderr => self.apply_servers(intent, snapshot),
            PaneId::Tools | PaneId::Looks => self.tools.apply(intent, snapshot),
            PaneId::Approvals | PaneId::Grants => self.approvals.apply(intent, snapshot),
            PaneId::Calls => self.calls.apply(intent, snapshot),
            PaneId::Sessions => self.sessions.apply(intent, snapshot),
            PaneId::Log => self.log.apply(intent, snapshot),
            PaneId::Seats => self.seats.apply(intent, snapshot),
            PaneId::Work => self.work.apply(intent, snapshot),
            PaneId::Pages | PaneId::Page => self.pages.apply(intent, snapshot),
            PaneId::Trail => self.trail.apply(intent),
            PaneId::Inbox => self.inbox.apply(intent, snapshot),
        }
    }

    /// True while a text field is open.
    pub fn typing(&self) -> bool {
        match self.focused() {
            PaneId::Servers | PaneId::Stderr => self.stderr.typing(),
            PaneId::Tools | PaneId::Looks => self.tools.typing(),
            PaneId::Calls => self.calls.typing(),
            PaneId::Log => self.log.typing(),
            PaneId::Approvals | PaneId::Grants | PaneId::Sessions | PaneId::Seats | PaneId::Inbox => false,
            PaneId::Work => self.work.typing(),
            PaneId::Pages | PaneId::Page => self.pages.typing(),
            PaneId::Trail => self.trail.typing(),
        }
    }

    /// The open text field.
    pub fn field(&mut self) -> Option<&mut dyn Field> {
        match self.focused() {
            PaneId::Servers | PaneId::Stderr => self.stderr.field(),
            PaneId::Tools | PaneId::Looks => self.tools.field(),
            PaneId::Calls => self.calls.field(),
            PaneId::Log => self.log.field(),
            PaneId::Work => self.work.field(),
            PaneId::Pages | PaneId::Page => self.pages.field(),
            PaneId::Trail => self.trail.field(),
            PaneId::Approvals | PaneId::Grants | PaneId::Sessions | PaneId::Seats | PaneId::Inbox => None,
        }
    }

    /// Goes on with a search that takes long.
    pub fn advance(&mut self, snapshot: &Snapshot) -> Vec<Effect> {
        match self.view {
            View::Servers => self.stderr.advance(snapshot),
            View::Log => self.log.advance(snapshot),
            View::Connector => self.trail.advance(),
            _ => Vec::new(),
        }
    }

    /// True while a search needs more steps.
    pub fn hunting(&self) -> bool {
        match self.view {
            View::Servers => self.stderr.hunting(),
            View::Log => self.log.hunting(),
            View::Connector => self.trail.hunting(),
            _ => false,
        }
    }

    /// What the view in front wants to know of the company's rows. The same questions as before are not asked again
    /// until something changes.
    pub fn wants(&self) -> Vec<Ask> {
        match self.view {
            View::Work => self.work.wants(),
            View::Pages => self.pages.wants(),
            View::Connector => vec![Ask::Trail],
            View::Seats => self.seats.wants(),
            View::Servers | View::Tools | View::Approvals | View::Calls | View::Sessions | View::Log | View::Inbox => {
                Vec::new()
            }
        }
    }

    /// Hands an answer to the pane that asked. One that is late for its question is for nobody.
    pub fn take(&mut self, answer: Answer) {
        match answer.ask {
            Ask::Work(_) | Ask::Item(_) => self.work.take(answer),
            Ask::Pages(_) | Ask::Page(..) => self.pages.take(answer),
            Ask::Trail => self.trail.take(answer),
            Ask::Memory(_) => self.seats.take(answer),
        }
    }

    /// Draws the view in front.
    pub fn render(&self, buf: &mut Buffer, draw: &Draw<'_>) {
        match self.view {
            View::Servers => {
                let focus = |half| Draw { focused: self.half == half, ..*draw };
                let both = layout::panes(self.body).1.is_some();
                if both || self.half == Half::Servers {
                    self.servers.render(buf, &focus(Half::Servers));
                }
                if both || self.half == Half::Stderr {
                    self.stderr.render(buf, &focus(Half::Stderr));
                }
            }
            View::Tools => self.tools.render(buf, draw),
            View::Approvals => self.approvals.render(buf, draw),
            View::Calls => self.calls.render(buf, draw),
            View::Sessions => self.sessions.render(buf, draw),
            View::Log => self.log.render(buf, draw),
            View::Seats => self.seats.render(buf, draw),
            View::Work => self.work.render(buf, draw),
            View::Pages => self.pages.render(buf, draw),
            View::Connector => self.trail.render(buf, draw),
            View::Inbox => self.inbox.render(buf, draw),
        }
    }

    /// What in the view changes by itself.
    pub fn motion(&self, snapshot: &Snapshot) -> Motion {
        let moves = match self.view {
            View::Servers => {
                self.stderr.ages() || snapshot.servers.iter().any(|server| server.status.word() == "starting")
            }
            View::Approvals => !snapshot.approvals.is_empty(),
            View::Calls => snapshot.calls.iter().any(|call| !call.phase.is_over()),
            View::Sessions => !snapshot.sessions.is_empty(),
            View::Log => self.log.ages(),
            View::Connector => self.trail.ages(),
            View::Inbox => InboxPane::ticks(snapshot),
            // Times of day only.
            View::Tools | View::Seats | View::Work | View::Pages => false,
        };
        if moves { Motion::Seconds } else { Motion::Minutes }
    }

    fn apply_servers(&mut self, intent: Intent, snapshot: &Snapshot) -> Vec<Effect> {
        match intent {
            Intent::Next | Intent::Previous => {
                self.half = if self.half == Half::Servers { Half::Stderr } else { Half::Servers };
                Vec::new()
            }
            Intent::Open => {
                self.half = Half::Stderr;
                Vec::new()
            }
            Intent::Restart | Intent::ToggleEnabled | Intent::ShowTools => self.servers.apply(intent, snapshot),
            Intent::Search
            | Intent::NextMatch
            | Intent::PreviousMatch
            | Intent::NextError
            | Intent::PreviousError
            | Intent::CycleServer
            | Intent::Level => {
                // What is searched must be seen, also where only one pane is.
                self.half = Half::Stderr;
                self.stderr.apply(intent, snapshot)
            }
            Intent::Back if self.half == Half::Stderr && !self.stderr.searching() => {
                self.half = Half::Servers;
                Vec::new()
            }
            Intent::Follow
            | Intent::Wrap
            | Intent::Times
            | Intent::Save
            | Intent::Copy
            | Intent::Back
            | Intent::Submit => self.stderr.apply(intent, snapshot),
            intent if self.half == Half::Servers => self.servers.apply(intent, snapshot),
            intent => self.stderr.apply(intent, snapshot),
        }
    }
}
