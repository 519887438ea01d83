//! The words of a card: rows of text for one question at one width. Pure; reads nothing but the question.
//!
//! What identifies the act (server, tool) is always whole. Texts by which an agent or a server could push the rest
//! off the screen (a client's name, a title, a reason) get a few rows and say how much is missing.

use super::plan;
use crate::engine::snapshot::{ApprovalView, DefinitionChange, History, Known};
use crate::text;
use crate::tool::entry::Origin;
use crate::tool::{Entry, Flag, HintName, HintSource};
use crate::tui::format::plural;
use crate::tui::theme::Role;
use crate::tui::widgets::json_view::JsonView;
use crate::tui::widgets::paint::{Row, Span, flow, took, wrap, wrap_capped};
use crate::tui::widgets::{badge, diff};

/// Cells of the column of labels.
pub(super) const LABEL: usize = 8;

/// Rows at one width.
#[derive(Clone, Debug, Default)]
pub(super) struct Face {
    /// Which tool.
    pub(super) what: Vec<Row>,
    /// Everything above the arguments, `what` included.
    pub(super) head: Vec<Row>,
    /// Everything below them.
    pub(super) tail: Vec<Row>,
}

impl Face {
    /// The words about `approval`, whose arguments are laid out in `arguments`, in rows of `width` cells.
    pub(super) fn of(approval: &ApprovalView, arguments: Option<&JsonView>, width: usize) -> Self {
        let room = width.saturating_sub(LABEL).max(1);
        let entry = &approval.entry;
        let who = Span::new(Role::Text, &badge::caller_long(&approval.caller));
        let what = labelled("what", what(entry, room));
        let mut head = labelled("who", wrap_capped(&[who], room, 2));
        head.extend(what.iter().cloned());
        if let Some(change) = &approval.change {
            head.extend(labelled("CHANGED", wrap(&[Span::new(Role::Alert, &changed(change))], room)));
        }
        head.extend(labelled("effect", effect(entry, room)));
        head.extend(labelled("asks", wrap_capped(&asks(approval), room, 2)));
        head.extend(labelled("as", wrap_capped(&credentials(approval), room, 2)));
        let odd = warnings(approval, arguments);
        if !odd.is_empty() {
            head.extend(labelled("note", flow(&odd, &Span::new(Role::Dim, " · "), (0, room))));
        }
        let mut tail = Vec::new();
        let hidden = approval.arguments.hidden();
        if hidden > 0 {
            let (values, them) = if hidden == 1 { ("value is a secret", "it") } else { ("values are secrets", "them") };
            let text = format!("{hidden} {values} of your configuration and not shown; the server gets {them}");
            tail.extend(labelled("secret", wrap(&[Span::new(Role::Warning, &text)], room)));
        }
        if let Some(rule) = plan::rule(approval) {
            let hint = "denied again and again? to refuse it unasked, under engine.approvals.rules:";
            let mut rows = wrap(&[Span::new(Role::Dim, hint)], room);
            rows.extend(wrap(&[Span::new(Role::Text, &rule)], room));
            tail.extend(labelled("rule", rows));
        }
        let before = Span::new(Role::Text, &before(&approval.history));
        tail.extend(labelled("before", wrap_capped(&[before], room, 2)));
        Self { what, head, tail }
    }
}

/// Puts a label before the first row and the same number of cells before the others.
pub(super) fn labelled(label: &str, rows: Vec<Row>) -> Vec<Row> {
    let mut rows = rows;
    for (index, row) in rows.iter_mut().enumerate() {
        let label = if index == 0 { label } else { "" };
        row.insert(0, Span::new(Role::Dim, &format!("{label:<LABEL$}")));
    }
    rows
}

fn what(entry: &Entry, room: usize) -> Vec<Row> {
    let (on, tool) = (Span::new(Role::Text, entry.connection.as_str()), Span::new(Role::Title, &entry.raw_name));
    let whole = [on.clone(), Span::new(Role::Dim, " :: "), tool.clone()];
    // Where it takes several rows, the tool stands in the first.
    let fits = whole.iter().map(Span::width).sum::<usize>() <= room;
    let mut rows = if fits { wrap(&whole, room) } else { wrap(&[tool, Span::new(Role::Dim, "  on "), on], room) };
    let about = about(entry);
    let used: usize = rows.first().map_or(0, |row| row.iter().map(Span::width).sum());
    let quoted = Span::new(Role::Dim, &format!("\"{about}\""));
    if rows.len() == 1 && used + 2 + quoted.width() <= room {
        for row in &mut rows {
            row.extend([Span::gap(2), quoted.clone()]);
        }
    } else if !about.is_empty() {
        rows.extend(wrap_capped(&[quoted], room, 2));
    }
    rows
}

/// The title, and the first paragraph of the description.
fn about(entry: &Entry) -> String {
    let lines = entry.description.lines().map(str::trim);
    let paragraph: Vec<&str> = lines.skip_while(|line| line.is_empty()).take_while(|line| !line.is_empty()).collect();
    let (title, description) = (entry.title.trim(), paragraph.join(" "));
    match (title.is_empty(), description.is_empty() || description.starts_with(title)) {
        (false, false) => format!("{title}: {description}"),
        (false, true) if description.is_empty() => title.to_owned(),
        _ => description,
    }
}

/// The badge, then the hints that made it, the worst one first; each piece stays whole where it can.
fn effect(entry: &Entry, room: usize) -> Vec<Row> {
    let order = [HintName::Destructive, HintName::Idempotent, HintName::OpenWorld, HintName::ReadOnly];
    let badge = badge::class(entry.class());
    let indent = if room < 60 { 2 } else { badge.width() + 2 };
    let mut items: Vec<Row> = order.iter().map(|name| hint(entry, *name)).collect();
    if let Some(first) = items.first_mut() {
        first.splice(0..0, [badge, Span::gap(2)]);
    }
    flow(&items, &Span::new(Role::Dim, " · "), (indent, room))
}

fn hint(entry: &Entry, name: HintName) -> Row {
    let hints = &entry.hints;
    let value = hints.effective.get(name);
    let source = hints.source(name);
    let advertised = hints.advertised.get(name);
    let told = match &source {
        HintSource::Config(place) if advertised != value => format!(" ({place}; the server says {advertised})"),
        HintSource::Nobody if hints.malformed.contains(&name) => " (the server sent a wrong type)".to_owned(),
        source => format!(" ({source})"),
    };
    vec![
        Span::new(Role::Text, &format!("{} ", name.words())),
        Span::new(badge::hint_role(value), value.as_str()),
        Span::new(Role::Dim, &told),
    ]
}

fn asks(approval: &ApprovalView) -> Row {
    vec![
        Span::new(Role::Text, &approval.policy_by),
        Span::new(Role::Dim, &format!(" · {}", approval.entry.classification.reason)),
    ]
}

fn credentials(approval: &ApprovalView) -> Row {
    let mut row = vec![Span::new(Role::Text, approval.entry.connection.as_str())];
    for credential in &approval.credentials {
        let role = if credential.set { Role::Dim } else { Role::Warning };
        row.push(Span::new(role, &format!(" · {}", badge::credential(credential))));
    }
    if approval.credentials.is_empty() {
        let own = approval.entry.origin == Origin::Builtin;
        let text = if own { " · this program's own tool" } else { " · no credentials configured" };
        row.push(Span::new(Role::Dim, text));
    }
    row
}

/// What a person should not overlook, in few words each.
fn warnings(approval: &ApprovalView, arguments: Option<&JsonView>) -> Vec<Row> {
    let entry = &approval.entry;
    let mut flags: Vec<Flag> = entry.flags.iter().chain(&entry.classification.flags).copied().collect();
    flags.sort_unstable();
    flags.dedup();
    let hidden = arguments.is_some_and(JsonView::hidden) || text::has_hidden(&entry.raw_name);
    let hidden = hidden.then_some("contains hidden characters: shown as escapes, sent as they are");
    let warned = |words: String| vec![Span::new(Role::Warning, &words)];
    let confirm = vec![Span::new(Role::Accent, "confirm: set by your approval")];
    let mut all: Vec<Row> = flags.iter().map(|flag| warned(badge::flag_short(*flag).to_owned())).collect();
    all.extend(approval.confirm_set.then_some(confirm));
    all.extend(hidden.map(|words| warned(words.to_owned())));
    all.extend(repeat(approval).map(warned));
    all
}

/// That it seems to have run already.
fn repeat(approval: &ApprovalView) -> Option<String> {
    let repeat = approval.repeat.as_ref()?;
    let before = took(approval.asked_at.since(repeat.at));
    Some(format!("LIKELY A REPEAT: the same call came {before} before ({}): {}", repeat.call, repeat.outcome))
}

/// That the definition is not what it was.
fn changed(change: &DefinitionChange) -> String {
    let (removed, added) = diff::changed(&change.lines);
    let since = match change.approved {
        Known::Approved => "since a person last approved it",
        Known::Seen => "since it was first seen",
    };
    format!("its definition changed {since}: {} removed, {added} added (t)", plural(removed, "line"))
}

fn before(history: &History) -> String {
    let calls = history.approved + history.denied;
    let told = match &history.last_denial {
        Some(reason) if !reason.is_empty() => format!("{} denied, last \"{reason}\"", history.denied),
        _ => format!("{} denied", history.denied),
    };
    let same = match &history.same_arguments {
        Some((times, last)) => format!("these arguments: {}, last {last}", plural(*times as usize, "time")),
        None => "these arguments: never".to_owned(),
    };
    if calls == 0 {
        return format!("nobody had decided about this tool in this run; {same}");
    }
    format!("{} in this run: {} approved, {told}; {same}", plural(calls as usize, "call"), history.approved)
}
