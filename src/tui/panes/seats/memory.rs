//! What a seat remembers, in words: its diary, its skills, its finished turns. Pure.

use jiff::tz::TimeZone;

use crate::rows::memory::{Kept, Note, Remembered, What};
use crate::tui::format::{plural, span};
use crate::tui::panes::facts::Facts;
use crate::tui::theme::Role;
use crate::tui::widgets::detail::Section;
use crate::tui::widgets::paint::Span;
use crate::tui::widgets::text_rows::TextRows;

/// Its name in the title.
pub(super) const fn title(kept: Kept) -> &'static str {
    match kept {
        Kept::Diary => "diary",
        Kept::Skills => "skills",
        Kept::Turns => "past turns",
    }
}

/// The sections of a part of a seat's memory for rows of `width` cells.
pub(super) fn sections(kept: Kept, found: &Remembered, zone: &TimeZone, width: usize) -> Vec<Section> {
    let mut sections = Vec::new();
    let mut facts = Facts::new(width);
    let more = found.all.saturating_sub(found.notes.len());
    let count = if more > 0 { format!(", of which the newest {} are shown", found.notes.len()) } else { String::new() };
    facts.plain(&[dim(&format!("{}{count} · d: {}", counted(kept, found.all), goes_on(kept)))]);
    match found.onboarded {
        Some(at) => facts.plain(&[dim(&format!("onboarded {}", when(at, zone)))]),
        None => facts.plain(&[Span::new(Role::Warning, "not onboarded: its agent has not called mark_onboarded")]),
    }
    if found.notes.is_empty() {
        facts.gap();
        facts.plain(&[dim(origin(kept))]);
    }
    for note in &found.notes {
        facts.gap();
        head(note, zone, &mut facts);
        sections.push(Section::Rows(std::mem::take(&mut facts.rows)));
        if !note.text.is_empty() {
            sections.push(Section::Text(TextRows::new(note.text.clone())));
        }
    }
    sections.push(Section::Rows(facts.rows));
    sections
}

/// What keeps it from being read.
pub(super) fn problem(problem: &str, width: usize) -> Vec<Section> {
    let mut facts = Facts::new(width);
    facts.plain(&[Span::new(Role::Failed, problem)]);
    vec![Section::Rows(facts.rows)]
}

/// What the same key shows next.
const fn goes_on(kept: Kept) -> &'static str {
    match kept {
        Kept::Diary => "its skills",
        Kept::Skills => "its past turns",
        Kept::Turns => "back to the seat",
    }
}

/// Where what is kept comes from.
const fn origin(kept: Kept) -> &'static str {
    match kept {
        Kept::Diary => "Its agent writes its diary with the tool reflect_and_persist.",
        Kept::Skills => "The command `crewlet-tui skill add SEAT NAME FILE` gives a seat its skills.",
        Kept::Turns => "A turn of its agent stands here once it has ended.",
    }
}

fn counted(kept: Kept, all: usize) -> String {
    match kept {
        Kept::Diary if all == 1 => "1 entry".to_owned(),
        Kept::Diary => format!("{all} entries"),
        Kept::Skills => plural(all, "skill"),
        Kept::Turns => plural(all, "finished turn"),
    }
}

/// What a note is and since when.
fn head(note: &Note, zone: &TimeZone, facts: &mut Facts) {
    let at = when(note.at, zone);
    match &note.what {
        What::Entry { until, found, remark } => {
            let mut row = vec![Span::new(Role::Accent, &at)];
            row.extend(until.map(|until| dim(&format!("  until {}", when(until, zone)))));
            if *found > 0 {
                row.push(dim(&format!("  found {}", plural(usize::try_from(*found).unwrap_or(usize::MAX), "time"))));
            }
            facts.plain(&row);
            facts.say("remark", remark.as_deref());
        }
        What::Skill { name, about, state, version, used } => {
            let role = if *state == "active" { Role::Dim } else { Role::Warning };
            let used = plural(usize::try_from(*used).unwrap_or(usize::MAX), "time");
            facts.plain(&[
                Span::new(Role::Title, name),
                Span::new(role, &format!("  {state}")),
                dim(&format!("  version {version} of {at}, used {used}")),
            ]);
            facts.say("for", Some(about));
        }
        What::Turn { task, outcome, took, tools, skills } => {
            let role = match &**outcome {
                "done" => Role::Ready,
                "failed" => Role::Failed,
                _ => Role::Dim,
            };
            facts.plain(&[
                Span::new(Role::Accent, &at),
                Span::new(role, &format!("  {outcome}")),
                dim(&format!("  {}", span(*took))),
            ]);
            facts.say("about", Some(task));
            let items = |texts: &[std::sync::Arc<str>]| {
                texts.iter().map(|text| vec![Span::new(Role::Text, text)]).collect::<Vec<_>>()
            };
            if !tools.is_empty() {
                facts.items("called", &items(tools));
            }
            if !skills.is_empty() {
                facts.items("skills", &items(skills));
            }
        }
    }
}

fn dim(text: &str) -> Span {
    Span::new(Role::Dim, text)
}

/// `2026-11-30 14:03`
fn when(at: crate::clock::Timestamp, zone: &TimeZone) -> String {
    at.day_and_time(zone)
}
