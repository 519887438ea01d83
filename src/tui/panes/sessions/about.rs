//! Everything about one session, in words, with its calls, the newest first. Pure.

use std::sync::Arc;

use jiff::tz::TimeZone;

use crate::clock::{Precision, Timestamp};
use crate::engine::snapshot::{CallView, Caller, SessionView, Snapshot, StoppedSeat};
use crate::engine::status::Era;
use crate::tui::format::plural;
use crate::tui::panes::facts::Facts;
use crate::tui::theme::Role;
use crate::tui::widgets::badge;
use crate::tui::widgets::detail::Section;
use crate::tui::widgets::paint::{Row, Span, took};
use crate::turns::verdict::{Obligation, Outcome};
use crate::turns::{Start, TurnView};

/// Calls that are listed; the calls view has them all.
const MOST: usize = 200;

/// The client's own words, or that it gave none.
pub(in crate::tui::panes) fn client(session: &SessionView) -> &str {
    if session.client.trim().is_empty() { "(no name)" } else { &session.client }
}

/// The calls that the snapshot holds of a session, newest first.
pub(super) fn calls<'s>(session: &SessionView, snapshot: &'s Snapshot) -> impl Iterator<Item = &'s Arc<CallView>> {
    snapshot.calls.iter().rev().filter(|call| is_by(session, &call.caller))
}

/// How many questions of a session wait for a person, whether or not its client still holds the request open.
pub(super) fn waiting(session: &SessionView, snapshot: &Snapshot) -> usize {
    snapshot.approvals.iter().filter(|question| is_by(session, &question.caller)).count()
}

/// A session's short id says little without its seat.
fn is_by(session: &SessionView, caller: &Caller) -> bool {
    caller.session().is_some_and(|(by, id)| *id == session.id && *by == session.holder())
}

/// The sections of a session's detail for rows of `width` cells.
pub(super) fn session(session: &SessionView, snapshot: &Snapshot, zone: &TimeZone, width: usize) -> Vec<Section> {
    let mut facts = Facts::new(width);
    let text = |text: &str| Span::new(Role::Text, text);
    let at = |at: crate::clock::Timestamp| text(&at.time_of_day(zone, Precision::Seconds));
    facts.add("client", &[text(client(session))]);
    facts.add("seat", &[text(session.seat.as_str())]);
    if let Some(worker) = &session.worker {
        facts.add("worker", &[text(worker.as_str()), Span::new(Role::Dim, "  a sub-agent under the seat")]);
    }
    if let Some(stopped) = super::stopped(snapshot, &session.seat) {
        facts.add("", &halted(stopped, zone));
    }
    let era = match session.era {
        Era::Legacy => "  (to 2025-11-25, with a session)",
        Era::Modern => "  (from 2026-07-28, without one)",
    };
    facts.add("era", &[text(session.era.as_str()), Span::new(Role::Dim, era)]);
    facts.add("since", &[at(session.since)]);
    facts.add("last seen", &[at(session.last_seen)]);
    facts.add("calls", &[text(&session.calls.to_string())]);
    let waiting = waiting(session, snapshot);
    if waiting > 0 {
        let words = format!(" {} ", plural(waiting, "call"));
        facts.add("waiting", &[Span::new(Role::Alert, &words), Span::new(Role::Dim, "  for you: a opens the oldest")]);
    }
    if session.holder().is_seat() {
        facts.gap();
        turns(session.turn.as_deref(), &mut facts, zone);
    }
    vec![Section::Rows(facts.rows), Section::Rows(listing(session, snapshot, zone))]
}

/// Whom the session's turn reached so far, for a row: of the turn before, where none goes on.
pub(super) fn reached(session: &SessionView) -> Row {
    let (names, role) = match session.turn.as_deref() {
        Some(TurnView { now: Some(now), .. }) => (now.reached.as_slice(), Role::Text),
        Some(TurnView { before: Some(before), .. }) => (before.reached.as_slice(), Role::Dim),
        _ => ([].as_slice(), Role::Dim),
    };
    match names {
        [] if session.holder().is_seat() => vec![Span::new(Role::Dim, "nobody yet")],
        [] => Row::new(),
        names => vec![Span::new(role, &names.join(", "))],
    }
}

/// The turn that goes on and the one before.
fn turns(view: Option<&TurnView>, facts: &mut Facts, zone: &TimeZone) {
    let (text, dim) = (|text: &str| Span::new(Role::Text, text), |text: &str| Span::new(Role::Dim, text));
    let time = |at: Timestamp| at.time_of_day(zone, Precision::Seconds);
    let nobody = |reached: &[Arc<str>]| if reached.is_empty() { None } else { Some(reached.join(", ")) };
    let Some(now) = view.and_then(|view| view.now.as_ref()) else {
        facts.add("turn", &[dim("none goes on")]);
        return before(view, facts, zone);
    };
    let how = if now.start == Start::Declared { "begun by its agent" } else { "since its first call" };
    facts.add("turn", &[text(&time(now.began)), dim(&format!("  {how}"))]);
    facts.say("because", now.trigger.as_deref());
    facts.add("owes", &[text(&owed(&now.owes))]);
    facts.add("reached", &[nobody(&now.reached).map_or_else(|| dim("nobody yet"), |names| text(&names))]);
    let (finished, failed) = now.calls;
    let calls = plural(usize::try_from(finished).unwrap_or(usize::MAX), "call");
    let failed = if failed > 0 { format!(", {failed} failed") } else { String::new() };
    facts.add("made", &[text(&calls), Span::new(Role::Failed, &failed)]);
    let mut label = "counting";
    for act in now.acts.iter().rev() {
        let to = act
            .surface
            .as_ref()
            .map_or_else(|| "  to somebody outside".to_owned(), |surface| format!("  to {surface}"));
        facts.add(label, &[text(&act.name), dim(&to)]);
        label = "";
    }
    if let Some((at, message)) = &now.corrected {
        facts.add("corrected", &[text(&time(*at)), Span::new(Role::Warning, &format!("  {message}"))]);
    }
    before(view, facts, zone);
}

fn before(view: Option<&TurnView>, facts: &mut Facts, zone: &TimeZone) {
    let Some(before) = view.and_then(|view| view.before.as_ref()) else { return };
    let role = if before.outcome == Outcome::Incomplete { Role::Warning } else { Role::Text };
    let reached = if before.reached.is_empty() { "nobody".to_owned() } else { before.reached.join(", ") };
    let at = before.at.time_of_day(zone, Precision::Seconds);
    let owed = if before.owed.awaits() { format!(", owed {}", owed(&before.owed)) } else { String::new() };
    let rest = format!("  at {at}, reached {reached}{owed}");
    facts.add("before", &[Span::new(role, before.outcome.as_str()), Span::new(Role::Dim, &rest)]);
    facts.say("", before.text.as_deref());
}

/// What a turn owes, in words.
fn owed(owes: &Obligation) -> String {
    match owes {
        Obligation::Nothing => "nobody an answer".to_owned(),
        Obligation::Tool(None) => "an answer, by a tool".to_owned(),
        Obligation::Tool(Some(surface)) => format!("an answer on {surface}"),
        Obligation::Engine => "an answer, by the text at its end".to_owned(),
    }
}

/// The sections for a stopped seat without a session.
pub(super) fn seat(stopped: &StoppedSeat, zone: &TimeZone, width: usize) -> Vec<Section> {
    let mut facts = Facts::new(width);
    facts.add("seat", &[Span::new(Role::Text, stopped.seat.as_str())]);
    facts.add("", &halted(stopped, zone));
    vec![Section::Rows(facts.rows)]
}

/// That a seat is stopped, in words.
pub(in crate::tui::panes) fn halted(stopped: &StoppedSeat, zone: &TimeZone) -> [Span; 2] {
    let since = stopped.since.time_of_day(zone, Precision::Minutes);
    let refused = plural(usize::try_from(stopped.refused).unwrap_or(usize::MAX), "call");
    let words = format!(" since {since}, {refused} refused; R releases it");
    [Span::new(Role::Warning, "STOPPED"), Span::new(Role::Text, &words)]
}

fn listing(session: &SessionView, snapshot: &Snapshot, zone: &TimeZone) -> Vec<Row> {
    let mut own = calls(session, snapshot);
    let mut rows: Vec<Row> = own.by_ref().take(MOST).map(|call| line(call, zone)).collect();
    let earlier = own.count();
    if earlier > 0 {
        rows.push(vec![Span::new(Role::Dim, &format!("and {earlier} earlier: view 4 lists all calls"))]);
    }
    let heading = if rows.is_empty() { "no calls to show" } else { "its calls, newest first" };
    rows.splice(0..0, [Row::new(), vec![Span::new(Role::Dim, heading)]]);
    rows
}

/// Time and phase first: they stay where the name of the tool has to be cut.
fn line(call: &CallView, zone: &TimeZone) -> Row {
    let elapsed = call.elapsed.map(took).unwrap_or_default();
    vec![
        Span::new(Role::Dim, &call.at.time_of_day(zone, Precision::Seconds)),
        Span::new(badge::phase_role(&call.phase), &format!("  {:<10}", call.phase.word())),
        Span::new(Role::Dim, &format!("  {elapsed:>7}  ")),
        Span::new(Role::Text, &call.name),
    ]
}
