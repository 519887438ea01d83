//! The seats view: the tree, the selection over a reload, what is said of a seat, and what its keys do.

use std::collections::HashMap;

use super::*;
use crate::config::expand::Environment;
use crate::engine::command::Command;
use crate::engine::snapshot::{Chart, CredentialView, SessionView, StoppedSeat, Tier};
use crate::engine::status::{ConnectionStatus, Era};
use crate::org::{Org, Seat, Unit, WorkerTemplate};
use crate::secret::Redactor;
use crate::tool::{Catalog, ConfigRef, Hint};
use crate::tui::card::fixtures::{
    NOON, approval, assert_clean, delete_branch, drawing, entry, screen, screen_text, server, snapshot,
};

fn unit(name: &str, parent: Option<&str>) -> Unit {
    Unit {
        name: name.into(),
        kind: "team".into(),
        purpose: Some("Ships.".into()),
        lead: Some("Chief".into()),
        goals: Vec::new(),
        parent: parent.map(Into::into),
        identities: Vec::new(),
        place: ConfigRef { file: "config.yaml".into(), line: 7 },
    }
}

fn seat(handle: &str, unit: Option<&str>) -> Seat {
    Seat { unit: unit.map(Into::into), ..Seat::agent(handle, handle) }
}

fn org() -> Org {
    let mut release = seat("release", Some("Back"));
    release.profile.goal = Some("Brings releases out.".into());
    release.profile.responsibilities = vec!["tags".into(), "notes".into()];
    let tools = vec!["github_delete_branch".into(), "github_list".into(), "nowhere".into()];
    release.profile.workers = vec![WorkerTemplate { name: "scout".into(), tools }];
    let mut chief = Seat { kind: SeatKind::Human, ..Seat::agent("chief", "Chief") };
    chief.profile.email = Some("chief@example.com".into());
    chief.profile.availability = Some("weekdays".into());
    Org {
        seats: vec![chief, release, seat("ops", Some("Tech"))],
        units: vec![unit("Tech", None), unit("Back", Some("Tech"))],
    }
}

fn charted(org: &Org) -> Arc<Chart> {
    let none: &dyn Environment = &HashMap::<String, String>::new();
    Arc::new(Chart::of(org, &Redactor::default(), none))
}

/// A company with three seats, one of them a human's; the release seat has a connection and two tools of its own.
fn company() -> Snapshot {
    let mut all = snapshot(Vec::new());
    all.chart = charted(&org());
    all.seats = vec!["release".into(), "ops".into()];
    let list = entry("github", "list", [Hint::Yes, Hint::Unknown, Hint::Unknown, Hint::Yes]);
    all.catalog = Arc::new(Catalog::new(vec![Arc::new(delete_branch()), Arc::new(list)], Vec::new()));
    let mut own = server("github::release");
    let named = |field: &str, set| CredentialView { field: field.into(), variables: vec!["GH_KEY".into()], set };
    own.credentials = vec![named("Authorization", true), named("X-Other", false)];
    let mut shared = server("notes");
    shared.status = ConnectionStatus::Disabled;
    all.servers = vec![Arc::new(shared), Arc::new(own), Arc::new(server("github::somebody-else"))];
    all
}

fn pane(snapshot: &Snapshot) -> SeatsPane {
    let mut pane = SeatsPane::new(TimeZone::UTC);
    pane.layout(screen(120, 40), snapshot);
    pane
}

fn shown(pane: &mut SeatsPane, snapshot: &Snapshot) -> String {
    let area = screen(120, 40);
    pane.layout(area, snapshot);
    let mut buf = Buffer::empty(area);
    drawing(snapshot, |draw| pane.render(&mut buf, draw));
    assert_clean(&buf);
    screen_text(&buf)
}

fn on(handle: &str, snapshot: &Snapshot) -> SeatsPane {
    let mut pane = pane(snapshot);
    pane.two.pick.select(RowId::Seat(handle.into()));
    pane.layout(screen(120, 40), snapshot);
    pane
}

#[test]
fn the_tree_is_indented_by_units() {
    let all = company();
    let picture = shown(&mut pane(&all), &all);
    let at = |name: &str| {
        let line =
            picture.lines().skip(1).find(|line| line.contains(name)).unwrap_or_else(|| panic!("{name}: {picture}"));
        line.split(name).next().unwrap().chars().count()
    };
    let chief = at("Chief  chief");
    assert_eq!(
        [at("Tech  team"), at("ops  ops"), at("Back  team"), at("release  release")].map(|x| x - chief),
        [0, 2, 2, 4]
    );
}

#[test]
fn the_selection_stays_on_the_seat_over_a_reload_and_goes_to_the_nearest_when_it_is_gone() {
    let mut all = company();
    let mut pane = on("ops", &all);
    let mut changed = org();
    changed.seats.insert(0, seat("new", None));
    changed.units.insert(0, unit("Also new", None));
    all.chart = charted(&changed);
    pane.layout(screen(120, 40), &all);
    assert_eq!(pane.two.pick.id(), Some(&RowId::Seat("ops".into())), "rows moved, the seat did not");
    changed.seats.retain(|seat| seat.handle.as_str() != "ops");
    all.chart = charted(&changed);
    let picture = shown(&mut pane, &all);
    let id = pane.two.pick.id().cloned().unwrap();
    assert!(all.chart.rows.iter().any(|row| RowId::of(row) == id) && !picture.contains("ops"), "{id:?} {picture}");
    all.chart = Arc::default();
    assert!(shown(&mut pane, &all).contains("has not been read yet"));
    assert_eq!(pane.apply(Intent::StopSeat, &all), [], "there is no seat to stop");
}

#[test]
fn a_seat_tells_its_connections_by_name_and_never_a_value() {
    let all = company();
    let picture = shown(&mut on("release", &all), &all);
    for words in [
        "● github::release  own",
        "Authorization set from ${GH_KEY}",
        "X-Other not set: ${GH_KEY} has no value",
        "– notes  shared  disabled",
        "2 servers, 1 of its own",
        "Brings releases out.",
        "Tech › Back",
        "a worker may hold 1 of them",
        "1 not: destructive",
        "scout  2 of 3 tools, 1 refused",
    ] {
        assert!(picture.contains(words), "{words:?} in {picture}");
    }
    assert!(!picture.contains("somebody-else"), "{picture}");
}

#[test]
fn a_human_has_words_to_be_reached_and_nothing_to_stop() {
    let all = company();
    let mut pane = on("chief", &all);
    let picture = shown(&mut pane, &all);
    for words in ["chief@example.com", "weekdays", "leads     Tech, Back", "no connections"] {
        assert!(picture.contains(words), "{words:?} in {picture}");
    }
    for intent in [Intent::StopSeat, Intent::ShowTools, Intent::ShowWorkerTools] {
        assert!(matches!(pane.apply(intent, &all).as_slice(), [Effect::Complain(_)]), "{intent:?}");
    }
}

#[test]
fn who_is_there_what_waits_and_what_is_stopped_is_said_the_worst_first() {
    let mut all = company();
    let session = SessionView {
        id: "aaaaaa".into(),
        seat: "release".into(),
        worker: None,
        client: "claude-code 2.1".into(),
        era: Era::Legacy,
        since: NOON,
        last_seen: NOON,
        calls: 3,
        turn: None,
    };
    let mut pane = on("release", &all);
    let nobody = shown(&mut pane, &all);
    assert!(nobody.contains("no agent is connected") && !nobody.contains("agent  connected"), "{nobody}");
    all.sessions = vec![Arc::new(session)];
    let picture = shown(&mut pane, &all);
    assert!(picture.contains("agent  connected") && picture.contains("3 calls, last seen 14:03"), "{picture}");
    all.approvals = vec![Arc::new(approval(1, delete_branch(), "{}", Tier::Arm))];
    let picture = shown(&mut pane, &all);
    assert!(picture.contains("⚑1 waits") && picture.contains("a opens the oldest"), "{picture}");
    all.stopped_seats = vec![StoppedSeat { seat: "release".into(), since: NOON, refused: 2 }];
    let picture = shown(&mut pane, &all);
    assert!(picture.contains("agent  STOPPED") && picture.contains("2 calls refused"), "{picture}");
}

#[test]
fn keys_lead_to_its_tools_and_to_a_question_about_stopping() {
    let mut all = company();
    let mut pane = on("release", &all);
    let to = |target| vec![Effect::Show(target)];
    assert_eq!(pane.apply(Intent::ShowTools, &all), to(Target::ToolsOfSeat("release".into())));
    assert_eq!(pane.apply(Intent::ShowWorkerTools, &all), to(Target::ToolsOfWorker("release".into())));
    let asked = pane.apply(Intent::StopSeat, &all);
    let [Effect::Ask(question)] = asked.as_slice() else { panic!("{asked:?}") };
    assert_eq!(*question.yes, Effect::Send(Command::StopSeat("release".into())));
    all.stopped_seats = vec![StoppedSeat { seat: "release".into(), since: NOON, refused: 0 }];
    let asked = pane.apply(Intent::ReleaseSeat, &all);
    let [Effect::Ask(question)] = asked.as_slice() else { panic!("{asked:?}") };
    assert_eq!(*question.yes, Effect::Send(Command::ReleaseSeat("release".into())));
    all.read_only = true;
    assert!(matches!(pane.apply(Intent::ReleaseSeat, &all).as_slice(), [Effect::Complain(_)]));
    let mut on_unit = pane;
    on_unit.two.pick.select(RowId::Unit("Tech".into()));
    on_unit.layout(screen(120, 40), &all);
    assert!(matches!(on_unit.apply(Intent::StopSeat, &all).as_slice(), [Effect::Complain(_)]));
    let picture = shown(&mut on_unit, &all);
    assert!(picture.contains("unit Tech") && picture.contains("2 agents, 0 humans"), "{picture}");
}

fn answered(pane: &mut SeatsPane, all: &Snapshot, found: Result<Remembered, Arc<str>>) -> String {
    let asks = pane.wants();
    let [ask] = asks.as_slice() else { panic!("{asks:?}") };
    pane.take(Answer { ask: ask.clone(), found: found.map(Found::Memory) });
    shown(pane, all)
}

#[test]
fn what_a_seat_remembers_is_asked_for_and_shown_whole_part_by_part() {
    use crate::rows::memory::{Note, What};
    let all = company();
    let mut pane = on("release", &all);
    assert_eq!(pane.wants(), [], "nobody asked for it");
    pane.apply(Intent::Memory, &all);
    let wanted = |kept| vec![Ask::Memory(Wanted { seat: "release".into(), kept })];
    assert_eq!(pane.wants(), wanted(Kept::Diary));
    let note =
        |text: &str| Note { at: NOON, what: What::Entry { until: None, found: 2, remark: None }, text: text.into() };
    let last = format!("{} the very end", "word ".repeat(2_000));
    let found = Remembered { notes: vec![note("Tags are signed"), note(&last)], all: 9, onboarded: None };
    let picture = answered(&mut pane, &all, Ok(found));
    for words in [
        "release: diary",
        "9 entries, of which the newest 2 are shown",
        "not onboarded",
        "found 2 times",
        "Tags are signed",
    ] {
        assert!(picture.contains(words), "{words:?} in {picture}");
    }
    pane.apply(Intent::Bottom, &all);
    let picture = shown(&mut pane, &all);
    assert!(picture.contains("the very end"), "whole: {picture}");
    // An answer about what is not looked at any more is for nobody.
    pane.apply(Intent::Memory, &all);
    pane.take(Answer { ask: wanted(Kept::Diary).remove(0), found: Err("late".into()) });
    assert!(!shown(&mut pane, &all).contains("late"));
    let picture = answered(&mut pane, &all, Err("the store is damaged".into()));
    assert!(picture.contains("release: skills") && picture.contains("the store is damaged"), "{picture}");
    pane.apply(Intent::Memory, &all);
    assert_eq!(pane.wants(), wanted(Kept::Turns));
    pane.apply(Intent::Back, &all);
    assert_eq!(pane.wants(), [], "looked at no more");
    assert!(shown(&mut pane, &all).contains("2 servers, 1 of its own"), "everything else again");
    for none in [RowId::Seat("chief".into()), RowId::Unit("Tech".into())] {
        pane.two.pick.select(none.clone());
        assert!(matches!(pane.apply(Intent::Memory, &all).as_slice(), [Effect::Complain(_)]), "{none:?}");
        assert_eq!(pane.wants(), []);
    }
}
