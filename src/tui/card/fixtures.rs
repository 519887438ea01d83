//! Questions, calls and snapshots for the tests of the screen.

use std::sync::Arc;
use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde_json::{Value, json};

use crate::clock::Timestamp;
use crate::config::model::PolicyDecision;
use crate::engine::ring::Ring;
use crate::engine::snapshot::{
    ApprovalView, AuditHealth, CallPhase, CallView, Caller, CredentialView, History, ServerView, Snapshot, Tier,
    TransportFacts,
};
use crate::engine::status::ConnectionStatus;
use crate::ids::{ApprovalId, CallId, ConnectionName, SeatHandle, ServerName};
use crate::tool::annotations::Parsed;
use crate::tool::{
    Annotations, Arguments, Catalog, ConfigRef, Digest, Entry, Fingerprint, Hint, HintOverride, Hints, Origin,
    classify, delivery, worker,
};
use crate::tui::Draw;
use crate::tui::theme::Theme;

/// 2026-11-30T14:03:00Z.
pub(crate) const NOON: Timestamp = Timestamp::from_millis(1_796_047_380_000);

/// A tool of a server with the hints read only, destructive, idempotent, open world.
pub(crate) fn entry(server: &str, raw: &str, hints: [Hint; 4]) -> Entry {
    let [read_only, destructive, idempotent, open_world] = hints;
    let annotations = Annotations { title: String::new(), read_only, destructive, idempotent, open_world };
    let hints = Hints::from_server(Parsed { annotations, malformed: Vec::new() }, None);
    with_hints(server, raw, hints)
}

/// A tool with all stages of its hints given.
pub(crate) fn with_hints(server: &str, raw: &str, hints: Hints) -> Entry {
    let origin = Origin::Mcp(ServerName::from(server));
    let classification = classify::classify(&hints);
    Entry {
        name: format!("{server}_{raw}").into(),
        exposed: format!("{server}_{raw}").into(),
        raw_name: raw.into(),
        server: ServerName::from(server),
        connection: ConnectionName::from(format!("{server}::release").as_str()),
        seat: Some("release".into()),
        title: Arc::from(""),
        description: "Delete a branch in a repository.\n\nIt cannot be brought back.".into(),
        input_schema: Arc::new(json!({
            "type": "object",
            "properties": {"branch": {"type": "string"}, "force": {"type": "boolean", "default": false},
                "repo": {"type": "string"}},
            "required": ["repo", "branch"],
        })),
        output_schema: None,
        worker: worker::writes_to_shared_surface(&hints.effective),
        delivery: delivery::delivery(&origin, &hints.effective, None),
        fingerprint: Fingerprint(Digest::of(format!("{server}/{raw}").as_bytes())),
        flags: classification.flags.clone(),
        classification,
        origin,
        hints,
    }
}

/// `github :: delete_branch`, destructive, with one hint overridden.
pub(crate) fn delete_branch() -> Entry {
    let annotations =
        Annotations { destructive: Hint::Yes, idempotent: Hint::No, read_only: Hint::Yes, ..Annotations::default() };
    let place = ConfigRef { file: "config.yaml".into(), line: 41 };
    let over = HintOverride {
        annotations: Annotations { read_only: Hint::No, ..Annotations::default() },
        places: [Some(place), None, None, None],
    };
    let hints = Hints::from_server(Parsed { annotations, malformed: Vec::new() }, Some(over));
    Entry { title: "Delete a branch".into(), ..with_hints("github", "delete_branch", hints) }
}

/// A question about `entry` with these arguments.
pub(crate) fn approval(id: u64, entry: Entry, arguments: &str, tier: Tier) -> ApprovalView {
    ApprovalView {
        id: ApprovalId(id),
        call: CallId::from(format!("c{id:010}").as_str()),
        caller: seat(),
        entry: Arc::new(entry),
        arguments: Arguments::parse(arguments).unwrap().into(),
        confirm_set: false,
        tier,
        policy_by: "class destructive -> ask (config.yaml:7)".into(),
        asked_at: Timestamp::from_millis(NOON.millis() - 18_000),
        expires_at: NOON.plus(Duration::from_secs(282)),
        credentials: vec![CredentialView {
            field: "Authorization".into(),
            variables: vec!["RELEASE_GH_TOKEN".into()],
            set: true,
        }],
        history: History { approved: 2, denied: 1, last_denial: Some("wrong repo".into()), same_arguments: None },
        change: None,
        repeat: None,
    }
}

/// An agent on the seat `release`.
pub(crate) fn seat() -> Caller {
    Caller::Seat { seat: SeatHandle::from("release"), session: "7c1e".into(), client: "claude-code 2.1".into() }
}

/// The call of a question, in this phase.
pub(crate) fn call_of(approval: &ApprovalView, phase: CallPhase) -> CallView {
    CallView {
        id: approval.call.clone(),
        at: approval.asked_at,
        caller: approval.caller.clone(),
        name: approval.entry.name.clone(),
        server: Some(approval.entry.server.clone()),
        connection: Some(approval.entry.connection.clone()),
        raw_name: Some(approval.entry.raw_name.clone()),
        class: Some(approval.entry.class()),
        flags: Vec::new(),
        arguments: Some(approval.arguments.clone()),
        policy: Some((PolicyDecision::Ask, approval.policy_by.clone())),
        decider: phase.is_over().then(|| "person".into()),
        ran: phase.is_over().then(|| Duration::from_millis(412)),
        elapsed: phase.is_over().then(|| Duration::from_millis(18_412)),
        result: None,
        phase,
    }
}

/// A connection that is ready.
pub(crate) fn server(connection: &str) -> ServerView {
    ServerView {
        connection: ConnectionName::from(connection),
        server: ServerName::from(connection.split("::").next().unwrap()),
        seat: connection.split_once("::").map(|(_, seat)| seat.into()),
        status: ConnectionStatus::Ready { since: NOON },
        transport: TransportFacts::Other,
        peer: None,
        tools_by_class: [0; 4],
        rejected: 0,
        list_cut: None,
        restarts: 0,
        calls: 0,
        p50: None,
        last_failure: None,
        credentials: Vec::new(),
        stderr: Ring::new(8),
        stderr_dropped: 0,
        noise: 0,
        limits: (Duration::from_secs(10), Duration::from_secs(60)),
    }
}

/// A snapshot with these questions and their waiting calls.
pub(crate) fn snapshot(approvals: Vec<ApprovalView>) -> Snapshot {
    let calls = approvals.iter().map(|a| Arc::new(call_of(a, CallPhase::Waiting(a.id)))).collect();
    let entries = approvals.iter().map(|a| a.entry.clone()).collect();
    Snapshot {
        revision: 1,
        company: "Acme AI".into(),
        config_file: "config.yaml".into(),
        read_only: false,
        seats: vec!["release".into()],
        chart: Arc::default(),
        servers: vec![Arc::new(server("github::release"))],
        catalog: Arc::new(Catalog::new(entries, Vec::new())),
        approvals: approvals.into_iter().map(Arc::new).collect(),
        calls,
        log: Ring::new(8),
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
        questions: std::sync::Arc::new([]),
        grants: Vec::new(),
        stopped_seats: Vec::new(),
        policies: Arc::default(),
        tool_changes: Vec::new(),
    }
}

/// The snapshot after the question with this index ended like this.
pub(crate) fn ended(snapshot: &Snapshot, index: usize, phase: CallPhase) -> Snapshot {
    let mut after = snapshot.clone();
    let approval = after.approvals.remove(index);
    let call = call_of(&approval, phase);
    for known in &mut after.calls {
        if known.id == call.id {
            *known = Arc::new(call.clone());
        }
    }
    after
}

/// Runs `f` with what a frame at [`NOON`] may look at.
pub(crate) fn drawing<T>(snapshot: &Snapshot, f: impl FnOnce(&Draw<'_>) -> T) -> T {
    let theme = Theme::plain();
    let zone = jiff::tz::TimeZone::UTC;
    f(&Draw { snapshot, theme: &theme, now: NOON, zone: &zone, focused: true })
}

/// What a buffer shows, line by line, without trailing blanks.
pub(crate) fn screen_text(buf: &Buffer) -> String {
    let area = *buf.area();
    let mut lines = Vec::new();
    for y in area.top()..area.bottom() {
        let mut line = String::new();
        let mut skip = 0_usize;
        for x in area.left()..area.right() {
            let symbol = buf.cell((x, y)).map_or(" ", |cell| cell.symbol());
            if skip == 0 {
                line.push_str(symbol);
            }
            skip = skip.max(crate::text::width(symbol)).saturating_sub(1);
        }
        lines.push(line.trim_end().to_owned());
    }
    lines.join("\n")
}

/// Panics when a cell holds something that a terminal would not draw as it stands.
pub(crate) fn assert_clean(buf: &Buffer) {
    for cell in buf.content() {
        let symbol = cell.symbol();
        assert!(!symbol.chars().any(char::is_control) && crate::text::visible(symbol) == symbol, "{symbol:?}");
    }
}

/// A screen from the origin.
pub(crate) const fn screen(width: u16, height: u16) -> Rect {
    Rect { x: 0, y: 0, width, height }
}

/// Any JSON.
pub(crate) fn hostile() -> Value {
    json!({
        "a\u{1b}[2J": "x\u{202e}y\u{200b}z\u{9b}31m\r\n".repeat(20),
        "deep": [[[[[[{"k": "v".repeat(300)}]]]]]],
        "emoji": "👨‍👩‍👧‍👦♻️1️⃣🇩🇪 عربى 한글漢字",
        "marks": format!("e{}", "\u{301}".repeat(200)),
    })
}
