//! The configuration edited under a running engine: real children, a real file, and the watcher between them.
//!
//! Needs `python3`. Nothing here sleeps: every step waits for what a person would see.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on says why"
)]

#[path = "reload/seats.rs"]
mod seats;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crewlet_tui::config::expand::Environment;
use crewlet_tui::config::{self, Source};
use crewlet_tui::engine::audit::Audit;
use crewlet_tui::engine::command::{Command, Export};
use crewlet_tui::engine::gate::Attendance;
use crewlet_tui::engine::handle::{CallReport, CallRequest, Consent, Handle};
use crewlet_tui::engine::snapshot::{CallPhase, Caller, ServerView, Snapshot, ToolChangeKind, Withdrawal};
use crewlet_tui::engine::start::{self, Eras, Kept, Options};
use crewlet_tui::engine::status::Era;
use crewlet_tui::secret::Redactor;
use crewlet_tui::tool::names::Names;
use crewlet_tui::tool::{Arguments, ToolKey};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

type Variables = Arc<Mutex<HashMap<String, String>>>;

struct Changing(Variables);

impl Environment for Changing {
    fn get(&self, name: &str) -> Option<String> {
        self.0.lock().unwrap().get(name).cloned()
    }
}

/// One server of a configuration.
fn server(name: &str, more: &str) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/fake_server.py");
    format!("  - name: {name}\n    command: python3\n    args: [{:?}]\n{more}", script.display().to_string())
}

/// A whole document: servers, and what follows them.
fn document(servers: &[String], tail: &str) -> String {
    format!("name: Acme\nmcp_servers:\n{}{tail}", servers.concat())
}

struct Bench {
    handle: Handle,
    engine: JoinHandle<()>,
    watching: JoinHandle<Result<(), String>>,
    folder: tempfile::TempDir,
    file: PathBuf,
    variables: Variables,
    eras: Arc<Mutex<Eras>>,
}

impl Bench {
    async fn start(text: &str) -> Self {
        let bench = Self::start_unready(text);
        bench.until(all_ready).await;
        bench
    }

    fn start_unready(text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("etc/config.yaml");
        std::fs::create_dir(folder.path().join("etc")).unwrap();
        std::fs::write(&file, text).unwrap();
        let source = Source::File(file.clone());
        let loaded = config::load_source(&source).unwrap();
        let variables = Variables::default();
        let eras = Arc::new(Mutex::new(Eras::new()));
        let told = eras.clone();
        let options = Options {
            environment: Arc::new(Changing(variables.clone())),
            attendance: Attendance::Person,
            person: "person:ada".into(),
            audit: Audit::memory().0,
            names: Names::default(),
            names_changed: Box::new(|_| {}),
            pins: crewlet_tui::engine::gate::pins::Pins::default(),
            pins_changed: Box::new(|_| {}),
            redactor: Redactor::default(),
            log: mpsc::channel(1).1,
            log_dropped: Arc::new(|| 0),
            only: None,
            own_children: Vec::new(),
            connectors: HashMap::new(),
            first_notices: Vec::new(),
            kept: Kept {
                folder: Some(folder.path().join("state")),
                eras: Eras::new(),
                eras_changed: Some(Box::new(move |eras| eras.clone_into(&mut told.lock().unwrap()))),
                ..Kept::default()
            },
        };
        let (handle, engine) = start::start(&loaded.config, options);
        let watch = crewlet_tui::run::watch(source, text.into(), Arc::new(loaded), handle.clone());
        Self { handle, engine, watching: tokio::spawn(watch), folder, file, variables, eras }
    }

    async fn until(&self, what: impl FnMut(&Arc<Snapshot>) -> bool) -> Arc<Snapshot> {
        let mut snapshots = self.handle.snapshots();
        let found = tokio::time::timeout(Duration::from_secs(60), snapshots.wait_for(what)).await;
        match found {
            Ok(found) => found.expect("a running engine").clone(),
            Err(_) => {
                let snapshot = self.handle.snapshot();
                let states: Vec<_> = snapshot.servers.iter().map(|s| (&s.connection, s.status.word())).collect();
                let notices: Vec<_> = snapshot.notices.iter().map(|notice| &notice.text).collect();
                panic!("it did not come to that: {states:?} {notices:?}")
            }
        }
    }

    fn save(&self, text: &str) {
        std::fs::write(&self.file, text).unwrap();
    }

    /// Waits for the notice number `number` (from 0) that contains `text`.
    async fn told(&self, text: &str, number: usize) -> Arc<Snapshot> {
        self.until(|s| s.notices.iter().filter(|notice| notice.text.contains(text)).count() > number).await
    }

    fn pids(&self) -> BTreeMap<String, u32> {
        let snapshot = self.handle.snapshot();
        let pid = |server: &Arc<ServerView>| Some((server.connection.to_string(), server.peer.as_ref()?.pid?));
        snapshot.servers.iter().filter_map(pid).collect()
    }

    fn call(&self, tool: &str, arguments: &str) -> JoinHandle<CallReport> {
        let request = CallRequest {
            caller: Caller::Console,
            tool: tool.into(),
            arguments: Arguments::parse(arguments).unwrap(),
            consent: Consent::None,
            cancel: CancellationToken::new(),
        };
        let handle = self.handle.clone();
        tokio::spawn(async move { handle.call(request).await.expect("a report") })
    }

    async fn stop(self) {
        self.watching.abort();
        self.handle.send(Command::Shutdown).unwrap();
        self.engine.await.unwrap();
    }
}

fn all_ready(snapshot: &Arc<Snapshot>) -> bool {
    snapshot.revision > 0 && snapshot.servers.iter().all(|server| server.status.is_ready())
}

fn alive(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

const ALLOW: &str = "engine: { approvals: { unknown: allow } }\n";

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_cannot_be_used_changes_nothing_and_says_where() {
    let good = document(&[server("a", ""), server("b", "")], "");
    let bench = Bench::start(&good).await;
    let pids = bench.pids();
    assert_eq!(pids.len(), 2);
    for (text, expected) in [
        ("name: [\n".to_owned(), "config.yaml:"),
        (String::new(), "config.yaml:"),
        (
            good.trim_end().strip_suffix("y\"]").unwrap().to_owned(),
            "config.yaml:8: the file ends in the middle of a line",
        ),
        (good.replace("command", "comand"), "config.yaml:4:5: error: mcp_servers[0].comand"),
    ] {
        let before = bench.handle.snapshot().notices.len();
        bench.save(&text);
        let snapshot = bench.until(|snapshot| snapshot.notices.len() > before).await;
        let notice = &snapshot.notices.last().unwrap().text;
        assert!(notice.starts_with("nothing was changed: ") && notice.contains(expected), "{notice}");
        assert_eq!(snapshot.config_problem.as_ref(), Some(notice));
    }
    std::fs::remove_file(&bench.file).unwrap();
    bench.told("cannot read", 0).await;
    assert_eq!(bench.pids(), pids);
    // Created anew, as some editors do: by renaming another file over it.
    let other = bench.folder.path().join("config.yaml.new");
    std::fs::write(&other, good.replace("name: Acme", "name: Acme Two")).unwrap();
    std::fs::rename(&other, &bench.file).unwrap();
    let snapshot = bench.told("nothing had to change", 0).await;
    assert_eq!((&*snapshot.company, bench.pids()), ("Acme Two", pids.clone()));
    assert_eq!(snapshot.config_problem, None);
    // The whole folder goes and comes back.
    std::fs::remove_dir_all(bench.file.parent().unwrap()).unwrap();
    bench.told("cannot read", 1).await;
    std::fs::create_dir(bench.file.parent().unwrap()).unwrap();
    bench.save(&good.replace("name: Acme", "name: Acme Three"));
    let snapshot = bench.told("nothing had to change", 1).await;
    assert_eq!((&*snapshot.company, bench.pids()), ("Acme Three", pids));
    bench.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_what_changed_restarts() {
    let env = "    env: { FAKE_ID: one, OTHER: two }\n";
    let servers = |a: &str, b: &str| [server("a", a), server("b", b)];
    let bench = Bench::start(&document(&servers(env, ""), "")).await;
    let pids = bench.pids();

    // Comments and the order of keys and of servers say nothing.
    let turned = "    env: { OTHER: two, FAKE_ID: one } # the same\n";
    let mut swapped = servers(turned, "");
    swapped.reverse();
    bench.save(&document(&swapped, "# a comment\n"));
    let snapshot = bench.told("nothing had to change", 0).await;
    let order: Vec<&str> = snapshot.servers.iter().map(|server| server.connection.as_str()).collect();
    assert_eq!((order, bench.pids()), (vec!["b", "a"], pids.clone()), "views follow the file");

    // A prefix and annotations place the tools anew, no more.
    let placed = format!("{env}    tool_prefix: x_\n    tool_annotations: {{ env: {{ read_only: true }} }}\n");
    bench.save(&document(&servers(&placed, ""), ""));
    let snapshot = bench.told("tools were placed anew", 0).await;
    let entry = snapshot.catalog.find(None, "x_env").expect("the prefixed tool");
    assert_eq!((entry.class().to_string().as_str(), bench.pids()), ("read", pids.clone()));
    assert!(snapshot.tool_changes.is_empty(), "the server changed nothing");

    // Another variable restarts that server alone.
    bench.save(&document(&servers(&placed.replace("one", "three"), ""), ""));
    bench.told("restarted a", 0).await;
    bench
        .until(|snapshot| {
            all_ready(snapshot) && snapshot.servers[0].peer.as_ref().is_some_and(|p| p.pid != Some(pids["a"]))
        })
        .await;
    let now = bench.pids();
    assert!(now["b"] == pids["b"] && !alive(pids["a"]));

    // Another limit may restart it; a new server starts; a disabled one goes down and loses its tools.
    let more = [server("b", "    enabled: false\n"), server("c", "")];
    bench.save(&document(&more, ""));
    let snapshot = bench
        .until(|s| {
            let words: Vec<_> = s.servers.iter().map(|s| (s.connection.as_str(), s.status.word())).collect();
            words == [("b", "disabled"), ("c", "ready")]
        })
        .await;
    assert!(snapshot.catalog.entries().iter().all(|entry| entry.connection.as_str() == "c"));
    assert!(!alive(now["a"]) && !alive(now["b"]), "nothing of them is left");
    assert!(snapshot.notices.iter().any(|notice| notice.text.ends_with("started c; stopped b, a")));
    bench.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn twenty_saves_in_a_second_are_a_few_loads_and_the_last_one_counts() {
    let bench = Bench::start(&document(&[server("a", "")], "")).await;
    let pids = bench.pids();
    // The pace is what is tested; nothing is waited for by it.
    let mut tick = tokio::time::interval(Duration::from_millis(45));
    for number in 1..=20 {
        tick.tick().await;
        bench.save(&document(&[server("a", "")], "").replace("Acme", &format!("Acme {number}")));
    }
    let snapshot = bench.until(|snapshot| &*snapshot.company == "Acme 20").await;
    let loads = snapshot.notices.iter().filter(|notice| notice.text.contains("nothing had to change")).count();
    assert!((1..=4).contains(&loads), "{loads} loads");
    assert_eq!(bench.pids(), pids);
    bench.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_removed_server_ends_its_calls_and_its_questions() {
    let both = document(
        &[server("a", ""), server("b", "")],
        "engine: { approvals: { rules: [ { tool: a/never, decision: allow } ] } }\n",
    );
    let bench = Bench::start(&both).await;
    let pid = bench.pids()["a"];
    let flying = bench.call("a/never", "{}");
    let waiting = bench.call("a/env", r#"{"name":"X"}"#);
    let running = |snapshot: &Arc<Snapshot>| {
        snapshot.calls.iter().any(|c| c.name.ends_with("never") && c.phase == CallPhase::Running)
    };
    bench.until(|snapshot| running(snapshot) && !snapshot.approvals.is_empty()).await;
    bench.save(&document(&[server("b", "")], ""));
    let report = flying.await.unwrap();
    assert!(matches!(report.phase, CallPhase::Unknown { .. }), "{:?}", report.phase);
    let report = waiting.await.unwrap();
    assert_eq!(report.phase, CallPhase::Withdrawn(Withdrawal::ServerGone));
    let snapshot = bench.until(|snapshot| snapshot.servers.len() == 1).await;
    assert!(!alive(pid) && snapshot.approvals.is_empty() && snapshot.catalog.find(None, "a/env").is_none());
    // Named again, it is a new one.
    bench.save(&both);
    bench.until(|snapshot| snapshot.servers.len() == 2 && all_ready(snapshot)).await;
    assert_ne!(bench.pids()["a"], pid);
    bench.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_chart_is_made_once_for_each_configuration() {
    let text = |goal: &str| document(&[server("a", "")], &format!("roles:\n  - {{ name: Alice, goal: {goal} }}\n"));
    let bench = Bench::start(&text("one")).await;
    let first = bench.handle.snapshot();
    bench.handle.send(Command::Disable("a".into())).unwrap();
    let later = bench.until(|s| s.servers[0].status.word() == "disabled").await;
    assert!(later.revision > first.revision && Arc::ptr_eq(&later.chart, &first.chart), "not once for each picture");
    bench.save(&text("two"));
    let goal = |s: &Snapshot| s.chart.seats().next().and_then(|seat| seat.profile.goal.clone());
    assert_eq!(goal(&later).as_deref(), Some("one"));
    bench.until(|s| goal(s).as_deref() == Some("two")).await;
    bench.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_seat_that_leaves_the_company_is_stopped() {
    let text = |roles: &str| document(&[server("one", "")], &format!("roles:\n{roles}"));
    let reviewer = "  - { name: Reviewer, handle: review, kind: agent }\n";
    let release = "  - { name: Release Manager, handle: release, kind: agent }\n";
    let bench = Bench::start(&text(&format!("{release}{reviewer}"))).await;
    bench.save(&text(reviewer));
    let seen = bench.until(|s| !s.stopped_seats.is_empty()).await;
    let stopped: Vec<_> = seen.stopped_seats.iter().map(|stopped| stopped.seat.as_str()).collect();
    assert_eq!(stopped, ["release"]);
    bench.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rotated_credential_is_used_by_the_next_call_and_shown_nowhere() {
    let text = |variable: &str| {
        document(&[server("a", &format!("    env: {{ TOKEN: \"${{{variable}:-first-secret-1}}\" }}\n"))], ALLOW)
    };
    let bench = Bench::start(&text("OLD_TOKEN")).await;
    let report = bench.call("a/env", r#"{"name":"TOKEN"}"#).await.unwrap();
    assert!(report.message.contains("[REDACTED:secret]"), "{}", report.message);
    bench.variables.lock().unwrap().insert("OLD_TOKEN".to_owned(), "second-secret-2".to_owned());
    let pid = bench.pids()["a"];
    bench.save(&format!("{}# rotated\n", text("OLD_TOKEN")));
    bench.told("restarted a", 0).await;
    bench.until(|s| all_ready(s) && s.servers[0].peer.as_ref().is_some_and(|peer| peer.pid != Some(pid))).await;
    let environment = std::fs::read(format!("/proc/{}/environ", bench.pids()["a"])).unwrap();
    assert!(String::from_utf8_lossy(&environment).contains("TOKEN=second-secret-2"));
    let report = bench.call("a/env", r#"{"name":"TOKEN"}"#).await.unwrap();
    assert!(report.message.contains("[REDACTED:secret]"), "{}", report.message);
    bench.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_policy_applies_at_once() {
    let servers = [server("a", "")];
    let bench = Bench::start(&document(&servers, ALLOW)).await;
    assert_eq!(bench.call("a/env", r#"{"name":"HOME"}"#).await.unwrap().phase, CallPhase::Done { is_error: false });
    bench.save(&document(&servers, "engine: { listen: \"127.0.0.1:7999\", approvals: { unknown: deny } }\n"));
    let snapshot = bench.told("the policy changed", 0).await;
    let env = ToolKey { connection: "a".into(), raw_name: "env".into() };
    assert_eq!(snapshot.policies[&env].decision.as_str(), "deny");
    bench.told("takes effect at the next start: engine.listen", 0).await;
    // What waits for the next start is not told as a change of nothing.
    bench.save(&document(&servers, "engine: { listen: \"127.0.0.1:7998\", approvals: { unknown: deny } }\n"));
    bench.told("saved; nothing changes before the next start", 0).await;
    assert!(matches!(bench.call("a/env", "{}").await.unwrap().phase, CallPhase::Refused { .. }));
    bench.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_changes_its_tools_is_told_with_the_difference_and_eras_are_remembered() {
    let bench = Bench::start(&document(&[server("a", "")], ALLOW)).await;
    assert_eq!(*bench.eras.lock().unwrap(), Eras::from([("a".into(), Era::Legacy)]));
    bench.call("a/change", "{}").await.unwrap();
    let snapshot = bench.told("a: tools changed:", 0).await;
    assert!(!snapshot.tool_changes.is_empty());
    for change in &snapshot.tool_changes {
        if let ToolChangeKind::Changed(lines) = &change.kind {
            assert!(!lines.is_empty());
        }
    }
    bench.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn exports_are_private_and_hold_no_secret() {
    const CANARY: &str = "canary-7f3a-value";
    let env = format!("    env: {{ API_TOKEN: \"{CANARY}\", FAKE_MODE: \"leak=API_TOKEN\" }}\n    restart: never\n");
    let text = document(&[server("good", ""), server("leaky", &env)], "");
    let folder = {
        let bench = Bench::start_unready(&text);
        bench
            .until(|s| s.servers.len() == 2 && s.servers[0].status.is_ready() && s.servers[1].status.word() == "failed")
            .await;
        for (number, export) in
            [Export::Diagnostics, Export::Log, Export::Stderr("leaky".into())].into_iter().enumerate()
        {
            bench.handle.send(Command::Export(export)).unwrap();
            bench.told("written to ", number).await;
        }
        bench.handle.send(Command::Export(Export::Stderr("nobody".into()))).unwrap();
        bench.told("there is no server \"nobody\"", 0).await;
        let folder = bench.folder.path().join("state/exports");
        let mut seen = 0;
        for entry in std::fs::read_dir(&folder).unwrap() {
            use std::os::unix::fs::PermissionsExt as _;
            let path = entry.unwrap().path();
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(!text.contains("canary"), "{}: {text}", path.display());
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if name.starts_with("diagnostics-") {
                for part in ["leaky: failed", "API_TOKEN from a literal", "cannot log in with [REDACTED", "== log =="] {
                    assert!(text.contains(part), "{part} is missing in {text}");
                }
            }
            seen += 1;
        }
        assert_eq!(seen, 3);
        bench.stop().await;
        folder
    };
    assert!(!folder.exists());
}
