//! The real program with a scratch folder as its home.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_crewlet-tui");

/// The program in `home`, with nothing of our own environment that it does not need.
pub fn command(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    // A folder without a configuration, so that the company is the demo where no other is named.
    command.args(arguments).current_dir(home).env_clear();
    for name in ["PATH", "LD_LIBRARY_PATH"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command.env("HOME", home).env("XDG_STATE_HOME", home).stdin(Stdio::null());
    command
}

pub fn run(home: &Path, arguments: &[&str]) -> Output {
    command(home, arguments).output().expect("it runs")
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A running `serve`, ended when the test ends.
pub struct Serving {
    pub child: Child,
    pub address: String,
}

impl Serving {
    /// Starts it, with `arguments` beside its own.
    pub fn start(home: &Path, arguments: &[&str]) -> Self {
        let mut command = command(home, &[&["serve", "--listen", "127.0.0.1:0"], arguments].concat());
        let mut child = command.stderr(Stdio::piped()).spawn().expect("it starts");
        let mut said = String::new();
        let mut stderr = child.stderr.take().unwrap();
        let mut byte = [0_u8];
        while !said.ends_with('\n') && stderr.read(&mut byte).unwrap() == 1 {
            said.push(char::from(byte[0]));
        }
        let address = said.trim().rsplit("http://").next().unwrap().to_owned();
        assert!(said.contains("serving on http://127.0.0.1:"), "{said}");
        Self { child, address }
    }

    /// Asks it to end.
    pub fn end(mut self) -> Option<i32> {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        let until = Instant::now() + Duration::from_secs(20);
        loop {
            match self.child.try_wait().unwrap() {
                Some(status) => return status.code(),
                None if Instant::now() > until => panic!("it does not end"),
                None => std::thread::yield_now(),
            }
        }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
