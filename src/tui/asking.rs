//! The questions about the desk that are no approvals: stop a seat, release it, revoke a grant, deny everything. Each
//! says what a yes does before it does it. The card and the approvals, sessions and seats views ask them.

use super::format::plural;
use super::intent::{Effect, Intent, Question};
use crate::engine::command::{Command, Verdict};
use crate::engine::snapshot::{GrantView, Snapshot};
use crate::ids::SeatHandle;

impl Question {
    /// What to do where a person wants a seat stopped or released: ask, or say why there is nothing to ask.
    pub fn about_seat(intent: Intent, seat: &SeatHandle, snapshot: &Snapshot) -> Effect {
        let complain = |words: String| Effect::Complain(words.into());
        if snapshot.read_only {
            return complain("nothing can be changed here: the dashboard was started with --read-only".to_owned());
        }
        let shown = crate::text::visible(seat.as_str());
        let stopped = snapshot.stopped_seats.iter().any(|stopped| stopped.seat == *seat);
        match (intent, stopped) {
            (Intent::StopSeat, false) => Effect::Ask(Self::stop_seat(seat, snapshot)),
            (Intent::StopSeat, true) => complain(format!("seat {shown} is stopped already; R releases it")),
            (_, true) => Effect::Ask(Self::release_seat(seat)),
            (_, false) => complain(format!("seat {shown} is not stopped: there is nothing to release")),
        }
    }

    /// Whether to stop a seat.
    pub fn stop_seat(seat: &SeatHandle, snapshot: &Snapshot) -> Self {
        let waiting = snapshot.approvals.iter().filter(|approval| approval.caller.seat() == Some(seat)).count();
        let queue = match waiting {
            0 => String::new(),
            1 => "Its waiting call is withdrawn. ".to_owned(),
            more => format!("Its {more} waiting calls are withdrawn. "),
        };
        Self {
            title: format!("Stop seat {seat}?").into(),
            detail: format!(
                "{queue}Every further call of this seat is refused until somebody releases it in the approvals, \
                 sessions or seats view."
            )
            .into(),
            yes: Box::new(Effect::Send(Command::StopSeat(seat.clone()))),
        }
    }

    /// Whether to release a stopped seat.
    pub fn release_seat(seat: &SeatHandle) -> Self {
        Self {
            title: format!("Release seat {seat}?").into(),
            detail: "It may call tools again; what waited when it was stopped was withdrawn and is not asked again."
                .into(),
            yes: Box::new(Effect::Send(Command::ReleaseSeat(seat.clone()))),
        }
    }

    /// Whether to take a remembered decision back.
    pub fn revoke(grant: &GrantView) -> Self {
        let whose = grant.seat.as_ref().map_or_else(|| "from this screen".to_owned(), |seat| format!("by seat {seat}"));
        Self {
            title: format!("Revoke the grant for {}?", grant.tool).into(),
            detail: format!("Calls of {} {whose} ask a person again. Calls that run already go on.", grant.tool).into(),
            yes: Box::new(Effect::Send(Command::Revoke(grant.id))),
        }
    }

    /// Whether to deny all that waits; `None` when nothing does.
    pub fn deny_all(snapshot: &Snapshot) -> Option<Self> {
        let waiting = snapshot.approvals.len();
        (waiting > 0).then(|| Self {
            title: "Deny everything that waits?".into(),
            detail: format!(
                "{} are denied without a reason. Nothing of them is sent.",
                plural(waiting, "waiting call")
            )
            .into(),
            yes: Box::new(deny_all(snapshot)),
        })
    }
}

/// One command for all that waits: a denial may be about different tools, and nothing has to be typed for it.
fn deny_all(snapshot: &Snapshot) -> Effect {
    let all = snapshot.approvals.iter().map(|approval| approval.shown()).collect();
    Effect::Send(Command::DecideAll(all, Verdict::Deny { reason: String::new() }))
}
