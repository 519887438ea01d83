//! Rules that change while calls wait: the core driven step by step, without a server.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::json;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::Core;
use crate::clock::Timestamp;
use crate::config::expand::Environment;
use crate::config::model::{ApprovalRule, ApprovalSettings, PolicyDecision, Source};
use crate::engine::audit::{Audit, Decision, Kind, MemoryTrail};
use crate::engine::call::Link;
use crate::engine::command::Verdict;
use crate::engine::connection::ConnectionEvent;
use crate::engine::gate::Attendance;
use crate::engine::handle::{CallReport, CallRequest, Consent, Hold, Submitted, Waited};
use crate::engine::snapshot::{CallPhase, Caller, Tier};
use crate::engine::start::{Options, assemble};
use crate::engine::status::{ConnectionStatus, Offers};
use crate::ids::{CallId, ConnectionName, ServerName};
use crate::secret::Redactor;
use crate::tool::catalog::Source as Listed;
use crate::tool::names::Names;
use crate::tool::{Arguments, Catalog, ConfigRef, Listing};

struct NoVariables;

impl Environment for NoVariables {
    fn get(&self, _: &str) -> Option<String> {
        None
    }
}

fn core() -> (Core, MemoryTrail) {
    let (mut core, trail) = assembled("name: Acme\n");
    let server = ServerName::new("notes");
    let source = Listed {
        connection: ConnectionName::shared(&server),
        server,
        identity: "notes".into(),
        prefix: "".into(),
        overrides: Arc::new([]),
        first_party: None,
        seat: None,
        listing: Some(Arc::new(listing("wipe"))),
    };
    let catalog = Arc::new(Catalog::place(&[source], &Names::default()).0);
    core.snapshot.catalog = catalog.clone();
    core.outlets.catalog.send_replace(catalog);
    let link = Link {
        connection: None,
        own: None,
        down: None,
        server: ServerName::new("notes"),
        owner: None,
        prefix: "".into(),
        place: 0,
        offers: Some(Offers::default()),
        versions: [0; 2],
    };
    core.outlets.links.send_replace(Arc::new(HashMap::from([(ConnectionName::new("notes"), link)])));
    (core, trail)
}

fn listing(tool: &str) -> Listing {
    let mut listing = Listing::default();
    listing.push(&json!({"name": tool, "annotations": {"destructiveHint": true}}));
    listing
}

fn assembled(document: &str) -> (Core, MemoryTrail) {
    let config = crate::config::load(document, &Source::File("config.yaml".into())).unwrap().config;
    let (audit, trail) = Audit::memory();
    let options = Options {
        environment: Arc::new(NoVariables),
        attendance: Attendance::Person,
        person: "person:ada".into(),
        audit,
        names: Names::default(),
        names_changed: Box::new(|_| {}),
        pins: crate::engine::gate::pins::Pins::default(),
        pins_changed: Box::new(|_| {}),
        redactor: Redactor::default(),
        log: mpsc::channel(1).1,
        log_dropped: Arc::new(|| 0),
        only: None,
        own_children: Vec::new(),
        connectors: HashMap::new(),
        first_notices: Vec::new(),
        kept: crate::engine::start::Kept::default(),
    };
    (assemble(&config, options).0, trail)
}

fn rules(decision: PolicyDecision) -> ApprovalSettings {
    let place = ConfigRef { file: "config.yaml".into(), line: 9 };
    let rule = ApprovalRule { tool: "notes/*".into(), seat: None, decision, place };
    ApprovalSettings { rules: vec![rule], ..ApprovalSettings::default() }
}

async fn wait(core: &mut Core) -> Waited {
    wait_by(core, Hold::default()).await
}

async fn wait_by(core: &mut Core, hold: Hold) -> Waited {
    let request = CallRequest {
        caller: Caller::Seat { seat: "release".into(), session: "s1".into(), client: "test".into() },
        tool: "wipe".into(),
        arguments: Arguments::empty(),
        consent: Consent::None,
        cancel: CancellationToken::new(),
    };
    let submitted = Submitted { request, hold, refused: None };
    let mut report = core.running.wait(CallId::fresh(), submitted).unwrap();
    report.let_go();
    while core.desk.views().is_empty() {
        step(core).await;
    }
    report
}

/// One event; the handle is gone, which is no reason to end here.
async fn step(core: &mut Core) {
    let event = core.inlets.call_events.recv().await.expect("the core has a sender itself");
    core.call_event(event);
}

async fn end(core: &mut Core, mut report: Waited) -> CallReport {
    loop {
        tokio::select! {
            biased;
            report = &mut report => return report.unwrap(),
            () = step(core) => {}
        }
    }
}

fn story(trail: &MemoryTrail) -> Vec<&'static str> {
    let records = trail.records().into_iter();
    records.map(|record| record.decision.map_or(record.kind.as_str(), Decision::as_str)).collect()
}

#[tokio::test(start_paused = true)]
async fn a_rule_that_now_denies_ends_what_waits_and_is_named() {
    let (mut core, trail) = core();
    let report = wait(&mut core).await;
    core.settings_changed(rules(PolicyDecision::Deny));
    assert_eq!(core.snapshot.policies[&core.snapshot.catalog.entries()[0].key()].decision, PolicyDecision::Deny);
    let report = end(&mut core, report).await;
    assert!(
        matches!(&report.phase, CallPhase::Refused { reason } if reason.contains("rule notes/* -> deny (config.yaml:9)")),
        "{:?}",
        report.phase
    );
    assert_eq!(story(&trail), ["received", "asked", "withdrawn", "refused"]);
    assert_eq!(trail.records()[2].reason.as_deref(), Some("the rules changed"));
}

#[tokio::test(start_paused = true)]
async fn a_rule_that_now_wants_typing_asks_anew_and_a_milder_one_changes_nothing() {
    let (mut core, trail) = core();
    let report = wait(&mut core).await;
    let first = core.desk.views()[0].clone();
    core.settings_changed(rules(PolicyDecision::Allow));
    assert_eq!(core.desk.views()[0].id, first.id, "what was asked is not taken back");
    core.settings_changed(rules(PolicyDecision::Type));
    assert_eq!(core.desk.views().len(), 0);
    while core.desk.views().is_empty() {
        step(&mut core).await;
    }
    let second = core.desk.views()[0].clone();
    assert_eq!((first.tier, second.tier), (Tier::Arm, Tier::Type));
    core.decide(first.shown(), Verdict::Approve);
    assert_eq!(core.desk.views().len(), 1, "the old decision comes too late");
    core.settings_changed(ApprovalSettings::default());
    assert_eq!(core.desk.views()[0].tier, Tier::Type);
    core.decide(second.shown(), Verdict::Approve);
    let report = end(&mut core, report).await;
    // Approved and dispatched; there is no connection to carry it.
    assert!(matches!(report.phase, CallPhase::Failed { .. }), "{:?}", report.phase);
    assert_eq!(story(&trail), ["received", "asked", "withdrawn", "asked", "approved", "dispatched", "finished"]);
}

#[tokio::test(start_paused = true)]
async fn rules_that_change_between_a_decision_and_its_dispatch_count() {
    let (mut core, trail) = core();
    let report = wait(&mut core).await;
    let question = core.desk.views()[0].clone();
    // The call hears of its approval only after this.
    core.decide(question.shown(), Verdict::Approve);
    core.settings_changed(rules(PolicyDecision::Deny));
    let report = end(&mut core, report).await;
    assert!(matches!(report.phase, CallPhase::Refused { .. }), "{:?}", report.phase);
    assert_eq!(story(&trail), ["received", "asked", "withdrawn", "refused"]);
    assert!(trail.records().iter().all(|record| record.kind != Kind::Dispatched));
}

#[tokio::test(start_paused = true)]
async fn a_caller_does_not_leave_a_call_that_the_rules_let_through_under_its_question() {
    let (mut core, trail) = core();
    let hold = Hold::default();
    let report = wait_by(&mut core, hold.clone()).await;
    core.settings_changed(rules(PolicyDecision::Type));
    core.settings_changed(rules(PolicyDecision::Allow));
    let report = end(&mut core, report).await;
    // Dispatched; there is no connection to carry it.
    assert!(matches!(report.phase, CallPhase::Failed { .. }), "{:?}", report.phase);
    assert_eq!(story(&trail), ["received", "asked", "withdrawn", "dispatched", "finished"]);
    assert!(!hold.leave(), "it would be told that nothing was run");
}

#[tokio::test(start_paused = true)]
async fn a_seat_stopped_between_a_decision_and_its_dispatch_is_stopped() {
    let (mut core, trail) = core();
    let report = wait(&mut core).await;
    let question = core.desk.views()[0].clone();
    core.decide(question.shown(), Verdict::Approve);
    core.stop_seat("release".into());
    let report = end(&mut core, report).await;
    assert!(matches!(report.phase, CallPhase::Withdrawn(_)), "{:?}", report.phase);
    assert_eq!(story(&trail), ["received", "asked", "withdrawn"]);
}

#[tokio::test]
async fn servers_that_come_up_together_are_placed_in_one_go() {
    let server = |name: &str| format!("  - {{name: {name}, command: \"true\", enabled: false}}\n");
    let names = ["a", "b", "c"];
    let (mut core, _) = assembled(&format!("name: Acme\nmcp_servers:\n{}", names.map(server).concat()));
    let mut events: Vec<_> = Vec::new();
    for name in names {
        let connection = ConnectionName::new(name);
        events.push((connection.clone(), ConnectionEvent::Listed(listing(name))));
        let ready = ConnectionStatus::Ready { since: Timestamp::now() };
        events.push((connection, ConnectionEvent::Status(ready)));
    }
    let first = events.remove(0);
    for event in events {
        core.fixed.launcher.events.try_send(event).unwrap();
    }
    core.connection_events(first);
    let catalog = core.outlets.catalog.borrow().clone();
    let placed: Vec<&str> = catalog.entries().iter().map(|entry| &*entry.name).collect();
    assert_eq!(placed, names);
    let links = core.outlets.links.borrow().clone();
    assert!(names.iter().all(|name| links[&ConnectionName::new(*name)].down.is_none()));
}
