//! The command line: what can be asked for, and the exit codes. Each command has a file of its own.

pub mod audit;
mod call;
mod check;
mod connect;
mod db;
mod prompt;
mod skill;
mod token;
mod tools;

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;

use clap::{Args, CommandFactory, Parser, Subcommand};

pub(crate) use call::attended;

use crate::engine::connection::watchdog;
use crate::run;

/// How the program ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exit {
    /// All is well.
    Fine,
    /// Something failed: a tool's own error, an unknown tool, a server that is down, a timeout.
    Failed,
    /// Wrong usage, or a screen was asked for without a terminal.
    Usage,
    /// Refused or denied by policy, a person or `--read-only`.
    Refused,
    /// The configuration is invalid.
    Config,
    /// Ended by a signal: 128 and its number.
    Signal(u8),
}

impl Exit {
    /// The number for the shell.
    pub const fn code(self) -> u8 {
        match self {
            Self::Fine => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Refused => 3,
            Self::Config => 4,
            Self::Signal(number) => 128_u8.saturating_add(number),
        }
    }
}

/// Stands below the help of the program.
const FIRST: &str = "Without a command the dashboard starts, with the built-in demo company until there is a \
                     config.yaml. In it `?` names every key.";

/// Watch your MCP servers, see what each tool is known to do, and decide before a destructive call runs.
#[derive(Parser, Debug)]
#[command(name = "crewlet-tui", version, max_term_width = 100, after_help = FIRST)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Option<Command>,
}

/// Options that stand before or after a command.
#[derive(Args, Debug, Clone)]
pub struct Global {
    /// The configuration file [default: `$CREWLET_CONFIG`, ./config.yaml, `$XDG_CONFIG_HOME/crewlet-tui/config.yaml`,
    /// else the built-in demo company]
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Theme: midnight, daylight, contrast, plain16, or a file of your own in the themes folder
    #[arg(long, global = true, value_name = "NAME")]
    pub theme: Option<String>,
    /// Where agents reach this instance over HTTP, such as 127.0.0.1:7420, or off [default: `engine.listen`]
    #[arg(long, global = true, value_name = "ADDR|off")]
    pub listen: Option<String>,
    /// The folder for audit, logs and remembered names
    #[arg(long, global = true, value_name = "DIR")]
    pub state_dir: Option<PathBuf>,
    /// Log everything, every line of every server's stderr included
    #[arg(long, global = true)]
    pub debug: bool,
    /// Look, but do not decide, call, restart or change anything
    #[arg(long, global = true)]
    pub read_only: bool,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Validate the configuration; with --connect also start every server and list its tools
    Check {
        /// Start every server, list its tools and report each
        #[arg(long)]
        connect: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the catalogue: every tool with its class and hints
    Tools {
        /// Only what this seat holds
        #[arg(long, value_name = "SEAT")]
        seat: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Call one tool, through the same gate as everybody
    Call(CallArgs),
    /// Run the engine and its surfaces without a screen; what a person would have to decide is refused
    Serve,
    /// Be an MCP server on stdio that relays to the running instance, for agents that only speak stdio
    Connect {
        /// The seat that the agent drives
        #[arg(long, value_name = "SEAT")]
        seat: String,
        /// Print lines to paste into agents instead
        #[arg(long)]
        help_agents: bool,
    },
    /// A seat's bearer token
    Token {
        #[command(subcommand)]
        command: TokenCommand,
    },
    /// Read the trail of calls
    Audit {
        #[command(subcommand)]
        command: AuditCommand,
    },
    /// A seat's skills, also while the dashboard runs
    Skill {
        #[command(subcommand)]
        command: skill::SkillCommand,
    },
    /// Back up the file of the company's own tracker and pages
    Db {
        #[command(subcommand)]
        command: DbCommand,
    },
    /// Print the JSON Schema of the configuration, for editors
    Schema,
    /// Print shell completions
    Completions {
        /// bash, zsh, fish, elvish or powershell
        shell: clap_complete::Shell,
    },
    /// Ends the children of a program that died without a word
    #[command(name = watchdog::COMMAND, hide = true)]
    Watchdog,
    /// Run one of the built-in demo servers on stdio
    DemoServer {
        /// notes, inventory, weather, broken or chatty
        name: String,
        /// The folder that its tools work on
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
    },
}

/// What can be done with a token.
#[derive(Subcommand, Debug)]
enum TokenCommand {
    /// Print a seat's token
    Show {
        /// The seat's handle
        seat: String,
    },
    /// Make a new token for a seat and print it; the old one stops counting at once
    Rotate {
        /// The seat's handle
        seat: String,
    },
}

/// What can be done with the store.
#[derive(Subcommand, Debug)]
enum DbCommand {
    /// Copy the tracker and the pages to a file, also while the dashboard runs
    Backup {
        /// The copy; it must not exist yet
        file: PathBuf,
    },
}

/// Ways to read the trail.
#[derive(Subcommand, Debug)]
enum AuditCommand {
    /// Show the last records
    Tail {
        /// How many
        #[arg(short = 'n', long, default_value_t = 20)]
        lines: usize,
        /// Go on with each new record
        #[arg(short, long)]
        follow: bool,
        /// Print the records as they stand in the file: a JSON object a line
        #[arg(long)]
        json: bool,
    },
    /// Check the hash chain and name the first broken line
    Verify,
    /// Write all records as JSON lines
    Export {
        /// Only from then on: 2026-11-30, a full RFC 3339 time, or an age such as 90m, 2h, 7d
        #[arg(long, value_name = "WHEN")]
        since: Option<String>,
    },
    /// Tell one call's whole story in plain words
    Why {
        /// The call's name, or the start of it
        call: String,
    },
}

/// Arguments of `call`.
#[derive(Args, Debug, Clone)]
pub struct CallArgs {
    /// A catalogue name, or `server/raw_name`, which starts only that server
    pub tool: String,
    /// The arguments: a JSON object, @FILE, or - for standard input [default: {}]
    #[arg(long, value_name = "JSON|@FILE|-")]
    pub args: Option<String>,
    /// Call as this seat
    #[arg(long, value_name = "SEAT")]
    pub seat: Option<String>,
    /// You consent to this one call: satisfies a policy of `ask`
    #[arg(long)]
    pub approve: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Runs the program and gives its exit code.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    run::prepare_process();
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are no errors; clap knows which stream each belongs to.
            let _ = error.print();
            return u8::try_from(error.exit_code()).unwrap_or(2);
        }
    };
    let global = cli.global;
    let exit = match cli.command {
        None => run::dashboard(&global),
        Some(Command::Check { connect, json }) => check::run(&global, connect, json),
        Some(Command::Tools { seat, json }) => tools::run(&global, seat.as_deref(), json),
        Some(Command::Call(call)) => call::run(&global, &call),
        Some(Command::Serve) => run::serve(&global),
        Some(Command::Connect { seat, help_agents: false }) => connect::run(&global, &seat),
        Some(Command::Connect { seat, help_agents: true }) => connect::help(&global, &seat),
        Some(Command::Token { command }) => token::run(&global, &command),
        Some(Command::Audit { command }) => audit_command(&global, &command),
        Some(Command::Skill { command }) => skill::run(&global, &command),
        Some(Command::Db { command: DbCommand::Backup { file } }) => db::backup(&global, &file),
        Some(Command::Schema) => {
            print_json(&crate::config::schema());
            Exit::Fine
        }
        Some(Command::Completions { shell }) => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "crewlet-tui", &mut script);
            print(&String::from_utf8_lossy(&script));
            Exit::Fine
        }
        Some(Command::Watchdog) => {
            watchdog::run();
            Exit::Fine
        }
        Some(Command::DemoServer { name, dir }) => return demo_server(&name, dir),
    };
    exit.code()
}

fn demo_server(name: &str, dir: Option<PathBuf>) -> u8 {
    match crate::demo::run(name, dir) {
        Ok(code) => u8::from(code != std::process::ExitCode::SUCCESS),
        Err(error) => {
            complain(&error.to_string());
            Exit::Failed.code()
        }
    }
}

fn audit_command(global: &Global, command: &AuditCommand) -> Exit {
    let dir = match run::state_folder(global) {
        Ok(dir) => dir,
        Err((exit, problem)) => {
            complain(&problem);
            return exit;
        }
    };
    let mut out = std::io::stdout().lock();
    let done = match command {
        AuditCommand::Tail { lines, follow, json } => {
            let format = if *json { audit::Format::Json } else { audit::Format::Words };
            if *follow {
                audit::follow(&dir, *lines, format, &mut out)
            } else {
                audit::tail(&dir, *lines, format, &mut out)
            }
        }
        AuditCommand::Verify => audit::verify(&dir, &mut out),
        AuditCommand::Export { since } => {
            let since = since.as_deref().map(|since| audit::since(since, crate::clock::Timestamp::now())).transpose();
            since.and_then(|since| audit::export(&dir, since, &mut out))
        }
        AuditCommand::Why { call } => audit::why(&dir, call, &mut out),
    };
    match done {
        Ok(0) => Exit::Fine,
        Ok(_) => Exit::Failed,
        Err(error) => {
            complain(&error.to_string());
            Exit::Failed
        }
    }
}

/// Writes to standard output. A reader that has gone (`| head`) is no error.
pub(crate) fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Writes a JSON document. Characters that a terminal would not draw as they stand are written as JSON escapes, which
/// mean the same.
pub(crate) fn print_json(document: &serde_json::Value) {
    let mut text = String::new();
    for c in format!("{document:#}\n").chars() {
        if c != '\n' && crate::text::is_hidden(c) {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                // Writing to a String cannot fail.
                let _ = write!(text, "\\u{unit:04x}");
            }
        } else {
            text.push(c);
        }
    }
    print(&text);
}

/// Writes foreign text: to a terminal in visible form, line by line, elsewhere as it is.
pub(crate) fn print_foreign(text: &str) {
    let end = if text.ends_with('\n') { "" } else { "\n" };
    if std::io::stdout().is_terminal() {
        let lines: Vec<String> = text.lines().map(visible_but_tabs).collect();
        print(&format!("{}\n", lines.join("\n")));
    } else {
        print(&format!("{text}{end}"));
    }
}

fn visible_but_tabs(line: &str) -> String {
    let parts: Vec<_> = line.split('\t').map(crate::text::visible).collect();
    parts.join("\t")
}

/// Writes one diagnostic line to standard error.
pub(crate) fn complain(text: &str) {
    let mut err = std::io::stderr().lock();
    let _ = writeln!(err, "{text}");
}
