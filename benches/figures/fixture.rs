//! The server that the figures are measured with: this executable again, told by a variable how to behave.

use std::io::{BufRead, Write};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// `tools=100,delay_ms=300,rate=50000`, or `relay=1`.
pub const VARIABLE: &str = "CREWLET_BENCH_FIXTURE";

/// One line of 100 bytes.
fn line(number: u64) -> String {
    format!("{number:010} INFO fixture request {number} done in {} ms ", number % 97) + &"x".repeat(48) + "\n"
}

/// Serves until its input is closed.
pub fn serve(mode: &str) {
    let number = |key: &str| {
        let found = mode.split(',').find_map(|part| part.strip_prefix(&format!("{key}=")));
        found.and_then(|value| value.parse::<u64>().ok()).unwrap_or(0)
    };
    if number("relay") > 0 {
        return super::calls::relay();
    }
    std::thread::sleep(Duration::from_millis(number("delay_ms")));
    let (tools, rate) = (number("tools").max(1), number("rate"));
    if rate > 0 {
        std::thread::spawn(move || flood(rate));
    }
    let stdin = std::io::stdin().lock();
    let mut stdout = std::io::stdout().lock();
    for text in stdin.lines().map_while(Result::ok) {
        let Ok(message) = serde_json::from_str::<Value>(&text) else { continue };
        let Some(id) = message.get("id") else { continue };
        let answer = match message["method"].as_str() {
            Some("initialize") => Ok(json!({
                "protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                "serverInfo": {"name": "fixture", "version": "1"},
            })),
            Some("tools/list") => Ok(json!({"tools": (0..tools).map(tool).collect::<Vec<_>>()})),
            Some("tools/call") => {
                burst(message["params"]["arguments"]["lines"].as_u64().unwrap_or(0));
                Ok(json!({"content": [{"type": "text", "text": "done"}]}))
            }
            _ => Err(json!({"code": -32601, "message": "Method not found"})),
        };
        let frame = match answer {
            Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Err(error) => json!({"jsonrpc": "2.0", "id": id, "error": error}),
        };
        if writeln!(stdout, "{frame}").and_then(|()| stdout.flush()).is_err() {
            return;
        }
    }
}

fn tool(index: u64) -> Value {
    json!({
        "name": format!("tool_{index:05}"),
        "description": format!("tool number {index}: {}", "does one thing and says what it did ".repeat(4)),
        "inputSchema": {"type": "object", "properties": {"lines": {"type": "integer"}, "path": {"type": "string"}}},
        "annotations": {"readOnlyHint": index.is_multiple_of(2), "destructiveHint": index.is_multiple_of(7)},
    })
}

/// Lines at full speed.
pub fn burst(lines: u64) {
    let mut stderr = std::io::BufWriter::with_capacity(1 << 16, std::io::stderr().lock());
    for number in 0..lines {
        if stderr.write_all(line(number).as_bytes()).is_err() {
            return;
        }
    }
    let _ = stderr.flush();
}

/// Lines at a steady rate, until nobody reads.
fn flood(rate: u64) {
    let began = Instant::now();
    let mut sent = 0;
    loop {
        let due = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX).saturating_mul(rate) / 1_000;
        let mut chunk = String::new();
        while sent < due {
            chunk.push_str(&line(sent));
            sent += 1;
        }
        if std::io::stderr().lock().write_all(chunk.as_bytes()).is_err() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}
