//! The terminal: its modes, its title, its bell, and the only writer to stdout while the screen is up.
//!
//! Every way out gives it back as it was: [`Terminal::leave`], dropping it, and [`restore_on_panic`] for a panic of
//! the thread that draws. What is drawn is none of its business; see [`painter`] for how.

pub mod clipboard;
pub mod encode;
pub mod painter;

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::{Mutex, PoisonError};
use std::thread::ThreadId;

use crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use ratatui::layout::Rect;

use self::clipboard::Copied;
use self::painter::Painter;
use crate::text;

/// Modes that a person or a terminal can do without.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Modes {
    /// Mouse capture: off, so that text can be selected.
    pub mouse: bool,
    /// The window title.
    pub title: bool,
    /// The clipboard.
    pub clipboard: bool,
}

/// Why there is no screen.
#[derive(Debug, thiserror::Error)]
pub enum TerminalError {
    /// Input or output is a pipe, a file or nothing.
    #[error("the dashboard needs a terminal, and {0} is none; `crewlet-tui serve` runs without one")]
    NotATerminal(&'static str),
    /// The terminal failed.
    #[error("the terminal cannot be used: {0}")]
    Io(#[from] io::Error),
}

/// Who has the terminal: what a panic hook must know.
#[derive(Clone, Copy)]
struct Taken {
    thread: ThreadId,
    modes: Modes,
}

static TAKEN: Mutex<Option<Taken>> = Mutex::new(None);

/// The terminal while the screen is up.
#[derive(Debug)]
pub struct Terminal {
    painter: Painter<io::Stdout>,
    modes: Modes,
    title: String,
    up: bool,
}

/// Whether a screen is possible here.
///
/// # Errors
/// [`TerminalError::NotATerminal`]; nothing has been written.
pub fn check() -> Result<(), TerminalError> {
    if !io::stdin().is_terminal() {
        return Err(TerminalError::NotATerminal("the standard input"));
    }
    if !io::stdout().is_terminal() {
        return Err(TerminalError::NotATerminal("the standard output"));
    }
    Ok(())
}

impl Terminal {
    /// Takes the terminal over: raw mode, alternate screen, bracketed paste, no cursor.
    ///
    /// # Errors
    /// There is no terminal, or it failed; it is as it was.
    pub fn enter(modes: Modes) -> Result<Self, TerminalError> {
        check()?;
        let mut terminal = Self { painter: Painter::new(io::stdout()), modes, title: String::new(), up: false };
        terminal.take()?;
        Ok(terminal)
    }

    /// Gives the terminal back; does nothing the second time.
    ///
    /// # Errors
    /// It cannot be written to any more. Its modes are restored all the same, as far as they can be.
    pub fn leave(&mut self) -> io::Result<()> {
        // A panic hook may have been faster; giving it back twice would spoil what it printed.
        if !std::mem::take(&mut self.up) || TAKEN.lock().unwrap_or_else(PoisonError::into_inner).is_none() {
            return Ok(());
        }
        restore(self.modes)
    }

    /// Takes the terminal over again after [`Self::leave`]; the next frame is drawn whole, and keys typed in between
    /// are not ours.
    ///
    /// # Errors
    /// It failed.
    pub fn take(&mut self) -> io::Result<()> {
        *TAKEN.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(Taken { thread: std::thread::current().id(), modes: self.modes });
        self.up = true;
        let taken = enable_raw_mode().and_then(|()| self.painter.write(enter_sequence(self.modes).as_bytes()));
        if taken.is_err() {
            let _ = self.leave();
            return taken;
        }
        drop_input();
        self.painter.forget();
        let title = std::mem::take(&mut self.title);
        self.set_title(&title)
    }

    /// The size in cells.
    ///
    /// # Errors
    /// The terminal does not say.
    pub fn size() -> io::Result<Rect> {
        crossterm::terminal::size().map(|(width, height)| Rect::new(0, 0, width, height))
    }

    /// What is on the screen, and the way to change it.
    pub const fn painter(&mut self) -> &mut Painter<io::Stdout> {
        &mut self.painter
    }

    /// Rings the bell.
    ///
    /// # Errors
    /// The terminal failed.
    pub fn bell(&mut self) -> io::Result<()> {
        self.painter.write(b"\x07")
    }

    /// Hands text to the terminal's clipboard.
    ///
    /// # Errors
    /// The terminal failed.
    pub fn copy(&mut self, text: &str) -> io::Result<Copied> {
        if !self.modes.clipboard {
            return Ok(Copied::Unsupported);
        }
        let (sequence, copied) = clipboard::sequence(text);
        self.painter.write(sequence.as_bytes())?;
        Ok(copied)
    }

    /// Names the window. Writes only when the title changed.
    ///
    /// # Errors
    /// The terminal failed.
    pub fn set_title(&mut self, title: &str) -> io::Result<()> {
        if !self.modes.title || self.title == title {
            return Ok(());
        }
        title.clone_into(&mut self.title);
        self.painter.write(format!("\x1b]2;{}\x1b\\", text::visible(title)).as_bytes())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // An error here has nobody left to be told.
        let _ = self.leave();
    }
}

/// Forgets what was typed and not read yet.
pub fn drop_input() {
    let _ = rustix::termios::tcflush(io::stdin(), rustix::termios::QueueSelector::IFlush);
}

/// For a panic hook: gives the terminal back when it is the drawing thread that panics, so that the message can be
/// read. A panic of any other thread leaves the screen alone. True when there is no screen (any more) and the
/// message may be printed.
pub fn restore_on_panic() -> bool {
    let taken = *TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
    match taken {
        None => true,
        Some(taken) if taken.thread == std::thread::current().id() => {
            let _ = restore(taken.modes);
            true
        }
        Some(_) => false,
    }
}

fn enter_sequence(modes: Modes) -> String {
    let mut out = String::new();
    if modes.title {
        out.push_str("\x1b[22;2t");
    }
    // Without wrapping nothing that is drawn wider than we think runs over into the next row.
    out.push_str("\x1b[?1049h\x1b[2J\x1b[?25l\x1b[?7l\x1b[?2004h");
    if modes.mouse {
        out.push_str("\x1b[?1000h\x1b[?1006h");
    }
    out
}

fn leave_sequence(modes: Modes) -> String {
    // A frame that broke off may have left a synchronised update open.
    let mut out = String::from("\x1b[?2026l\x1b[0m");
    if modes.mouse {
        out.push_str("\x1b[?1006l\x1b[?1000l");
    }
    out.push_str("\x1b[?2004l\x1b[?7h\x1b[?1049l\x1b[?25h");
    if modes.title {
        out.push_str("\x1b[23;2t");
    }
    out
}

fn restore(modes: Modes) -> io::Result<()> {
    *TAKEN.lock().unwrap_or_else(PoisonError::into_inner) = None;
    let mut out = io::stdout();
    let written = out.write_all(leave_sequence(modes).as_bytes()).and_then(|()| out.flush());
    if modes.mouse {
        drop_input();
    }
    disable_raw_mode().and(written)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_switched_on_is_switched_off() {
        for modes in [Modes::default(), Modes { mouse: true, title: true, clipboard: true }] {
            let (enter, leave) = (enter_sequence(modes), leave_sequence(modes));
            for mode in ["?1049", "?2004", "?1000", "?1006"] {
                assert_eq!(
                    enter.contains(&format!("\x1b[{mode}h")),
                    leave.contains(&format!("\x1b[{mode}l")),
                    "{mode}"
                );
            }
            assert!(enter.contains("\x1b[?25l") && leave.contains("\x1b[?25h"));
            assert!(enter.contains("\x1b[?7l") && leave.contains("\x1b[?7h"));
            assert_eq!(enter.contains("\x1b[22;2t"), leave.contains("\x1b[23;2t"));
        }
    }

    #[test]
    fn the_mouse_is_left_to_the_terminal_unless_asked_for() {
        assert!(!enter_sequence(Modes { title: true, ..Modes::default() }).contains("?1000"));
    }

    #[test]
    fn a_panic_without_a_screen_may_be_printed() {
        assert!(restore_on_panic());
    }
}
