//! `connect`: an agent on stdio, relayed to the listener.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crewlet_tui::config::expand::ProcessEnvironment;
use crewlet_tui::engine::command::Verdict;
use crewlet_tui::engine::snapshot::{CallPhase, Withdrawal};
use crewlet_tui::engine::state_dir::{RunInfo, StateDir};
use crewlet_tui::org::Seat;
use crewlet_tui::surface::relay::{self, Target};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};
use tokio::task::JoinHandle;

use crate::bench::{Bench, bench};
use crate::scripted::Reaction;

pub struct Stdio {
    input: WriteHalf<DuplexStream>,
    output: Lines<BufReader<ReadHalf<DuplexStream>>>,
    ended: JoinHandle<Result<(), String>>,
}

impl Stdio {
    pub fn start(bench: &Bench) -> Self {
        Self::at(bench, bench.state.path())
    }

    fn at(bench: &Bench, folder: &Path) -> Self {
        Self::of(bench.config.org.seat(&"release".into()).unwrap(), folder)
    }

    pub fn of(seat: &Seat, folder: &Path) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (read, write) = tokio::io::split(theirs);
        let environment = Arc::new(ProcessEnvironment);
        let target = Target { folder: folder.to_path_buf(), seat: seat.clone(), environment };
        let ended = tokio::spawn(relay::run(target, BufReader::new(read), write));
        let (read, input) = tokio::io::split(ours);
        Self { input, output: BufReader::new(read).lines(), ended }
    }

    pub async fn send(&mut self, message: Value) {
        self.input.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    pub async fn next(&mut self) -> Value {
        let line = tokio::time::timeout(Duration::from_secs(10), self.output.next_line()).await;
        serde_json::from_str(&line.expect("in time").unwrap().expect("a line")).unwrap()
    }

    pub async fn all_changed(&mut self) {
        for list in ["tools", "resources", "prompts"] {
            assert_eq!(self.next().await["method"], json!(format!("notifications/{list}/list_changed")));
        }
    }

    pub async fn ask(&mut self, method: &str, params: Value) -> Value {
        self.send(json!({"jsonrpc": "2.0", "id": method, "method": method, "params": params})).await;
        self.next().await
    }

    pub async fn initialize(&mut self) -> Value {
        let client = json!({"name": "stdio-agent", "version": "3"});
        let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
        self.ask("initialize", params).await
    }

    pub async fn close(mut self) {
        self.input.shutdown().await.unwrap();
        let ended = tokio::time::timeout(Duration::from_secs(5), self.ended).await;
        ended.expect("it ends with its input").unwrap().unwrap();
    }
}

pub fn count(listing: &Value) -> usize {
    listing["result"]["tools"].as_array().unwrap_or_else(|| panic!("{listing}")).len()
}

#[tokio::test]
async fn an_agent_on_stdio_lists_and_calls_through_the_gate() {
    let bench = bench().await;
    bench.announce();
    let mut agent = Stdio::start(&bench);
    assert_eq!(agent.initialize().await["result"]["protocolVersion"], json!("2025-06-18"));
    assert_eq!(count(&agent.ask("tools/list", json!({})).await), 4);
    let read = agent.ask("tools/call", json!({"name": "get", "arguments": {"id": "a"}})).await;
    assert_eq!(read["result"]["content"][0]["text"], json!("ok"));
    let call = json!({"name": "delete", "arguments": {}, "_meta": {"progressToken": "p"}});
    let progress = agent.ask("tools/call", call).await;
    assert_eq!(progress["params"]["progressToken"], json!("p"));
    let question = bench.question().await;
    assert!(format!("{:?}", question.caller).contains("stdio-agent 3"), "{:?}", question.caller);
    bench.decide(&question, Verdict::Approve).await;
    assert_eq!(agent.next().await["result"]["isError"], json!(false));
    assert_eq!(bench.server.ledger().len(), 2);
    agent.close().await;
    bench.until(|snapshot| snapshot.sessions.is_empty()).await;
    bench.stop().await;
}

#[tokio::test]
async fn an_agent_on_stdio_hears_of_progress_and_cancels_what_runs() {
    let bench = bench().await;
    bench.announce();
    for cancels in [true, false] {
        let before = bench.server.methods().iter().filter(|method| *method == "notifications/cancelled").count();
        let mut agent = Stdio::start(&bench);
        agent.initialize().await;
        bench.server.react([
            Reaction::Progress(vec![json!({"progress": 1, "total": 2, "message": "half"})]),
            Reaction::Silence,
        ]);
        let call = json!({"name": "get", "arguments": {}, "_meta": {"progressToken": "p"}});
        let notice = agent.ask("tools/call", call.clone()).await;
        let said = json!({"progressToken": "p", "progress": 1, "total": 2, "message": "half"});
        assert_eq!(notice["params"], said);
        assert_eq!(agent.next().await["result"]["isError"], json!(false));
        let ran = bench.server.ledger().len();
        agent.send(json!({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": call})).await;
        while bench.server.ledger().len() == ran {
            tokio::task::yield_now().await;
        }
        if cancels {
            let params = json!({"requestId": 9});
            agent.send(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})).await;
        } else {
            agent.close().await;
        }
        let told = async {
            while bench.server.methods().iter().filter(|method| *method == "notifications/cancelled").count() == before
            {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(1), told).await.expect("the server is told within a second");
    }
    bench.stop().await;
}

#[tokio::test]
async fn a_question_goes_away_with_the_agents_process() {
    let bench = bench().await;
    bench.announce();
    for cancels in [true, false] {
        let mut agent = Stdio::start(&bench);
        agent.initialize().await;
        let call = json!({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {"name": "delete"}});
        agent.send(call).await;
        bench.question().await;
        let why = if cancels { Withdrawal::Cancelled } else { Withdrawal::CallerGone };
        if cancels {
            let params = json!({"requestId": 9});
            agent.send(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})).await;
        } else {
            agent.close().await;
        }
        let ended = |phase: &CallPhase| *phase == CallPhase::Withdrawn(why);
        bench.until(|s| s.approvals.is_empty() && s.calls.iter().any(|call| ended(&call.phase))).await;
    }
    assert_eq!(bench.server.ledger(), []);
    bench.stop().await;
}

#[tokio::test]
async fn without_an_instance_it_says_so_and_comes_alive_when_one_starts() {
    let bench = bench().await;
    let mut agent = Stdio::start(&bench);
    let opened = agent.initialize().await;
    let said = opened["result"]["instructions"].as_str().unwrap();
    assert!(said.contains("crewlet-tui is not running; start the dashboard"), "{said}");
    assert_eq!(count(&agent.ask("tools/list", json!({})).await), 0);
    let call = agent.ask("tools/call", json!({"name": "get"})).await;
    assert_eq!(call["result"]["isError"], json!(true));
    assert_eq!(agent.ask("resources/list", json!({})).await["result"], json!({"resources": []}));
    let read = agent.ask("resources/read", json!({"uri": "crewlet://notes/a"})).await;
    assert!(read["error"]["message"].as_str().unwrap().contains("start the dashboard"), "{read}");
    bench.state.write_run(&RunInfo { pid: 1, address: None }).unwrap();
    // It looks again every now and then.
    let told = async {
        loop {
            let read = agent.ask("resources/read", json!({"uri": "crewlet://notes/a"})).await;
            if read["error"]["message"].as_str().unwrap().contains("runs without a listener") {
                return;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(10), told).await.expect("it says what is missing");
    bench.announce();
    agent.all_changed().await;
    assert_eq!(count(&agent.ask("tools/list", json!({})).await), 4);
    assert_eq!(agent.ask("prompts/list", json!({})).await["result"], json!({"prompts": []}));
    assert_eq!(agent.ask("server/discover", json!({})).await["error"]["code"], json!(-32601));
    bench.state.clear_run();
    bench.stop().await;
    agent.all_changed().await;
    assert_eq!(count(&agent.ask("tools/list", json!({})).await), 0);
    agent.close().await;
}

#[tokio::test]
async fn what_a_dead_instance_left_gets_no_token() {
    let bench = bench().await;
    let stranger = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    // A folder with an address in it, that nobody owns any more.
    let folder = tempfile::tempdir().unwrap();
    let state = StateDir::open(folder.path().join("state")).unwrap();
    let address = Some(stranger.local_addr().unwrap().to_string());
    state.write_run(&RunInfo { pid: 1, address }).unwrap();
    let mut agent = Stdio::at(&bench, state.path());
    agent.initialize().await;
    let call = agent.ask("tools/call", json!({"name": "get"})).await;
    assert_eq!(call["result"]["isError"], json!(true));
    agent.close().await;
    let heard = tokio::select! {
        biased;
        _ = stranger.accept() => true,
        () = tokio::task::yield_now() => false,
    };
    assert!(!heard, "the stranger was spoken to");
    bench.stop().await;
}

#[tokio::test]
async fn a_rotated_token_costs_the_relay_nothing() {
    let bench = bench().await;
    bench.announce();
    let mut agent = Stdio::start(&bench);
    agent.initialize().await;
    let seat = bench.config.org.seat(&"release".into()).unwrap();
    crewlet_tui::surface::tokens::rotate(&bench.state, seat).unwrap();
    let call = agent.ask("tools/call", json!({"name": "get"})).await;
    assert_eq!(call["result"]["isError"], json!(false), "{call}");
    assert_eq!(bench.server.ledger().len(), 1);
    agent.close().await;
    bench.stop().await;
}
