//! The tools pane.

use std::sync::Arc;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::config::model::PolicyDecision;
use crate::engine::snapshot::DiffLine;
use crate::engine::status::ConnectionStatus;
use crate::ids::{ConnectionName, SeatHandle, ServerName};
use crate::tool::annotations::Parsed;
use crate::tool::{Annotations, Hint, HintName, Hints, Rejected};
use crate::tui::card::fixtures::{
    NOON, assert_clean, delete_branch, drawing, entry, hostile, screen, screen_text, server, snapshot, with_hints,
};

fn catalogue() -> Snapshot {
    let read = entry("github", "list_issues", [Hint::Yes, Hint::Unknown, Hint::Yes, Hint::Yes]);
    let write = entry("github", "create_issue", [Hint::No, Hint::No, Hint::No, Hint::Yes]);
    let odd = Parsed {
        annotations: Annotations { read_only: Hint::Yes, ..Annotations::default() },
        malformed: vec![HintName::Destructive],
    };
    let odd = with_hints("gitlab", "odd", Hints::from_server(odd, None));
    let unknown = entry("notes", "wipe", [Hint::Unknown; 4]);
    let tools = [delete_branch(), read, write, odd, unknown].into_iter().map(Arc::new).collect();
    let rejected = Rejected {
        server: ServerName::from("notes"),
        connection: ConnectionName::from("notes::release"),
        index: 3,
        name: None,
        reason: "its name is blank".into(),
    };
    let mut all = snapshot(Vec::new());
    all.catalog = Arc::new(Catalog::new(tools, vec![rejected]));
    let mut down = server("notes::release");
    down.status = ConnectionStatus::Disabled;
    all.servers = vec![Arc::new(server("github::release")), Arc::new(server("gitlab::release")), Arc::new(down)];
    all
}

fn shown(pane: &mut ToolsPane, snapshot: &Snapshot, (width, height): (u16, u16)) -> String {
    let area = screen(width, height);
    pane.layout(area, snapshot);
    let mut buf = Buffer::empty(area);
    drawing(snapshot, |draw| pane.render(&mut buf, draw));
    assert_clean(&buf);
    screen_text(&buf)
}

/// What passes a `key:value` term in a company of two agents' seats, one of which has a tool of its own that hides the
/// shared one of that name.
fn held(key: &str, value: &str) -> Vec<String> {
    let of = |seat: Option<&str>, raw: &str, hints| Entry {
        connection: ConnectionName::from(if seat.is_some() { "git::ops" } else { "shared" }),
        seat: seat.map(SeatHandle::from),
        name: raw.into(),
        exposed: raw.into(),
        ..entry("git", raw, hints)
    };
    let (read, destructive) = ([Hint::Yes; 4], [Hint::No, Hint::Yes, Hint::No, Hint::Yes]);
    let tools = [of(None, "log", read), of(None, "wipe", destructive), of(Some("ops"), "log", read)];
    let mut all = snapshot(Vec::new());
    all.seats = vec!["ops".into(), "opsy".into()];
    all.catalog = Arc::new(Catalog::new(tools.into_iter().map(Arc::new).collect(), Vec::new()));
    let mut pane = ToolsPane::default();
    pane.show_only(key, value);
    pane.layout(screen(120, 40), &all);
    let tool = |item: &Item| match item {
        Item::Tool(entry) => format!("{} {}", entry.connection, entry.name),
        Item::Rejected(_) => "rejected".to_owned(),
    };
    pane.rows.iter().map(tool).collect()
}

#[test]
fn the_tools_of_a_seat_are_its_own_and_the_shared_ones_that_none_of_those_hides() {
    assert_eq!(held("seat", "ops"), ["shared wipe", "git::ops log"]);
    assert_eq!(held("seat", "opsy"), ["shared log", "shared wipe"]);
    assert_eq!(held("seat", "op"), ["shared log", "shared wipe", "git::ops log"], "while it is being typed");
    assert_eq!(held("seat", "nobody"), Vec::<String>::new());
}

#[test]
fn a_worker_is_shown_only_what_it_may_hold() {
    assert_eq!(held("worker", "ops"), ["git::ops log"]);
    assert_eq!(held("worker", "opsy"), ["shared log"]);
}

#[test]
fn one_chooses_as_whom_to_look_and_the_title_says_it() {
    use Intent::{Back, Bottom, Down, Open, Up, ViewAs};
    let mut all = catalogue();
    all.seats = vec!["ops".into(), "release".into()];
    let (mut pane, area) = (ToolsPane::default(), screen(120, 40));
    pane.layout(area, &all);
    pane.two.filter.insert("issue");
    let mut choose = |keys: &[Intent]| {
        for intent in keys {
            pane.apply(*intent, &all);
        }
        let (choosing, filter) = (pane.choosing(), pane.two.filter.text().to_owned());
        (choosing, filter, shown(&mut pane, &all, (120, 40)))
    };
    let (choosing, filter, text) = choose(&[ViewAs]);
    assert_eq!((choosing, &*filter), (true, "issue"));
    for words in ["Look at the tools as", "everything", "seat ops", "a worker of ops", "a worker of release", "1/5"] {
        assert!(text.contains(words), "{words}\n{text}");
    }
    let (choosing, filter, text) = choose(&[Bottom, Open]);
    assert_eq!((choosing, &*filter), (false, "issue worker:release"));
    assert!(text.contains("Tools · as a worker of release") && text.contains(" issue  "), "{text}");
    assert!(text.contains("list_issues") && !text.contains("create_issue"), "a worker does not write\n{text}");
    let (_, filter, text) = choose(&[ViewAs, Up, Open]);
    assert_eq!(filter, "issue seat:release");
    assert!(text.contains("Tools · as seat release") && text.contains("create_issue"), "{text}");
    assert_eq!(choose(&[ViewAs, Down, Back]).1, "issue seat:release", "nothing was chosen");
    assert_eq!(choose(&[ViewAs, Intent::Top, Open]).1, "issue");
}

fn filtered(filter: &str) -> Vec<String> {
    let (mut pane, all) = (ToolsPane::default(), catalogue());
    pane.layout(screen(120, 40), &all);
    pane.apply(Intent::Search, &all);
    for c in filter.chars() {
        pane.field().unwrap().key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE));
    }
    pane.field().unwrap().key(KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE));
    pane.layout(screen(120, 40), &all);
    let names = pane.rows.iter().map(|item| match item {
        Item::Tool(entry) => entry.raw_name.to_string(),
        Item::Rejected(rejected) => format!("!{}", rejected.index),
    });
    names.collect()
}

#[test]
fn the_filter_takes_words_and_pairs() {
    let table: [(&str, &[&str]); 13] = [
        ("", &["delete_branch", "list_issues", "create_issue", "odd", "wipe", "!3"]),
        ("issue", &["list_issues", "create_issue"]),
        ("ISSUE create", &["create_issue"]),
        ("brought back", &["delete_branch", "list_issues", "create_issue", "odd", "wipe"]),
        ("class:destructive", &["delete_branch"]),
        ("class:unknown", &["odd", "wipe"]),
        ("destructive", &["delete_branch"]),
        ("server:github", &["delete_branch", "list_issues", "create_issue"]),
        ("server:git", &["delete_branch", "list_issues", "create_issue", "odd"]),
        ("server:notes", &["wipe", "!3"]),
        ("hint:malformed", &["odd"]),
        ("hint:overridden", &["delete_branch"]),
        ("blank", &["!3"]),
    ];
    for (filter, expected) in table {
        assert_eq!(filtered(filter), expected, "{filter}");
    }
}

#[test]
fn keys_step_through_classes_and_servers() {
    let (mut pane, all) = (ToolsPane::default(), catalogue());
    pane.layout(screen(120, 40), &all);
    let mut seen = Vec::new();
    for intent in [Intent::CycleClass, Intent::CycleClass, Intent::CycleServer, Intent::CycleServer, Intent::Back] {
        pane.apply(intent, &all);
        seen.push(pane.two.filter.text().to_owned());
    }
    let expected = [
        "class:destructive",
        "class:unknown",
        "class:unknown server:github::release",
        "class:unknown server:gitlab::release",
        "",
    ];
    assert_eq!(seen, expected);
    pane.show_only("server", "notes::release");
    pane.layout(screen(120, 40), &all);
    assert_eq!(pane.rows.len(), 2);
}

#[test]
fn calling_opens_the_editor_or_says_why_not() {
    let (mut pane, mut all) = (ToolsPane::default(), catalogue());
    pane.layout(screen(120, 40), &all);
    assert_eq!(pane.apply(Intent::Open, &all), [Effect::EditCall(all.catalog.entries()[0].key())]);
    let complains = |effects: Vec<Effect>, words: &str| {
        assert!(matches!(&effects[..], [Effect::Complain(text)] if text.contains(words)), "{words}: {effects:?}");
    };
    pane.apply(Intent::Bottom, &all);
    complains(pane.apply(Intent::Open, &all), "its name is blank");
    pane.apply(Intent::Up, &all);
    complains(pane.apply(Intent::Open, &all), "notes::release is disabled");
    pane.apply(Intent::Top, &all);
    all.read_only = true;
    complains(pane.apply(Intent::Open, &all), "read-only");
}

#[test]
fn the_detail_tells_value_and_source_of_every_hint() {
    let (mut pane, all) = (ToolsPane::default(), catalogue());
    let text = shown(&mut pane, &all, (120, 40));
    for words in [
        "config.yaml:41  (server: yes)",
        "nobody said",
        "cannot be brought back",
        "refused: destructive",
        "counts, on github",
    ] {
        assert!(text.contains(words), "{words}\n{text}");
    }
}

#[test]
fn a_contradictory_tool_says_why_a_worker_may_hold_it() {
    let (mut pane, mut all) = (ToolsPane::default(), catalogue());
    let mut odd = crate::tui::card::fixtures::delete_branch();
    odd.flags = vec![crate::tool::Flag::Contradictory];
    odd.worker = crate::tool::worker::SharedWrite { writes: false, reason: "read only" };
    all.catalog = Arc::new(Catalog::new(vec![Arc::new(odd)], Vec::new()));
    let text = shown(&mut pane, &all, (140, 40));
    for words in ["allowed: it says read only (and destructive:", "contradictory)", "workers: whether a sub-agent"] {
        assert!(text.contains(words), "{words}\n{text}");
    }
}

#[test]
fn the_schema_is_shown_whole_and_left_again() {
    let (mut pane, all) = (ToolsPane::default(), catalogue());
    pane.layout(screen(80, 30), &all);
    pane.apply(Intent::Schema, &all);
    let text = shown(&mut pane, &all, (80, 30));
    assert!(text.contains("input schema") && text.contains("\"required\": [\"repo\", \"branch\"]"), "{text}");
    pane.apply(Intent::Back, &all);
    assert!(shown(&mut pane, &all, (80, 30)).contains("fingerprint"), "back to what is known about it");
    pane.apply(Intent::Back, &all);
    assert!(shown(&mut pane, &all, (80, 30)).contains("list_issues"), "back to the list");
}

#[test]
fn the_selection_stays_when_tools_come_and_go() {
    let (mut pane, mut all) = (ToolsPane::default(), catalogue());
    pane.layout(screen(120, 40), &all);
    pane.apply(Intent::Down, &all);
    let tools = all.catalog.entries();
    let tools = vec![Arc::new(entry("aaa", "first", [Hint::Unknown; 4])), tools[2].clone(), tools[1].clone()];
    all.catalog = Arc::new(Catalog::new(tools, Vec::new()));
    pane.layout(screen(120, 40), &all);
    assert_eq!(pane.two.pick.id(), Some(&ItemId::Tool(all.catalog.entries()[2].key())));
}

#[test]
fn the_first_line_says_what_happens_and_a_change_is_marked() {
    let mut all = catalogue();
    let name: Arc<str> = "github_delete_branch".into();
    let answer = |decision, by: &str| PolicyAnswer { decision, by: by.into() };
    let by = "class destructive -> ask (config.yaml:41)";
    let lines = vec![DiffLine::Removed("destructive: no".into()), DiffLine::Added("destructive: yes".into())];
    let entry = all.catalog.entries().iter().find(|entry| entry.name == name).unwrap().clone();
    all.policies = Arc::new([(entry.key(), answer(PolicyDecision::Ask, by))].into());
    let change =
        |kind| Arc::new(ToolChange { at: NOON, connection: entry.connection.clone(), tool: name.clone(), kind });
    all.tool_changes = vec![change(ToolChangeKind::Removed), change(ToolChangeKind::Changed(lines))];
    let mut pane = ToolsPane::default();
    pane.two.pick.select(ItemId::Tool(entry.key()));
    let text = shown(&mut pane, &all, (160, 40));
    for words in [
        "github_delete_branch  changed 14:03",
        "DESTRUCTIVE  asks a person (class destructive -> ask",
        "its server changed it: 1 line removed (-), 1 added (+)",
        "+ destructive: yes",
    ] {
        assert!(text.contains(words), "{words}\n{text}");
    }
    all.tool_changes.push(change(ToolChangeKind::Removed));
    assert!(!shown(&mut pane, &all, (160, 40)).contains("changed 14:03"));
}

#[test]
fn golden_screens() {
    for size in [(120, 40), (80, 24), (40, 12)] {
        let text = shown(&mut ToolsPane::default(), &catalogue(), size);
        insta::assert_snapshot!(format!("tools_{}x{}", size.0, size.1), text);
    }
    let (mut pane, all) = (ToolsPane::default(), catalogue());
    pane.apply(Intent::Next, &all);
    insta::assert_snapshot!("tools_detail_80x24", shown(&mut pane, &all, (80, 24)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_size_and_any_text_is_survived(
        (width, height) in (0_u16..130, 0_u16..40),
        name in "[\\PC\u{9b}\u{1b}\u{202e}]{1,60}",
        text in "[\\PC\u{9b}\u{1b}\n\u{202e}]{0,300}",
        steps in prop::collection::vec(0_usize..9, 0..12),
    ) {
        let mut tool = entry("git", &name, [Hint::Unknown; 4]);
        tool.description = text.as_str().into();
        tool.title = name.as_str().into();
        tool.input_schema = Arc::new(json!({"properties": hostile(), "required": [name]}));
        let mut all = catalogue();
        let mut tools = all.catalog.entries().to_vec();
        tools.insert(0, Arc::new(tool));
        all.catalog = Arc::new(Catalog::new(tools, all.catalog.rejected().to_vec()));
        let mut pane = ToolsPane::default();
        let moves = [Intent::Next, Intent::Down, Intent::Bottom, Intent::PageUp, Intent::Open, Intent::Back, Intent::CycleClass, Intent::Search, Intent::Schema];
        for step in steps {
            shown(&mut pane, &all, (width, height));
            pane.apply(moves[step], &all);
        }
        shown(&mut pane, &all, (width, height));
        shown(&mut pane, &all, (height, width));
    }
}
