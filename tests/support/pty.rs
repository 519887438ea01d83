//! The real binary on a pseudo-terminal: keys in, a parsed screen and every raw byte out.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

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

/// Columns and rows.
#[derive(Clone, Copy)]
pub struct Size(pub u16, pub u16);

impl Pty {
    /// Starts the binary. `prepare` adds arguments and environment.
    pub fn start(size: Size, prepare: impl FnOnce(&mut Command)) -> Self {
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
        command.args(["--ctty", "--wait", env!("CARGO_BIN_EXE_crewlet-tui")]);
        command.env("TERM", "xterm-256color").env_remove("NO_COLOR").env_remove("CREWLET_CONFIG");
        prepare(&mut command);
        let stdio = || Stdio::from(slave.try_clone().expect("a copy"));
        let child = command.stdin(stdio()).stdout(stdio()).stderr(stdio()).spawn().expect("the binary starts");
        drop(slave);
        let master = Arc::new(master);
        let parser = vt100::Parser::new(size.1, size.0, 0);
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
        self.seen.0.lock().expect("seen").screen.screen_mut().set_size(size.1, size.0);
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
        self.seen.0.lock().expect("seen").raw.clone()
    }

    /// The process id of the binary itself.
    pub fn pid(&self) -> u32 {
        let children = format!("/proc/{0}/task/{0}/children", self.child.id());
        let text = std::fs::read_to_string(children).expect("the children of setsid");
        // Without a fork setsid has become the program.
        text.split_whitespace().next().map_or(self.child.id(), |pid| pid.parse().expect("a pid"))
    }

    /// Waits for the end and returns how it ended, with everything that was written.
    pub fn end(mut self) -> (ExitStatus, Vec<u8>) {
        let deadline = Instant::now() + PATIENCE;
        self.until_seen("the end", |seen| seen.closed.then_some(()));
        while Instant::now() < deadline {
            if let Some(status) = self.child.try_wait().expect("waited for") {
                return (status, self.raw());
            }
            std::thread::yield_now();
        }
        panic!("it does not end");
    }

    fn until_seen<T>(&self, what: &str, holds: impl Fn(&Seen) -> Option<T>) -> T {
        let (seen, changed) = &*self.seen;
        let deadline = Instant::now() + PATIENCE;
        let mut seen = seen.lock().expect("seen");
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

fn set_size(master: &OwnedFd, Size(columns, rows): Size) {
    let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(master, size).expect("resized");
}

fn read_all(master: &OwnedFd, shared: &(Mutex<Seen>, Condvar)) {
    let mut source = File::from(master.try_clone().expect("a copy"));
    let mut buffer = [0; 65536];
    loop {
        // The other side's last descriptor closing is an error on Linux, not an end of file.
        let count = source.read(&mut buffer).unwrap_or(0);
        let mut seen = shared.0.lock().expect("seen");
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
