//! Whom a seat means when it asks a colleague.

use crate::native::company::Company;
use crate::native::request::{Class, Refusal};
use crate::org::SeatKind;
use crate::org::directory::{Colleague, Found};

/// The agent's seat that `query` means.
///
/// # Errors
/// It means nobody, several, the asker itself, or a human, who is not asked by a tool.
pub(super) fn colleague<'c>(company: &'c Company, asker: &str, query: &str) -> Result<&'c Colleague, Refusal> {
    let shown = crate::text::fit(&crate::text::visible(query.trim()), 80).into_owned();
    let found = company.directory.find(query);
    let seat = match found.as_slice() {
        [(one, how)] => {
            if *how != Found::Exact {
                tracing::info!(handle = %one.handle, how = how.words(), "lookup_colleague_inferred_handle");
            }
            *one
        }
        [] => {
            let message =
                format!("nobody here is called \"{shown}\"; name a handle or a role: {}", agents(company, asker));
            return Err(Refusal { class: Class::NotFound, message });
        }
        several => {
            tracing::info!(candidates = several.len(), "lookup_colleague_skipped_ambiguous");
            let handles: Vec<&str> = several.iter().map(|(seat, _)| seat.handle.as_str()).collect();
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

/// Humans read elsewhere, and in their own time.
fn human(seat: &Colleague) -> Refusal {
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
        company.agents().map(crate::ids::SeatHandle::as_str).filter(|handle| *handle != asker).collect();
    let more = if all.len() > MOST { ", …" } else { "" };
    let some: Vec<&str> = all.into_iter().take(MOST).collect();
    if some.is_empty() { "there are no other agents".to_owned() } else { format!("{}{more}", some.join(", ")) }
}
