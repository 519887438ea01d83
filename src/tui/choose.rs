//! A small list of things to choose from: a status, a priority, who works on something. The person's choice becomes the
//! effect that stands behind it; it decides no question of an agent's.

use std::sync::Arc;

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::Draw;
use super::intent::{Effect, Intent};
use super::theme::Role;
use super::widgets::border::{Frame, Weight};
use super::widgets::cells::{clear, to_cells};
use super::widgets::confirm::centred;
use super::widgets::paint::{Span, fit_row, line, put};
use super::widgets::table::{Selection, bar};
use crate::text::width;

/// The widest list.
const WIDTH: usize = 56;

/// What there is to choose from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Choice {
    /// What is chosen, one line.
    pub title: Arc<str>,
    /// The things, with a note beside each, and what choosing each does.
    pub options: Vec<(Arc<str>, Arc<str>, Effect)>,
    /// The one that is so now.
    pub now: Option<usize>,
}

/// The list while it is open.
#[derive(Clone, Debug)]
pub struct Chooser {
    choice: Choice,
    pick: Selection<usize>,
}

/// What came of a key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Chosen {
    /// It goes on.
    Goes,
    /// Nothing was chosen.
    Left,
    /// This was.
    One(Effect),
}

impl Chooser {
    /// Opens the list at what is so now.
    pub fn open(choice: Choice) -> Self {
        let mut pick = Selection::default();
        pick.select(choice.now.unwrap_or(0));
        Self { choice, pick }
    }

    /// Fits the list into the screen.
    pub fn layout(&mut self, screen: Rect) {
        self.pick.layout(&self.ids(), self.area(screen).height.saturating_sub(2));
    }

    /// Handles a key press. A letter goes to the next thing that begins with it.
    pub fn key(&mut self, intent: Option<Intent>, key: KeyEvent) -> Chosen {
        let ids = self.ids();
        match intent {
            Some(Intent::Back) => return Chosen::Left,
            Some(Intent::Open) => {
                let chosen = self.pick.id().and_then(|at| self.choice.options.get(*at));
                return chosen.map_or(Chosen::Left, |(.., effect)| Chosen::One(effect.clone()));
            }
            Some(intent) => {
                self.pick.apply(intent, &ids);
            }
            None => {
                if let KeyCode::Char(letter) = key.code {
                    self.go_to(letter, &ids);
                }
            }
        }
        Chosen::Goes
    }

    fn go_to(&mut self, letter: char, ids: &[usize]) {
        let begins = |at: &&usize| {
            let name = self.choice.options.get(**at).and_then(|(name, ..)| name.chars().next());
            name.is_some_and(|first| first.to_lowercase().eq(letter.to_lowercase()))
        };
        let from = self.pick.index();
        let next = ids.iter().skip(from + 1).chain(ids.iter().take(from + 1)).find(begins);
        if let Some(next) = next.copied() {
            while self.pick.index() != next {
                self.pick.apply(if self.pick.index() < next { Intent::Down } else { Intent::Up }, ids);
            }
        }
    }

    /// Draws it in the middle of `screen`.
    pub fn render(&self, screen: Rect, buf: &mut Buffer, draw: &Draw<'_>) {
        let area = self.area(screen);
        clear(buf, area);
        let title = [Span::new(Role::Title, &self.choice.title)];
        let shown = self.pick.visible();
        let all = self.choice.options.len();
        let place =
            if shown.len() < all { format!("{}-{}/{all}  ", shown.start + 1, shown.end) } else { String::new() };
        let right = [Span::new(Role::Dim, &format!("{place}Enter chooses"))];
        let frame = Frame { title: &title, right: &right, role: Role::BorderFocused, weight: Weight::Thin };
        let inside = frame.draw(buf, area, draw.theme);
        for (down, at) in self.pick.visible().enumerate() {
            let Some((place, (name, note, _))) = line(inside, down).zip(self.choice.options.get(at)) else { return };
            let now = if self.choice.now == Some(at) { "  now" } else { "" };
            let row =
                [Span::new(Role::Text, name), Span::new(Role::Dim, &format!("  {note}")), Span::new(Role::Accent, now)];
            let text = Rect { x: place.x + 2.min(place.width), width: place.width.saturating_sub(4), ..place };
            put(buf, text, &fit_row(&row, usize::from(text.width)), draw.theme);
            if self.pick.id() == Some(&at) {
                bar(buf, place, draw.theme);
            }
        }
    }

    fn ids(&self) -> Vec<usize> {
        (0..self.choice.options.len()).collect()
    }

    fn area(&self, screen: Rect) -> Rect {
        let cells = |(name, note, _): &(Arc<str>, Arc<str>, Effect)| width(name) + width(note) + 14;
        let widest = self.choice.options.iter().map(cells).max().unwrap_or(0);
        // The title and the word for the key have to fit, too.
        let wide = widest.max(width(&self.choice.title) + 34).min(WIDTH);
        centred(screen, to_cells(wide), to_cells(self.choice.options.len() + 2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::card::fixtures::{drawing, screen, screen_text, snapshot};
    use crossterm::event::KeyModifiers;

    #[test]
    fn a_list_that_is_cut_says_where_it_stands() {
        let options = (0..50).map(|at| (Arc::from(at.to_string()), Arc::from(""), Effect::Say("".into()))).collect();
        let mut chooser = Chooser::open(Choice { title: "Who".into(), options, now: Some(30) });
        let area = screen(60, 22);
        chooser.layout(area);
        let mut buf = Buffer::empty(area);
        drawing(&snapshot(Vec::new()), |draw| chooser.render(area, &mut buf, draw));
        assert!(screen_text(&buf).contains("12-31/50  Enter chooses"), "{}", screen_text(&buf));
    }

    #[test]
    fn letters_and_arrows_go_and_enter_chooses() {
        let option = |name: &str| (Arc::from(name), Arc::from(""), Effect::Say(name.into()));
        let options = ["todo", "in_progress", "in_review", "done"].map(option).to_vec();
        let mut chooser = Chooser::open(Choice { title: "Status".into(), options, now: Some(1) });
        chooser.layout(Rect::new(0, 0, 80, 24));
        let press = |chooser: &mut Chooser, c| chooser.key(None, KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE));
        let enter =
            |chooser: &mut Chooser| chooser.key(Some(Intent::Open), KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE));
        assert_eq!(enter(&mut chooser), Chosen::One(Effect::Say("in_progress".into())), "what is so now comes first");
        assert_eq!(press(&mut chooser, 'i'), Chosen::Goes);
        assert_eq!(enter(&mut chooser), Chosen::One(Effect::Say("in_review".into())));
        press(&mut chooser, 'I');
        assert_eq!(enter(&mut chooser), Chosen::One(Effect::Say("in_progress".into())), "around");
        press(&mut chooser, 'z');
        assert_eq!(enter(&mut chooser), Chosen::One(Effect::Say("in_progress".into())));
        assert_eq!(chooser.key(Some(Intent::Back), KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE)), Chosen::Left);
    }
}
