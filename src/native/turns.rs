//! `turn_begin` and `turn_end`: what an agent says of its turn, and what it is told. The turns themselves, and whether
//! what is said is so, are [`crate::turns`].

use std::sync::Arc;

use serde_json::json;

use super::request::{Outcome, Refusal};
use super::tool::{Ask, Running};
use crate::engine::snapshot::Caller;
use crate::ids::SeatHandle;
use crate::tool::Catalog;
use crate::turns::verdict::{Claim, Obligation, Outcome as Ending};
use crate::turns::{Begun, Judged};

/// The words of the outcomes that an agent can claim.
pub(super) const CLAIMS: &[&str] = &[Claim::ALL[0].1, Claim::ALL[1].1, Claim::ALL[2].1];

pub(super) fn begin(ask: Ask) -> Running {
    Box::pin(async move { begun(&ask) })
}

pub(super) fn end(ask: Ask) -> Running {
    Box::pin(async move { ended(&ask) })
}

fn begun(ask: &Ask) -> Outcome {
    let whose = agent(&ask.caller)?;
    let owes: Obligation =
        ask.request.need("reply")?.parse().map_err(|problem| Refusal::invalid(format!("reply {problem}")))?;
    let reachable = reachable(whose.0, &ask.world.catalog);
    let mut said = Vec::new();
    if let Obligation::Tool(Some(surface)) = &owes
        && !reachable.contains(surface)
    {
        said.push(format!("you cannot reach {surface}: an answer counts wherever it goes"));
    }
    let turns = &ask.native.shared().turns;
    let begun = turns.begin(whose, text(ask, "trigger"), owes.clone());
    let Begun { id, left } = begun.ok_or_else(no_session)?;
    if left == Some(Ending::Incomplete) {
        said.push("the turn before was never ended and is recorded as incomplete".to_owned());
    }
    said.push("say with turn_end how it ended".to_owned());
    Ok(json!({"turn": id, "reply": owes.to_string(), "reachable": reachable, "message": said.join("; ")}))
}

fn ended(ask: &Ask) -> Outcome {
    let whose = agent(&ask.caller)?;
    let word = ask.request.need("outcome")?;
    let claim = Claim::ALL.iter().find(|(_, known)| *known == word).map(|(claim, _)| *claim);
    let claim = claim.ok_or_else(|| Refusal::invalid("outcome is none that there is"))?;
    let reachable = reachable(whose.0, &ask.world.catalog);
    let judged = ask.native.shared().turns.end(whose, (claim, text(ask, "text")), &reachable);
    Ok(match judged.ok_or_else(no_session)? {
        Judged::Idle => json!({
            "verdict": "accept", "reached": [],
            "message": "no turn was going on: nothing was begun and no call was made, so nothing is recorded",
        }),
        Judged::Corrected { message, reached } => {
            json!({"verdict": "correct", "reached": reached, "message": message})
        }
        Judged::Over { id, outcome, reached, missing } => {
            let message = match (missing, reached.as_slice()) {
                (Some(missing), _) => format!("the turn is over and recorded as incomplete: {missing}"),
                (None, []) => format!("the turn is over, recorded as {}; it reached nobody", outcome.as_str()),
                (None, reached) => {
                    format!("the turn is over, recorded as {}; it reached {}", outcome.as_str(), reached.join(", "))
                }
            };
            json!({
                "verdict": "accept", "turn": id, "outcome": outcome.as_str(), "reached": reached, "message": message,
            })
        }
    })
}

/// The seat and session of an agent; nobody else has turns.
fn agent(caller: &Caller) -> Result<(&SeatHandle, &Arc<str>), Refusal> {
    match caller {
        Caller::Seat { seat, session, .. } => Ok((seat, session)),
        _ => Err(Refusal::forbidden("only the agent of a seat has turns")),
    }
}

fn no_session() -> Refusal {
    Refusal::not_found("session any more")
}

fn text(ask: &Ask, name: &str) -> Option<Arc<str>> {
    ask.request.text(name).map(str::trim).filter(|text| !text.is_empty()).map(Arc::from)
}

/// The surfaces that finished calls of the seat can reach, sorted.
fn reachable(seat: &SeatHandle, catalog: &Catalog) -> Vec<Arc<str>> {
    let mut all: Vec<Arc<str>> = catalog.of_seat(seat).filter_map(|entry| entry.delivery.surface.clone()).collect();
    all.sort_unstable();
    all.dedup();
    all
}
