//! Everything about one tool, in words. Pure. The tools pane shows it, and the card on request.

use super::detail::Section;
use super::diff::{self, DiffView};
use super::json_view::{JsonView, Shape};
use super::paint::{Row, Span, wrap};
use super::text_rows::TextRows;
use super::{badge, schema};
use crate::config::model::PolicyDecision;
use crate::engine::gate::PolicyAnswer;
use crate::engine::snapshot::DiffLine;
use crate::tool::worker::may_hold;
use crate::tool::{Entry, Flag, HintName, HintSource, Rejected};
use crate::tui::format::plural;
use crate::tui::theme::Role;

/// Cells of the column of labels.
const LABEL: usize = 13;
/// Words that a newcomer does not know.
const LEGEND: [&str; 3] = [
    "workers: whether a sub-agent of a seat may hold it",
    "delivery: whether a call may have reached people",
    "R D I O in the list: the four hints above; ! an oddity, told above",
];

/// What is known about a tool besides its entry.
#[derive(Clone, Copy, Debug, Default)]
pub struct Around<'a> {
    /// Its connection's status where calls cannot be sent.
    pub unready: Option<&'a str>,
    /// What the policy says about it when no seat is named.
    pub policy: Option<&'a PolicyAnswer>,
    /// How it differs from an earlier definition, with words about that one.
    pub change: Option<(&'a str, &'a [DiffLine])>,
    /// Where its schemas can be read whole.
    pub schemas: &'a str,
}

/// The sections of a tool's detail for rows of `width` cells.
pub fn tool(entry: &Entry, around: Around<'_>, width: usize) -> Vec<Section> {
    let Around { unready, policy, change, schemas } = around;
    let mut top = Rows::new(width);
    let mut first = vec![badge::class(entry.class())];
    if let Some(answer) = policy {
        first.push(Span::new(Role::Text, &format!("  {} ", happens(answer.decision))));
        first.push(Span::new(Role::Dim, &format!("({})", answer.by)));
    }
    top.plain(&first);
    top.plain(&[Span::new(Role::Dim, &format!("because {}", entry.classification.reason))]);
    if let Some(word) = unready {
        top.plain(&[Span::new(Role::Warning, &format!("unavailable: {} is {word}", entry.connection))]);
    }
    for flag in flags(entry) {
        top.plain(&[Span::new(Role::Warning, &format!("! {}", badge::flag(flag)))]);
    }
    top.plain(&[]);
    if !entry.title.is_empty() {
        top.plain(&[Span::new(Role::Title, &entry.title)]);
    }
    let mut rest = Rows::new(width);
    rest.plain(&[]);
    for name in HintName::ALL {
        rest.fact(name.words(), &hint(entry, name));
    }
    rest.plain(&[]);
    answers(entry, &mut rest);
    rest.plain(&[]);
    for (index, argument) in schema::arguments(&entry.input_schema).iter().enumerate() {
        rest.fact(if index == 0 { "arguments" } else { "" }, argument);
    }
    let output = if entry.output_schema.is_some() { "has a schema" } else { "no schema" };
    rest.fact("result", &[Span::new(Role::Text, output), Span::new(Role::Dim, &format!("  ({schemas})"))]);
    rest.plain(&[]);
    names(entry, &mut rest);
    let mut sections = vec![Section::Rows(top.rows)];
    sections.extend(change.into_iter().flat_map(|(words, lines)| difference(words, lines, width)));
    sections.extend([Section::Text(TextRows::new(entry.description.clone())), Section::Rows(rest.rows)]);
    sections
}

/// A difference with its heading and an empty row after it.
pub fn difference(words: &str, lines: &[DiffLine], width: usize) -> Vec<Section> {
    if lines.is_empty() {
        return vec![Section::Rows(vec![vec![Span::new(Role::Warning, words)], Row::new()])];
    }
    let (removed, added) = diff::changed(lines);
    let count = format!("{words}: {} removed (-), {added} added (+)", plural(removed, "line"));
    let heading = wrap(&[Span::new(Role::Warning, &count)], width.max(1));
    vec![Section::Rows(heading), Section::Diff(DiffView::new(lines)), Section::Rows(vec![Row::new()])]
}

/// Its schemas whole.
pub fn schemas(entry: &Entry) -> Vec<Section> {
    let heading = |text: &str| Section::Rows(vec![vec![Span::new(Role::Dim, text)]]);
    let view = |schema: &serde_json::Value| Section::Json(JsonView::new(schema.to_string().into(), Shape::Document));
    let mut sections = vec![heading("input schema"), view(&entry.input_schema)];
    if let Some(output) = &entry.output_schema {
        sections.extend([Section::Rows(vec![Row::new()]), heading("output schema"), view(output)]);
    }
    sections
}

/// What happens when it is called.
const fn happens(decision: PolicyDecision) -> &'static str {
    match decision {
        PolicyDecision::Allow => "runs at once",
        PolicyDecision::Ask => "asks a person",
        PolicyDecision::Type => "asks a person to type its name",
        PolicyDecision::Deny => "is refused",
    }
}

/// The sections of something that is not usable.
pub fn rejected(rejected: &Rejected, width: usize) -> Vec<Section> {
    let mut rows = Rows::new(width);
    let text = |text: &str| [Span::new(Role::Text, text)];
    rows.plain(&[Span::new(Role::Failed, "not usable as a tool")]);
    rows.plain(&[]);
    rows.fact("why", &text(&rejected.reason));
    rows.fact("name", &text(rejected.name.as_deref().unwrap_or("none that can be read")));
    rows.fact("listed by", &text(rejected.connection.as_str()));
    rows.fact("place", &text(&format!("{} in the server's list, from 0", rejected.index)));
    rows.plain(&[]);
    rows.plain(&[Span::new(Role::Dim, "The server's other tools are not affected.")]);
    vec![Section::Rows(rows.rows)]
}

fn flags(entry: &Entry) -> Vec<Flag> {
    let mut flags: Vec<Flag> = entry.flags.iter().chain(&entry.classification.flags).copied().collect();
    flags.sort_unstable();
    flags.dedup();
    flags
}

/// `✗ no  config.yaml:41  (server: unknown)`.
fn hint(entry: &Entry, name: HintName) -> Row {
    let hints = &entry.hints;
    let (value, source) = (hints.effective.get(name), hints.source(name));
    let word = format!("{} {:<9}", badge::hint(value).text(), value.as_str());
    let mut row = vec![Span::new(badge::hint_role(value), &word), Span::new(Role::Dim, &source.to_string())];
    if matches!(source, HintSource::Config(_)) {
        row.push(Span::new(Role::Dim, &format!("  (server: {})", hints.advertised.get(name))));
    }
    if hints.malformed.contains(&name) {
        row.push(Span::new(Role::Warning, "  sent with a wrong type"));
    }
    row
}

/// What other questions about the tool come to.
fn answers(entry: &Entry, rows: &mut Rows) {
    let text = |text: &str| Span::new(Role::Text, text);
    let reason = |text: &str| Span::new(Role::Dim, &format!(": {text}"));
    let contradictory = flags(entry).contains(&Flag::Contradictory);
    let (worker, why) = match may_hold(entry) {
        Err(barred) => ("refused", barred.why()),
        Ok(()) if contradictory => ("allowed", "it says read only (and destructive: contradictory)"),
        Ok(()) => ("allowed", entry.worker.reason),
    };
    rows.fact("workers", &[text(worker), reason(why)]);
    let delivery = match &entry.delivery.surface {
        Some(surface) => format!("counts, on {surface}"),
        None => "does not count".to_owned(),
    };
    rows.fact("delivery", &[text(&delivery), reason(entry.delivery.reason)]);
    if entry.takes_confirm() && !entry.connection.is_connector() {
        rows.fact("confirm", &[text("has an argument confirm"), reason("for a destructive tool consent sets it")]);
    }
}

fn names(entry: &Entry, rows: &mut Rows) {
    let text = |text: &str| [Span::new(Role::Text, text)];
    rows.fact("on the wire", &text(&entry.raw_name));
    rows.fact("for agents", &text(&entry.exposed));
    rows.fact("connection", &text(entry.connection.as_str()));
    if let Some(seat) = &entry.seat {
        rows.fact("held by", &text(&format!("seat {seat} alone, with its own credentials")));
    }
    rows.fact("brought by", &text(&entry.origin.to_string()));
    rows.fact("fingerprint", &[Span::new(Role::Dim, &entry.fingerprint.to_string())]);
    rows.plain(&[]);
    for legend in LEGEND {
        rows.plain(&[Span::new(Role::Dim, legend)]);
    }
}

/// Rows being written.
struct Rows {
    rows: Vec<Row>,
    width: usize,
}

impl Rows {
    const fn new(width: usize) -> Self {
        Self { rows: Vec::new(), width }
    }

    fn plain(&mut self, spans: &[Span]) {
        self.rows.extend(wrap(spans, self.width.max(1)));
    }

    fn fact(&mut self, label: &str, spans: &[Span]) {
        for (index, mut row) in wrap(spans, self.width.saturating_sub(LABEL).max(1)).into_iter().enumerate() {
            let label = if index == 0 { label } else { "" };
            row.insert(0, Span::new(Role::Dim, &format!("{label:<LABEL$}")));
            self.rows.push(row);
        }
    }
}
