//! Writing: what is sent, what is held back, what is not lost.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;
use serde_json::{Map, json};

use super::*;
use crate::tui::act::Then;
use crate::tui::card::fixtures::{assert_clean, drawing, screen, screen_text, snapshot};

fn draft(blanks: Vec<Blank>) -> Draft {
    let arguments = Map::from_iter([("item".to_owned(), json!("WEB-1"))]);
    let act = Act { tool: "update_work_item", arguments, done: "changed".into(), then: Then::Stay, draft: None };
    Draft { title: "Edit WEB-1".into(), blanks, act, failed: None, place: None }
}

fn press(sheet: &mut Sheet, intent: Option<Intent>, code: KeyCode) -> Outcome {
    sheet.key(intent, KeyEvent::new(code, KeyModifiers::NONE))
}

fn write(sheet: &mut Sheet, text: &str) {
    for c in text.chars() {
        let code = if c == '\n' { KeyCode::Enter } else { KeyCode::Char(c) };
        press(sheet, None, code);
    }
}

fn sent(outcome: &Outcome) -> serde_json::Value {
    let [Effect::Act(act)] = outcome.effects.as_slice() else { panic!("{outcome:?}") };
    assert!(outcome.close && act.draft.is_some());
    serde_json::Value::Object(act.arguments.clone())
}

#[test]
fn only_what_is_different_or_required_is_sent() {
    let blanks = vec![Blank::line("title", "Old").optional(), Blank::text("body", "one\ntwo")];
    let mut sheet = Sheet::open(draft(blanks));
    press(&mut sheet, Some(Intent::Next), KeyCode::Tab);
    press(&mut sheet, None, KeyCode::End);
    write(&mut sheet, "!\nnew");
    let outcome = press(&mut sheet, Some(Intent::Submit), KeyCode::Null);
    assert_eq!(sent(&outcome), json!({"item": "WEB-1", "body": "one!\nnew\ntwo"}));
}

#[test]
fn what_a_field_cannot_hold_is_no_change() {
    let blanks = vec![Blank::line("title", "a\u{7}b").optional(), Blank::text("body", "text\n\n")];
    let mut sheet = Sheet::open(draft(blanks));
    assert_eq!(press(&mut sheet, Some(Intent::Submit), KeyCode::Null), Outcome::default());
    assert!(sheet.message.as_deref().is_some_and(|message| message.contains("nothing is different")));
    assert!(press(&mut sheet, Some(Intent::Back), KeyCode::Esc).close, "nothing to lose");
}

#[test]
fn what_is_missing_is_said_and_gone_to() {
    let mut sheet =
        Sheet::open(draft(vec![Blank::line("project", "WEB"), Blank::line("title", ""), Blank::text("body", "")]));
    assert_eq!(sheet.focus, 1, "on what is empty");
    write(&mut sheet, "  ");
    press(&mut sheet, None, KeyCode::Enter);
    assert_eq!(sheet.focus, 2);
    assert_eq!(press(&mut sheet, Some(Intent::Submit), KeyCode::Null), Outcome::default());
    assert_eq!((sheet.focus, sheet.message.as_deref()), (1, Some("title is missing")));
    write(&mut sheet, "Do it");
    let outcome = press(&mut sheet, Some(Intent::Submit), KeyCode::Null);
    assert_eq!(sent(&outcome), json!({"item": "WEB-1", "project": "WEB", "title": "  Do it"}));
}

#[test]
fn leaving_asks_only_where_something_would_be_lost() {
    let mut sheet = Sheet::open(draft(vec![Blank::text("body", "").required()]));
    assert!(press(&mut sheet, Some(Intent::Back), KeyCode::Esc).close);
    write(&mut sheet, "x");
    assert!(!press(&mut sheet, Some(Intent::Back), KeyCode::Esc).close);
    assert!(!press(&mut sheet, None, KeyCode::Char('n')).close, "any other key is a no");
    assert_eq!(sheet.fields[0].text(), "x", "and writes nothing");
    press(&mut sheet, Some(Intent::Back), KeyCode::Esc);
    assert!(press(&mut sheet, None, KeyCode::Char('y')).close);
}

#[test]
fn what_comes_from_outside_is_bounded_and_drawn_clean() {
    let hostile = "a\u{1b}[2Jb\u{202e}c\u{200b}d";
    let mut sheet = Sheet::open(draft(vec![Blank::line("title", hostile), Blank::text("body", hostile)]));
    sheet.paste(&format!("{hostile}\r\nnext"));
    sheet.paste(&"x".repeat(MAX_BYTES));
    assert!(sheet.message.as_deref().is_some_and(|message| message.contains("too long")));
    for (width, height) in [(120, 40), (80, 24), (40, 12), (10, 4)] {
        let area = screen(width, height);
        for focus in 0..2 {
            sheet.focus = focus;
            sheet.layout(area);
            let mut buf = Buffer::empty(area);
            drawing(&snapshot(Vec::new()), |draw| sheet.render(area, &mut buf, draw));
            assert_clean(&buf);
            assert!(!screen_text(&buf).contains('\u{202e}'), "{width}");
        }
    }
}
