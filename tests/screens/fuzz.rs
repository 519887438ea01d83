//! Any size, any keys, hostile text: no panic, nothing outside the frame, borders where they belong.

use crewlet_tui::tui::msg::Msg;
use crewlet_tui::tui::theme::Theme;
use proptest::prelude::*;

use super::support::rows::{Rows, with_tools};
use super::support::sample;
use super::support::screen::{Screen, event, text};

const KEYS: [&str; 47] = [
    "0", "1", "2", "3", "4", "5", "6", "7", "tab", "backtab", "up", "down", "pageup", "pagedown", "home", "end",
    "left", "right", "enter", "esc", "/", "x", "n", "N", "f", "w", "T", "l", "e", "y", "?", "a", "q", "t", "8", "9",
    "c", "s", "o", "p", "m", "R", "[", "]", "L", "v", "ctrl-s",
];

#[derive(Clone, Debug)]
enum Step {
    Key(usize),
    Size(u16, u16),
    Paste(String),
    Wait(u64),
    Snapshot(u8),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..KEYS.len()).prop_map(Step::Key),
        3 => (0_u16..130, 0_u16..45).prop_map(|(width, height)| Step::Size(width, height)),
        1 => "\\PC{0,20}".prop_map(Step::Paste),
        1 => (0_u64..5_000).prop_map(Step::Wait),
        2 => (0_u8..4).prop_map(Step::Snapshot),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn nothing_breaks_the_screen(steps in proptest::collection::vec(step(), 1..40)) {
        let mut screen = Screen::new((80, 24), sample::busy());
        let own = with_tools(sample::busy()).catalog;
        let theme = Theme::builtin("midnight").unwrap();
        for step in steps {
            match step {
                Step::Key(index) => _ = screen.send(Msg::Key(event(KEYS[index]))),
                Step::Size(width, height) => screen.resize(width, height),
                Step::Paste(text) => _ = screen.send(Msg::Paste(text)),
                Step::Wait(millis) => screen.wait(millis),
                Step::Snapshot(which) => {
                    screen.publish(|snapshot| {
                        *snapshot = match which {
                            0 => sample::empty(),
                            1 => sample::calm(),
                            2 => sample::hostile(),
                            _ => sample::busy(),
                        };
                        snapshot.catalog = own.clone();
                    });
                    let rows = [Rows::default(), Rows::sample(), Rows::hostile(), Rows::sample()];
                    screen.change(|now| *now = rows[usize::from(which)].clone());
                }
            }
            let picture = screen.draw(&theme);
            prop_assert_eq!(picture.area, screen.area);
            prop_assert!(!text(&picture).chars().any(|c| c.is_control() && c != '\n'));
        }
    }
}

#[test]
fn every_size_from_nothing_up_draws_something() {
    let theme = Theme::plain();
    for view in ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "?", "e"] {
        let mut screen = Screen::new((120, 40), sample::hostile());
        screen.change(|rows| *rows = Rows::hostile());
        screen.press(&[view]);
        for (width, height) in [(0, 0), (1, 1), (1, 40), (39, 12), (40, 11), (40, 12), (99, 30), (100, 12), (120, 40)] {
            screen.resize(width, height);
            let picture = text(&screen.draw(&theme));
            assert!(width == 0 || !picture.trim().is_empty(), "{view} at {width}x{height}");
        }
    }
}

#[test]
fn wide_and_hostile_text_moves_no_border() {
    for (width, height) in [(120, 40), (101, 30), (80, 24), (41, 13)] {
        for view in ["0", "1", "5", "6", "7"] {
            let mut screen = Screen::new((width, height), sample::hostile());
            screen.press(&[view, "esc"]);
            let picture = screen.draw(&Theme::plain());
            for y in 4..height - 2 {
                let right = picture[(width - 1, y)].symbol();
                assert!(["│", "┃", "┤"].contains(&right), "{view} at {width}x{height}, row {y}: {right:?}");
                let left = picture[(0, y)].symbol();
                assert!(["│", "├"].contains(&left), "{view} at {width}x{height}, row {y}: {left:?}");
            }
        }
    }
}
