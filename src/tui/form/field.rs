//! What a person has put into one field so far, and the keys that change it. Knows no meaning beyond the field's kind.

use crossterm::event::KeyEvent;

use crate::tool::elicit::{Entered, Field, Kind, Need};
use crate::tui::intent::Intent;
use crate::tui::widgets::input::Input;

/// See the module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Filling {
    /// Text, or a number as it is written.
    Text(Input),
    /// Yes, no, or neither.
    Switch(Option<bool>),
    /// One of the choices, or none.
    One(Option<usize>),
    /// Some of the choices, and the one the keys are at.
    Many(Vec<usize>, usize),
}

impl Filling {
    pub(super) fn of(field: &Field) -> Self {
        match field.begin() {
            Entered::Text(text) => Self::Text(Input::with(&text)),
            Entered::Switch(on) => Self::Switch(on),
            Entered::One(chosen) => Self::One(chosen),
            Entered::Many(chosen) => Self::Many(chosen, 0),
        }
    }

    pub(super) fn entered(&self) -> Entered {
        match self {
            Self::Text(input) => Entered::Text(input.text()),
            Self::Switch(on) => Entered::Switch(*on),
            Self::One(chosen) => Entered::One(*chosen),
            Self::Many(chosen, _) => Entered::Many(chosen.clone()),
        }
    }

    pub(super) fn paste(&mut self, text: &str) {
        if let Self::Text(input) = self {
            input.paste(text);
        }
    }

    /// Takes a key. True when something changed.
    pub(super) fn key(&mut self, field: &Field, intent: Option<Intent>, key: KeyEvent) -> bool {
        let need = field.need;
        match self {
            Self::Text(input) => return input.key(key),
            Self::Switch(on) => match step(intent) {
                Some(step) => *on = turned(*on, step, need),
                None => return false,
            },
            Self::One(chosen) => match step(intent) {
                Some(step) => *chosen = moved(*chosen, step, (choices(field), need)),
                None => return false,
            },
            Self::Many(chosen, at) => match intent {
                Some(Intent::Toggle) => {
                    if let Some(place) = chosen.iter().position(|chosen| chosen == at) {
                        chosen.remove(place);
                    } else if *at < choices(field) {
                        chosen.push(*at);
                        chosen.sort_unstable();
                    }
                }
                Some(Intent::Right) => *at = (*at + 1).min(choices(field).saturating_sub(1)),
                Some(Intent::Left) => *at = at.saturating_sub(1),
                _ => return false,
            },
        }
        true
    }
}

/// Which way a key leads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    On,
    Back,
}

const fn step(intent: Option<Intent>) -> Option<Step> {
    match intent {
        Some(Intent::Toggle | Intent::Right) => Some(Step::On),
        Some(Intent::Left) => Some(Step::Back),
        _ => None,
    }
}

/// Yes, no, and where it may be left out neither.
fn turned(on: Option<bool>, step: Step, need: Need) -> Option<bool> {
    let order = [Some(true), Some(false), None];
    let steps = if need == Need::Required { 2 } else { 3 };
    let at = order.iter().position(|value| *value == on).unwrap_or(0);
    let next = match step {
        // From nothing the first one comes next, whether or not nothing can be chosen again.
        Step::On if at == 2 => 0,
        Step::On => (at + 1) % steps,
        Step::Back => (at + steps - 1) % steps,
    };
    order.get(next).copied().flatten()
}

/// The neighbour of a choice; where it may be left out nothing stands between the last and the first.
fn moved(chosen: Option<usize>, step: Step, (count, need): (usize, Need)) -> Option<usize> {
    let last = count.checked_sub(1)?;
    let wrapped = |end: usize| if need == Need::Required { Some(end) } else { None };
    match (chosen, step) {
        (None, Step::On) => Some(0),
        (None, Step::Back) => Some(last),
        (Some(at), Step::On) if at >= last => wrapped(0),
        (Some(at), Step::On) => Some(at + 1),
        (Some(0), Step::Back) => wrapped(last),
        (Some(at), Step::Back) => Some(at - 1),
    }
}

fn choices(field: &Field) -> usize {
    match &field.kind {
        Kind::One { choices, .. } | Kind::Many { choices, .. } => choices.len(),
        Kind::Text { .. } | Kind::Number { .. } | Kind::Switch { .. } => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_switch_and_a_choice_go_round() {
        let turn = |on, step, need| turned(on, step, need);
        assert_eq!(turn(None, Step::On, Need::Required), Some(true));
        assert_eq!(turn(Some(true), Step::On, Need::Required), Some(false));
        assert_eq!(turn(Some(false), Step::On, Need::Required), Some(true));
        assert_eq!(turn(Some(false), Step::On, Need::Optional), None);
        assert_eq!(turn(Some(true), Step::Back, Need::Optional), None);
        assert_eq!(turn(None, Step::Back, Need::Optional), Some(false));
        assert_eq!(moved(None, Step::On, (3, Need::Required)), Some(0));
        assert_eq!(moved(Some(2), Step::On, (3, Need::Required)), Some(0));
        assert_eq!(moved(Some(2), Step::On, (3, Need::Optional)), None);
        assert_eq!(moved(Some(0), Step::Back, (3, Need::Required)), Some(2));
        assert_eq!(moved(Some(1), Step::Back, (3, Need::Optional)), Some(0));
        assert_eq!(moved(None, Step::On, (0, Need::Optional)), None);
    }
}
