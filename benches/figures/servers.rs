//! Starting many servers, and taking in what they write to stderr.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use super::{Bench, fixture, median, row, usage};

const BOOT: &str = "tools=100,delay_ms=300";
const TOOLS: usize = 100;
const LINES: u64 = 2_000_000;

/// Twenty servers that take 0.3 s each, against one of them alone.
pub fn boot(bench: &Bench) {
    let alone = median((0..5).map(|_| one_alone()).collect());
    let together = |count| median((0..5).map(|_| served(bench, count)).collect::<Vec<f64>>());
    row("boot: 20 servers / slowest alone", together(20), Some(alone), "s");
    row("boot: 1 server / alone", together(1), Some(alone), "s");
}

pub fn spawn_fixture(mode: &str) -> Child {
    let exe = std::env::current_exe().expect("our own path");
    let mut command = Command::new(exe);
    command.env(fixture::VARIABLE, mode).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the fixture starts")
}

/// From the start of a server to its own tool list.
fn one_alone() -> f64 {
    let began = Instant::now();
    let mut child = spawn_fixture(BOOT);
    ask(&mut child, "initialize", 1);
    ask(&mut child, "tools/list", 2);
    let took = began.elapsed().as_secs_f64();
    drop(child.stdin.take());
    let _ = child.wait();
    took
}

fn ask(child: &mut Child, method: &str, lines: u64) {
    let stdin = child.stdin.as_mut().expect("its input");
    let arguments = json!({"name": "tool_00000", "arguments": {"lines": lines}});
    writeln!(stdin, "{}", json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": arguments})).expect("asked");
    let mut answer = Vec::new();
    let mut reader = BufReader::new(child.stdout.as_mut().expect("its output"));
    reader.read_until(b'\n', &mut answer).expect("an answer");
}

/// From the start of the program until an agent's list holds every tool of every server.
fn served(bench: &Bench, count: usize) -> f64 {
    let (config, state) = (bench.company("boot", count, BOOT), bench.state("boot"));
    let program = |words: &[&str]| {
        let mut command = Command::new(Bench::program());
        command.args(words).arg("--config").arg(&config).arg("--state-dir").arg(&state);
        command
    };
    let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a free port");
    let began = Instant::now();
    let child = program(&["serve", "--listen", &free.to_string()]).stderr(Stdio::null()).spawn().expect("it runs");
    let _running = usage::Running(child);
    while listed(free, &state.join("tokens.json")) < count * TOOLS {
        assert!(began.elapsed() < Duration::from_secs(20), "the servers do not come up");
        std::thread::sleep(Duration::from_millis(5));
    }
    began.elapsed().as_secs_f64()
}

/// The tools that an agent is shown now; 0 while nobody listens.
pub fn listed(address: SocketAddr, tokens: &Path) -> usize {
    let Ok(tokens) = fs::read_to_string(tokens) else { return 0 };
    let tokens: serde_json::Value = serde_json::from_str(&tokens).unwrap_or_default();
    let token = tokens["seats"]["default"].as_str().unwrap_or_default();
    let Ok(mut stream) = TcpStream::connect(address) else { return 0 };
    let request =
        format!("GET /tools HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n");
    let mut answer = String::new();
    let asked = stream.write_all(request.as_bytes()).and_then(|()| stream.read_to_string(&mut answer));
    asked.map_or(0, |_| answer.matches("\"inputSchema\"").count())
}

/// Two million lines of stderr at full speed, against a loop that reads them into a ring.
pub fn stderr(bench: &Bench) {
    let (floor_time, floor_cpu) = ring();
    let (time, cpu) = through_the_program(bench);
    let rate = |seconds: f64| LINES as f64 / seconds / 1e6;
    row("stderr: million lines/s (higher)", rate(time), Some(rate(floor_time)), "M/s");
    let per_100k = |cpu: Duration| cpu.as_secs_f64() * 1e3 / (LINES as f64 / 1e5);
    row("stderr: CPU per 100k lines", per_100k(cpu), Some(per_100k(floor_cpu)), "ms");
}

/// The floor: bytes to lines to the last 10,000 of them, in one thread of this process.
fn ring() -> (f64, Duration) {
    let mut child = spawn_fixture("tools=1");
    let stderr = child.stderr.take().expect("its stderr");
    let reader = std::thread::spawn(move || {
        let mut kept = std::collections::VecDeque::with_capacity(10_000);
        let mut count = 0_u64;
        for line in BufReader::with_capacity(1 << 16, stderr).split(b'\n').map_while(Result::ok) {
            if kept.len() == 10_000 {
                kept.pop_front();
            }
            kept.push_back(String::from_utf8_lossy(&line).into_owned());
            count += 1;
            if count == LINES {
                break;
            }
        }
        usage::cpu_of_this_thread()
    });
    let began = Instant::now();
    ask(&mut child, "tools/call", LINES);
    let used = reader.join().expect("read");
    let took = began.elapsed().as_secs_f64();
    drop(child.stdin.take());
    let _ = child.wait();
    (took, used)
}

/// The same lines through one `call` of the program, which keeps and shows them like the dashboard does.
fn through_the_program(bench: &Bench) -> (f64, Duration) {
    let config = bench.company("stderr", 1, "tools=1");
    let mut child = Command::new(Bench::program())
        .args(["call", "server00/tool_00000", "--approve", "--args", &json!({"lines": LINES}).to_string(), "--config"])
        .arg(config)
        .arg("--state-dir")
        .arg(bench.state("stderr"))
        .arg("--json")
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let pid = child.id();
    let mut used = Duration::ZERO;
    while child.try_wait().expect("waited for").is_none() {
        used = usage::cpu(pid).unwrap_or(used).max(used);
        std::thread::sleep(Duration::from_millis(5));
    }
    let mut report = String::new();
    std::io::Read::read_to_string(&mut child.stdout.take().expect("its output"), &mut report).expect("a report");
    let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    let millis = report["elapsed_ms"].as_f64().expect("a time");
    (millis / 1e3, used)
}
