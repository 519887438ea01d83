//! The questions about the desk that are no approvals: stop a seat, release it, revoke a grant, deny everything. Each
//! says what a yes does before it does it. The card and the approvals view ask them.

use super::format::plural;
use super::intent::{Effect, Question};
use crate::engine::command::{Command, Shown, Verdict};
use crate::engine::snapshot::{ApprovalView, GrantView, Snapshot, Tier};
use crate::ids::SeatHandle;

impl Question {
    /// Whether to stop a seat.
    pub fn stop_seat(seat: &SeatHandle, snapshot: &Snapshot) -> Self {
        let waiting = snapshot.approvals.iter().filter(|approval| approval.caller.seat() == Some(seat)).count();
        let queue =
            if waiting == 0 { String::new() } else { format!("Its {} are denied. ", plural(waiting, "waiting call")) };
        Self {
            title: format!("Stop seat {seat}?").into(),
            detail: format!(
                "{queue}Every further call of this seat is refused until somebody releases it in the approvals or sessions view."
            )
            .into(),
            yes: Box::new(Effect::Send(Command::StopSeat(seat.clone()))),
        }
    }

    /// Whether to release a stopped seat.
    pub fn release_seat(seat: &SeatHandle) -> Self {
        Self {
            title: format!("Release seat {seat}?").into(),
            detail: "It may call tools again; what asked before its stop was denied and is not asked again.".into(),
            yes: Box::new(Effect::Send(Command::ReleaseSeat(seat.clone()))),
        }
    }

    /// Whether to take a remembered decision back.
    pub fn revoke(grant: &GrantView) -> Self {
        let whose = grant.seat.as_ref().map_or_else(|| "your own calls".to_owned(), |seat| format!("seat {seat}"));
        Self {
            title: format!("Revoke the grant for {}?", grant.tool).into(),
            detail: format!("Calls of {} by {whose} ask a person again. Calls that run already go on.", grant.tool)
                .into(),
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
            yes: Box::new(Effect::Several(denials(snapshot))),
        })
    }
}

/// The commands that deny all that waits: together for each tool, alone where a name has to be typed.
fn denials(snapshot: &Snapshot) -> Vec<Effect> {
    let deny = || Verdict::Deny { reason: String::new() };
    let mut alone = Vec::new();
    let mut groups: Vec<(&ApprovalView, Vec<Shown>)> = Vec::new();
    for approval in &snapshot.approvals {
        let same = |(first, _): &&mut (&ApprovalView, Vec<Shown>)| {
            (&first.entry.server, &first.entry.raw_name) == (&approval.entry.server, &approval.entry.raw_name)
        };
        if approval.tier == Tier::Type {
            alone.push(Effect::Send(Command::Decide(approval.shown(), deny())));
        } else if let Some((_, group)) = groups.iter_mut().find(same) {
            group.push(approval.shown());
        } else {
            groups.push((approval, vec![approval.shown()]));
        }
    }
    let together = groups.into_iter().map(|(_, group)| Effect::Send(Command::DecideAll(group, deny())));
    together.chain(alone).collect()
}
