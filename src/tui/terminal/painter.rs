//! What is on the screen, and how to change it with as little as possible: two buffers and their difference.
//!
//! A frame that equals the last one writes nothing. A frame of another size, and the first one after
//! [`Painter::forget`], is drawn whole.

use std::io::{self, Write};

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::encode::encode_changes;

/// Begin and end of a synchronised update; terminals that do not know it ignore it.
const BEGIN: &[u8] = b"\x1b[?2026h";
const END: &[u8] = b"\x1b[?2026l";

/// See the module.
#[derive(Debug)]
pub struct Painter<W> {
    out: W,
    shown: Buffer,
    next: Buffer,
    bytes: Vec<u8>,
    whole: bool,
}

impl<W: Write> Painter<W> {
    /// A painter over an unknown screen.
    pub fn new(out: W) -> Self {
        let empty = Buffer::empty(Rect::ZERO);
        Self { out, shown: empty.clone(), next: empty, bytes: Vec::new(), whole: true }
    }

    /// Draws one frame of the given area. True when something changed and was written.
    ///
    /// # Errors
    /// The terminal failed.
    pub fn draw(&mut self, area: Rect, render: impl FnOnce(&mut Buffer)) -> io::Result<bool> {
        self.next.resize(area);
        self.next.reset();
        render(&mut self.next);
        self.bytes.clear();
        self.bytes.extend_from_slice(BEGIN);
        let whole = std::mem::take(&mut self.whole) || self.shown.area != area;
        if whole {
            self.shown.resize(area);
            self.shown.reset();
            self.bytes.extend_from_slice(b"\x1b[0m\x1b[2J");
        }
        let before = self.bytes.len();
        encode_changes(&mut self.bytes, &self.shown, &self.next);
        std::mem::swap(&mut self.shown, &mut self.next);
        if self.bytes.len() == before && !whole {
            return Ok(false);
        }
        self.bytes.extend_from_slice(END);
        self.out.write_all(&self.bytes)?;
        self.out.flush()?;
        Ok(true)
    }

    /// The next frame is drawn whole: somebody else may have written to the terminal.
    pub const fn forget(&mut self) {
        self.whole = true;
    }

    /// Writes something that is not part of a frame.
    ///
    /// # Errors
    /// The terminal failed.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::style::Style;

    fn screen(bytes: &[u8], width: u16) -> String {
        let size = |cells| std::num::NonZeroU16::new(cells).unwrap();
        let mut parser = vt100::Parser::new(size(3), size(width), 0);
        parser.process(bytes);
        parser.screen().contents()
    }

    #[test]
    fn an_unchanged_frame_writes_nothing() {
        let mut painter = Painter::new(Vec::new());
        let area = Rect::new(0, 0, 10, 3);
        let draw = |text: &'static str| move |buf: &mut Buffer| buf.set_string(0, 1, text, Style::new());
        assert!(painter.draw(area, draw("hello")).unwrap());
        assert_eq!(screen(&painter.out, 10), "\nhello");
        let written = painter.out.len();
        assert!(!painter.draw(area, draw("hello")).unwrap());
        assert_eq!(painter.out.len(), written);
        assert!(painter.draw(area, draw("help!")).unwrap());
        assert_eq!(screen(&painter.out, 10), "\nhelp!");
    }

    #[test]
    fn another_size_and_a_forgotten_screen_are_drawn_whole() {
        let mut painter = Painter::new(Vec::new());
        let text = |buf: &mut Buffer| _ = buf.set_stringn(0, 0, "abcdef", usize::from(buf.area.width), Style::new());
        painter.draw(Rect::new(0, 0, 10, 3), text).unwrap();
        painter.out.clear();
        assert!(painter.draw(Rect::new(0, 0, 4, 3), text).unwrap());
        assert_eq!(screen(&painter.out, 4), "abcd");
        painter.out.clear();
        painter.forget();
        assert!(painter.draw(Rect::new(0, 0, 4, 3), text).unwrap());
        assert_eq!(screen(&painter.out, 4), "abcd");
        assert!(painter.draw(Rect::ZERO, |_| ()).is_ok());
    }
}
