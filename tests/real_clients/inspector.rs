//! The inspector's command line over each way in: it lists, reads, waits for a person, and may be killed meanwhile.

use std::process::{Output, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crewlet_tui::engine::command::Verdict;
use crewlet_tui::engine::snapshot::{ApprovalView, CallPhase, CallView, Withdrawal};
use serde_json::{Value, json};
use tokio::process::{Child, Command};

use crate::Clients;
use crate::bench::{Bench, CONFIG, bench};
use crate::program::{PROGRAM, text};
use crate::scripted::Reaction;

/// How the inspector comes in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    /// Over HTTP, in this era of the protocol.
    Http(&'static str),
    /// Over the program's own `connect`, on stdio.
    Connect,
}

const WAYS: [Way; 3] = [Way::Http("legacy"), Way::Http("modern"), Way::Connect];

struct Inspector<'t> {
    clients: &'t Clients,
    bench: &'t Bench,
    way: Way,
}

impl Inspector<'_> {
    fn start(&self, method: &[&str]) -> Child {
        let mut command = Command::new(self.clients.program("mcp-inspector"));
        command.args(["--cli", "--format", "json"]).args(method);
        match self.way {
            Way::Http(era) => {
                let token = format!("Authorization: Bearer {}", self.bench.token("release"));
                let url = self.bench.url("/seats/release/mcp");
                command.args(["--transport", "http", "--server-url", &url, "--header", &token, "--protocol-era", era]);
            }
            Way::Connect => {
                let config = self.clients.home().join("config.yaml");
                std::fs::write(&config, CONFIG).expect("a config");
                command.arg("--").arg(PROGRAM).arg("--config").arg(config);
                command.arg("--state-dir").arg(self.bench.state.path()).args(["connect", "--seat", "release"]);
            }
        }
        command.env_clear().envs(self.clients.environment()).current_dir(self.clients.home()).kill_on_drop(true);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("the inspector starts")
    }

    fn call(&self, tool: &str) -> Child {
        self.start(&["--method", "tools/call", "--tool-name", tool, "--tool-arg", "id=a"])
    }

    async fn ask(&self, method: &[&str]) -> Value {
        self.said(self.start(method)).await["result"].clone()
    }

    /// What it printed: its result, or its error.
    async fn said(&self, child: Child) -> Value {
        let Output { stdout, stderr, .. } = child.wait_with_output().await.expect("it ends");
        let parsed = serde_json::from_slice(&stdout).or_else(|_| serde_json::from_slice(&stderr));
        parsed.unwrap_or_else(|_| panic!("{:?}: {}{}", self.way, text(&stdout), text(&stderr)))
    }

    /// The question that its call of the destructive tool raises.
    async fn asks(&self) -> (Child, Arc<ApprovalView>) {
        let child = self.call("delete");
        let question = self.bench.question().await;
        let caller = format!("{:?}", question.caller);
        assert!(caller.contains("inspector-cli 2.") && caller.contains("release"), "{:?}: {caller}", self.way);
        (child, question)
    }
}

#[tokio::test]
async fn the_inspector_lists_reads_and_waits_for_a_person() {
    let Some(clients) = Clients::find() else { return };
    let bench = bench().await;
    bench.announce();
    for way in WAYS {
        let inspector = Inspector { clients: &clients, bench: &bench, way };
        let before = bench.server.ledger().len();
        let listed = inspector.ask(&["--method", "tools/list"]).await;
        let names: Vec<&str> =
            listed["tools"].as_array().unwrap().iter().map(|t| t["name"].as_str().unwrap()).collect();
        assert!(names.len() == 4 && names.contains(&"get") && names.contains(&"delete"), "{way:?}: {names:?}");
        // The tool says what its answers look like, and the inspector holds it to that.
        let answer = json!({"content": [{"type": "text", "text": "ok"}], "structuredContent": {"note": "a"}});
        bench.server.react([Reaction::Result(answer)]);
        let read = inspector.said(inspector.call("get")).await;
        assert_eq!(read["result"]["content"][0]["text"], json!("ok"), "{way:?}: {read}");

        let (child, question) = inspector.asks().await;
        assert_eq!(bench.server.ledger().len(), before + 1, "{way:?}: nothing runs before the decision");
        bench.decide(&question, Verdict::Approve).await;
        let done = inspector.said(child).await;
        assert_eq!(done["result"]["isError"], json!(false), "{way:?}: {done}");
        assert_eq!(bench.server.ledger().len(), before + 2, "{way:?}");

        let (child, question) = inspector.asks().await;
        bench.decide(&question, Verdict::Deny { reason: "not on a Friday".into() }).await;
        let denied = inspector.said(child).await.to_string();
        assert!(denied.contains("not on a Friday"), "{way:?}: {denied}");
        assert_eq!(bench.server.ledger().len(), before + 2, "{way:?}: a denied call does nothing");

        let absent = inspector.said(inspector.call("nothing_like_it")).await;
        assert_eq!(absent["error"]["code"], json!("tool_not_found"), "{way:?}: {absent}");
    }
    bench.stop().await;
}

#[tokio::test]
async fn a_killed_inspector_takes_its_question_with_it() {
    let Some(clients) = Clients::find() else { return };
    let bench = bench().await;
    bench.announce();
    // In the era without sessions it follows the call as a task, which outlives a client that does not ask for a while.
    for way in [Way::Http("legacy"), Way::Connect] {
        let inspector = Inspector { clients: &clients, bench: &bench, way };
        let (mut child, question) = inspector.asks().await;
        child.start_kill().expect("killed");
        let killed = Instant::now();
        let withdrawn = CallPhase::Withdrawn(Withdrawal::CallerGone);
        let is_gone = |call: &Arc<CallView>| call.id == question.call && call.phase == withdrawn;
        bench.until(|snapshot| snapshot.approvals.is_empty() && snapshot.calls.iter().any(is_gone)).await;
        assert!(killed.elapsed() < Duration::from_secs(1), "{way:?}: {:?}", killed.elapsed());
        child.wait().await.expect("gone");
    }
    assert_eq!(bench.server.ledger(), [], "nothing was run");
    bench.stop().await;
}
