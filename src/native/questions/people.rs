//! Whom a seat means when it asks a colleague.

use crate::native::company::Company;
use crate::native::request::{Class, Refusal};
use crate::org::{Seat, SeatKind};

/// The agent's seat that `query` means.
///
/// # Errors
/// It means nobody, several, the asker itself, or a human, who is not asked by a tool.
pub(super) fn colleague<'c>(company: &'c Company, asker: &str, query: &str) -> Result<&'c Seat, Refusal> {
    let shown = crate::text::fit(&crate::text::visible(query.trim()), 80).into_owned();
    let found = resolve(company, query.trim());
    let seat = match found.as_slice() {
        [one] => *one,
        [] => {
            let message =
                format!("nobody here is called \"{shown}\"; name a handle or a role: {}", agents(company, asker));
            return Err(Refusal { class: Class::NotFound, message });
        }
        several => {
            let handles: Vec<&str> = several.iter().map(|seat| seat.handle.as_str()).collect();
            let message = format!("\"{shown}\" is several: {}; name one of the handles", handles.join(", "));
            return Err(Refusal::invalid(message));
        }
    };
    if seat.kind == SeatKind::Human {
        return Err(human(seat));
    }
    if seat.handle.as_str() == asker {
        return Err(Refusal::invalid(format!("{asker} is you yourself; ask a colleague")));
    }
    Ok(seat)
}

/// Everybody whom a name means: the seat of this handle, else those of this role name.
fn resolve<'c>(company: &'c Company, query: &str) -> Vec<&'c Seat> {
    let seats = &company.org.seats;
    let handle = seats.iter().find(|seat| seat.handle.as_str() == query);
    handle.map_or_else(|| seats.iter().filter(|seat| &*seat.name == query).collect(), |seat| vec![seat])
}

/// Humans read elsewhere, and in their own time.
fn human(seat: &Seat) -> Refusal {
    let available = seat.profile.availability.as_deref().map(|when| format!(" ({when})")).unwrap_or_default();
    let message = format!(
        "{} is a human{available} and has no agent that answers; write where humans read, such as a comment on the work \
         item or the page that it is about, and go on meanwhile",
        seat.handle
    );
    Refusal { class: Class::Unavailable, message }
}

fn agents(company: &Company, asker: &str) -> String {
    const MOST: usize = 20;
    let all: Vec<&str> =
        company.org.agents().map(|seat| seat.handle.as_str()).filter(|handle| *handle != asker).collect();
    let more = if all.len() > MOST { ", …" } else { "" };
    let some: Vec<&str> = all.into_iter().take(MOST).collect();
    if some.is_empty() { "there are no other agents".to_owned() } else { format!("{}{more}", some.join(", ")) }
}
