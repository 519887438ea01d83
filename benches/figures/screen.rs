//! The dashboard as it runs, in tmux: memory, idle CPU, CPU under a flood, first paint.

use std::fmt::Write as _;
use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::{Bench, median, row, usage};

const SOCKET: &str = "crewlet-figures";
const PATIENCE: Duration = Duration::from_secs(20);

fn tmux(arguments: &[&str]) -> String {
    let output = Command::new("tmux").args(["-L", SOCKET, "-f", "/dev/null"]).args(arguments).output().expect("tmux");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A program in a pane of its own; the pane is gone when this is dropped.
struct Pane {
    pid: u32,
    painted: f64,
}

impl Pane {
    /// Starts a program and waits until three lines of its screen hold something.
    fn open(command: &str) -> Self {
        let asked = Instant::now();
        let began = loop {
            let began = Instant::now();
            tmux(&["new-session", "-d", "-s", "p", "-x", "120", "-y", "40", &format!("exec {command}")]);
            // A server of tmux that is still ending takes a new session with it.
            if Self::is_there() {
                break began;
            }
            assert!(asked.elapsed() < PATIENCE, "tmux opens no session for {command}");
            tmux(&["kill-server"]);
        };
        while began.elapsed() < PATIENCE && Self::screen().lines().filter(|line| !line.trim().is_empty()).count() < 3 {
            std::thread::sleep(Duration::from_millis(2));
        }
        let painted = began.elapsed().as_secs_f64();
        let pid = tmux(&["display-message", "-p", "-t", "p", "#{pane_pid}"]).trim().parse().expect("a pid");
        Self { pid, painted }
    }

    fn is_there() -> bool {
        !tmux(&["display-message", "-p", "-t", "p", "#{pane_pid}"]).trim().is_empty()
    }

    fn screen() -> String {
        tmux(&["capture-pane", "-p", "-t", "p"])
    }

    fn until(text: &str) {
        let began = Instant::now();
        while !Self::screen().contains(text) {
            assert!(began.elapsed() < PATIENCE, "{text} does not show:\n{}", Self::screen());
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Drop for Pane {
    fn drop(&mut self) {
        tmux(&["kill-server"]);
    }
}

fn dashboard(bench: &Bench, name: &str, count: usize, mode: &str) -> String {
    let config = bench.company(name, count, mode);
    format!("{} --config {} --state-dir {}", Bench::program(), config.display(), bench.state(name).display())
}

fn installed(program: &str) -> bool {
    Command::new("which").arg(program).stdout(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// Twenty servers with 100 tools each.
pub fn memory(bench: &Bench) {
    let pane = Pane::open(&dashboard(bench, "memory", 20, "tools=100"));
    Pane::until("20 ready");
    row("memory: resident, 20 servers", usage::resident(pane.pid).expect("resident"), Some(40.0), "MiB");
}

/// Twenty quiet servers, against htop.
pub fn idle(bench: &Bench) {
    let over = Duration::from_secs(20);
    let pane = Pane::open(&dashboard(bench, "idle", 20, "tools=100"));
    Pane::until("20 ready");
    std::thread::sleep(Duration::from_secs(3));
    let ours = usage::percent(pane.pid, over);
    drop(pane);
    let htop = installed("htop").then(|| {
        let pane = Pane::open("htop");
        std::thread::sleep(Duration::from_secs(3));
        usage::percent(pane.pid, over)
    });
    row("idle: CPU, screen open / htop", ours, htop, "%");
}

/// One server that writes 50,000 lines a second: CPU, and how long a key takes.
pub fn flood(bench: &Bench) {
    let pane = Pane::open(&dashboard(bench, "flood", 1, "tools=1,rate=50000"));
    Pane::until("1 ready");
    std::thread::sleep(Duration::from_secs(2));
    let ours = usage::percent(pane.pid, Duration::from_secs(8));
    let keys: Vec<f64> = (0..9).map(|_| key_time()).collect();
    row("flood: memory after it", usage::resident(pane.pid).expect("resident"), None, "MiB");
    drop(pane);
    row("flood: CPU at 50k lines/s / lnav", ours, installed("lnav").then(|| follow(bench, "lnav")), "%");
    row("flood: the same / tail -f", ours, Some(follow(bench, "tail -f")), "%");
    row("flood: key to screen, median of 9", median(keys) * 1e3, None, "ms");
}

fn key_time() -> f64 {
    let wait = |key: &str, text: &str| {
        let began = Instant::now();
        tmux(&["send-keys", "-t", "p", key]);
        Pane::until(text);
        began.elapsed().as_secs_f64()
    };
    let took = wait("2", "[2 Tools]");
    wait("1", "[1 Servers]");
    took
}

/// The CPU of a program that follows a file which grows by 50,000 lines a second.
fn follow(bench: &Bench, program: &str) -> f64 {
    let path = bench.path().join("grow.log");
    let mut first = String::new();
    for number in 0..50 {
        let _ = writeln!(first, "{number:010} INFO fixture first");
    }
    fs::write(&path, first).expect("a log file");
    let pane = Pane::open(&format!("{program} {}", path.display()));
    let log = fs::File::options().append(true).open(&path).expect("the log file");
    let exe = std::env::current_exe().expect("our own path");
    let mut writer = Command::new(exe)
        .env(super::fixture::VARIABLE, "rate=50000")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .expect("a writer");
    std::thread::sleep(Duration::from_secs(2));
    let used = usage::percent(pane.pid, Duration::from_secs(8));
    drop(writer.stdin.take());
    let _ = writer.wait();
    used
}

/// From start to a painted screen, with servers that take their time, against htop.
pub fn paint(bench: &Bench) {
    let command = dashboard(bench, "paint", 20, "tools=100,delay_ms=5000");
    let ours = median((0..5).map(|_| Pane::open(&command).painted).collect());
    let htop = installed("htop").then(|| median((0..5).map(|_| Pane::open("htop").painted).collect()));
    row("paint: first screen / htop", ours, htop, "s");
}
