//! The help screen: every key that works where the person stands, from the one table, and what can be typed after `:`.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::cells::{clear, put, put_spans, row, to_cells, width, wrap};
use super::confirm::centred;
use super::panel::{Panel, Scroll, inner};
use crate::tui::Draw;
use crate::tui::intent::Intent;
use crate::tui::keymap::{Context, Keymap};
use crate::tui::theme::Role;

const WIDTH: u16 = 72;

/// What the columns of hints and the mark beside a name mean.
const MARKS: [(&str, &str); 6] = [
    ("R", "read only: it changes nothing"),
    ("D", "destructive: it may delete or overwrite"),
    ("I", "idempotent: the same call again changes nothing more"),
    ("O", "open world: it reaches systems outside"),
    ("✓ ✗ ?", "yes, no, nobody said"),
    ("!", "something about it is odd: the detail says what"),
];

/// See the module.
#[derive(Clone, Debug)]
pub struct Help {
    entries: Vec<Entry>,
    /// The entries as they stand on this screen: words that are too long for a line go on in the next one.
    lines: Vec<Line>,
    top: usize,
    height: usize,
}

#[derive(Clone, Debug)]
enum Entry {
    Heading(&'static str),
    Key(String, &'static str),
    Gap,
}

#[derive(Clone, Debug)]
enum Line {
    Heading(&'static str),
    /// A key and a part of its words; the key is empty where they go on.
    Key(String, String),
    Gap,
}

impl Help {
    /// Help for one context and those that it falls back to; `commands` are what can be typed after `:`, with what each
    /// does, for a context where that opens the command line.
    pub fn of(keymap: &Keymap, first: Context, commands: &[(&'static str, &'static str)]) -> Self {
        let mut lines = Vec::new();
        for context in std::iter::successors(Some(first), |context| context.parent()) {
            if !lines.is_empty() {
                lines.push(Entry::Gap);
            }
            lines.push(Entry::Heading(context.words()));
            let sideways = |words: &str| words.starts_with("scroll ");
            let works = |words: &str| context != Context::List || first.scrolls_sideways() || !sideways(words);
            let rows = keymap.rows(context).into_iter().filter(|(_, words)| works(words));
            lines.extend(rows.map(|(keys, words)| Entry::Key(keys, words)));
        }
        if first == Context::Tools {
            lines.extend([Entry::Gap, Entry::Heading("Marks in the list of tools")]);
            lines.extend(MARKS.map(|(mark, words)| Entry::Key(mark.to_owned(), words)));
        }
        if first.chain().any(|context| context == Context::Global) {
            lines.extend([Entry::Gap, Entry::Heading("After : (the beginning of a word is enough)")]);
            lines.extend(commands.iter().map(|(command, words)| Entry::Key((*command).to_owned(), words)));
        }
        Self { entries: lines, lines: Vec::new(), top: 0, height: 0 }
    }

    /// Fits it into the screen.
    pub fn layout(&mut self, screen: Rect) {
        let room = WIDTH.min(screen.width).saturating_sub(4).saturating_sub(self.column());
        self.lines.clear();
        for entry in &self.entries {
            match entry {
                Entry::Heading(words) => self.lines.push(Line::Heading(words)),
                Entry::Gap => self.lines.push(Line::Gap),
                Entry::Key(keys, words) => {
                    let keys = std::iter::once(keys.clone()).chain(std::iter::repeat(String::new()));
                    self.lines.extend(keys.zip(wrap(words, room)).map(|(keys, words)| Line::Key(keys, words)));
                }
            }
        }
        self.height = usize::from(inner(self.area(screen)).height);
        self.top = self.top.min(self.lines.len().saturating_sub(self.height));
    }

    /// Scrolls. True when it should close.
    pub fn apply(&mut self, intent: Intent) -> bool {
        let page = self.height.saturating_sub(1).max(1);
        let most = self.lines.len().saturating_sub(self.height);
        self.top = match intent {
            Intent::Up => self.top.saturating_sub(1),
            Intent::Down => self.top + 1,
            Intent::PageUp => self.top.saturating_sub(page),
            Intent::PageDown => self.top + page,
            Intent::Top => 0,
            Intent::Bottom => most,
            Intent::Back | Intent::Help => return true,
            _ => self.top,
        }
        .min(most);
        false
    }

    /// Draws it in the middle of `screen`.
    pub fn render(&self, screen: Rect, buf: &mut Buffer, draw: &Draw<'_>) {
        let area = self.area(screen);
        clear(buf, area);
        let scroll = Some(Scroll { above: self.top, shown: self.height, total: self.lines.len() });
        let panel = Panel { title: "Keys", right: "Esc closes", focused: true, scroll, heavy: false };
        let inside = panel.render(buf, area, draw.theme);
        let text = Rect { x: inside.x + 1.min(inside.width), width: inside.width.saturating_sub(2), ..inside };
        let column = self.column();
        for (n, line) in (0..inside.height).zip(self.lines.iter().skip(self.top)) {
            let place = row(text, n);
            match line {
                Line::Heading(words) => _ = put(buf, place, words, draw.theme.style(Role::Accent)),
                Line::Gap => {}
                Line::Key(keys, words) => {
                    put_spans(
                        buf,
                        Rect { width: column.min(place.width), ..place },
                        &[(keys, draw.theme.style(Role::Key))],
                    );
                    let words_at = Rect { x: place.x + column, width: place.width.saturating_sub(column), ..place };
                    put(buf, words_at, words, draw.theme.style(Role::Text));
                }
            }
        }
    }

    /// Cells of the keys, with the gap behind them.
    fn column(&self) -> u16 {
        let keys = self.entries.iter().filter_map(|entry| match entry {
            Entry::Key(keys, _) => Some(width(keys)),
            _ => None,
        });
        to_cells(keys.max().unwrap_or(0) + 3)
    }

    fn area(&self, screen: Rect) -> Rect {
        centred(screen, WIDTH, to_cells(self.lines.len() + 2))
    }
}
