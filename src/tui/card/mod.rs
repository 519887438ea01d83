//! The approval card: one question, shown whole, decided by a deliberate act.
//!
//! Owns what is shown, how far it has been read, and the state of the decision. The screen's root opens it, gives it
//! keys and asks when it wants to be drawn again. The card never decides by itself, never jumps to another question,
//! never predicts an outcome: after a decision it shows what the snapshot says. Enter, Esc, q and Ctrl-C never
//! approve; pasted text decides nothing.
//!
//! | file | owns |
//! |---|---|
//! | `decide` | which key press counts, arming, typing, the reason of a denial |
//! | `change` | the keys that decide nothing: reading, editing, choosing what to remember |
//! | `plan` | what a yes would mean: an edit, something remembered, all calls of the tool |
//! | `body` | what stands in the window, how far it has been read, the search |
//! | `face` | the words: who, what, effect, as, before |
//! | `frame` | sizes: what fits where |
//! | `ending` | what became of a question |
//! | `draw` | putting it on the screen |

mod body;
mod change;
mod decide;
#[cfg(test)]
mod desk_tests;
mod draw;
#[cfg(test)]
mod end_tests;
mod ending;
mod face;
mod field;
#[cfg(test)]
pub(crate) mod fixtures;
mod frame;
mod plan;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;

use crate::clock::Timestamp;
use crate::engine::snapshot::{ApprovalView, Snapshot};
use crate::ids::{ApprovalId, CallId};
use crate::tui::intent::{Effect, Intent};
use body::{Body, View};
use decide::Phase;
use ending::Word;
use face::Face;
use frame::{Frame, Space};
use plan::{Peeked, Plan};

/// After a card appears or shows another question no key decides for this long.
pub const DEAD_TIME: Duration = Duration::from_millis(500);
/// The same key again within this time is a held key, not a second press.
pub const KEY_REPEAT: Duration = Duration::from_millis(120);
/// The second press commits from here on after the first…
pub const ARM_FROM: Duration = Duration::from_millis(300);
/// …and until here.
pub const ARM_UNTIL: Duration = Duration::from_secs(3);
/// When the engine has not confirmed a decision after this time, it can be given again.
pub const UNCONFIRMED: Duration = Duration::from_secs(2);

/// What a key press on a modal comes to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Outcome {
    /// The modal wants to be closed.
    pub close: bool,
    /// What must be done.
    pub effects: Vec<Effect>,
}

/// Which table of keys holds while a card is up.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CardContext {
    /// The card's own keys.
    Keys,
    /// A text field has the focus: a reason, or the name of the tool.
    Text,
    /// The arguments or the definition are read on all of the card.
    Reading,
    /// What to remember is chosen.
    Choosing,
    /// Something to search for is written.
    Search,
    /// The arguments are edited.
    Editor,
}

/// One question on the screen.
#[derive(Clone, Debug)]
pub struct Card {
    shown: Arc<ApprovalView>,
    body: Body,
    face: Face,
    frame: Frame,
    plan: Plan,
    peeked: Peeked,
    phase: Phase,
    /// What the person said about this question here, if anything.
    said: Option<Word>,
    /// Whether [`Card::tick`] is called.
    ticking: bool,
    live_at: Instant,
    last_key: Option<(KeyCode, KeyModifiers, Instant)>,
    message: Option<Cow<'static, str>>,
    /// Place in the queue from 1, and its length.
    place: (usize, usize),
    opened: (Timestamp, Instant),
}

impl Card {
    /// The card of a question. `now` and `at` are the same moment by two clocks.
    pub fn open(approval: Arc<ApprovalView>, now: Timestamp, at: Instant) -> Self {
        Self {
            body: Body::new(&approval),
            shown: approval,
            face: Face::default(),
            frame: Frame::default(),
            plan: Plan::default(),
            peeked: Peeked::default(),
            phase: Phase::Asking,
            said: None,
            ticking: false,
            live_at: at + DEAD_TIME,
            last_key: None,
            message: None,
            place: (0, 0),
            opened: (now, at),
        }
    }

    /// The question that is shown.
    pub fn approval(&self) -> ApprovalId {
        self.shown.id
    }

    /// The call, when the whole card only tells how it went on.
    pub fn decided(&self) -> Option<&CallId> {
        self.is_over().then_some(&self.shown.call)
    }

    /// Fits the card to the screen and takes in what happened to its question. Call it whenever either changed.
    pub fn layout(&mut self, screen: Rect, snapshot: &Snapshot) {
        let queue = &snapshot.approvals;
        let place = queue.iter().position(|waiting| waiting.id == self.shown.id);
        self.place = (place.map_or(0, |index| index + 1), queue.len());
        if place.is_none() {
            self.end(snapshot);
        }
        if let Some(editor) = &mut self.plan.editor {
            editor.layout(screen, snapshot);
        }
        self.measure(screen);
    }

    /// Handles a key press. `intent` is what the keymap makes of it in this card's [`Card::context`].
    pub fn key(&mut self, intent: Option<Intent>, key: KeyEvent, at: Instant, snapshot: &Snapshot) -> Outcome {
        let press = self.press(key, at);
        self.message = None;
        if self.plan.editor.is_some() {
            self.editor_key(intent, press, snapshot);
            return Outcome::default();
        }
        if self.body.search.field().is_some() {
            self.search_key(intent, press);
            return Outcome::default();
        }
        match &self.phase {
            Phase::Reason(..) => self.reason_key(intent, press, snapshot),
            Phase::Typing(_) => self.typing_key(intent, press, snapshot),
            _ => self.card_key(intent, press, snapshot),
        }
    }

    /// Tells the card that time has passed. Call it at each [`Card::wake_at`]: once it has been called, a press that
    /// decides is held back for [`KEY_REPEAT`], so that a key that is still held down (or text that is pasted without
    /// being marked as such) is noticed and decides nothing. A card that is never told decides at the press itself.
    pub fn tick(&mut self, at: Instant, snapshot: &Snapshot) -> Outcome {
        self.ticking = true;
        self.commit_when_due(at, snapshot)
    }

    /// The person was away (the program was stopped and continued): nothing of what was begun counts any more, and
    /// keys are dead for a moment, as on a card that has just appeared. What was written as a reason stays.
    pub fn interrupt(&mut self, at: Instant) {
        if matches!(self.phase, Phase::Armed { .. } | Phase::Committing { .. } | Phase::Typing(_)) {
            self.phase = Phase::Asking;
        }
        self.message = None;
        self.live_at = at + DEAD_TIME;
    }

    /// Takes pasted text: into the reason of a denial, an edit or a search, and nowhere else.
    pub fn paste(&mut self, text: &str) {
        if let Some(editor) = &mut self.plan.editor {
            return editor.paste(text);
        }
        if self.body.search.field().is_some() {
            return self.body.search.paste(text);
        }
        match &mut self.phase {
            Phase::Reason(field, _) => self.message = field.insert(text).map(Cow::Borrowed),
            Phase::Typing(_) => self.message = Some("pasted text does not count: type the name".into()),
            Phase::Armed { .. } | Phase::Committing { .. } => self.phase = Phase::Asking,
            _ => {}
        }
    }

    /// Which table of keys holds.
    pub const fn context(&self) -> CardContext {
        match (&self.phase, self.body.view) {
            _ if self.plan.editor.is_some() => CardContext::Editor,
            _ if self.body.search.field().is_some() => CardContext::Search,
            (Phase::Reason(..) | Phase::Typing(_), _) => CardContext::Text,
            (_, View::Choices) => CardContext::Choosing,
            (_, View::Arguments | View::Definition) => CardContext::Reading,
            (_, View::Whole) => CardContext::Keys,
        }
    }

    /// When the card changes by itself next: keys come to life, an arming ends, a second of the countdown passes.
    pub fn wake_at(&self) -> Option<Instant> {
        self.wake_after(Instant::now())
    }

    fn wake_after(&self, at: Instant) -> Option<Instant> {
        let phase = match self.phase {
            Phase::Over(_) => return None,
            Phase::Armed { at, .. } => [Some(at + ARM_FROM), Some(at + ARM_UNTIL)],
            Phase::Committing { at, .. } => [Some(at + KEY_REPEAT), None],
            Phase::Sent { at, .. } => [Some(at + UNCONFIRMED), None],
            _ => [None, None],
        };
        let tick = self.next_second(at);
        let wanted = phase.into_iter().flatten().chain([self.live_at, tick]);
        wanted.filter(|moment| *moment > at).min()
    }

    /// The next moment at which the waiting time shows another second.
    fn next_second(&self, at: Instant) -> Instant {
        let (now, opened) = self.opened;
        let waited = now.plus(at.saturating_duration_since(opened)).since(self.shown.asked_at);
        at + Duration::from_millis(1000_u64.saturating_sub(u64::from(waited.subsec_millis())))
    }

    /// Notes what became of a question that waits no more. Its editor stays open until the person leaves it, so that
    /// what they go on typing means nothing else.
    fn end(&mut self, snapshot: &Snapshot) {
        let call = snapshot.calls.iter().rev().find(|call| call.id == self.shown.call);
        let mut ending = ending::of(call.map(Arc::as_ref), self.said);
        if self.plan.is_edit() {
            ending.text.push_str(match self.said {
                Some(Word::Approve) => " (your approval was for the arguments as you edited them)",
                _ => " (your edit was not sent)",
            });
        }
        if let Some(result) = call.and_then(|call| call.result.as_ref()) {
            self.body.show_result(result);
        }
        self.phase = Phase::Over(ending);
    }

    /// Shows another question: everything starts anew, dead time included. What has been looked at stays noted.
    fn show(&mut self, approval: Arc<ApprovalView>, at: Instant) {
        let now = self.opened.0.plus(at.saturating_duration_since(self.opened.1));
        let fresh = Self::open(approval, now, at);
        let peeked = std::mem::take(&mut self.peeked);
        let frame = self.frame.clone();
        *self = Self { last_key: self.last_key, ticking: self.ticking, frame, peeked, ..fresh };
    }

    /// The neighbour in the queue of a question that may itself have gone.
    fn neighbour(&self, intent: Intent, snapshot: &Snapshot) -> Option<Arc<ApprovalView>> {
        let queue = &snapshot.approvals;
        let id = self.shown.id;
        let found = if intent == Intent::Next {
            queue.iter().find(|waiting| waiting.id > id).or_else(|| queue.first())
        } else {
            queue.iter().rev().find(|waiting| waiting.id < id).or_else(|| queue.last())
        };
        found.filter(|waiting| waiting.id != id).cloned()
    }

    fn measure(&mut self, screen: Rect) {
        let width = frame::text_width(frame::width(screen));
        self.body.layout(&self.shown, width.saturating_sub(face::LABEL));
        self.face = Face::of(&self.shown, self.body.json(), width);
        self.frame = Frame::of(screen, &self.face, Space::of(self.body.view));
        // What came back stands among the question where it fits there, else it gets the question's place.
        let fits = self.frame.fits && self.body.place().2 <= self.frame.window;
        if self.is_over() && self.body.has_result() && !fits {
            self.frame = Frame::of(screen, &self.face, Space::Result);
        }
        if !self.frame.fits && screen.width < frame::USUAL_WIDTH {
            let usual = Face::of(&self.shown, self.body.json(), frame::text_width(frame::USUAL_WIDTH));
            let rows = frame::needed_height(frame::USUAL_WIDTH, &usual);
            self.frame.needs = (usize::from(frame::USUAL_WIDTH), rows);
        }
        self.body.resize(self.frame.window, &self.shown);
    }

    fn scroll_by(&mut self, intent: Intent) {
        self.body.apply(intent);
        self.measure_again();
    }

    fn measure_again(&mut self) {
        self.measure(self.frame.screen);
    }
}
