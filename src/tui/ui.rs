//! The screen's state. [`Ui::update`] takes what happened and says what must be done; [`Ui::render`] draws.
//!
//! Synchronous and without a terminal: the event loop gives it messages and carries effects out, tests do the same.

mod attention;
mod carry;
mod command;
mod hints;
mod modals;
mod panes;
mod waiting;

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crossterm::event::KeyEvent;
use jiff::tz::TimeZone;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use self::attention::Attention;
use self::command::{Asked, COMMANDS};
use self::modals::Modals;
use self::panes::Panes;
use self::waiting::oldest;
use super::act::Acts;
use super::card::{Card, Outcome};
use super::compose::Draft;
use super::form::Sheet;
use super::format::plural;
use super::frames::Motion;
use super::intent::{Effect, Intent};
use super::keymap::{Context, Keymap};
use super::layout::{Regions, SMALLEST};
use super::msg::{Moment, Msg};
use super::panes::{Connect, PaneId, View};
use super::terminal::clipboard::Copied;
use super::theme::{Role, ascii};
use super::widgets::cells::{clear, put, row, to_cells, width};
use super::widgets::confirm::Answer;
use super::widgets::help::Help;
use super::widgets::input::Input;
use super::widgets::status_bar::StatusBar;
use super::{Draw, header};
use crate::config::model::TuiSettings;
use crate::engine::command::{Command, Export};
use crate::engine::snapshot::Snapshot;
use crate::ids::{ApprovalId, CallId, FormId};
use crate::rows::Ask;

/// The same key again within this time is a held key.
const HELD: Duration = Duration::from_millis(120);

/// See the module.
#[derive(Debug)]
pub struct Ui {
    screen: Rect,
    panes: Panes,
    modals: Modals,
    status: StatusBar,
    attention: Attention,
    /// What the person does to the company's rows, until it has ended.
    acts: Acts,
    /// What was written for things that were not done, until it can be shown again.
    returned: VecDeque<Box<Draft>>,
    /// When another row came under the selection without a key.
    moved: Option<Instant>,
    keymap: Keymap,
    bell: Bell,
    /// The last key, when it came and where it was meant for.
    last: Option<(KeyEvent, Instant, Context)>,
    /// A search needs more steps: since the last one.
    hunting: Option<Instant>,
    /// How this program is called to reach this instance.
    program: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Bell {
    On,
    Off,
}

impl Ui {
    /// A screen of no size yet. Problems in the settings are shown.
    pub fn new(settings: &TuiSettings, zone: &TimeZone) -> Self {
        let (keymap, problems) = Keymap::with(&settings.keys);
        let mut status = StatusBar::default();
        if let Some(first) = problems.first() {
            let more = if problems.len() > 1 { format!(" (and {} more)", problems.len() - 1) } else { String::new() };
            status.complain(format!("{first}{more}").into());
        }
        Self {
            screen: Rect::ZERO,
            panes: Panes::new(zone),
            modals: Modals::default(),
            status,
            attention: Attention::new(settings.open_cards),
            acts: Acts::default(),
            returned: VecDeque::new(),
            moved: None,
            keymap,
            bell: if settings.bell { Bell::On } else { Bell::Off },
            last: None,
            hunting: None,
            program: vec!["crewlet-tui".to_owned()],
        }
    }

    /// The same with the words that call this program so that it reaches this instance.
    #[must_use]
    pub fn reached_by(mut self, program: Vec<String>) -> Self {
        self.program = program;
        self
    }

    /// Takes in what happened. What comes back must be done by the caller; everything about the screen is done.
    pub fn update(&mut self, msg: Msg, snapshot: &Snapshot, moment: Moment) -> Vec<Effect> {
        let woken = matches!(msg, Msg::Wake);
        let by_itself = !matches!(msg, Msg::Key(_) | Msg::Wheel(_) | Msg::Paste(_));
        let marked = self.panes.marked();
        let effects = match msg {
            Msg::Key(key) => self.key(key, snapshot, moment),
            Msg::Paste(pasted) => self.paste(&pasted),
            Msg::Wheel(intent) if self.modals.is_empty() => self.panes.apply(intent, snapshot),
            Msg::NotSent(call, error) => self.not_sent(call.as_ref(), &error.to_string()),
            Msg::Copied(copied) => vec![said_of(copied)],
            Msg::Revealed(worker, token) => {
                if let Some(workers) = &mut self.modals.workers {
                    workers.reveal(&worker, token);
                }
                Vec::new()
            }
            Msg::Resumed => {
                self.modals.interrupt(moment.at);
                vec![Effect::Repaint, Effect::DropInput]
            }
            Msg::Resize(screen) => {
                self.screen = screen;
                Vec::new()
            }
            Msg::Rows(answer) => {
                self.panes.take(*answer);
                Vec::new()
            }
            Msg::Snapshot => self.acts.settle(snapshot),
            Msg::Wake | Msg::Wheel(_) => Vec::new(),
        };
        let mut effects = self.tick(effects, snapshot, moment);
        if woken {
            effects.extend(self.panes.advance(snapshot));
        }
        effects.extend(self.modals.answers.follow(snapshot));
        self.hunting = self.panes.hunting().then_some(moment.at);
        let mut out = Vec::new();
        for effect in effects {
            self.carry_out(effect, snapshot, moment, &mut out);
        }
        self.status.expire(moment.at);
        self.attend(snapshot, moment, &mut out);
        self.give_back(moment.at);
        self.layout(snapshot);
        if let (true, Some((view, list, row)), Some(now)) = (by_itself, marked, self.panes.marked())
            && (view, &list) == (now.0, &now.1)
            && row != now.2
        {
            self.moved = Some(moment.at);
        }
        out
    }

    /// Lets the card do what it held back: a press that decides counts only when no other key follows at once.
    fn tick(&mut self, mut effects: Vec<Effect>, snapshot: &Snapshot, moment: Moment) -> Vec<Effect> {
        if let Some(confirm) = &mut self.modals.confirm {
            confirm.tick(moment.at);
        }
        if let Some(card) = &mut self.modals.card {
            let outcome = card.tick(moment.at, snapshot);
            if outcome != Outcome::default() {
                effects.extend(self.card_outcome(outcome, snapshot));
            }
        }
        effects
    }

    /// What the view in front wants to know of the company's rows.
    pub fn wants(&self) -> Vec<Ask> {
        self.panes.wants()
    }

    /// When something changes by itself, besides what [`Self::motion`] says.
    pub fn wake_at(&self, snapshot: &Snapshot) -> Option<Instant> {
        let over_card = self.over_card();
        let may_open = (self.may_open() || over_card.is_some()) && self.regions(snapshot).is_some();
        let opening = if may_open { self.attention.wake_at(snapshot, over_card) } else { None };
        [self.status.wake_at(), self.modals.wake_at(), opening, self.hunting].into_iter().flatten().min()
    }

    /// How often the picture changes by itself.
    pub fn motion(&self, snapshot: &Snapshot) -> Motion {
        if self.modals.card.is_some() || self.modals.form.is_some() {
            Motion::Seconds
        } else {
            self.panes.motion(snapshot)
        }
    }

    /// The view in front.
    pub const fn view(&self) -> View {
        self.panes.view()
    }

    /// The question whose card is open.
    pub fn open_card(&self) -> Option<ApprovalId> {
        self.modals.card.as_ref().map(Card::approval)
    }

    /// The server's question whose form is open.
    pub fn open_form(&self) -> Option<FormId> {
        self.modals.form.as_ref().map(Sheet::id)
    }

    /// Draws the screen into an area of the size that it was told last.
    pub fn render(&self, buf: &mut Buffer, draw: &Draw<'_>, at: Instant) {
        if let Some(regions) = self.regions(draw.snapshot) {
            self.render_view(buf, &regions, draw, at);
        } else {
            let words = format!("needs {} x {}", SMALLEST.0, SMALLEST.1);
            let middle = row(self.screen, self.screen.height.saturating_sub(1) / 2);
            let left = middle.width.saturating_sub(to_cells(width(&words))) / 2;
            let place = Rect { x: middle.x + left, width: middle.width - left, ..middle };
            put(buf, place, &words, draw.theme.style(Role::Text));
        }
        if draw.theme.ascii {
            ascii::flatten(buf);
        }
    }

    fn render_view(&self, buf: &mut Buffer, regions: &Regions, draw: &Draw<'_>, at: Instant) {
        header::render(buf, regions.header, draw);
        header::render_views(buf, regions.views, draw, self.view());
        let (role, banner) = header::banner(draw.snapshot, self.screen);
        buf.set_style(regions.banner.intersection(buf.area), draw.theme.style(role));
        for (n, words) in (0..).zip(&banner) {
            let line = row(regions.banner, n);
            put(
                buf,
                Rect { x: line.x + 1, width: line.width.saturating_sub(1), ..line },
                words,
                draw.theme.style(role),
            );
        }
        self.panes.render(buf, &Draw { focused: self.modals.is_empty(), ..*draw });
        // Other layers than help show their keys themselves, dim while they are dead.
        let own_keys = !self.modals.is_empty() && self.modals.help.is_none();
        let mut hints = if own_keys { Vec::new() } else { self.hints(draw.snapshot) };
        // Help stands last; where there is none (a text field), the last hint does.
        if let Some(at) = hints.iter().position(|(_, words)| *words == "help") {
            let help = hints.remove(at);
            hints.push(help);
        }
        let middle = Rect { height: self.screen.height - 1, ..self.screen };
        self.modals.render(middle, buf, draw, at);
        self.status.render(buf, regions.foot, &hints, draw.theme);
        if let Some(line) = &self.modals.command {
            let foot = regions.foot;
            clear(buf, foot);
            put(buf, Rect { x: foot.x + 1, width: 1, ..foot }, ":", draw.theme.style(Role::Key));
            let rest = Rect { x: foot.x + 2, width: foot.width.saturating_sub(3), ..foot };
            line.render(buf, rest, draw.theme.style(Role::Text));
            if line.is_empty() {
                // Behind the cursor.
                let words = Rect { x: rest.x + 2.min(rest.width), width: rest.width.saturating_sub(2), ..rest };
                put(buf, words, command::HINT, draw.theme.style(Role::Dim));
            }
        }
    }

    fn layout(&mut self, snapshot: &Snapshot) {
        let Some(regions) = self.regions(snapshot) else { return };
        self.panes.layout(regions.body, snapshot);
        let middle = Rect { height: self.screen.height - 1, ..self.screen };
        self.modals.layout(middle, regions.body, snapshot);
    }

    fn regions(&self, snapshot: &Snapshot) -> Option<Regions> {
        Regions::of(self.screen, to_cells(header::banner(snapshot, self.screen).1.len()))
    }

    fn context(&self) -> Context {
        if let Some(context) = self.modals.context() {
            return context;
        }
        if self.panes.typing() { Context::Filter } else { self.panes.focused().context() }
    }

    fn key(&mut self, key: KeyEvent, snapshot: &Snapshot, moment: Moment) -> Vec<Effect> {
        self.attention.key(moment.at);
        self.status.acknowledge();
        let context = self.context();
        if self.is_held_over(key, context, moment.at) {
            return Vec::new();
        }
        let intent = self.keymap.lookup(context, key);
        match intent {
            Some(Intent::Suspend) => {
                self.modals.interrupt(moment.at);
                return vec![Effect::Suspend];
            }
            Some(Intent::Redraw) => return vec![Effect::Repaint],
            Some(Intent::Quit) => return self.quit(snapshot),
            // What is not on the screen takes no keys: nobody decides what they cannot see.
            _ if self.regions(snapshot).is_none() => return Vec::new(),
            Some(Intent::Help) if self.modals.help.is_none() => {
                self.modals.help = Some(Help::of(&self.keymap, context, &COMMANDS));
                return Vec::new();
            }
            _ => {}
        }
        if let Some(help) = &mut self.modals.help {
            if intent.is_some_and(|intent| help.apply(intent)) {
                self.modals.help = None;
            }
            return Vec::new();
        }
        if self.modals.command.is_some() {
            return self.command_key(intent, key, snapshot);
        }
        if self.modals.connect.is_some() {
            return self.connect_key(intent);
        }
        if let Some(confirm) = &mut self.modals.confirm {
            let answer = confirm.key(intent, key, moment.at);
            if answer.is_some() {
                self.modals.confirm = None;
            }
            return if let Some(Answer::Yes(effect)) = answer { vec![effect] } else { Vec::new() };
        }
        if self.modals.workers.is_some() {
            return self.workers_key(intent, key, snapshot);
        }
        if self.modals.form.is_some() {
            return self.form_key(intent, key, snapshot, moment.at);
        }
        if let Some(card) = &mut self.modals.card {
            let outcome = card.key(intent, key, moment.at, snapshot);
            return self.card_outcome(outcome, snapshot);
        }
        if let Some(effects) = self.written(intent, key, (moment.at, snapshot)) {
            return effects;
        }
        let answering = self.modals.answers.key(intent, key, snapshot);
        answering.unwrap_or_else(|| self.pane_key(intent, key, (moment.at, snapshot)))
    }

    fn connect_key(&mut self, intent: Option<Intent>) -> Vec<Effect> {
        let effects = self.modals.connect.as_mut().zip(intent).map(|(connect, intent)| connect.apply(intent));
        if effects == Some(None) {
            self.modals.connect = None;
        }
        effects.flatten().unwrap_or_default()
    }

    fn workers_key(&mut self, intent: Option<Intent>, key: KeyEvent, snapshot: &Snapshot) -> Vec<Effect> {
        let outcome =
            self.modals.workers.as_mut().map(|workers| workers.key(intent, key, snapshot)).unwrap_or_default();
        if outcome.close {
            self.modals.workers = None;
        }
        outcome.effects
    }

    fn command_key(&mut self, intent: Option<Intent>, key: KeyEvent, snapshot: &Snapshot) -> Vec<Effect> {
        let line = match intent {
            Some(Intent::Back) => {
                self.modals.command = None;
                return Vec::new();
            }
            Some(Intent::Submit) => self.modals.command.take().map(|line| line.text()).unwrap_or_default(),
            _ => {
                if let Some(line) = &mut self.modals.command {
                    line.key(key);
                }
                return Vec::new();
            }
        };
        match command::read(&line) {
            Ok(Asked::Nothing) => {}
            Ok(Asked::View(view)) => self.panes.show(view),
            Ok(Asked::Help) => self.modals.help = Some(Help::of(&self.keymap, self.context(), &COMMANDS)),
            Ok(Asked::Quit) => return self.quit(snapshot),
            Ok(Asked::Connect(seat)) => {
                let seat = seat.unwrap_or_else(|| first_seat(snapshot));
                match Connect::of(snapshot, &self.program, &seat) {
                    Ok(connect) => self.modals.connect = Some(connect),
                    Err(why) => return vec![Effect::Complain(why.into())],
                }
            }
            Err(why) => return vec![Effect::Complain(why.into())],
        }
        Vec::new()
    }

    fn pane_key(&mut self, intent: Option<Intent>, key: KeyEvent, (at, snapshot): (Instant, &Snapshot)) -> Vec<Effect> {
        if intent.is_some_and(|intent| self.meant_another(intent, at)) {
            return vec![Effect::Say("another row has just come under the keys: look, and press again".into())];
        }
        match intent {
            None => {
                if let Some(field) = self.panes.field() {
                    field.key(key);
                }
                Vec::new()
            }
            Some(Intent::View(number)) => {
                if let Some(view) = View::numbered(number) {
                    self.panes.show(view);
                }
                Vec::new()
            }
            Some(Intent::CommandLine) => {
                self.modals.command = Some(Input::default());
                Vec::new()
            }
            Some(Intent::Diagnostics) => vec![Effect::Send(Command::Export(Export::Diagnostics))],
            Some(Intent::OpenOldest) => vec![oldest(snapshot)],
            Some(intent) => self.panes.apply(intent, snapshot),
        }
    }

    /// True for a key that is held down and was pressed for something that is gone from under it.
    fn is_held_over(&mut self, key: KeyEvent, context: Context, at: Instant) -> bool {
        let held =
            matches!(self.last, Some((last, then, _)) if last == key && at.saturating_duration_since(then) < HELD);
        let meant_for = match self.last {
            Some((_, _, meant_for)) if held => meant_for,
            _ => context,
        };
        self.last = Some((key, at, meant_for));
        meant_for != context
    }

    fn paste(&mut self, pasted: &str) -> Vec<Effect> {
        if !self.modals.is_empty() {
            self.modals.paste(pasted);
        } else if let Some(field) = self.panes.field() {
            field.paste(pasted);
        }
        Vec::new()
    }

    fn card_outcome(&mut self, outcome: Outcome, snapshot: &Snapshot) -> Vec<Effect> {
        let Some(id) = self.open_card() else { return outcome.effects };
        let decided = outcome
            .effects
            .iter()
            .any(|effect| matches!(effect, Effect::Send(Command::Decide(..) | Command::DecideAll(..))));
        let moves_on = outcome.effects.iter().any(|effect| matches!(effect, Effect::OpenCard(_)));
        self.attention.leave(id);
        if outcome.close {
            self.modals.card = None;
            if !decided && !moves_on && snapshot.approvals.iter().any(|approval| approval.id == id) {
                self.attention.leave_all(snapshot);
            }
        }
        outcome.effects
    }

    /// Nothing opens over a text field, nor where the card's own keys mean something else: `x` and `y` over a grant
    /// take it back, on a card they stop a seat.
    fn may_open(&self) -> bool {
        self.modals.is_empty() && !self.panes.typing() && self.panes.focused() != PaneId::Grants
    }

    /// The call of a card that only tells how it went on: it makes room for what that call's server asks.
    fn over_card(&self) -> Option<&CallId> {
        self.modals.decided().filter(|_| !self.panes.typing())
    }
}

fn said_of(copied: Copied) -> Effect {
    match copied {
        Copied::Lines(lines) => Effect::Say(format!("{} sent to the clipboard", plural(lines, "line")).into()),
        Copied::Cut(lines) => {
            Effect::Say(format!("only the first {} went to the clipboard", plural(lines, "line")).into())
        }
        Copied::Unsupported => Effect::Complain("this terminal has no clipboard: S saves to a file".into()),
    }
}

/// Which seat is meant where none is named.
fn first_seat(snapshot: &Snapshot) -> String {
    snapshot.seats.first().map_or_else(|| "default".to_owned(), ToString::to_string)
}
