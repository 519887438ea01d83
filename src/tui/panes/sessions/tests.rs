//! The sessions view: selection, the calls of a session, stopping and releasing.

use super::*;
use crate::engine::command::Command;
use crate::engine::snapshot::{CallPhase, CallView, Caller, Tier};
use crate::engine::status::Era;
use crate::ids::CallId;
use crate::tui::card::fixtures::{
    NOON, approval, assert_clean, call_of, delete_branch, drawing, screen, screen_text, snapshot,
};

fn session(seat: &str, id: &str, client: &str) -> Arc<SessionView> {
    Arc::new(SessionView {
        id: id.into(),
        seat: SeatHandle::from(seat),
        worker: None,
        client: client.into(),
        era: Era::Legacy,
        since: NOON,
        last_seen: NOON,
        calls: 3,
        turn: None,
    })
}

/// A finished call of a session.
fn call(number: u64, seat: &str, session: &str) -> Arc<CallView> {
    let question = approval(number, delete_branch(), "{}", Tier::Arm);
    let caller = Caller::Seat { seat: SeatHandle::from(seat), session: session.into(), client: "any".into() };
    let id = CallId::from(format!("c{number:010}").as_str());
    let name = format!("tool_{number}").into();
    Arc::new(CallView { id, caller, name, ..call_of(&question, CallPhase::Done { is_error: false }) })
}

/// Two sessions of one seat, one of another, with calls of each and one of the person.
fn three() -> Snapshot {
    let own = CallView { caller: Caller::Console, ..(*call(9, "x", "y")).clone() };
    Snapshot {
        sessions: vec![
            session("release", "aaaaaa", "claude-code 2.1"),
            session("release", "bbbbbb", "inspector 0.9"),
            session("ops", "aaaaaa", "codex 1.4"),
        ],
        calls: vec![
            call(1, "release", "aaaaaa"),
            call(2, "release", "bbbbbb"),
            call(3, "ops", "aaaaaa"),
            Arc::new(own),
            call(4, "release", "aaaaaa"),
        ],
        ..snapshot(Vec::new())
    }
}

fn pane(snapshot: &Snapshot) -> SessionsPane {
    let mut pane = SessionsPane::new(TimeZone::UTC);
    pane.layout(screen(120, 40), snapshot);
    pane
}

fn shown(pane: &mut SessionsPane, snapshot: &Snapshot) -> String {
    let area = screen(120, 40);
    pane.layout(area, snapshot);
    let mut buf = Buffer::empty(area);
    drawing(snapshot, |draw| pane.render(&mut buf, draw));
    assert_clean(&buf);
    screen_text(&buf)
}

fn stop(snapshot: &mut Snapshot, seat: &str) {
    snapshot.stopped_seats.push(StoppedSeat { seat: SeatHandle::from(seat), since: NOON, refused: 2 });
}

#[test]
fn the_selection_stays_on_the_same_session() {
    let mut all = three();
    let mut pane = pane(&all);
    pane.apply(Intent::Down, &all);
    let second = RowId::of(&all.sessions[1]);
    assert_eq!(pane.two.pick.id(), Some(&second));
    all.sessions.remove(0);
    all.sessions.push(session("ops", "cccccc", "late 1"));
    pane.layout(screen(120, 40), &all);
    assert_eq!(pane.two.pick.id(), Some(&second), "rows moved, the session did not");
    all.sessions.remove(0);
    pane.layout(screen(120, 40), &all);
    assert_eq!(pane.two.pick.id(), Some(&RowId::of(&all.sessions[0])), "the nearest one where it ended");
}

#[test]
fn a_session_has_its_own_calls_and_no_others() {
    let all = three();
    let names =
        |index: usize| about::calls(&all.sessions[index], &all).map(|call| call.name.to_string()).collect::<Vec<_>>();
    assert_eq!(names(0), ["tool_4", "tool_1"], "newest first");
    assert_eq!(names(1), ["tool_2"], "the other session of the same seat");
    assert_eq!(names(2), ["tool_3"], "the same short id under another seat");
    let mut pane = pane(&all);
    let picture = shown(&mut pane, &all);
    assert!(picture.contains("tool_4") && picture.contains("tool_1") && !picture.contains("tool_2"), "{picture}");
}

#[test]
fn what_waits_is_counted_from_the_questions() {
    let mut question = approval(7, delete_branch(), "{}", Tier::Arm);
    question.caller = call(7, "release", "bbbbbb").caller.clone();
    let all = Snapshot { sessions: three().sessions, ..snapshot(vec![question]) };
    let counts: Vec<usize> = all.sessions.iter().map(|session| about::waiting(session, &all)).collect();
    assert_eq!(counts, [0, 1, 0]);
    let mut pane = pane(&all);
    pane.apply(Intent::Down, &all);
    assert!(shown(&mut pane, &all).contains("for you: a opens the oldest"));
    let over = Snapshot { approvals: Vec::new(), ..all };
    assert!(!shown(&mut pane, &over).contains("for you"), "also where the client asks again only later");
}

#[test]
fn many_calls_are_cut_and_the_rest_is_counted() {
    let mut all = three();
    all.calls = (0..250).map(|number| call(number, "release", "aaaaaa")).collect();
    let mut pane = pane(&all);
    pane.apply(Intent::Open, &all);
    pane.apply(Intent::Bottom, &all);
    let picture = shown(&mut pane, &all);
    assert!(picture.contains("and 50 earlier") && picture.contains("tool_50"), "{picture}");
}

#[test]
fn stopping_and_releasing_ask_about_the_seat_of_the_session() {
    let mut all = three();
    let mut pane = pane(&all);
    pane.apply(Intent::Bottom, &all);
    let asked = pane.apply(Intent::StopSeat, &all);
    let [Effect::Ask(question)] = asked.as_slice() else { panic!("{asked:?}") };
    assert_eq!(*question.yes, Effect::Send(Command::StopSeat(SeatHandle::from("ops"))));
    assert!(matches!(pane.apply(Intent::ReleaseSeat, &all).as_slice(), [Effect::Complain(_)]), "it is not stopped");

    stop(&mut all, "ops");
    assert!(matches!(pane.apply(Intent::StopSeat, &all).as_slice(), [Effect::Complain(_)]), "it is stopped already");
    let asked = pane.apply(Intent::ReleaseSeat, &all);
    let [Effect::Ask(question)] = asked.as_slice() else { panic!("{asked:?}") };
    assert_eq!(*question.yes, Effect::Send(Command::ReleaseSeat(SeatHandle::from("ops"))));
    let picture = shown(&mut pane, &all);
    assert!(picture.contains("STOPPED since 14:03, 2 calls refused"), "{picture}");

    all.read_only = true;
    assert!(matches!(pane.apply(Intent::ReleaseSeat, &all).as_slice(), [Effect::Complain(_)]));
}

#[test]
fn a_stopped_seat_without_a_session_can_still_be_released() {
    let mut all = snapshot(Vec::new());
    stop(&mut all, "ops");
    let mut pane = pane(&all);
    assert!(shown(&mut pane, &all).contains("no session"));
    assert!(matches!(pane.apply(Intent::ReleaseSeat, &all).as_slice(), [Effect::Ask(_)]));
}

#[test]
fn an_empty_list_says_how_an_agent_comes_in_or_why_none_can() {
    let mut none = snapshot(Vec::new());
    let mut pane = pane(&none);
    assert!(shown(&mut pane, &none).contains("--listen 127.0.0.1:7420"));
    none.listener_problem = Some("cannot listen on 127.0.0.1:7420: in use; end what uses it".into());
    assert!(shown(&mut pane, &none).contains("end what uses it"));
    none.listener = Some("127.0.0.1:9000".into());
    let picture = shown(&mut pane, &none);
    assert!(picture.contains("http://127.0.0.1:9000/seats/SEAT/mcp") && picture.contains(":connect"), "{picture}");
    assert_eq!(pane.apply(Intent::StopSeat, &none), [], "there is no seat to stop");
}
