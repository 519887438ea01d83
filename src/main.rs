//! The program: everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(crewlet_tui::cli::main(std::env::args_os()))
}
