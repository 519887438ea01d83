//! The rows of the tools view: which tools pass the filter, in which order, and how a row looks.

use std::sync::Arc;

use crate::clock::Precision;
use crate::engine::snapshot::ToolChangeKind;
use crate::ids::{ConnectionName, SeatHandle};
use crate::tool::worker::may_hold;
use crate::tool::{Catalog, Entry, Flag, Hint, HintName, Origin, Rejected, ToolKey};
use crate::tui::Draw;
use crate::tui::panes::filter::Term;
use crate::tui::theme::Role;
use crate::tui::widgets::badge;
use crate::tui::widgets::paint::{Row, Span};

/// A row.
#[derive(Clone, Debug)]
pub(super) enum Item {
    /// A usable tool.
    Tool(Arc<Entry>),
    /// Something listed that is not usable.
    Rejected(Rejected),
}

/// What a row is about, whatever its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum ItemId {
    /// A tool.
    Tool(ToolKey),
    /// A rejected one by its connection and place in the list.
    Rejected(ConnectionName, usize),
}

impl Item {
    /// Its name, as far as it has one.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Tool(entry) => &entry.name,
            Self::Rejected(_) => "",
        }
    }

    /// The connection, where it is a seat's own.
    pub(super) fn own(&self) -> Option<&ConnectionName> {
        match self {
            Self::Tool(entry) => entry.seat.as_ref().map(|_| &entry.connection),
            Self::Rejected(_) => None,
        }
    }

    pub(super) fn id(&self) -> ItemId {
        match self {
            Self::Tool(entry) => ItemId::Tool(entry.key()),
            Self::Rejected(rejected) => ItemId::Rejected(rejected.connection.clone(), rejected.index),
        }
    }
}

/// What passes the filter: tools in the catalogue's order, then what was rejected.
pub(super) fn items(catalog: &Catalog, seats: &[SeatHandle], terms: &[Term]) -> Vec<Item> {
    // A name that is complete means that server; one that is being typed means all that begin so.
    let exact = |value: &str| catalog.entries().iter().any(|entry| is_of(entry, value));
    let exact: Vec<bool> =
        terms.iter().map(|term| matches!(term, Term::Pair(key, value) if key == "server" && exact(value))).collect();
    let tools = catalog.entries().iter().filter(|entry| {
        terms.iter().zip(&exact).all(|(term, exact)| match term {
            Term::Pair(key, value) if key == "server" && *exact => is_of(entry, value),
            Term::Pair(key, value) if key == "seat" => holds((catalog, seats), value, entry),
            Term::Pair(key, value) if key == "worker" => {
                may_hold(entry).is_ok() && holds((catalog, seats), value, entry)
            }
            term => tool_passes(entry, term),
        })
    });
    let rejected =
        catalog.rejected().iter().filter(|rejected| terms.iter().all(|term| rejected_passes(rejected, term)));
    // What the program brings itself is many tools that are always the same: servers' come before them.
    let (own, servers): (Vec<_>, Vec<_>) = tools.cloned().partition(|entry| entry.origin == Origin::Builtin);
    let tools = servers.into_iter().chain(own);
    tools.map(Item::Tool).chain(rejected.cloned().map(Item::Rejected)).collect()
}

fn is_of(entry: &Entry, value: &str) -> bool {
    entry.server.as_str().eq_ignore_ascii_case(value) || entry.connection.as_str().eq_ignore_ascii_case(value)
}

/// Whether a seat of this handle, or one whose handle begins so while it is being typed, holds the tool: its own, or a
/// shared one that none of its own hides.
fn holds((catalog, seats): (&Catalog, &[SeatHandle]), value: &str, entry: &Entry) -> bool {
    let exact = seats.iter().find(|seat| seat.as_str() == value);
    let sees = |seat: &SeatHandle| catalog.is_visible(Some(seat), entry);
    match exact {
        Some(seat) => sees(seat),
        None => value.is_empty() || seats.iter().any(|seat| seat.as_str().starts_with(value) && sees(seat)),
    }
}

fn tool_passes(entry: &Entry, term: &Term) -> bool {
    match term {
        Term::Pair(key, value) => match key.as_str() {
            "class" => entry.class().as_str().starts_with(value.as_str()),
            "server" => [entry.server.as_str(), entry.connection.as_str()]
                .iter()
                .any(|name| name.to_lowercase().starts_with(value.as_str())),
            "hint" => hint_passes(entry, value),
            _ => true,
        },
        Term::Word(word) => {
            let places =
                [&*entry.name, &*entry.raw_name, &*entry.title, &*entry.description, entry.connection.as_str()];
            // The whole name of a class means the class too; a part of one is a part of some tool's name.
            entry.class().as_str() == word || places.iter().any(|place| place.to_lowercase().contains(word.as_str()))
        }
    }
}

/// `hint:malformed`, `hint:contradictory`, `hint:overridden`, `hint:unknown`.
fn hint_passes(entry: &Entry, value: &str) -> bool {
    if value.is_empty() {
        return true;
    }
    let flagged = |flag| entry.flags.contains(&flag) || entry.classification.flags.contains(&flag);
    let facts = [
        ("malformed", !entry.hints.malformed.is_empty() || flagged(Flag::MalformedHints)),
        ("contradictory", flagged(Flag::Contradictory)),
        ("overridden", entry.hints.override_.is_some()),
        ("unknown", HintName::ALL.iter().any(|name| entry.hints.effective.get(*name) == Hint::Unknown)),
    ];
    facts.iter().any(|(word, holds)| *holds && word.starts_with(value))
}

fn rejected_passes(rejected: &Rejected, term: &Term) -> bool {
    match term {
        Term::Pair(key, value) if key == "server" => [rejected.server.as_str(), rejected.connection.as_str()]
            .iter()
            .any(|name| name.to_lowercase().starts_with(value.as_str())),
        Term::Pair(_, value) => value.is_empty(),
        Term::Word(word) => {
            let name = rejected.name.as_deref().unwrap_or_default();
            [name, &rejected.reason, rejected.connection.as_str()]
                .iter()
                .any(|place| place.to_lowercase().contains(word.as_str()))
        }
    }
}

/// The cells of a row: name, server where there is a column for it, class, the four hints.
pub(super) fn cells(item: &Item, with_server: bool, draw: &Draw<'_>) -> Vec<Row> {
    let mut cells = cells_of(item, draw);
    if with_server {
        let server = match item {
            Item::Tool(entry) => entry.connection.as_str(),
            Item::Rejected(rejected) => rejected.connection.as_str(),
        };
        cells.insert(1, vec![Span::new(Role::Dim, server)]);
    } else if let (Item::Tool(entry), Some(name)) = (item, cells.first_mut())
        && let Some(seat) = &entry.seat
    {
        // Several seats have one of that name.
        let after = if entry.flags.is_empty() { 1 } else { 2 };
        name.insert(after.min(name.len()), Span::new(Role::Dim, &format!("  {seat}")));
    }
    cells
}

fn cells_of(item: &Item, draw: &Draw<'_>) -> Vec<Row> {
    match item {
        Item::Tool(entry) => tool_cells(entry, draw),
        Item::Rejected(rejected) => {
            let name =
                rejected.name.as_deref().map_or_else(|| format!("#{} in the list", rejected.index), str::to_owned);
            let name = vec![
                Span::new(Role::Dim, &format!("{name} ({}) ", rejected.connection)),
                Span::new(Role::Dim, &rejected.reason),
            ];
            let mut cells = vec![name, vec![Span::new(Role::Failed, "not usable")]];
            cells.extend((0..4).map(|_| Row::new()));
            cells
        }
    }
}

fn tool_cells(entry: &Entry, draw: &Draw<'_>) -> Vec<Row> {
    let unready = super::unready(entry, draw.snapshot);
    let mut name = vec![Span::new(if unready.is_some() { Role::Dim } else { Role::Text }, &entry.name)];
    if !entry.flags.is_empty() {
        name.push(Span::new(Role::Warning, " !"));
    }
    if let Some(change) = super::change_of(entry, draw.snapshot) {
        let word = if change.kind == ToolChangeKind::Added { "new" } else { "changed" };
        let at = change.at.time_of_day(draw.zone, Precision::Minutes);
        name.push(Span::new(Role::Warning, &format!("  {word} {at}")));
    }
    if let Some(word) = unready {
        name.push(Span::new(Role::Warning, &format!("  unavailable: {word}")));
    }
    let hints = HintName::ALL.iter().map(|name| vec![badge::hint(entry.hints.effective.get(*name))]);
    [name, vec![badge::class(entry.class())]].into_iter().chain(hints).collect()
}
