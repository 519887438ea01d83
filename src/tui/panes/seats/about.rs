//! Everything about one seat or unit, in words. Pure. Times are times of day: nothing here changes by itself.

use jiff::tz::TimeZone;

use super::held::{Held, of_template};
use super::{connections, drivers, waiting};
use crate::clock::Precision;
use crate::engine::snapshot::{SeatView, ServerView, Snapshot, UnitView};
use crate::org::{Identity, SeatKind};
use crate::tool::EffectClass;
use crate::tui::format::plural;
use crate::tui::header::status_mark;
use crate::tui::panes::facts::Facts;
use crate::tui::panes::sessions::{self, about::client};
use crate::tui::theme::Role;
use crate::tui::widgets::badge;
use crate::tui::widgets::detail::Section;
use crate::tui::widgets::paint::{Row, Span};

fn text(text: &str) -> Span {
    Span::new(Role::Text, text)
}

fn dim(text: &str) -> Span {
    Span::new(Role::Dim, text)
}

/// The sections of a unit's detail for rows of `width` cells.
pub(super) fn unit(view: &UnitView, width: usize) -> Vec<Section> {
    let unit = &view.unit;
    let mut facts = Facts::new(width);
    facts.plain(&[Span::new(Role::Title, &unit.name), dim(&format!("  {}", unit.kind))]);
    facts.gap();
    facts.say("inside", unit.parent.as_deref());
    facts.say("purpose", unit.purpose.as_deref());
    facts.say("led by", unit.lead.as_deref());
    facts.list("goals", &unit.goals);
    let (agents, humans) = view.seats;
    facts.say("seats", Some(&format!("{}, {}", plural(agents, "agent"), plural(humans, "human"))));
    identities(&unit.identities, &mut facts);
    facts.add("", &[dim(&format!("declared at {}", unit.place))]);
    vec![Section::Rows(facts.rows)]
}

/// The sections of a seat's detail for rows of `width` cells.
pub(super) fn seat(
    seat: &SeatView,
    held: Option<&Held>,
    (snapshot, zone): (&Snapshot, &TimeZone),
    width: usize,
) -> Vec<Section> {
    let mut facts = Facts::new(width);
    let kind = if seat.kind == SeatKind::Human { "human" } else { "agent" };
    facts.plain(&[Span::new(Role::Title, &seat.name), dim(&format!("  {kind} on seat {}", seat.handle))]);
    facts.gap();
    if let Some(stopped) = sessions::stopped(snapshot, &seat.handle) {
        facts.add("now", &sessions::about::halted(stopped, zone));
    }
    if seat.kind == SeatKind::Agent {
        present(seat, (snapshot, zone), &mut facts);
    }
    profile(seat, &mut facts);
    if seat.kind == SeatKind::Human {
        facts.gap();
        facts.plain(&[dim("A human's seat has no connections: no agent drives it, and it holds no tools.")]);
        return vec![Section::Rows(facts.rows)];
    }
    if let Some(held) = held {
        facts.gap();
        tools(seat, held, snapshot, &mut facts);
    }
    facts.gap();
    let servers: Vec<&ServerView> = connections(&seat.handle, snapshot).collect();
    let own = servers.iter().filter(|server| server.seat.is_some()).count();
    facts.plain(&[dim(&format!("{}, {own} of its own", plural(servers.len(), "server")))]);
    // Its own first: they are what differs from seat to seat.
    let (own, shared): (Vec<&ServerView>, Vec<_>) = servers.into_iter().partition(|server| server.seat.is_some());
    for server in own.into_iter().chain(shared) {
        connection(server, &mut facts);
    }
    vec![Section::Rows(facts.rows)]
}

/// Who drives the seat now, and what waits of it.
fn present(seat: &SeatView, (snapshot, zone): (&Snapshot, &TimeZone), facts: &mut Facts) {
    let mut label = "sessions";
    for session in drivers(&seat.handle, snapshot) {
        let seen = session.last_seen.time_of_day(zone, Precision::Minutes);
        let calls = plural(usize::try_from(session.calls).unwrap_or(usize::MAX), "call");
        facts.add(label, &[text(client(session)), dim(&format!("  {calls}, last seen {seen}"))]);
        label = "";
    }
    if label == "sessions" {
        facts.add(label, &[dim("no agent is connected")]);
    }
    let mut label = "workers";
    for worker in snapshot.workers.iter().filter(|worker| worker.seat == seat.handle) {
        let until = worker.ends.time_of_day(zone, Precision::Minutes);
        let tools = plural(worker.tools.len(), "tool");
        facts.add(label, &[text(worker.id.as_str()), dim(&format!("  until {until}, {tools}"))]);
        label = "";
    }
    let waiting = waiting(&seat.handle, snapshot);
    if waiting > 0 {
        let words = format!(" {} ", plural(waiting, "call"));
        facts.add("waiting", &[Span::new(Role::Alert, &words), dim("  for you: a opens the oldest")]);
    }
}

/// What the configuration says of who sits there.
fn profile(seat: &SeatView, facts: &mut Facts) {
    let profile = &seat.profile;
    if !seat.units.is_empty() {
        let units: Vec<&str> = seat.units.iter().map(|unit| &**unit).collect();
        facts.say("unit", Some(&units.join(" › ")));
    }
    facts.say("led by", seat.lead.as_deref().filter(|lead| *lead != &*seat.name));
    facts.say("leads", Some(&seat.leads.join(", ")));
    facts.say("manages", Some(&profile.manages.join(", ")));
    facts.say("goal", profile.goal.as_deref());
    facts.list("does", &profile.responsibilities);
    facts.say("backstory", profile.backstory.as_deref());
    facts.say("mail", profile.email.as_deref());
    facts.say("available", profile.availability.as_deref());
    identities(&profile.identities, facts);
    if let Some(token) = &seat.token {
        facts.add("token", &[credential(&badge::credential(token), token.set)]);
    }
}

fn identities(identities: &[Identity], facts: &mut Facts) {
    let known: Vec<String> = identities.iter().map(|known| format!("{} {}", known.system, known.id)).collect();
    facts.list("known as", &known);
}

fn tools(seat: &SeatView, held: &Held, snapshot: &Snapshot, facts: &mut Facts) {
    let total = held.tools();
    facts.say("tools", Some(&total.to_string()));
    if total > 0 {
        facts.items("", &classes(&held.by_class));
    }
    let may = format!("a worker may hold {} of them", total.saturating_sub(held.refused()));
    facts.say("workers", Some(&may));
    for (reason, count) in &held.refused {
        facts.add("", &[dim(&format!("{count} not: {reason}"))]);
    }
    for worker in &seat.profile.workers {
        let (found, refused) = of_template(worker, &seat.handle, &snapshot.catalog);
        let of_listed = format!("  {found} of {}", plural(worker.tools.len(), "tool"));
        let mut row = vec![text(&worker.name), dim(&of_listed)];
        if refused > 0 {
            row.push(Span::new(Role::Warning, &format!(", {refused} refused")));
        }
        facts.add("", &row);
    }
}

/// `41 read`, `22 write`, `3 DESTRUCTIVE`, `12 unknown`.
fn classes(by_class: &[usize; 4]) -> Vec<Row> {
    let counted = EffectClass::ALL.iter().zip(by_class).filter(|(_, count)| **count > 0);
    let item = |(class, count): (&EffectClass, &usize)| {
        vec![Span::new(badge::class_role(*class), &format!("{count} {}", badge::class_word(*class)))]
    };
    counted.map(item).collect()
}

/// A server: how it is, what it brings, what it takes.
fn connection(server: &ServerView, facts: &mut Facts) {
    let (glyph, role) = status_mark(&server.status);
    let mut row = vec![Span::new(role, glyph), text(&format!(" {}", server.connection))];
    row.push(dim(if server.seat.is_some() { "  own" } else { "  shared" }));
    if !server.status.is_ready() {
        row.push(Span::new(role, &format!("  {}", server.status.word())));
    } else if server.tools() == 0 {
        row.push(dim("  no tools"));
    }
    facts.plain(&row);
    if server.status.is_ready() && server.tools() > 0 {
        facts.items("", &classes(&server.tools_by_class));
    }
    if let Some(failure) = server.status.failure() {
        facts.add("", &[Span::new(role, &failure.headline)]);
    }
    for known in &server.credentials {
        facts.add("", &[credential(&badge::credential(known), known.set)]);
    }
}

fn credential(words: &str, set: bool) -> Span {
    Span::new(if set { Role::Dim } else { Role::Warning }, words)
}
