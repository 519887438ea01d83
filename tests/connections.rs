//! Connections to real children that misbehave: nothing of them is left, nothing of theirs harms us.
//!
//! Needs Linux (`/proc`) and `python3`. Tests that call tools stand beside the code.

#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "helpers of tests fail by panicking")]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crewlet_tui::config::model::RestartPolicy;
use crewlet_tui::engine::connection::{
    self, Connection, ConnectionEvent, ConnectionSpec, Control, Initially, NamedEvent, StdioSpec, TransportSpec, reaper,
};
use crewlet_tui::engine::snapshot::LineKind;
use crewlet_tui::engine::status::{ConnectionStatus, Era, Failure, FailureKind, PeerFacts};
use crewlet_tui::secret::{Redactor, Secret};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// A child under supervision, with a marker that its descendants inherit.
struct Bench {
    connection: Connection,
    heard: mpsc::Receiver<NamedEvent>,
    shutdown: CancellationToken,
    task: tokio::task::JoinHandle<()>,
    marker: String,
    words: Vec<&'static str>,
    peer: Option<PeerFacts>,
    lines: usize,
    dropped: u64,
    /// The last batch of lines.
    shown: Vec<Arc<str>>,
}

impl Bench {
    fn start(mode: &str) -> Self {
        Self::with(mode, |_, _| {})
    }

    fn with(mode: &str, change: impl FnOnce(&mut ConnectionSpec, &mut StdioSpec)) -> Self {
        static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let marker = format!("FAKE_ID={}-{number}", std::process::id());
        let mut stdio = StdioSpec {
            command: "python3".into(),
            args: vec![Secret::new(script())],
            display: "python3 fake_server.py".into(),
            env: vec![
                ("FAKE_MODE".into(), Secret::new(mode)),
                ("FAKE_ID".into(), Secret::new(marker.trim_start_matches("FAKE_ID="))),
            ],
            cwd: None,
            inherit_env: Vec::new(),
        };
        let mut spec = ConnectionSpec {
            name: "fake".into(),
            server: "fake".into(),
            transport: TransportSpec::Stdio(stdio.clone()),
            startup_timeout: Duration::from_secs(30),
            request_timeout: Duration::from_secs(30),
            restart: RestartPolicy::Never,
            known_era: None,
            redactor: Redactor::default(),
            forms: None,
        };
        change(&mut spec, &mut stdio);
        spec.transport = TransportSpec::Stdio(stdio);
        let (events, heard) = mpsc::channel(64);
        let shutdown = CancellationToken::new();
        let (connection, task) = connection::start(spec, Initially::Enabled, events, shutdown.clone());
        Self {
            connection,
            heard,
            shutdown,
            task,
            marker,
            words: Vec::new(),
            peer: None,
            lines: 0,
            dropped: 0,
            shown: Vec::new(),
        }
    }

    /// Waits for a status that `pick` takes, for at most a minute.
    async fn status<T>(&mut self, mut pick: impl FnMut(&ConnectionStatus) -> Option<T>) -> T {
        let search = async {
            loop {
                match self.heard.recv().await.expect("the supervisor lives").1 {
                    ConnectionEvent::Status(status) => {
                        self.words.push(status.word());
                        if let Some(found) = pick(&status) {
                            return found;
                        }
                    }
                    ConnectionEvent::Identified(peer) => self.peer = Some(peer),
                    ConnectionEvent::Listed(_) | ConnectionEvent::OfferChanged(_) | ConnectionEvent::Ended => {}
                    ConnectionEvent::Lines { lines, dropped } => {
                        self.lines += lines.iter().filter(|line| line.1 == LineKind::Stderr).count();
                        self.dropped += dropped;
                        self.shown = lines.into_iter().map(|line| line.2).collect();
                    }
                }
            }
        };
        tokio::time::timeout(Duration::from_secs(60), search).await.expect("a status within a minute")
    }

    async fn ready(&mut self) {
        self.status(|status| match status {
            ConnectionStatus::Failed { reason } => panic!("{reason:?}"),
            status => status.is_ready().then_some(()),
        })
        .await;
    }

    async fn failed(&mut self) -> Failure {
        self.status(|status| match status {
            ConnectionStatus::Failed { reason } => Some(reason.clone()),
            _ => None,
        })
        .await
    }

    async fn becomes(&mut self, word: &str) {
        self.status(|status| (status.word() == word).then_some(())).await;
    }

    /// Waits until so many processes carry our marker: one in the middle of its exec shows no environment.
    async fn has_processes(&self, number: usize) {
        eventually("the right number of processes", || processes(&self.marker).len() == number).await;
    }

    fn era(&self) -> Option<Era> {
        self.peer.as_ref().map(|peer| peer.era)
    }

    /// Shuts down; afterwards nothing may be left.
    async fn stop(self) -> Duration {
        let began = Instant::now();
        self.shutdown.cancel();
        drop(self.heard);
        self.task.await.expect("the supervisor ends in order");
        let took = began.elapsed();
        let marker = self.marker;
        eventually("no process is left", || processes(&marker).is_empty()).await;
        eventually("every child has been waited for", || zombies() == 0).await;
        took
    }
}

fn script() -> String {
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/fake_server.py").to_owned()
}

fn processes(marker: &str) -> BTreeSet<u32> {
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir("/proc").expect("/proc").flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let environ = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        if environ.split(|byte| *byte == 0).any(|variable| variable == marker.as_bytes()) {
            found.insert(pid);
        }
    }
    found
}

/// Children of ours that ended and were not waited for.
fn zombies() -> usize {
    let us = std::process::id().to_string();
    let entries = std::fs::read_dir("/proc").expect("/proc").flatten();
    let stats = entries.filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok());
    stats
        .filter(|stat| {
            let mut fields = stat.rsplit(") ").next().unwrap_or_default().split(' ');
            fields.next() == Some("Z") && fields.next() == Some(&us)
        })
        .count()
}

/// Looks every 20 ms, for at most 10 s.
async fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(10);
    let mut look = tokio::time::interval(Duration::from_millis(20));
    while !holds() {
        assert!(Instant::now() < deadline, "{what}");
        look.tick().await;
    }
}

async fn within<T>(limit: Duration, work: impl Future<Output = T>) -> T {
    tokio::time::timeout(limit, work).await.expect("in time")
}

#[tokio::test]
async fn an_orderly_child_ends_at_the_end_of_its_input() {
    let folder = tempfile::tempdir().expect("a folder");
    let mark = folder.path().join("mark");
    let mut bench = Bench::start(&format!("exit-mark={}", mark.display()));
    bench.ready().await;
    assert!(bench.stop().await < Duration::from_secs(2), "no step of the ladder was needed");
    assert!(mark.exists(), "it was not signalled");
}

#[tokio::test]
async fn a_child_that_ignores_everything_is_killed() {
    let mut bench = Bench::start("ignore-eof ignore-term");
    bench.ready().await;
    let took = bench.stop().await;
    assert!((4.0..6.0).contains(&took.as_secs_f64()), "{took:?}");
}

#[tokio::test]
async fn grandchildren_go_with_their_parents() {
    // A shell stays as the parent, a grandchild holds the pipes, and the server ignores the end of its input.
    let mut bench = Bench::with("grandchild ignore-eof", |_, stdio| {
        stdio.command = "sh".into();
        stdio.args = vec![Secret::new("-c"), Secret::new(format!("python3 {}; true", script()))];
    });
    bench.ready().await;
    bench.has_processes(3).await;
    bench.stop().await;

    // The parent ends in order; its grandchild does not.
    let mut bench = Bench::start("grandchild");
    bench.ready().await;
    bench.has_processes(2).await;
    assert!(bench.stop().await < Duration::from_secs(4));
}

#[tokio::test]
async fn disabling_and_enabling_leaves_exactly_one() {
    let mut bench = Bench::start("grandchild");
    for _ in 0..5 {
        bench.ready().await;
        bench.has_processes(2).await;
        assert!(bench.connection.control(Control::Disable));
        bench.becomes("disabled").await;
        let marker = bench.marker.clone();
        eventually("none is left", || processes(&marker).is_empty()).await;
        assert!(bench.connection.control(Control::Enable));
    }
    bench.ready().await;
    bench.stop().await;
}

#[tokio::test]
async fn a_killed_child_is_noticed_and_comes_back() {
    let mut bench = Bench::with("grandchild", |spec, _| spec.restart = RestartPolicy::OnFailure);
    bench.ready().await;
    let pid = bench.peer.as_ref().and_then(|peer| peer.pid).expect("a child has a process id");
    let pid = rustix::process::Pid::from_raw(pid.cast_signed()).expect("a process id");
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("it lives");
    within(Duration::from_secs(1), bench.becomes("stopping")).await;
    bench.becomes("backoff").await;
    bench.ready().await;
    bench.has_processes(2).await;
    bench.stop().await;
}

#[tokio::test]
async fn a_shutdown_in_the_middle_of_a_start_leaves_nothing() {
    let mut bench = Bench::start("slow=1000 grandchild");
    bench.becomes("starting").await;
    let marker = bench.marker.clone();
    eventually("it runs", || processes(&marker).len() == 2).await;
    bench.stop().await;
}

#[tokio::test]
async fn a_child_that_dies_at_start_says_why() {
    let mut bench = Bench::start("die");
    let failure = bench.failed().await;
    assert_eq!(failure.kind, FailureKind::Exited);
    let headline = &failure.headline;
    assert!(
        headline.starts_with("exit 1 after ") && headline.ends_with(": Error: SLACK_BOT_TOKEN is missing"),
        "{headline}"
    );
    assert!(failure.next_step.expect("a next step").contains("SLACK_BOT_TOKEN"));
    assert_eq!(failure.tail.last().map(|line| &**line), Some("  --help"));
    bench.stop().await;
}

#[tokio::test]
async fn a_child_that_dies_after_its_first_answer_did_not_start() {
    let mut bench = Bench::start("die-after-init");
    let failure = bench.failed().await;
    assert_eq!((failure.kind, bench.words.as_slice()), (FailureKind::Exited, &["starting", "failed"][..]));
    assert!(failure.headline.starts_with("exit 3 after") && failure.headline.ends_with("fatal: no database"));
    bench.stop().await;
}

#[tokio::test]
async fn what_cannot_be_started_is_named_with_a_next_step() {
    let mut bench = Bench::with("", |spec, stdio| {
        spec.restart = RestartPolicy::OnFailure;
        stdio.command = "no-such-program".into();
    });
    let failure = bench.failed().await;
    assert_eq!(
        (failure.kind, &*failure.headline),
        (FailureKind::Spawn, "cannot start \"no-such-program\": not found in PATH")
    );
    assert!(failure.next_step.is_some());
    assert_eq!(bench.words, ["starting", "failed"], "trying again cannot help");
    bench.stop().await;

    let mut bench = Bench::with("", |_, stdio| stdio.cwd = Some(PathBuf::from("/no/such/folder")));
    let failure = bench.failed().await;
    assert!(failure.headline.contains("/no/such/folder"), "{}", failure.headline);
    bench.stop().await;
}

#[tokio::test]
async fn old_servers_survive_the_probe() {
    let modes =
        ["probe-error=-32600", "probe-error=-32000", "probe-empty", "probe-exit", "probe-silent", "probe-talks"];
    let all = modes.map(async |mode| {
        let mut bench = Bench::start(mode);
        within(Duration::from_secs(10), bench.ready()).await;
        assert_eq!(bench.era(), Some(Era::Legacy), "{mode}");
        bench.stop().await;
    });
    futures_util::future::join_all(all).await;
}

#[tokio::test]
async fn a_slow_start_is_waited_for_and_a_modern_one_stays_modern() {
    let both = [("slow=6", Era::Legacy), ("slow=6 modern", Era::Modern)].map(async |(mode, era)| {
        let mut bench = Bench::start(mode);
        bench.ready().await;
        assert_eq!(bench.era(), Some(era));
        bench.stop().await;
    });
    futures_util::future::join_all(both).await;
}

#[tokio::test]
async fn a_start_over_its_limit_names_the_setting_and_keeps_what_was_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let stamp = folder.path().join("stamp");
    let mut bench = Bench::with(&format!("stamp={}", stamp.display()), |spec, _| {
        spec.startup_timeout = Duration::from_secs(1);
        spec.restart = RestartPolicy::OnFailure;
    });
    let failure = bench.status(|status| status.failure().cloned()).await;
    assert_eq!(&*failure.headline, "did not connect within 1 s (startup_timeout_seconds)");
    assert_eq!(failure.tail.iter().map(|line| &**line).collect::<Vec<_>>(), ["installing, this takes a while"]);
    // The second attempt finds what the first one left.
    bench.ready().await;
    bench.stop().await;
}

#[tokio::test]
async fn a_message_without_end_ends_its_server_with_bounded_memory() {
    let before = resident();
    let mut bench = Bench::start("endless");
    let failure = bench.failed().await;
    assert_eq!(failure.kind, FailureKind::TooLarge);
    assert!(failure.headline.starts_with("message over limit"), "{}", failure.headline);
    let grown = resident().saturating_sub(before);
    assert!(grown < 100 << 20, "{} MiB", grown >> 20);
    bench.stop().await;
}

#[tokio::test]
async fn a_flood_on_stderr_is_counted_and_does_not_hold_the_child_up() {
    let mut bench = Bench::start("flood=200000");
    within(Duration::from_secs(15), bench.ready()).await;
    assert!(bench.connection.control(Control::Disable));
    bench.becomes("disabled").await;
    bench.connection.control(Control::Enable);
    bench.ready().await;
    let seen = bench.lines as u64 + bench.dropped;
    assert!(seen >= 200_000, "{} shown, {} dropped", bench.lines, bench.dropped);
    assert!(bench.lines > 0);
    bench.stop().await;
}

#[tokio::test]
async fn everything_can_be_killed_at_once_without_waiting() {
    let mut bench = Bench::with("grandchild ignore-eof ignore-term", |spec, _| spec.restart = RestartPolicy::OnFailure);
    bench.ready().await;
    reaper::kill_all_groups();
    within(Duration::from_secs(1), bench.becomes("stopping")).await;
    bench.stop().await;
}

#[tokio::test]
async fn a_child_has_no_terminal_and_our_environment_stays_ours() {
    let mut bench = Bench::with("", |_, stdio| stdio.env.push(("DECLARED".into(), Secret::new("yes"))));
    bench.ready().await;
    let pid = bench.peer.as_ref().and_then(|peer| peer.pid).expect("a child has a process id");
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("it lives");
    let fields: Vec<_> = stat.rsplit(") ").next().expect("fields").split(' ').collect();
    let (group, session, terminal) = (fields[2], fields[3], fields[4]);
    assert_eq!((group, session, terminal), (pid.to_string().as_str(), pid.to_string().as_str(), "0"));

    let environ = std::fs::read(format!("/proc/{pid}/environ")).expect("it lives");
    let names: BTreeSet<String> = environ
        .split(|byte| *byte == 0)
        .filter_map(|variable| variable.split(|byte| *byte == b'=').next())
        .map(|name| String::from_utf8_lossy(name).into_owned())
        .collect();
    assert!(names.contains("DECLARED") && names.contains("PATH"), "{names:?}");
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some(), "cargo's variables stand for our secrets");
    assert!(names.iter().all(|name| !name.starts_with("CARGO")), "{names:?}");
    bench.stop().await;
}

/// Our resident memory in bytes.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("/proc");
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("VmHWM");
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<u64>().ok()).expect("a number") << 10
}

/// Events that the tests of logging look at.
#[derive(Clone, Default)]
struct Recorder(Arc<std::sync::Mutex<Vec<(String, String)>>>);

impl<S: tracing::Subscriber> tracing_subscriber::Layer<S> for Recorder {
    fn on_event(&self, event: &tracing::Event<'_>, _: tracing_subscriber::layer::Context<'_, S>) {
        let mut fields = String::new();
        event.record(&mut |field: &tracing::field::Field, value: &dyn std::fmt::Debug| {
            let _ = write!(fields, "{}={value:?} ", field.name());
        });
        self.0.lock().expect("unpoisoned").push((event.metadata().level().to_string(), fields));
    }
}

#[tokio::test]
async fn a_failed_start_logs_its_tail_exactly_once_and_no_secret() {
    use tracing_subscriber::layer::SubscriberExt as _;
    let recorder = Recorder::default();
    let _guard = tracing::subscriber::set_default(tracing_subscriber::registry().with(recorder.clone()));
    let mut bench =
        Bench::with("die", |_, stdio| stdio.env.push(("TOKEN".into(), Secret::new("canary-0123456789abcdef"))));
    bench.failed().await;
    bench.stop().await;
    let events = recorder.0.lock().expect("unpoisoned").clone();
    let tails: Vec<_> = events.iter().filter(|(_, fields)| fields.contains("message=server_stderr_tail")).collect();
    assert_eq!(tails.len(), 1, "{events:?}");
    assert_eq!(tails[0].0, "ERROR");
    assert!(tails[0].1.contains("SLACK_BOT_TOKEN is missing") && tails[0].1.contains("server=fake"), "{tails:?}");
    let lines = events.iter().filter(|(_, fields)| fields.contains("message=server_stderr ")).count();
    assert!(lines >= 5, "{events:?}");
    assert!(events.iter().all(|(_, fields)| !fields.contains("canary")), "{events:?}");
    assert!(events.iter().any(|(_, fields)| fields.contains("message=custom_env_keys") && fields.contains("TOKEN")));
}

#[tokio::test]
async fn a_secret_that_a_child_prints_is_seen_nowhere() {
    use tracing_subscriber::layer::SubscriberExt as _;
    let recorder = Recorder::default();
    let _guard = tracing::subscriber::set_default(tracing_subscriber::registry().with(recorder.clone()));
    let secret = Secret::new("canary-0123456789abcdef");
    let mut bench = Bench::with("leak=TOKEN", |spec, stdio| {
        spec.redactor.learn([secret.clone()]);
        stdio.env.push(("TOKEN".into(), secret));
    });
    let failure = bench.failed().await;
    assert!(failure.headline.contains("Error: cannot log in with ["), "{failure:?}");
    let shown = format!("{failure:?} {:?}", bench.shown);
    bench.stop().await;
    let logged = format!("{:?}", recorder.0.lock().expect("unpoisoned"));
    assert!(logged.contains("cannot log in with ["), "{logged}");
    assert!(!shown.contains("canary") && !logged.contains("canary"), "{shown} {logged}");
}
