//! The dashboard as it runs, in tmux: memory, idle CPU, CPU under a flood, first paint.

use std::fmt::Write as _;
use std::fs;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use super::{Bench, median, row, usage};

const PATIENCE: Duration = Duration::from_secs(20);

/// A program in a terminal of its own, which is gone when this is dropped.
struct Pane {
    /// Each has a tmux server of its own: one that is still ending would take a new session with it.
    socket: String,
    pid: u32,
    painted: f64,
}

impl Pane {
    /// Starts a program and waits until three lines of its screen hold something.
    fn open(command: &str) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let socket = format!("crewlet-figures-{}-{number}", std::process::id());
        let mut pane = Self { socket, pid: 0, painted: 0.0 };
        let began = Instant::now();
        pane.tmux(&["new-session", "-d", "-s", "p", "-x", "120", "-y", "40", &format!("exec {command}")]);
        while pane.screen().lines().filter(|line| !line.trim().is_empty()).count() < 3 {
            assert!(began.elapsed() < PATIENCE, "{command} paints nothing");
            std::thread::sleep(Duration::from_millis(2));
        }
        pane.painted = began.elapsed().as_secs_f64();
        let pid = pane.tmux(&["display-message", "-p", "-t", "p", "#{pane_pid}"]);
        pane.pid = pid.trim().parse().expect("a pid");
        pane
    }

    fn tmux(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("tmux");
        let output = command.args(["-L", &self.socket, "-f", "/dev/null"]).args(arguments).output().expect("tmux");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn screen(&self) -> String {
        self.tmux(&["capture-pane", "-p", "-t", "p"])
    }

    fn until(&self, text: &str) {
        let began = Instant::now();
        while !self.screen().contains(text) {
            assert!(began.elapsed() < PATIENCE, "{text} does not show:\n{}", self.screen());
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Presses a key and waits for what it shows.
    fn press(&self, key: &str, text: &str) -> f64 {
        let began = Instant::now();
        self.tmux(&["send-keys", "-t", "p", key]);
        self.until(text);
        began.elapsed().as_secs_f64()
    }
}

impl Drop for Pane {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
        // The next one may want the same state folder.
        let began = Instant::now();
        while fs::exists(format!("/proc/{}", self.pid)).unwrap_or(false) && began.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(5));
        }
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
    pane.until("20 ready");
    row("memory: resident, 20 servers", usage::resident(pane.pid).expect("resident"), Some(40.0), "MiB");
}

/// Twenty quiet servers, against htop.
pub fn idle(bench: &Bench) {
    let over = Duration::from_secs(20);
    let pane = Pane::open(&dashboard(bench, "idle", 20, "tools=100"));
    pane.until("20 ready");
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
    pane.until("1 ready");
    std::thread::sleep(Duration::from_secs(2));
    let ours = usage::percent(pane.pid, Duration::from_secs(8));
    let there_and_back = || {
        let took = pane.press("2", "[2 Tools]");
        pane.press("1", "[1 Servers]");
        took
    };
    let keys: Vec<f64> = (0..9).map(|_| there_and_back()).collect();
    row("flood: memory after it", usage::resident(pane.pid).expect("resident"), None, "MiB");
    drop(pane);
    row("flood: CPU at 50k lines/s / lnav", ours, installed("lnav").then(|| follow(bench, "lnav")), "%");
    row("flood: the same / tail -f", ours, Some(follow(bench, "tail -f")), "%");
    row("flood: key to screen, median of 9", median(keys) * 1e3, None, "ms");
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
