//! One page, whole: its text, and below it where it stands, its versions and its comments. Pure.

use jiff::tz::TimeZone;

use crate::rows::pages::{Page, Version};
use crate::tui::panes::facts::Facts;
use crate::tui::panes::work::about::{comments, heading};
use crate::tui::theme::Role;
use crate::tui::widgets::detail::Section;
use crate::tui::widgets::paint::{Row, Span};
use crate::tui::widgets::text_rows::TextRows;

/// The sections for rows of `width` cells.
pub(super) fn sections(page: &Page, zone: &TimeZone, width: usize) -> Vec<Section> {
    let dim = |text: &str| Span::new(Role::Dim, text);
    let head = &page.head;
    let mut top = Facts::new(width);
    let mut first = vec![Span::new(Role::Accent, &head.container)];
    first.extend(page.parent.as_deref().map(|parent| dim(&format!(" · below {parent}"))));
    first.extend((!head.labels.is_empty()).then(|| dim(&format!(" · {}", head.labels.join(" · ")))));
    top.plain(&first);
    top.plain(&[dim(&format!("version {}, {} by {}", head.version, head.updated.day_and_time(zone), head.author))]);
    if head.version != page.newest {
        let words = format!("an earlier version: the page is at version {}", page.newest);
        top.plain(&[Span::new(Role::Warning, &words)]);
    }
    let mut sections =
        vec![Section::Rows(top.rows), Section::Rows(vec![Row::new()]), Section::Text(TextRows::new(page.body.clone()))];
    sections.extend(comments(&page.comments, page.earlier_comments, (zone, width)));
    let mut versions = heading("versions", "", width);
    for Version { number, author, at, message } in &page.versions {
        let here = if *number == head.version { "  shown" } else { "" };
        let mut row = vec![
            dim(&format!("{number:>4}  {}  ", at.day_and_time(zone))),
            Span::new(Role::Text, author),
            Span::new(Role::Accent, here),
        ];
        row.extend(message.as_deref().map(|message| dim(&format!("  {message}"))));
        versions.plain(&row);
    }
    sections.push(Section::Rows(versions.rows));
    sections
}
