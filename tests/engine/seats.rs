//! Two seats that each have their own connection to one server: what is decided about one counts for that one.

use std::collections::HashMap;
use std::sync::Arc;

use crewlet_tui::engine::audit::Kind;
use crewlet_tui::engine::command::{GrantScope, Remember, Verdict};
use crewlet_tui::engine::connection::Connector;
use crewlet_tui::engine::snapshot::{CallPhase, ToolChangeKind};
use crewlet_tui::ids::ServerName;
use serde_json::json;

use crate::bench::{Bench, Setup, delete, request_by, tools};
use crate::scripted::Scripted;

const DONE: CallPhase = CallPhase::Done { is_error: false };

const CONFIG: &str = "
name: Acme
mcp_servers:
  - { name: notes, shared: false, command: in-memory, tool_annotations: { mystery: { read_only: true } } }
roles:
  - { name: Alice, mcp_env: { notes: { TOKEN: a } } }
  - { name: Bob, mcp_env: { notes: { TOKEN: b } } }
";

/// The bench's own server is Alice's; the other one is Bob's.
async fn two() -> (Bench, Scripted) {
    let bobs = Scripted::new(tools());
    let connector: Arc<dyn Connector> = Arc::new(bobs.clone());
    let others = HashMap::from([(ServerName::new("notes::Bob"), connector)]);
    let bench = Setup { config: CONFIG.to_owned(), others, ..Setup::default() }.start().await;
    (bench, bobs)
}

#[tokio::test(start_paused = true)]
async fn a_decision_that_is_remembered_for_one_seat_says_nothing_about_another_or_about_you() {
    let (bench, bobs) = two().await;
    let call = bench.start_call(request_by(Some("alice"), "delete", r#"{"id":"1"}"#));
    let remember = Remember { scope: GrantScope::ThisTool, span: None };
    let report = bench.answered(call, Verdict::ApproveAndRemember(remember)).await;
    assert_eq!(report.phase, DONE);
    assert!(!bench.asks(Some("alice"), "delete", r#"{"id":"2"}"#).await);
    assert!(bench.asks(Some("bob"), "delete", r#"{"id":"2"}"#).await);
    assert!(bench.asks(None, "notes::Alice/delete", r#"{"id":"2"}"#).await);
    assert!(bench.asks(None, "notes::Bob/delete", r#"{"id":"2"}"#).await);
    assert_eq!((bench.server.ledger().len(), bobs.ledger().len()), (2, 0));
    let snapshot = bench.handle.snapshot();
    assert_eq!(snapshot.grants[0].connection.as_str(), "notes::Alice");
    let records = bench.trail.records();
    let sent: Vec<_> = records.iter().filter(|record| record.kind == Kind::Dispatched).collect();
    assert!(sent.iter().all(|record| record.connection.as_ref().is_some_and(|it| it.as_str() == "notes::Alice")));
    assert!(sent.iter().all(|record| record.server.as_ref().is_some_and(|it| it.as_str() == "notes")));
    // The same call by another seat is no repetition, and what was denied to Bob is not held against Alice.
    let call = bench.start_call(request_by(Some("bob"), "delete", r#"{"id":"1"}"#));
    let question = bench.question().await;
    assert_eq!((question.repeat.is_some(), question.history.approved), (false, 0));
    assert_eq!(question.entry.connection.as_str(), "notes::Bob");
    bench.decide(&question, Verdict::Approve);
    assert_eq!(call.await.unwrap().phase, DONE);
    assert_eq!(bobs.ledger().len(), 1);
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_definition_that_changes_for_one_seat_withdraws_only_its_calls() {
    let (bench, bobs) = two().await;
    let names = |bench: &Bench| {
        let snapshot = bench.handle.snapshot();
        let all = snapshot.catalog.entries().iter();
        all.map(|entry| (entry.connection.to_string(), entry.exposed.to_string())).collect::<Vec<_>>()
    };
    let before = names(&bench);
    let alices = bench.start_call(request_by(Some("alice"), "delete", "{}"));
    let _bobs = bench.start_call(request_by(Some("bob"), "delete", "{}"));
    let waiting = bench.questions(2).await;
    let of = |seat: &str| waiting.iter().find(|one| one.caller.seat().is_some_and(|it| it.as_str() == seat)).unwrap();
    let mut changed = tools();
    changed[4]["description"] = json!("removes everything");
    bobs.change_tools(changed).await;
    // Bob's call is asked about anew, under what the tool is now.
    let again = bench
        .until(|s| {
            s.approvals.len() == 2 && s.approvals.iter().any(|one| one.id != waiting[0].id && one.id != waiting[1].id)
        })
        .await;
    assert!(again.approvals.iter().any(|one| one.id == of("alice").id), "Alice's question stays");
    assert!(!again.approvals.iter().any(|one| one.id == of("bob").id));
    let told = bench.told("notes::Bob: tools changed: 1 changed").await;
    assert_eq!(told.tool_changes.len(), 1);
    assert!(matches!(told.tool_changes[0].kind, ToolChangeKind::Changed(_)));
    assert_eq!(told.tool_changes[0].connection.as_str(), "notes::Bob");
    bench.decide(of("alice"), Verdict::Approve);
    assert_eq!(alices.await.unwrap().phase, DONE);
    assert_eq!((bench.server.ledger().len(), bobs.ledger().len()), (1, 0));
    // One seat's list says nothing about what the tools are called.
    bobs.change_tools(vec![delete()]).await;
    bench.until(|s| s.catalog.entries().len() == 6).await;
    assert!(names(&bench).iter().all(|name| before.contains(name)));
    bench.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_the_configuration_says_of_a_tool_holds_for_every_seats_connection() {
    let (bench, _bobs) = two().await;
    for seat in ["alice", "bob"] {
        assert!(!bench.asks(Some(seat), "mystery", "{}").await, "{seat}");
    }
    let snapshot = bench.handle.snapshot();
    let of = |seat: &str| snapshot.catalog.find(Some(&seat.into()), "mystery").unwrap().clone();
    let (alices, bobs) = (of("alice"), of("bob"));
    assert_eq!((&alices.name, &alices.exposed), (&bobs.name, &bobs.exposed));
    assert_eq!(snapshot.policies.len(), 10);
    assert_eq!(snapshot.policies[&bobs.key()].decision.as_str(), "allow");
    bench.stop().await;
}
