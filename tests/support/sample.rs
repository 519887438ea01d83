//! A company in every state that a screen has to show, built by hand.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use crewlet_tui::clock::Timestamp;
use crewlet_tui::config::model::PolicyDecision;
use crewlet_tui::engine::ring::Ring;
use crewlet_tui::engine::snapshot::*;
use crewlet_tui::engine::status::*;
use crewlet_tui::ids::{ApprovalId, CallId, ConnectionName, FormId, SeatHandle, ServerName, TurnId};
use crewlet_tui::org::{Identity, Org, Profile, Seat, SeatKind, Unit, WorkerTemplate};
use crewlet_tui::secret::Redactor;
use crewlet_tui::tool::annotations::Parsed;
use crewlet_tui::tool::classify::classify;
use crewlet_tui::tool::delivery::delivery;
use crewlet_tui::tool::entry::Origin;
use crewlet_tui::tool::worker::writes_to_shared_surface;
use crewlet_tui::tool::{
    Annotations, Arguments, Catalog, ConfigRef, Digest, EffectClass, Entry, Fingerprint, Hint, HintOverride, Hints,
};
use crewlet_tui::turns::verdict::{Call, Claim, Fate, Obligation, Outcome};
use crewlet_tui::turns::{Before, Now, Start, TurnView};

/// 2026-11-30 14:03:07 UTC: the moment of every picture.
pub const NOW: Timestamp = Timestamp::from_millis(1_796_047_387_000);

/// Some time before [`NOW`].
pub fn ago(seconds: i64) -> Timestamp {
    Timestamp::from_millis(NOW.millis() - seconds * 1_000)
}

/// An engine that has just begun and has nothing.
pub fn empty() -> Snapshot {
    Snapshot {
        revision: 1,
        company: "Acme AI".into(),
        config_file: "config.yaml".into(),
        read_only: false,
        seats: Vec::new(),
        chart: Arc::default(),
        servers: Vec::new(),
        catalog: Arc::new(Catalog::default()),
        approvals: Vec::new(),
        calls: Vec::new(),
        log: Ring::new(5_000),
        log_dropped: 0,
        notices: Vec::new(),
        audit: AuditHealth::Good,
        listener: None,
        listener_problem: None,
        config_problem: None,
        sessions: Vec::new(),
        workers: Vec::new(),
        stopping: false,
        forms: Vec::new(),
        questions: Board::default(),
        grants: Vec::new(),
        stopped_seats: Vec::new(),
        policies: Arc::default(),
        tool_changes: Vec::new(),
    }
}

/// A company at work: servers in every state, questions, calls, a log.
pub fn busy() -> Snapshot {
    Snapshot {
        servers: servers(),
        catalog: Arc::new(Catalog::new(entries(), Vec::new())),
        approvals: vec![approval(1, "github_delete_branch", 18), approval(2, "tavily_search", 4)],
        calls: calls(),
        log: log(),
        listener: Some("127.0.0.1:7420".into()),
        sessions: sessions(),
        seats: ["release", "alice", "ops"].map(SeatHandle::from).to_vec(),
        chart: Arc::new(chart(&org())),
        ..empty()
    }
}

/// Like [`busy`], with nothing that waits for a person.
pub fn calm() -> Snapshot {
    let mut snapshot = busy();
    snapshot.approvals.clear();
    snapshot.calls.retain(|call| call.phase.is_over());
    snapshot
}

/// A company whose every text is foreign and hostile: wide, combining, controls, very long.
pub fn hostile() -> Snapshot {
    let mut snapshot = busy();
    let long = "漢字e\u{301}\u{1b}[2J\u{202e}👨‍👩‍👧‍👦".repeat(9);
    let session = Arc::make_mut(&mut snapshot.sessions[0]);
    (session.client, session.seat) = (long.as_str().into(), SeatHandle::from(long.as_str()));
    let mut org = org();
    for (n, unit) in org.units.iter_mut().enumerate() {
        (unit.name, unit.parent) = (format!("{n}{long}").into(), (n > 0).then(|| format!("{}{long}", n - 1).into()));
    }
    for (n, seat) in org.seats.iter_mut().enumerate() {
        (seat.name, seat.unit) = (long.as_str().into(), Some(format!("{}{long}", n % 3).into()));
        seat.profile.goal = Some(long.as_str().into());
    }
    snapshot.chart = Arc::new(chart(&org));
    snapshot.company = "会社\u{202e}evil\u{1b}[31m 👨‍👩‍👧‍👦♻️1️⃣🇩🇪".into();
    let texts = ["漢字漢字漢字", "e\u{301}\u{302}\u{303}\u{304}", "مرحبا", "한국어", "👨‍👩‍👧‍👦", "\u{1b}[2J\u{7}\r\n\t", "x"];
    for (n, server) in snapshot.servers.iter_mut().enumerate() {
        let view = Arc::make_mut(server);
        view.connection = ConnectionName::new(format!("{}{n}", texts[n % texts.len()].repeat(9)));
        view.stderr = stderr(&texts.map(|text| text.repeat(40)));
        view.transport = TransportFacts::Stdio { command: texts.concat().repeat(5).into() };
    }
    let mut log = Ring::new(100);
    for text in texts {
        log.push(record(1, LogLevel::Warn, text, None, &text.repeat(30)));
    }
    snapshot.log = log;
    let hostile = |row: &Arc<QuestionView>| {
        let body = texts.concat().repeat(9).into();
        let answer = row.answer.as_ref().map(|answer| AnswerView { by: long.as_str().into(), body, ..answer.clone() });
        Arc::new(QuestionView {
            brief: texts.concat().repeat(20).into(),
            from: long.as_str().into(),
            chain: vec![long.as_str().into(); 3],
            answer,
            ..(**row).clone()
        })
    };
    snapshot.questions = questions().iter().map(hostile).collect();
    snapshot.notices.push(Notice { sequence: 9, at: NOW, level: LogLevel::Warn, text: texts.concat().into() });
    snapshot.audit = AuditHealth::Broken { reason: texts.concat().into() };
    snapshot
}

fn chart(org: &Org) -> Chart {
    Chart::of(org, &Redactor::default(), &HashMap::<String, String>::new())
}

/// Units in units, agents and a human.
fn org() -> Org {
    let unit = |name: &str, parent: Option<&str>, lead: &str| Unit {
        name: name.into(),
        kind: "team".into(),
        purpose: Some("Builds what customers use.".into()),
        lead: Some(lead.into()),
        goals: vec!["No release without notes".into()],
        parent: parent.map(Into::into),
        identities: vec![Identity { system: "tracker.project".into(), id: "BACK".into() }],
        place: ConfigRef { file: "config.yaml".into(), line: 12 },
    };
    let seat =
        |handle: &str, name: &str, unit: Option<&str>| Seat { unit: unit.map(Into::into), ..Seat::agent(handle, name) };
    let mut founder = Seat { kind: SeatKind::Human, ..seat("founder", "Founder", None) };
    founder.profile.email = Some("founder@acme.example".into());
    founder.profile.availability = Some("weekdays, 9 to 17".into());
    let mut release = seat("release", "Release Manager", Some("Delivery"));
    release.profile = Profile {
        goal: Some("Brings releases out, and nothing else.".into()),
        responsibilities: vec!["tags and notes".into(), "branches of releases, until they are merged".into()],
        manages: vec!["Alice".into()],
        workers: vec![WorkerTemplate {
            name: "scout".into(),
            tools: vec!["git_log".into(), "github_delete_branch".into()],
        }],
        ..Profile::default()
    };
    Org {
        seats: vec![
            founder,
            seat("ops", "Operations", Some("Engineering")),
            release,
            seat("alice", "Alice", Some("Delivery")),
        ],
        units: vec![
            unit("Engineering", None, "Founder"),
            unit("Delivery", Some("Engineering"), "Release Manager"),
            unit("Sales", None, "Founder"),
        ],
    }
}

/// A turn that owes an answer on one surface and reached another, was corrected, and came after one.
fn turns() -> TurnView {
    let act = |name: &str, surface: Option<&str>| Call {
        name: name.into(),
        surface: surface.map(Arc::from),
        open_world: Hint::Yes,
        fate: Fate::Done,
    };
    let said = "your answer went to github, and whoever waits for it waits on slack. Send it with a tool of slack, \
                then end the turn again; if you cannot, end it as blocked and say why";
    let now = Now {
        id: TurnId::from("t0123456789"),
        start: Start::Declared,
        trigger: Some("Ada asks for the state of the release".into()),
        owes: "tool:slack".parse().unwrap(),
        began: ago(60),
        reached: vec!["github".into()],
        calls: (5, 2),
        acts: vec![act("a2a_ask", None), act("github_create_issue", Some("github"))],
        corrected: Some((ago(9), said.into())),
    };
    TurnView { now: Some(now), before: Some(turn_before("no_action")) }
}

fn turn_before(claim: &str) -> Before {
    let (claim, _) = *Claim::ALL.iter().find(|(_, word)| *word == claim).unwrap();
    let (reached, text) = match claim {
        Claim::Delivered => (vec!["tracker".into()], Some("WEB-12 has the list of what is left.".into())),
        _ => (Vec::new(), None),
    };
    Before { outcome: Outcome::Claimed(claim), owed: Obligation::Nothing, at: ago(600), reached, text }
}

/// Three agents; [`calls`] are those of the first.
pub fn sessions() -> Vec<Arc<SessionView>> {
    let session = |id: &str, seat: &str, client: &str, (era, calls): (Era, u64)| SessionView {
        id: id.into(),
        seat: SeatHandle::from(seat),
        worker: None,
        client: client.into(),
        era,
        since: ago(4_000),
        last_seen: ago(4),
        calls,
        turn: None,
    };
    let silent = session("19f0c2", "ops", "codex 1.4", (Era::Modern, 212));
    let over = TurnView { now: None, before: Some(turn_before("delivered")) };
    [
        SessionView {
            turn: Some(Arc::new(turns())),
            ..session("7c1e", "release", "claude-code 2.1", (Era::Legacy, 6))
        },
        SessionView { last_seen: ago(730), turn: Some(Arc::new(over)), ..silent },
        session("a04b77", "release", "inspector 0.9", (Era::Legacy, 0)),
    ]
    .map(Arc::new)
    .to_vec()
}

pub fn servers() -> Vec<Arc<ServerView>> {
    let ready = |seconds| ConnectionStatus::Ready { since: ago(seconds) };
    let failure = Failure {
        kind: FailureKind::Exited,
        headline: "exit 1 after 0.8 s: No module named mcp".into(),
        next_step: Some("install the module mcp and press r".into()),
        tail: vec!["Traceback (most recent call last):".into(), "ModuleNotFoundError: No module named 'mcp'".into()]
            .into(),
    };
    let gone = Failure {
        kind: FailureKind::Transport,
        headline: "connection refused".into(),
        next_step: None,
        tail: Arc::new([]),
    };
    let mut release = ServerView {
        transport: TransportFacts::Http { url: "api.githubcopilot.com/mcp".into() },
        credentials: vec![CredentialView {
            field: "Authorization".into(),
            variables: vec!["RELEASE_GH_TOKEN".into()],
            set: true,
        }],
        last_failure: Some((ago(4_000), gone.clone())),
        restarts: 1,
        stderr: stderr(&[
            "GitHub MCP Server running on stdio",
            "rate limit: 4987 left",
            "GET /repos/acme/api/branches 200",
        ]),
        ..server("github::release", ready(7_440), [41, 22, 3, 12], (31, Some(140)))
    };
    release.stderr.push(StderrLine { at: ago(1), kind: LineKind::Mark, text: "restarted".into() });
    let failed = ServerView {
        transport: TransportFacts::Stdio { command: "python -m linear_mcp".into() },
        credentials: vec![CredentialView {
            field: "LINEAR_KEY".into(),
            variables: vec!["LINEAR_KEY".into()],
            set: false,
        }],
        stderr: stderr(&["Traceback (most recent call last):", "ModuleNotFoundError: No module named 'mcp'"]),
        peer: None,
        ..server("linear", ConnectionStatus::Failed { reason: failure }, [0; 4], (0, None))
    };
    let starting = ServerView {
        peer: None,
        ..server("atlassian::alice", ConnectionStatus::Starting { since: ago(7) }, [0; 4], (0, None))
    };
    let backoff =
        ConnectionStatus::Backoff { until: Timestamp::from_millis(NOW.millis() + 12_000), attempt: 2, reason: gone };
    [
        ServerView { rejected: 2, ..server("filesystem", ready(90_000), [8, 4, 2, 0], (212, Some(3))) },
        server("git", ready(90_000), [12, 0, 0, 0], (40, Some(9))),
        release,
        server("github::alice", ready(300), [41, 22, 3, 12], (4, Some(152))),
        starting,
        failed,
        ServerView { peer: None, ..server("notion", backoff, [0; 4], (2, Some(1_400))) },
        ServerView { peer: None, ..server("tavily", ConnectionStatus::Disabled, [0; 4], (0, None)) },
    ]
    .map(Arc::new)
    .to_vec()
}

fn server(
    name: &str,
    status: ConnectionStatus,
    tools_by_class: [usize; 4],
    (calls, p50): (u64, Option<u64>),
) -> ServerView {
    ServerView {
        connection: ConnectionName::from(name),
        server: ServerName::from(name.split("::").next().unwrap_or(name)),
        seat: name.split_once("::").map(|(_, seat)| SeatHandle::from(seat)),
        status,
        transport: TransportFacts::Stdio { command: format!("npx -y @acme/{name}").into() },
        peer: Some(PeerFacts {
            era: Era::Legacy,
            protocol_version: "2025-11-25".into(),
            name: None,
            version: None,
            offers: Offers::default(),
            pid: None,
            took: Duration::from_millis(212),
        }),
        tools_by_class,
        rejected: 0,
        list_cut: None,
        restarts: 0,
        calls,
        p50: p50.map(Duration::from_millis),
        last_failure: None,
        credentials: Vec::new(),
        stderr: Ring::new(1_000),
        stderr_dropped: 0,
        noise: 0,
        limits: (Duration::from_secs(30), Duration::from_secs(60)),
    }
}

/// Lines of stderr, the last one a second before [`NOW`].
pub fn stderr<T: AsRef<str>>(lines: &[T]) -> Ring<StderrLine> {
    let mut ring = Ring::new(1_000);
    for (n, line) in lines.iter().enumerate() {
        let at = ago(i64::try_from((lines.len() - n) * 3).unwrap_or(0));
        ring.push(StderrLine { at, kind: LineKind::Stderr, text: line.as_ref().into() });
    }
    ring
}

/// A tool with the given hints: read only, destructive, idempotent, open world.
pub fn entry(server: &str, raw_name: &str, description: &str, hints: [Hint; 4]) -> Entry {
    let [read_only, destructive, idempotent, open_world] = hints;
    let annotations = Annotations { title: String::new(), read_only, destructive, idempotent, open_world };
    let over = (raw_name == "delete_branch").then(|| HintOverride {
        annotations: Annotations { read_only: Hint::No, ..Annotations::default() },
        places: [Some(ConfigRef { file: "config.yaml".into(), line: 41 }), None, None, None],
    });
    let hints = Hints::from_server(Parsed { annotations, malformed: Vec::new() }, over);
    let name: Arc<str> = format!("{server}_{raw_name}").into();
    let origin = Origin::Mcp(ServerName::from(server));
    let classification = classify(&hints);
    Entry {
        exposed: name.clone(),
        raw_name: raw_name.into(),
        server: ServerName::from(server),
        connection: ConnectionName::from(if server == "github" { "github::release" } else { server }),
        seat: (server == "github").then(|| SeatHandle::from("release")),
        title: "".into(),
        description: description.into(),
        input_schema: Arc::new(serde_json::json!({
            "type": "object",
            "properties": {"repo": {"type": "string"}, "branch": {"type": "string"}},
            "required": ["repo", "branch"],
        })),
        output_schema: None,
        worker: writes_to_shared_surface(&hints.effective),
        delivery: delivery(&origin, &hints.effective, None),
        fingerprint: Fingerprint(Digest::of(name.as_bytes())),
        flags: classification.flags.clone(),
        classification,
        origin,
        name,
        hints,
    }
}

pub fn entries() -> Vec<Arc<Entry>> {
    use Hint::{No, Unknown, Yes};
    [
        entry("filesystem", "read_file", "Read a file", [Yes, Unknown, Yes, No]),
        entry("filesystem", "write_file", "Write a file", [No, No, Yes, No]),
        entry("filesystem", "delete", "Delete a file", [Unknown, Yes, Yes, No]),
        entry("git", "log", "Show the commit log", [Yes, Unknown, Unknown, No]),
        entry("github", "delete_branch", "Delete a branch in a repository", [Unknown, Yes, No, Unknown]),
        entry("github", "list_branches", "List branches", [Yes, No, Unknown, Yes]),
        entry("tavily", "search", "Search the web", [Unknown, Unknown, Unknown, Unknown]),
    ]
    .map(Arc::new)
    .to_vec()
}

/// A question about a tool of [`entries`], asked so many seconds ago.
pub fn approval(id: u64, tool: &str, waiting: i64) -> Arc<ApprovalView> {
    let entry = entries().into_iter().find(|entry| &*entry.name == tool).unwrap();
    let tier = if entry.class() == EffectClass::Write { Tier::Press } else { Tier::Arm };
    Arc::new(ApprovalView {
        id: ApprovalId(id),
        call: CallId::new(format!("c{id:010}")),
        caller: seat(),
        arguments: Arguments::parse(r#"{"branch":"main","repo":"acme/api"}"#).unwrap().into(),
        confirm_set: false,
        tier,
        policy_by: format!("class {} -> ask (default)", entry.class()).into(),
        asked_at: ago(waiting),
        expires_at: Timestamp::from_millis(NOW.millis() + (300 - waiting) * 1_000),
        credentials: vec![CredentialView {
            field: "Authorization".into(),
            variables: vec!["RELEASE_GH_TOKEN".into()],
            set: true,
        }],
        history: History { approved: 2, denied: 1, last_denial: Some("wrong repo".into()), same_arguments: None },
        entry,
        change: None,
        repeat: None,
    })
}

/// A server's question with every kind of field, asked so many seconds ago.
pub fn form(id: u64, waiting: i64) -> Arc<FormView> {
    let params = serde_json::json!({
        "message": "Which release do you mean?\nThe branch main has three that fit.",
        "requestedSchema": {
            "type": "object",
            "properties": {
                "name": {"type": "string", "title": "Name of the release", "minLength": 2, "maxLength": 20,
                         "description": "As it stands on the tag, without the v."},
                "mail": {"type": "string", "format": "email", "title": "Tell whom"},
                "count": {"type": "integer", "minimum": 1, "maximum": 9, "default": 3},
                "draft": {"type": "boolean", "title": "As a draft"},
                "channel": {"type": "string", "enum": ["stable", "beta", "nightly"], "default": "beta"},
                "parts": {"type": "array", "items": {"anyOf": [
                    {"const": "src", "title": "Sources"}, {"const": "bin", "title": "Binaries"},
                    {"const": "doc", "title": "Documents"}]}},
            },
            "required": ["name", "draft"],
        },
    });
    let form = crewlet_tui::tool::elicit::read(&params.to_string(), &crewlet_tui::secret::Redactor::default()).unwrap();
    Arc::new(FormView {
        id: FormId(id),
        connection: ConnectionName::from("github::release"),
        server: ServerName::from("github"),
        during: vec![FormCall {
            call: CallId::new("cx000000003"),
            tool: "github_list_branches".into(),
            caller: seat(),
        }],
        form: Arc::new(form),
        asked_at: ago(waiting),
        expires_at: Timestamp::from_millis(NOW.millis() + (300 - waiting) * 1_000),
    })
}

/// Two questions that wait, one that does not any more, a prompt, and one that is answered.
pub fn questions() -> Board {
    let question = |channel: &str, from: &str, to: &str, (seconds, brief): (i64, &str)| QuestionView {
        channel: channel.into(),
        kind: QuestionKind::Colleague,
        from: from.into(),
        to: SeatHandle::from(to),
        at: ago(seconds),
        waits_until: None,
        brief: brief.into(),
        chain: vec![from.into()],
        budget: None,
        answer: None,
    };
    let until = |seconds: i64| Some(ago(-seconds));
    let brief = "Which branch do you want me to cut the release from?\n\nmain is green since 9 this morning, \
        release/2.4 still has the failing migration. I would take main.";
    let answer = AnswerView { by: "you".into(), at: ago(200), body: "Yes, before noon.".into() };
    [
        QuestionView {
            waits_until: until(102),
            budget: Some(2_000),
            ..question("a2a-5d0e21b7c944", "release", "ops", (18, brief))
        },
        QuestionView {
            waits_until: until(9),
            chain: vec!["alice".into(), "release".into()],
            ..question("a2a-90cc1f27ab03", "release", "alice", (111, "Is the changelog complete?"))
        },
        QuestionView {
            kind: QuestionKind::Autopilot,
            chain: Vec::new(),
            ..question("inbox-12", "nightly", "ops", (3_900, "Look through last night's alerts and write a summary."))
        },
        question("a2a-77e1b0c2d3f4", "ops", "release", (90_000, "May I restart the runner pool this week?")),
        QuestionView {
            answer: Some(answer),
            ..question("a2a-1b2c3d4e5f60", "alice", "ops", (260, "Can the staging database go down for an hour?"))
        },
    ]
    .map(Arc::new)
    .into()
}

pub fn seat() -> Caller {
    Caller::Seat { seat: SeatHandle::from("release"), session: "7c1e".into(), client: "claude-code 2.1".into() }
}

pub fn calls() -> Vec<Arc<CallView>> {
    let phases = [
        ("filesystem_read_file", CallPhase::Done { is_error: false }),
        ("git_log", CallPhase::Done { is_error: true }),
        ("filesystem_delete", CallPhase::Denied { reason: "wrong folder".into() }),
        ("github_list_branches", CallPhase::Running),
        ("github_delete_branch", CallPhase::Waiting(ApprovalId(1))),
        ("tavily_search", CallPhase::Waiting(ApprovalId(2))),
    ];
    phases.into_iter().enumerate().map(|(n, (name, phase))| Arc::new(call(n, name, phase))).collect()
}

fn call(n: usize, name: &str, phase: CallPhase) -> CallView {
    let entry = entries().into_iter().find(|entry| &*entry.name == name).unwrap();
    let over = phase.is_over();
    CallView {
        id: match phase {
            CallPhase::Waiting(id) => CallId::new(format!("c{:010}", id.0)),
            _ => CallId::new(format!("cx{n:09}")),
        },
        at: ago(60 - i64::try_from(n).unwrap_or(0) * 8),
        caller: seat(),
        name: name.into(),
        server: Some(entry.server.clone()),
        connection: Some(entry.connection.clone()),
        raw_name: Some(entry.raw_name.clone()),
        class: Some(entry.class()),
        flags: Vec::new(),
        arguments: Some(Arguments::parse(r#"{"path":"notes.txt"}"#).unwrap().into()),
        policy: Some((PolicyDecision::Allow, "class read".into())),
        decider: None,
        result: (phase == CallPhase::Done { is_error: false })
            .then(|| Arc::new(ResultView { text: "hello\nworld".into(), is_error: false, redacted: false })),
        phase,
        elapsed: over.then(|| Duration::from_millis(14)),
        ran: over.then(|| Duration::from_millis(12)),
    }
}

fn log() -> Ring<LogRecord> {
    let mut log = Ring::new(5_000);
    for record in [
        record(400, LogLevel::Info, "server_initialized", Some("filesystem"), "tools=14 took_ms=212"),
        record(399, LogLevel::Info, "server_initialized", Some("git"), "tools=12 took_ms=180"),
        record(398, LogLevel::Debug, "server_stderr", Some("git"), "line=\"ready\""),
        record(320, LogLevel::Warn, "server_start_failed", Some("notion"), "reason=\"connection refused\" attempt=1"),
        record(310, LogLevel::Error, "server_stderr_tail", Some("linear"), "lines=2 error=\"exit 1 after 0.8 s\""),
    ] {
        log.push(record);
    }
    log
}

fn record(seconds: i64, level: LogLevel, event: &str, server: Option<&str>, text: &str) -> LogRecord {
    LogRecord { at: ago(seconds), level, event: event.into(), server: server.map(Into::into), text: text.into() }
}
