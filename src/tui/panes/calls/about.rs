//! Everything about one call, in words. Pure.

use crate::engine::snapshot::{CallPhase, CallView};
use crate::tui::format::plural;
use crate::tui::theme::Role;
use crate::tui::widgets::badge;
use crate::tui::widgets::detail::Section;
use crate::tui::widgets::json_view::{JsonView, Shape};
use crate::tui::widgets::paint::{Row, Span, took, wrap};
use crate::tui::widgets::text_rows::TextRows;

/// Cells of the column of labels.
const LABEL: usize = 9;

/// The sections of a call's detail for rows of `width` cells. `asks`: its server waits for an answer of the person.
pub(super) fn sections(call: &CallView, asks: bool, width: usize) -> Vec<Section> {
    let mut sections = vec![Section::Rows(facts(call, asks, width))];
    if let Some(arguments) = &call.arguments {
        let view = JsonView::new(arguments.shared(), Shape::Fields);
        let size = plural(arguments.len_bytes(), "byte");
        let heading = format!("arguments · {size} · sha256 {}…", arguments.digest().short());
        sections.push(Section::Rows(heading_rows(&heading)));
        sections.push(Section::Json(view));
    }
    if let Some(result) = &call.result {
        let mut heading = "result".to_owned();
        if result.is_error {
            heading.push_str(" · the tool reports an error");
        }
        if result.redacted {
            heading.push_str(" · secrets replaced");
        }
        sections.push(Section::Rows(heading_rows(&heading)));
        sections.push(Section::Text(TextRows::new(result.text.clone())));
    } else if matches!(call.phase, CallPhase::Done { .. }) {
        sections.push(Section::Rows(heading_rows("result · not kept: results are kept for recent calls only")));
    }
    sections
}

fn heading_rows(text: &str) -> Vec<Row> {
    vec![Row::new(), vec![Span::new(Role::Dim, text)]]
}

fn facts(call: &CallView, asks: bool, width: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut fact = |label: &str, spans: &[Span]| {
        for (index, mut row) in wrap(spans, width.saturating_sub(LABEL).max(1)).into_iter().enumerate() {
            let label = if index == 0 { label } else { "" };
            row.insert(0, Span::new(Role::Dim, &format!("{label:<LABEL$}")));
            rows.push(row);
        }
    };
    let text = |text: &str| Span::new(Role::Text, text);
    fact("call", &[text(call.id.as_str()), Span::new(Role::Dim, &format!("  (crewlet-tui audit why {})", call.id))]);
    fact("phase", &phase(call, asks));
    fact("who", &[text(&badge::caller_long(&call.caller))]);
    match (&call.connection, &call.raw_name) {
        (Some(connection), Some(raw)) => fact("what", &[text(&format!("{connection} :: {raw}"))]),
        _ => fact("what", &[text(&call.name), Span::new(Role::Warning, "  (no such tool for this caller)")]),
    }
    if let Some(class) = call.class {
        fact("class", &[badge::class(class)]);
    }
    for flag in &call.flags {
        fact("", &[Span::new(Role::Warning, badge::flag(*flag))]);
    }
    if let Some((decision, by)) = &call.policy {
        fact("policy", &[text(decision.as_str()), Span::new(Role::Dim, &format!("  {by}"))]);
    }
    if let Some(decider) = &call.decider {
        fact("decided", &[text(&format!("by {}", badge::decider(decider)))]);
    }
    if let Some(time) = times(call) {
        fact("time", &[text(&time)]);
    }
    rows
}

fn times(call: &CallView) -> Option<String> {
    let elapsed = call.elapsed?;
    Some(match call.ran {
        Some(ran) => format!("waited {}, ran {}", took(elapsed.saturating_sub(ran)), took(ran)),
        None => format!("waited {}, did not run", took(elapsed)),
    })
}

/// The phase, its reason, and what that means for the outside world.
fn phase(call: &CallView, asks: bool) -> Vec<Span> {
    let (reason, meaning) = match &call.phase {
        CallPhase::Waiting(_) if call.decider.is_some() => {
            (String::new(), "approved, for its caller to come back; nothing was sent yet")
        }
        CallPhase::Waiting(_) => (String::new(), "for a person: Enter opens the card"),
        CallPhase::Running if asks => (String::new(), "its server waits for your answer: Enter opens the form"),
        CallPhase::Running => (String::new(), "sent, not answered yet"),
        CallPhase::Done { .. } => (String::new(), ""),
        CallPhase::Failed { reason } => (reason.to_string(), ""),
        CallPhase::Unknown { reason } => (reason.to_string(), "it was sent; whether it ran is not known"),
        CallPhase::Expired => (String::new(), "nobody decided in time; nothing was sent"),
        CallPhase::Withdrawn(why) => (why.as_str().to_owned(), "nothing was sent"),
        CallPhase::Denied { reason } | CallPhase::Refused { reason } => (reason.to_string(), "nothing was sent"),
    };
    let mut spans = vec![Span::new(badge::phase_role(&call.phase), call.phase.word())];
    if !reason.is_empty() {
        spans.push(Span::new(Role::Text, &format!(": {reason}")));
    }
    if !meaning.is_empty() {
        spans.push(Span::new(Role::Dim, &format!("  {meaning}")));
    }
    spans
}
