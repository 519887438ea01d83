//! The real binary on a pseudo-terminal: keys in, a parsed screen and every raw byte out.
#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test that cannot go on has failed")]

use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcgetattr, tcsetwinsize};
use vt100::Screen;

/// How long a condition may take to hold.
const PATIENCE: Duration = Duration::from_secs(30);

struct Seen {
    screen: vt100::Parser,
    raw: Vec<u8>,
    closed: bool,
}

/// A program on a terminal of its own.
pub struct Pty {
    child: Child,
    master: Arc<OwnedFd>,
    seen: Arc<(Mutex<Seen>, Condvar)>,
}

/// How a program ended.
pub struct End {
    pub status: ExitStatus,
    pub raw: Vec<u8>,
    pub modes: String,
}

/// Columns and rows.
#[derive(Clone, Copy)]
pub struct Size(pub u16, pub u16);

impl Pty {
    /// Starts the binary. `prepare` adds arguments and environment.
    pub fn start(size: Size, prepare: impl FnOnce(&mut Command)) -> Self {
        Self::run(size, &[env!("CARGO_BIN_EXE_crewlet-tui")], prepare)
    }

    /// Starts a program, for those that start the binary in their turn.
    pub fn run(size: Size, program: &[&str], prepare: impl FnOnce(&mut Command)) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).expect("a pseudo-terminal");
        grantpt(&master).expect("granted");
        unlockpt(&master).expect("unlocked");
        let name = ptsname(&master, Vec::new()).expect("its name");
        let slave = File::options()
            .read(true)
            .write(true)
            .open(Path::new(name.to_str().expect("an ASCII path")))
            .expect("the other side");
        set_size(&master, size);
        // setsid --ctty makes the terminal the controlling one, as a shell would.
        let mut command = Command::new("setsid");
        command.args(["--ctty", "--wait"]).args(program);
        command.env("TERM", "xterm-256color").env_remove("NO_COLOR").env_remove("CREWLET_CONFIG");
        prepare(&mut command);
        let stdio = || Stdio::from(slave.try_clone().expect("a copy"));
        let child = command.stdin(stdio()).stdout(stdio()).stderr(stdio()).spawn().expect("the binary starts");
        drop(slave);
        let master = Arc::new(master);
        let parser = vt100::Parser::new(cells(size.1), cells(size.0), 0);
        let seen = Arc::new((Mutex::new(Seen { screen: parser, raw: Vec::new(), closed: false }), Condvar::new()));
        let (reading, shared) = (master.clone(), seen.clone());
        std::thread::spawn(move || read_all(&reading, &shared));
        Self { child, master, seen }
    }

    /// Types these bytes.
    pub fn keys(&self, keys: &str) {
        let copy = self.master.try_clone().expect("a copy");
        File::from(copy).write_all(keys.as_bytes()).expect("typed");
    }

    /// Changes the terminal's size, as a window does.
    pub fn resize(&self, size: Size) {
        self.seen
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .screen
            .screen_mut()
            .set_size(cells(size.1), cells(size.0));
        set_size(&self.master, size);
    }

    /// Waits until the screen's text satisfies `holds` and returns it.
    pub fn until(&self, what: &str, holds: impl Fn(&str) -> bool) -> String {
        self.until_seen(what, |seen| {
            let text = seen.screen.screen().contents();
            holds(&text).then_some(text)
        })
    }

    /// Waits until the screen shows this text.
    pub fn shows(&self, text: &str) -> String {
        self.until(text, |screen| screen.contains(text))
    }

    /// Every byte that was written so far.
    pub fn raw(&self) -> Vec<u8> {
        self.seen.0.lock().unwrap_or_else(PoisonError::into_inner).raw.clone()
    }

    /// Types `keys` over and over, one every `pause`, until the screen satisfies `holds`.
    pub fn keep_typing(&self, keys: &[&str], pause: Duration, holds: impl Fn(&Screen) -> bool) {
        let (seen, changed) = &*self.seen;
        let deadline = Instant::now() + PATIENCE;
        for key in keys.iter().cycle() {
            self.keys(key);
            let next = Instant::now() + pause;
            let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
            loop {
                if holds(seen.screen.screen()) {
                    return;
                }
                let left = next.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    break;
                }
                seen = changed.wait_timeout(seen, left).expect("seen").0;
            }
            assert!(Instant::now() < deadline, "typed in vain; the screen:\n{}", seen.screen.screen().contents());
        }
    }

    /// Waits until the parsed screen, styles included, satisfies `holds`.
    pub fn until_screen(&self, what: &str, holds: impl Fn(&Screen) -> bool) {
        self.until_seen(what, |seen| holds(seen.screen.screen()).then_some(()));
    }

    /// Waits for something that is not on the screen; looks a hundred times a second.
    pub fn until_true<T>(&self, what: &str, mut found: impl FnMut() -> Option<T>) -> T {
        let (seen, changed) = &*self.seen;
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(found) = found() {
                return found;
            }
            let seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
            assert!(
                Instant::now() < deadline,
                "waited for {what} in vain; the screen:\n{}",
                seen.screen.screen().contents()
            );
            let _ = changed.wait_timeout(seen, Duration::from_millis(10)).expect("seen");
        }
    }

    /// Waits until the bytes that were written satisfy `holds`.
    pub fn until_raw(&self, what: &str, holds: impl Fn(&[u8]) -> bool) {
        self.until_seen(what, |seen| holds(&seen.raw).then_some(()));
    }

    /// The terminal's modes, as `stty` sees them.
    pub fn modes(&self) -> String {
        let modes = tcgetattr(&*self.master).expect("modes");
        format!("{:?} {:?} {:?}", modes.input_modes, modes.output_modes, modes.local_modes)
    }

    /// The process id of what was started.
    pub fn pid(&self) -> u32 {
        // A child that leads no process group: setsid does not fork and becomes the program.
        self.child.id()
    }

    /// Waits for the end and returns how it ended, with everything that was written and the modes that are left.
    pub fn end(mut self) -> End {
        let deadline = Instant::now() + PATIENCE;
        self.until_seen("the end", |seen| seen.closed.then_some(()));
        while Instant::now() < deadline {
            if let Some(status) = self.child.try_wait().expect("waited for") {
                return End { status, raw: self.raw(), modes: self.modes() };
            }
            std::thread::yield_now();
        }
        panic!("it does not end");
    }

    fn until_seen<T>(&self, what: &str, holds: impl Fn(&Seen) -> Option<T>) -> T {
        let (seen, changed) = &*self.seen;
        let deadline = Instant::now() + PATIENCE;
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(found) = holds(&seen) {
                return found;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "waited for {what} in vain; the screen:\n{}", seen.screen.screen().contents());
            seen = changed.wait_timeout(seen, left).expect("seen").0;
        }
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        // Only a failed test gets here with a running child.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The look of the first cell of `text` on the screen: colours, bold, dim, reversed.
pub fn look(screen: &Screen, text: &str) -> Option<String> {
    let (rows, columns) = screen.size();
    let (rows, columns) = (rows.get(), columns.get());
    let found = (0..rows).find_map(|row| {
        (0..columns).find_map(|column| {
            let mut rest = text;
            for at in column..columns {
                let content = screen.cell(row, at)?.contents();
                let content = if content.is_empty() { " " } else { content };
                let Some(after) = rest.strip_prefix(content) else { break };
                rest = after;
                if rest.is_empty() {
                    return screen.cell(row, column);
                }
            }
            None
        })
    })?;
    let (fg, bg) = (found.fgcolor(), found.bgcolor());
    Some(format!("{fg:?} {bg:?} {} {} {}", found.bold(), found.dim(), found.inverse()))
}

fn cells(number: u16) -> NonZeroU16 {
    NonZeroU16::new(number).expect("a terminal has cells")
}

fn set_size(master: &OwnedFd, Size(columns, rows): Size) {
    let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(master, size).expect("resized");
}

fn read_all(master: &OwnedFd, shared: &(Mutex<Seen>, Condvar)) {
    let mut source = File::from(master.try_clone().expect("a copy"));
    let mut buffer = vec![0; 65536];
    loop {
        // The other side's last descriptor closing is an error on Linux, not an end of file.
        let count = source.read(&mut buffer).unwrap_or(0);
        let mut seen = shared.0.lock().unwrap_or_else(PoisonError::into_inner);
        if count == 0 {
            seen.closed = true;
            shared.1.notify_all();
            return;
        }
        seen.raw.extend_from_slice(&buffer[..count]);
        seen.screen.process(&buffer[..count]);
        shared.1.notify_all();
    }
}
