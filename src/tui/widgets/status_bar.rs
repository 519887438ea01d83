//! The foot line: the keys that matter here, or for a few seconds a message. An error stays until a key.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::cells::{clear, put, put_spans, to_cells, width, wrap};
use crate::text;
use crate::tui::theme::{Role, Theme};

/// How long a message stands.
const SHOWN: Duration = Duration::from_secs(5);
/// Lines that an error may take.
const ERROR_LINES: u16 = 3;
/// Keys in a hint line, help not counted.
const HINTS: usize = 7;

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct StatusBar {
    said: Option<(Arc<str>, Instant)>,
    complaint: Option<(Arc<str>, Loud)>,
}

#[derive(Clone, Copy, Debug)]
enum Loud {
    Warning,
    Error,
}

impl StatusBar {
    /// Shows a message for a few seconds.
    pub fn say(&mut self, text: Arc<str>, at: Instant) {
        self.said = Some((text, at + SHOWN));
    }

    /// Shows an error until [`Self::acknowledge`].
    pub fn complain(&mut self, text: Arc<str>) {
        self.complaint = Some((text, Loud::Error));
    }

    /// Shows a warning until [`Self::acknowledge`].
    pub fn warn(&mut self, text: Arc<str>) {
        self.complaint = Some((text, Loud::Warning));
    }

    /// A key was pressed: errors have been seen. True when one went away.
    pub fn acknowledge(&mut self) -> bool {
        self.complaint.take().is_some()
    }

    /// Takes a message away whose time is over. True when one went.
    pub fn expire(&mut self, at: Instant) -> bool {
        let over = self.said.as_ref().is_some_and(|(_, until)| *until <= at);
        if over {
            self.said = None;
        }
        over
    }

    /// When the message goes away.
    pub fn wake_at(&self) -> Option<Instant> {
        self.said.as_ref().map(|(_, until)| *until)
    }

    /// What is shown instead of the keys.
    pub fn message(&self) -> Option<&str> {
        self.complaint.as_ref().map(|(text, _)| &**text).or_else(|| self.said.as_ref().map(|(text, _)| &**text))
    }

    /// Draws the message, or else the keys; the last hint (help) is always among them. An error that is longer than
    /// the line grows upwards.
    pub fn render(&self, buf: &mut Buffer, line: Rect, hints: &[(String, &str)], theme: &Theme) {
        let inside = Rect { x: line.x + 1.min(line.width), width: line.width.saturating_sub(2), ..line };
        if let Some((complaint, loud)) = &self.complaint {
            let (mark, role) = match loud {
                Loud::Warning => ("!", Role::Warning),
                Loud::Error => ("✕", Role::Failed),
            };
            let lines = wrap(&format!("{mark} {}", text::clean(complaint)), inside.width);
            let shown = to_cells(lines.len()).min(ERROR_LINES).min(line.y + 1);
            let top = line.y + 1 - shown;
            clear(buf, Rect { y: top, height: shown, ..line });
            for (n, text) in (0..shown).zip(&lines) {
                // The last line takes what does not fit and is cut visibly.
                let rest = if n + 1 == shown {
                    lines.get(usize::from(n)..).unwrap_or_default().join(" ")
                } else {
                    text.clone()
                };
                put(buf, Rect { y: top + n, ..inside }, &rest, theme.style(role));
            }
        } else if let Some((said, _)) = &self.said {
            put(buf, inside, said, theme.style(Role::Text));
        } else {
            keys(buf, inside, hints, theme);
        }
    }
}

fn keys(buf: &mut Buffer, line: Rect, hints: &[(String, &str)], theme: &Theme) {
    let cells = |(key, words): &(String, &str)| to_cells(width(key) + 1 + width(words) + 3);
    let Some((last, others)) = hints.split_last() else { return };
    let mut room = line.width.saturating_sub(cells(last));
    let fitting = others.iter().take(HINTS).take_while(|hint| {
        let fits = cells(hint) <= room;
        room = room.saturating_sub(cells(hint));
        fits
    });
    let mut spans = Vec::new();
    for (key, words) in fitting.chain(std::iter::once(last)) {
        spans.push((key.as_str(), theme.style(Role::Key)));
        spans.push((" ", theme.style(Role::Dim)));
        spans.push((*words, theme.style(Role::Dim)));
        spans.push(("   ", theme.style(Role::Dim)));
    }
    spans.pop();
    put_spans(buf, line, &spans);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(bar: &StatusBar, width: u16) -> String {
        let mut buf = Buffer::empty(Rect::new(0, 0, width, 1));
        let hints = [("r".to_owned(), "restart"), ("/".to_owned(), "search"), ("?".to_owned(), "help")];
        bar.render(&mut buf, Rect::new(0, 0, width, 1), &hints, &Theme::plain());
        buf.content.iter().map(ratatui::buffer::Cell::symbol).collect::<String>().trim().to_owned()
    }

    #[test]
    fn whole_hints_drop_and_help_stays() {
        let bar = StatusBar::default();
        assert_eq!(drawn(&bar, 60), "r restart   / search   ? help");
        assert_eq!(drawn(&bar, 24), "r restart   ? help");
        assert_eq!(drawn(&bar, 12), "? help");
    }

    #[test]
    fn a_long_error_grows_upwards_and_is_cut_visibly() {
        let mut bar = StatusBar::default();
        bar.complain("one two three four five six seven".into());
        let mut buf = Buffer::empty(Rect::new(0, 0, 10, 4));
        bar.render(&mut buf, Rect::new(0, 3, 10, 1), &[], &Theme::plain());
        let row = |y| (0..10).map(|x| buf[(x, y)].symbol()).collect::<String>().trim().to_owned();
        assert_eq!([row(0), row(1), row(2), row(3)], ["", "✕ one", "two", "three f…"]);
    }

    #[test]
    fn a_message_goes_with_time_and_an_error_with_a_key() {
        let start = Instant::now();
        let mut bar = StatusBar::default();
        bar.say("saved".into(), start);
        assert_eq!(drawn(&bar, 60), "saved");
        assert!(!bar.expire(start + Duration::from_secs(1)));
        bar.complain("the engine is busy".into());
        assert!(!bar.expire(start + Duration::from_millis(4_999)));
        assert!(bar.expire(start + Duration::from_secs(5)));
        assert_eq!(drawn(&bar, 60), "✕ the engine is busy");
        bar.warn("it counts later".into());
        assert_eq!(drawn(&bar, 60), "! it counts later");
        assert!(bar.acknowledge());
        assert_eq!(bar.message(), None);
    }
}
