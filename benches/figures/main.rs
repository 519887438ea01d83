//! Figures of the built program, each beside a baseline that is measured in the same run.
//!
//! `cargo bench --bench figures [-- SECTION…]`; sections: calls, boot, stderr, memory, idle, frame, flood, paint, store. The
//! sections that watch the dashboard need `tmux`; `htop` and `lnav` are compared with where they are installed.
//! Nothing here passes or fails: it prints ratios, and people judge them.

#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    clippy::missing_panics_doc,
    reason = "a measuring program prints, and ends when it cannot measure"
)]

mod calls;
mod fixture;
mod frame;
mod screen;
mod servers;
mod store;
mod usage;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// A name and what measures it.
type Section = (&'static str, fn(&Bench));

fn main() {
    if let Some(mode) = std::env::var_os(fixture::VARIABLE) {
        fixture::serve(&mode.to_string_lossy());
        return;
    }
    let wanted: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let sections: [Section; 9] = [
        ("calls", calls::calls),
        ("boot", servers::boot),
        ("stderr", servers::stderr),
        ("memory", screen::memory),
        ("idle", screen::idle),
        ("frame", frame::frame),
        ("flood", screen::flood),
        ("paint", screen::paint),
        ("store", store::store),
    ];
    let bench = Bench::new();
    println!("{:<34} {:>14} {:>14} {:>8}", "figure", "ours", "baseline", "ratio");
    for (name, section) in sections {
        if wanted.is_empty() || wanted.iter().any(|wanted| wanted == name) {
            section(&bench);
        }
    }
}

/// A scratch folder and the paths that everything needs.
pub struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a scratch folder") }
    }

    /// The scratch folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The built program.
    pub fn program() -> &'static str {
        env!("CARGO_BIN_EXE_crewlet-tui")
    }

    /// A configuration of `count` fixture servers in this mode.
    pub fn company(&self, name: &str, count: usize, mode: &str) -> PathBuf {
        let exe = std::env::current_exe().expect("our own path");
        let mut text = "name: Bench\nmcp_servers:\n".to_owned();
        for index in 0..count {
            let variable = fixture::VARIABLE;
            // Writing to a String cannot fail.
            let _ = writeln!(text, "  - name: server{index:02}\n    command: \"{}\"", exe.display());
            let _ = writeln!(text, "    env: {{ {variable}: \"{mode}\" }}");
        }
        let path = self.path().join(format!("{name}.yaml"));
        fs::write(&path, text).expect("a configuration");
        path
    }

    /// A fresh state folder.
    pub fn state(&self, name: &str) -> PathBuf {
        let path = self.path().join(format!("state-{name}"));
        let _ = fs::remove_dir_all(&path);
        path
    }
}

/// Prints one row.
pub fn row(figure: &str, ours: f64, baseline: Option<f64>, unit: &str) {
    let shown = |value: f64| format!("{value:.3} {unit}");
    let (against, ratio) = match baseline {
        Some(value) => (shown(value), format!("{:.2}", ours / value)),
        None => ("–".to_owned(), "–".to_owned()),
    };
    println!("{figure:<34} {:>14} {against:>14} {ratio:>8}", shown(ours));
}

/// The middle of an odd number of measurements.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
