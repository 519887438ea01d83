//! Everything about one question, in words, with its text and its answer whole. Pure.

use jiff::tz::TimeZone;

use crate::clock::{Precision, Timestamp};
use crate::engine::snapshot::{QuestionKind, QuestionView};
use crate::tui::panes::facts::Facts;
use crate::tui::theme::Role;
use crate::tui::widgets::detail::Section;
use crate::tui::widgets::paint::{Row, Span};
use crate::tui::widgets::text_rows::TextRows;

/// The sections of a question's detail for rows of `width` cells.
pub(super) fn sections(row: &QuestionView, zone: &TimeZone, width: usize) -> Vec<Section> {
    let mut sections = vec![Section::Rows(facts(row, zone, width))];
    let heading = match row.kind {
        QuestionKind::Colleague => "question",
        QuestionKind::Autopilot => "prompt",
    };
    sections.push(Section::Rows(heading_rows(heading)));
    sections.push(Section::Text(TextRows::new(row.brief.clone())));
    if let Some(answer) = &row.answer {
        let heading = format!("answer · by {} · {}", answer.by, time(answer.at, zone));
        sections.push(Section::Rows(heading_rows(&heading)));
        sections.push(Section::Text(TextRows::new(answer.body.clone())));
    }
    sections
}

fn facts(row: &QuestionView, zone: &TimeZone, width: usize) -> Vec<Row> {
    let mut facts = Facts::new(width);
    let (text, dim) = (|text: &str| Span::new(Role::Text, text), |text: &str| Span::new(Role::Dim, text));
    facts.add("from", &[text(&row.from)]);
    facts.add("to", &[text(row.to.as_str())]);
    facts.add("since", &[text(&time(row.at, zone))]);
    match (&row.answer, row.waits_until, row.kind) {
        (Some(_), ..) => facts.add("", &[dim("answered")]),
        (None, Some(until), _) => facts.add("waits", &[text("until "), text(&time(until, zone))]),
        (None, None, QuestionKind::Colleague) => {
            facts.add("waits", &[text("no longer"), dim("  (the answer goes to its inbox)")]);
        }
        (None, None, QuestionKind::Autopilot) => facts.add("waits", &[dim("nobody: the prompt is there to be done")]),
    }
    // A chain of one is who asks, and stands above.
    if row.chain.len() > 1 {
        let chain = row.chain.iter().map(|seat| &**seat).chain([row.to.as_str()]);
        facts.add("chain", &[text(&chain.collect::<Vec<_>>().join(" → "))]);
    }
    facts.say("budget", row.budget.map(|budget| budget.to_string()).as_deref());
    facts.rows
}

fn time(at: Timestamp, zone: &TimeZone) -> String {
    at.time_of_day(zone, Precision::Seconds)
}

fn heading_rows(text: &str) -> Vec<Row> {
    vec![Row::new(), vec![Span::new(Role::Dim, text)]]
}
