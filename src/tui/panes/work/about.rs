//! Everything about one work item, in words. Pure. Times are days and times of day: nothing here changes by itself.

use jiff::tz::TimeZone;

use super::draw::{is_over, priority, status};
use crate::rows::work::{Comment, Item, Link};
use crate::tui::format::plural;
use crate::tui::panes::facts::Facts;
use crate::tui::theme::Role;
use crate::tui::widgets::detail::Section;
use crate::tui::widgets::paint::{Row, Span};
use crate::tui::widgets::text_rows::TextRows;

fn text(text: &str) -> Span {
    Span::new(Role::Text, text)
}

fn dim(text: &str) -> Span {
    Span::new(Role::Dim, text)
}

/// The sections of an item's detail for rows of `width` cells.
pub(super) fn sections(item: &Item, zone: &TimeZone, width: usize) -> Vec<Section> {
    let mut top = Facts::new(width);
    facts(item, zone, &mut top);
    let mut sections = vec![Section::Rows(top.rows)];
    if !item.body.trim().is_empty() {
        sections.extend([gap(), Section::Text(TextRows::new(item.body.clone()))]);
    }
    if !item.children.is_empty() {
        let mut below = heading(&plural(item.children.len(), "item"), " below it", width);
        for child in &item.children {
            below.plain(&link(child));
        }
        sections.push(Section::Rows(below.rows));
    }
    sections.extend(comments(&item.comments, item.earlier_comments, (zone, width)));
    let mut history = heading("history", "", width);
    for change in &item.history {
        let mut row = vec![dim(&format!("{}  ", change.at.day_and_time(zone))), text(&change.actor)];
        row.push(dim(&format!("  {}", change.what)));
        if !change.detail.is_empty() {
            row.push(dim(&format!(" {}", change.detail)));
        }
        history.plain(&row);
    }
    sections.push(Section::Rows(history.rows));
    sections
}

fn facts(item: &Item, zone: &TimeZone, facts: &mut Facts) {
    let head = &item.head;
    facts.plain(&[Span::new(Role::Title, &head.title)]);
    facts.gap();
    facts.say("type", Some(&*item.kind).filter(|kind| *kind != "task"));
    if let Some(removed) = head.removed {
        let words = format!("in the trash since {}; R takes it out", removed.day_and_time(zone));
        facts.plain(&[Span::new(Role::Warning, &words)]);
    }
    let (words, role) = status(&head.status);
    facts.add("status", &[Span::new(if is_over(&head.status) { Role::Dim } else { role }, &words)]);
    if head.priority != "none" {
        facts.add("priority", &[priority(head.priority)]);
    }
    match head.assignee.as_deref() {
        Some(who) => facts.say("who", Some(who)),
        None => facts.add("who", &[dim("nobody")]),
    }
    facts.say("due", head.due.as_deref());
    facts.say("labels", Some(&head.labels.join(" · ")));
    if let Some(parent) = &item.parent {
        facts.add("below", &link(parent));
    }
    for (relation, other) in &item.links {
        let mut row = link(other);
        row.insert(0, dim(&format!("{relation}  ")));
        facts.add("link", &row);
    }
    for (name, value) in &item.fields {
        facts.add("field", &[dim(&format!("{name}  ")), text(value)]);
    }
    facts.add("made", &[text(&item.created.day_and_time(zone)), dim(&format!("  by {}", item.reporter))]);
    facts.add("changed", &[text(&head.updated.day_and_time(zone)), dim(&format!("  version {}", item.version))]);
}

fn link(link: &Link) -> Row {
    let (words, role) = status(&link.status);
    let role = if is_over(&link.status) { Role::Dim } else { role };
    vec![dim(&format!("{}  ", link.key)), text(&link.title), Span::new(role, &format!("  {words}"))]
}

/// Comments below each other, each with who and when.
pub(in crate::tui::panes) fn comments(
    comments: &[Comment],
    earlier: usize,
    (zone, width): (&TimeZone, usize),
) -> Vec<Section> {
    if comments.is_empty() {
        return Vec::new();
    }
    let words = plural(comments.len() + earlier, "comment");
    let more = if earlier > 0 { format!(", the last {} shown", comments.len()) } else { String::new() };
    let mut sections = vec![Section::Rows(heading(&words, &more, width).rows)];
    for comment in comments {
        let mut who = Facts::new(width);
        who.gap();
        who.plain(&[Span::new(Role::Accent, &comment.author), dim(&format!("  {}", comment.at.day_and_time(zone)))]);
        sections.extend([Section::Rows(who.rows), Section::Text(TextRows::new(comment.body.clone()))]);
    }
    sections
}

/// An empty row and a heading.
pub(in crate::tui::panes) fn heading(words: &str, note: &str, width: usize) -> Facts {
    let mut facts = Facts::new(width);
    facts.gap();
    facts.plain(&[dim("── "), Span::new(Role::Title, words), dim(note)]);
    facts
}

fn gap() -> Section {
    Section::Rows(vec![Row::new()])
}
