//! What puts something into a seat's inbox: work that is assigned to it, comments where it takes part, its handle in a
//! text (`@release`), and the end of what it asked for. Nobody hears of what they did themselves.

use std::collections::BTreeMap;

use crate::native::request::Request;
use crate::native::words::OVER;
use crate::store::items::{Comment, Item, Who};
use crate::store::{Changed, StoreError, WriteStore};

/// Characters of a text that stand in an inbox; the whole of it is with the item.
const EXCERPT: usize = 500;
/// Seats that one text can call upon.
const MENTIONS: usize = 20;

/// Tells who is concerned by a new or changed item. `before`: as it was.
pub fn changed(
    store: &WriteStore<'_>,
    request: &Request,
    before: Option<&Item>,
    now: &Changed<Item>,
) -> Result<(), StoreError> {
    let (item, Some(position)) = (&now.row, now.position) else { return Ok(()) };
    let mut told = Told::new(request);
    let was_over = before.is_some_and(|before| OVER.contains(&before.status.as_str()));
    if OVER.contains(&item.status.as_str()) && !was_over {
        told.add(seat_of(request, &item.reporter), || format!("{}: {}", item.status.replace('_', " "), line(item)));
    }
    if before.is_none_or(|before| before.body != item.body) {
        let earlier = before.map(|before| mentions(request, &before.body)).unwrap_or_default();
        for seat in mentions(request, &item.body).into_iter().filter(|seat| !earlier.contains(seat)) {
            told.add(Some(seat), || format!("you are named: {}", line(item)));
        }
    }
    if before.is_none_or(|before| before.assignee != item.assignee) {
        let assignee = item.assignee.as_ref().map(|who| who.id.clone());
        told.add(assignee, || format!("assigned to you: {}", line(item)));
    }
    told.send(store, (item, position), &item.body)
}

/// Tells who is concerned by a comment.
pub fn commented(
    store: &WriteStore<'_>,
    request: &Request,
    item: &Item,
    made: &Changed<Comment>,
    answered: Option<&Comment>,
) -> Result<(), StoreError> {
    let Some(position) = made.position else { return Ok(()) };
    let mut told = Told::new(request);
    let said = || format!("comment: {}", line(item));
    told.add(seat_of(request, &item.reporter), said);
    told.add(item.assignee.as_ref().map(|who| who.id.clone()), said);
    told.add(answered.and_then(|comment| seat_of(request, &comment.author)), || format!("answer: {}", line(item)));
    for seat in mentions(request, &made.row.body) {
        told.add(Some(seat), || format!("you are named: {}", line(item)));
    }
    told.send(store, (item, position), &made.row.body)
}

/// Who is told what; what was said last of somebody counts.
struct Told<'r> {
    request: &'r Request,
    by_seat: BTreeMap<String, String>,
}

impl<'r> Told<'r> {
    fn new(request: &'r Request) -> Self {
        Self { request, by_seat: BTreeMap::new() }
    }

    fn add(&mut self, seat: Option<String>, subject: impl FnOnce() -> String) {
        let known = seat.filter(|seat| self.request.company.kind_of(seat).is_some());
        if let Some(seat) = known.filter(|seat| self.request.actor.seat.as_ref() != Some(seat)) {
            self.by_seat.insert(seat, subject());
        }
    }

    fn send(self, store: &WriteStore<'_>, at: (&Item, i64), text: &str) -> Result<(), StoreError> {
        if self.by_seat.is_empty() {
            return Ok(());
        }
        let by = self.request.signed();
        let mut body: String = text.chars().take(EXCERPT).collect();
        if body.len() < text.len() {
            body.push('…');
        }
        self.by_seat.iter().try_for_each(|(seat, subject)| store.tell(seat, at, (subject, &body), &by))
    }
}

fn line(item: &Item) -> String {
    format!("{} {}", item.key(), item.title)
}

/// The seat behind somebody.
fn seat_of(request: &Request, who: &Who) -> Option<String> {
    match who.kind.as_str() {
        "operator" => request.company.badge(&who.id)?.seat.as_ref().map(ToString::to_string),
        "console" => None,
        _ => Some(who.id.clone()),
    }
}

/// The seats that a text names with `@`, each once.
fn mentions(request: &Request, text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut before = None;
    let mut rest = text;
    while let Some((head, tail)) = rest.split_once('@') {
        before = head.chars().next_back().or(before);
        let word: String = tail.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
        let handle = word.trim_end_matches('-').to_ascii_lowercase();
        // Not in an address.
        let begins = before.is_none_or(|c| !c.is_alphanumeric());
        if begins && request.company.kind_of(&handle).is_some() && !found.contains(&handle) && found.len() < MENTIONS {
            found.push(handle);
        }
        before = Some('@');
        rest = tail;
    }
    found
}
