//! Tests of [`super::TextView`]: anchoring, following, wrapping, search.

use super::*;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use proptest::prelude::*;

struct Lines {
    first: u64,
    lines: Vec<String>,
}

impl Lines {
    fn numbered(count: u64) -> Self {
        Self { first: 0, lines: (0..count).map(|n| format!("line {n}")).collect() }
    }

    fn grow(&mut self, count: usize, dropped: usize) {
        let end = self.end();
        self.lines.extend((0..count as u64).map(|n| format!("line {}", end + n)));
        self.lines.drain(..dropped);
        self.first += dropped as u64;
    }
}

impl Source for Lines {
    fn first(&self) -> u64 {
        self.first
    }

    fn end(&self) -> u64 {
        self.first + self.lines.len() as u64
    }

    fn line(&self, sequence: u64) -> Option<Line<'_>> {
        let text = self.lines.get(usize::try_from(sequence.checked_sub(self.first)?).ok()?)?;
        Some(Line { lead: Vec::new(), text: text.as_str().into(), role: Role::Text })
    }
}

const AREA: Rect = Rect::new(0, 0, 12, 3);

fn shown(view: &TextView, source: &Lines) -> Vec<String> {
    let mut buf = Buffer::empty(AREA);
    view.render(&mut buf, AREA, source, &Theme::plain());
    (0..AREA.height)
        .map(|y| (0..AREA.width).map(|x| buf[(x, y)].symbol()).collect::<String>().trim_end().to_owned())
        .collect()
}

fn after(view: &mut TextView, intents: &[Intent], source: &Lines) -> Vec<String> {
    for intent in intents {
        view.layout(AREA, source);
        assert!(view.apply(*intent, source), "{intent:?}");
    }
    view.layout(AREA, source);
    shown(view, source)
}

#[test]
fn it_follows_the_end() {
    let (mut view, mut lines) = (TextView::default(), Lines::numbered(5));
    assert_eq!(after(&mut view, &[], &lines), ["line 2", "line 3", "line 4"]);
    lines.grow(2, 0);
    assert_eq!(after(&mut view, &[], &lines), ["line 4", "line 5", "line 6"]);
    assert_eq!(view.state(&lines), "following");
}

#[test]
fn a_paused_view_stays_on_what_was_read() {
    let (mut view, mut lines) = (TextView::default(), Lines::numbered(20));
    assert_eq!(after(&mut view, &[Intent::Up, Intent::Up], &lines), ["line 15", "line 16", "line 17"]);
    lines.grow(100, 10);
    assert_eq!(after(&mut view, &[], &lines), ["line 15", "line 16", "line 17"]);
    assert_eq!(view.state(&lines), "paused · 102 below");
    lines.grow(0, 10);
    assert_eq!(after(&mut view, &[], &lines), ["line 20", "line 21", "line 22"], "the lines are gone");
    assert_eq!(after(&mut view, &[Intent::Bottom], &lines), ["line 117", "line 118", "line 119"]);
}

#[test]
fn scrolling_stops_at_both_ends() {
    let (mut view, lines) = (TextView::default(), Lines::numbered(5));
    assert_eq!(after(&mut view, &[Intent::PageUp; 9], &lines), ["line 0", "line 1", "line 2"]);
    assert_eq!(after(&mut view, &[Intent::Down], &lines), ["line 1", "line 2", "line 3"]);
    assert_eq!(after(&mut view, &[Intent::Down; 9], &lines), ["line 2", "line 3", "line 4"]);
}

#[test]
fn long_lines_are_cut_scrolled_or_wrapped() {
    let mut lines = Lines::numbered(1);
    lines.lines.push("abcdefghijklmnopqrst".to_owned());
    let mut view = TextView::default();
    assert_eq!(after(&mut view, &[], &lines), ["line 0", "abcdefghijk…", ""]);
    assert_eq!(after(&mut view, &[Intent::Right], &lines), ["", "ijklmnopqrst", ""]);
    assert_eq!(after(&mut view, &[Intent::Wrap], &lines), ["line 0", "abcdefghijkl", "mnopqrst"]);
    lines.grow(1, 0);
    assert_eq!(after(&mut view, &[Intent::Up], &lines), ["line 0", "abcdefghijkl", "mnopqrst"]);
}

#[test]
fn search_finds_upwards_first_and_goes_on_in_both_directions() {
    let (mut view, lines) = (TextView::default(), Lines::numbered(100));
    after(&mut view, &[Intent::Search], &lines);
    for c in "ne 4".chars() {
        view.search.key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE));
    }
    assert_eq!(view.submit_search(&lines), Found::Yes);
    assert_eq!(after(&mut view, &[], &lines), ["line 48", "line 49", "line 50"]);
    assert_eq!(view.place().as_deref(), Some("11 of 11"));
    assert_eq!(view.find(Intent::NextMatch, &lines), Found::Around);
    assert_eq!((view.match_at, view.place().as_deref()), (Some(4), Some("1 of 11")), "on from the beginning");
    assert_eq!(view.find(Intent::PreviousMatch, &lines), Found::Around, "on from the end");
    assert_eq!([0; 2].map(|_| view.find(Intent::PreviousMatch, &lines)), [Found::Yes; 2]);
    assert_eq!((view.match_at, view.place().as_deref()), (Some(47), Some("9 of 11")));
    assert_eq!(view.find(Intent::NextError, &lines), Found::No, "errors are gone through in order");
    view.layout(AREA, &lines);
    let mut buf = Buffer::empty(AREA);
    view.render(&mut buf, AREA, &lines, &Theme::plain());
    let bold = |y: u16| buf[(2, y)].modifier.contains(ratatui::style::Modifier::BOLD);
    let row = shown(&view, &lines).iter().position(|line| line == "line 47").unwrap();
    let bolds: Vec<bool> = (0..3).map(bold).collect();
    assert_eq!(bolds.iter().position(|bold| *bold), Some(row), "the current match stands out among the others");
    assert_eq!(bolds.iter().filter(|bold| **bold).count(), 1);
    let mut buf = Buffer::empty(AREA);
    view.layout(AREA, &lines);
    view.render(&mut buf, AREA, &lines, &Theme::plain());
    assert!(buf[(2, 1)].modifier.contains(ratatui::style::Modifier::UNDERLINED));
    assert!(!buf[(0, 1)].modifier.contains(ratatui::style::Modifier::UNDERLINED));
}

proptest! {
    #[test]
    fn it_never_shows_less_than_it_could(
        texts in proptest::collection::vec("\\PC{0,30}", 0..20),
        steps in proptest::collection::vec(0_usize..12, 0..20),
        width in 0_u16..20,
        height in 0_u16..6,
    ) {
        let lines = Lines { first: 7, lines: texts };
        let mut view = TextView::default();
        let area = Rect::new(0, 0, width, height);
        let intents = [
            Intent::Up, Intent::Down, Intent::PageUp, Intent::PageDown, Intent::Top, Intent::Bottom, Intent::Left,
            Intent::Right, Intent::Follow, Intent::Wrap, Intent::NextMatch, Intent::PreviousMatch,
        ];
        for step in steps {
            view.layout(area, &lines);
            view.apply(intents[step], &lines);
            view.layout(area, &lines);
            prop_assert!(view.rows.len() <= usize::from(height));
            prop_assert!(view.rows.len() >= lines.lines.len().min(usize::from(height)));
            let mut buf = Buffer::empty(area);
            view.render(&mut buf, area, &lines, &Theme::plain());
        }
    }

    #[test]
    fn chunks_join_to_the_whole(content in "\\PC{0,60}", cells in 0_u16..20) {
        let joined: String = chunks(&content, cells).into_iter().filter_map(|range| content.get(range)).collect();
        prop_assert_eq!(joined, content);
    }
}
