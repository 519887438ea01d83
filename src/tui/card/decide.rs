//! The state of a decision: which key press counts, arming, typing a name, denying with a reason.
//!
//! Time comes in with each key press; nothing here reads a clock. Nothing here knows what the card looks like.

use std::time::Instant;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::ending::{Ending, Word};
use super::field::Field;
use super::{ARM_FROM, ARM_UNTIL, Card, KEY_REPEAT, Outcome, UNCONFIRMED, View};
use crate::engine::command::{Command, Verdict};
use crate::engine::snapshot::{Snapshot, Tier};
use crate::text;
use crate::tui::intent::{Effect, Intent};

/// Where the decision stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    /// Nothing has been pressed that counts.
    Asking,
    /// The first of two presses was at this moment.
    Armed { at: Instant },
    /// The name of the tool is being typed.
    Typing(Field),
    /// The reason of a denial is being written.
    Reason(Field),
    /// The press that decides was at this moment; it counts when no further key follows at once.
    Committing { at: Instant },
    /// Handed to the engine; the snapshot has not confirmed it.
    Sent { word: Word, at: Instant },
    /// The question waits no more.
    Over(Ending),
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
    /// Only the arguments are on screen.
    ArgumentsOnly,
}

impl Blocked {
    const fn message(self) -> Option<&'static str> {
        match self {
            Self::Dead | Self::TooSmall | Self::Unseen => None,
            Self::ReadOnly => Some("read-only: nobody can decide here"),
            Self::ArgumentsOnly => Some("go back to the whole card first (d)"),
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
        } else if !self.seen_end {
            Some(Blocked::Unseen)
        } else if self.view == View::Arguments {
            Some(Blocked::ArgumentsOnly)
        } else {
            None
        }
    }

    /// Whether the first of two presses still holds.
    pub(super) fn armed(&self, at: Instant) -> Option<Instant> {
        match self.phase {
            Phase::Armed { at: armed } if at.saturating_duration_since(armed) <= ARM_UNTIL => Some(armed),
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
        if let Phase::Committing { at } = self.phase {
            if intent == Some(Intent::Approve) && press.at.saturating_duration_since(at) >= KEY_REPEAT {
                return self.commit_when_due(press.at, snapshot);
            }
            self.phase = Phase::Asking;
            self.message = Some("a key followed at once: nothing was decided");
            if press.repeat {
                return Outcome::default();
            }
        }
        if intent != Some(Intent::Approve) && matches!(self.phase, Phase::Armed { .. }) {
            self.phase = Phase::Asking;
        }
        match intent {
            Some(Intent::Approve) => return self.approve(press, snapshot),
            Some(Intent::Deny) => self.begin_denial(press, snapshot),
            Some(Intent::Back) => return Outcome { close: true, effects: Vec::new() },
            Some(intent @ (Intent::Next | Intent::Previous)) => match self.neighbour(intent, snapshot) {
                Some(other) => {
                    self.show(other, press.at);
                    self.layout(self.frame.screen, snapshot);
                }
                None => self.message = Some("no other call is waiting"),
            },
            Some(Intent::AllArguments) => {
                self.view = if self.view == View::Whole { View::Arguments } else { View::Whole };
                self.measure_again();
            }
            Some(intent) => self.scroll_by(intent),
            None => {}
        }
        Outcome::default()
    }

    fn approve(&mut self, press: Press, snapshot: &Snapshot) -> Outcome {
        if self.is_settled(press.at) || press.repeat {
            return Outcome::default();
        }
        if let Some(blocked) = self.blocked(press.at, snapshot) {
            self.phase = Phase::Asking;
            self.message = blocked.message();
            return Outcome::default();
        }
        match (self.shown.tier, self.armed(press.at)) {
            (Tier::Type, _) => self.phase = Phase::Typing(Field::default()),
            (Tier::Arm, None) => self.phase = Phase::Armed { at: press.at },
            (Tier::Arm, Some(armed)) if press.at.saturating_duration_since(armed) < ARM_FROM => {}
            (Tier::Press, _) | (Tier::Arm, Some(_)) if self.ticking => self.phase = Phase::Committing { at: press.at },
            (Tier::Press, _) | (Tier::Arm, Some(_)) => return self.send(Word::Approve, Verdict::Approve, press.at),
        }
        Outcome::default()
    }

    /// Sends an approval that was held back long enough, if it can still be given.
    pub(super) fn commit_when_due(&mut self, at: Instant, snapshot: &Snapshot) -> Outcome {
        let Phase::Committing { at: pressed } = self.phase else { return Outcome::default() };
        if at.saturating_duration_since(pressed) < KEY_REPEAT {
            return Outcome::default();
        }
        if let Some(blocked) = self.blocked(at, snapshot) {
            self.phase = Phase::Asking;
            self.message = blocked.message();
            return Outcome::default();
        }
        self.send(Word::Approve, Verdict::Approve, at)
    }

    /// True when nothing can be decided any more, or a decision has just been handed over.
    fn is_settled(&mut self, at: Instant) -> bool {
        match self.phase {
            Phase::Over(_) => {
                self.message = Some("this call waits no more: nothing was decided by that key");
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

    fn begin_denial(&mut self, press: Press, snapshot: &Snapshot) {
        if self.is_settled(press.at) || press.repeat || press.at < self.live_at {
            return;
        }
        if snapshot.read_only {
            self.message = Blocked::ReadOnly.message();
            return;
        }
        self.phase = Phase::Reason(Field::default());
    }

    /// A key while the reason of a denial is written.
    pub(super) fn reason_key(&mut self, intent: Option<Intent>, press: Press) -> Outcome {
        let Phase::Reason(field) = &mut self.phase else { return Outcome::default() };
        match meant(intent, press.key.code) {
            _ if press.key.kind == KeyEventKind::Release => {}
            KeyCode::Esc => self.phase = Phase::Asking,
            KeyCode::Enter if press.repeat => {}
            KeyCode::Enter => {
                let reason = field.text().trim().to_owned();
                return self.send(Word::Deny, Verdict::Deny { reason }, press.at);
            }
            // The key that opened the field, still held down.
            _ if press.repeat && field.text().is_empty() => {}
            code if field.chip(code) => {}
            code => self.message = field.edit(code, press.key.modifiers),
        }
        Outcome::default()
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
            KeyCode::Enter => self.message = Some("Enter decides nothing: Ctrl-Y does, once the name is complete"),
            KeyCode::Char('y' | 'Y') if control => {
                if press.repeat {
                    return Outcome::default();
                }
                if blocked.is_some() {
                    self.message = blocked.and_then(Blocked::message).or(Some("not now: see the line above"));
                } else if field.text().trim() != name.trim() {
                    self.message = Some("that is not the name yet");
                } else {
                    return self.send(Word::Approve, Verdict::Approve, press.at);
                }
            }
            _ if press.repeat && field.text().is_empty() => {}
            code => self.message = field.edit(code, press.key.modifiers),
        }
        Outcome::default()
    }

    /// Hands the decision over, bound to exactly what is shown.
    fn send(&mut self, word: Word, verdict: Verdict, at: Instant) -> Outcome {
        self.phase = Phase::Sent { word, at };
        self.said = Some(word);
        let decide = Command::Decide {
            approval: self.shown.id,
            arguments: self.shown.arguments.digest(),
            fingerprint: self.shown.entry.fingerprint,
            verdict,
        };
        Outcome { close: false, effects: vec![Effect::Send(decide)] }
    }
}

/// The key of a text field that an intent stands for, whichever key it has been given to.
const fn meant(intent: Option<Intent>, code: KeyCode) -> KeyCode {
    match intent {
        Some(Intent::Submit) => KeyCode::Enter,
        Some(Intent::Back) => KeyCode::Esc,
        _ => code,
    }
}
