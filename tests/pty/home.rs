//! A home folder for one test, and what runs in it.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

use crate::pty::{Pty, Size};

pub const USUAL: Size = Size(120, 40);

/// A home folder; every process that was started in it can be told by it.
pub struct Home(TempDir);

impl Home {
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// With this configuration instead of the demo company.
    pub fn configured(yaml: &str) -> Self {
        let home = Self::new();
        std::fs::write(home.path().join("config.yaml"), yaml).expect("written");
        home
    }

    /// Makes a command run in here.
    pub fn furnish(&self, command: &mut Command) {
        let keep = ["PATH", "LLVM_PROFILE_FILE"].map(|name| (name, std::env::var_os(name)));
        command.env_clear().envs(keep.into_iter().filter_map(|(name, value)| Some((name, value?))));
        command.env("HOME", self.path()).env("XDG_STATE_HOME", self.path().join("state"));
        command.env("XDG_CONFIG_HOME", self.path().join("config")).env("TERM", "xterm-256color");
        command.env("TZ", "UTC").env("USER", "tester").env("PS1", "").current_dir(self.path());
    }

    /// The dashboard.
    pub fn dashboard(&self, size: Size) -> Pty {
        Pty::start(size, |command| self.furnish(command))
    }

    /// The dashboard, once a server answers and the person can work.
    pub fn ready(&self, size: Size) -> Pty {
        let pty = self.dashboard(size);
        pty.until("the demo servers", |screen| screen.contains("● 7 ready"));
        pty
    }

    /// A command without a terminal.
    pub fn command(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new("setsid");
        command.arg("--wait").arg(env!("CARGO_BIN_EXE_crewlet-tui")).args(arguments);
        self.furnish(&mut command);
        command.stdin(Stdio::null()).output().expect("it runs")
    }

    /// The processes that were started in here and live, with their command lines.
    pub fn processes(&self) -> Vec<(u32, String)> {
        let mark = format!("HOME={}", self.path().display());
        let ids = std::fs::read_dir("/proc").expect("/proc").filter_map(|entry| {
            let id: u32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
            let environment = std::fs::read(format!("/proc/{id}/environ")).ok()?;
            let ours = environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes());
            let line = std::fs::read(format!("/proc/{id}/cmdline")).ok()?;
            (ours && !line.is_empty()).then(|| (id, String::from_utf8_lossy(&line).replace('\0', " ")))
        });
        ids.collect()
    }

    /// The process of a demo server.
    pub fn server(&self, name: &str) -> Option<u32> {
        let wanted = format!("demo-server {name}");
        self.processes().into_iter().find(|(_, line)| line.contains(&wanted)).map(|(id, _)| id)
    }

    /// The names of the notes that the demo server keeps.
    pub fn notes(&self) -> Vec<String> {
        let mut folders = vec![self.path().to_path_buf()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.file_name().is_some_and(|name| name == "notes") {
                    let notes = std::fs::read_dir(path).into_iter().flatten().flatten();
                    let mut names: Vec<_> = notes.map(|note| note.file_name().to_string_lossy().into_owned()).collect();
                    names.sort();
                    return names;
                }
                if path.is_dir() {
                    folders.push(path);
                }
            }
        }
        Vec::new()
    }
}

/// Sends a signal to one process.
pub fn signal(pid: u32, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).expect("a pid")).expect("a pid");
    rustix::process::kill_process(pid, signal).expect("the process is there");
}
