//! Seats with connections of their own: whose credential a call carries, what happens when one is down, and what a
//! changed role restarts.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use crewlet_tui::engine::command::{Command, Verdict};
use crewlet_tui::engine::handle::{CallReport, CallRequest, Consent, Hold};
use crewlet_tui::engine::snapshot::{CallPhase, Caller, Withdrawal};
use crewlet_tui::tool::{Arguments, Digest};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::{ALLOW, Bench, alive, document, server};

const DONE: CallPhase = CallPhase::Done { is_error: false };
const OWN: &str = "    shared: false\n";

/// What arrived: the `Authorization` of each call, and its arguments.
type Heard = Arc<Mutex<Vec<(String, String)>>>;

/// An endpoint with one tool, `who`, that notes under whose credential it is called.
async fn endpoint(heard: Heard) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(answer_all(stream, heard.clone()));
        }
    });
    url
}

async fn answer_all(stream: TcpStream, heard: Heard) {
    let mut stream = BufReader::new(stream);
    loop {
        let (mut length, mut credential, mut line) = (0, String::new(), String::new());
        loop {
            line.clear();
            if stream.read_line(&mut line).await.unwrap_or(0) == 0 {
                return;
            }
            let Some((name, value)) = line.trim_end().split_once(':') else {
                if line.trim_end().is_empty() {
                    break;
                }
                continue;
            };
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.trim().parse().unwrap(),
                "authorization" => credential.push_str(value.trim()),
                _ => {}
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).await.unwrap();
        let message: serde_json::Value = serde_json::from_slice(&body).unwrap_or_default();
        let result = match message["method"].as_str() {
            Some("initialize") => serde_json::json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}}),
            Some("tools/list") => serde_json::json!({"tools": [{"name": "who", "inputSchema": {"type": "object"}}]}),
            Some("tools/call") => {
                heard.lock().unwrap().push((credential, message["params"]["arguments"].to_string()));
                serde_json::json!({"content": []})
            }
            _ => serde_json::Value::Null,
        };
        let (status, body) = match (message.get("id"), result) {
            (None, _) => ("202 Accepted", String::new()),
            (Some(id), serde_json::Value::Null) => {
                let error = serde_json::json!({"code": -32601, "message": "no such method"});
                ("200 OK", serde_json::json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string())
            }
            (Some(id), result) => {
                ("200 OK", serde_json::json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string())
            }
        };
        let head =
            format!("HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n", body.len());
        if stream.get_mut().write_all(format!("{head}{body}").as_bytes()).await.is_err() {
            return;
        }
    }
}

fn call_as(bench: &Bench, seat: Option<&str>, tool: &str, arguments: &str) -> JoinHandle<CallReport> {
    let caller = seat.map_or(Caller::Console, |seat| Caller::Seat {
        seat: seat.into(),
        session: "s1".into(),
        client: "test".into(),
    });
    let request = CallRequest {
        caller,
        tool: tool.into(),
        arguments: Arguments::parse(arguments).unwrap(),
        consent: Consent::None,
        cancel: CancellationToken::new(),
    };
    let handle = bench.handle.clone();
    tokio::spawn(async move { handle.call(request).await.expect("a report") })
}

/// The digests of the arguments that a child was called with.
fn ledger(file: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.lines().map(|line| line.split(' ').nth(2).unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_of_two_seats_each_arrive_under_their_own_credential() {
    let heard = Heard::default();
    let url = endpoint(heard.clone()).await;
    let folder = tempfile::tempdir().unwrap();
    let file = |seat: &str| folder.path().join(seat);
    let hub = format!(
        "  - name: hub\n    transport: http\n    shared: false\n    url: {url}\n    headers: {{ authorization: nobody }}\n"
    );
    let role = |name: &str, seat: &str| {
        let env = format!("jira: {{ LEDGER: {:?} }}, hub: {{ Authorization: \"Bearer of-{seat}\" }}", file(seat));
        format!("  - name: {name}\n    mcp_env: {{ {env} }}\n")
    };
    let roles = format!("roles:\n{}{}", role("Alice", "alice"), role("Bob Builder", "bob-builder"));
    let bench = Bench::start(&document(&[server("jira", OWN), hub], &format!("{roles}{ALLOW}"))).await;
    let snapshot = bench.handle.snapshot();
    let names: Vec<_> = snapshot.servers.iter().map(|server| server.connection.to_string()).collect();
    assert_eq!(names, ["jira::Alice", "jira::Bob_Builder", "hub::Alice", "hub::Bob_Builder"]);
    let calls: Vec<_> = (0..200)
        .map(|n| {
            let seat = if n % 2 == 0 { "alice" } else { "bob-builder" };
            let tool = if n % 4 < 2 { "env" } else { "who" };
            call_as(&bench, Some(seat), tool, &format!("{{\"n\":{n}}}"))
        })
        .collect();
    for call in calls {
        let report = call.await.unwrap();
        assert_eq!(report.phase, DONE, "{}", report.message);
    }
    for (seat, rest) in [("alice", 0), ("bob-builder", 1)] {
        let mut expected: Vec<String> = (0..200)
            .filter(|n| n % 2 == rest && n % 4 < 2)
            .map(|n| Digest::of(format!("{{\"n\":{n}}}").as_bytes()).to_string())
            .collect();
        let mut got = ledger(&file(seat));
        expected.sort();
        got.sort();
        assert_eq!(got, expected, "{seat}");
    }
    let mut by_credential: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for (credential, arguments) in heard.lock().unwrap().drain(..) {
        let arguments: serde_json::Value = serde_json::from_str(&arguments).unwrap();
        by_credential.entry(credential).or_default().push(arguments["n"].as_u64().unwrap());
    }
    let credentials: Vec<&str> = by_credential.keys().map(String::as_str).collect();
    assert_eq!(credentials, ["Bearer of-alice", "Bearer of-bob-builder"]);
    assert!(by_credential["Bearer of-alice"].iter().all(|n| n % 2 == 0));
    assert!(by_credential.values().all(|calls| calls.len() == 50));
    // The person may use one seat's connection by saying whose; a name that several seats have says nothing.
    let report = call_as(&bench, None, "hub::Alice/who", "{}").await.unwrap();
    assert_eq!((report.phase, heard.lock().unwrap().last().unwrap().0.as_str()), (DONE, "Bearer of-alice"));
    let report = call_as(&bench, None, "who", "{}").await.unwrap();
    assert!(report.message.contains("say whose: hub::Alice/who, hub::Bob_Builder/who"), "{}", report.message);
    // What another seat has is as good as nothing.
    let report = call_as(&bench, Some("alice"), "hub::Bob_Builder/who", "{}").await.unwrap();
    assert!(report.message.contains("there is no tool"), "{}", report.message);
    bench.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_seat_whose_connection_is_down_gets_nobody_elses() {
    let roles = "roles:\n  - { name: Alice, mcp_env: { jira: {} } }\n  - { name: Bob, mcp_env: { jira: {} } }\n  - { name: Carol }\n";
    let bench = Bench::start(&document(&[server("wiki", ""), server("jira", OWN)], &format!("{roles}{ALLOW}"))).await;
    bench.told("seat without tools of their own: carol", 0).await;
    bench.handle.send(Command::Disable("jira::Alice".into())).unwrap();
    bench.until(|s| s.servers[1].status.word() == "disabled").await;
    for tool in ["env", "jira/env", "jira::Alice/env"] {
        let report = call_as(&bench, Some("alice"), tool, "{}").await.unwrap();
        let told = "server \"jira::Alice\" is not running: it is disabled; nothing was sent";
        assert!(report.message.contains(told), "{tool}: {}", report.message);
    }
    let hidden = call_as(&bench, Some("alice"), "wiki/env", "{}").await.unwrap();
    assert!(hidden.message.contains("there is no tool"), "{}", hidden.message);
    for (seat, connection) in [("bob", "jira::Bob"), ("carol", "wiki")] {
        let report = call_as(&bench, Some(seat), "env", "{}").await.unwrap();
        assert_eq!(report.phase, DONE, "{}", report.message);
        let id = report.call;
        let snapshot = bench.until(|s| s.calls.iter().any(|call| call.id == id && call.phase.is_over())).await;
        let call = snapshot.calls.iter().find(|call| call.id == id).unwrap();
        assert_eq!(call.connection.as_ref().map(ToString::to_string).as_deref(), Some(connection));
    }
    bench.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_role_restarts_only_its_own_connections() {
    let servers = [server("wiki", ""), server("jira", OWN), server("hub", &format!("{OWN}    tool_prefix: hub_\n"))];
    let text = |bob: &str| {
        let roles = format!("roles:\n  - {{ name: Alice, mcp_env: {{ jira: {{ K: a }}, hub: {{}} }} }}\n{bob}");
        document(&servers, &format!("{roles}{ALLOW}"))
    };
    let bob = |env: &str| format!("  - {{ name: Bob, mcp_env: {{ jira: {env}, hub: {{}} }} }}\n");
    let bench = Bench::start(&text(&bob("{ K: b }"))).await;
    let pids = bench.pids();
    assert_eq!(pids.len(), 5, "{pids:?}");
    let others = |now: &BTreeMap<String, u32>| pids.iter().all(|(name, pid)| name.contains("Bob") || now[name] == *pid);

    bench.save(&text(&bob("{ K: c }")));
    bench.told("restarted jira::Bob", 0).await;
    let old = pids["jira::Bob"];
    bench.until(|s| super::all_ready(s) && s.servers[2].peer.as_ref().is_some_and(|peer| peer.pid != Some(old))).await;
    let now = bench.pids();
    assert!(others(&now) && now["hub::Bob"] == pids["hub::Bob"] && !alive(old), "{now:?}");

    // A variable that is missing costs that connection alone, and says which and where.
    bench.save(&text(&bob("{ K: '${BOBS_KEY}' }")));
    let failed = |s: &Arc<super::Snapshot>| s.servers[2].status.word() == "failed";
    let snapshot = bench.until(failed).await;
    let why = snapshot.servers[2].status.failure().unwrap().to_string();
    assert!(why.contains("BOBS_KEY is not set (roles[1].mcp_env.jira.K, config.yaml"), "{why}");
    let report = call_as(&bench, Some("bob"), "env", "{}").await.unwrap();
    // The shared tool of that name is not a substitute.
    assert!(report.message.contains("server \"jira::Bob\" is not running"), "{}", report.message);
    assert!(others(&bench.pids()), "{:?}", bench.pids());
    bench.variables.lock().unwrap().insert("BOBS_KEY".into(), "now-it-is-set".into());
    bench.save(&format!("{}# set\n", text(&bob("{ K: '${BOBS_KEY}' }"))));
    bench.until(|s| super::all_ready(s) && s.servers.len() == 5).await;
    assert!(others(&bench.pids()));

    bench.save(&text(""));
    bench.until(|s| s.servers.len() == 3).await;
    assert!(others(&bench.pids()), "{:?}", bench.pids());
    let report = call_as(&bench, Some("bob"), "env", "{}").await.unwrap();
    assert!(report.message.contains("seat \"bob\" was stopped"), "{}", report.message);
    bench.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_approved_for_a_caller_that_left_does_not_run_under_another_credential() {
    let text = |key: &str| {
        let roles = format!("roles:\n  - {{ name: Alice, mcp_env: {{ jira: {{ K: {key}, LEDGER: LEDGER }} }} }}\n");
        document(&[server("jira", OWN)], &roles)
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ledger");
    let text = |key: &str| text(key).replace("LEDGER }", &format!("{file:?} }}"));
    let bench = Bench::start(&text("a")).await;
    let old = bench.pids()["jira::Alice"];
    let request = CallRequest {
        caller: Caller::Seat { seat: "alice".into(), session: "s1".into(), client: "test".into() },
        tool: "env".into(),
        arguments: Arguments::empty(),
        consent: Consent::None,
        cancel: CancellationToken::new(),
    };
    let hold = Hold::default();
    let mut report = bench.handle.start_call(request, hold.clone()).unwrap();
    report.let_go();
    let question = bench.until(|s| !s.approvals.is_empty()).await.approvals[0].clone();
    while !hold.leave() {
        tokio::task::yield_now().await;
    }
    bench.handle.send(Command::Decide(question.shown(), Verdict::Approve)).unwrap();
    bench.until(|s| s.approvals.is_empty() && s.calls.iter().any(|call| call.decider.is_some())).await;
    bench.save(&text("b"));
    bench.until(|s| super::all_ready(s) && s.servers[0].peer.as_ref().is_some_and(|peer| peer.pid != Some(old))).await;
    hold.come_back();
    let report = report.await.unwrap();
    assert_eq!(report.phase, CallPhase::Withdrawn(Withdrawal::ServerGone), "{}", report.message);
    assert_eq!(ledger(&file), Vec::<String>::new());
    bench.stop().await;
}
