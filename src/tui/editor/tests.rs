//! The call editor: what is sent, what is refused, and its pictures.

use std::sync::Arc;
use std::time::Instant;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use proptest::prelude::*;
use ratatui::buffer::Buffer;
use serde_json::json;

use super::CallEditor;
use crate::engine::command::Command;
use crate::engine::snapshot::{Snapshot, Tier};
use crate::engine::status::ConnectionStatus;
use crate::tool::{Catalog, Digest, Entry, Fingerprint};
use crate::tui::card::Outcome;
use crate::tui::card::fixtures::{approval, delete_branch, drawing, screen, screen_text, snapshot};
use crate::tui::intent::{Effect, Intent};

fn bench() -> (CallEditor, Snapshot) {
    opened(delete_branch())
}

fn opened(entry: Entry) -> (CallEditor, Snapshot) {
    let snapshot = snapshot(vec![approval(1, entry, "{}", Tier::Arm)]);
    let mut editor = CallEditor::open(snapshot.catalog.entries()[0].clone());
    editor.layout(screen(100, 24), &snapshot);
    (editor, snapshot)
}

fn press(editor: &mut CallEditor, snapshot: &Snapshot, intent: Option<Intent>, code: KeyCode) -> Outcome {
    editor.key(intent, KeyEvent::new(code, KeyModifiers::NONE), Instant::now(), snapshot)
}

fn submit(editor: &mut CallEditor, snapshot: &Snapshot) -> Outcome {
    let key = KeyEvent::new(KeyCode::Char('s'), KeyModifiers::CONTROL);
    editor.key(Some(Intent::Submit), key, Instant::now(), snapshot)
}

/// Replaces all of the text.
fn write(editor: &mut CallEditor, text: &str) {
    editor.area.select_all();
    editor.area.cut();
    editor.paste(text);
}

fn text(editor: &CallEditor, snapshot: &Snapshot, (width, height): (u16, u16)) -> String {
    let area = screen(width, height);
    let mut buf = Buffer::empty(area);
    drawing(snapshot, |draw| editor.render(area, &mut buf, draw, Instant::now()));
    screen_text(&buf)
}

#[test]
fn it_begins_with_a_draft() {
    let (editor, _) = bench();
    let draft: serde_json::Value = serde_json::from_str(&editor.text()).unwrap();
    assert_eq!(draft, json!({"repo": "", "branch": "", "force": false}));
}

#[test]
fn the_cursor_begins_where_something_is_missing() {
    let (mut editor, snapshot) = bench();
    for c in "main".chars() {
        press(&mut editor, &snapshot, None, KeyCode::Char(c));
    }
    assert!(editor.text().contains("\"branch\": \"main\""), "{}", editor.text());
}

#[test]
fn typing_replaces_the_first_placeholder_that_nobody_chose() {
    let table = [
        (json!({"count": {"type": "integer"}, "mode": {"enum": ["a", "b"]}}), "7", "\"count\": 7"),
        (json!({"limit": {"type": "integer", "default": 10}, "x": {"type": "number"}}), "1.5", "\"x\": 1.5"),
        (json!({"force": {"type": "boolean"}}), "true", "\"force\": true"),
        (json!({"names": {"type": "array"}}), "\"a\"", "\"names\": [\"a\"]"),
        (json!({"name": {"type": "string"}, "n": {"type": "integer"}}), "x", "\"name\": \"x\""),
    ];
    for (properties, typed, expected) in table {
        let required: Vec<&String> = properties.as_object().unwrap().keys().collect();
        let schema = json!({"type": "object", "properties": properties.clone(), "required": required});
        let (mut editor, snapshot) = opened(Entry { input_schema: Arc::new(schema), ..delete_branch() });
        for c in typed.chars() {
            press(&mut editor, &snapshot, None, KeyCode::Char(c));
        }
        assert!(editor.text().contains(expected), "{expected}\n{}", editor.text());
    }
}

#[test]
fn an_empty_required_text_is_named_once_before_it_is_sent() {
    let (mut editor, snapshot) = bench();
    write(&mut editor, "{\"repo\": \"\", \"branch\": \"main\"}");
    assert_eq!(submit(&mut editor, &snapshot), Outcome::default());
    assert!(text(&editor, &snapshot, (100, 24)).contains("repo is empty: Ctrl-S again sends it so"));
    press(&mut editor, &snapshot, None, KeyCode::Char(' '));
    assert_eq!(submit(&mut editor, &snapshot), Outcome::default(), "another text is asked about anew");
    assert!(submit(&mut editor, &snapshot).close);
}

#[test]
fn towers_of_marks_never_reach_the_terminal() {
    let tower = "\u{301}".repeat(200);
    let (mut editor, snapshot) = bench();
    write(&mut editor, &format!("{{\"a\":\"e{tower}\"}}"));
    let value: serde_json::Value = serde_json::from_str(&editor.text()).unwrap();
    assert_eq!(value, json!({"a": format!("e{tower}")}), "it means the same");
    assert!(editor.text().contains("\\u0301"));
    let (mut typed, _) = bench();
    for c in tower.chars() {
        press(&mut typed, &snapshot, None, KeyCode::Char(c));
    }
    // Marks that come together when what stood between them is deleted.
    let (mut joined, _) = bench();
    write(&mut joined, &format!("{0}b{0}b{0}b{0}b{0}", "\u{301}".repeat(4)).replace('b', "be"));
    for _ in 0..12 {
        press(&mut joined, &snapshot, None, KeyCode::Left);
        press(&mut joined, &snapshot, None, KeyCode::Backspace);
    }
    for editor in [&mut editor, &mut typed, &mut joined] {
        let area = screen(100, 24);
        editor.layout(area, &snapshot);
        let mut buf = Buffer::empty(area);
        drawing(&snapshot, |draw| editor.render(area, &mut buf, draw, Instant::now()));
        let raw = buf.content().iter().find(|cell| crate::text::has_hidden(cell.symbol()));
        assert!(raw.is_none(), "{raw:?}");
    }
}

#[test]
fn what_fits_the_schema_is_sent_as_written_and_followed() {
    let (mut editor, snapshot) = bench();
    write(&mut editor, "{\"repo\": \"acme/api\",\n \"branch\": \"main\"}");
    let outcome = submit(&mut editor, &snapshot);
    assert!(outcome.close);
    let [Effect::Send(Command::Call { call, tool, arguments }), Effect::Show(target)] = outcome.effects.as_slice()
    else {
        panic!("{outcome:?}")
    };
    assert_eq!(&**tool, "github::release/delete_branch");
    let sent: serde_json::Value = serde_json::from_str(arguments.canonical()).unwrap();
    assert_eq!(sent, json!({"branch": "main", "repo": "acme/api"}));
    assert_eq!(*target, crate::tui::intent::Target::Call(call.clone()));
}

#[test]
fn what_does_not_fit_is_not_sent_and_says_where() {
    let table = [
        ("{\"repo\": 7, \"branch\": \"x\"}", "/repo"),
        ("{\"repo\": \"x\"}", "\"branch\" is a required property"),
        ("{\"repo\": ", "not JSON"),
        ("[]", "not a JSON object"),
    ];
    for (written, words) in table {
        let (mut editor, snapshot) = bench();
        write(&mut editor, written);
        assert_eq!(submit(&mut editor, &snapshot), Outcome::default(), "{written}");
        let shown = text(&editor, &snapshot, (100, 24));
        assert!(shown.contains(words), "{written}: {words}\n{shown}");
    }
}

#[test]
fn nothing_is_sent_where_it_cannot_arrive() {
    type Change = fn(&mut Snapshot);
    let valid = "{\"repo\": \"a\", \"branch\": \"b\"}";
    let table: [(Change, &str); 4] = [
        (|snapshot| snapshot.read_only = true, "read-only"),
        (|snapshot| snapshot.catalog = Arc::new(Catalog::default()), "not in the catalogue any more"),
        (
            |snapshot| {
                let changed = Entry { fingerprint: Fingerprint(Digest::of(b"x")), ..delete_branch() };
                snapshot.catalog = Arc::new(Catalog::new(vec![Arc::new(changed)], Vec::new()));
            },
            "has changed since",
        ),
        (
            |snapshot| {
                let mut server = (*snapshot.servers[0]).clone();
                server.status = ConnectionStatus::Disabled;
                snapshot.servers = vec![Arc::new(server)];
            },
            "github::release is disabled",
        ),
    ];
    for (change, words) in table {
        let (mut editor, mut snapshot) = bench();
        write(&mut editor, valid);
        change(&mut snapshot);
        assert_eq!(submit(&mut editor, &snapshot), Outcome::default(), "{words}");
        assert!(text(&editor, &snapshot, (100, 24)).contains(words), "{words}");
    }
}

#[test]
fn a_schema_that_cannot_be_checked_does_not_stop_the_call() {
    let schema = json!({"type": "object", "$ref": "https://example.com/x.json"});
    let (mut editor, snapshot) = opened(Entry { input_schema: Arc::new(schema), ..delete_branch() });
    let outcome = submit(&mut editor, &snapshot);
    assert!(outcome.close);
    let said = outcome.effects.iter().find_map(|effect| match effect {
        Effect::Say(text) => Some(text.clone()),
        _ => None,
    });
    assert!(said.unwrap().contains("without a check"));
}

#[test]
fn leaving_asks_only_when_something_was_written() {
    let (mut editor, snapshot) = bench();
    assert!(press(&mut editor, &snapshot, Some(Intent::Back), KeyCode::Esc).close);

    let (mut editor, snapshot) = bench();
    press(&mut editor, &snapshot, None, KeyCode::Char('x'));
    assert!(!press(&mut editor, &snapshot, Some(Intent::Back), KeyCode::Esc).close);
    assert!(text(&editor, &snapshot, (100, 24)).contains("close without sending?"));
    let before = editor.text();
    assert!(!press(&mut editor, &snapshot, None, KeyCode::Char('n')).close, "stays");
    assert_eq!(editor.text(), before, "the answer is not written into the text");
    press(&mut editor, &snapshot, Some(Intent::Back), KeyCode::Esc);
    assert!(press(&mut editor, &snapshot, None, KeyCode::Char('y')).close);
}

#[test]
fn hidden_characters_are_written_as_escapes_that_mean_the_same() {
    let (mut editor, _) = bench();
    write(&mut editor, "{\"a\":\"x\u{9b}y\u{7f}z\"}");
    assert_eq!(editor.text(), "{\"a\":\"x\\u009by\\u007fz\"}");
    let value: serde_json::Value = serde_json::from_str(&editor.text()).unwrap();
    assert_eq!(value, json!({"a": "x\u{9b}y\u{7f}z"}));
}

#[test]
fn too_much_is_not_taken() {
    let (mut editor, snapshot) = bench();
    let before = editor.text();
    editor.paste(&"x".repeat(300 << 10));
    assert_eq!(editor.text(), before);
    assert!(text(&editor, &snapshot, (100, 24)).contains("too long"));
}

#[test]
fn golden_screens() {
    let (mut editor, snapshot) = bench();
    for size in [(120, 40), (80, 24), (40, 12)] {
        editor.layout(screen(size.0, size.1), &snapshot);
        insta::assert_snapshot!(format!("{}x{}", size.0, size.1), text(&editor, &snapshot, size));
    }
    write(&mut editor, "{\"repo\": 7}");
    submit(&mut editor, &snapshot);
    editor.layout(screen(80, 24), &snapshot);
    insta::assert_snapshot!("80x24_problems", text(&editor, &snapshot, (80, 24)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_size_and_any_text_is_survived(
        (width, height) in (0_u16..130, 0_u16..45),
        written in "[\\PC\u{9b}\u{1b}\n\t]{0,120}",
        keys in "[a\u{7}{\"\u{9b}]{0,6}",
    ) {
        let (mut editor, snapshot) = bench();
        editor.layout(screen(width, height), &snapshot);
        write(&mut editor, &written);
        for c in keys.chars() {
            press(&mut editor, &snapshot, None, KeyCode::Char(c));
        }
        for code in [KeyCode::Up, KeyCode::PageUp, KeyCode::Backspace, KeyCode::Tab, KeyCode::End, KeyCode::Delete] {
            press(&mut editor, &snapshot, None, code);
        }
        submit(&mut editor, &snapshot);
        let shown = text(&editor, &snapshot, (width, height));
        prop_assert!(!shown.chars().any(|c| c != '\n' && c.is_control()));
        text(&editor, &snapshot, (width / 2, height / 2));
    }
}
