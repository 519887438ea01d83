//! Calls of agents through the gate, beside a bare relay: HTTP in, one pipe out, nothing looked at, nothing recorded.
//!
//! What is called is a proven read, so nobody is asked; token, rules and audit are on. The relay keeps one call on its
//! pipe at a time; it is what such a call costs at least.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;

use super::servers::spawn_fixture;
use super::{Bench, fixture, median, row, usage};

/// Calls of one measurement.
const CALLS: usize = 8_000;
const CALLERS: usize = 8;

/// Time of one call, CPU of a call and calls a second, ours beside the relay's.
pub fn calls(bench: &Bench) {
    let relay = Served::relay();
    let ours = Served::ours(bench);
    let measured = |served: &Served| {
        let mut rounds: Vec<[f64; 3]> = (0..3).map(|_| served.measured()).collect();
        rounds.sort_by(|a, b| a[1].total_cmp(&b[1]));
        rounds[1]
    };
    let (floor, ours) = (measured(&relay), measured(&ours));
    row("calls: median time, one caller", ours[0], Some(floor[0]), "us");
    row("calls: CPU of one, 8 callers", ours[1], Some(floor[1]), "us");
    row("calls: a second, 8 callers (higher)", ours[2], Some(floor[2]), "/s");
}

/// Something that answers calls, and the process that does.
struct Served {
    address: SocketAddr,
    path: String,
    token: String,
    pid: u32,
    _running: usage::Running,
}

impl Served {
    fn ours(bench: &Bench) -> Self {
        let (config, state) = (bench.company("calls", 1, "tools=10"), bench.state("calls"));
        let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a free port");
        let child = Command::new(Bench::program())
            .args(["serve", "--listen", &free.to_string(), "--config"])
            .arg(&config)
            .arg("--state-dir")
            .arg(&state)
            .stderr(Stdio::null())
            .spawn()
            .expect("it runs");
        let pid = child.id();
        let running = usage::Running(child);
        let began = Instant::now();
        while super::servers::listed(free, &state.join("tokens.json")) < 10 {
            assert!(began.elapsed() < Duration::from_secs(20), "the server does not come up");
            std::thread::sleep(Duration::from_millis(5));
        }
        let tokens = std::fs::read_to_string(state.join("tokens.json")).expect("tokens");
        let tokens: serde_json::Value = serde_json::from_str(&tokens).expect("JSON");
        let token = tokens["seats"]["default"].as_str().expect("a token").to_owned();
        Self { address: free, path: "/seats/default/mcp".to_owned(), token, pid, _running: running }
    }

    /// This executable as a relay, so that its CPU is its own.
    fn relay() -> Self {
        let exe = std::env::current_exe().expect("our own path");
        let mut child = Command::new(exe)
            .env(fixture::VARIABLE, "relay=1")
            .stdout(Stdio::piped())
            .spawn()
            .expect("the relay starts");
        let mut address = String::new();
        BufReader::new(child.stdout.take().expect("its output")).read_line(&mut address).expect("its address");
        let address = address.trim().parse().expect("an address");
        let pid = child.id();
        Self { address, path: "/".to_owned(), token: String::new(), pid, _running: usage::Running(child) }
    }

    fn caller(&self) -> Caller {
        let stream = TcpStream::connect(self.address).expect("it listens");
        stream.set_nodelay(true).expect("no delay");
        let head = format!(
            "POST {} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\nAccept: \
             application/json, text/event-stream\r\nMCP-Protocol-Version: 2025-11-25\r\n",
            self.path, self.address, self.token
        );
        let mut caller = Caller { reader: BufReader::new(stream), head };
        let client = json!({"name": "bench", "version": "1"});
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
        let (head, _) = caller.post(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}));
        if let Some(session) = head.iter().find_map(|line| line.strip_prefix("mcp-session-id: ")) {
            caller.head = format!("{}Mcp-Session-Id: {session}\r\n", caller.head);
        }
        caller
    }

    /// Median microseconds of one caller's call, microseconds of CPU a call, calls a second.
    fn measured(&self) -> [f64; 3] {
        let mut alone = self.caller();
        let took = (0..CALLS / 8).map(|id| alone.call(id)).collect();
        let mut callers: Vec<Caller> = (0..CALLERS).map(|_| self.caller()).collect();
        let (before, began) = (usage::cpu(self.pid).expect("its CPU"), Instant::now());
        std::thread::scope(|scope| {
            for caller in &mut callers {
                scope.spawn(move || {
                    for id in 0..CALLS / CALLERS {
                        caller.call(id);
                    }
                });
            }
        });
        let (after, seconds) = (usage::cpu(self.pid).expect("its CPU"), began.elapsed().as_secs_f64());
        let cpu = after.saturating_sub(before).as_secs_f64() * 1e6 / CALLS as f64;
        [median(took), cpu, CALLS as f64 / seconds]
    }
}

struct Caller {
    reader: BufReader<TcpStream>,
    head: String,
}

impl Caller {
    /// Microseconds.
    fn call(&mut self, id: usize) -> f64 {
        let params = json!({"name": "tool_00002", "arguments": {"path": "a"}});
        let request = json!({"jsonrpc": "2.0", "id": id + 2, "method": "tools/call", "params": params});
        let began = Instant::now();
        let (_, body) = self.post(&request);
        assert!(body.contains("done"), "{body}");
        began.elapsed().as_secs_f64() * 1e6
    }

    fn post(&mut self, message: &serde_json::Value) -> (Vec<String>, String) {
        let body = message.to_string();
        let request = format!("{}Content-Length: {}\r\n\r\n{body}", self.head, body.len());
        self.reader.get_mut().write_all(request.as_bytes()).expect("sent");
        read(&mut self.reader).expect("an answer")
    }
}

/// The lines of a head, in lower case, and a body of a stated length.
fn read(reader: &mut impl BufRead) -> Option<(Vec<String>, String)> {
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        (reader.read_line(&mut line).ok()? > 0).then_some(())?;
        if line.trim().is_empty() {
            break;
        }
        head.push(line.trim().to_ascii_lowercase());
    }
    let length = head.iter().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok())?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((head, String::from_utf8(body).ok()?))
}

/// The bare relay: a thread for each connection, one server behind all of them.
pub fn relay() {
    let mut child = spawn_fixture("tools=10");
    let pipes = (child.stdin.take().expect("its input"), child.stdout.take().expect("its output"));
    let pipes = Arc::new(Mutex::new((pipes.0, BufReader::new(pipes.1))));
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    println!("{}", listener.local_addr().expect("its address"));
    for stream in listener.incoming().flatten() {
        let pipes = pipes.clone();
        std::thread::spawn(move || carry(stream, &pipes));
    }
    let _ = child.wait();
}

fn carry(stream: TcpStream, pipes: &Mutex<(ChildStdin, BufReader<ChildStdout>)>) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    let mut reader = BufReader::new(stream);
    loop {
        let (_, body) = read(&mut reader)?;
        let mut answer = String::new();
        {
            let mut pipes = pipes.lock().ok()?;
            pipes.0.write_all(format!("{body}\n").as_bytes()).ok()?;
            pipes.1.read_line(&mut answer).ok()?;
        }
        let reply = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{answer}", answer.len());
        reader.get_mut().write_all(reply.as_bytes()).ok()?;
    }
}
