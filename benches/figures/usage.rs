//! What a process has used so far, from `/proc`.

use std::fs;
use std::time::{Duration, Instant};

/// CPU time of a process and its threads, children apart.
pub fn cpu(pid: u32) -> Option<Duration> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).ok()?;
    let nanos: u64 = tasks
        .flatten()
        .filter_map(|task| fs::read_to_string(task.path().join("schedstat")).ok())
        .filter_map(|text| text.split_whitespace().next()?.parse::<u64>().ok())
        .sum();
    Some(Duration::from_nanos(nanos))
}

/// Resident memory in MiB, children apart.
pub fn resident(pid: u32) -> Option<f64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse::<f64>().ok().map(|kib| kib / 1024.0)
}

/// Percent of one core that a process uses over a while.
pub fn percent(pid: u32, over: Duration) -> f64 {
    let (before, began) = (cpu(pid).unwrap_or_default(), Instant::now());
    std::thread::sleep(over);
    let used = cpu(pid).unwrap_or_default().saturating_sub(before);
    100.0 * used.as_secs_f64() / began.elapsed().as_secs_f64()
}

/// CPU time of the calling thread.
pub fn cpu_of_this_thread() -> Duration {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = text.split_whitespace().next().and_then(|nanos| nanos.parse().ok()).unwrap_or(0);
    Duration::from_nanos(nanos)
}

/// A program that is ended in order when this is dropped, also when something fails meanwhile.
pub struct Running(pub std::process::Child);

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(pid) = i32::try_from(self.0.id()).ok().and_then(rustix::process::Pid::from_raw) {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        }
        let _ = self.0.wait();
    }
}
