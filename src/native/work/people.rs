//! Who somebody is to the tracker: a seat of the company with what it works on, and whose work somebody may order.

use serde_json::{Value, json};

use super::plans::work_of;
use crate::native::company::Company;
use crate::native::request::{Outcome, Refusal, Request};
use crate::org::Seat;
use crate::store::ReadStore;

/// Units above each other that are looked at.
const HIGHEST: usize = 64;

pub fn get_person(store: &ReadStore<'_>, request: &Request) -> Outcome {
    let handle = match request.text("handle") {
        Some(handle) => handle,
        None => request.own_seat()?,
    };
    let company = &request.company;
    let seat = company.seat(handle).ok_or_else(|| Refusal::not_found("person"))?;
    let profile = &seat.profile;
    let leads: Vec<&str> = leads_of(company, seat).iter().map(|lead| lead.handle.as_str()).collect();
    let identities: Vec<Value> =
        profile.identities.iter().map(|one| json!({"system": one.system, "id": one.id})).collect();
    Ok(json!({
        "person": seat.handle.as_str(), "name": seat.name, "kind": company.kind_of(handle), "unit": seat.unit,
        "led_by": leads, "manages": profile.manages, "goal": profile.goal, "responsibilities": profile.responsibilities,
        "email": profile.email, "availability": profile.availability, "identities": identities,
        "work": work_of(store, request, handle)?,
    }))
}

/// The seats that lead a seat: of its unit and of the units above, nearest first, and those that say they manage it.
fn leads_of<'c>(company: &'c Company, seat: &Seat) -> Vec<&'c Seat> {
    let org = &company.org;
    let mut found: Vec<&Seat> = Vec::new();
    let mut add = |lead: &'c Seat| {
        if lead.handle != seat.handle && !found.iter().any(|known| known.handle == lead.handle) {
            found.push(lead);
        }
    };
    let mut unit = seat.unit.as_ref();
    for _ in 0..HIGHEST {
        let Some(found) = unit.and_then(|name| org.units.iter().find(|unit| unit.name == *name)) else { break };
        org.seats.iter().filter(|seat| Some(&seat.name) == found.lead.as_ref()).for_each(&mut add);
        unit = found.parent.as_ref();
    }
    org.seats.iter().filter(|other| other.profile.manages.contains(&seat.name)).for_each(&mut add);
    found
}

/// Whether a seat leads another one's line.
pub fn leads(company: &Company, leader: &str, seat: &Seat) -> bool {
    leads_of(company, seat).iter().any(|lead| lead.handle.as_str() == leader)
}
