//! Everything about one tool, in words. Pure.

use crate::tool::{Entry, Flag, HintName, HintSource, Rejected};
use crate::tui::panes::detail::Section;
use crate::tui::theme::Role;
use crate::tui::widgets::paint::{Row, Span, wrap};
use crate::tui::widgets::text_rows::TextRows;
use crate::tui::widgets::{badge, schema};

/// Cells of the column of labels.
const LABEL: usize = 13;

/// The sections of a tool's detail for rows of `width` cells. `unready` is its connection's status where calls cannot
/// be sent.
pub(super) fn tool(entry: &Entry, unready: Option<&str>, width: usize) -> Vec<Section> {
    let mut top = Rows::new(width);
    let class = [badge::class(entry.class()), Span::new(Role::Dim, &format!("  {}", entry.classification.reason))];
    top.plain(&class);
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
    rest.fact("result", &[Span::new(Role::Text, output), Span::new(Role::Dim, "  (s shows schemas whole)")]);
    rest.plain(&[]);
    names(entry, &mut rest);
    vec![Section::Rows(top.rows), Section::Text(TextRows::new(entry.description.clone())), Section::Rows(rest.rows)]
}

/// The sections of something that is not usable.
pub(super) fn rejected(rejected: &Rejected, width: usize) -> Vec<Section> {
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
    let worker = if entry.worker.writes { "refused" } else { "may hold it" };
    rows.fact("workers", &[text(worker), reason(entry.worker.reason)]);
    let delivery = match &entry.delivery.surface {
        Some(surface) => format!("counts, on {surface}"),
        None => "does not count".to_owned(),
    };
    rows.fact("delivery", &[text(&delivery), reason(entry.delivery.reason)]);
    if entry.takes_confirm() {
        rows.fact("confirm", &[text("has an argument confirm"), reason("for a destructive tool consent sets it")]);
    }
}

fn names(entry: &Entry, rows: &mut Rows) {
    let text = |text: &str| [Span::new(Role::Text, text)];
    rows.fact("on the wire", &text(&entry.raw_name));
    rows.fact("for agents", &text(&entry.exposed));
    rows.fact("connection", &text(entry.connection.as_str()));
    rows.fact("brought by", &text(&entry.origin.to_string()));
    rows.fact("fingerprint", &[Span::new(Role::Dim, &entry.fingerprint.to_string())]);
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
