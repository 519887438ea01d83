//! The state of a decision: which key press counts, arming, typing a name, denying with a reason. What an approval
//! would mean is in [`super::plan`]; the keys that change it are in [`super::change`].
//!
//! Time comes in with each key press; nothing here reads a clock. Nothing here knows what the card looks like.

use std::time::Instant;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::body::View;
use super::ending::{Ending, Word};
use super::field::Field;
use super::plan::{Act, alike};
use super::{ARM_FROM, ARM_UNTIL, Card, KEY_REPEAT, Outcome, UNCONFIRMED};
use crate::engine::command::{Command, Shown, Verdict};
use crate::engine::snapshot::{Snapshot, Tier};
use crate::text;
use crate::tui::intent::{Effect, Intent};

/// Where the decision stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    /// Nothing has been pressed that counts.
    Asking,
    /// The first of two presses was at this moment.
    Armed { at: Instant, act: Act },
    /// The name of the tool is being typed.
    Typing(Field),
    /// The reason of a denial is being written.
    Reason(Field, Whom),
    /// The press that decides was at this moment; it counts when no further key follows at once.
    Committing { at: Instant, act: Act },
    /// Handed to the engine; the snapshot has not confirmed it.
    Sent { word: Word, at: Instant },
    /// The question waits no more.
    Over(Ending),
}

/// Whom a denial is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Whom {
    /// The question that is shown.
    This,
    /// All waiting questions about its tool.
    AllOfTool,
}

/// A key press in time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Press {
    pub(super) key: KeyEvent,
    pub(super) at: Instant,
    /// A held key, not a new press.
    pub(super) repeat: bool,
}

/// Why a yes cannot be given right now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Blocked {
    /// The dead time after the card appeared.
    Dead,
    /// `--read-only`.
    ReadOnly,
    /// The frame does not fit the terminal.
    TooSmall,
    /// The end of the arguments has not been on screen.
    Unseen,
    /// The definition changed, and the difference has not been on screen.
    ChangeUnseen,
    /// Only a part of the card is on screen.
    PartOnly,
}

impl Blocked {
    const fn message(self) -> Option<&'static str> {
        match self {
            Self::Dead | Self::TooSmall | Self::Unseen | Self::ChangeUnseen => None,
            Self::ReadOnly => Some("read-only: nobody can decide here"),
            Self::PartOnly => Some("go back to the whole card first (Esc)"),
        }
    }
}

impl Card {
    /// Notes a key press and tells a held key from a new press.
    pub(super) fn press(&mut self, key: KeyEvent, at: Instant) -> Press {
        let same = |(code, modifiers, last): (KeyCode, KeyModifiers, Instant)| {
            code == key.code && modifiers == key.modifiers && at.saturating_duration_since(last) < KEY_REPEAT
        };
        let repeat = key.kind == KeyEventKind::Repeat || self.last_key.is_some_and(same);
        self.last_key = Some((key.code, key.modifiers, at));
        Press { key, at, repeat }
    }

    /// Why a yes cannot be given at this moment.
    pub(super) fn blocked(&self, at: Instant, snapshot: &Snapshot) -> Option<Blocked> {
        if at < self.live_at {
            Some(Blocked::Dead)
        } else if snapshot.read_only {
            Some(Blocked::ReadOnly)
        } else if !self.frame.fits {
            Some(Blocked::TooSmall)
        } else if !self.body.seen_end() {
            Some(Blocked::Unseen)
        } else if self.shown.change.is_some() && !self.body.seen_change() {
            Some(Blocked::ChangeUnseen)
        } else if self.body.view != View::Whole {
            Some(Blocked::PartOnly)
        } else {
            None
        }
    }

    /// Whether the first of two presses still holds.
    pub(super) fn armed(&self, at: Instant) -> Option<(Instant, &Act)> {
        match &self.phase {
            Phase::Armed { at: armed, act } if at.saturating_duration_since(*armed) <= ARM_UNTIL => Some((*armed, act)),
            _ => None,
        }
    }

    /// The name that has to be typed: as it is shown.
    pub(super) fn name_to_type(&self) -> String {
        text::visible(&self.shown.entry.raw_name).into_owned()
    }

    /// A key while no text field is open.
    pub(super) fn card_key(&mut self, intent: Option<Intent>, press: Press, snapshot: &Snapshot) -> Outcome {
        if press.key.kind == KeyEventKind::Release {
            return Outcome::default();
        }
        if let Phase::Committing { at, act } = &self.phase {
            if intent == Some(key_of(act)) && press.at.saturating_duration_since(*at) >= KEY_REPEAT {
                return self.commit_when_due(press.at, snapshot);
            }
            self.phase = Phase::Asking;
            self.message = Some("a key followed at once: nothing was decided".into());
            if press.repeat {
                return Outcome::default();
            }
        }
        if let Phase::Armed { act, .. } = &self.phase
            && intent != Some(key_of(act))
        {
            self.phase = Phase::Asking;
        }
        match intent {
            Some(Intent::Approve) => return self.approve(Act::One, press, snapshot),
            Some(Intent::ApproveAll) => return self.approve_all(press, snapshot),
            Some(Intent::Deny) => self.begin_denial(Whom::This, press, snapshot),
            Some(Intent::DenyAll) => self.begin_denial(Whom::AllOfTool, press, snapshot),
            Some(Intent::Back) if self.body.view != View::Whole => self.turn(self.body.view),
            Some(Intent::Back) => return Outcome { close: true, effects: Vec::new() },
            Some(intent @ (Intent::Next | Intent::Previous)) => match self.neighbour(intent, snapshot) {
                Some(other) => {
                    self.note_peek(press.at);
                    self.show(other, press.at);
                    self.layout(self.frame.screen, snapshot);
                }
                None => self.message = Some("no other call is waiting".into()),
            },
            Some(intent) => return self.other_key(intent, press, snapshot),
            None if self.is_over() && !press.repeat && closes(press.key) => {
                return Outcome { close: true, effects: Vec::new() };
            }
            None => self.message = Some(self.way_out(press.key).into()),
        }
        Outcome::default()
    }

    /// True when the whole card shows what became of a question that waits no more.
    pub(super) const fn is_over(&self) -> bool {
        matches!((&self.phase, self.body.view), (Phase::Over(_), View::Whole))
    }

    /// What to do instead of a key that means nothing here.
    fn way_out(&self, key: KeyEvent) -> &'static str {
        match (&self.phase, self.body.view) {
            (_, View::Choices) => "1-6 or 0 chooses; Esc goes back to the card",
            (_, View::Arguments | View::Definition) => "Esc goes back to the card; nothing is decided here",
            (Phase::Over(_), _) => "Esc closes the card",
            _ if key.code == KeyCode::Char('q') => "Esc leaves it pending, then q",
            _ => "Esc leaves it pending",
        }
    }

    fn approve(&mut self, act: Act, press: Press, snapshot: &Snapshot) -> Outcome {
        if self.is_settled(press.at) || press.repeat {
            return Outcome::default();
        }
        if let Some(blocked) = self.blocked(press.at, snapshot) {
            self.phase = Phase::Asking;
            self.message = blocked.message().map(Into::into);
            return Outcome::default();
        }
        // All at once, or more than once, always takes two presses.
        let tier = match self.shown.tier {
            Tier::Press if act != Act::One || self.plan.remember.is_some() => Tier::Arm,
            tier => tier,
        };
        let armed = self.armed(press.at).map(|(at, armed)| (at, *armed == act));
        match (tier, armed) {
            (Tier::Type, _) => self.phase = Phase::Typing(Field::default()),
            (Tier::Arm, None) => self.phase = Phase::Armed { at: press.at, act },
            (Tier::Arm, Some((_, false))) => {
                self.phase = Phase::Armed { at: press.at, act };
                self.message = Some("the waiting calls have changed: armed anew".into());
            }
            (Tier::Arm, Some((at, true))) if press.at.saturating_duration_since(at) < ARM_FROM => {}
            (Tier::Press, _) | (Tier::Arm, Some(_)) if self.ticking => {
                self.phase = Phase::Committing { at: press.at, act };
            }
            (Tier::Press, _) | (Tier::Arm, Some(_)) => return self.commit(act, press.at),
        }
        Outcome::default()
    }

    /// All waiting calls of the tool, each of which has been looked at.
    fn approve_all(&mut self, press: Press, snapshot: &Snapshot) -> Outcome {
        self.note_peek(press.at);
        if self.is_settled(press.at) || press.repeat {
            return Outcome::default();
        }
        if !self.plan.is_plain() {
            self.message = Some("an edit or something to remember is for one call: y, or take it back first".into());
            return Outcome::default();
        }
        match self.peeked.batch(&self.shown, snapshot) {
            Ok(all) => self.approve(Act::All(all), press, snapshot),
            Err(why) => {
                self.phase = Phase::Asking;
                self.message = Some(why.into());
                Outcome::default()
            }
        }
    }

    /// Notes that the shown question has been looked at, when it has: to its end, for longer than the dead time.
    pub(super) fn note_peek(&mut self, at: Instant) {
        let change = self.shown.change.is_none() || self.body.seen_change();
        if at >= self.live_at && self.frame.fits && self.body.seen_end() && !self.body.is_edited() && change {
            self.peeked.note(self.shown.shown());
        }
    }

    /// Sends an approval that was held back long enough, if it can still be given.
    pub(super) fn commit_when_due(&mut self, at: Instant, snapshot: &Snapshot) -> Outcome {
        let Phase::Committing { at: pressed, act } = &self.phase else { return Outcome::default() };
        if at.saturating_duration_since(*pressed) < KEY_REPEAT {
            return Outcome::default();
        }
        let act = act.clone();
        let changed = matches!(&act, Act::All(all) if self.peeked.batch(&self.shown, snapshot).as_ref() != Ok(all));
        if let Some(blocked) = self.blocked(at, snapshot) {
            self.phase = Phase::Asking;
            self.message = blocked.message().map(Into::into);
            return Outcome::default();
        }
        if changed {
            self.phase = Phase::Asking;
            self.message = Some("the waiting calls have changed: nothing was decided".into());
            return Outcome::default();
        }
        self.commit(act, at)
    }

    fn commit(&mut self, act: Act, at: Instant) -> Outcome {
        match act {
            Act::One => self.send(Word::Approve, self.plan.verdict(), at),
            Act::All(all) => self.send_all(all, (Word::Approve, Verdict::Approve), at),
        }
    }

    /// True when nothing can be decided any more, or a decision has just been handed over.
    pub(super) fn is_settled(&mut self, at: Instant) -> bool {
        match self.phase {
            Phase::Over(_) => {
                self.message = Some("this call waits no more: nothing was decided by that key".into());
                true
            }
            Phase::Sent { at: sent, .. } if at.saturating_duration_since(sent) < UNCONFIRMED => true,
            Phase::Sent { .. } => {
                self.phase = Phase::Asking;
                false
            }
            _ => false,
        }
    }

    fn begin_denial(&mut self, whom: Whom, press: Press, snapshot: &Snapshot) {
        if self.is_settled(press.at) || press.repeat || press.at < self.live_at {
            return;
        }
        if snapshot.read_only {
            self.message = Blocked::ReadOnly.message().map(Into::into);
            return;
        }
        self.body.view = View::Whole;
        self.measure_again();
        self.phase = Phase::Reason(Field::default(), whom);
    }

    /// A key while the reason of a denial is written.
    pub(super) fn reason_key(&mut self, intent: Option<Intent>, press: Press, snapshot: &Snapshot) -> Outcome {
        let Phase::Reason(field, whom) = &mut self.phase else { return Outcome::default() };
        match meant(intent, press.key.code) {
            _ if press.key.kind == KeyEventKind::Release => {}
            KeyCode::Esc => self.phase = Phase::Asking,
            KeyCode::Enter if press.repeat || press.at < self.live_at => {}
            KeyCode::Enter => {
                let (reason, whom) = (field.text().trim().to_owned(), *whom);
                return self.deny(whom, Verdict::Deny { reason }, (press.at, snapshot));
            }
            // The key that opened the field, still held down.
            _ if press.repeat && field.text().is_empty() => {}
            code if field.chip(code) => {}
            code => self.message = field.edit(code, press.key.modifiers).map(Into::into),
        }
        Outcome::default()
    }

    fn deny(&mut self, whom: Whom, verdict: Verdict, (at, snapshot): (Instant, &Snapshot)) -> Outcome {
        if whom == Whom::This {
            return self.send(Word::Deny, verdict, at);
        }
        // One whose name must be typed is decided by itself.
        let (typed, others): (Vec<_>, Vec<_>) =
            alike(&self.shown, snapshot).partition(|other| other.tier == Tier::Type);
        let all: Vec<Shown> = others.iter().map(|other| other.shown()).collect();
        let alone = typed.iter().map(|other| Effect::Send(Command::Decide(other.shown(), verdict.clone())));
        let alone: Vec<Effect> = alone.collect();
        let mut outcome = self.send_all(all, (Word::Deny, verdict), at);
        outcome.effects.extend(alone);
        outcome
    }

    /// A key while the tool's name is typed. Ctrl-Y is the act that commits; Enter is not.
    pub(super) fn typing_key(&mut self, intent: Option<Intent>, press: Press, snapshot: &Snapshot) -> Outcome {
        let blocked = self.blocked(press.at, snapshot);
        let name = self.name_to_type();
        let Phase::Typing(field) = &mut self.phase else { return Outcome::default() };
        let control = press.key.modifiers.contains(KeyModifiers::CONTROL);
        match meant(intent, press.key.code) {
            _ if press.key.kind == KeyEventKind::Release => {}
            KeyCode::Esc => self.phase = Phase::Asking,
            KeyCode::Enter => {
                self.message = Some("Enter decides nothing: Ctrl-Y does, once the name is complete".into());
            }
            KeyCode::Char('y' | 'Y') if control => {
                if press.repeat {
                    return Outcome::default();
                }
                if blocked.is_some() {
                    let why = blocked.and_then(Blocked::message).unwrap_or("not now: see the line above");
                    self.message = Some(why.into());
                } else if field.text().trim() != name.trim() {
                    self.message = Some("that is not the name yet".into());
                } else {
                    return self.send(Word::Approve, self.plan.verdict(), press.at);
                }
            }
            _ if press.repeat && field.text().is_empty() => {}
            code => self.message = field.edit(code, press.key.modifiers).map(Into::into),
        }
        Outcome::default()
    }

    /// Hands the decision over, bound to exactly what is shown.
    fn send(&mut self, word: Word, verdict: Verdict, at: Instant) -> Outcome {
        self.phase = Phase::Sent { word, at };
        self.said = Some(word);
        let decide = Command::Decide(self.shown.shown(), verdict);
        Outcome { close: false, effects: vec![Effect::Send(decide)] }
    }

    /// Hands one decision over for several questions, each bound to what was shown of it.
    fn send_all(&mut self, all: Vec<Shown>, (word, verdict): (Word, Verdict), at: Instant) -> Outcome {
        self.phase = Phase::Sent { word, at };
        self.said = Some(word);
        let decide = (!all.is_empty()).then_some(Effect::Send(Command::DecideAll(all, verdict)));
        Outcome { close: false, effects: decide.into_iter().collect() }
    }
}

/// The keys that close a card on which nothing is decided any more, besides those of the table.
const fn closes(key: KeyEvent) -> bool {
    let plain = !key.modifiers.intersects(KeyModifiers::CONTROL.union(KeyModifiers::ALT));
    plain && matches!(key.code, KeyCode::Enter | KeyCode::Char('q') | KeyCode::Esc)
}

/// The key that arms and commits an act.
const fn key_of(act: &Act) -> Intent {
    match act {
        Act::One => Intent::Approve,
        Act::All(_) => Intent::ApproveAll,
    }
}

/// The key of a text field that an intent stands for, whichever key it has been given to.
pub(super) const fn meant(intent: Option<Intent>, code: KeyCode) -> KeyCode {
    match intent {
        Some(Intent::Submit) => KeyCode::Enter,
        Some(Intent::Back) => KeyCode::Esc,
        _ => code,
    }
}
