//! `mark_onboarded`: that a seat has read what it has to know of its place in the company.

use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use super::colleagues::line;
use super::{Acting, Memory};
use crate::clock::Timestamp;
use crate::native::company::Company;
use crate::native::request::{Class, Outcome, Refusal};
use crate::org::directory::Colleague;
use crate::store::memory::Marker;

/// Stands for a seat's place: the company, its units from the outermost on, its role. Moved or renamed, a seat has
/// to be introduced anew.
pub(super) fn chain_hash(company: &str, seat: &Colleague) -> String {
    let chain: Vec<&str> =
        [company].into_iter().chain(seat.units.iter().map(|unit| &**unit)).chain([&*seat.name]).collect();
    Sha256::digest(chain.join("\n").as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The same for the seat of a company with this handle, where there is one.
pub(in crate::native) fn place_of(company: &Company, handle: &str) -> Option<String> {
    Some(chain_hash(&company.name, company.directory.seat(handle)?))
}

/// Puts the marker.
pub(super) async fn mark(memory: &Memory, acting: &Acting, arguments: &Map<String, Value>) -> Outcome {
    let directory = memory.directory();
    let Some(seat) = directory.seat(acting.handle.as_str()) else {
        let message = "this seat is not in the company's configuration any more".to_owned();
        return Err(Refusal { class: Class::NotFound, message });
    };
    let summary = arguments.get("summary").and_then(Value::as_str).unwrap_or_default().trim().to_owned();
    let marker = Marker {
        agent_id: acting.agent_id.clone(),
        handle: acting.handle.to_string(),
        role: seat.name.to_string(),
        chain_hash: chain_hash(&memory.company(), seat),
        summary,
        at: Timestamp::now(),
    };
    let role = line(&seat.name);
    memory.store.write(move |store| store.mark_onboarded(&marker)).await?;
    Ok(Value::String(format!("Noted: you are onboarded as {role}.")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::org::directory::Directory;
    use crate::org::{Org, Seat};

    #[test]
    fn a_place_is_company_units_and_role() {
        let hash = |company: &str, name: &str, unit: Option<&str>| {
            let seat = Seat { unit: unit.map(Into::into), ..Seat::agent("a", name) };
            let directory = Directory::of(&Org { seats: vec![seat], units: Vec::new() });
            chain_hash(company, directory.seat("a").unwrap())
        };
        let here = hash("Acme", "Engineer", Some("Back"));
        // `printf 'Acme\nBack\nEngineer' | sha256sum`
        assert_eq!(here, "b42f0a71b51cb3c0221c514caedc6e16bcaf05b3d798a9bfcad67c4272e5d218");
        for other in
            [hash("Acme", "Engineer", None), hash("Acme", "Lead", Some("Back")), hash("B", "Engineer", Some("Back"))]
        {
            assert_ne!(other, here);
        }
    }
}
